"""Rows and sentences on the statistics of one count table."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from discreet.belief.count_belief import TableDistribution
from discreet.count_tables.assessment import DISTRIBUTIONS, CountAssessment
from discreet.count_tables.com_poisson.goodness import Goodness
from discreet.count_tables.decimals import TruncatedReconstruction
from discreet.count_tables.measures import CellRisk, CountRisk, IntervalRisk, interval_risk
from discreet.count_tables.rebuilding import Reconstruction
from discreet.count_tables.release import Attack
from discreet.count_tables.verdict import CountDecision, CountVerdict
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import above
from discreet.report import words
from discreet.report.counts.fit import tested_sentence

TITLES = {
    "multinomial": "multinomial (right)",
    "uniform": "uniform (as printed)",
    "uniform_by_factorisation": "uniform by factorisation",
}
PRIOR_HEADER = ("prior on tables", "1/entropy", "effective tables", "best guess", "true table")
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
    middle = ("bounds", "risk (14)", "risk", "best\nguess", "prob. of\nguess")
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
        cell_words(limits.printed),
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
        "Risk (14) is 1 / log2(U − L) for bounds L and U, as Kadane, Krishnan and Shmueli print "
        "it; it has no value (–) where only one or two counts are possible, just where risk is "
        "greatest. The risk beside it, 1 / (1 + log2(U − L + 1)), is 1 where the count is known. "
        "Best guesses assume the multinomial prior."
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


def prior_title(a: CountAssessment, name: str) -> str:
    """The name of a distribution; where n is withheld the right one still rests on a distribution
    over n.
    """
    given = name == "multinomial" and a.release.n is None
    return "multinomial (given n)" if given else TITLES[name]


def prior_row(a: CountAssessment, name: str, risk: CountRisk | Unavailable) -> tuple[str, ...]:
    """One line of the priors."""
    title = prior_title(a, name)
    if isinstance(risk, Unavailable):
        return (title, "–", "–", "–", "–")
    found = (
        risk.reciprocal_entropy,
        risk.effective_tables,
        risk.best_guess_probability,
        risk.truth_probability,
    )
    return (title, *(cell_words(outcome) for outcome in found))


def prior_notes(a: CountAssessment) -> Iterator[str]:
    """Which prior is right, how far the printed figure is off, and what is not available."""
    yield (
        "The paper takes all tables that agree with the statistics as equally probable (uniform). "
        "That holds for observations in their order, not for tables: a table f stands for "
        "n!/∏ f_j! orders, so multinomial is right for independent counts. Effective tables: the "
        "number of equally probable tables that would leave an intruder as unsure."
    )
    yield from (words.sentence(f"Assumed: {line.rstrip('.')}.") for line in a.assumptions)
    right, printed = (_global(a.risks[name]) for name in ("multinomial", "uniform"))
    if right is not None and printed is not None and above(right, printed):
        yield (
            f"The paper's uniform figure, 1/entropy = {words.probability(printed)}, understates "
            f"the leak: it is {cell_words(Figure(value=right, how=How.EXACT))}."
        )
    reasons = ((TITLES[name], why) for name, risk in a.risks.items() for why in _reasons(risk))
    yield from (f"{', '.join(names)}: {why}." for why, names in words.by_reason(reasons).items())
    yield from _led_astray(a)


def _global(risk: CountRisk | Unavailable) -> float | None:
    if isinstance(risk, Unavailable) or isinstance(risk.reciprocal_entropy, Unavailable):
        return None
    return risk.reciprocal_entropy.value


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
            "Here the true table is less probable than under uniform: it is an unlikely one for "
            "COM-Poisson counts, so an intruder who trusts this distribution is misled."
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
    if a.verdict is not None:
        named = [one.words for trial in a.verdict.trials for one in trial.exposed]
        others = (w for w in a.verdict.warnings if not any(one in w for one in named))
        found += [words.full(w) for w in others]
    return found


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


VERDICTS = {
    CountDecision.RELEASE: "release",
    CountDecision.DO_NOT: "do not release",
    CountDecision.UNDECIDED: "undecided, so do not release",
}


def verdict_words(verdict: CountVerdict) -> str:
    """What to do, in a few words."""
    if verdict.decision is CountDecision.FEWER_DECIMALS:
        return f"release S2 with {words.plural(verdict.decimals or 0, 'decimal')} only"
    return VERDICTS[verdict.decision]


def verdict_scope(verdict: CountVerdict) -> str:
    """Which release the other figures are of, where the verdict is for another."""
    if verdict.decision is not CountDecision.FEWER_DECIMALS:
        return ""
    return "All other figures are of the release as first asked, not of this one."


def exposed_rows(verdict: CountVerdict) -> list[tuple[str, str, str]]:
    """Values whose true count an intruder finds with more than the risk allowed."""
    rows = []
    for one in verdict.exposed:
        error = "" if not one.standard_error else f" ± {words.expected(one.standard_error)}"
        found = f"{words.probability(one.probability)}{error}"
        rows.append((str(one.value), words.count(one.count), found))
    return rows
