"""c(λ) and the sum of negatives by every way there is, against an array of all cells."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from discreet.data.structural_zeros import StructuralZeros
from discreet.data.summary import SizeIndices, Summary
from discreet.figures import How
from discreet.numerics.arrays import BoolArray, FloatArray
from discreet.survey.models import lancaster, lancaster_kernels
from discreet.survey.models.lancaster import Boxes, Interactions, joined_boxes, normaliser

SHRINKAGES = (0.0, 0.13, 0.5, 0.8, 1.0)
LONG = (3, 3, 3, 3, 4, 4, 4, 5, 5, 6)  # so many that boxes of four variables can stay closed
SIZES = ((3, 4), (2, 3, 4), (5, 1, 2, 3), (3, 2, 4, 2, 3), (2, 3, 2, 4, 2, 3))


def sample(sizes, n, rng) -> Any:
    """Records of keys that hang together through a hidden class, some levels perhaps unused."""
    hidden = rng.integers(4, size=n)
    profiles = [rng.dirichlet(np.full(size, 0.4), 4).cumsum(axis=1) for size in sizes]
    columns = [(rng.random(n)[:, None] > profile[hidden]).sum(axis=1) for profile in profiles]
    return np.minimum(np.stack(columns, axis=1), np.array(sizes) - 1)


def summarise(records, sizes) -> Summary:
    margins = {}
    for order in (1, 2):
        for keys in itertools.combinations(range(len(sizes)), order):
            shape = tuple(sizes[key] for key in keys)
            table = np.zeros(shape, dtype=np.int64)
            np.add.at(table, tuple(records[:, key] for key in keys), 1)
            margins[keys] = table
    _, counts = np.unique(records, axis=0, return_counts=True)
    return Summary(
        sample_size=len(records),
        n_table_cells=math.prod(sizes),
        level_counts=tuple(sizes),
        size_indices=SizeIndices.of_counts(counts),
        weight_total=None,
        population_size=100.0 * len(records),
        population_size_known=True,
        margins=margins,
    )


def all_probabilities(records, sizes, shrinkage) -> FloatArray:
    """Takemura's eq. 4 (with the factors of n of eq. 2) for every cell, one by one."""
    n = len(records)
    p = np.zeros(sizes)
    for cell in np.ndindex(*sizes):
        same = records == np.array(cell)
        single = same.mean(axis=0)
        if single.all():
            factor = 1.0
            for a, b in itertools.combinations(range(len(sizes)), 2):
                both = np.count_nonzero(same[:, a] & same[:, b]) / n
                factor += shrinkage * (both / (single[a] * single[b]) - 1)
            p[cell] = single.prod() * factor
    return p


def possible_cells(sizes, zeros) -> BoolArray:
    possible = np.ones(sizes, dtype=bool)
    for zero in zeros:
        possible[tuple(zero.get(a, slice(None)) for a in range(len(sizes)))] = False
    return possible


def some_zeros(sizes, rng, n_zeros) -> list[dict[int, int]]:
    """Overlapping impossible boxes of one to three keys."""
    zeros = []
    for _ in range(n_zeros):
        keys = rng.choice(len(sizes), size=min(len(sizes), int(rng.integers(1, 4))), replace=False)
        zeros.append({int(key): int(rng.integers(sizes[key])) for key in keys})
    return zeros


def boxes_of(zeros, sizes) -> Boxes:
    return joined_boxes(StructuralZeros.of_boxes(sizes, zeros))


@pytest.fixture(params=["array of all cells", "tree with joined variables", "tree of single ones"])
def way(request, monkeypatch):
    """Each way to the sum, forced on small tables."""
    if request.param != "array of all cells":
        monkeypatch.setattr(lancaster, "DENSE_CELLS", 0)
    if request.param == "tree of single ones":
        monkeypatch.setattr(lancaster_kernels, "ROW_CELLS", 1)
    return request.param


@pytest.fixture
def deep_tree(monkeypatch):
    monkeypatch.setattr(lancaster, "DENSE_CELLS", 0)
    monkeypatch.setattr(lancaster_kernels, "ROW_CELLS", 1)


@pytest.mark.parametrize("sizes", SIZES)
def test_sums_over_all_cells(way, sizes):
    rng = np.random.default_rng(sum(sizes))
    records = sample(sizes, 40, rng)
    parts = Interactions.of_summary(summarise(records, sizes))
    for shrinkage in SHRINKAGES:
        p = all_probabilities(records, sizes, shrinkage)
        found = normaliser(parts, shrinkage)
        assert found.positive.value == pytest.approx(p[p > 0].sum(), rel=1e-12)
        assert found.clipped.value == pytest.approx(-p[p < 0].sum(), rel=1e-12, abs=1e-14)
        assert found.positive.how is How.EXACT
        assert p.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("n_zeros", [1, 3, 8])
def test_sums_over_possible_cells(way, sizes, n_zeros):
    rng = np.random.default_rng(n_zeros)
    records = sample(sizes, 60, rng)
    zeros = some_zeros(sizes, rng, n_zeros)
    possible = possible_cells(sizes, zeros)
    parts = Interactions.of_summary(summarise(records, sizes))
    for shrinkage in SHRINKAGES:
        p = np.where(possible, all_probabilities(records, sizes, shrinkage), 0.0)
        found = normaliser(parts, shrinkage, boxes_of(zeros, sizes))
        assert found.positive.value == pytest.approx(p[p > 0].sum(), rel=1e-12, abs=1e-14)
        assert found.clipped.value == pytest.approx(-p[p < 0].sum(), rel=1e-12, abs=1e-14)


