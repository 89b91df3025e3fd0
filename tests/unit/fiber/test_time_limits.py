"""Limits of time where one step is large: all three-way margins of many yes-or-no variables."""

import numpy as np
import pytest

from discreet.fiber.draws import sequential, tilt
from discreet.fiber.draws.walk_weights import weight_table
from discreet.fiber.sums import dynamic_programming_plan, enumeration
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded, plan_for
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.blocks import split
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.priors import Multinomial, Uniform
from discreet.figures import Unavailable
from discreet.numerics.kernels import Kernel


def system_with(n_variables, order=3, n_persons=500):
    rng = np.random.default_rng(3)
    table = np.zeros((2,) * n_variables, dtype=np.int64)
    np.add.at(table, tuple(rng.integers(0, 2, (n_variables, n_persons))), 1)
    margins = margins_of(table, all_margins(n_variables, order))
    return system_of(table.size, margins.statements())


def test_a_table_whose_cells_lie_in_many_equations_is_not_begun():
    """4,096 cells in 220 margins each: the equations are the work, not the values of the cells."""
    system = system_with(12)
    values = float((system.upper - system.lower).sum())
    assert values < sequential.VALUES_A_SECOND
    found = sequential.weighted_draws(
        system, Uniform(), 5, rng=np.random.default_rng(1), time_limit=0.5
    )
    assert isinstance(found, Unavailable)
    assert "one table would take longer" in found.reason


def test_a_search_looks_at_the_clock_after_about_as_much_work_whatever_the_equations():
    small, large = (
        enumeration._nodes_at_once(enumeration._pairs(enumeration._rows(system)))
        for system in (system_with(3, 2), system_with(12))
    )
    assert small == enumeration.NODES_AT_ONCE
    assert 1 <= large < 100


def test_slopes_end_in_time_and_stay_valid():
    system = system_with(6, 2)
    weights = weight_table(Multinomial(), system)
    hurried, full = tilt.balanced(system, weights, 0.0), tilt.balanced(system, weights)
    gap = [np.abs(system.matrix @ one.mean - system.right).max() for one in (hurried, full)]
    assert gap[1] < gap[0] < np.inf
    assert np.isfinite(hurried.slopes).all()
    assert np.all(hurried.variance > 0)


def test_fewer_orders_are_sought_where_time_is_short(monkeypatch):
    block = split(system_with(6, 2)).blocks[0]
    sought = []

    def greedy(matrix, right, upper, first):
        sought.append(int(first))
        return np.arange(matrix.shape[1])

    own = Kernel(greedy, {})
    monkeypatch.setattr(own, "suited", lambda steps: greedy)
    monkeypatch.setattr(dynamic_programming_plan, "greedy_order", own)
    plan_for(block, closed=False, seconds=1e-6)
    assert sought == []
    plan_for(block, closed=False)
    assert len(sought) == dynamic_programming_plan.MAX_STARTS


def test_planning_alone_can_use_up_a_budget():
    table = np.arange(1, 28).reshape(3, 3, 3)
    system = system_of(27, margins_of(table, all_margins(3, 2)).statements())
    with pytest.raises(BudgetExceeded, match="choosing an order"):
        posterior(system, Multinomial(), budget=Budget(seconds=0.0))
