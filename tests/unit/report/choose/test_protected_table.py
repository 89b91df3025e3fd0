"""The table as it would go out: which figures are hidden, first or with others, and which are not."""

from dataclasses import replace

import numpy as np
from tests.unit.report.showing import page_words

from discreet.choice.publication import publication_of
from discreet.data.table import Table
from discreet.flows.choose import choose
from discreet.masks.contract import entry_names
from discreet.report.choose.protected_table import ALL, PRIMARY, SECONDARY, SHOWN, protected_section
from discreet.report.document import Document, Grid, Text

COUNTS = np.array([[1, 20, 30], [40, 50, 60], [15, 25, 70]])
TABLE = Table.of_dense(COUNTS, ["row", "column"], levels=[["a", "b", "c"], ["x", "y", "z"]])


def chosen(masks, max_risk=0.5, table=TABLE):
    found = choose(table, masks, max_risk=max_risk, seed=1, seconds=20)
    assert found.chosen is not None
    assert not found.chosen.is_nothing
    return found


def grid_of(found):
    return next(block for block in protected_section(found).blocks if isinstance(block, Grid))


def by_label(grid):
    return {
        (*labels, level): box
        for labels, boxes in grid.rows
        for level, box in zip(grid.levels, boxes, strict=True)
    }


def test_hidden_figures_are_told_first_from_others_and_totals_are_there():
    found = chosen("suppression", 0.0)
    boxes = by_label(grid_of(found))
    assert len(boxes) == 16
    assert boxes["a", "x"].shade == PRIMARY
    assert sum(box.shade == PRIMARY for box in boxes.values()) == 1
    assert sum(box.shade == SECONDARY for box in boxes.values()) >= 3
    assert boxes[ALL, ALL].text == str(COUNTS.sum())
    shown = {place: box for place, box in boxes.items() if box.shade == SHOWN}
    names = {"a": 0, "b": 1, "c": 2, "x": 0, "y": 1, "z": 2, ALL: slice(None)}
    for (row, column), box in shown.items():
        assert int(box.text) == COUNTS[names[row], names[column]].sum()
    for box in boxes.values():
        assert (box.text == "hidden") == (box.shade != SHOWN)


def test_the_boxes_agree_with_the_publication():
    """Every figure that the mask hides is drawn hidden, and no other; the sensitive ones first."""
    found = chosen("suppression", 0.0)
    publication = publication_of(found.chosen, found.table)
    boxes = by_label(grid_of(found))
    protection = found.chosen.masked.protection
    sensitive = {n for n, count in zip(protection.names, protection.counts) if count <= 2}
    for one in publication.published:
        names = entry_names(found.table, one.axes)
        shown = np.ones(len(names), dtype=bool) if one.shown is None else one.shown.ravel()
        for name, is_shown in zip(names, shown, strict=True):
            said = dict(pair.split("=") for pair in name.split(", ") if "=" in pair)
            box = boxes[said.get("row", ALL), said.get("column", ALL)]
            wanted = SHOWN if is_shown else PRIMARY if name in sensitive else SECONDARY
            assert box.shade == wanted


def test_rounded_figures_are_drawn_as_they_go_out():
    found = chosen("rounding:base=5", 1.0)
    grid = grid_of(found)
    assert grid.shades == ()
    assert {int(box.text) % 5 for _, boxes in grid.rows for box in boxes} == {0}


def test_each_margin_is_a_table_of_its_own():
    table = Table.of_dense(np.arange(10, 34).reshape(2, 3, 4), ["a", "b", "c"])
    found = choose(table, "margins", max_risk=0.5, seed=1)
    section = protected_section(found)
    titles = [one.text for one in section.blocks if isinstance(one, Text)]
    out = {tuple(one.axes) for one in publication_of(found.chosen, table).published}
    largest = [axes for axes in out if not any(set(axes) < set(other) for other in out)]
    assert sorted(titles) == sorted(" × ".join("abc"[axis] for axis in axes) for axes in largest)


def test_one_variable():
    table = Table.of_dense(np.array([30, 40, 50]), ["a"], levels=[["x", "y", "z"]])
    found = choose(table, "margins", max_risk=0.5, seed=1)
    boxes = by_label(grid_of(found))
    assert [boxes[(level,)].text for level in "xyz"] == ["30", "40", "50"]


def test_a_large_table_is_not_drawn():
    counts = np.random.default_rng(0).integers(5, 90, (40, 40))
    table = Table.of_dense(counts, ["a", "b"])
    found = choose(table, "margins", max_risk=1.0, seed=1, seconds=20)
    said = page_words(Document(title="t", blocks=(protected_section(found),)))
    assert "1,600 figures, too many to draw" in said


def test_nothing_is_drawn_where_nothing_goes_out():
    found = chosen("margins")
    nothing = next(i for i, one in enumerate(found.candidates) if one.is_nothing)
    for place in (None, nothing):
        none = replace(found, choice=replace(found.choice, chosen=place))
        assert protected_section(none).blocks == ()


def test_the_page_tells_the_kinds_apart_in_words_too():
    said = page_words(Document(title="t", blocks=(protected_section(chosen("suppression", 0.0)),)))
    assert "hidden: small itself hidden to protect others shown" in said
    assert "hidden small" in said
    assert "hidden with it" in said
