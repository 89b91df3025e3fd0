"""How minimal sample uniques are found: partitions refined key by key, minimality by bit sets.

A set of keys S splits the cells into classes that agree on S; a cell is *alone* on S when its class
has no other cell and the cell holds one record. The search walks the sets of keys as a tree, each
set below the one without its lowest key, in the numerical order of the bit mask, so that every
subset comes before its supersets. A node keeps only the classes of two or more cells (those alone
stay alone on every superset) and splits them by one more key, which costs one pass over the cells
that are left. Exact for any number of levels: no code is packed, hashed or rounded.

For each set below the size limit one bit a sample unique says whether it is alone on it. A sample
unique has S as a minimal sample unique when its bit is set on S and clear on every S without one
key. A set on which all are alone is not stored, and none of its supersets is looked at.

The kernels stand in this one file, are compiled when first called, and release the interpreter
lock. They trust their caller: sample uniques come before the other cells, every class is in
ascending order and begins with a sample unique, and scratch arrays are handed back as they came.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from discreet.data.arrays import IntArray

Array = NDArray[Any]
Words = NDArray[np.uint64]
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How many minimal sample uniques there are, by size (1 … max_size along the last axis).

    `by_unique` counts those of each sample unique, `by_level` those that hold each value (the
    levels of all keys one after the other), `by_unique_and_key` those of each sample unique that
    hold each key, empty unless asked for.
    """

    by_unique: NDArray[np.int32]
    by_level: IntArray
    by_unique_and_key: NDArray[np.int32]


def n_key_sets(n_keys: int, max_size: int) -> int:
    """How many sets of 1 to `max_size` keys there are: Σ C(n_keys, k)."""
    return sum(math.comb(n_keys, size) for size in range(1, max_size + 1))


@njit(cache=True, nogil=True, inline="always")
def _mark(bits: Words, row: int) -> None:
    """Set the bit of one row."""
    bits[row >> 6] |= np.uint64(1) << np.uint64(row & 63)


@njit(cache=True, nogil=True, inline="always")
def _mark_pair(bits: Words, first: int, second: int, n_tracked: int) -> None:
    """Both cells of a class of two have become alone; the first is always a sample unique."""
    _mark(bits, first)
    if second < n_tracked:
        _mark(bits, second)


@njit(cache=True, nogil=True)
def _count_levels(rows: Array, start: int, stop: int, column: Array, counts: Array) -> int:
    """Add the cells of one class to `counts` by level; how many levels occur exactly once."""
    once = 0
    for i in range(start, stop):
        level = column[rows[i]]
        count = counts[level] + 1
        counts[level] = count
        once += count == 1
        once -= count == 2
    return once


@njit(cache=True, nogil=True)
def _clear_levels(
    rows: Array, start: int, stop: int, column: Array, n_levels: int, counts: Array
) -> None:
    """Set `counts` back to zero by whichever is shorter, the class or the list of levels."""
    if stop - start >= n_levels:
        counts[:n_levels] = 0
        return
    for i in range(start, stop):
        counts[column[rows[i]]] = 0


@njit(cache=True, nogil=True)
def _split(
    rows: Array, start: int, stop: int, column: Array, n_tracked: int, counts: Array, place: Array,
    alone: Words, out_rows: Array, n_rows: int, out_starts: Array,
) -> tuple[int, int]:  # fmt: skip
    """Write the classes of two or more that one class falls into, stably; mark those left alone.

    `counts` holds the cells of each level on entry and zeros on return. `place` is -1 for a level
    not yet met, -2 for one without a sample unique, else where its next cell goes. Returns the
    number of classes written and the end of `out_rows`.
    """
    n_classes = 0
    for i in range(start, stop):
        row = rows[i]
        level = column[row]
        at = place[level]
        if at == -1:
            if counts[level] == 1:
                counts[level] = 0
                if row < n_tracked:
                    _mark(alone, row)
                continue
            at = -2
            if row < n_tracked:
                at = n_rows
                out_starts[n_classes] = at
                n_classes += 1
                n_rows += counts[level]
        if at >= 0:
            out_rows[at] = row
            at += 1
        counts[level] -= 1
        place[level] = at if counts[level] > 0 else -1
    return n_classes, n_rows


