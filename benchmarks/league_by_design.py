"""The league by sampling design and fraction: what estimates are worth on samples as surveys draw
them.

Made-up populations of many kinds (`benchmarks/populations/recipes.py`), Adult and EU-SILC are
sampled simply at random, at unequal rates, from strata, in clusters and by households. Each line of
the file that is saved says how one method did on one sample. Lines that it has already are not
computed again, so a run that was interrupted goes on where it was; each sample is seeded by its
name, so every version of the methods sees the same. `benchmarks/league_tables.py` makes tables of
such files.

Run: python -m benchmarks.league_by_design --repeats 4 --save FILE.csv [--seen | --unseen | --all]
     [--methods recommended,single,mixture] [--designs simple,clusters] [--only NAME]
"""

import argparse
import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.league import data_folder
from benchmarks.mixture import fit_mixture
from benchmarks.populations import files
from benchmarks.populations.designs import DESIGNS, FRACTIONS, Sample, draw, is_possible
from benchmarks.populations.population import Population, codes_of, made_by
from benchmarks.populations.recipes import RECIPES
from discreet import assess
from discreet.errors import InputError
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import BoolArray, FloatArray

RECOMMENDED, SINGLE, MIXTURE = "recommended", "single", "mixture"
MODELS = (
    "loglinear",
    "lancaster",
    "pitman",
    "ewens",
    "poisson_gamma",
    "poisson_inverse_gaussian",
    "negative_binomial",
    "zayatz",
    "dankar",
    "cohen_sackrowitz_uniform",
    "cohen_sackrowitz_multinomial",
    "benedetti_franconi",
)  # all that estimate population uniques
LARGEST_FOR_MIXTURE = 20_000  # records
TENTHS = 10
NO_LIMIT = 1.0  # a risk that every file keeps to, so that nobody looks for better keys
UNKNOWN = Unavailable("not estimated")

