"""The small cells of a table, and the entries of any margin at them.

Whether a release is safe depends on its margins only at the small cells. Entries are summed from
the occupied cells, so the full table is never built.
"""

from collections import OrderedDict
from math import prod

import numpy as np

from discreet.choice.best_set.entry_kernels import sum_entries
from discreet.clock import work
from discreet.data.table import Table
from discreet.numerics.arrays import IntArray, read_only
from discreet.numerics.bit_sets import axes_of

MOST_BYTES = 2**28  # of entries kept to be used again
MARGIN_SECONDS, CELL_SECONDS = 3e-5, 2e-9  # to sum a margin, for each cell and variable
DENSE = 2**20  # cells of a margin whose entries are summed in place


class SmallCells:
    """The occupied cells with a count of at most `small`, by rows of levels, with their counts.

    Trusted: the table's total is below 2**53.
    """

    def __init__(self, table: Table, small: int) -> None:
        self.table = table
        rows = np.flatnonzero(table.counts <= small)
        self.levels = table.cells[rows]
        self.truths = table.counts[rows]
        self.varying = sum(1 << axis for axis, size in enumerate(table.sizes) if size > 1)
        self._rows = rows
        self._columns = np.ascontiguousarray(table.cells.T, dtype=np.int64)
        self._counts = np.ascontiguousarray(table.counts, dtype=np.int64)
        self._sizes = np.array(table.sizes, dtype=np.int64)
        self._totals = np.zeros(min(DENSE, prod(table.sizes)), dtype=np.int64)
        self._places = np.empty(len(table.counts), dtype=np.int64)
        self._kept: OrderedDict[int, IntArray] = OrderedDict()
        self._least: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def entries(self, variables: int) -> IntArray:
        """The count of each small cell's levels of these variables: its entry in their margin."""
        found = self._kept.get(variables)
        if found is None:
            work(MARGIN_SECONDS + CELL_SECONDS * len(self.table.counts) * variables.bit_count())
            found = self._kept[variables] = read_only(self._summed(variables))
            if len(self._kept) * 8 * len(self) > MOST_BYTES and len(self._kept) > 1:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(variables)
        return found

    def least(self, variables: int) -> int:
        """The least entry of a margin at a small cell; the table's total where none is small."""
        if variables not in self._least:
            self._least[variables] = int(self.entries(variables).min(initial=self.table.total))
        return self._least[variables]

    def _summed(self, variables: int) -> IntArray:
        axes = axes_of(variables)
        if prod(self.table.sizes[axis] for axis in axes) <= DENSE:
            tables = (self._columns, np.array(axes, dtype=np.int64), self._sizes, self._counts)
            found: IntArray = sum_entries(*tables, self._rows, self._totals, self._places)
            return found
        place, size = self._ranked(variables)
        totals = np.bincount(place, weights=self.table.counts, minlength=size)
        return totals[place[self._rows]].astype(np.int64)

    def _ranked(self, variables: int) -> tuple[IntArray, int]:
        """A number for each occupied cell, equal where these variables have equal levels."""
        place, size = np.zeros(len(self.table.counts), dtype=np.int64), 1
        for axis in axes_of(variables):
            place = place * self.table.sizes[axis] + self.table.cells[:, axis]
            size *= self.table.sizes[axis]
            if size > DENSE:
                distinct, place = np.unique(place, return_inverse=True)
                size = len(distinct)
        return place, size
