"""Kadane, Krishnan and Shmueli, section 4: the disasters, the poem, the injuries."""

from collections.abc import Iterator, Mapping
from functools import cache, partial

import numpy as np

from discreet.belief.count_belief import TableDistribution
from discreet.count_tables.com_poisson.comparison_estimates import weighted_least_squares
from discreet.count_tables.com_poisson.estimation import maximum_likelihood
from discreet.count_tables.com_poisson.goodness import Goodness, goodness_of_fit
from discreet.count_tables.factorials import factorial_exponent
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.measures import global_risk, interval_risk
from discreet.count_tables.rebuilding import HiddenCounts, hidden_counts
from discreet.count_tables.statistics import CountStatistics
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray
from discreet.numerics.rounding import above
from discreet.papers.kadane_data import DISASTERS, INJURIES, POEM, Example
from discreet.papers.outcomes import available, number_of, value_of
from discreet.papers.rows import Kind, Row, claim, row
from discreet.progress import Progress, silent

PAPER = "kadane-krishnan-shmueli"
EQUAL = "kadane-equal-tables"
_row = partial(row, PAPER)


def rows(progress: Progress = silent) -> Iterator[Row]:
    """All figures of section 4, and the claim of section 5 about them."""
    yield from _estimates()
    yield from _released(DISASTERS)
    yield _exponents()
    yield from _disasters()
    yield from _limits(DISASTERS)
    yield from _released(POEM)
    yield from _poem()
    yield from _limits(POEM)
    yield from _released(INJURIES)
    yield from _injuries()
    yield from _limits(INJURIES)
    yield _fit_claim()


def statistics(example: Example) -> CountStatistics:
    """What the agency releases of an example."""
    return CountStatistics.of_counts(example.table)


def _distribution(example: Example, truth: Mapping[int, int] | None = None) -> TableDistribution:
    """The tables that fit, weighed by the orders in which they can be observed."""
    return available(_hidden_counts(example).distribution(truth=truth))


def _hidden_counts(example: Example, knowledge: Knowledge | None = None) -> HiddenCounts:
    return hidden_counts(statistics(example), knowledge)


def _estimates() -> Iterator[Row]:
    found = weighted_least_squares(DISASTERS.table)
    yield _row(
        "section 4.1: estimates of λ and ν",
        "1.15 0.88",
        lambda: [available(found).rate, available(found).dispersion],
        "weighted least squares with full covariance, not maximum likelihood",
    )
    yield _row(
        "section 4.1: ν < 1, so the data are over-dispersed",
        ["over-dispersed"],
        lambda: _dispersed()[0],
        lambda: _dispersed()[1],
        kind=Kind.STATEMENT,
        slip="kadane-estimates",
    )


def _dispersed() -> tuple[str, str]:
    """What maximum likelihood says of the disasters, and its estimates."""
    likely = available(maximum_likelihood(statistics(DISASTERS)))
    said = "over-dispersed" if above(1, likely.dispersion) else f"ν = {likely.dispersion:.4f}"
    estimates = f"λ = {likely.rate:.4f}, ν = {likely.dispersion:.4f}"
    return said, f"maximum likelihood: {estimates}, no sign of it"


def _released(example: Example) -> Iterator[Row]:
    given = statistics(example)
    yield _row(
        f"section {example.section}: J of the {example.name}", example.largest, max(example.table)
    )
    yield _row(
        f"section {example.section}: n, s1, exponents of e^s2",
        example.statistics,
        [given.n, given.total, *given.factorisation.values()],
        f"of the {example.name}",
    )
    yield _row(
        f"section {example.section}: p′, above J",
        example.next_prime,
        given.next_prime,
        "smallest prime that is missing",
    )
    written = set(_hidden_counts(example).equations())
    for name, text in zip(example.equation_names, example.equations, strict=True):
        yield _row(
            name,
            [text],
            text if text in written else "; ".join(sorted(written)),
            "as the library writes it",
        )
    yield _row(
        f"section {example.section}: solutions",
        example.solutions,
        lambda: number_of(_hidden_counts(example).count()),
    )


def _exponents() -> Row:
    pairs = ((2, 2), (3, 3), (4, 2), (2, 3), (3, 2), (4, 3))
    return _row(
        "section 4.1: a(2,2), a(3,3), a(4,2); the others",
        "1 1 2 0 0 0",
        [factorial_exponent(k, p) - factorial_exponent(k - 1, p) for k, p in pairs],
    )


def _disasters() -> Iterator[Row]:
    tables = sorted(_hidden_counts(DISASTERS).tables(), key=lambda table: int(table[4]))
    truths = [dict(enumerate(map(int, table))) for table in tables]
    yield _row(
        "section 4.1: probability of each solution",
        ["1/7"] * len(tables),
        lambda: [value_of(_distribution(DISASTERS, truth).truth_probability) for truth in truths],
        "P(f|S) ∝ 1/∏f!, f4 = 0 … 6: not tables but ordered data are equally likely",
        slip=EQUAL,
    )
    distribution = cache(partial(_distribution, DISASTERS, DISASTERS.table))
    yield _row(
        "section 4.1: chance to reconstruct the table",
        ["1/7"],
        lambda: value_of(distribution().truth_probability),
        lambda: f"the best guess is right with probability {_best_guess(distribution()):.3f}",
        slip=EQUAL,
    )
    yield _widest(DISASTERS, "1 14 32", "printed “counts of one”")
    yield _known_largest()
    yield _peaks(tables)
    yield _row(
        "section 4.1 and Table 4: global DR",
        DISASTERS.global_risk,
        lambda: value_of(global_risk(len(tables))),
        lambda: (
            f"(15), all tables alike; by their probabilities "
            f"{_reciprocal_entropy(distribution()):.3f}"
        ),
    )


