"""Rows and sentences on the statistics of one count table."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from discreet.belief.count_belief import TableDistribution
from discreet.count_tables.advice import CountAdvice
from discreet.count_tables.assessment import DISTRIBUTIONS, CountAssessment
from discreet.count_tables.com_poisson.goodness import Goodness
from discreet.count_tables.decimals import TruncatedReconstruction
from discreet.count_tables.measures import CellRisk, CountRisk, IntervalRisk, interval_risk
from discreet.count_tables.rebuilding import Reconstruction
from discreet.count_tables.release import Attack
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.report import words
from discreet.report.counts.fit import tested_sentence

SURE_HEADER = ("effective tables", "best guess is right", "true table", "1/entropy")
UNKNOWN = "?"
ZEROS_UNKNOWN = (
    "n is withheld and no range of it is known, so nothing can be said of the number of zeros: it "
    "is shown as ?, and all figures of tables are about the counts from value 1 on."
)


class Bound(NamedTuple):
    """What is known of the count of one value; `cell` under the right distribution, where there is
    one.
    """

    value: int
    interval: IntervalRisk
    how: str
    cell: CellRisk | None


def bounds_of(a: CountAssessment) -> list[Bound]:
    """The bounds of each value's count; none where they are not known."""
    found, right = a.found, a.risks["multinomial"]
    cells = {c.value: c for c in right.cells} if isinstance(right, CountRisk) else {}
    if isinstance(found, Reconstruction):
        first, exact = found.first_value, found.bounds.exact.tolist()
        lower, upper = found.bounds.lower.tolist(), found.bounds.upper.tolist()
    elif isinstance(found, TruncatedReconstruction) and not isinstance(found.bounds, Unavailable):
        first, (lower, upper) = found.first_value, (limit.tolist() for limit in found.bounds)
        exact = [found.how is How.EXACT] * len(lower)
    else:
        return []
    return [
        Bound(
            j,
            interval_risk(lower[j], upper[j]),
            How.EXACT.value if exact[j] else "valid, perhaps not tight",
            cells.get(j),
        )
        for j in range(first, len(lower))
    ]


def bounds_header(a: CountAssessment) -> tuple[str, ...]:
    """Columns of the bounds: the holder sees the truth too."""
    middle = ("bounds", "risk", "best\nguess", "prob. of\nguess")
    if a.table is None:
        return ("value", *middle)
    return ("value", "true\ncount", *middle, "prob. of\ntruth")


def bounds_row(a: CountAssessment, bound: Bound) -> tuple[str, ...]:
    """One line of the bounds."""
    limits, cell = bound.interval, bound.cell
    between = words.count(limits.lower)
    if limits.upper > limits.lower:
        between += f"–{words.count(limits.upper)}"
    middle = (
        between,
        words.probability(limits.bounded),
        "–" if cell is None else words.count(cell.best_guess),
        "–" if cell is None else _probability(cell.best_guess_probability),
    )
    if a.table is None:
        return (str(bound.value), *middle)
    truth = None if cell is None else cell.truth_probability
    shown = "–" if truth is None else _probability(truth)
    return (str(bound.value), words.count(a.table.get(bound.value, 0)), *middle, shown)


def _probability(value: float) -> str:
    """A probability summed up from many, 1 where only rounding is missing."""
    return words.probability(1.0 if value > 1 - 1e-9 else value)


def cell_words(outcome: Outcome | None) -> str:
    """A figure for a table; the reason why there is none has its place below."""
    if outcome is None or isinstance(outcome, Unavailable) or outcome.value is None:
        return "–"
    value = outcome.value
    whole = round(value)
    value = float(whole) if whole and abs(value - whole) < 1e-9 * whole else value
    shown = (words.probability if value <= 1 else words.expected)(value)
    return shown + _error_words(shown, outcome)


def _error_words(shown: str, figure: Figure) -> str:
    """The standard error where it can be read: in percent beside a power of ten."""
    error, value = figure.standard_error, figure.value
    if error is None or not value or shown.startswith("<"):
        return ""
    if shown.startswith("about"):
        return f" (± {100 * error / value:.2g} %)"
    return f" ± {words.expected(error)}"


