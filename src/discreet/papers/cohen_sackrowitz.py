"""Cohen and Sackrowitz: the example, the two theorems, the test."""

import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from discreet.data.summary import SizeIndices
from discreet.fiber.sums.enumeration import tables
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.papers.rows import Kind, Row, claim, row
from discreet.progress import Progress, silent
from discreet.survey.models.cohen_sackrowitz import UniquenessTest
from discreet.survey.models.exchangeable_prior import ExchangeablePosterior, PopulationPrior

PAPER = "cohen-sackrowitz"
CHOLESTEROL = ((4, 8, 1, 15, 12), (6, 7, 5, 11, 9))  # table 1
N, n, K, UNIQUES = 46_228, 8_399, 1_108, 108  # the Dutch municipality
CATEGORIES = (24, 14, 2, 2)
_row = partial(row, PAPER)


def rows(progress: Progress = silent) -> Iterator[Row]:
    """All figures, in the order of the paper."""
    yield _row(
        "Table 1: sample uniques",
        "1",
        SizeIndices.of_counts(np.ravel(CHOLESTEROL)).sample_uniques,
        "the woman hired 3–5 years ago",
    )
    yield _points()
    yield _theorem_1()
    yield _limit()
    yield _theorem_2()
    yield _direction()
    yield _test()
    text = "1108 < 24 × 14 × 2 × 2"
    yield _row(
        "section 2: K < K′",
        [text],
        claim(text, math.prod(CATEGORIES) > K),
        f"K′ = {math.prod(CATEGORIES):,}",
        kind=Kind.STATEMENT,
    )
    yield from _example()


def _posterior(
    prior: PopulationPrior, sample_size: int = n, cells: int = K
) -> ExchangeablePosterior:
    return ExchangeablePosterior(
        prior=prior, sample_size=sample_size, population_size=N, n_table_cells=cells
    )


def _simplex(cells: int, total: int) -> System:
    """All tables of so many cells with this total."""
    whole = Statement(cells=np.arange(cells), low=total, high=total, name="N")
    return system_of(cells, [whole])


def _points() -> Row:
    return _row(
        "section 2: R = C(N+K−1, K−1) at N = 9, K = 4",
        str(math.comb(9 + 4 - 1, 4 - 1)),
        sum(1 for _ in tables(_simplex(4, 9))),
        "value of the printed formula; points of the simplex, listed",
        kind=Kind.FORMULA,
    )


def _theorem_1() -> Row:
    quotient = (n + K - 1) * (n + K - 2) / ((N + K - 1) * (N + K - 2))
    return _row(
        "(2.4) for the example",
        f"{quotient:.10f}",
        _posterior(PopulationPrior.UNIFORM).unique_probability,
        "value of the printed formula",
        kind=Kind.FORMULA,
    )


def _limit() -> Row:
    """With which limit of the sum the probabilities (2.5) add to one: a = (2, 1, 4), M = 5."""
    a, total = (2, 1, 4), 5
    ways = sum(
        math.prod(math.comb(x + j - 1, j) for x, j in zip(a, map(int, point), strict=True))
        for point in tables(_simplex(len(a), total))
    )
    sums = {"p": sum(a), "below p": sum(a[:-1])}
    right = [name for name, s in sums.items() if ways == math.comb(s + total - 1, total)]
    return _row(
        "(2.5): the sum of a runs up to",
        ["q"],
        " ".join(right),
        kind=Kind.STATEMENT,
        note="only then do the probabilities add to 1",
        slip="cohen-sackrowitz-sum",
    )


def _theorem_2() -> Row:
    expected = _posterior(PopulationPrior.MULTINOMIAL).mean_of(UNIQUES)
    return _row(
        "(2.6) for the example",
        f"{math.exp((N - n) * math.log1p(-1 / K)):.6e}",
        _posterior(PopulationPrior.MULTINOMIAL).unique_probability,
        f"under this prior {expected:.2e} population uniques are expected, not 4.36",
        kind=Kind.FORMULA,
    )


def _direction() -> Row:
    text = "Q rises with n and with K"
    by_sample = [
        _posterior(p, m).unique_probability for p in PopulationPrior for m in range(n, N, 500)
    ]
    by_cells = [
        _posterior(p, n, k).unique_probability for p in PopulationPrior for k in range(300, K, 50)
    ]
    rises = [
        np.all(np.diff(np.reshape(values, (len(PopulationPrior), -1))) > 0)
        for values in (by_sample, by_cells)
    ]
    return _row(
        "section 2, after (2.6)",
        [text],
        claim(text, all(rises)),
        "both priors, on a grid",
        kind=Kind.STATEMENT,
    )


def _test() -> Row:
    """Where the library's test turns, for losses b = 3 and c = 1."""
    grid = np.arange(1, 1000) / 1000
    calls = [
        UniquenessTest(unique_probability=q, shared_probability=1 - q).calls_unique(
            missed_loss=3, false_alarm_loss=1
        )
        for q in grid
    ]
    turn = next(q for q, (before, after) in zip(grid[1:], pairwise(calls), strict=True)
                if after and not before)  # fmt: skip
    return _row(
        "section 2: reject if Q < c/(b+c), at b = 3, c = 1",
        f"{1 / (3 + 1):.2f}",
        float(turn),
        "where the test turns",
        kind=Kind.FORMULA,
    )


def _example() -> Iterator[Row]:
    expected = _posterior(PopulationPrior.UNIFORM).mean_of(UNIQUES)
    yield _row("section 2: estimate of the example", "4.36", expected, "108 Q₁ by (2.4)")
    yield _row(
        "section 2: the quotient set equal to 4.36",
        "4.36",
        _posterior(PopulationPrior.UNIFORM).unique_probability,
        "the factor 108 is missing in the quotient; the result has it",
        slip="cohen-sackrowitz-example",
    )
