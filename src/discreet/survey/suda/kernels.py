"""How minimal sample uniques are found: classes refined key by key, minimality by bit sets.

A set of keys S splits the cells into classes that agree on S; a cell is *alone* on S when its class
has no other cell and the cell holds one record. The few keys that distinguish least, the *low*
ones, are read together as one joint level. The search walks the sets P of the other, *high* keys as
a tree, each set below the one without its lowest key and every subset before its supersets. A node
keeps only the classes of two or more cells (who is alone stays alone on every superset), splits
them by one more key in one pass, and finds in one more pass who is alone on P ∪ X for every set X
of low keys. Exact for any number of levels: no combination is packed, hashed or rounded.

For each set below the size limit one bit a sample unique says whether it is alone on it. S is a
minimal sample unique of a record when its bit is set on S and clear on every S without one key. A
set P on which all are alone is not stored, and none of its supersets is looked at.

The kernels stand in this one file, are compiled when first called, and release the interpreter
lock. They trust their caller: sample uniques come before the other cells, every class is in
ascending order and begins with a sample unique, and scratch arrays are handed back as they came.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.numerics.arrays import IntArray
from discreet.numerics.kernels import kernel

Array = NDArray[Any]
Words = NDArray[np.uint64]

JOINT_LEVELS = 256  # joint levels of the low keys at most: their counts stay in the fastest cache
JOINT_KEYS = 4
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)  # its 64 runs of six bits differ, so they name a bit
BIT_NUMBER = np.empty(64, dtype=np.int64)
BIT_NUMBER[[(int(DE_BRUIJN) << bit) % 2**64 >> 58 for bit in range(64)]] = range(64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How many minimal sample uniques there are, by size (1 … max_size along the first axis).

    `by_unique` counts those of each sample unique, `by_level` those that hold each value (the
    levels of all keys one after the other), `by_unique_and_key` (size × key × sample unique) those
    of each sample unique that hold each key, without sample uniques unless asked for.
    """

    by_unique: NDArray[np.int32]
    by_level: IntArray
    by_unique_and_key: NDArray[np.int32]


def n_key_sets(n_keys: int, max_size: int) -> int:
    """How many sets of 1 to `max_size` keys there are: Σ C(n_keys, k)."""
    return sum(math.comb(n_keys, size) for size in range(1, max_size + 1))


@kernel(inline="always")
def _mark(bits: Words, row: int) -> None:
    """Set the bit of one row."""
    bits[row >> 6] |= np.uint64(1) << np.uint64(row & 63)


@kernel()
def _split(
    rows: Array, start: int, stop: int, column: Array, n_tracked: int, counts: Array, place: Array,
    alone: Words, out_rows: Array, n_rows: int, out_starts: Array,
) -> tuple[int, int]:  # fmt: skip
    """Write the classes of two or more that one class falls into, stably; mark those left alone.

    `counts` and `place` are by level: zeros and -1 before and after. `place` is -2 for a level
    without a sample unique, else where its next cell goes. Returns the number of classes written
    and the end of `out_rows`.
    """
    # First how many cells have each level, then each cell to its place: a level's class is opened
    # by its first cell, which is a sample unique if the class has one, as these come first.
    n_classes = 0
    for i in range(start, stop):
        counts[column[rows[i]]] += 1
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
        counts[level] -= 1  # down to zero again, with the last cell of the level
        place[level] = at if counts[level] > 0 else -1
    return n_classes, n_rows


@kernel()
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
        if stop - start > 2:
            added, n_rows = _split(
                rows, start, stop, column, n_tracked, counts, place, alone, out_rows, n_rows,
                out_starts[n_out:],
            )  # fmt: skip
            n_out += added
            continue
        # Classes of two are the most frequent by far, and need no counting.
        first, last = rows[start], rows[stop - 1]
        if stop - start == 2 and column[first] == column[last]:
            out_starts[n_out] = n_rows
            out_rows[n_rows] = first
            out_rows[n_rows + 1] = last
            n_out += 1
            n_rows += 2
            continue
        _mark(alone, first)
        if last < n_tracked:
            _mark(alone, last)
    out_starts[n_out] = n_rows
    return n_out


@kernel()
def _count_joint(
    rows: Array, start: int, stop: int, joint: Array, counts: Array, met: Array, first: Array
) -> int:
    """Count the cells of one class by joint level; `met` lists the levels, `first` who had each."""
    n_met = 0
    for i in range(start, stop):
        level = joint[rows[i]]
        if counts[level] == 0:
            met[n_met] = level
            first[level] = rows[i]
            n_met += 1
        counts[level] += 1
    return n_met