def bounds_meaning(a: CountAssessment) -> Iterator[str]:
    """How the columns of the bounds are to be read, or why there are none."""
    if isinstance(a.found, TruncatedReconstruction) and isinstance(a.found.bounds, Unavailable):
        yield f"No bounds of single counts: {words.sentence(a.found.bounds.reason)}."
        return
    yield (
        "Risk is 1 / (1 + log2(U − L + 1)) for bounds L and U: 1 where the count is known. Best "
        "guesses are those of independent counts."
    )
    if isinstance(a.found, Reconstruction) and a.found.bounds.note:
        yield f"Bounds: {words.sentence(a.found.bounds.note)}."
    if zeros_unknown(a.found):
        yield ZEROS_UNKNOWN


def equations_of(found: Attack) -> tuple[str, ...]:
    """The equations for people to read; none for zeros that are left out."""
    if not isinstance(found, Reconstruction):
        return ()
    hidden = "0 = f0" if zeros_unknown(found) else ""
    return tuple(line for line in found.equations if line != hidden)


def count_words(found: Attack) -> str:
    """How many tables are consistent."""
    if isinstance(found, Unavailable):
        return f"not known: {words.sentence(found.reason)}"
    if isinstance(found, TruncatedReconstruction) and found.how is How.EXACT:
        sets = words.plural(len(found.sets), "factorisation")
        return f"{words.count(found.count)} (exact), from {sets} within the interval of S2"
    number = found.number if isinstance(found, TruncatedReconstruction) else found.count
    return words.tables(number)


def sure_row(risk: CountRisk | Unavailable) -> tuple[str, ...]:
    """How sure an intruder is of the table, under the distribution that is right."""
    if isinstance(risk, Unavailable):
        return ("–", "–", "–", "–")
    found = (
        risk.effective_tables,
        risk.best_guess_probability,
        risk.truth_probability,
        risk.reciprocal_entropy,
    )
    return tuple(cell_words(outcome) for outcome in found)


def sure_notes(a: CountAssessment) -> Iterator[str]:
    """What the figures mean and rest on, and what is not available."""
    yield (
        "Effective tables: the number of equally probable tables that would leave an intruder as "
        "unsure. A table counts as often as there are orders of its observations, as is right for "
        "independent counts."
    )
    yield from (words.sentence(f"Assumed: {line.rstrip('.')}.") for line in a.assumptions)
    yield from (f"{words.full(why)}" for why in dict.fromkeys(_reasons(a.risks["multinomial"])))
    yield from _led_astray(a)


def _reasons(risk: CountRisk | Unavailable) -> Iterator[str]:
    if isinstance(risk, Unavailable):
        yield words.sentence(risk.reason)
        return
    named = {
        "1/entropy": risk.reciprocal_entropy,
        "effective tables": risk.effective_tables,
        "best guess": risk.best_guess_probability,
        "true table": risk.truth_probability,
    }
    for name, outcome in named.items():
        if isinstance(outcome, Unavailable):
            have = "have" if name == "effective tables" else "has"
            yield f"{name} {have} no figure, {words.sentence(outcome.reason)}"


def _led_astray(a: CountAssessment) -> Iterator[str]:
    """A true table less probable than under uniform misleads whoever trusts the distribution."""
    truths = [
        None if isinstance(risk, Unavailable) else risk.truth_probability
        for risk in (a.risks["multinomial"], a.risks["uniform"])
    ]
    values = [t.value for t in truths if isinstance(t, Figure) and t.value is not None]
    if len(values) == 2 and values[0] < values[1] * (1 - 1e-9):
        yield (
            "The true table is an unlikely one for COM-Poisson counts: less probable than if all "
            "tables were equally probable. An intruder who trusts this distribution is misled."
        )


def best_guess(a: CountAssessment) -> str:
    """The most probable table under the right distribution, and for the holder whether it is the
    truth.
    """
    distribution = right_distribution(a.found)
    if distribution is None or distribution.best_counts is None:
        return "not known"
    counts = distribution.best_counts
    table = ",".join(f"{j}:{_shown(c)}" for j, c in counts.items() if c is None or c)
    said = f"{table}, probability {cell_words(distribution.best_guess_probability)}"
    if a.table is None:
        return said
    same = is_truth(a, tuple(counts.values()))
    what = "true from value 1 on" if zeros_unknown(a.found) else "the true table"
    return f"{said}; it is {what if same else f'not {what}'}"


def _shown(count: int | None) -> str:
    return UNKNOWN if count is None else str(count)


def zeros_unknown(found: Attack) -> bool:
    """Is the number of zeros beyond telling, so that counts begin at value 1?"""
    return not isinstance(found, Unavailable) and found.first_value > 0


