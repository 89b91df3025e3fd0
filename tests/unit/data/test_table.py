"""A table by its occupied cells: margins, names, and cells that are asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.data.table import Table
from discreet.errors import ColumnError, InputError

COUNTS = np.arange(24).reshape(2, 3, 4)


def table():
    return Table.of_dense(COUNTS, ["a", "b", "c"], [["x", "y"], ["1", "2", "3"], list("pqrs")])


@given(
    hnp.arrays(
        np.int64, hnp.array_shapes(min_dims=1, max_dims=4, max_side=4), elements=st.integers(0, 5)
    )
)
def test_margins_are_sums_over_the_other_axes(counts):
    found = Table.of_dense(counts)
    assert np.array_equal(found.dense(), counts)
    assert found.total == counts.sum()
    for axis in range(counts.ndim):
        others = tuple(i for i in range(counts.ndim) if i != axis)
        assert np.array_equal(found.margin([axis]), counts.sum(axis=others))


def test_a_margin_keeps_the_order_of_its_axes():
    assert np.array_equal(table().margin([2, 0]), COUNTS.sum(axis=1).T)
    assert table().margin([]) == COUNTS.sum()


def test_cells_by_name_and_back():
    cell = table().cell({"c": "r", "a": "y", "b": "1"})
    assert cell == (1, 0, 2)
    assert table().labels(cell) == {"a": "y", "b": "1", "c": "r"}


def test_small_cells_leave_out_empty_ones():
    assert table().small_cells(2).tolist() == [[0, 0, 1], [0, 0, 2]]


def test_a_table_of_fifty_three_variables_is_never_built():
    cells = np.zeros((1, 53), dtype=np.int64)
    big = Table(
        names=tuple(f"v{i}" for i in range(53)),
        levels=(("0", "1"),) * 53,
        cells=cells,
        counts=np.array([3]),
    )
    assert big.n_cells == 2**53
    assert big.margin([5, 6]).tolist() == [[3, 0], [0, 0]]
    with pytest.raises(InputError, match=r"must be of at most 67,108,864 cells"):
        big.dense()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda t: t.axes(["aa"]),
            ColumnError,
            r"variables named must be those of the table, got 'aa'; did you mean 'a'\?",
        ),
        (
            lambda t: t.axes(["a", "a"]),
            ColumnError,
            "variables named must be different, got 'a' twice",
        ),
        (
            lambda t: t.cell({"a": "x"}),
            InputError,
            "cell must be named with a level for every variable, got none for 'b'",
        ),
        (
            lambda t: t.cell({"a": "z", "b": "1", "c": "p"}),
            InputError,
            "a must be one of its levels in the table, got 'z'",
        ),
        (lambda t: Table.of_dense(np.array([1, -1])), InputError, "counts must be at least 0"),
    ],
)
def test_a_clear_word(call, error, message):
    with pytest.raises(error, match=message):
        call(table())
