"""Files of counts become tables by category, and files of released sets become sets."""

import pytest

from discreet.count_tables.reading import read_sets, read_tables
from discreet.data.records import open_records
from discreet.errors import InputError, MissingError


@pytest.fixture
def records(tmp_path):
    def made(text):
        path = tmp_path / "f.csv"
        path.write_text(text)
        return open_records(path, None)

    return made


def test_a_table_a_category(records):
    file = records("k,x,f\na,0,2\na,1,3\nb,1,1\na,0,1\n")
    assert read_tables(file, "x", by=("k",), count="f") == (
        "x",
        {("a",): {0: 3, 1: 3}, ("b",): {1: 1}},
    )
    assert read_tables(records("x\n1\n1\n0\n")) == ("x", {(): {0: 1, 1: 2}})


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("k,x\na,1\n", None, "column must be one of 'k', 'x', got none"),
        ("x,count\n0,5\n1,4\n", None, "is it 'count' .count., with the values in 'x' .column"),
        ("x,count\n0,5\n1,4\n", "x", "is it 'count' .count., with the values in 'x' .column"),
        ("x\n1.5\n", None, "column 'x' must be of whole numbers from 0, got something else"),
        ("x\n2000000\n", None, "column 'x' must be of values up to 1,000,000, got a larger one"),
    ],
)
def test_files_that_hold_no_counts(records, text, column, says):
    with pytest.raises(InputError, match=says):
        read_tables(records(text), column)


def test_rows_without_a_value(records):
    file = records("k,x\na,1\nb,\n")
    with pytest.raises(MissingError, match="the choice drop leaves them out"):
        read_tables(file, "x")
    assert read_tables(file, "x", missing="drop")[1] == {(): {1: 1}}


def test_released_sets(records):
    by, sets = read_sets(records("k,N,S1,S2\nb,4,0,1\na,51,61,2^20*3^7\n"))
    assert by == ("k",)
    assert sets == {("a",): (51, 61, "2^20*3^7"), ("b",): (4, 0, "1")}
    with pytest.raises(InputError, match="n of the sets must be whole numbers, got 'x'"):
        read_sets(records("k,n,s1,s2\na,x,61,2^20*3^7\n"))


def test_a_column_named_like_counts_beside_values_of_persons(records):
    assert read_tables(records("x,n\n0,5\n1,4\n1,4\n"), "x") == ("x", {(): {0: 1, 1: 2}})
