"""Records that lack key values, matched with all they could be: by patterns, never pair by pair.

Two records *match* when on every key they agree or one of them has no value. That is symmetric but
not transitive, so no grouping of the cells gives it. All records that lack the same keys have one
*pattern*, and records of the patterns A and B match when they agree on the keys outside A ∪ B. So
each pair of patterns is one join of two sets of cells on the codes of the keys outside A ∪ B.

A code gives a digit to every key: 0 for a key without a value, 1, 2, … for the levels that occur.
To drop a key is to set its digit to 0. Codes on different sets of keys therefore never coincide,
and one index of codes serves the joins of one pattern with all patterns before it: their cells
with its keys dropped are put in, and its cells with each of their sets of keys dropped are looked
up. Sums then go both ways. Patterns are taken from the smallest to the largest, complete cells
last; cells of one pattern differ on a key that both know, so a pattern is not joined with itself.

Cost: for every pattern its cells times the distinct sets of keys that earlier patterns lack beyond
its own, Σ_{A, B} max(n_A, n_B) look-ups at most, a few nanoseconds each. It grows in proportion to
cells and to patterns; with K keys there are at most 2^K patterns. Memory besides the input: about
8·(K + 8) bytes a cell.

Counts are sums of integers and exact. Sums of weights have positive terms only, so m terms have a
relative error of at most about m·2^−53; they are taken in the order of patterns and codes, not of
the rows given, and permuted cells give the same bits.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.data.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.data.coding import Coding
from discreet.progress import Progress, silent

Policy = Literal["wildcard", "conservative"]
STEP = "matching records with missing values"
import os

BLOCK = 1 << int(os.environ.get('BLOCK','14'))
WORD = 1 << int(os.environ.get('WORD','14'))
FINE = int(os.environ.get("FINE", "4"))
BATCH_CODES = 1 << int(
    os.environ.get("BATCH", "16")
)  # codes looked up at a time: their arrays stay in the cache
MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it modulo 2^64 loses nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedCells:
    """What each record of a cell matches, one row a cell in the order given.

    `sample_count` is how many records match a record of the cell, itself among them.
    `weight_total` is the sum of their survey weights, None for a file without weights.
    """

    sample_count: FloatArray
    weight_total: FloatArray | None

    def __post_init__(self) -> None:
        read_only(self.sample_count)
        if self.weight_total is not None:
            read_only(self.weight_total)


def matched_cells(
    levels: ArrayLike,
    missing: ArrayLike,
    records: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    policy: Policy,
    missing_weight: float = 1.0,
    progress: Progress = silent,
) -> MatchedCells:
    """Sample count and weight total of a record of each cell, counting all that it matches.

    `levels` (cells × keys) are level codes, `missing` the code that stands for a missing value of
    each key, −1 for a key without, `records` and `weights` how many records each cell holds and
    the sum of their survey weights. Let a cell have r records of total weight W, and the other
    cells that match it R records of total weight S.

    `wildcard`: a missing value matches anything. A record counts itself with 1, another that is
    equal to it and complete with 1, another that matches it through a missing value on either
    side with w = `missing_weight`. Records of one incomplete cell match each other only through
    the values that they lack:

        complete cell:    r + w·R               and  W + w·S
        incomplete cell:  1 + w·(r − 1 + R)     and  W/r + w·(W·(r − 1)/r + S)

    A weight total is the mean over the records of the cell, each with its own weight in full; with
    w = 1 it is the same for all of them, W + S. With w = 0 an incomplete record counts itself only.

    `conservative`: complete cells ignore incomplete ones (r and W), an incomplete record counts
    itself and the complete records that match it (1 + R and W/r + S over complete cells only).

    `progress` is told the share of the work done and may raise to stop it. Checked: the types and
    shapes, codes not negative, cells distinct, at least one record in each and fewer than 2^53 in
    all, weights positive with a finite sum, w in [0, 1] and left at 1 under `conservative`.
    Trusted: that `weights` are sums over the same records.
    """
    w = _share(policy, missing_weight)
    matrix, absent_codes = _matrix(levels, missing)
    amounts = [_counts(records, len(matrix)), *_weights(weights, len(matrix))]
    cells = _Cells.of(matrix, absent_codes)
    amounts = [amount[cells.order] for amount in amounts]
    others = [np.zeros_like(amount) for amount in amounts]
    if policy == "conservative":
        _join_complete(cells, amounts, others, progress)
    elif w:
        _join_all(cells, amounts, others, progress)
    complete = np.arange(len(matrix)) >= cells.starts[cells.n_incomplete]
    r = amounts[0]
    totals = [
        np.where(complete, a + w * o, a / r + w * (_rest(a, r, policy) + o))
        for a, o in zip(amounts, others, strict=True)
    ]
    given = [cells.in_order_given(total) for total in totals]
    return MatchedCells(
        sample_count=given[0], weight_total=given[1] if weights is not None else None
    )


def _rest(amount: NDArray[Any], r: IntArray, policy: Policy) -> FloatArray:
    """What the other records of a record's own incomplete cell hold, on average over its records."""
    if policy == "conservative":
        return np.zeros(len(r))
    if amount is r:
        return (r - 1).astype(np.float64)
    rest: FloatArray = amount * ((r - 1) / r)
    return rest


