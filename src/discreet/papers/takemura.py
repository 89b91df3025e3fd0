"""Takemura: the additive model, the table over λ, and Ewens and Pitman on his size indices.

His sample is not public. What does not depend on it, or only on its printed size indices, is
computed; the formulas are tried on the census table of dobra and on a small one.
"""

import math
from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np

from discreet.data.summary import SizeIndices, Summary
from discreet.numerics.arrays import IntArray
from discreet.numerics.rounding import alike
from discreet.papers.dobra_data import CENSUS
from discreet.papers.rows import Kind, Row, claim, row
from discreet.progress import Progress, silent
from discreet.survey.models.lancaster import Lancaster, unique_probability
from discreet.survey.models.superpopulation.ewens import Ewens
from discreet.survey.models.superpopulation.pitman import Pitman

PAPER = "takemura"
SIZES = (14, 2, 91, 5, 14, 7, 2, 5, 2, 10)
SAMPLE_SIZE, POPULATION_SIZE = 9_809, 4_867_000
INDICES = (2249, 521, 275, 132, 104, 60, 59, 34, 46, 19)
LARGE_CELLS = 124
SHRINKAGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
PLAIN = "885.02 480.27 372.82 315.93 278.88 252.13"
RENORMALISED = "885.02 482.94 403.46 376.21 362.50 354.68"
NEGATIVE = "0 -0.013 -0.193 -0.465 -0.758 -1.065"
SMALL = np.array([[[3, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 0], [0, 0]]])  # with negative cells
PUBLIC = "takemura-data"
_row = partial(row, PAPER)


def rows(progress: Progress = silent) -> Iterator[Row]:
    """All figures, in the order of the paper."""
    yield from _equations()
    yield _row(
        "section 2: interaction terms for m = 10, I = 10",
        "4500",
        sum(a * b for a, b in combinations([10] * 10, 2)),
    )
    yield from _shrunk()
    yield _row("section 3: cells of the table", "249,704,000", math.prod(SIZES))
    yield from _sample()
    yield from _table()
    yield from _superpopulations()


def summary_of(table: IntArray, population_size: float) -> Summary:
    """A table of counts as the summary that the additive model is fitted on."""
    axes = range(table.ndim)
    margins = {
        keys: table.sum(axis=tuple(a for a in axes if a not in keys))
        for order in (1, 2)
        for keys in combinations(axes, order)
    }
    return Summary(
        sample_size=int(table.sum()),
        n_table_cells=table.size,
        level_counts=table.shape,
        size_indices=SizeIndices.of_counts(table[table > 0]),
        weight_total=None,
        population_size=population_size,
        population_size_known=True,
        margins=margins,
    )


def additive(table: IntArray, shrinkage: float, power: int = 3) -> np.ndarray:
    """Formula (4) for every cell of a three-way table, with n to this power below the product."""
    n = table.sum()
    one = [table.sum(axis=tuple(a for a in range(3) if a != b), keepdims=True) for b in range(3)]
    bracket = 1.0
    for a, b in combinations(range(3), 2):
        pair = table.sum(axis=3 - a - b, keepdims=True)
        bracket = bracket + shrinkage * (n * pair / (one[a] * one[b]) - 1)
    return np.asarray(one[0] * one[1] * one[2] / float(n) ** power * bracket)


def _fitted(table: IntArray, shrinkage: float, cell: tuple[int, ...]) -> float:
    fit = Lancaster(shrinkage=shrinkage).fit(summary_of(table, 10.0 * table.sum()))
    return float(fit.clipped_probability(np.array([cell]))[0])


def _equations() -> Iterator[Row]:
    cell = (1, 2, 1)
    yield _row(
        "(1), (2) on dobra's Table 1, cell (2,3,2)",
        f"{additive(CENSUS, 1.0)[cell]:.12f}",
        _fitted(CENSUS, 1.0, cell),
        "value of the printed formula",
        kind=Kind.FORMULA,
    )
    yield _row(
        "(3) at p = 0.0005, N − n = 5000",
        f"{(1 - 0.0005) ** 5000:.10f}",
        float(unique_probability(np.array([0.0005]), 5000.0)[0]),
        "value of the printed formula",
        kind=Kind.FORMULA,
    )


