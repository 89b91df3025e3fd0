"""Two-way tables counted by pairs of columns."""

import time
from functools import cache
from itertools import product
from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import clock
from discreet.fiber.sums import two_way
from discreet.fiber.sums.counting import count_exactly
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.two_way import as_two_way, bounded_parts, count_two_way
from discreet.fiber.system.blocks import split
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import margins_of


def column_by_column(rows, columns):
    """Tables by filling column after column."""

    def parts(total, limits):
        if len(limits) == 1:
            return [(total,)] if total <= limits[0] else []
        return [
            (first, *rest)
            for first in range(min(total, limits[0]) + 1)
            for rest in parts(total - first, limits[1:])
        ]

    @cache
    def fill(left, column):
        if column == len(columns):
            return int(sum(left) == 0)
        ways = parts(columns[column], left)
        return sum(fill(tuple(a - b for a, b in zip(left, way)), column + 1) for way in ways)

    return fill(tuple(rows), 0)


@settings(max_examples=150)
@given(st.integers(1, 5), st.integers(1, 4), st.data())
def test_against_filling_columns(r, c, data):
    cells = data.draw(st.lists(st.integers(0, 3), min_size=r * c, max_size=r * c))
    table = np.array(cells).reshape(r, c)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = column_by_column(rows.tolist(), columns.tolist())
    assert count_two_way(rows, columns, budget=Budget(steps=10**6)) == expected
    assert count_two_way(columns, rows, budget=Budget(steps=10**6)) == expected


def test_numbers_beyond_64_bits():
    """The sum over pairs of columns and that over pairs of rows are different sums."""
    rows, columns = np.array([200, 300, 310, 320]), np.array([250, 290, 300, 290])
    found = count_two_way(rows, columns, budget=Budget(steps=10**10))
    assert found is not None
    assert found > 2**62
    other = count_two_way(columns, rows, budget=Budget(steps=10**10))
    assert found == other


def test_totals_that_disagree():
    assert count_two_way(np.array([1, 2]), np.array([1, 1]), budget=Budget(steps=10)) == 0


def test_too_many_terms():
    big = np.full(4, 10_000)
    assert count_two_way(big, big, budget=Budget(steps=10**6)) is None
    assert count_two_way(np.full(6, 9), np.full(6, 9), budget=Budget(steps=10**9)) is None


@pytest.mark.parametrize(("total", "limits", "ways"), [(3, [3, 3], 4), (3, [1, 1], 0), (0, [5], 1)])
def test_bounded_parts(total, limits, ways):
    assert bounded_parts(total, np.array(limits), budget=Budget()) == ways


@settings(max_examples=100)
@given(st.integers(0, 12), st.lists(st.integers(0, 6), min_size=1, max_size=5))
def test_both_sums_of_bounded_parts(total, limits):
    every = product(*(range(limit + 1) for limit in limits))
    expected = sum(sum(parts) == total for parts in every)
    assert two_way._parts_by_sets(total, np.array(limits)) == expected
    assert two_way._parts_by_sums(total, np.array(limits), Budget()) == expected


def test_two_rows_of_large_counts_need_no_lists():
    """Row a holds x and y of two columns at most t, and the third what is left of it: t² ⁄ 2."""
    t = 10**12
    found = count_two_way(np.array([t, 2 * t]), np.full(3, t), budget=Budget(steps=10**4))
    assert found == (t + 1) * (t + 2) // 2


def test_many_columns_of_large_counts_are_refused():
    limits = np.full(40, 10**9)
    assert bounded_parts(10**9, limits, budget=Budget()) is None
    assert bounded_parts(10**6, limits, budget=Budget(seconds=0.1)) is None


@pytest.mark.parametrize("budget", [{"steps": 10**9}, {"seconds": 1.0, "steps": 10**12}])
def test_work_is_known_beforehand(monkeypatch, budget):
    """Each term goes through 2^rows sets: 201⁴ · 32 steps, whatever the clock says later."""

    def never(*arguments):
        raise AssertionError

    monkeypatch.setattr(two_way, "sum_over_pairs", never)
    rows, columns = np.full(5, 200), np.full(4, 250)
    assert count_two_way(rows, columns, budget=Budget(**budget)) is None


def test_time_and_interruptions_are_minded_while_it_adds_up(monkeypatch):
    release = Event()

    def endless(*arguments):
        release.wait(10)
        return np.uint64(1), 1.0

    monkeypatch.setattr(two_way, "sum_over_pairs", endless)
    monkeypatch.setattr(two_way, "STEPS_A_SECOND", 1e12)
    monkeypatch.setattr(clock, "monotonic", time.monotonic)  # to wait is no work
    sums = np.full(3, 9)
    with (
        clock.guarded(0.05),
        pytest.raises(BudgetExceeded, match="while adding up pairs of columns"),
    ):
        count_two_way(sums, sums, budget=Budget(seconds=0.1))
    release.set()
    assert count_two_way(sums, sums, budget=Budget(seconds=5)) == 1


def test_what_fails_while_it_adds_up_is_raised(monkeypatch):
    def broken(*arguments):
        raise MemoryError

    monkeypatch.setattr(two_way, "sum_over_pairs", broken)
    with pytest.raises(MemoryError):
        count_two_way(np.full(3, 9), np.full(3, 9), budget=Budget())


def block_of(table, more=()):
    statements = [*margins_of(table, [(0,), (1,)]).statements(), *more]
    return split(system_of(table.size, statements)).blocks[0]


def test_recognised():
    table = np.array([[5, 4, 3], [2, 5, 6]])
    rows, columns = as_two_way(block_of(table))
    assert sorted([rows.tolist(), columns.tolist()]) == [[7, 9, 9], [12, 13]]


@pytest.mark.parametrize("most", [0, 2])
def test_a_limit_or_a_zero_makes_it_another_block(most):
    table = np.array([[2, 4, 3], [2, 5, 6], [4, 4, 4]])
    assert as_two_way(block_of(table)) is not None
    limit = Statement(cells=np.array([1]), low=0, high=most, name="cell 1")
    assert as_two_way(block_of(table, [limit])) is None


def test_a_limit_that_only_moves_the_table():
    """Two rows: what one cell may not hold the other must."""
    table = np.array([[5, 4, 3], [2, 5, 6]])
    limit = Statement(cells=np.array([1]), low=0, high=4, name="cell 1")
    rows, columns = as_two_way(block_of(table, [limit]))
    assert rows.sum() == columns.sum() < table.sum()
    assert count_two_way(rows, columns, budget=Budget(steps=1000)) == count_exactly(
        system_of(6, [*margins_of(table, [(0,), (1,)]).statements(), limit])
    )
