"""Values of a variable among the records that match a cell: sparse, by patterns, in parts.

A record without a key value matches all that it could be (see `discreet.engines.matching`), so the
values that its group holds are those of many cells. For each pair of patterns the cells of one are
joined with the (code, value) rows of the other, added up first. What is found is expanded for some
cells at a time, no more than MOST_ROWS rows at once unless one cell alone has more, so that memory
stays bounded however many cells, values and matches there are. Counts are whole numbers and exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.engines.matching import Index, PatternedCells, Policy
from discreet.numerics.arrays import BoolArray, IntArray

MOST_ROWS = 1 << 21
MOST_CELLS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupValues:
    """The values in the groups of some cells: `records` of the group of `cells[cell]` have `value`.

    Rows ascend by `cell`, then `value`; a cell whose group has no value has no row.
    """

    cells: IntArray
    cell: IntArray
    value: IntArray
    records: IntArray


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of value and records, those of number i from `starts[i]` up to `starts[i + 1]`."""

    starts: IntArray
    value: IntArray
    records: IntArray

    @classmethod
    def added_up(
        cls, number: IntArray, value: IntArray, records: IntArray, n_numbers: int
    ) -> "_Rows":
        """From rows in any order: one row for each number and value that occur."""
        n_values = int(value.max(initial=0)) + 1
        keys = number * n_values + value
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        totals = np.add.reduceat(records[order], first) if len(first) else records[:0]
        numbers = keys[first] // n_values
        starts = np.searchsorted(numbers, np.arange(n_numbers + 1))
        return cls(starts, keys[first] % n_values, totals)

    def lengths(self, numbers: IntArray) -> IntArray:
        """How many rows each of these has."""
        return self.starts[numbers + 1] - self.starts[numbers]

    def places(self, numbers: IntArray) -> tuple[IntArray, IntArray]:
        """Every row of each of these: which of the numbers given, and where the row is."""
        lengths = self.lengths(numbers)
        ends = np.cumsum(lengths)
        shift = np.repeat(self.starts[numbers] - (ends - lengths), lengths)
        which = np.repeat(np.arange(len(numbers)), lengths)
        return which, shift + np.arange(len(which))


def matched_values(
    levels: IntArray,
    missing: IntArray,
    cell: IntArray,
    value: IntArray,
    records: IntArray,
    *,
    policy: Policy,
) -> Iterator[GroupValues]:
    """The values in the group of every cell, each cell in one part.

    `levels` and `missing` are as for `matched_cells`; `records` of `cell` have `value`, rows by
    cell, then by value. `wildcard`: the group is all records that match, each in full.
    `conservative`: that of a complete cell is the cell; that of an incomplete one the complete
    records that match it, or the cell itself if no complete record matches.

    Trusted: the rows are in order, the cells distinct.
    """
    cells = PatternedCells.of(levels, missing)
    given = _Rows(np.searchsorted(cell, np.arange(len(levels) + 1)), value, records)
    for pattern in range(cells.n_patterns):
        yield from _Group(cells, given, pattern, policy).parts()


class _Group:
    """The groups of the cells of one pattern."""

    def __init__(self, cells: PatternedCells, given: _Rows, pattern: int, policy: Policy) -> None:
        self.cells, self.given, self.pattern = cells, given, pattern
        self.own_last = policy == "conservative"
        self.targets = cells.rows_of(slice(pattern, pattern + 1))
        n_incomplete = cells.n_incomplete
        others = range(cells.n_patterns)
        if policy == "conservative":
            others = range(n_incomplete, cells.n_patterns if pattern < n_incomplete else 0)
        self.joins = [
            _Join.of(cells, given, pattern, other) for other in others if other != pattern
        ]

    def parts(self) -> Iterator[GroupValues]:
        """The groups of some cells after the other."""
        for start in range(self.targets.start, self.targets.stop, MOST_CELLS):
            yield from self._parts(slice(start, min(self.targets.stop, start + MOST_CELLS)))

    def _parts(self, part: slice) -> Iterator[GroupValues]:
        here = self.cells.order[part]
        found = [join.find(self.cells, part, self.targets.start) for join in self.joins]
        found.append((self._own(part, found), self.given))
        size = np.zeros(len(here), dtype=np.int64)
        for (cells, numbers), rows in found:
            np.add.at(size, cells, rows.lengths(numbers))
        for low, high in _cuts(size):
            yield _expanded(here, low, high, found)

    def _own(
        self, part: slice, found: list[tuple[tuple[IntArray, IntArray], _Rows]]
    ) -> tuple[IntArray, IntArray]:
        """Cells whose own records are in their group, with the number of their rows."""
        own = np.ones(part.stop - part.start, dtype=np.bool_)
        if self.own_last:
            for (cells, _), _ in found:
                own[cells] = False
        return np.flatnonzero(own), self.cells.order[part][own]