@kernel()
def _keep_single(
    n_met: int, n_tracked: int, counts: Array, met: Array, first: Array, single: Array
) -> int:
    """List the joint levels that one cell has, if that is a sample unique; how many there are."""
    n_single = 0
    for i in range(n_met):
        level = met[i]
        if counts[level] == 1 and first[level] < n_tracked:
            single[n_single] = level
            n_single += 1
    return n_single


@kernel()
def mark_alone(
    rows: Array, starts: Array, n_classes: int, joint: Array, projections: Array, n_tracked: int,
    scratch: tuple[Array, ...], alone: Words,
) -> None:  # fmt: skip
    """Mark in `alone[x]` who stands alone once low keys X are added, for every X at once.

    `projections[x, level]` is the level of X in a joint level. Only who is alone on the joint
    level can be alone on a part of it, so a class where nobody is costs one pass and no more.
    """
    counts, parts, first, met, single = scratch
    for c in range(n_classes):
        n_met = _count_joint(rows, starts[c], starts[c + 1], joint, counts, met, first)
        n_single = _keep_single(n_met, n_tracked, counts, met, first, single)
        if n_single:
            for x in range(len(projections)):
                part_of = projections[x]
                for i in range(n_met):
                    parts[part_of[met[i]]] += counts[met[i]]
                for i in range(n_single):
                    if parts[part_of[single[i]]] == 1:
                        _mark(alone[x], first[single[i]])
                for i in range(n_met):  # only what was touched: the levels are many
                    parts[part_of[met[i]]] = 0
        for i in range(n_met):
            counts[met[i]] = 0


@kernel()
def _minimal_rows(
    stored: Words, base: int, parents: Array, x: int, without: Array, out: Array
) -> int:
    """List the rows that are alone on P ∪ X and on no P ∪ X without one key; how many there are."""
    n_out = 0
    for word in range(stored.shape[1]):
        bits = stored[base + x, word]
        for parent in parents:
            bits &= ~stored[parent + x, word]
        for smaller in without[x]:
            if smaller >= 0:
                bits &= ~stored[base + smaller, word]
        while bits:  # the lowest bit that is set, by its number in the De Bruijn word, goes first
            rest = bits & (bits - np.uint64(1))
            out[n_out] = 64 * word + BIT_NUMBER[((bits ^ rest) * DE_BRUIJN) >> np.uint64(58)]
            n_out += 1
            bits = rest
    return n_out


@kernel()
def tally(
    stored: Words, base: int, parents: Array, start: int, stop: int, without: Array, keys: Array,
    columns: Array, offsets: Array, out: Array, by_unique: Array, by_level: Array,
    by_unique_and_key: Array,
) -> None:  # fmt: skip
    """Count the minimal sample uniques P ∪ X of every row, for X number `start` to `stop` − 1.

    `stored[base + x]` has the bits of who is alone on P ∪ X, `stored[parent + x]` those without one
    key of P; `keys[x]` lists the keys, padded with -1.
    """
    for x in range(start, stop):
        at = np.sum(keys[x] >= 0) - 1
        rows = out[: _minimal_rows(stored, base, parents, x, without, out)]
        for row in rows:
            by_unique[at, row] += 1
        for key in keys[x]:
            if key >= 0:
                for row in rows:
                    by_level[at, offsets[key] + columns[key, row]] += 1
                if by_unique_and_key.size:
                    for row in rows:
                        by_unique_and_key[at, key, row] += 1


@dataclass(frozen=True, slots=True)
class _LowKeys:
    """The keys read together: keys 0 … n − 1, their sets by size, and their joint level.

    Row x of `sets` has the keys of the x-th set, the empty one first, and row x of `without` the
    positions of that set without one key, both padded with -1; `projections[x]` takes a joint level
    to the level of that set.
    """

    n_keys: int
    sets: IntArray
    without: IntArray
    projections: NDArray[np.int32]
    joint: Array

    @classmethod
    def of(cls, columns: Array, sizes: Sequence[int]) -> "_LowKeys":
        """As many of the first keys as stay within the joint levels and the number allowed."""
        n_low = 1
        while n_low < min(len(sizes), JOINT_KEYS) and math.prod(sizes[: n_low + 1]) <= JOINT_LEVELS:
            n_low += 1
        keys, low_sizes = tuple(range(n_low)), tuple(sizes[:n_low])
        sets = [x for size in range(n_low + 1) for x in combinations(keys, size)]
        position = {x: i for i, x in enumerate(sets)}
        without = [[position[x[:i] + x[i + 1 :]] for i in range(len(x))] for x in sets]
        levels = np.unravel_index(np.arange(math.prod(low_sizes)), low_sizes)
        return cls(
            n_low,
            _padded(sets, n_low),
            _padded(without, n_low),
            np.stack([_mixed_radix(levels, low_sizes, x) for x in sets]),
            _mixed_radix(columns, low_sizes, keys).astype(columns.dtype),
        )

    def n_within(self, size: int) -> int:
        """How many sets of low keys have at most `size` keys, the empty one included."""
        return 1 + n_key_sets(self.n_keys, size)


