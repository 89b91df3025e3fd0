"""Levels that are sums of others, and the chance that this is an accident."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.integrate import quad

from discreet.data.level_sums import Counted, LevelSum, accident, level_sums, unaccounted


def counted(counts):
    """A table of rows by levels; the levels are the second variable."""
    rows, levels = counts.shape
    return Counted(
        names=("row", "level"),
        labels=(tuple(map(str, range(rows))), tuple(map(str, range(levels)))),
        missing=(None, None),
        cells=np.argwhere(counts >= 0),
        counts=counts.ravel(),
    )


@given(
    hnp.arrays(
        np.int64, st.tuples(st.integers(1, 3), st.integers(2, 5)), elements=st.integers(0, 4)
    )
)
def test_sums_are_those_that_a_search_finds(counts):
    """A level that is alone in its row is the sum of nothing there; levels without persons are
    left aside."""
    found = {(one.level[1], one.parts) for one in level_sums(counted(counts), 1)}
    held = [i for i in range(counts.shape[1]) if counts[:, i].any()]
    company = (counts > 0).sum(axis=1, keepdims=True) > 1
    expected = {
        (level, frozenset(parts))
        for level in held
        for size in range(1, len(held))
        for parts in combinations([i for i in held if i != level], size)
        if np.array_equal(counts[:, parts].sum(axis=1), (counts * company)[:, level])
    }
    assert found == expected


@pytest.mark.parametrize("n_parts", [1, 2, 3])
@pytest.mark.parametrize("rows", [[7], [3, 8], [2, 5, 11]])
def test_the_chance_is_the_integral_over_shares(n_parts, rows):
    """At the density of a half, as the formula says; one integral over the share with it."""
    parts = np.array([[1] * (n_parts - 1) + [c - n_parts + 1] for c in rows])
    table = counted(np.column_stack([rows, parts]))
    one = LevelSum((1, 0), frozenset(range(1, n_parts + 1)), 3)
    density = max(n_parts * 2.0 ** (1 - n_parts), 1)
    chance = quad(lambda s: np.prod([comb(2 * c, c) * s**c * (1 - s) ** c for c in rows]), 0, 1)[0]
    assert accident(table, one, 1, (), lowest_terms=False) == pytest.approx(
        min(1, 3 * density * chance)
    )
    assert accident(table, one, 2, (), lowest_terms=False) == pytest.approx(
        min(1, 6 * density * chance)
    )


def test_rows_that_are_alike_in_lowest_terms_speak_once():
    one = LevelSum((1, 0), frozenset((1, 2)), 1)
    several = counted(np.array([[4, 2, 2], [20, 10, 10], [2, 1, 1]]))
    assert accident(several, one, 1, ()) == pytest.approx(1 / 5)
    assert accident(several, one, 1, (), lowest_terms=False) < 1 / 5


def test_rows_that_are_no_sums_are_noticed():
    counts = np.array([[3, 1, 2], [9, 4, 5]])
    parts = {(1, 0): frozenset((1, 2))}
    assert unaccounted(counted(counts), parts) == set()
    counts[1, 0] += 1
    assert unaccounted(counted(counts), parts) == {(1, 0)}
