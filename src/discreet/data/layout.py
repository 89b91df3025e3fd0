"""What a table counts by, where it need not be the levels of the data: bands, totals, parts.

A layout is the shape of a table that is out or may go out, without its figures. Each of its
variables has *categories*, and a category is a set of levels of the data: a band of ages, a
province with its districts, `Total` for all. Categories may overlap, as totals and subtotals do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from types import MappingProxyType

import numpy as np

from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray, IntArray, read_only

TOTAL = "Total"
MOST_CELLS = 2**26  # of a table whose figures are built


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """A variable of a layout: its place in the table, its categories, and the levels of each.

    `holds` (categories × levels) says which levels of the data a category holds.
    """

    axis: int
    categories: tuple[str, ...]
    holds: BoolArray

    def __post_init__(self) -> None:
        read_only(self.holds)

    @classmethod
    def by_level(cls, table: Table, axis: int) -> "Classified":
        """Every level for itself."""
        size = table.sizes[axis]
        return cls(axis=axis, categories=table.levels[axis], holds=np.eye(size, dtype=np.bool_))

    def with_total(self, name: str = TOTAL) -> "Classified":
        """With a category behind the others that holds all levels that any of them holds."""
        total = self.holds.any(axis=0, keepdims=True)
        return Classified(
            axis=self.axis,
            categories=(*self.categories, name),
            holds=np.concatenate([self.holds, total]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The shape of a table: its variables with their categories, and the part of the data it is
    of (`part`: for some variables the levels that count). `title` is what to call it."""

    table: Table
    variables: tuple[Classified, ...]
    part: Mapping[int, BoolArray] = field(default_factory=lambda: MappingProxyType({}))
    title: str = ""

    @classmethod
    def of_margin(cls, table: Table, names: Sequence[str]) -> "Layout":
        """A plain margin: every level of the variables named."""
        axes = table.axes(names)
        own = tuple(Classified.by_level(table, axis) for axis in axes)
        return cls(table=table, variables=own, title=" ".join(table.names_of(axes)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Categories of each variable."""
        return tuple(len(one.categories) for one in self.variables)

    @property
    def n_figures(self) -> int:
        """Figures of the table."""
        return prod(self.shape)

    @property
    def axes(self) -> tuple[int, ...]:
        """The places of its variables in the table."""
        return tuple(one.axis for one in self.variables)

    def names(self) -> tuple[str, ...]:
        """The names of its variables."""
        return self.table.names_of(self.axes)

    def labels(self) -> list[tuple[str, ...]]:
        """The categories of every figure, in C order."""
        return list(product(*(one.categories for one in self.variables)))

    def counts(self) -> IntArray:
        """Its figures, an axis a variable."""
        if self.n_figures > MOST_CELLS:
            rule = f"of at most {MOST_CELLS:,} figures"
            raise InputError(must_be(f"table [{self.title}]", rule, f"{self.n_figures:,}"))
        kept = np.ones(len(self.table.cells), dtype=np.bool_)
        for axis, levels in self.part.items():
            kept &= levels[self.table.cells[:, axis]]
        own = Table(
            names=self.table.names,
            levels=self.table.levels,
            cells=self.table.cells[kept],
            counts=self.table.counts[kept],
        )
        found = own.margin(self.axes)
        for place, one in enumerate(self.variables):
            summed = np.tensordot(one.holds.astype(np.int64), found, axes=(1, place))
            found = np.moveaxis(summed, 0, place)
        return np.asarray(found)

    def levels_of(self, entry: int) -> list[BoolArray]:
        """The levels of each variable of the table (all of them) that a figure counts."""
        held = [np.ones(size, dtype=np.bool_) for size in self.table.sizes]
        for axis, levels in self.part.items():
            held[axis] = held[axis] & levels
        place = np.unravel_index(entry, self.shape) if self.shape else ()
        for one, category in zip(self.variables, place, strict=True):
            held[one.axis] = held[one.axis] & one.holds[int(category)]
        return held

    def cells_of(self, entry: int) -> IntArray:
        """The cells of the full table (C order) that a figure sums."""
        numbers = np.zeros(1, dtype=np.int64)
        for size, held in zip(self.table.sizes, self.levels_of(entry), strict=True):
            numbers = (numbers[:, None] * size + np.flatnonzero(held)[None, :]).ravel()
        return numbers