@dataclass(frozen=True, slots=True)
class _Join:
    """The cells of one pattern against the rows of another, by the codes that both know.

    Rows are numbered by code. Where the cells of the pattern are fewer, `numbers` has the code of
    each of them (−1 for none); else `index` finds it, with the keys `dropped` that the other lacks.
    """

    rows: _Rows
    numbers: IntArray | None
    index: Index | None
    dropped: BoolArray

    @classmethod
    def of(cls, cells: PatternedCells, given: _Rows, pattern: int, other: int) -> "_Join":
        """Add up the rows of `other` by code and value."""
        targets = cells.rows_of(slice(pattern, pattern + 1))
        sources = cells.rows_of(slice(other, other + 1))
        dropped = cells.absent[[other]]
        codes = cells.codes(sources, cells.absent[[pattern]])
        if targets.stop - targets.start > sources.stop - sources.start:
            index, ids = Index.of(codes, cells.ranges)
            return cls(_by_code(cells.order[sources], ids, given, len(index)), None, index, dropped)
        index, numbers = Index.of(cells.codes(targets, dropped), cells.ranges)
        at, ids = index.find(codes)
        hit = np.zeros(len(index), dtype=np.bool_)
        hit[ids] = True
        rows = _by_code(cells.order[sources][at], ids, given, len(index))
        return cls(rows, np.where(hit[numbers], numbers, -1), None, dropped)

    def find(
        self, cells: PatternedCells, part: slice, start: int
    ) -> tuple[tuple[IntArray, IntArray], _Rows]:
        """Which of some cells have matches, and the number of the rows of each."""
        if self.index is not None:
            return self.index.find(cells.codes(part, self.dropped)), self.rows
        assert self.numbers is not None
        numbers = self.numbers[part.start - start : part.stop - start]
        found = np.flatnonzero(numbers >= 0)
        return (found, numbers[found]), self.rows


def _by_code(positions: IntArray, codes: IntArray, given: _Rows, n_codes: int) -> _Rows:
    """The rows of the cells at these positions, added up by their codes."""
    which, places = given.places(positions)
    return _Rows.added_up(codes[which], given.value[places], given.records[places], n_codes)


def _cuts(size: IntArray) -> Iterator[tuple[int, int]]:
    """Stretches of cells that have at most MOST_ROWS rows together, or are a single one."""
    ends = np.cumsum(size)
    low = 0
    while low < len(size):
        before = int(ends[low - 1]) if low else 0
        high = max(int(np.searchsorted(ends, before + MOST_ROWS, side="right")), low + 1)
        yield low, high
        low = high


def _expanded(
    cells: IntArray,
    low: int,
    high: int,
    found: list[tuple[tuple[IntArray, IntArray], _Rows]],
) -> GroupValues:
    """The rows of the cells from `low` up to `high`, from all that was found."""
    parts: list[tuple[IntArray, IntArray, IntArray]] = []
    for (here, numbers), rows in found:
        inside = (here >= low) & (here < high)
        which, places = rows.places(numbers[inside])
        parts.append((here[inside][which] - low, rows.value[places], rows.records[places]))
    cell, value, records = (np.concatenate(column) for column in zip(*parts, strict=True))
    added = _Rows.added_up(cell, value, records, high - low)
    number = np.repeat(np.arange(high - low), np.diff(added.starts))
    return GroupValues(cells=cells[low:high], cell=number, value=added.value, records=added.records)
