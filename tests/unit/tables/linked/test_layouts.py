"""Tables in words, made of the data by their rule."""

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.errors import InputError
from discreet.masks.layout_notation import layout_of, part_labels
from discreet.tables.linked.layouts import source_of_layout
from discreet.tables.linked.rules import Rule, Way

AGES = [str(i) for i in range(4)]
TABLE = Table.of_dense(
    np.array([[1, 5], [2, 6], [3, 7], [4, 13]]), ["age", "sex"], [AGES, ["F", "M"]]
)


def made(text, rule=Rule()):  # noqa: B008 - frozen
    layout = layout_of(text, TABLE)
    return source_of_layout(layout, rule, part_labels(layout))


def figures(one):
    return {tuple(one.table.cell(i).values()): text for i, text in enumerate(one.table.printed)}


def test_counts_by_categories_with_totals():
    one = made("age:bands(2),sex+total")
    assert one.table.variables == ("age", "sex")
    assert figures(one) == {
        ("0-1", "F"): "3", ("0-1", "M"): "11", ("0-1", "Total"): "14",
        ("2-3", "F"): "7", ("2-3", "M"): "20", ("2-3", "Total"): "27",
    }  # fmt: skip
    assert one.rule == Rule(stated=True)
    assert one.holds["age", "0-1"].tolist() == [True, True, False, False]


def test_the_number_of_persons():
    one = made("total")
    assert (one.table.variables, one.table.printed) == ((), ("41",))


def test_a_part_is_a_variable_with_its_levels():
    one = made("age | sex=F")
    assert one.table.variables == ("age", "sex")
    assert figures(one)["3", "F"] == "4"
    assert one.holds["sex", "F"].tolist() == [True, False]


def test_a_category_that_a_part_cuts_says_so():
    one = made("age:bands(2) | age=1-3")
    assert one.table.labels == (("1", "2-3"),)
    assert one.table.printed == ("8", "27")
    assert one.holds["age", "1"].tolist() == [False, True, False, False]


@pytest.mark.parametrize(
    ("way", "printed"),
    [
        (Way.UNKNOWN, ["0", "5", "0", "5", "5", "5", "5", "15"]),
        (Way.NEAREST, ["0", "5", "0", "5", "5", "5", "5", "15"]),
        (Way.DOWN, ["0", "5", "0", "5", "0", "5", "0", "10"]),
        (Way.UP, ["5", "5", "5", "10", "5", "10", "5", "15"]),
    ],
)
def test_rounding(way, printed):
    one = made("age,sex", Rule(base=5, way=way))
    assert list(one.table.printed) == printed
    assert one.rule.way is (Way.NEAREST if way is Way.UNKNOWN else way)
    for text, count in zip(one.table.printed, TABLE.dense().ravel(), strict=True):
        low, high = one.rule.range_of(text, "")
        assert low <= count <= high


def test_halves_are_rounded_upward():
    one = made("age,sex", Rule(base=2))
    assert list(one.table.printed)[:2] == ["2", "6"]


def test_withheld_counts():
    one = made("age,sex", Rule(withheld=(2, 5)))
    assert list(one.table.printed) == ["1", "", "", "6", "", "7", "", "13"]
    one = made("age,sex", Rule(withheld=(6, None)))
    assert list(one.table.printed) == ["1", "5", "2", "", "3", "", "4", ""]


def test_noise_is_not_made_here():
    with pytest.raises(InputError, match="release must be exact, rounded or withheld, got "
                       "perturbed; publish it by `choose` with the mask cell-key"):  # fmt: skip
        made("age", Rule(most=3))