def _shrunk() -> Iterator[Row]:
    cell = (1, 2, 1)
    yield _row(
        "(4) on dobra's Table 1, cell (2,3,2), λ = 0.5",
        f"{additive(CENSUS, 0.5, power=1)[cell]:.4f}",
        _fitted(CENSUS, 0.5, cell),
        "n stands once below the product where n³ belongs",
        kind=Kind.FORMULA,
        slip="takemura-equation-4",
    )
    p = additive(SMALL, 1.0)
    fit = Lancaster(shrinkage=1.0).fit(summary_of(SMALL, 100.0))
    yield _row(
        "(5): c(1) by its two forms, on a table of 12 cells",
        [f"{p[p >= 0].sum():.10f}", f"{1 - p[p < 0].sum():.10f}"],
        [fit.normaliser.positive.value, fit.normaliser.positive.value],
        "value of the printed formulas",
        kind=Kind.FORMULA,
    )


def large_cells(even: bool) -> list[int]:
    """Two ways to fill the 124 cells of 11 or more: as even, or as uneven as can be."""
    left = SAMPLE_SIZE - sum(size * cells for size, cells in enumerate(INDICES, start=1))
    each, more = divmod(left, LARGE_CELLS)
    if even:
        return [each + (i < more) for i in range(LARGE_CELLS)]
    return [11] * (LARGE_CELLS - 1) + [left - 11 * (LARGE_CELLS - 1)]


def size_summary(even: bool) -> Summary:
    """His sample by its size indices."""
    counts = np.concatenate([np.repeat(np.arange(1, 11), INDICES), large_cells(even)])
    return Summary(
        sample_size=SAMPLE_SIZE,
        n_table_cells=math.prod(SIZES),
        level_counts=(math.prod(SIZES),),
        size_indices=SizeIndices.of_counts(counts),
        weight_total=None,
        population_size=float(POPULATION_SIZE),
        population_size_known=True,
    )


def _sample() -> Iterator[Row]:
    sizes = size_summary(True).size_indices
    left = sum(large_cells(True))
    yield _row("section 3: sample uniques", "2249", sizes.sample_uniques, "the first size index")
    text = "n = 9809"
    yield _row(
        "section 3: size indices, with 124 cells of 11 or more",
        [text],
        claim(text, sizes.sample_size == SAMPLE_SIZE and min(large_cells(True)) >= 11),
        f"leaves {left:,} records to the 124 cells, {left / LARGE_CELLS:.1f} each",
        kind=Kind.STATEMENT,
    )


def _table() -> Iterator[Row]:
    """The table over λ: only what is the same for every sample can be computed."""
    blank = (None,) * len(SHRINKAGES)
    note = "the sample is not public"
    yield _row("table, no renormalization, λ = 0 … 1", PLAIN, blank, note, not_public=PUBLIC)
    yield _row("table, renormalization, λ = 0 … 1", RENORMALISED, blank, note, not_public=PUBLIC)
    rest = NEGATIVE.split()[1:]
    yield _row("table, sum of negative prob., λ > 0", rest, blank[1:], note, not_public=PUBLIC)
    fit = Lancaster(shrinkage=0.0).fit(summary_of(SMALL, 100.0))
    none = 0.0 - fit.normaliser.clipped.value
    yield _row("table, sum of negative prob., λ = 0", "0", none, "for every sample")
    plain, divided, negative = (
        [float(x) for x in line.split()] for line in (PLAIN, RENORMALISED, NEGATIVE)
    )
    text = "885.02 twice at λ = 0"
    same = alike(fit.normaliser.positive.value, 1.0) and plain[0] == divided[0]
    yield _row(
        "table, both lines agree at λ = 0",
        [text],
        claim(text, same),
        "since c(0) = 1",
        kind=Kind.STATEMENT,
    )
    steps = np.diff(negative)
    concave = bool((steps < 0).all() and (np.diff(steps) <= 0.002).all())
    higher = all(a <= b for a, b in zip(plain, divided, strict=True))
    text = "consistent with c(λ) ≥ 1 and concave sums"
    yield _row(
        "table, the printed lines together",
        [text],
        claim(text, concave and higher),
        "checked on the printed figures alone",
        kind=Kind.STATEMENT,
    )


def _superpopulations() -> Iterator[Row]:
    by_moments = Ewens(estimator="moments").fit(size_summary(True))
    likely = Ewens().fit(size_summary(True)).population_uniques
    theta = float(by_moments.parameters["theta"])
    yield _row(
        "table, Ewens",
        "5.88",
        by_moments.population_uniques,
        f"by moments (θ = {theta:,.2f}); maximum likelihood gives {likely:.3f}",
    )
    low, high = (Pitman().fit(size_summary(even)).population_uniques for even in (True, False))
    yield _row(
        "table, Pitman",
        "213.96",
        low,
        f"at most {high:.1f}, however the 124 large cells are filled",
        slip="takemura-pitman",
    )
