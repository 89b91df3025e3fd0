"""The coarsest table that has all figures of some layouts has exactly these figures."""

import numpy as np
import pytest

from discreet.data.coarse_layouts import coarsened
from discreet.data.hierarchy import Hierarchy
from discreet.data.layout import Layout
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.masks.layout_notation import layout_of

TABLE = Table.of_dense(
    np.arange(96).reshape(12, 2, 4) % 7,
    names=["age", "sex", "region"],
    levels=[[str(age) for age in range(12)], ["F", "M"], ["a", "b", "c", "d"]],
)
TREES = {"region": Hierarchy.of_table([(x, "P" if x in "ab" else "Q", "all") for x in "abcd"])}
TEXTS = ["age:bands(4)+total,region:tree(1)", "region:tree(1,2) | age=0-5"]


def layouts():
    return [layout_of(text, TABLE, TREES) for text in TEXTS]


def test_every_figure_is_as_it_was():
    for before, after in zip(layouts(), coarsened(layouts()), strict=True):
        assert (before.counts() == after.counts()).all()
        assert before.labels() == after.labels()
        assert before.title == after.title


def test_levels_that_no_table_tells_apart_are_one_and_unused_variables_are_gone():
    table = coarsened(layouts())[0].table
    assert table.names == ("age", "region")
    # Bands of four years, of which the part cuts the second in two.
    assert table.levels == (("0-3", "4, 5", "6, 7", "8-11"), ("P", "Q"))
    assert table.total == TABLE.total
    dense = TABLE.dense().sum(axis=1)
    assert table.dense()[0, 0] == dense[:4, :2].sum()


def test_a_group_without_a_name_is_called_by_its_first_levels():
    (layout,) = coarsened([layout_of("sex | age=0", TABLE)])
    assert layout.table.levels[0] == ("0", "1, 2, 3 and 8 more")


def test_what_tells_everything_apart_stays_as_it_is():
    whole = [Layout.of_margin(TABLE, ["age", "sex", "region"])]
    (after,) = coarsened(whole)
    assert after.table.levels == TABLE.levels
    assert (after.table.dense() == TABLE.dense()).all()


def test_no_table_or_tables_of_different_data_are_refused():
    with pytest.raises(InputError, match="at least one, all of the same data, got none"):
        coarsened([])
    other = Table.of_dense(np.array([1, 2]), ["age"])
    with pytest.raises(InputError, match="tables of different data"):
        coarsened([layouts()[0], Layout.of_margin(other, ["age"])])
