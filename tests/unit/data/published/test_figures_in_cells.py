"""Cells of figures: numbers in every way of writing, marks, and what is neither."""

from decimal import Decimal

import pytest

from discreet.data.published.figures_in_cells import (
    Cell,
    NoFigure,
    Percentage,
    decimal_of,
    is_mark,
    is_number,
    read_cell,
)

NUMBERS = {
    "12": "12", " 12 ": "12", "0": "0", "12.50": "12.50", "0012": "12", ".5": "0.5", "-0": "0",
    "1,234": "1234", "1,234,567.8": "1234567.8", "1 234": "1234", "1\u00a0234": "1234", "1\u202f234": "1234",
    "1'234": "1234", "1e+05": "100000", "1.5E3": "1500", "00.5": "0.5", "0.0": "0.0",
}  # fmt: skip


@pytest.mark.parametrize(("text", "printed"), NUMBERS.items())
def test_numbers_by_point(text, printed):
    assert read_cell(text, ".") == Cell(printed)


@pytest.mark.parametrize(
    ("text", "printed"),
    [("12,5", "12.5"), ("1.234", "1234"), ("1.234,50", "1234.50"), (",5", "0.5")],
)
def test_numbers_by_comma(text, printed):
    assert read_cell(text, ",") == Cell(printed)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (12, "12"),
        (12.0, "12"),
        (12.5, "12.5"),
        (Decimal("12.50"), "12.50"),
        (1 / 3, "0.333333333333"),
    ],
)
def test_numbers_of_a_program(value, printed):
    assert read_cell(value, ",") == Cell(printed)
    assert read_cell(Percentage(Decimal("12.50")), ".") == Cell("12.50", is_percent=True)


def test_digits_that_only_show_how_a_computer_rounds_are_left_out():
    assert read_cell("33.33333333333333", ".") == Cell("33.3333333333")
    assert read_cell("33.333333333333", ".") == Cell("33.333333333333")
    assert read_cell("1234567890123456", ".") == Cell("1234567890123456")


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("12*", "*"),
        ("12 (a)", "(a)"),
        ("12r", "r"),
        ("12 p", "p"),
        ("12[1]", "[1]"),
        ("12¹", "¹"),
        ("12†", "†"),
    ],
)
def test_signs_of_footnotes(text, sign):
    assert read_cell(text, ".") == Cell("12", sign=sign)


@pytest.mark.parametrize(
    "text",
    ["", " ", "x", "X", "c", "C", "*", ".", "..", "...", "…", ":", "s", "[c]", "(x)", "<5", "< 3",
     "1-4", "n/a", "NA", "NaN", "/"],
)  # fmt: skip
def test_marks(text):
    assert read_cell(text, ".") == Cell("", mark=text.strip())
    assert is_mark(text) == bool(text.strip())
    assert not is_number(text)


@pytest.mark.parametrize("text", ["-", "–", "—"])
def test_a_lone_dash_is_told_apart(text):
    assert read_cell(text, ".") == Cell("", mark=text, is_dash=True)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("abc", "a figure from 0 or the mark"), ("12 (95)", "a figure from 0 or the mark"),
        ("12k", "a figure from 0 or the mark"), ("12 m", "a figure from 0 or the mark"),
        ("1,23,4", "a figure from 0 or the mark"), ("1.2.3", "a figure from 0 or the mark"),
        ("=1+2", "a figure from 0 or the mark"), ("inf", "a figure from 0 or the mark"),
        (float("nan"), "a figure from 0 or the mark"), (True, "a figure from 0 or the mark"),
        ("-5", "a figure from 0"), ("−5", "a figure from 0"), (-5, "a figure from 0"),
        ("9007199254740992", "a figure below 2**53"), ("1e300", "a figure below 2**53"),
        ("9" * 500, "a figure below 2**53"),
    ],
)  # fmt: skip
def test_what_is_no_figure(value, rule):
    found = read_cell(value, ".")
    assert isinstance(found, NoFigure)
    assert found.rule.startswith(rule)
    assert len(found.got) < 50


def test_means_may_be_negative():
    assert read_cell("-1.5", ".", negative=True) == Cell("-1.5")
    assert read_cell("9007199254740991", ".") == Cell("9007199254740991")


@pytest.mark.parametrize(
    ("column", "mark"),
    [
        (["12", "1,5"], ","), (["1.5"], "."), (["1,234.5"], "."), (["1.234,5"], ","), (["0,125"], ","),
        (["1.234.567"], ","), (["1,234,567"], "."), (["1,234"], None), (["1.234"], None), ([], None),
        (["12,5 %"], ","), (["1234.567"], "."), (["1 234,567"], ","), (["1,5", "2.5"], ("2.5", "1,5")),
    ],
)  # fmt: skip
def test_the_decimal_mark_of_a_column(column, mark):
    assert decimal_of(column) == mark