def _best_guess(distribution: TableDistribution) -> float:
    return value_of(distribution.best_guess_probability)


def _reciprocal_entropy(distribution: TableDistribution) -> float:
    return value_of(distribution.reciprocal_entropy)


def _widest(example: Example, printed: str, note: str) -> Row:
    limits = _hidden_counts(example).bounds()
    widest = int(np.argmax(limits.upper - limits.lower))
    return _row(
        f"section {example.section}: most uncertain value, its range",
        printed,
        [widest, int(limits.lower[widest]), int(limits.upper[widest])],
        note,
    )


def _known_largest() -> Row:
    """The table that is left where the intruder knows J = 3; f4 is none of its cells."""
    left = [*_hidden_counts(DISASTERS, Knowledge(largest=3)).tables()]
    only = [int(f) for f in left[0]] if len(left) == 1 else []
    return _row(
        "section 4.1: the solution if J = 3 is known",
        "17 14 13 7 0",
        [*only, 0] if len(only) == 4 else [None] * 5,
        "one table is left",
    )


def _peaks(tables: list[IntArray]) -> Row:
    shapes = sorted({(int(np.argmax(table)), bool(table[4] > table[3])) for table in tables})
    return _row(
        "section 4.1: peaks of the three “shapes”",
        "0 1 2",
        [peak for peak, _ in shapes],
        "no solution has its peak at two; the third shape peaks at one as well",
        slip="kadane-shapes",
    )


def _poem() -> Iterator[Row]:
    problem = _hidden_counts(POEM)
    yield _widest(POEM, "2 33 45", "printed “counts of two”")
    yield _row(
        "section 4.2: “shapes” at the long end",
        "2",
        len({bool(table[6] > table[5]) for table in problem.tables()}),
        "decreasing, or with an increase at six syllables",
    )
    yield _row(
        "section 4.2: solutions without words of length 0",
        "7",
        lambda: number_of(_hidden_counts(POEM, Knowledge(no_zeros=True)).count()),
    )
    text = "four equations"
    number = len(problem.equations())
    yield _row(
        "Figure 2, note: number of equations",
        [text],
        text if number == 4 else f"{number} equations",
        "(20) to (24) are five",
        kind=Kind.STATEMENT,
        slip="kadane-figure-2",
    )
    distribution = cache(partial(_distribution, POEM, POEM.table))
    yield _row(
        "Theorem 1 on the poem: probability of the true table",
        ["1/14"],
        lambda: value_of(distribution().truth_probability),
        lambda: f"and 1/H = {_reciprocal_entropy(distribution()):.3f}, not {POEM.global_risk}",
        kind=Kind.FORMULA,
        slip=EQUAL,
    )


def _injuries() -> Iterator[Row]:
    problem = _hidden_counts(INJURIES)
    yield _row(
        "section 4.3: number of equations and of unknown frequencies",
        "7 13",
        [len(problem.equations()), problem.n_cells],
        "printed “seven equations with 13 unknown frequencies”",
    )


def _limits(example: Example) -> Iterator[Row]:
    found = _hidden_counts(example).bounds()
    table = example.bounds_table
    lower, upper = ([int(x) for x in limits] for limits in (found.lower, found.upper))
    note = "exact" if found.complete else "not all proved"
    yield _row(f"{table}, lower bounds", example.lower, lower, note)
    yield _row(f"{table}, upper bounds", example.upper, upper, note)
    risks = [_printed_risk(a, b) for a, b in zip(lower, upper, strict=True)]
    yield _row(f"{table}, DR", example.risk, risks, "(14)")
    if example is not DISASTERS:
        yield _row(
            f"{table}, note: global DR",
            example.global_risk,
            lambda: value_of(global_risk(number_of(_hidden_counts(example).count()))),
            "(15), all tables alike",
        )


def _printed_risk(lower: int, upper: int) -> float | None:
    """(14), or None where it has no value."""
    printed = interval_risk(lower, upper).printed
    return None if isinstance(printed, Unavailable) else value_of(printed)


def _fit_claim() -> Row:
    """Whether the fit of any example is rejected at 5 %."""
    tests = cache(
        lambda: {
            example.name: available(
                goodness_of_fit(example.table, rng=np.random.default_rng(1), draws=199)
            )
            for example in (DISASTERS, POEM, INJURIES)
        }
    )
    text = "COM-Poisson approximates all three well"
    return _row(
        "section 5: the fit of the three examples",
        [text],
        lambda: _well_fitted(text, tests()),
        lambda: _chi_square(tests()[INJURIES.name]),
        kind=Kind.STATEMENT,
        slip="kadane-fit",
    )


def _well_fitted(text: str, tests: Mapping[str, Goodness]) -> str:
    bad = [name for name, test in tests.items() if test.fits_badly]
    return claim(text, False) + f" for the {' and '.join(bad)}" if bad else text


def _chi_square(test: Goodness) -> str:
    return f"injuries: chi-square {test.statistic:.0f} on {test.degrees_of_freedom} degrees"