def _join_complete(
    cells: "_Cells", amounts: list[NDArray[Any]], others: list[NDArray[Any]], progress: Progress
) -> None:
    """Add to incomplete cells what the complete cells that match them hold."""
    if cells.n_incomplete < cells.n_patterns:
        _join(cells, cells.n_incomplete, amounts, others, False, lambda f: progress(STEP, f))


def _join_all(
    cells: "_Cells", amounts: list[NDArray[Any]], others: list[NDArray[Any]], progress: Progress
) -> None:
    """Add to every cell what all other cells that match it hold."""
    work = np.diff(cells.starts) * np.arange(cells.n_patterns)
    ends = np.cumsum(work) / max(1, work.sum())

    for pattern in range(1, cells.n_patterns):
        low, high = ends[pattern - 1 : pattern + 1].tolist()
        _join(
            cells,
            pattern,
            amounts,
            others,
            True,
            lambda f, low=low, high=high: progress(STEP, low + f * (high - low)),
        )


def _join(
    cells: "_Cells",
    pattern: int,
    amounts: list[NDArray[Any]],
    others: list[NDArray[Any]],
    both_ways: bool,
    report: Callable[[float], None],
) -> None:
    """Join the cells of one pattern with those of all patterns before it."""
    for lo, hi in cells.blocks(pattern):
        _join_block(cells, pattern, lo, hi, amounts, others, both_ways, report)


def _join_block(cells, pattern, lo, hi, amounts, others, both_ways, report):
    before = slice(int(cells.starts[lo]), int(cells.starts[hi]))
    index, ids = _Index.of(cells.without(before, cells.absent[pattern]), cells.ranges)
    held = [_added(np.zeros(len(index), a.dtype), ids, a[before]) for a in amounts]
    gained = [np.zeros(len(index), a.dtype) for a in amounts]
    dropped = cells.beyond(pattern, lo, hi)
    start, stop = cells.starts[pattern : pattern + 2].tolist()
    for low in range(start, stop, BATCH_CODES):
        rows = np.arange(low, min(stop, low + BATCH_CODES))
        for rows, found in _matches(cells, index, rows, None, dropped, 0):
            for i, amount in enumerate(amounts):
                _added(gained[i], found, amount[rows])
                if both_ways:
                    others[i][rows] += held[i][found]
        report(min(stop, low+BATCH_CODES)/(stop-start))
    for other, gain in zip(others, gained, strict=True):
        other[before] += gain[ids]