def _padded(lists: Sequence[Sequence[int]], width: int) -> IntArray:
    """Lists of different lengths as the rows of an array, filled up with -1."""
    return np.array([[*short, *[-1] * (width - len(short))] for short in lists], dtype=np.int64)


def _mixed_radix(
    levels: Sequence[Array] | Array, sizes: Sequence[int], keys: Sequence[int]
) -> NDArray[np.int32]:
    """One number for the levels of some keys, the last of them counting in ones."""
    code = np.zeros(len(levels[0]), dtype=np.int32)
    for key in keys:
        code = code * np.int32(sizes[key]) + levels[key].astype(np.int32)
    return code


class _Walk:
    """One walk over all sets of keys, for the block of sample uniques that stands first.

    `rows` and `starts` hold the classes of the set P at each depth. `stored` has a run of rows for
    each P on which not all are alone, one for each set X of low keys: the bits of who is alone on
    P ∪ X. `base` says where the run of P begins; nobody counts as alone on the empty set.
    """

    def __init__(
        self,
        columns: Array,
        sizes: tuple[int, ...],
        found: Found,
        advance: Callable[[int], None],
    ) -> None:
        self.columns, self.found, self.advance = columns, found, advance
        self.max_size, self.n_tracked = found.by_unique.shape
        self.low = _LowKeys.of(columns, sizes)
        n_keys, n_cells = columns.shape
        self.rows = [np.empty(n_cells, dtype=np.int32) for _ in range(self.max_size)]
        self.starts = [np.empty(n_cells // 2 + 2, dtype=np.int32) for _ in range(self.max_size)]
        self.rows[0][:] = np.arange(n_cells)
        self.starts[0][:2] = 0, n_cells
        widest = max(*sizes, len(self.low.projections[0]))
        self.scratch = tuple(np.zeros(widest, dtype=np.int32) for _ in range(5))
        self.place = np.full(widest, -1, dtype=np.int32)
        self.identity = np.arange(widest, dtype=np.int32).reshape(1, widest)
        self.out = np.empty(self.n_tracked, dtype=np.int32)
        self.offsets = np.cumsum((0, *sizes[:-1]))
        n_words = -(-self.n_tracked // 64)
        self.stored = np.empty((n_stored_sets(n_keys, self.max_size), n_words), dtype=np.uint64)
        self.stored[0] = 0
        self.base: dict[int, int] = {}
        self.n_stored = 0

    def visit(self, keys: tuple[int, ...], mask: int, parents: IntArray, n_classes: int) -> None:
        """Deal with P = `keys` and all sets below it; its classes and own bits are in place."""
        depth, at = len(keys), self.n_stored
        n_sets = self.low.n_within(self.max_size - depth)
        alone = self.stored[at : at + n_sets]
        alone[1:] = alone[0]
        self.mark(depth, n_classes, self.low.joint, self.low.projections[1:n_sets], alone[1:])
        first = 0 if keys else 1
        self.count(keys, parents, first, n_sets)
        self.advance(n_sets - first)
        self.base[mask] = at
        self.n_stored += self.low.n_within(self.max_size - depth - 1)
        for key in range(self.low.n_keys, keys[-1] if keys else len(self.columns)):
            self.extend((*keys, key), mask | 1 << key, n_classes)

    def extend(self, keys: tuple[int, ...], mask: int, n_classes: int) -> None:
        """Add the last of `keys` to its parent, whose classes are in place, and go on below."""
        parents = [self.base.get(mask ^ 1 << key) for key in keys]
        n_left = 0
        if None not in parents:
            self.stored[self.n_stored] = self.stored[parents[-1]]
            n_left = self.split(keys, n_classes)
            if n_left:
                self.visit(keys, mask, np.array(parents), n_left)
                return
            self.count(keys, np.array(parents), 0, 1)
        self.advance(1 + n_key_sets(keys[-1], self.max_size - len(keys)))

    def split(self, keys: tuple[int, ...], n_classes: int) -> int:
        """Split the parent's classes by the last key; the number left, 0 at the size limit."""
        depth, column, alone = len(keys), self.columns[keys[-1]], self.stored[self.n_stored]
        if depth == self.max_size:
            self.mark(depth - 1, n_classes, column, self.identity, alone[np.newaxis])
            return 0
        n_left: int = refine(
            self.rows[depth - 1], self.starts[depth - 1], n_classes, column, self.n_tracked,
            self.scratch[0], self.place, alone, self.rows[depth], self.starts[depth],
        )  # fmt: skip
        return n_left

    def mark(
        self, depth: int, n_classes: int, joint: Array, projections: Array, alone: Words
    ) -> None:
        """Mark who is alone on the set at this depth together with each set of low keys."""
        rows, starts = self.rows[depth], self.starts[depth]
        mark_alone(rows, starts, n_classes, joint, projections, self.n_tracked, self.scratch, alone)

    def count(self, keys: tuple[int, ...], parents: IntArray, first: int, last: int) -> None:
        """Count the minimal sample uniques among the sets P ∪ X just marked."""
        sets = self.low.sets[:last]
        high = np.broadcast_to(np.array(keys, dtype=np.int64), (len(sets), len(keys)))
        tally(
            self.stored, self.n_stored, parents, first, last, self.low.without,
            np.hstack([high, sets]), self.columns, self.offsets, self.out,
            self.found.by_unique, self.found.by_level, self.found.by_unique_and_key,
        )  # fmt: skip


def n_stored_sets(n_keys: int, max_size: int) -> int:
    """Rows of bits a walk needs: the sets below the size limit, the empty one, one run to spare."""
    return n_key_sets(n_keys, max_size - 1) + 1 + (1 << JOINT_KEYS)


def search(
    columns: Array,
    sizes: tuple[int, ...],
    n_uniques: int,
    max_size: int,
    *,
    by_key: bool,
    memory_limit: int,
    progress: Callable[[float], None] | None,
) -> Found:
    """Count all minimal sample uniques of 1 to `max_size` keys.

    `columns` is keys × distinct cells of levels 0 … size − 1, the `n_uniques` cells that hold one
    record first. When the bits of all sets would take more than
    `memory_limit` bytes the sample uniques are dealt with block by block, which takes longer.
    """
    words = max(1, memory_limit // (8 * n_stored_sets(len(sizes), max_size)))
    blocks = list(pairwise([*range(0, n_uniques, 64 * words), n_uniques]))
    n_sets = n_key_sets(len(sizes), max_size)
    advance = _reporter(progress, n_sets * max(len(blocks), 1))
    if not blocks:
        advance(n_sets)
        return _nothing_found(sizes, 0, max_size, by_key)
    walks = []
    for first, last in blocks:
        found = _nothing_found(sizes, last - first, max_size, by_key)
        walk = _Walk(_brought_to_front(columns, first, last), sizes, found, advance)
        walk.visit((), 0, np.empty(0, dtype=np.int64), 1)
        walks.append(found)
    return _joined(walks) if len(walks) > 1 else walks[0]


def _nothing_found(sizes: tuple[int, ...], n_uniques: int, max_size: int, by_key: bool) -> Found:
    """Counters at zero."""
    n_by_key = n_uniques if by_key else 0
    return Found(
        by_unique=np.zeros((max_size, n_uniques), dtype=np.int32),
        by_level=np.zeros((max_size, sum(sizes)), dtype=np.int64),
        by_unique_and_key=np.zeros((max_size, len(sizes), n_by_key), dtype=np.int32),
    )


def _joined(parts: Sequence[Found]) -> Found:
    """What was found in all blocks of sample uniques together."""
    return Found(
        by_unique=np.concatenate([part.by_unique for part in parts], axis=-1),
        by_level=np.sum([part.by_level for part in parts], axis=0),
        by_unique_and_key=np.concatenate([part.by_unique_and_key for part in parts], axis=-1),
    )


def _brought_to_front(columns: Array, first: int, last: int) -> Array:
    """The columns with the cells of one block first, the others in the order they had."""
    if first == 0:
        return columns
    return np.hstack([columns[:, first:last], columns[:, :first], columns[:, last:]])


def _reporter(progress: Callable[[float], None] | None, total: int) -> Callable[[int], None]:
    """A counter of sets done that tells `progress` the share, about two hundred times in all."""
    done = told = 0

    def advance(n_sets: int) -> None:
        nonlocal done, told
        done += n_sets
        if progress is not None and ((done - told) * 200 >= total or done == total):
            told = done
            progress(done / total)

    return advance
