"""Cells that fall together once a key is left out or made coarser, by one sort of packed codes.

A cell is one 64-bit code in all but enormous tables, and a sort of plain integers is several times
as quick as one that keeps the order of rows. So what has to come along, the records of a cell or
its place, is put into the low bits of its code where they are free.
"""

import numpy as np

from discreet.data.coding import Coding, Digit
from discreet.data.summary import SizeIndices
from discreet.engines.contract import Small
from discreet.numerics.arrays import BoolArray, IntArray

AT_HAND = 1 << 15  # rows looked at together: they stay in the cache of the processor
BITS = 63  # of a signed integer that may be used
FEW_CODES = 1 << 12


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
    packed = _packed(words, 1, shared)
    return sum(
        int(np.count_nonzero(_alone(packed[max(first - 1, 0) : first + AT_HAND + 1])[ends]))
        for first in range(0, len(packed), AT_HAND)
        for ends in [slice(1 if first else 0, AT_HAND + 1 if first else AT_HAND)]
    )


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


def small_groups(words: IntArray, records: IntArray, k: int) -> Small:
    """The same of groups of equal rows. Of k = 2 a sort tells, without any sum."""
    if k == 2:
        alone = n_alone(words, records > 1)
        return Small(alone, alone)
    sizes = group_sizes(words, records)
    return Small(int(sizes[sizes < k].sum()), int(np.count_nonzero(sizes == 1)))


def neighbours_without(
    words: IntArray, records: IntArray, coding: Coding, key: int
) -> tuple[IntArray, IntArray, SizeIndices]:
    """What a key keeps apart: the cells that others agree with on every other key, how many records
    those others have, and the sizes of all cells without the key.

    Trusted: the rows of `words` are distinct.
    """
    order, starts = grouped(recoded_words(words, coding, key))
    length = np.diff(starts, append=len(order))
    # A cell that is a group by itself has no neighbour here, and most are.
    joined = length > 1
    cells = order[np.repeat(joined, length)]
    length = length[joined]
    held = records[cells]
    sums = np.add.reduceat(held, np.cumsum(length) - length) if len(cells) else held
    sizes = _sizes_after(SizeIndices.of_counts(records), held, sums)
    return cells, np.repeat(sums, length) - held, sizes


def _sizes_after(before: SizeIndices, gone: IntArray, sums: IntArray) -> SizeIndices:
    """The sizes `before`, without those of cells that are `gone` into groups of these `sums`."""
    sizes = np.concatenate([before.sizes, gone, sums])
    change = np.concatenate([before.cells, np.full(len(gone), -1), np.ones(len(sums), np.int64)])
    found = SizeIndices.of_counts(sizes, change)
    left = found.records > 0
    return SizeIndices(found.sizes[left], found.records[left])


def distinct_rows(words: IntArray, n_codes: int | None = None) -> tuple[IntArray, IntArray]:
    """The distinct rows in order, and the place of each row among them.

    Where rows are one word below `n_codes` and these are few, they are marked rather than sorted.
    """
    if words.shape[1] == 1 and n_codes is not None and n_codes <= max(len(words), FEW_CODES):
        occurs = np.zeros(n_codes, dtype=np.bool_)
        occurs[words[:, 0]] = True
        return np.flatnonzero(occurs)[:, None], (np.cumsum(occurs) - 1)[words[:, 0]]
    if words.shape[1] == 1:
        distinct, place = np.unique(words[:, 0], return_inverse=True)
        return distinct[:, None], place.astype(np.int64)
    order, starts = _ordered(words)
    place = np.empty(len(words), dtype=np.int64)
    place[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(words)))
    return words[order[starts]], place


def places_among(known: IntArray, words: IntArray, *, ordered: bool = False) -> IntArray:
    """At which row of `known`, whose rows are distinct, each row of `words` is; −1 for none.

    `ordered` says that the rows of `known` are in the order of their codes.
    """
    if not len(known):
        return np.full(len(words), -1)
    if known.shape[1] == 1:
        codes = known[:, 0]
        order = None if ordered else np.argsort(codes)
        sought = codes if order is None else codes[order]
        at = np.minimum(np.searchsorted(sought, words[:, 0]), len(codes) - 1)
        found = sought[at] == words[:, 0]
        return np.where(found, at if order is None else order[at], -1)
    n = len(known)
    distinct, place = distinct_rows(np.concatenate([known, words]))
    row = np.full(len(distinct), -1)
    row[place[:n]] = np.arange(n)
    return row[place[n:]]


def in_order(words: IntArray) -> IntArray:
    """The order of the rows by their codes, the first word first."""
    return np.argsort(words[:, 0]) if words.shape[1] == 1 else _ordered(words)[0]