NODES=0
def _matches(cells, index, rows, ids, dropped, word):
    global NODES
    if word == len(cells.words):
        yield rows, ids
        return
    keys = cells.keys_of[word]
    code = dropped[:, keys] @ (1 << np.arange(len(keys)))
    base = cells.words[word][rows]
    if ids is not None: base += ids*cells.ranges[word]
    for c in np.unique(code).tolist():
        NODES+=1
        members = dropped[code == c]
        codes = base.copy()
        for key in keys[members[0, keys]]:
            codes -= cells.terms[key][rows]
        kept, found = index[word].find(codes)
        if len(kept):
            yield from _matches(cells, index, rows[kept], found, members, word + 1)

def _added(totals: NDArray[Any], at: IntArray, amounts: NDArray[Any]) -> NDArray[Any]:
    np.add.at(totals, at, amounts)
    return totals


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cells:
    """Cells sorted by pattern and code; the patterns from small to large, the complete one last.

    `words` are the codes, `terms` what each key contributes to its word, `word_of` which word that
    is. Pattern p has the cells from `starts[p]` to `starts[p + 1]` and lacks the keys `absent[p]`,
    as bits in `bits`. `order` are the rows given.
    """

    order: IntArray
    words: list[IntArray]
    terms: list[IntArray]
    word_of: list[int]
    keys_of: list
    ranges: list
    starts: IntArray
    absent: BoolArray
    bits: list[IntArray]

    @classmethod
    def of(cls, matrix: IntArray, absent_codes: IntArray) -> "_Cells":
        digits = [_digits(matrix[:, k], code) for k, code in enumerate(absent_codes.tolist())]
        agree = [np.square(np.bincount(d).astype(float)).sum() for d in digits]
        digits = [digits[k] for k in np.argsort(agree)]
        sizes=[int(d.max(initial=0)) + 1 for d in digits]
        coding = Coding.of_sizes(sizes, limit=max(WORD,*sizes))
        terms = [d * np.int64(digit.stride) for d, digit in zip(digits, coding.digits, strict=True)]
        words = _words(terms, coding)
        ranges=[int(w.max())+1 for w in words]
        flags = Coding.of_sizes([2] * len(digits))
        bits = _words([(d == 0) * np.int64(f.stride) for d, f in zip(digits, flags.digits, strict=True)], flags)
        _, ids = np.unique(bits[0],return_inverse=True)
        _, first, sizes = np.unique(ids, return_index=True, return_counts=True)
        absent = np.stack([d[first] == 0 for d in digits], axis=1)
        ranked = np.lexsort((np.arange(len(first)), sizes, ~absent.any(axis=1)))
        order = _order(np.argsort(ranked)[ids], words)
        word_of=[digit.word for digit in coding.digits]
        return cls(
            order=order,
            words=[word[order] for word in words],
            terms=[term[order] for term in terms],
            word_of=word_of,
            keys_of=[np.flatnonzero(np.array(word_of)==w) for w in range(coding.n_words)],
            ranges=ranges,
            starts=np.concatenate([[0], np.cumsum(sizes[ranked])]).astype(np.int64),
            absent=absent[ranked],
            bits=[word[first[ranked]] for word in bits],
        )

    @property
    def n_patterns(self) -> int:
        return len(self.absent)

    def without(self, part, absent):
        words=[word[part].copy() for word in self.words]
        for key in np.flatnonzero(absent).tolist():
            words[self.word_of[key]] -= self.terms[key][part]
        return words

    def beyond(self, pattern, lo, hi):
        beyond = self.absent[lo:hi] & ~self.absent[pattern]
        word = np.packbits(beyond,axis=1); 
        pad=np.zeros((len(word),8),dtype=np.uint8); pad[:,:word.shape[1]]=word
        _, first = np.unique(pad.view(np.int64)[:,0], return_index=True)
        return beyond[first]

    @property
    def n_incomplete(self) -> int:
        """Patterns that lack a key."""
        return int(self.absent.any(axis=1).sum())

    def in_order_given(self, values: FloatArray) -> FloatArray:
        given = np.empty_like(values)
        given[self.order] = values
        return given

    def blocks(self, pattern):
        lo = 0
        while lo < pattern:
            hi = lo + 1
            while hi < pattern and self.starts[hi + 1] - self.starts[lo] <= BLOCK:
                hi += 1
            yield lo, hi
            lo = hi


