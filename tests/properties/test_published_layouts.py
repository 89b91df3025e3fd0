"""A crosstab laid out in any of the ways of offices is read as the table that was laid out."""

from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import openpyxl
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.published_files import figures

from discreet.data.published.reading import read_published

LABELS = {
    "Age": ["0-14", "15-64", "65+", "Total"],
    "Year": [2020, 2021, 2022],
    "Sex": ["Men", "Women", "Both sexes"],
    "Region": ["North", "South west", "Total"],
}
MARKS = ["x", "..", "<5", "c"]


@st.composite
def layouts(draw):
    """Variables down the side and across with their labels, figures, and how they are laid out."""
    names = draw(st.permutations(sorted(LABELS)))
    n_side, n_over = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    side, over = names[:n_side], names[n_side : n_side + n_over]
    labels = {one: LABELS[one][: draw(st.integers(2, 4))] for one in (*side, *over)}
    rows = list(product(*(labels[one] for one in side)))
    columns = list(product(*(labels[one] for one in over)))
    cell = st.one_of(st.integers(0, 5000), st.integers(0, 5000), st.sampled_from(MARKS))
    cells = {(*row, *column): draw(cell) for row in rows for column in columns}
    cells[(*rows[0], *columns[0])] = 7
    return {
        "side": side, "over": over, "rows": rows, "columns": columns, "cells": cells,
        "merged": draw(st.booleans()), "names_above": draw(st.booleans()) or n_over > 1,
        "titles": draw(st.integers(0, 2)), "notes": draw(st.integers(0, 2)),
    }  # fmt: skip


def laid_out(layout):
    """The rows of the sheet, and the areas that are merged where they are."""
    side, over, columns = layout["side"], layout["over"], layout["columns"]
    head, areas = [], []
    for level, name in enumerate(over):
        if layout["names_above"]:
            head.append([None] * len(side) + [name] + [None] * (len(columns) - 1))
            areas.append((head[-1], len(side), len(columns)))
        told = [column[level] for column in columns]
        head.append([None] * len(side))
        for place, label in enumerate(told):
            before = place and columns[place - 1][: level + 1] == columns[place][: level + 1]
            spans = before and level + 1 < len(over)
            head[-1].append(None if spans else label)
            if level + 1 < len(over) and not spans:
                width = sum(one[: level + 1] == columns[place][: level + 1] for one in columns)
                areas.append((head[-1], len(side) + place, width))
    head[-1][: len(side)] = side
    if not layout["names_above"]:
        head[-1][len(side) - 1] = f"{side[-1]} \\ {over[0]}"
    body = []
    for place, row in enumerate(layout["rows"]):
        before = layout["rows"][place - 1] if place else ()
        own = [
            None if level + 1 < len(row) and before[: level + 1] == row[: level + 1] else label
            for level, label in enumerate(row)
        ]
        body.append(own + [layout["cells"][(*row, *column)] for column in columns])
    titles = [["Table 3. Persons, in 2022"], []][: layout["titles"]]
    notes = [[], ["Source: the register; x: withheld"]][: layout["notes"]]
    return [*titles, *head, *body, *notes], areas


@settings(max_examples=30, deadline=None)
@given(layouts())
def test_what_was_laid_out_is_read(layout):
    rows, areas = laid_out(layout)
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for row, first, width in areas if layout["merged"] else ():
        number = next(i for i, own in enumerate(rows, start=1) if own is row)
        book.active.merge_cells(
            start_row=number, end_row=number, start_column=first + 1, end_column=first + width
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.xlsx"
        book.save(path)
        (table,) = read_published(path)
    assert table.variables == (*layout["side"], *layout["over"])
    assert figures(table) == {
        tuple(map(str, labels)): f"⟨{own}⟩" if isinstance(own, str) else str(own)
        for labels, own in layout["cells"].items()
    }
    assert len(table.notes) == (layout["titles"] > 0) + (layout["notes"] > 1)
