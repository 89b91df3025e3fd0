"""The figures of linked tables: bands, subtotals, totals and parts of the same hidden cells.

A figure is a set of cells, and a cell lies in several figures of one table (its district, its
province, the total) or in none (the table is of women only). Entries of different tables with the
same cells are one figure: it is hidden in all of them or in none. Unions of hidden figures can be
followed beside them: sums that are printed nowhere, but must not be known too closely either.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.data.coarse_layouts import coarsened
from discreet.data.layout import Layout
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.masks.contract import PublishedTable, checked_counts, chosen_sets
from discreet.masks.suppression_figures import (
    MOST_FIGURES,
    Figures,
    Kind,
    Number,
    all_sets,
    figures_of,
)
from discreet.numerics.arrays import BoolArray, IntArray, read_only

NONE = -1  # an entry of a table that no cell belongs to


class Followed(Protocol):
    """A sum of cells that is to be protected."""

    @property
    def cells(self) -> IntArray:
        """Its cells, ascending."""

    @property
    def count(self) -> int:
        """Its count."""

    @property
    def label(self) -> str:
        """What to call it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedFigures(Figures):
    """Different figures of linked tables, and the unions that are followed beside them.

    `members[start[i]:start[i + 1]]` are the cells of figure i; `homes` has in each column the
    figures that a cell belongs to, filled up with the number of figures. `entries[j]` gives the
    figure of each entry of the j-th layout, −1 where it has no cells. The first `n_going` layouts
    are to go out, the others are out: their figures are known. Figures from `n_told` on are unions.
    """

    layouts: tuple[Layout, ...]
    start: IntArray
    members: IntArray
    entries: tuple[IntArray, ...]
    labels: tuple[str, ...]
    n_going: int
    n_told: int

    def cells(self, figure: int) -> IntArray:
        """The cells that a figure sums."""
        return self.members[self.start[figure] : self.start[figure + 1]]

    def place(self, figure: int) -> int:
        """The first of the tables that a figure stands in."""
        return next(i for i, own in enumerate(self.entries) if np.any(own == figure))

    def summed(self, cells: NDArray[Number]) -> NDArray[Number]:
        """Every figure of a table with these cells."""
        return np.add.reduceat(cells[self.members], self.start[:-1])

    def changes(self, cells: IntArray, by: IntArray) -> tuple[IntArray, IntArray]:
        """The figures that change if some cells do, in order, and by how much."""
        touched, place = np.unique(self.homes[:, cells], return_inverse=True)
        change = np.zeros(len(touched), dtype=np.int64)
        np.add.at(change, place.ravel(), np.tile(by, len(self.homes)))
        change[touched == self.n] = 0
        return touched[change != 0], change[change != 0]

    @property
    def n_summed(self) -> IntArray:
        """How many cells each figure sums."""
        return np.diff(self.start)

    @property
    def n_printed(self) -> int:
        """Figures of the tables that are to go out; they come first."""
        return 1 + max(int(own.max(initial=NONE)) for own in self.entries[: self.n_going])

    @property
    def is_out(self) -> BoolArray:
        """Which figures everybody knows already."""
        found = np.zeros(self.n, dtype=np.bool_)
        for own in self.entries[self.n_going :]:
            found[own[own != NONE]] = True
        return found

    def name(self, figure: int) -> str:
        """What to call a figure: its variables with their categories, and its part."""
        return self.labels[figure]

    def names(self) -> list[str]:
        """What to call every figure."""
        return list(self.labels)

    def split(self, values: NDArray[Kind]) -> list[NDArray[Kind]]:
        """One value a figure, as arrays in the shape of each table that is to go out; 0 where an
        entry has no cell, or True, since there is nothing to hide."""
        blank = np.array([values.dtype == np.bool_]).astype(values.dtype)
        padded = np.concatenate([values, blank])
        every = list(zip(self.layouts, self.entries, strict=True))[: self.n_going]
        return [
            padded[np.where(own < 0, len(values), own)].reshape(one.shape) for one, own in every
        ]

    def published(self, shown: BoolArray | None = None) -> tuple[PublishedTable, ...]:
        """The tables that go out, with the figures that are not shown left out."""
        flags = np.ones(self.n, dtype=np.bool_) if shown is None else shown
        parts = zip(
            self.layouts[: self.n_going],
            self.split(np.where(flags, self.counts, 0)),
            self.split(flags),
            strict=True,
        )
        return tuple(
            PublishedTable(
                axes=one.axes, counts=own, shown=None if shown is None else is_shown, layout=one
            )
            for one, own, is_shown in parts
        )

    def text(self) -> str:
        """The tables in a few words."""
        return layouts_text(self.layouts[: self.n_going])

    def shown_by(self, flags: Sequence[BoolArray]) -> BoolArray:
        """Which figures are shown, given that for the entries of each table: in one is enough."""
        found = np.append(self.is_out, False)
        for own, is_shown in zip(self.entries, flags, strict=False):
            found[own[np.ravel(is_shown)]] = True  # an entry without cells is none, the last
        return found[:-1]

    def record(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """The tables as the record of a mask names them."""
        going, out = self.layouts[: self.n_going], self.layouts[self.n_going :]
        named: dict[str, tuple[tuple[str, ...], ...]] = {
            "tables": tuple((one.title,) for one in going)
        }
        return named | ({"out": tuple((one.title,) for one in out)} if out else {})

    def with_unions(self, unions: "Sequence[Followed]") -> "LinkedFigures":
        """With further sums of cells that are to be protected though they are printed nowhere."""
        groups = [*(self.cells(f) for f in range(self.n)), *(one.cells for one in unions)]
        more = np.array([one.count for one in unions], dtype=np.int64)
        return replace(
            self,
            counts=np.concatenate([self.counts, more]),
            start=_starts(groups),
            members=np.concatenate(groups),
            homes=_homes(groups, self.table.n_cells),
            labels=(*self.labels, *(one.label for one in unions)),
        )


def figures_to_protect(
    table: Table,
    sets: Sequence[Sequence[str]] | None,
    layouts: Sequence[Layout] | None,
    *,
    out: Sequence[Layout] = (),
    beside: Sequence[Layout] = (),
    unions: bool = False,
) -> Figures:
    """The figures of linked tables, or of the named margins of the table (all of them), where
    `unions` can be followed beside them. What is `out` is known exactly; levels that a layout
    `beside` tells apart are told apart here too.

    Checked: sets or layouts are given, not both, and layouts are of this table.
    """
    if layouts is None and not out:
        counts = checked_counts(table)
        if not unions:
            return figures_of(table, counts, sets)
        axes = all_sets(table) if sets is None else chosen_sets(table, sets)
        margins = [Layout.of_margin(table, table.names_of(own)) for own in axes]
        return linked_figures(margins, coarse=False)
    if layouts is None:
        raise InputError(must_be("out", "given with layouts", "without"))
    if sets is not None:
        raise InputError(must_be("sets", "left out where layouts are given", "both"))
    if any(one.table is not table for one in (*layouts, *out)):
        raise InputError(must_be("layouts", "those of the table", "those of another"))
    return linked_figures(layouts, out, beside)


def linked_figures(
    layouts: Sequence[Layout],
    out: Sequence[Layout] = (),
    beside: Sequence[Layout] = (),
    *,
    coarse: bool = True,
) -> LinkedFigures:
    """The figures of some layouts that are to go out, and of those that are `out`, on the coarsest
    table that has them all and tells apart what layouts `beside` do, or on their own.

    Checked: all are of one table; together they have at most 131,072 figures; the table has persons
    and, made coarse, at most 2**20 cells.
    """
    every = (*layouts, *out)
    own = coarsened([*every, *beside])[: len(every)] if coarse and layouts else every
    if not layouts:
        raise InputError(must_be("layouts", "at least one", "none"))
    number = sum(one.n_figures for one in own)
    if number > MOST_FIGURES:
        rule = f"at most {MOST_FIGURES:,} in all tables"
        raise InputError(must_be("figures", rule, f"{number:,}"))
    table = own[0].table
    counts = checked_counts(table).ravel()
    groups, labels, entries = _different(own)
    return LinkedFigures(
        table=table,
        sets=tuple(one.axes for one in own),
        groups=(),
        homes=_homes(groups, table.n_cells),
        counts=np.array([int(counts[cells].sum()) for cells in groups], dtype=np.int64),
        first=np.zeros(len(own), dtype=np.int64),
        layouts=own,
        start=_starts(groups),
        members=np.concatenate(groups),
        entries=entries,
        labels=labels,
        n_going=len(layouts),
        n_told=len(groups),
    )


def _different(
    layouts: Sequence[Layout],
) -> tuple[list[IntArray], tuple[str, ...], tuple[IntArray, ...]]:
    """The cells and the label of each different figure, and the figure of each entry."""
    found: dict[bytes, int] = {}
    groups: list[IntArray] = []
    labels: list[str] = []
    entries = []
    for one in layouts:
        numbers = np.full(one.n_figures, NONE, dtype=np.int64)
        for entry, cells in enumerate(entry_cells(one)):
            if len(cells):
                numbers[entry] = found.setdefault(cells.tobytes(), len(groups))
                if numbers[entry] == len(groups):
                    groups.append(cells)
                    labels.append(entry_label(one, entry))
        entries.append(read_only(numbers))
    return groups, tuple(labels), tuple(entries)


def entry_cells(layout: Layout) -> Iterator[IntArray]:
    """The cells (C order) of each entry of a layout, ascending."""
    sizes = layout.table.sizes
    strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
    parts = [np.ones(size, dtype=np.bool_) for size in sizes]
    for axis, held in layout.part.items():
        parts[axis] = parts[axis] & held
    own = {one.axis: one for one in layout.variables}
    shape = layout.shape
    order = layout.axes
    for entry in range(layout.n_figures):
        place = dict(zip(order, np.unravel_index(entry, shape), strict=True)) if shape else {}
        numbers = np.zeros(1, dtype=np.int64)
        for axis, held in enumerate(parts):
            levels = held & own[axis].holds[int(place[axis])] if axis in own else held
            numbers = (numbers[:, None] + strides[axis] * np.flatnonzero(levels)).ravel()
        yield numbers


def entry_label(layout: Layout, entry: int) -> str:
    """What to call an entry: its variables with their categories, and the part it is of."""
    place = np.unravel_index(entry, layout.shape) if layout.shape else ()
    pairs = [
        f"{layout.table.names[one.axis]}={one.categories[int(number)]}"
        for one, number in zip(layout.variables, place, strict=True)
    ]
    _, bar, part = layout.title.partition(" | ")
    return (", ".join(pairs) or "total") + (f" | {part}" if bar and layout.part else "")


def layouts_text(layouts: Sequence[Layout]) -> str:
    """Some tables as people write them."""
    return "".join(f"[{one.title}]" for one in layouts)


def _starts(groups: Sequence[IntArray]) -> IntArray:
    return np.concatenate([[0], np.cumsum([len(cells) for cells in groups])]).astype(np.int64)


def _homes(groups: Sequence[IntArray], n_cells: int) -> IntArray:
    """The figures of each cell, a column each, filled up with the number of figures."""
    members = np.concatenate(groups)
    figure = np.repeat(np.arange(len(groups)), [len(cells) for cells in groups])
    order = np.argsort(members, kind="stable")
    number = np.bincount(members, minlength=n_cells)
    first = np.cumsum(number) - number
    rank = np.arange(len(members)) - first[members[order]]
    found = np.full((int(number.max(initial=0)), n_cells), len(groups), dtype=np.int64)
    found[rank, members[order]] = figure[order]
    return found