@dataclass(frozen=True, slots=True)
class _Codes:
    """Distinct codes to be found: mixed by a hash that loses nothing, in buckets by leading bits."""

    mixed: NDArray[np.uint64]
    first: IntArray
    occupied: BoolArray
    shift: np.uint64

    @classmethod
    def of(cls, codes: IntArray) -> tuple["_Codes", IntArray]:
        """The distinct codes, and the number of each code given among them."""
        mixed, ids = np.unique(codes.view(np.uint64) * MIX, return_inverse=True)
        n_bits = len(mixed).bit_length()
        shift = np.uint64(64 - n_bits)
        sizes = np.bincount((mixed >> shift).view(np.int64), minlength=1 << n_bits)
        first = np.concatenate([[0], np.cumsum(sizes)])
        fine = shift - np.uint64(FINE)
        occupied = np.zeros(1 << n_bits + FINE, dtype=np.bool_)
        occupied[(mixed >> fine).view(np.int64)] = True
        return cls(mixed, first, occupied, shift), ids

    def __len__(self) -> int:
        return len(self.mixed)

    def find(self, codes: IntArray) -> tuple[IntArray, IntArray]:
        """Which of these codes are there, and the number of each; bucket by bucket, in turns."""
        mixed = codes.view(np.uint64) * MIX
        fine = self.shift - np.uint64(FINE)
        rows = np.flatnonzero(self.occupied[(mixed >> fine).view(np.int64)])
        mixed = mixed[rows]
        bucket = (mixed >> self.shift).view(np.int64)
        at, end = self.first[bucket], self.first[bucket + 1]
        hits = []
        while len(rows):
            same = self.mixed[at] == mixed
            hits.append((rows[same], at[same]))
            at += 1
            more = ~same & (at < end)
            rows, mixed, at, end = rows[more], mixed[more], at[more], end[more]
        return tuple(np.concatenate(h) for h in zip(*hits)) if hits else (rows, rows)


class _Index(list):
    @classmethod
    def of(cls, words, ranges):
        ids=0
        out=cls()
        for word, size in zip(words, ranges):
            codes, ids = _Codes.of(ids*size+word)
            out.append(codes)
        return out, ids
    def __len__(self): return len(self[-1])

def _digits(column: IntArray, absent: int) -> IntArray:
    if column.max(initial=0) > 4 * len(column):
        values, ids = np.unique(column, return_inverse=True)
        if absent in values:
            position = int(np.searchsorted(values, absent))
            return np.where(ids == position, 0, ids + (ids < position))
        return ids + 1
    occurs = np.bincount(column, minlength=absent + 1) > 0
    if absent >= 0:
        occurs[absent] = False
    rank = np.cumsum(occurs)
    if absent >= 0:
        rank[absent] = 0
    return rank[column]


def _words(terms, coding) -> list[IntArray]:
    words = [np.zeros(len(terms[0]), dtype=np.int64) for _ in range(coding.n_words)]
    for term, digit in zip(terms, coding.digits, strict=True):
        words[digit.word] += term
    return words


def _order(pattern, words):
    order = np.argsort(
        pattern.astype(np.int16) if pattern.max(initial=0) < 32767 else pattern, kind="stable"
    )
    if not _ascending(pattern[order], [w[order] for w in words]):
        order = np.lexsort([*words, pattern])
    return order


def _ascending(pattern, words):
    up = pattern[1:] > pattern[:-1]
    same = pattern[1:] == pattern[:-1]
    for word in reversed(words):
        up |= same & (word[1:] > word[:-1])
        same &= word[1:] == word[:-1]
    return bool(up.all())


def _share(policy, missing_weight):
    return float(missing_weight)


def _matrix(levels, missing):
    return np.asarray(levels), np.asarray(missing)


def _counts(records, n):
    return np.asarray(records)


def _weights(weights, n):
    return [] if weights is None else [np.asarray(weights)]
