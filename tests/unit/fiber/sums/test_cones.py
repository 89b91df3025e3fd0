"""Counting by corners agrees with listing all points, and does not grow with the counts."""

from itertools import product
from math import comb

import numpy as np
import pytest

from discreet.fiber.sums.cones import count_by_cones
from discreet.fiber.sums.counting import count_exactly
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system.blocks import split
from discreet.fiber.system.linear_system import Statement, system_of


def margins_of(table, kept):
    """The statements of some margins of a table."""
    numbers = np.arange(table.size).reshape(table.shape)
    found = []
    for axes in kept:
        gone = tuple(a for a in range(table.ndim) if a not in axes)
        totals = table.sum(axis=gone).ravel()
        moved = np.moveaxis(numbers, axes, range(len(axes))).reshape(len(totals), -1)
        for k, (cells, total) in enumerate(zip(moved, totals, strict=True)):
            name = f"margin {axes}, entry {k}"
            found.append(Statement(cells=cells, low=int(total), high=int(total), name=name))
    return found


def by_cones(system):
    parts = split(system)
    number = 1
    for block in () if parts.is_empty else parts.blocks:
        number *= count_by_cones(block, Budget())
    return 0 if parts.is_empty else number


def by_trying(system):
    """Every point within the limits of the named cells is looked at."""
    n = system.n_named
    ranges = [range(int(a), int(b) + 1) for a, b in zip(system.lower, system.upper, strict=True)]
    points = np.array(list(product(*ranges[:n])), dtype=np.int64)
    return sum(system.holds(system.completed(point)) for point in points)


@pytest.mark.parametrize("seed", range(60))
def test_two_way_tables(seed):
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.uniform(0.5, 4), tuple(rng.integers(2, 4, size=2)))
    system = system_of(table.size, margins_of(table, [(0,), (1,)]))
    assert by_cones(system) == count_exactly(system)


@pytest.mark.parametrize("seed", range(30))
def test_three_way_tables_given_two_way_margins(seed):
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.uniform(0.5, 6), (2, 2 + seed % 2, 2 + seed % 3))
    system = system_of(table.size, margins_of(table, [(0, 1), (0, 2), (1, 2)]))
    assert by_cones(system) == count_exactly(system)


@pytest.mark.parametrize("seed", range(80))
def test_general_systems_with_limits(seed):
    rng = np.random.default_rng(1000 + seed)
    n = int(rng.integers(2, 5))
    point = rng.integers(0, 5, size=n)
    statements = [Statement(cells=np.array([j]), low=0, high=int(rng.integers(4, 8)), name=f"x{j}")
                  for j in range(n)]  # fmt: skip
    for k in range(int(rng.integers(1, 3))):
        cells = np.flatnonzero(rng.random(n) < 0.8)
        if len(cells) > 1:
            times = rng.integers(1, 5, size=len(cells))
            total = int(times @ point[cells]) + int(rng.integers(0, 2))
            high = total + int(rng.integers(0, 3))
            statements.append(
                Statement(cells=cells, low=total, high=high, name=f"r{k}", coefficients=times)
            )
    system = system_of(n, statements)
    assert by_cones(system) == by_trying(system)


def test_compositions_of_a_large_number():
    statement = Statement(cells=np.arange(5), low=10**9, high=10**9, name="n")
    assert by_cones(system_of(5, [statement])) == comb(10**9 + 4, 4)


def test_three_by_three_by_three_with_large_entries():
    table = np.random.default_rng(1).poisson(4, (3, 3, 3))
    kept = [(0, 1), (0, 2), (1, 2)]
    small = system_of(27, margins_of(table, kept))
    assert by_cones(small) == count_exactly(small)
    # Ehrhart: the number is a quasi-polynomial of degree 8 in the factor that margins grow by
    large = system_of(27, margins_of(1000 * table, kept))
    assert count_exactly(large) == by_cones(large) > 10**20


def test_more_corners_than_allowed():
    table = np.full((3, 3), 50)
    block = split(system_of(9, margins_of(table, [(0,), (1,)]))).blocks[0]
    with pytest.raises(BudgetExceeded, match="more than 3 corners"):
        count_by_cones(block, Budget(), most_corners=3)


def test_too_many_dimensions():
    statement = Statement(cells=np.arange(20), low=5, high=5, name="n")
    block = split(system_of(20, [statement])).blocks[0]
    with pytest.raises(BudgetExceeded, match="19 dimensions"):
        count_by_cones(block, Budget())