def right_distribution(found: Attack) -> TableDistribution | None:
    """The distribution that is right for independent counts, where it was found."""
    if isinstance(found, Unavailable):
        return None
    distribution = found.distributions[
        DISTRIBUTIONS["multinomial"][isinstance(found, TruncatedReconstruction)] or ""
    ]
    return None if isinstance(distribution, Unavailable) else distribution


ZEROS_CAME_IN = (
    "Before, without a range of n, the number of zeros is left out; after, it is one of the counts "
    "to be guessed, so the two are not about the same tables."
)


def zeros_came_in(a: CountAssessment) -> bool:
    """Does the knowledge make the number of zeros a thing to guess?"""
    return a.before is not None and zeros_unknown(a.before) and not zeros_unknown(a.found)


def knowledge_rows(a: CountAssessment) -> list[tuple[str, str, str]]:
    """The risk without and with the intruder's knowledge."""
    if a.before is None:
        return []
    pair = (a.risks_before["multinomial"], a.risks["multinomial"])
    rows = [("tables", count_words(a.before).split(" (")[0], count_words(a.found).split(" (")[0])]
    for name, part in (
        ("1/entropy", "reciprocal_entropy"),
        ("effective tables", "effective_tables"),
        ("best guess is right", "best_guess_probability"),
        ("true table", "truth_probability"),
    ):
        if part != "truth_probability" or a.table is not None:
            before, after = (cell_words(getattr(risk, part, None)) for risk in pair)
            rows.append((name, before, after))
    return rows


def knowledge_notes(a: CountAssessment) -> Iterator[str]:
    """Why figures without the knowledge are missing; those with it are told above."""
    before = a.risks_before.get("multinomial")
    for why in () if before is None else _reasons(before):
        yield f"Before: {why}."


def warnings(a: CountAssessment) -> list[str]:
    """What must not be overlooked; values exposed have a table of their own."""
    tested = a.goodness if isinstance(a.goodness, Goodness) else None
    found = [tested_sentence(tested.sentence)] if tested is not None and tested.fits_badly else []
    if a.advice is not None:
        named = [one.words for trial in a.advice.trials for one in trial.exposed]
        others = (w for w in a.advice.warnings if not any(one in w for one in named))
        found += [words.full(w) for w in others]
    return [*found, *map(words.full, a.warnings)]


def interval_line(a: CountAssessment) -> str | None:
    """What would be left if n and the bounds went out instead."""
    if a.intervals is None:
        return None
    effective = ""
    if a.intervals.count.value is not None:
        distribution = a.intervals.distributions["multinomial"]
        doubt = (
            distribution if isinstance(distribution, Unavailable) else distribution.effective_tables
        )
        if isinstance(doubt, Unavailable):
            effective = f"; effective tables are not known: {words.sentence(doubt.reason)}"
        else:
            effective = f", {cell_words(doubt)} effective tables"
    return (
        "If n and the bounds of each count went out instead, this many tables would be left: "
        f"{words.tables(a.intervals.count)}{effective}."
    )


def likely_rows(a: CountAssessment, most: int) -> list[tuple[str, str, str]]:
    """The most probable tables; the true one is marked for the holder.

    Of tables drawn from many only those with a probability that says something.
    """
    if isinstance(a.likely, Unavailable):
        return []
    rows = []
    mark = "true from value 1 on" if zeros_unknown(a.found) else "the true table"
    for row, probability in enumerate(a.likely.probability.tolist()[:most]):
        if not a.likely.complete and probability < words.SMALL:
            break
        counts = a.likely.counts(row)
        shown = " ".join(_shown(count) for count in counts)
        rows.append((shown, words.probability(probability), mark if is_truth(a, counts) else ""))
    return rows


def is_truth(a: CountAssessment, counts: Sequence[int | None]) -> bool:
    """Are the counts of an intruder's table, as far as they are known, the holder's?"""
    if a.table is None:
        return False
    true = (a.table.get(j, 0) for j in range(len(counts)))
    same = all(c is None or c == t for c, t in zip(counts, true, strict=True))
    return same and max(a.table) < len(counts)


def exposed_rows(advice: CountAdvice) -> list[tuple[str, str, str]]:
    """Values whose true count an intruder finds with more than the risk allowed."""
    rows = []
    for one in advice.exposed:
        error = "" if not one.standard_error else f" ± {words.expected(one.standard_error)}"
        found = f"{words.probability(one.probability)}{error}"
        rows.append((str(one.value), words.count(one.count), found))
    return rows