@njit(cache=True, nogil=True)
def refine(
    rows: Array, starts: Array, n_classes: int, column: Array, n_tracked: int, counts: Array,
    place: Array, alone: Words, out_rows: Array, out_starts: Array,
) -> int:  # fmt: skip
    """Split every class by one more key; the number of classes of two or more that are left.

    Cells that come to stand alone are marked in `alone`; classes without a sample unique go.
    """
    n_out = 0
    n_rows = 0
    for c in range(n_classes):
        start, stop = starts[c], starts[c + 1]
        if stop - start == 2:
            first, second = rows[start], rows[start + 1]
            if column[first] == column[second]:
                out_starts[n_out] = n_rows
                out_rows[n_rows] = first
                out_rows[n_rows + 1] = second
                n_out += 1
                n_rows += 2
            else:
                _mark_pair(alone, first, second, n_tracked)
            continue
        _count_levels(rows, start, stop, column, counts)
        added, n_rows = _split(
            rows, start, stop, column, n_tracked, counts, place, alone, out_rows, n_rows,
            out_starts[n_out:],
        )  # fmt: skip
        n_out += added
    out_starts[n_out] = n_rows
    return n_out


@njit(cache=True, nogil=True)
def mark_alone(
    rows: Array, starts: Array, n_classes: int, column: Array, n_levels: int, n_tracked: int,
    counts: Array, alone: Words,
) -> None:  # fmt: skip
    """Mark the sample uniques that one more key leaves alone, without writing the classes."""
    for c in range(n_classes):
        start, stop = starts[c], starts[c + 1]
        if stop - start == 2:
            first, second = rows[start], rows[start + 1]
            if column[first] != column[second]:
                _mark_pair(alone, first, second, n_tracked)
            continue
        if _count_levels(rows, start, stop, column, counts) > 0:
            for i in range(start, stop):
                row = rows[i]
                if row < n_tracked and counts[column[row]] == 1:
                    _mark(alone, row)
        _clear_levels(rows, start, stop, column, n_levels, counts)


@njit(cache=True, nogil=True)
def tally(
    alone: Words, stored: Words, subsets: Array, keys: Array, columns: Array, offsets: Array,
    by_unique: Array, by_level: Array, by_unique_and_key: Array,
) -> None:  # fmt: skip
    """Count the rows for which the set of `keys` is a minimal sample unique.

    `alone` are their bits on the set, `stored[subsets]` those on the set without one key.
    """
    last = len(keys) - 1
    for word in range(len(alone)):
        bits = alone[word]
        for subset in subsets:
            bits &= ~stored[subset, word]
        row = word << 6
        while bits:
            if bits & np.uint64(255) == 0:
                bits >>= np.uint64(8)
                row += 8
                continue
            if bits & np.uint64(1):
                by_unique[row, last] += 1
                for key in keys:
                    by_level[offsets[key] + columns[key, row], last] += 1
                    if len(by_unique_and_key):
                        by_unique_and_key[row, key, last] += 1
            bits >>= np.uint64(1)
            row += 1


