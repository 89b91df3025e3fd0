"""A table that attains a bound under decomposable margins, as few cells as the margins have.

Two components that share a separator are laid along one line of records, sorted by separator; where
a cell of the one and a cell of the other overlap, they are the same records. With the pieces of the
cell asked for first on both lines they overlap as much as they can, min(a, b); with one first and
the other last as little as they must, max(0, a + b − s). Along the tree this gives the closed form.
"""

from dataclasses import dataclass

import numpy as np

from discreet.fiber.system.decomposable import Axes, ClosedForm, free_axes
from discreet.numerics.arrays import BoolArray, IntArray, read_only

UPPER = "upper"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseTable:
    """The cells of a table that are not zero: their levels, a row a cell, and their counts."""

    levels: IntArray
    counts: IntArray

    def __post_init__(self) -> None:
        read_only(self.levels)
        read_only(self.counts)

    def count(self, cell: IntArray) -> int:
        """The count of one cell."""
        return int(self.counts[np.all(self.levels == cell, axis=1)].sum())

    def margin(self, axes: Axes, sizes: tuple[int, ...]) -> IntArray:
        """The dense margin over some variables."""
        table = np.zeros(sizes, dtype=np.int64)
        at = np.zeros(len(self.counts), dtype=np.int64)
        for axis, size in zip(axes, sizes, strict=True):
            at = at * size + self.levels[:, axis]
        np.add.at(table.reshape(-1), at, self.counts)
        return table


def attaining_table(closed_form: ClosedForm, cell: IntArray, side: str) -> SparseTable:
    """A table with the given margins in which the cell has its `upper` or `lower` bound."""
    margins, tree = closed_form.margins, closed_form.tree
    cell = np.asarray(cell, dtype=np.int64)
    levels = cell[np.newaxis]
    counts = np.array([margins.total], dtype=np.int64)
    parts = zip(tree.components, tree.separators, strict=True)
    for step, (component, separator) in enumerate(parts):
        right, right_counts = _entries(margins.tables[component])
        known = tuple({a for c in tree.components[:step] for a in c})
        first = _in_order(levels, separator, _is_cell(levels, known, cell), True)
        hit = np.all(right == cell[list(component)], axis=1)
        where = tuple(component.index(axis) for axis in separator)
        second = _in_order(right, where, hit, side == UPPER or step == 0)
        pick, match, counts = _overlaid(counts[first], right_counts[second])
        levels = levels[first[pick]].copy()
        levels[:, list(component)] = right[second[match]]
    free = list(free_axes(margins))
    if free and side != UPPER:
        levels[:, free] = (cell[free] + 1) % np.array(margins.sizes)[free]
    return SparseTable(levels=levels, counts=counts)


def _entries(table: IntArray) -> tuple[IntArray, IntArray]:
    """Levels and counts of the entries that are not zero; a total has no levels."""
    levels = np.argwhere(np.atleast_1d(table)).astype(np.int64)[:, : table.ndim]
    return levels, table.ravel()[np.flatnonzero(table)]


def _is_cell(levels: IntArray, axes: Axes, cell: IntArray) -> BoolArray:
    return np.asarray(np.all(levels[:, list(axes)] == cell[list(axes)], axis=1))


def _in_order(levels: IntArray, separator: Axes, hit: BoolArray, hit_first: bool) -> IntArray:
    """Positions sorted by separator, the cell asked for first or last within its separator."""
    keys = [hit != hit_first, *(levels[:, axis] for axis in reversed(separator))]
    return np.lexsort(keys)


def _overlaid(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Where two lines of pieces of equal length overlap: piece of each, and the length."""
    ends, other = np.cumsum(first), np.cumsum(second)
    breaks = np.union1d(ends, other)
    breaks = breaks[breaks > 0]
    lengths = np.diff(breaks, prepend=0)
    return np.searchsorted(ends, breaks), np.searchsorted(other, breaks), lengths
