"""Cells that fall together once a key is left out or made coarser, by one sort of packed codes.

A cell is one 64-bit code in all but enormous tables, and a sort of plain integers is several times
as quick as one that keeps the order of rows. So what has to come along, the records of a cell or
its place, is put into the low bits of its code where they are free.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from discreet.data.coding import Coding, Digit
from discreet.data.summary import SizeIndices
from discreet.numerics.arrays import BoolArray, IntArray

BITS = 63  # of a signed integer that may be used


def recoded_words(
    words: IntArray, coding: Coding, key: int, to: IntArray | None = None
) -> IntArray:
    """The codes with level i of one key turned into level to[i]; by default all into level 0.

    Trusted: no level in `to` is beyond those of the key, so that codes stay apart.
    """
    digit = coding.digits[key]
    word = _without(words[:, digit.word], digit)
    if to is not None:
        word += (to * digit.stride)[coding.level(words, key)]
    if words.shape[1] == 1:
        return word[:, None]
    recoded = words.copy()
    recoded[:, digit.word] = word
    return recoded


def _without(
    word: IntArray, digit: Digit, room: tuple[IntArray, IntArray] | None = None
) -> IntArray:
    """The word with one of its digits 0: what stands above the digit, and what below it; in `room`
    of two arrays, the first of which is returned, where that is given."""
    above, below = room or (None, None)
    above = np.floor_divide(word, digit.stride * digit.size, out=above)
    above *= digit.stride * digit.size
    if digit.stride > 1:
        below = np.floor_divide(word, digit.stride, out=below)
        below *= -digit.stride
        below += word
        above += below
    return above


def group_sizes(words: IntArray, records: IntArray) -> IntArray:
    """The records of each group of equal rows, the groups in the order of their codes."""
    shift = int(records.max(initial=0)).bit_length()
    if not _has_room(words, shift):
        order, starts = _ordered(words)
        return np.add.reduceat(records[order], starts)
    packed = _packed(words, shift, records)
    return np.add.reduceat(packed & ((1 << shift) - 1), _starts(packed, shift))


def alone_after(words: IntArray, shared: BoolArray) -> tuple[IntArray, BoolArray]:
    """The distinct rows, and which of them have several records: those of `shared` rows, and those
    of several rows."""
    if not _has_room(words, 1):
        order, starts = _ordered(words)
        several = np.logical_or.reduceat(shared[order], starts)
        return words[order[starts]], several | (np.diff(starts, append=len(words)) > 1)
    packed = _packed(words, 1, shared)
    alone = _alone(packed)
    first = _starts(packed, 1)
    return packed[first, None] >> 1, ~alone[first]


def n_alone(words: IntArray, shared: BoolArray) -> int:
    """Rows that no other equals and that are not `shared` by several records already."""
    if not _has_room(words, 1):
        return int(np.count_nonzero(~alone_after(words, shared)[1]))
    return int(np.count_nonzero(_alone(_packed(words, 1, shared))))


def n_alone_without(
    words: IntArray, shared: BoolArray, coding: Coding, keys: Iterable[int]
) -> Iterator[int]:
    """The same, without each of the keys in turn.

    All of them share their room: fresh memory takes as long as a good part of the sort.
    """
    if not _has_room(words, 1):
        yield from (n_alone(recoded_words(words, coding, key), shared) for key in keys)
        return
    room = np.empty(len(words), np.int64), np.empty(len(words), np.int64)
    for key in keys:
        packed = _without(words[:, 0], coding.digits[key], room)
        packed <<= 1
        packed |= shared
        packed.sort()
        yield int(np.count_nonzero(_alone(packed)))


def _alone(packed: IntArray) -> BoolArray:
    """Which of the ordered codes, with a last bit for several records, stand alone."""
    alone: BoolArray = (packed & 1) == 0
    differs = (packed[1:] ^ packed[:-1]) > 1
    alone[1:] &= differs
    alone[:-1] &= differs
    return alone


def grouped(words: IntArray) -> tuple[IntArray, IntArray]:
    """The order of the rows by their codes, and where each run of equal rows begins in it."""
    shift = len(words).bit_length()
    if not _has_room(words, shift):
        return _ordered(words)
    packed = _packed(words, shift, np.arange(len(words)))
    return packed & ((1 << shift) - 1), _starts(packed, shift)


def _has_room(words: IntArray, shift: int) -> bool:
    """Whether rows are one word with so many bits to spare."""
    return words.shape[1] == 1 and int(words.max(initial=0)).bit_length() + shift <= BITS


def _packed(words: IntArray, shift: int, low: IntArray | BoolArray) -> IntArray:
    packed: IntArray = words[:, 0] << shift
    packed |= low
    packed.sort()
    return packed


def _starts(packed: IntArray, shift: int) -> IntArray:
    """Where each run of equal codes begins."""
    fresh: BoolArray = np.ones(len(packed), dtype=np.bool_)
    np.greater_equal(packed[1:] ^ packed[:-1], 1 << shift, out=fresh[1:])
    return np.flatnonzero(fresh)


def _ordered(words: IntArray) -> tuple[IntArray, IntArray]:
    """The order of rows of several words, and where each run of equal rows begins in it."""
    order = np.lexsort(words.T[::-1])
    ordered = words[order]
    fresh: BoolArray = np.ones(len(words), dtype=np.bool_)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, np.flatnonzero(fresh)


@dataclass(frozen=True, slots=True)
class Small:
    """Records in cells of fewer than k records, and those that are alone in theirs."""

    below: int
    uniques: int


def small_groups(words: IntArray, records: IntArray, k: int) -> Small:
    """The same of groups of equal rows. Of k = 2 a sort tells, without any sum."""
    if k == 2:
        alone = n_alone(words, records > 1)
        return Small(alone, alone)
    sizes = group_sizes(words, records)
    return Small(int(sizes[sizes < k].sum()), int(np.count_nonzero(sizes == 1)))


class KeysLeftOut:
    """The cells without each key in turn; what was counted once is kept.

    The number of near neighbours of each cell, how many uniques a key makes and what leaving it out
    would help all come from the same groups of cells, those that agree on every other key.
    Trusted: the rows of `words` are distinct.
    """

    def __init__(self, words: IntArray, records: IntArray, coding: Coding) -> None:
        self.words, self.records, self.coding = words, records, coding
        self._sizes: dict[int, SizeIndices] = {}
        self._small: dict[tuple[int, int], Small] = {}

    def small(self, key: int, k: int = 2) -> Small:
        """Records in cells of fewer than k records without the key at this place."""
        if key in self._sizes:
            sizes = self._sizes[key]
            return Small(sizes.records_below(k), sizes.sample_uniques)
        if (key, k) not in self._small:
            reduced = recoded_words(self.words, self.coding, key)
            self._small[key, k] = small_groups(reduced, self.records, k)
        return self._small[key, k]

    def neighbours(self) -> IntArray:
        """How many records differ from each cell in exactly one key."""
        found = np.zeros(len(self.records), dtype=np.int64)
        alone = SizeIndices.of_counts(self.records)
        for key in range(len(self.coding.digits)):
            order, starts = grouped(recoded_words(self.words, self.coding, key))
            length = np.diff(starts, append=len(order))
            # A cell that is a group by itself has no neighbour here, and most are.
            joined = length > 1
            cells = order[np.repeat(joined, length)]
            length = length[joined]
            held = self.records[cells]
            sums = np.add.reduceat(held, np.cumsum(length) - length) if len(cells) else held
            found[cells] += np.repeat(sums, length) - held
            self._sizes[key] = _sizes_after(alone, held, sums)
        return found


def _sizes_after(before: SizeIndices, gone: IntArray, sums: IntArray) -> SizeIndices:
    """The sizes `before`, without those of cells that are `gone` into groups of these `sums`."""
    sizes = np.concatenate([before.sizes, gone, sums])
    change = np.concatenate([before.cells, np.full(len(gone), -1), np.ones(len(sums), np.int64)])
    found = SizeIndices.of_counts(sizes, change)
    left = found.records > 0
    return SizeIndices(found.sizes[left], found.records[left])
