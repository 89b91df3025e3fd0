"""Small counts that a release prints, at every level of aggregation."""

from itertools import chain, combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.tables.printed import Printed, number_printed, printed_small_counts


def test_a_table_and_its_sums():
    table = np.array([[1, 0], [5, 9]])
    found = printed_small_counts({(0, 1): table}, 2)
    assert found == (Printed((0, 1), 1), Printed((0,), 1))
    assert number_printed(found) == 2
    assert printed_small_counts({(0, 1): table + 9}, 2) == ()


def test_sums_that_two_tables_share_come_once():
    found = printed_small_counts({(0, 1): np.array([[1, 1]]), (0, 2): np.array([[2, 0]])}, 2)
    assert [one.axes for one in found] == [(0, 1), (0, 2), (0,), (1,), (2,), ()]


@given(
    hnp.arrays(np.int64, (2, 3, 2), elements=st.integers(0, 6)), st.integers(1, 4), st.booleans()
)
def test_against_looking_at_every_sum(table, small, two):
    sets = [(0, 1), (1, 2)] if two else [(0, 1, 2)]
    tables = {axes: table.sum(axis=tuple(i for i in range(3) if i not in axes)) for axes in sets}
    every = {
        part
        for axes in sets
        for part in chain.from_iterable(combinations(axes, n) for n in range(len(axes) + 1))
    }
    expected = {}
    for part in every:
        sums = np.asarray(table.sum(axis=tuple(i for i in range(3) if i not in part)))
        number = int(((sums > 0) & (sums <= small)).sum())
        if number:
            expected[part] = number
    found = printed_small_counts(tables, small)
    assert {one.axes: one.number for one in found} == expected
