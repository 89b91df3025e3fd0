"""Points listed without kernels, against the search of the kernels."""

import numpy as np
import pytest

from discreet.fiber.sums import small_blocks
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.enumeration import tables
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.sums.small_blocks import listed_points
from discreet.fiber.system.blocks import split
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.priors import Multinomial, Uniform


def systems():
    rng = np.random.default_rng(8)
    for shape, sets in (((2, 3), [(0,), (1,)]), ((2, 2, 2), [(0, 1), (1, 2), (0, 2)])):
        margins = margins_of(rng.integers(0, 4, shape), sets)
        yield system_of(margins.n_cells, margins.statements())
    cells, factors = np.arange(4), np.array([3, 2, 5, 1])
    whole = Statement(cells=cells, low=9, high=9, name="all")
    uneven = Statement(cells=cells, coefficients=factors, low=20, high=26, name="uneven")
    yield system_of(4, [whole, uneven])


@pytest.mark.parametrize("system", list(systems()))
def test_the_points_are_those_of_the_search(system):
    parts = split(system)
    for block in parts.blocks:
        points = listed_points(block, Budget())
        assert len(points) == len(np.unique(points, axis=0))
        assert np.array_equal(points @ block.matrix.T, np.tile(block.right, (len(points), 1)))
    n = np.prod([len(listed_points(block, Budget())) for block in parts.blocks])
    assert n == len(list(tables(system)))


@pytest.mark.parametrize("system", list(systems()))
@pytest.mark.parametrize("prior", [Uniform(), Multinomial()])
def test_the_posterior_is_that_of_the_kernels(system, prior, monkeypatch):
    listed = posterior(system, prior)
    monkeypatch.setattr(small_blocks, "MOST_COLUMNS", 0)
    summed = posterior(system, prior)
    assert listed.log_normaliser == pytest.approx(summed.log_normaliser, rel=1e-12)
    assert listed.entropy == pytest.approx(summed.entropy, rel=1e-12)
    for one, other in zip(listed.probabilities, summed.probabilities, strict=True):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-300)


def test_a_block_of_many_points_or_a_small_budget_is_left_to_the_kernels():
    margins = margins_of(np.full((3, 3), 40), [(0,), (1,)])
    (block,) = split(system_of(9, margins.statements())).blocks
    assert listed_points(block, Budget()) is None
    margins = margins_of(np.ones((2, 2), dtype=np.int64), [(0,), (1,)])
    (block,) = split(system_of(4, margins.statements())).blocks
    assert len(listed_points(block, Budget())) == 3
    assert listed_points(block, Budget(steps=2)) is None
    assert listed_points(block, Budget(seconds=0.0)) is None


def test_few_points_of_very_many_values_are_counted_but_their_probabilities_are_not_written_out():
    factors = np.array([1, 10**6])
    statement = Statement(cells=np.arange(2), coefficients=factors, low=10**9, high=10**9, name="s")
    system = system_of(2, [statement])
    (block,) = split(system).blocks
    assert len(listed_points(block, Budget())) == 1001
    with pytest.raises(BudgetExceeded, match="cells can take more than"):
        posterior(system, Uniform())
