"""Which model to trust where: every model on samples of populations of several kinds.

Seven populations are made up, each of another kind; Adult and EU-SILC take part where their
files lie in the folder that DISCREET_DATA names, or in ../shared/data. Samples of four sizes are
drawn from each, simply at random and with unequal weights, and the estimated number of population
uniques is compared with the truth.

Run: python -m benchmarks.league [--scale S] [--only NAME] [--save docs/figures/league.csv]
"""

import argparse
import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.league_populations import MADE_UP, Population, from_file
from discreet.figures import Figure
from discreet.flows.backtest import backtest
from discreet.survey.backtest.league import RECOMMENDED, Backtest, Score

FRACTIONS = (0.01, 0.05, 0.1, 0.3)
REPEATS = 6
SEED = 5
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
)
POOLED: dict[str, Callable[[list[float]], Any]] = {
    "error": np.mean,
    "covered": np.mean,
    "width": np.median,
}
FILES = {
    "Adult": (
        "arx_adult.csv",
        ("sex", "age", "race", "marital-status", "education", "occupation"),
        "marital-status",
    ),
    "EU-SILC": (
        "eusilc_sample_keys.csv",
        ("db040", "hsize", "rb090", "age", "pb220a", "pl030"),
        "db040",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """How one model did on samples of one size: numbers as in `Score`, None where it is silent.

    `design` is `equal` or `unequal` chances to be in the sample, `answers` of `samples` samples
    got an estimate, `covered` is the share of intervals that held the truth, `width` the median of
    upper over lower limit (at least 1 taken for the lower).
    """

    population: str
    design: str
    fraction: float
    figure: str
    model: str
    samples: int
    answers: int
    truth: float | None
    bias: float | None
    error: float | None
    covered: float | None
    width: float | None

    @classmethod
    def of_score(
        cls, population: str, design: str, figure: str, score: Score, width: float | None
    ) -> "Line":
        """The line of this score."""
        return cls(
            population=population,
            design=design,
            fraction=score.fraction,
            figure=figure,
            model=score.model,
            samples=score.n_trials,
            answers=score.n_answers,
            truth=score.truth,
            bias=score.bias,
            error=score.error,
            covered=score.coverage,
            width=width,
        )


def populations() -> Iterator[Population]:
    """All that can be had: those made up, then the files that are there."""
    for number, make in enumerate(MADE_UP):
        yield make(np.random.default_rng([SEED, number]))
    folder = data_folder()
    for name, (file, keys, stratum) in FILES.items():
        if folder is None or not (folder / file).exists():
            print(f"{name} is left out: no {file} in DISCREET_DATA or ../shared/data")
        else:
            yield from_file(name, folder / file, keys, stratum)


def data_folder() -> Path | None:
    """Where files of others lie: DISCREET_DATA, else shared/data beside the project; or None."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DISCREET_DATA", beside))
    return folder if folder.is_dir() else None


def run(scale: float, save: Path | None = None, only: str | None = None) -> None:
    """Prints the league; the number of samples grows with `scale`. Saves its lines if asked.

    `only` is the name of the one population to try.
    """
    repeats = max(1, round(REPEATS * scale))
    print(f"{repeats} samples of each size; errors of the number of population uniques\n")
    lines: list[Line] = []
    for population in (each for each in populations() if only in (None, each.name)):
        for design in ("equal", "unequal"):
            lines += play(population, design, repeats)
            if save is not None:
                write(lines, save)
    print_pooled(lines)


def play(population: Population, design: str, repeats: int) -> list[Line]:
    """The lines of one population and design, which are printed as well."""
    start = process_time()
    league = backtest(
        population.records,
        population.keys,
        fractions=FRACTIONS,
        repeats=repeats,
        models=MODELS,
        stratum=population.stratum if design == "unequal" else None,
        seed=SEED,
    )
    lines = [
        Line.of_score(population.name, design, figure, score, width(league, figure, score))
        for figure in ("uniques", "matches")
        for score in league.scores(figure)
    ]
    print(
        f"{population.name}, {design} weights: {league.population_size:,} persons, "
        f"{league.n_cells:,} cells, {league.population_uniques:,} population uniques; "
        f"{process_time() - start:.0f} CPU s"
    )
    print_lines([line for line in lines if line.figure == "uniques"])
    return lines


def width(league: Backtest, figure: str, score: Score) -> float | None:
    """The median of upper over lower limit at this model and fraction, None without limits."""
    given = (
        getattr(trial.estimates[score.model], figure)
        for trial in league.trials
        if trial.fraction == score.fraction
    )
    ratios = [
        outcome.high / max(outcome.low, 1.0)
        for outcome in given
        if isinstance(outcome, Figure) and outcome.low is not None and outcome.high is not None
    ]
    return float(np.median(ratios)) if ratios else None


def print_lines(lines: Sequence[Line]) -> None:
    """A row for each fraction: the recommended estimate, the best model, every model's error."""
    header = ("fraction", "truth", "error", "bias", "covered", "best", "its error", "ratio")
    print("  " + "".join(f"{word:>10}" for word in header) + "  errors of all models")
    for fraction in FRACTIONS:
        here = {line.model: line for line in lines if line.fraction == fraction}
        ours, best = here[RECOMMENDED], best_of(here.values())
        print(f"  {fraction:>10.4g}" + "".join(f"{cell:>10}" for cell in row(ours, best)), end="  ")
        print(", ".join(f"{name} {share(here[name].error)}" for name in MODELS), flush=True)
    print()


def row(ours: Line, best: Line | None) -> Iterator[str]:
    """What is said of the recommended estimate beside the best single model."""
    yield "–" if ours.truth is None else f"{ours.truth:.4g}"
    yield from (share(value) for value in (ours.error, ours.bias, ours.covered))
    if best is None or best.error is None or ours.error is None:
        yield from ("–", "–", "–")
        return
    yield from (best.model[:9], share(best.error), f"{ours.error / max(best.error, 1e-3):.1f}")


def best_of(lines: Iterable[Line]) -> Line | None:
    """The single model with the least error among those that answered every sample."""
    whole = [
        line
        for line in lines
        if line.model != RECOMMENDED and line.error is not None and line.answers == line.samples
    ]
    return min(whole, key=lambda line: line.error or 0.0, default=None)


def share(value: float | None) -> str:
    """A share with two decimals, or a dash."""
    return "–" if value is None else f"{value:.2f}"


def print_pooled(lines: Sequence[Line]) -> None:
    """Means over all populations and fractions for each model, design and figure."""
    for figure in ("uniques", "matches"):
        for design in ("equal", "unequal"):
            print(
                f"all populations, {figure}, {design} weights: mean error, coverage, width, answers"
            )
            for name in (RECOMMENDED, *MODELS):
                here = [
                    line
                    for line in lines
                    if (line.figure, line.design, line.model) == (figure, design, name)
                ]
                print(f"  {name:<30}{pooled(here)}")


def pooled(lines: Sequence[Line]) -> str:
    """Mean error and coverage and median width over the lines that have them; answers."""
    columns = ((name, [getattr(line, name) for line in lines]) for name in POOLED)
    found = {name: [v for v in values if v is not None] for name, values in columns}
    means = (float(POOLED[name](v)) if v else None for name, v in found.items())
    asked, answers = (sum(getattr(line, n) for line in lines) for n in ("samples", "answers"))
    return "".join(f"{share(value):>8}" for value in means) + f"{answers:>8} of {asked}"


def write(lines: Sequence[Line], path: Path) -> None:
    """The lines about population uniques as CSV, numbers to four digits."""
    names = [field.name for field in fields(Line) if field.name != "figure"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for line in lines:
            if line.figure == "uniques":
                values = (getattr(line, name) for name in names)
                writer.writerow(f"{v:.4g}" if isinstance(v, float) else v for v in values)


def main() -> None:
    """Parse the size and the file to save to, and run."""
    parser = argparse.ArgumentParser(description="Which model to trust where")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--only", metavar="NAME")
    given = parser.parse_args()
    run(given.scale, given.save, given.only)


if __name__ == "__main__":
    main()
