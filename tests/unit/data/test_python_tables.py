"""Counts as Python has them: each form is the same table, or refused with what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.python_tables import counts_by_value, is_wide, long_form
from discreet.engines.table_reading import read_table
from discreet.errors import InputError

PEOPLE = pd.DataFrame(
    {
        "sex": ["m", "f", "m", "m", "f"],
        "age": [1, 2, 2, 2, 3],
        "ill": [True, False, True, True, False],
    }
)


def cells(table):
    """Counts by labels of levels."""
    labels = (table.labels(cell) for cell in table.cells)
    return {tuple(sorted(one.items())): int(n) for one, n in zip(labels, table.counts, strict=True)}


def unnamed(wide):
    """A crosstab whose rows and columns have lost their names."""
    lost = wide.rename_axis([None] * wide.index.nlevels)
    return lost.rename_axis([None] * wide.columns.nlevels, axis=1)


def forms(people):
    """The same table in every form, with how it is read."""
    names = list(people.columns)
    sizes = people.groupby(names).size()
    yield "records", people, {}
    yield "polars", pl.from_pandas(people), {}
    yield "arrow", pa.Table.from_pandas(people, preserve_index=False), {}
    yield "value_counts", people.value_counts(), {}
    yield "groupby", sizes, {}
    yield "long", sizes.rename("n").reset_index(), {"count": "n"}
    yield "index", sizes.to_frame("n"), {"count": "n"}
    yield "crosstab", pd.crosstab([people[names[0]], people[names[1]]], people[names[2]]), {}
    wide = pd.crosstab([people[names[0]], people[names[1]]], people[names[2]], margins=True)
    yield "margins", wide, {}
    yield "unstacked", sizes.unstack(), {}
    yield "sizes", sizes.to_frame(), {}
    yield "polars counts", pl.from_pandas(people).group_by(names).len(), {"count": "len"}
    ones = people.assign(n=1)
    pivoted = ones.pivot_table(
        index=names[:2], columns=names[2], values=["n"], aggfunc="sum", margins=True
    )
    yield "pivot_table", pivoted, {}
    long = ones.pivot_table(index=names, values="n", aggfunc="sum", margins=True)
    yield "pivot_table in long form", long, {"count": "n"}
    yield "without names", unnamed(sizes.unstack()), {"variables": names}
    yield "margins without names", unnamed(wide), {"variables": names}
    nameless = sizes.rename_axis([None] * 3)
    yield "a Series without names", nameless, {"variables": names}
    yield "dict", sizes.to_dict(), {"variables": names}


@settings(max_examples=15, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("xy"), st.integers(1, 3), st.booleans()), min_size=1, max_size=12
    )
)
def test_every_form_is_the_same_table(rows):
    people = pd.DataFrame(rows, columns=["sex", "age", "ill"])
    wanted = cells(read_table(people))
    for name, source, options in forms(people):
        assert cells(read_table(source, **options)) == wanted, name


def test_an_array_is_numbered_from_one():
    counts = np.array([[3, 0], [1, 5]])
    table = read_table(counts, ["sex", "age"])
    assert table.names == ("sex", "age")
    assert np.array_equal(table.dense(), counts)
    assert table.levels == (("1", "2"), ("1", "2"))


def test_dicts_within_dicts_and_of_one_variable():
    nested = read_table({"m": {"old": 2, "young": 3}, "f": {"old": 1}}, ["sex", "age"])
    assert nested.total == 6
    assert cells(read_table({"a": 3, "b": 4}, ["x"])) == {(("x", "a"),): 3, (("x", "b"),): 4}


def test_a_series_of_values_is_counted():
    found = read_table(PEOPLE["age"])
    assert cells(found) == {(("age", "1"),): 1, (("age", "2"),): 3, (("age", "3"),): 1}
    assert counts_by_value(PEOPLE["age"].value_counts()) == {1: 1, 2: 3, 3: 1}


def test_levels_keep_their_types():
    table = read_table(pd.crosstab([PEOPLE.sex, PEOPLE.ill], PEOPLE.age))
    assert table.types["age"] == pa.int64()
    assert table.types["ill"] == pa.bool_()
    dates = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-02-01"]), "x": [1.5, 2.5]})
    assert pa.types.is_timestamp(read_table(dates).types["day"])
    assert read_table(dates).types["x"] == pa.float64()
    coded = PEOPLE.astype({"age": "category"})
    assert read_table(coded).types["age"] == pa.int64()


def test_totals_are_found_by_their_sums_too():
    wide = pd.crosstab(PEOPLE.sex, PEOPLE.age, margins=True, margins_name="everybody")
    assert read_table(wide).total == len(PEOPLE)


def test_a_row_that_happens_to_be_a_sum_is_no_total():
    wide = pd.DataFrame([[1, 1], [2, 2], [3, 3]], index=list("abc"), columns=list("xy"))
    wide = wide.rename_axis("row").rename_axis("column", axis=1)
    assert read_table(wide).total == 12


def test_a_total_that_is_none_is_refused():
    wide = pd.crosstab(PEOPLE.sex, PEOPLE.age, margins=True)
    wide.loc["All", 2] += 1
    with pytest.raises(InputError, match="rows 'sex = All' and 'age = All' must be clearly"):
        read_table(wide)


def test_totals_of_a_crosstab_are_kept_where_that_is_said():
    wide = pd.crosstab(PEOPLE.sex, PEOPLE.age, margins=True)
    assert read_table(wide, totals="keep").total == 4 * len(PEOPLE)


def test_the_last_arm_of_a_trial_is_not_taken_for_a_total():
    wide = pd.DataFrame([[5, 6], [5, 6]], index=["C", "T"], columns=["x", "y"])
    wide = wide.rename_axis("arm").rename_axis("ill", axis=1)
    with pytest.raises(InputError, match="rows 'arm = T' must be clearly totals"):
        read_table(wide)
    assert read_table(wide, totals="arm=T:keep").total == 22


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        (pd.Series([1, 2, 3]), {}, r"either; use rename\('x'\).reset_index"),
        (PEOPLE.groupby("age")["sex"].count(), {}, "one that could be either"),
        (pd.Series([1, 2], index=pd.Index(["a", "a"], name="x")), {}, "several of one"),
        (PEOPLE["age"], {"count": "age"}, "count must be left out with a Series"),
        (PEOPLE["age"], {"variables": ["x"]}, "variables must be left out with a Series with a n"),
        (
            PEOPLE.value_counts(),
            {"variables": ["x"]},
            "variables must be left out with a Series wh",
        ),
        (
            pd.crosstab(PEOPLE.sex, PEOPLE.age),
            {"count": "x"},
            "count must be left out with a cross",
        ),
        (pd.crosstab(PEOPLE.sex, PEOPLE.age, normalize=True), {}, "counts must be whole numbers"),
        ({"a": [1, 2]}, {"variables": ["x"]}, "got a dict of lists; make a frame"),
        ({("a", 1): 2, "b": 3}, {"variables": ["x"]}, "as many levels in each"),
        ({}, {"variables": ["x"]}, "got an empty one"),
        ({"a": 1}, {}, "variables must be the one name of a dict, got none"),
        ({"a": -1}, {"variables": ["x"]}, "counts must be .* got a negative number at a"),
        ({"a": True}, {"variables": ["x"]}, "counts must be .* got true or false at a"),
        (np.array([[1, 2]]), {}, "variables must be the names of the 2 variables of an array"),
        (np.array(["a"]), {"variables": ["x"]}, "an array of counts, an axis for each variable"),
        (np.array([[1, 2]]), {"variables": ["x", "x"]}, "variables must be different names"),
        (PEOPLE.set_index(["sex", "age"]), {}, "got one with several indices; use reset_index"),
        (PEOPLE, {"variables": 5}, "variables must be names of columns, got 5"),
        (PEOPLE["sex"].value_counts(normalize=True), {}, "got shares; use value_counts"),
        (unnamed(pd.crosstab(PEOPLE.sex, PEOPLE.age)), {}, "labelled without a name; if it is a"),
        (unnamed(pd.crosstab(PEOPLE.age, PEOPLE.sex)), {}, "labelled without a name; if it is a"),
        (unnamed(pd.crosstab(PEOPLE.sex, PEOPLE.age)), {"variables": ["x"]}, r"\(variables, 2 na"),
        (pd.DataFrame([[3, 4], [5, 6]]), {}, "labelled without a name"),
    ],
)
def test_what_is_not_understood_is_refused(source, options, says):
    with pytest.raises(InputError, match=says):
        read_table(source, **options)


def old_value_counts(series):
    """What `value_counts` gave before pandas 2: the name of the column, and no name of the index."""
    return series.value_counts().rename_axis(None).rename(series.name)


@pytest.mark.parametrize("name", ["sex", "age"])
def test_counts_under_the_name_of_the_column_are_not_taken_for_values(name):
    found = old_value_counts(PEOPLE[name])
    with pytest.raises(InputError, match="could be either"):
        read_table(found)
    assert read_table(found, [name]).total == len(PEOPLE)


def test_values_of_some_rows_are_values():
    visits = pd.Series([0, 2, 1, 0, 3], name="visits", index=[1, 9, 20, 31, 40])
    assert counts_by_value(visits) is None
    assert counts_by_value(visits.reset_index(drop=True)) is None
    assert counts_by_value(visits.set_axis([1, 2, 3, 5, 6])) is None
    with pytest.raises(InputError, match="could be either"):
        counts_by_value(visits.set_axis([0, 1, 2, 3, 4]))
    assert counts_by_value(PEOPLE["sex"].iloc[[4, 0]]) is None  # text is no count


def test_records_by_number_are_records_under_their_own_names():
    few = pd.DataFrame({"a": [1, 2, 1], "b": [1, 1, 2]}, index=[7, 3, 5])
    with pytest.raises(InputError, match="labelled without a name"):
        read_table(few)
    assert read_table(few, ["a", "b"]).total == 3
    assert read_table(few.reset_index(drop=True)).total == 3
    assert read_table(pd.concat([few] * 100)).total == 300


def test_records_are_not_taken_for_counts():
    assert long_form(PEOPLE) is None
    assert long_form("file.csv") is None
    assert not is_wide(PEOPLE)
    assert not is_wide(PEOPLE.set_index("sex"))
    text = pd.crosstab(PEOPLE.sex, PEOPLE.age).astype(str)
    assert not is_wide(text)
