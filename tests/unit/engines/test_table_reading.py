"""Tables from files: long form with counts, and records."""

import numpy as np
import pyarrow as pa
import pytest

from discreet.engines.table_reading import read_table
from discreet.errors import ColumnError, InputError


def test_long_form_keeps_levels_without_counts():
    source = pa.table({"a": ["x", "y", "x", "z"], "b": [1, 2, 2, 1], "n": [3, 4, 0, 0]})
    found = read_table(source, count="n")
    assert found.names == ("a", "b")
    assert found.levels == (("x", "y", "z"), ("1", "2"))
    assert found.dense().tolist() == [[3, 0], [0, 4], [0, 0]]


def test_rows_of_one_cell_add_up():
    source = pa.table({"a": ["x", "x", "x"], "n": [3, 3, 4]})
    assert read_table(source, count="n").dense().tolist() == [10]


def test_records_are_counted():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, 500), rng.integers(0, 2, 500)
    found = read_table(pa.table({"a": a, "b": b}), ["b", "a"])
    expected = np.zeros((2, 3), dtype=int)
    np.add.at(expected, (b, a), 1)
    assert np.array_equal(found.dense(), expected)


def test_counts_may_be_written_with_a_point(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("ä;n\nx;2.0\ny;1\n")
    assert read_table(path, count="n").counts.tolist() == [2, 1]


def test_missing_values_by_policy():
    source = pa.table({"a": ["x", None, "x"], "n": [1, 2, 3]})
    assert read_table(source, count="n").levels == (("x", "(missing)"),)
    assert read_table(source, count="n", missing="drop").dense().tolist() == [4]
    with pytest.raises(InputError):
        read_table(source, count="n", missing="error")


@pytest.mark.parametrize("policy", ["category", "drop"])
def test_a_missing_count_is_an_error_whatever_the_policy(policy):
    source = pa.table({"a": ["x", "y"], "n": [1, None]})
    with pytest.raises(
        InputError,
        match=r"count 'n' must be whole numbers from 0, got a row without one at row 2$",
    ):
        read_table(source, count="n", missing=policy)


@pytest.mark.parametrize(
    ("bad", "row", "got"),
    [
        ([1, -1], 2, "a negative number"),
        ([0.5, 1.0], 1, "a number with decimals"),
        (["a", "1"], 1, "no number"),
        ([True, False], 1, "no number"),
        ([1e300, 1.0], 1, r"one above 2\*\*53"),
        ([1.0, float("inf")], 2, "an infinite number"),
        (["1", "nan"], 2, "a row without one"),
    ],
)
def test_counts_that_are_none_are_named_by_their_row(bad, row, got):
    said = f"count 'n' must be whole numbers from 0, got {got} at row {row}$"
    with pytest.raises(InputError, match=said):
        read_table(pa.table({"a": ["x", "y"], "n": bad}), count="n")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"variables": ["a", "a"]}, ColumnError, "variables must be different columns"),
        ({"variables": ["a", "n"], "count": "n"}, ColumnError, "count must be no variable"),
        ({"variables": ["a"], "missing": "wildcard"}, InputError, "missing must be category"),
        ({"variables": ["q"]}, ColumnError, "variables must be columns of the data frame, got 'q'"),
        ({"variables": ["a"], "count": "q"}, ColumnError, "count must be a column of the data"),
        ({"variables": ["a"], "missing": "any"}, InputError, "missing must be category, drop or"),
        ({"variables": ["a"], "count": "zero"}, InputError, "at least one count above 0"),
    ],
)
def test_bad_input(options, error, message):
    source = pa.table({"a": ["x", "y"], "n": [1, 2], "zero": [0, 0]})
    with pytest.raises(error, match=message):
        read_table(source, **options)


def test_totals_of_a_column_that_is_no_variable_here_are_not_added(tmp_path):
    path = tmp_path / "t.csv"
    rows = ["N,M,1", "N,F,1", "N,Total persons,2", "S,M,6", "S,F,5", "S,Total persons,11"]
    path.write_text("\n".join(["region,sex,count", *rows]))
    found = read_table(path, ["region"], count="count")
    assert found.total == 13
    assert found.margin((0,)).tolist() == [2, 11]
    assert "Total persons" in " ".join(found.notes)
    assert read_table(path, ["region"], count="count", totals="keep").total == 26


def test_rows_of_nobody_are_kept_for_levels_that_nobody_has():
    source = pa.table(
        {"region": ["N", "N", "S", "S"], "district": ["N1", "N3", "S1", "N1"], "n": [3, 0, 4, 0]}
    )
    found = read_table(source, count="n")
    assert [found.labels(cell) for cell in found.empty] == [{"region": "N", "district": "N3"}]
    assert found.over((1,)).empty.tolist() == [[1]]
    assert found.total == 7
