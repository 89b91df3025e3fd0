"""Categories from tables or sets: names, margins by columns, what goes out besides."""

import pytest

from discreet.count_tables.category_inputs import (
    MOST_CATEGORIES,
    categories_of_sets,
    categories_of_tables,
    category_names,
)
from discreet.count_tables.options import CategoryOptions
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError
from discreet.flows.counts import assess_categories

TABLES = {
    ("north", "2020"): {0: 15, 1: 20, 2: 9, 3: 5, 4: 2},
    ("north", "2021"): {0: 10, 1: 12, 2: 7, 3: 2, 4: 1},
    ("south", "2020"): {0: 4},
}
SETS = {"a": (51, 61, "2^20*3^7"), "b": (4, 0, "1")}


def of_tables(**options):
    return categories_of_tables(TABLES, CategoryOptions(by=("ward", "year"), **options))


def of_sets(sets=SETS, **options):
    return categories_of_sets(sets, CategoryOptions(**options))


def test_categories_are_named_by_their_levels():
    out = of_tables()
    assert list(out.levels) == ["north, 2020", "north, 2021", "south, 2020"]
    assert out.levels["north, 2021"] == ("north", "2021")
    assert out.releases["south, 2020"].total == 0
    assert category_names([("a, b", "c"), ("a", "b, c")]) == {
        ("a, b", "c"): "'a, b', 'c'",
        ("a", "b, c"): "'a', 'b, c'",
    }


def test_margins_are_tables_by_some_of_the_columns():
    out = of_tables(margins=[("ward",)], totals=True)
    assert list(out.margins) == ["ward='north'"]  # of south all are zero, which adds nothing
    assert out.margins["ward='north'"].categories == ("north, 2020", "north, 2021")
    assert out.margins["ward='north'"].table == {0: 25, 1: 32, 2: 16, 3: 7, 4: 3}
    assert out.beside == ("the table by ward", "the table of all categories together")


def test_where_a_set_is_withheld_that_of_all_together_goes_out():
    out = of_tables(withhold=["north, 2021"])
    assert list(out.releases) == ["north, 2020", "south, 2020"]
    together = out.margins["all together"].statistics
    assert together == CountStatistics.of_counts({0: 29, 1: 32, 2: 16, 3: 7, 4: 3})
    assert out.beside == ("the set of all categories together",)


def test_sets_are_rebuilt_from_unless_all_are_zero():
    out = of_sets(total_table="0:19,1:20,2:9,3:5,4:2")
    assert list(out.releases) == ["a", "b"]
    assert out.sets == {"a": CountStatistics(51, 61, {2: 20, 3: 7})}
    assert out.margins["all"].table == TABLES["north", "2020"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"withhold": ["west"]}, "withhold must be one of 'north, 2020', .* got 'west'"),
        ({"margins": [("age",)]}, "margins must be of category columns .*, got 'age'"),
        ({"margins": [("ward", "year")]}, "margins must be of fewer columns than the categories"),
        ({"knows": "max=3"}, "knows must be true of the table of north, 2020"),
        ({"knows": "decreasing"}, "knows must be without shapes"),
    ],
)
def test_what_is_not_so_of_the_tables(options, says):
    with pytest.raises(InputError, match=says):
        of_tables(**options)


@pytest.mark.parametrize(
    ("sets", "options", "says"),
    [
        ({"a": (None, 61, "2^20*3^7")}, {}, "got no n for a; such a set can be looked at by itsel"),
        ({"a": (51, 61, "21.55")}, {}, "got a rounded S2 for a"),
        (SETS, {"total_table": "0:3,1:2"}, "total_table must be one with at least 4 zeros"),
        (SETS, {"total_table": {0: 19, 1: 21}}, "total_table must be a table with the n of all"),
        (SETS, {"total_table": "x"}, "total_table must be value:count"),
    ],
)
def test_what_is_not_so_of_the_sets(sets, options, says):
    with pytest.raises(InputError, match=says):
        of_sets(sets, **options)


def test_too_many_categories():
    many = {(str(i),): {1: 1} for i in range(MOST_CATEGORIES + 1)}
    with pytest.raises(InputError, match="by must be columns of at most 200 categories, got 201"):
        categories_of_tables(many, CategoryOptions(by=("k",)))


def test_one_call_gives_all_that_was_asked():
    asked = {"by": ("ward", "year"), "regress": ["year"], "bayes": True, "draw": True}
    found = assess_categories({k: t for k, t in TABLES.items() if k[0] == "north"}, **asked)
    assert found.names == ("north, 2020", "north, 2021")
    assert set(found.likely) == set(found.bayes) == set(found.names)
    assert found.regression is not None
    assert found.options.by == ("ward", "year")
    plain = assess_categories(TABLES, by=("ward", "year"))
    assert (plain.likely, plain.regression, plain.bayes) == ({}, None, {})
