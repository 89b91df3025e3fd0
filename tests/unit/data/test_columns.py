"""A column that is not there is named, with the one that may have been meant."""

import pytest

from discreet.data.columns import find_columns
from discreet.errors import ColumnError

NAMES = ("age", "Sex", "region", "age ")


def test_positions_come_in_the_order_asked():
    assert find_columns("keys", ["region", "age"], NAMES, "s.csv") == (2, 0)
    assert find_columns("keys", [], NAMES, "s.csv") == ()


@pytest.mark.parametrize(
    ("role", "wanted", "message"),
    [
        ("keys", "agee", "keys must be columns of s.csv, got 'agee'; did you mean 'age'?"),
        ("weight", "SEX", "weight must be a column of s.csv, got 'SEX'; did you mean 'Sex'?"),
        (
            "keys",
            "qqqqqq",
            "got 'qqqqqq'; it has 4 columns, none of a name like it; is its first line a header?",
        ),
        (
            "keys",
            "",
            "got ''; it has 4 columns, none of a name like it; is its first line a header?",
        ),
    ],
)
def test_an_unknown_column_is_named_with_what_there_is(role, wanted, message):
    with pytest.raises(ColumnError) as caught:
        find_columns(role, [wanted], NAMES, "s.csv")
    assert message in str(caught.value)


def test_a_name_that_occurs_twice_is_refused_only_where_it_is_wanted():
    names = ("a", "b", "a", "a")
    assert find_columns("keys", ["b"], names, "s.csv") == (1,)
    with pytest.raises(ColumnError, match="occurs once in s.csv, got 'a' 3 times"):
        find_columns("keys", ["b", "a"], names, "s.csv")


def test_names_that_differ_only_in_case_are_different():
    assert find_columns("keys", ["A", "a"], ("a", "A"), "s.csv") == (1, 0)


def test_thousands_of_columns_are_not_all_listed():
    names = [f"column {i}" for i in range(5000)]
    with pytest.raises(ColumnError) as caught:
        find_columns("keys", ["zzz"], names, "s.csv")
    assert "it has 5,000 columns" in str(caught.value)
    assert "column 7" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_hostile_name_stays_on_one_line():
    with pytest.raises(ColumnError) as caught:
        find_columns("keys", ["x\ny"], ("a\nb", "c\x1b[2J"), "s.csv")
    assert len(str(caught.value).splitlines()) == 1
    assert "\x1b" not in str(caught.value)
