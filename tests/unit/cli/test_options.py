"""Options that several commands share."""

import click
import pytest

from discreet.cli.options import Names, WholeNumbers, csv_from, split_names
from discreet.errors import InputError


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("a", ("a",)),
        ("a,b", ("a", "b")),
        (" a , b ", ("a", "b")),
        ('"a,b",c', ("a,b", "c")),
        ('"a ""q""",c', ('a "q"', "c")),
        ('"a\nb",c', ("a\nb", "c")),
        ("age in years,日本", ("age in years", "日本")),
        ("a;b", ("a;b",)),
        ("it's,50%", ("it's", "50%")),
    ],
)
def test_names_separated_by_commas(given, names):
    assert split_names(given) == names
    assert Names().convert(given, None, None) == names
    assert Names().convert(names, None, None) == names


@pytest.mark.parametrize("given", ["", ",", "a,,b", "a,", " ", '""'])
def test_an_empty_name_is_refused(given):
    with pytest.raises(click.BadParameter, match="must be column names separated by commas"):
        Names().convert(given, None, None)


@pytest.mark.parametrize(("given", "numbers"), [("2", (2,)), ("2,3, 5", (2, 3, 5)), ("-1", (-1,))])
def test_whole_numbers_separated_by_commas(given, numbers):
    assert WholeNumbers().convert(given, None, None) == numbers
    assert WholeNumbers().convert(numbers, None, None) == numbers


@pytest.mark.parametrize("given", ["", "x", "2,,3", "2.5", "2;3", "1e3"])
def test_what_is_no_whole_number_is_refused(given):
    with pytest.raises(click.BadParameter, match="must be whole numbers separated by commas"):
        WholeNumbers().convert(given, None, None)


@pytest.mark.parametrize(
    ("given", "delimiter"), [("\\t", "\t"), ("tab", "\t"), (";", ";"), (None, None)]
)
def test_a_tab_can_be_written(given, delimiter):
    assert csv_from(given, '"', None, ".").delimiter == delimiter


def test_an_empty_delimiter_is_refused():
    with pytest.raises(InputError, match="delimiter must be one character"):
        csv_from("", '"', None, ".")
