"""Figures of linked tables: each once, whatever tables it stands in, and what changes with it."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.data.hierarchy import Hierarchy
from discreet.data.layout import Layout
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.masks.layout_notation import layout_of
from discreet.masks.linked_figures import entry_cells, figures_to_protect, linked_figures

TABLE = Table.of_dense(
    np.array([[[3, 1], [4, 1]], [[5, 9], [2, 6]], [[5, 3], [5, 8]]]),
    names=["region", "age", "sex"],
    levels=[["a", "b", "c"], ["young", "old"], ["F", "M"]],
)
TREES = {"region": Hierarchy.of_table([("a", "P", "all"), ("b", "P", "all"), ("c", "Q", "all")])}
TEXTS = ["region:tree(all),sex+total", "region:tree(1),age | sex=F", "sex+total,age+total"]


def layouts(texts=TEXTS):
    return [layout_of(text, TABLE, TREES) for text in texts]


def test_the_cells_of_an_entry_are_those_of_its_layout():
    for layout in layouts():
        for entry, cells in enumerate(entry_cells(layout)):
            assert cells.tolist() == sorted(layout.cells_of(entry).tolist())


def test_entries_with_the_same_cells_are_one_figure():
    figures = linked_figures(layouts())
    assert figures.n == len({figures.cells(f).tobytes() for f in range(figures.n)})
    # c and Q, and what two tables have: F, M and all of everywhere.
    first = figures.entries[0].reshape(6, 3)
    assert (first[2] == first[4]).all()
    assert first[5].tolist() == figures.entries[2].reshape(3, 3)[:, 2].tolist()


def test_what_is_shown_is_put_back_into_every_table():
    figures = linked_figures(layouts())
    for layout, counts in zip(layouts(), figures.split(figures.counts), strict=True):
        assert (counts == layout.counts()).all()
    for one, layout in zip(figures.published(), layouts(), strict=True):
        assert one.layout.title == layout.title
        assert one.shown is None
        assert (one.counts == layout.counts()).all()


def test_an_entry_without_cells_is_no_figure():
    (whole,) = layouts(["region:tree(all)"])
    (part,) = layouts(["total | region=P"])
    figures = linked_figures([replace(whole, part=part.part)])
    counts, shown = figures.split(figures.counts), figures.split(figures.counts > 1000)
    assert counts[0].tolist() == [9, 22, 0, 31, 0, 31]
    assert shown[0].tolist() == [False, False, True, False, True, False]  # nothing to hide


def test_sums_and_changes_agree_with_the_cells_of_each_figure():
    figures = linked_figures(layouts())
    rng = np.random.default_rng(0)
    rows = np.zeros((figures.n, figures.table.n_cells), dtype=np.int64)
    for figure in range(figures.n):
        rows[figure, figures.cells(figure)] = 1
    for _ in range(20):
        cells = np.sort(rng.choice(figures.table.n_cells, size=4, replace=False))
        by = rng.integers(-2, 3, size=4)
        expected = rows[:, cells] @ by
        touched, change = figures.changes(cells, by)
        assert touched.tolist() == np.flatnonzero(expected).tolist()
        assert change.tolist() == expected[touched].tolist()
    values = rng.integers(0, 9, size=figures.table.n_cells)
    assert (figures.summed(values) == rows @ values).all()
    assert (figures.n_summed == rows.sum(axis=1)).all()
    assert figures.is_total.sum() == 1


def test_what_is_out_is_known_and_not_published_again():
    figures = figures_to_protect(TABLE, None, layouts(TEXTS[:1]), out=[])
    assert not figures.is_out.any()
    own = layouts(["region:tree(1),sex", "region,age"])
    figures = figures_to_protect(TABLE, None, own[:1], out=own[1:])
    assert len(figures.published()) == 1
    assert figures.n_printed == 4
    assert sorted(figures.counts[figures.is_out].tolist()) == [4, 5, 8, 8, 13, 14]
    assert figures.record() == {
        "tables": (("region:tree(1),sex",),),
        "out": (("region,age",),),
    }


def test_margins_are_linked_tables_without_bands():
    figures = figures_to_protect(TABLE, [["region", "age"], ["sex"]], None, unions=True)
    assert figures.table is TABLE
    assert figures.n == 8


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sets": [["sex"]], "layouts": True}, "left out where layouts are given"),
        ({"sets": [["sex"]], "out": True}, "given with layouts"),
        ({"layouts": False}, "at least one, got none"),
    ],
)
def test_tables_are_given_in_one_way(given, message):
    own = layouts(TEXTS[:1])
    shapes = None if "layouts" not in given else own if given["layouts"] else []
    with pytest.raises(InputError, match=message):
        figures_to_protect(TABLE, given.get("sets"), shapes, out=own if given.get("out") else [])


def test_layouts_of_another_table_are_refused():
    other = Table.of_dense(np.array([1, 2]), ["age"])
    with pytest.raises(InputError, match="those of the table, got those of another"):
        figures_to_protect(TABLE, None, [Layout.of_margin(other, ["age"])])


def test_too_many_figures_are_refused():
    table = Table.of_dense(np.ones((400, 400), dtype=np.int64))
    with pytest.raises(InputError, match="at most 131,072 in all tables"):
        linked_figures([layout_of("v1,v2", table)])