def test_negative_sums_are_not_rare_in_these_samples():
    """Otherwise the tests above would try very little."""
    rng = np.random.default_rng(1)
    records = sample(SIZES[-1], 40, rng)
    found = normaliser(Interactions.of_summary(summarise(records, SIZES[-1])), 1.0)
    assert found.clipped.value > 0.1


@pytest.mark.parametrize("n_zeros", [0, 4])
def test_limits_hold_and_draws_are_right_when_the_budget_is_short(deep_tree, n_zeros):
    sizes = LONG
    rng = np.random.default_rng(7)
    records = sample(sizes, 400, rng)
    zeros = some_zeros(sizes, rng, n_zeros)
    parts = Interactions.of_summary(summarise(records, sizes))
    boxes = boxes_of(zeros, sizes)
    exact = normaliser(parts, 0.9, boxes).clipped
    assert exact.how is How.EXACT
    pulls = []
    for seed in range(12):
        found = normaliser(parts, 0.9, boxes, budget=1e5, seed=seed).clipped
        assert found.how is How.ESTIMATE
        assert found.low <= exact.value <= found.high
        assert found.low <= found.value <= found.high
        assert 0 < found.standard_error < 0.2
        pulls.append((found.value - exact.value) / found.standard_error)
    assert abs(np.mean(pulls)) < 4 / math.sqrt(12)
    assert 0.2 < np.mean(np.square(pulls)) < 2.5


def test_limits_close_in_as_the_budget_grows(deep_tree):
    sizes = (3,) * 9 + (4,) * 4 + (5, 5)
    records = sample(sizes, 400, np.random.default_rng(7))
    parts = Interactions.of_summary(summarise(records, sizes))
    exact = normaliser(parts, 0.3).clipped
    widths = []
    for budget in (1e6, 4e7, 1.2e8):
        found = normaliser(parts, 0.3, budget=budget).clipped
        assert found.low <= exact.value <= found.high
        widths.append(found.high - found.low)
    assert exact.how is How.EXACT
    assert widths[0] > widths[1] > widths[2]


def test_one_sign_everywhere_needs_no_pass():
    """Three pairs at −1 each cannot outweigh 1 at λ = 0.3, however large the table."""
    n = 1000
    margins: dict[tuple[int, ...], Any] = {(a,): np.full(1000, 1) for a in range(3)}
    margins |= {pair: np.eye(1000, dtype=np.int64) for pair in ((0, 1), (0, 2), (1, 2))}
    summary = Summary(
        sample_size=n,
        n_table_cells=10**9,
        level_counts=(1000, 1000, 1000),
        size_indices=SizeIndices.of_counts(np.ones(n, dtype=np.int64)),
        weight_total=None,
        population_size=1e6,
        population_size_known=True,
        margins=margins,
    )
    found = normaliser(Interactions.of_summary(summary), 0.3)
    assert (found.clipped.value, found.clipped.how) == (0.0, How.EXACT)


def test_a_table_of_identical_keys_has_a_closed_form(deep_tree):
    """m copies of one uniform key with k levels: a cell with a pattern of repeated levels.

    g is k − 1 where two keys agree and −1 where not, so s = 1 + λ(k·A − m(m−1)/2) with A the number
    of pairs that agree; the sum over patterns is a sum over multisets of levels.
    """
    k, m, shrinkage = 6, 5, 0.7
    n = 12 * k
    margins = {(a,): np.full(k, 12) for a in range(m)} | {
        pair: 12 * np.eye(k, dtype=np.int64) for pair in itertools.combinations(range(m), 2)
    }
    parts = Interactions(
        n,
        tuple(margins[(a,)] / n for a in range(m)),
        {pair: k * np.eye(k) - 1 for pair in itertools.combinations(range(m), 2)},
    )
    expected = 0.0
    for levels in itertools.combinations_with_replacement(range(k), m):
        repeats = np.bincount(levels, minlength=k)
        agree = sum(math.comb(int(r), 2) for r in repeats)
        orders = math.factorial(m) // math.prod(math.factorial(int(r)) for r in repeats)
        factor = 1 + shrinkage * (k * agree - m * (m - 1) / 2)
        expected += orders * max(-factor, 0.0) / k**m
    assert normaliser(parts, shrinkage).clipped.value == pytest.approx(expected, rel=1e-12)


def test_the_sum_is_the_same_for_any_order_of_keys(way):
    sizes = (2, 3, 2, 4, 2, 3)
    records = sample(sizes, 50, np.random.default_rng(4))
    values = []
    for order in ((0, 1, 2, 3, 4, 5), (5, 3, 1, 0, 2, 4), (3, 5, 4, 2, 1, 0)):
        summary = summarise(records[:, order], [sizes[a] for a in order])
        values.append(normaliser(Interactions.of_summary(summary), 0.9).clipped.value)
    assert values == pytest.approx([values[0]] * 3, rel=1e-12)