Key = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """How one method did on one sample; None where it is silent.

    `uniques` are the sample uniques that are population uniques, `matches` the records that an
    intruder expects to match correctly: the truth, the estimate and its 90 % limits. Of the
    `sample_uniques`, judged by the probability of being a population unique: `area` under the
    curve, `brier` score, and for each tenth of that probability how many there are, the sum of
    their probabilities and how many are population uniques. Judged by their risk as an estimate of
    1/F: `match_area` (its order against population uniques), `match_brier` (the mean squared
    error), and the sums of 1/F and of its square. `seconds` are those of the processor; single
    models share a run, of whose time each has the same part.
    """

    population: str
    design: str
    fraction: float
    repeat: int
    method: str
    persons: int
    records: int
    sample_uniques: int
    uniques_true: int
    uniques: float | None
    uniques_low: float | None
    uniques_high: float | None
    matches_true: float
    matches: float | None
    matches_low: float | None
    matches_high: float | None
    area: float | None
    brier: float | None
    match_area: float | None
    match_brier: float | None
    inverse_sum: float
    inverse_squares: float
    tenth_records: str
    tenth_predicted: str
    tenth_uniques: str
    seconds: float

    @property
    def key(self) -> Key:
        """What the line is about."""
        return key_of(self.population, self.design, self.fraction, self.repeat, self.method)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a method says of a sample: two figures, and of each record the probability of being a
    population unique and the risk, where it has them."""

    uniques: Outcome = UNKNOWN
    matches: Outcome = UNKNOWN
    unique_probability: FloatArray | None = None
    risk: FloatArray | None = None


Method = Callable[[Sample, Sequence[str]], Mapping[str, Answer]]


def key_of(population: str, design: str, fraction: float, repeat: int, method: str) -> Key:
    """What a line is about, as text."""
    return population, design, f"{fraction:g}", str(repeat), method


def recommended(sample: Sample, names: Sequence[str] = (RECOMMENDED,)) -> dict[str, Answer]:
    """What `discreet.assess` recommends."""
    found, risks = _assessed(sample)
    led = found.recommended
    answer = Answer(
        uniques=led.expected_population_uniques,
        matches=led.expected_correct_matches,
        unique_probability=_column(risks, "population_unique"),
        risk=_column(risks, "risk"),
    )
    return dict.fromkeys(names, answer)


def single(sample: Sample, names: Sequence[str]) -> dict[str, Answer]:
    """What each of these models says, run side by side."""
    found, risks = _assessed(sample, models=tuple(names))
    answers = {}
    for name in names:
        result = found.models[name]
        if isinstance(result, Unavailable):
            answers[name] = Answer(uniques=result, matches=result)
            continue
        answers[name] = Answer(
            uniques=result.expected_population_uniques,
            matches=result.expected_correct_matches,
            unique_probability=_column(risks, f"{name}_unique_probability"),
            risk=_column(risks, f"{name}_match_probability"),
        )
    return answers


def mixture(sample: Sample, names: Sequence[str] = (MIXTURE,)) -> dict[str, Answer]:
    """What a Dirichlet-process mixture says; nothing of samples above 20,000 records."""
    if len(sample) > LARGEST_FOR_MIXTURE:
        return dict.fromkeys(names, Answer())
    levels = np.stack([codes_of(sample.records[key]) for key in sample.keys], axis=1)
    rows = np.flatnonzero(sample.unique)
    found = fit_mixture(levels, rows, sample.population_size, np.random.default_rng(len(sample)))
    probability, risk = np.zeros(len(sample)), np.zeros(len(sample))
    probability[rows], risk[rows] = found.unique_probability, found.risk
    answer = Answer(
        uniques=_estimate(found.uniques, found.low, found.high),
        unique_probability=probability,
        risk=risk,
    )
    return dict.fromkeys(names, answer)


METHODS: dict[str, tuple[Method, tuple[str, ...]]] = {
    RECOMMENDED: (recommended, (RECOMMENDED,)),
    SINGLE: (single, MODELS),
    MIXTURE: (mixture, (MIXTURE,)),
}  # what runs, and the methods that it answers for


def lines_of(sample: Sample, method: str, done: frozenset[Key] = frozenset()) -> Iterator[Line]:
    """How a method, or each single model, did on a sample, but for what is done."""
    run, names = METHODS[method]
    about = (sample.population, sample.design, sample.fraction, sample.repeat)
    missing = [name for name in names if key_of(*about, name) not in done]
    if not missing:
        return
    began = process_time()
    try:
        answers = run(sample, missing)
    except InputError as reason:
        answers = dict.fromkeys(missing, Answer(uniques=Unavailable(str(reason))))
    seconds = (process_time() - began) / len(missing)
    for name in missing:
        yield _line(sample, name, answers[name], seconds)


def _line(sample: Sample, method: str, answer: Answer, seconds: float) -> Line:
    here = sample.unique
    true = sample.in_population[here] == 1
    inverse = 1 / sample.in_population[here]
    probability = None if answer.unique_probability is None else answer.unique_probability[here]
    risk = None if answer.risk is None else answer.risk[here]
    estimate, low, high = numbers(answer.uniques)
    matches, matches_low, matches_high = numbers(answer.matches)
    records, predicted, unique = tenths(probability, true)
    return Line(
        population=sample.population,
        design=sample.design,
        fraction=sample.fraction,
        repeat=sample.repeat,
        method=method,
        persons=sample.population_size,
        records=len(sample),
        sample_uniques=int(here.sum()),
        uniques_true=int(true.sum()),
        uniques=estimate,
        uniques_low=low,
        uniques_high=high,
        matches_true=sample.correct_matches,
        matches=matches,
        matches_low=matches_low,
        matches_high=matches_high,
        area=None if probability is None else area_under_curve(probability, true),
        brier=mean_square(probability, true.astype(float)),
        match_area=None if risk is None else area_under_curve(risk, true),
        match_brier=mean_square(risk, inverse),
        inverse_sum=float(inverse.sum()),
        inverse_squares=float((inverse**2).sum()),
        tenth_records=records,
        tenth_predicted=predicted,
        tenth_uniques=unique,
        seconds=seconds,
    )


def numbers(outcome: Outcome) -> tuple[float | None, float | None, float | None]:
    """The value and the limits of a figure."""
    if not isinstance(outcome, Figure):
        return None, None, None
    return outcome.value, outcome.low, outcome.high


def area_under_curve(score: FloatArray, true: BoolArray) -> float | None:
    """The chance that a true one has a higher score than another, ties counting half; None where
    all are of one kind."""
    n_true, n_false = int(true.sum()), int((~true).sum())
    if n_true == 0 or n_false == 0:
        return None
    _, place, many = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(many) - (many - 1) / 2)[place]
    return float((rank[true].sum() - n_true * (n_true + 1) / 2) / (n_true * n_false))


def mean_square(predicted: FloatArray | None, true: FloatArray) -> float | None:
    """The mean squared difference."""
    if predicted is None or len(true) == 0:
        return None
    return float(((predicted - true) ** 2).mean())


def tenths(probability: FloatArray | None, true: BoolArray) -> tuple[str, str, str]:
    """For each tenth of the probability the records, the sum of it, and how many are true."""
    if probability is None:
        return "", "", ""
    place = np.minimum((probability * TENTHS).astype(np.int64), TENTHS - 1)
    sums = (np.bincount(place, weights=w, minlength=TENTHS) for w in (None, probability, true))
    records, predicted, unique = (" ".join(f"{value:.6g}" for value in each) for each in sums)
    return records, predicted, unique


def _assessed(sample: Sample, **more: Any) -> tuple[Any, Any]:
    """The assessment and the scores of the records, in their order."""
    with TemporaryDirectory(prefix="league-") as folder:
        path = Path(folder) / "risks.parquet"
        options = {**sample.options, "max_risk": NO_LIMIT, "risks": path, "n_riskiest": 0, **more}
        found = assess(sample.records, **options)
        return found, pq.read_table(path).sort_by("row")


def _column(risks: Any, name: str) -> FloatArray | None:
    """Scores of the records; None where there are none."""
    if name not in risks.column_names or risks[name].null_count:
        return None
    found: FloatArray = risks[name].to_numpy()
    return None if np.isnan(found).any() else found


def _estimate(value: float, low: float, high: float) -> Outcome:
    return Figure(value=value, low=low, high=high, confidence=0.9, how=How.ESTIMATE)


def populations(wanted: str, only: str | None = None) -> Iterator[Population]:
    """The made-up populations that are `seen`, `unseen` or `all`, and the files, which were seen
    long ago; `only` names a single one of these."""
    for recipe in RECIPES:
        if only in (None, recipe.name) and _is_wanted(recipe.seen, wanted):
            yield made_by(recipe)
    folder = data_folder()
    for name in files.names():
        if only in (None, name) and _is_wanted(True, wanted):
            if folder is None or not files.is_there(name, folder):
                print(f"{name} is left out: its file is not in DISCREET_DATA or ../shared/data")
            else:
                yield files.read(name, folder)


def _is_wanted(seen: bool, wanted: str) -> bool:
    return wanted == "all" or seen == (wanted == "seen")


def samples(
    population: Population, designs: Sequence[str], fractions: Sequence[float], repeats: int
) -> Iterator[Sample]:
    """All samples of a population, repeat by repeat."""
    for repeat in range(repeats):
        for design in designs:
            for fraction in fractions:
                if is_possible(population, design, fraction):
                    yield draw(population, design, fraction, repeat)


def run(
    people: Iterable[Population],
    *,
    repeats: int,
    save: Path,
    methods: Sequence[str],
    designs: Sequence[str],
    fractions: Sequence[float] = FRACTIONS,
) -> None:
    """Add to the file what it does not have; a word on each population."""
    done = keys_in(save)
    for population in people:
        began, added = process_time(), 0
        for sample in samples(population, designs, fractions, repeats):
            for method in methods:
                added += append(lines_of(sample, method, done), save)
        print(f"{population.name}: {added:,} lines, {process_time() - began:.0f} CPU s", flush=True)


def keys_in(path: Path) -> frozenset[Key]:
    """What the lines of a file are about; nothing where there is none."""
    if not path.exists():
        return frozenset()
    with path.open(newline="", encoding="utf-8") as file:
        return frozenset(
            (row["population"], row["design"], row["fraction"], row["repeat"], row["method"])
            for row in csv.DictReader(file)
        )


def append(lines: Iterable[Line], path: Path) -> int:
    """Write lines to the end of the file, under a header where it is new; how many there were."""
    names = [each.name for each in fields(Line)]
    added = 0
    for line in lines:
        is_new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            if is_new:
                writer.writerow(names)
            writer.writerow(_written(getattr(line, name)) for name in names)
        added += 1
    return added


def _written(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


def main() -> None:
    """Parse what to run and where to save it, and run."""
    parser = argparse.ArgumentParser(description="The league by sampling design and fraction")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--save", type=Path, required=True)
    which = parser.add_mutually_exclusive_group()
    for name in ("seen", "unseen", "all"):
        which.add_argument(f"--{name}", dest="wanted", action="store_const", const=name)
    parser.add_argument("--methods", type=_names(METHODS), default=[RECOMMENDED])
    parser.add_argument("--designs", type=_names(DESIGNS), default=list(DESIGNS))
    parser.add_argument("--fractions", type=_fractions, default=FRACTIONS)
    parser.add_argument("--only", metavar="NAME", help="the one population to sample")
    parser.set_defaults(wanted="seen")
    given = parser.parse_args()
    known = [*(recipe.name for recipe in RECIPES), *files.names()]
    if given.only not in (None, *known):
        parser.error(f"--only must be one of {', '.join(known)}, got {given.only!r}")
    run(
        populations(given.wanted, given.only),
        repeats=given.repeats,
        save=given.save,
        methods=given.methods,
        designs=given.designs,
        fractions=given.fractions,
    )


def _fractions(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _names(known: Iterable[str]) -> Callable[[str], list[str]]:
    """A parser of names that are known, with commas between them."""
    allowed = list(known)

    def parsed(text: str) -> list[str]:
        found = text.split(",")
        for name in found:
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(allowed)}")
        return found

    return parsed


if __name__ == "__main__":
    main()
