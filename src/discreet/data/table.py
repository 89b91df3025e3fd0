"""A contingency table: counts by several variables, held by its occupied cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from math import prod
from typing import Any

import numpy as np

from discreet.errors import ColumnError, InputError, must_be
from discreet.numerics.arrays import IntArray, read_only

DENSE_LIMIT = 1 << 26  # cells of a table or margin that is built in full


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Counts by variables, one row for each cell that is not empty.

    `levels` names the levels of each variable, `cells` (rows × variables) gives the level of each
    variable in each occupied cell, `counts` its count, at least 1. The full table may have more
    cells than any memory holds. `types` are the Arrow types of the variables where their source has
    types, so that levels in a frame are again what they were. `empty` has the rows of 0 that a file
    lists for levels without anybody: they say where such a level lies. `notes` say what was left
    out when it was read, `doubts` why its counts may be no counts of persons.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    cells: IntArray
    counts: IntArray
    types: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    empty: IntArray | None = field(default=None, compare=False, repr=False)
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        read_only(self.cells)
        read_only(self.counts)

    @classmethod
    def of_dense(
        cls,
        counts: IntArray,
        names: Sequence[str] | None = None,
        levels: Sequence[Sequence[str]] | None = None,
    ) -> "Table":
        """From an array of counts; levels are numbered from 1 unless named."""
        if counts.size and counts.min() < 0:
            raise InputError(must_be("counts", "at least 0", "a negative number"))
        cells = np.argwhere(counts > 0)
        given = levels or [[str(i + 1) for i in range(size)] for size in counts.shape]
        return cls(
            names=tuple(names or (f"v{i + 1}" for i in range(counts.ndim))),
            levels=tuple(tuple(column) for column in given),
            cells=cells,
            counts=counts[counts > 0].astype(np.int64),
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Levels of each variable."""
        return tuple(len(column) for column in self.levels)

    @property
    def n_cells(self) -> int:
        """Cells of the full table, empty ones included."""
        return prod(self.sizes)

    @property
    def total(self) -> int:
        """Sum of all counts."""
        return int(self.counts.sum())

    def dense(self) -> IntArray:
        """The full table as an array, one axis a variable.

        Raises InputError for a table of more than 2**26 cells.
        """
        return self.margin(range(len(self.names)))

    def margin(self, axes: Sequence[int]) -> IntArray:
        """Counts by some of the variables, as an array with an axis for each, in that order."""
        shape = tuple(self.sizes[axis] for axis in axes)
        size = prod(shape)
        if size > DENSE_LIMIT:
            listed = ", ".join(self.names[axis] for axis in axes)
            rule = f"of at most {DENSE_LIMIT:,} cells"
            raise InputError(must_be(f"margin [{listed}]", rule, f"{size:,}"))
        if not axes:
            return np.array(self.total, dtype=np.int64)
        place = np.ravel_multi_index([self.cells[:, axis] for axis in axes], shape)
        counts = np.zeros(size, dtype=np.int64)
        np.add.at(counts, place, self.counts)
        return counts.reshape(shape)

    def over(self, axes: Sequence[int]) -> "Table":
        """The table of some of its variables, in that order, by its occupied cells."""
        cells, place = np.unique(self.cells[:, list(axes)], axis=0, return_inverse=True)
        counts = np.zeros(len(cells), dtype=np.int64)
        np.add.at(counts, np.ravel(place), self.counts)
        return replace(
            self,
            names=tuple(self.names[axis] for axis in axes),
            levels=tuple(self.levels[axis] for axis in axes),
            cells=cells,
            counts=counts,
            empty=None if self.empty is None else np.unique(self.empty[:, list(axes)], axis=0),
        )

    def small_cells(self, most: int) -> IntArray:
        """Levels (rows × variables) of the occupied cells with a count of at most `most`."""
        return self.cells[self.counts <= most]

    def axes(self, names: Sequence[str]) -> tuple[int, ...]:
        """Positions of the named variables, in the table's order; each must exist and come once."""
        for name in names:
            if name not in self.names:
                near = get_close_matches(name, self.names, n=1)
                remedy = f"did you mean {near[0]!r}?" if near else None
                parts = [part.strip() for part in name.split(",")]
                if len(parts) > 1 and set(parts) <= set(self.names):
                    remedy = f"give {parts!r}"
                raise ColumnError(
                    must_be("variables named", "those of the table", repr(name), remedy=remedy)
                )
            if list(names).count(name) > 1:
                raise ColumnError(must_be("variables named", "different", f"{name!r} twice"))
        return tuple(sorted(self.names.index(name) for name in names))

    def names_of(self, axes: Sequence[int]) -> tuple[str, ...]:
        """The names of the variables at these positions."""
        return tuple(self.names[axis] for axis in axes)

    def labels(self, cell: Sequence[int]) -> dict[str, str]:
        """A cell by the names of its variables and levels."""
        places = zip(self.names, self.levels, cell, strict=True)
        return {name: column[int(level)] for name, column, level in places}

    def cell(self, labels: Mapping[str, str]) -> tuple[int, ...]:
        """The levels of a cell given by labels, one for every variable."""
        self.axes(list(labels))
        absent = [name for name in self.names if name not in labels]
        if absent:
            rule = "named with a level for every variable"
            raise InputError(must_be("cell", rule, f"none for {absent[0]!r}"))
        return tuple(self.level(name, labels[name]) for name in self.names)

    def level(self, name: str, label: str) -> int:
        """The position of a level of a variable."""
        column = self.levels[self.names.index(name)]
        if label not in column:
            near = get_close_matches(label, column, n=1)
            remedy = f"did you mean {near[0]!r}?" if near else None
            raise InputError(
                must_be(name, "one of its levels in the table", repr(label), remedy=remedy)
            )
        return column.index(label)
