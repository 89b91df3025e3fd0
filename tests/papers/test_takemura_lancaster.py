"""Takemura's additive model: what his paper says of it, on data like his, which are not public.

The figures of his table belong to his sample and cannot be had again. What must hold of them, and
of ours on a table of the same shape, is checked: 249,704,000 cells, ten keys, n = 9809.
"""

import itertools
import math

import numpy as np
import pytest
from tests.oracles.cells_beside import cells_of_batch

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.figures import How
from discreet.survey.models.lancaster import (
    Interactions,
    Lancaster,
    _Summation,
    normaliser,
    table_over_shrinkage,
)

SIZES = (14, 2, 91, 5, 14, 7, 2, 5, 2, 10)  # section 3
SAMPLE_SIZE, POPULATION_SIZE = 9809, 4_867_000
SHRINKAGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
PRINTED_PLAIN = (885.02, 480.27, 372.82, 315.93, 278.88, 252.13)
PRINTED_RENORMALISED = (885.02, 482.94, 403.46, 376.21, 362.50, 354.68)
PRINTED_NEGATIVE = (0, -0.013, -0.193, -0.465, -0.758, -1.065)


@pytest.fixture(scope="module")
def survey():
    """A sample of his size with his keys, all of them associated through a hidden class."""
    rng = np.random.default_rng(2003)
    hidden = rng.choice(30, size=SAMPLE_SIZE, p=rng.dirichlet(np.ones(30)))
    columns = []
    for size in SIZES:
        limits = rng.dirichlet(np.full(size, 0.25), 30).cumsum(axis=1)
        columns.append((rng.random(SAMPLE_SIZE)[:, None] > limits[hidden]).sum(axis=1))
    records = np.minimum(np.stack(columns, axis=1), np.array(SIZES) - 1)
    cells, counts = np.unique(records, axis=0, return_counts=True)
    margins = {}
    for order in (1, 2):
        for keys in itertools.combinations(range(10), order):
            margins[keys] = np.zeros([SIZES[key] for key in keys], dtype=np.int64)
            np.add.at(margins[keys], tuple(records[:, key] for key in keys), 1)
    summary = Summary(
        sample_size=SAMPLE_SIZE,
        n_table_cells=math.prod(SIZES),
        level_counts=SIZES,
        size_indices=SizeIndices.of_counts(counts),
        weight_total=None,
        population_size=float(POPULATION_SIZE),
        population_size_known=True,
        margins=margins,
    )
    coding = Coding.of_sizes(SIZES)
    words = coding.encode(cells)
    return summary, CellBatch(coding=coding, words=words, sample_count=counts, weight_total=None)


def test_the_table_of_section_3_has_that_many_cells():
    assert math.prod(SIZES) == 249_704_000


def test_equation_1_for_three_keys(survey):
    """p_i.. p_.j. p_..k {1 + (p_ij./(p_i.. p_.j.) − 1) + …}, from the records themselves."""
    summary, batch = survey
    three = Summary(
        sample_size=SAMPLE_SIZE,
        n_table_cells=14 * 2 * 91,
        level_counts=SIZES[:3],
        size_indices=summary.size_indices,
        weight_total=None,
        population_size=float(POPULATION_SIZE),
        population_size_known=True,
        margins=summary.margins,
    )
    fit = Lancaster(shrinkage=1.0).fit(three)
    i, j, k = batch.levels()[100, :3]
    p = {keys: table / SAMPLE_SIZE for keys, table in summary.margins.items()}
    pi, pj, pk = p[(0,)][i], p[(1,)][j], p[(2,)][k]
    pij, pik, pjk = p[0, 1][i, j], p[0, 2][i, k], p[1, 2][j, k]
    expected = pi * pj * pk * (pij / (pi * pj) + pik / (pi * pk) + pjk / (pj * pk) - 2)
    found = fit.clipped_probability(np.array([[i, j, k]]))[0]
    assert found == pytest.approx(max(expected, 0), rel=1e-12)


def test_both_forms_of_equation_5_agree_over_all_cells(survey):
    """c(λ) = Σ of the non-negative = 1 − Σ of the negative ones, each from a pass of its own."""
    parts = Interactions.of_summary(survey[0])
    summation = _Summation(parts, (), 1e10, 0)
    for shrinkage in (0.2, 1.0):
        positive = summation.of(1.0, shrinkage, lambda _: None)
        negative = summation.of(-1.0, -shrinkage, lambda _: None)
        assert positive.how is negative.how is How.EXACT
        assert positive.value == pytest.approx(1 + negative.value, rel=1e-12)
        assert negative.value > 0.001


def test_sum_of_negatives_by_draws(survey):
    """The mean of max(−s, 0) over cells drawn by the independence model."""
    parts = Interactions.of_summary(survey[0])
    rng = np.random.default_rng(5)
    cells = np.stack([rng.choice(len(p), 200_000, p=p) for p in parts.probability], axis=1)
    draws = np.maximum(-1 - 0.8 * parts.total(cells), 0)
    error = draws.std() / math.sqrt(len(draws))
    assert normaliser(parts, 0.8).clipped.value == pytest.approx(draws.mean(), abs=4 * error)


def obeys_the_theory(plain, renormalised, negative) -> bool:
    """What any such table must satisfy, up to the digits printed.

    The sum of negatives is 0 at λ = 0 and concave (each cell's is the minimum of 0 and a line), and
    dividing by c(λ) ≥ 1 can only raise the chance of being unique.
    """
    steps = np.diff(negative)
    return bool(
        negative[0] == 0
        and (steps <= 0).all()
        and (np.diff(steps) <= 0.002).all()
        and plain[0] == pytest.approx(renormalised[0])
        and (np.array(plain) <= np.array(renormalised) + 0.01).all()
    )


def test_the_printed_table_obeys_the_theory():
    assert obeys_the_theory(PRINTED_PLAIN, PRINTED_RENORMALISED, PRINTED_NEGATIVE)


def test_a_table_of_the_same_shape_obeys_it_too(survey):
    summary, batch = survey
    rows = table_over_shrinkage(summary, cells_of_batch(batch))
    assert tuple(row.shrinkage for row in rows) == SHRINKAGES
    plain = [row.plain_uniques for row in rows]
    renormalised = [row.renormalised_uniques for row in rows]
    assert obeys_the_theory(plain, renormalised, [row.negative_sum for row in rows])
    assert rows[-1].negative_sum < -0.1
    assert all(row.normaliser.how is How.EXACT for row in rows)
    assert plain[0] > plain[-1]
    assert all(0 <= row.clipped_uniques <= summary.size_indices.sample_uniques for row in rows)