@dataclass(slots=True)
class _Walk:
    """The state of one walk over all sets of keys, for one block of sample uniques.

    `rows` and `starts` hold the classes at each depth, `stored` the bits of the sets met so far
    (row 0 is the empty set, on which nobody counts as alone) and `place_of` where each set's are.
    """

    columns: Array
    sizes: tuple[int, ...]
    n_tracked: int
    max_size: int
    found: Found
    advance: Callable[[int], None]
    rows: list[Array] = field(init=False)
    starts: list[Array] = field(init=False)
    counts: Array = field(init=False)
    place: Array = field(init=False)
    offsets: Array = field(init=False)
    stored: Words = field(init=False)
    place_of: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        n_keys, n_cells = self.columns.shape
        self.rows = [np.empty(n_cells, dtype=np.int32) for _ in range(self.max_size)]
        self.starts = [np.empty(n_cells // 2 + 2, dtype=np.int32) for _ in range(self.max_size)]
        self.rows[0][:] = np.arange(n_cells)
        self.starts[0][:2] = 0, n_cells
        self.counts = np.zeros(max(self.sizes), dtype=np.int32)
        self.place = np.full(max(self.sizes), -1, dtype=np.int32)
        self.offsets = np.cumsum((0, *self.sizes[:-1]))
        n_words = -(-self.n_tracked // 64)
        self.stored = np.empty((n_key_sets(n_keys, self.max_size - 1) + 2, n_words), np.uint64)
        self.stored[0] = 0
        self.place_of = {0: 0}

    def below(self, keys: tuple[int, ...], mask: int, lowest: int, n_classes: int) -> None:
        """Visit the sets that add keys below `lowest` to `keys`, whose classes are on the stack."""
        for key in range(lowest):
            extended, longer = mask | 1 << key, (*keys, key)
            subsets = [self.place_of.get(extended ^ 1 << other) for other in longer]
            n_left = 0
            if None not in subsets:
                n_left = self.visit(longer, extended, subsets, n_classes)
            deeper = n_key_sets(key, self.max_size - len(longer))
            if n_left and deeper:
                self.advance(1)
                self.below(longer, extended, key, n_left)
            else:
                self.advance(1 + deeper)

    def visit(
        self, keys: tuple[int, ...], mask: int, subsets: list[int | None], n_classes: int
    ) -> int:
        """Find who is alone on one set and tally who is so minimally; the classes that are left."""
        alone = self.stored[len(self.place_of)]
        alone[:] = self.stored[subsets[-1]]
        n_left = self.split(keys, alone, n_classes)
        tally(
            alone, self.stored, np.array(subsets), np.array(keys), self.columns, self.offsets,
            self.found.by_unique, self.found.by_level, self.found.by_unique_and_key,
        )  # fmt: skip
        if n_left and len(keys) < self.max_size:
            self.place_of[mask] = len(self.place_of)
        return n_left

    def split(self, keys: tuple[int, ...], alone: Words, n_classes: int) -> int:
        """Split the classes at the parent by the last key; where none is needed below, only mark.

        The number of classes left, or 1 where they were not written.
        """
        depth, key = len(keys) - 1, keys[-1]
        parent = self.rows[depth], self.starts[depth], n_classes, self.columns[key]
        if depth + 1 == self.max_size or key == 0:
            size = self.sizes[key]
            mark_alone(*parent, size, self.n_tracked, self.counts, alone)
            return 1
        return refine(
            *parent, self.n_tracked, self.counts, self.place, alone,
            self.rows[depth + 1], self.starts[depth + 1],
        )  # fmt: skip


def search(
    columns: Array,
    sizes: tuple[int, ...],
    n_uniques: int,
    max_size: int,
    *,
    by_key: bool,
    memory_limit: int,
    progress: Progress | None,
) -> Found:
    """Count all minimal sample uniques of 1 to `max_size` keys.

    `columns` is keys × distinct cells of levels 0 … size − 1, the `n_uniques` cells that hold one
    record first, at least one of them. When the bits of all sets would take more than
    `memory_limit` bytes the sample uniques are dealt with block by block, which takes longer.
    """
    n_keys = len(sizes)
    found = _nothing_found(n_uniques, n_keys, sum(sizes), max_size, by_key)
    block = _block_size(n_uniques, n_key_sets(n_keys, max_size - 1) + 2, memory_limit)
    n_blocks = -(-n_uniques // block)
    advance = _reporter(progress, n_blocks * n_key_sets(n_keys, max_size))
    for first in range(0, n_uniques, block):
        part = slice(first, min(first + block, n_uniques))
        _search_block(_brought_to_front(columns, part), sizes, part, max_size, found, advance)
    return found


def _search_block(
    columns: Array,
    sizes: tuple[int, ...],
    part: slice,
    max_size: int,
    found: Found,
    advance: Callable[[int], None],
) -> None:
    """Walk all sets of keys for one block of sample uniques, which stand first in `columns`."""
    of_part = Found(
        by_unique=found.by_unique[part],
        by_level=found.by_level,
        by_unique_and_key=found.by_unique_and_key[part],
    )
    walk = _Walk(columns, sizes, part.stop - part.start, max_size, of_part, advance)
    walk.below((), 0, len(sizes), 1)


def _nothing_found(
    n_uniques: int, n_keys: int, n_levels: int, max_size: int, by_key: bool
) -> Found:
    """Counters at zero; those by key are empty unless asked for."""
    return Found(
        by_unique=np.zeros((n_uniques, max_size), dtype=np.int32),
        by_level=np.zeros((n_levels, max_size), dtype=np.int64),
        by_unique_and_key=np.zeros((n_uniques if by_key else 0, n_keys, max_size), dtype=np.int32),
    )


def _block_size(n_uniques: int, n_sets: int, memory_limit: int) -> int:
    """How many sample uniques at a time, whole words of 64, keep the bits within the limit."""
    words = max(1, memory_limit // (8 * n_sets))
    return min(n_uniques, 64 * words)


def _brought_to_front(columns: Array, part: slice) -> Array:
    """The columns with the cells of one block first, the others in the order they had."""
    if part.start == 0:
        return columns
    before, block, after = np.split(columns, [part.start, part.stop], axis=1)
    return np.concatenate([block, before, after], axis=1)


def _reporter(progress: Progress | None, total: int) -> Callable[[int], None]:
    """A counter of sets done that tells `progress` the share, about two hundred times in all."""
    done = told = 0

    def advance(n_sets: int) -> None:
        nonlocal done, told
        done += n_sets
        if progress is not None and ((done - told) * 200 >= total or done == total):
            told = done
            progress(done / total)

    return advance
