"""Variables that determine others are found, and accidents are not taken for them."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.nesting import Nested, nested_pairs, possible_pairs


def test_a_district_lies_in_one_region() -> None:
    levels = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 2, 0], [1, 2, 1], [2, 3, 1]])
    counts = np.array([20, 5, 12, 4, 30, 6, 1])
    assert nested_pairs(levels, counts, (3, 4, 2)) == (Nested(1, 0),)


def test_levels_of_one_record_each_prove_nothing() -> None:
    levels = np.array([[i, i % 2] for i in range(40)])
    assert nested_pairs(levels, np.ones(40, dtype=np.int64), (40, 2)) == ()


def test_two_names_of_one_thing_determine_each_other() -> None:
    levels, counts = np.array([[0, 1], [1, 0]]), np.array([30, 30])
    assert nested_pairs(levels, counts, (2, 2)) == (Nested(0, 1), Nested(1, 0))


def test_chains_are_found_whole() -> None:
    levels = np.array([[i, i // 2, i // 4] for i in range(8)])
    found = nested_pairs(levels, np.full(8, 20), (8, 4, 2))
    assert found == (Nested(0, 1), Nested(0, 2), Nested(1, 2))


@pytest.mark.parametrize(("persons", "nested"), [(10, False), (11, True)])
def test_the_chance_of_an_accident_decides_on_both_sides(persons: int, nested: bool) -> None:
    """Two levels of n persons each, split evenly: the chance is (2 · 2⁻ⁿ)², 1e-6 between 10, 11."""
    levels, counts = np.array([[0, 0], [1, 1]]), np.array([persons, persons])
    assert ((2 * 0.5**persons) ** 2 < 1e-6) is nested
    assert bool(nested_pairs(levels, counts, (2, 2))) is nested


def test_empty_cells_and_levels_that_do_not_occur_say_nothing() -> None:
    levels, counts = np.array([[0, 0], [1, 1], [0, 1], [2, 0]]), np.array([30, 30, 0, 0])
    assert Nested(0, 1) in nested_pairs(levels, counts, (3, 2))
    assert possible_pairs(np.array([0, 1]), np.array([0, 1]), (3, 2)).tolist() == [
        [True, False],
        [False, True],
        [True, True],
    ]


def test_rows_of_nobody_say_where_their_level_lies() -> None:
    """A district without persons lies where its row of 0 is; one with persons lies nowhere else,
    and not in a region that nobody has either."""
    held, home = np.array([0, 1]), np.array([0, 1])
    empty = np.array([2, 3, 3, 0]), np.array([1, 0, 2, 2])
    assert possible_pairs(held, home, (5, 3), empty).tolist() == [
        [True, False, False],
        [False, True, False],
        [False, True, False],
        [True, False, True],
        [True, True, True],
    ]


@given(st.lists(st.lists(st.integers(0, 12), min_size=3, max_size=3), min_size=2, max_size=5))
def test_pairs_are_those_of_the_formula(rows: list[list[int]]) -> None:
    table = np.array(rows)
    cells, counts = np.argwhere(table >= 0), table.ravel()
    found = nested_pairs(cells, counts, table.shape)
    shares = [p / table.sum() for p in table.sum(axis=0)] if table.sum() else []
    sizes = [int(n) for n in table.sum(axis=1) if n]
    determines = bool(shares) and all((row > 0).sum() <= 1 for row in table)
    chance = prod(sum(p**n for p in shares) for n in sizes) if shares else 1.0
    several = len(sizes) > 1 and sum(p > 0 for p in shares) > 1
    assert (Nested(0, 1) in found) is bool(determines and several and chance < 1e-6)
