"""Records that lack key values, matched with all they could be: by patterns, never pair by pair.

Two records *match* when on every key they agree or one of them has no value. That is symmetric but
not transitive, so no grouping of the cells gives it. All records that lack the same keys have one
*pattern*, and records of the patterns A and B match when they agree on the keys outside A ∪ B. So
each pair of patterns is one join of two sets of cells on the codes of the keys outside A ∪ B.

A code has a digit for every key: 0 for a key without a value, 1, 2, … for the levels that occur. To
drop a key is to set its digit to 0, so codes on different sets of keys never coincide, and one
index of codes serves the joins of one pattern with many others: their cells with its keys dropped
are put in, and its cells with each of their sets of keys dropped are looked up. What is found adds
up both ways. Patterns are taken from the smallest to the largest, complete cells last, each with
all before it. Two cells of one pattern differ on a key that both know and do not match.

Cost: for each pattern, its cells times the distinct sets of keys that the patterns before it lack
beyond its own; at most Σ max(n_A, n_B) look-ups over the pairs of patterns. It grows with cells
times patterns, of which there are at most 2^K for K keys. Memory besides the input: about 8·K + 90
bytes a cell.

Counts are sums of whole numbers and exact. Sums of weights have positive terms only, so a sum of m
cells has a relative error of at most about m·2^−53. They are taken in the order of patterns and
codes, not of the rows given: cells in another order get the same bits.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.data.coding import WORD_LIMIT, Coding
from discreet.errors import InputError, WeightError, must_be
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.numerics.rounding import EPSILON
from discreet.progress import Progress, silent

Policy = Literal["wildcard", "conservative"]
STEP = "matching records with missing values"
MAX_CELLS = 2**31  # so that the number of a code and a word of a longer code fit in one word
MAX_RECORDS = 2**53  # up to here floats hold whole numbers exactly
BATCH_CODES = 2**16  # codes looked up at a time: they stay in the cache
BLOCK_CELLS = 2**14  # cells of small patterns that share an index, which stays in the cache too
FILTER_BITS = 20
MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it modulo 2^64 loses nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedCells:
    """What a record of each cell matches, one row a cell in the order given.

    `sample_count` is the number of records that it matches, itself among them, `weight_total` the
    sum of their survey weights, None for a file without weights. Both are whole records and weights
    or parts of them, as the weight of a match says.
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
    """Sample count and weight total of a record of each cell, from all the records that it matches.

    `levels` (cells × keys) are level codes, `missing` has the code that stands for a missing value
    of each key, −1 for a key without one, `records` and `weights` are the records of each cell and
    the sum of their survey weights. Let a cell hold r records of total weight W, and the other
    cells that match it R records of total weight S.

    `wildcard`: a missing value matches anything. A record counts itself with 1, another that is
    equal and complete like itself with 1, another that it matches through a missing value on either
    side with w = `missing_weight`. Records of one incomplete cell match each other through what
    they lack. So

        complete cell:    r + w·R                and  W + w·S
        incomplete cell:  1 + w·(r − 1 + R)      and  W/r + w·(W − W/r + S)

    where the weight total is the mean over the r records, each counting its own weight in full:
    Σ_i (w_i + w·(W − w_i + S)) / r. With w = 1 it is W + S for each of them; with w = 0 an
    incomplete record counts itself only.

    `conservative`: complete records ignore incomplete ones (r and W); an incomplete record counts
    itself and the complete records that match it (1 + R and W/r + S over complete cells).

    `progress` is told the share of the work done and may raise to stop it. Checked: types and
    shapes, codes not negative, cells distinct, at least one record in each and fewer than 2^53 in
    all, weights positive with a finite sum, w in [0, 1] and 1 for `conservative`, which has no use
    for it. Trusted: that the weights are sums over the same records.
    """
    w = _match_weight(policy, missing_weight)
    matrix, absent_level = _matrix(levels, missing)
    amounts = [_counts(records, len(matrix)), *_weights(weights, len(matrix))]
    cells = PatternedCells.of(matrix, absent_level)
    progress(STEP, 0.0)
    exchange = _Exchange.of(cells, amounts, both_ways=policy == "wildcard", progress=progress)
    if w > 0:
        exchange.run()
    progress(STEP, 1.0)
    totals = [cells.in_order_given(total) for total in exchange.totals(w)]
    count = _whole_but_for_rounding(totals[0])
    return MatchedCells(sample_count=count, weight_total=totals[1] if totals[1:] else None)


def _whole_but_for_rounding(count: FloatArray) -> FloatArray:
    """The counts, made whole where a product such as 0.29 · 100 is so but for its rounding.

    Else such a count would fall short of the k of k-anonymity that it reaches.
    """
    whole = np.rint(count)
    return np.where(np.abs(count - whole) <= 4 * EPSILON * count, whole, count)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exchange:
    """What cells hold (`amounts`: records, weights if any) and what others give them (`others`).

    `others` is nought until `run` fills it. `both_ways` joins every pattern with every other, each
    giving to the other; else complete cells give to incomplete ones and that is all.
    """

    cells: "PatternedCells"
    amounts: list[NDArray[Any]]
    others: list[NDArray[Any]]
    both_ways: bool
    progress: Progress

    @classmethod
    def of(
        cls,
        cells: "PatternedCells",
        amounts: list[NDArray[Any]],
        *,
        both_ways: bool,
        progress: Progress,
    ) -> "_Exchange":
        """Nothing given yet; amounts in the order of the cells."""
        return cls(
            cells=cells,
            amounts=[amount[cells.order] for amount in amounts],
            others=[np.zeros_like(amount) for amount in amounts],
            both_ways=both_ways,
            progress=progress,
        )

    def run(self) -> None:
        """Join every pattern with all before it, or the complete one only."""
        first = 0 if self.both_ways else self.cells.n_incomplete
        patterns = range(first, self.cells.n_patterns)
        work = np.diff(self.cells.starts)[first:] * (np.arange(len(patterns)) + first)
        ends = np.cumsum(work, dtype=np.float64)
        for pattern, end, part in zip(patterns, ends.tolist(), work.tolist(), strict=True):
            for block, low, high in self.cells.blocks_before(pattern):
                span = [(end - part * (1 - share)) / ends[-1] for share in (low, high)]
                self._join(pattern, block, _part_of(self.progress, *span))

    def _join(self, pattern: int, block: slice, report: Callable[[float], None]) -> None:
        """Join the cells of one pattern with those of a block of patterns before it."""
        cells = self.cells
        before = cells.rows_of(block)
        index, ids = Index.of(cells.codes(before, cells.absent[[pattern]]), cells.ranges)
        held = [_added(np.zeros(len(index), a.dtype), ids, a[before]) for a in self.amounts]
        given = [np.zeros_like(h) for h in held]
        for part, dropped, share in cells.batches(pattern, block):
            rows, found = index.find(cells.codes(part, dropped))
            rows %= part.stop - part.start
            for i, amount in enumerate(self.amounts):
                _added(given[i], found, amount[part][rows])
                if self.both_ways:
                    _added(self.others[i][part], rows, held[i][found])
            report(share)
        for other, gift in zip(self.others, given, strict=True):
            other[before] += gift[ids]

    def totals(self, w: float) -> list[FloatArray]:
        """Sample counts, and weight totals if there are weights, in the order of the cells."""
        r, n = self.amounts[0], len(self.cells.order)
        complete = np.arange(n) >= self.cells.starts[self.cells.n_incomplete]
        pairs = zip(self.amounts, self.others, strict=True)
        return [np.where(complete, a + w * o, self._incomplete(a, o, r, w)) for a, o in pairs]

    def _incomplete(
        self, amount: NDArray[Any], other: NDArray[Any], r: IntArray, w: float
    ) -> FloatArray:
        """What a record of an incomplete cell counts; with w = 1 without a detour by its own."""
        total: FloatArray
        if not self.both_ways:
            total = amount / r + other
        elif w == 1:
            total = amount + other
        else:
            total = amount / r + w * (amount - amount / r + other)
        return total


def _part_of(progress: Progress, low: float, high: float) -> Callable[[float], None]:
    """Reports the share of a part of the work, from `low` to `high` of the whole."""
    return lambda share: progress(STEP, min(1.0, low + share * (high - low)))


def _added(totals: NDArray[Any], at: IntArray, amounts: NDArray[Any]) -> NDArray[Any]:
    """The totals, with each amount added where it belongs, one after the other."""
    np.add.at(totals, at, amounts)
    return totals


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternedCells:
    """Cells by pattern and code; the patterns from small to large, the complete one last.

    The code of a cell is `words`, with `ranges` of values, and `terms[k]` is the part of key k in
    word `word_of[k]`, 0 where it is missing. Pattern p has the cells from `starts[p]` up to
    `starts[p + 1]` and lacks the keys `absent[p]`. `order` are the rows given.
    """

    order: IntArray
    words: list[IntArray]
    ranges: list[int]
    terms: list[IntArray]
    word_of: list[int]
    starts: IntArray
    absent: BoolArray

    @classmethod
    def of(cls, matrix: IntArray, absent_level: IntArray) -> "PatternedCells":
        """Code the cells and sort them; raises InputError if two are equal."""
        digits = [_digits(matrix[:, k], level) for k, level in enumerate(absent_level.tolist())]
        coding = _coding([int(digit.max(initial=0)) + 1 for digit in digits])
        words = _words(digits, coding)
        absent, sizes, pattern = _patterns(np.stack([digit == 0 for digit in digits], axis=1))
        order = _sorted_order(pattern, words)
        return cls(
            order=order,
            words=[word[order] for word in words],
            ranges=_ranges(coding),
            terms=[
                d[order] * np.int64(p.stride) for d, p in zip(digits, coding.digits, strict=True)
            ],
            word_of=[place.word for place in coding.digits],
            starts=_cumulated(sizes),
            absent=absent,
        )

    @property
    def n_patterns(self) -> int:
        """Patterns that occur."""
        return len(self.absent)

    @property
    def n_incomplete(self) -> int:
        """Patterns that lack a key."""
        return int(self.absent.any(axis=1).sum())

    def rows_of(self, patterns: slice) -> slice:
        """Where the cells of these patterns are."""
        return slice(int(self.starts[patterns.start]), int(self.starts[patterns.stop]))

    def in_order_given(self, values: FloatArray) -> FloatArray:
        """Values of the cells, as the rows were given."""
        given = np.empty_like(values)
        given[self.order] = values
        return given

    def codes(self, part: slice, dropped: BoolArray) -> list[IntArray]:
        """Codes of some cells without the keys of the first row of `dropped`, of the second, …"""
        shape = (len(dropped), part.stop - part.start)
        codes = [np.broadcast_to(word[part], shape).copy() for word in self.words]
        for key in np.flatnonzero(dropped.any(axis=0)).tolist():
            word, term, rows = codes[self.word_of[key]], self.terms[key][part], dropped[:, key]
            if rows.all():
                word -= term
            else:
                word[rows] -= term
        return [word.ravel() for word in codes]

    def blocks_before(self, pattern: int) -> Iterator[tuple[slice, float, float]]:
        """Patterns before this one, small ones together; where in the work they begin and end."""
        start = 0
        while start < pattern:
            limit = self.starts[start] + BLOCK_CELLS
            stop = int(np.searchsorted(self.starts, limit, side="right")) - 1
            stop = min(max(stop, start + 1), pattern)
            yield slice(start, stop), start / pattern, stop / pattern
            start = stop

    def batches(self, pattern: int, block: slice) -> Iterator[tuple[slice, BoolArray, float]]:
        """Some cells of a pattern with some sets of keys that a block of others lacks beyond it.

        And the share of the work done with them.
        """
        beyond = self.absent[block] & ~self.absent[pattern]
        dropped = beyond[np.unique(_numbers(beyond), return_index=True)[1]]
        whole = self.rows_of(slice(pattern, pattern + 1))
        for start in range(whole.start, whole.stop, BATCH_CODES):
            part = slice(start, min(whole.stop, start + BATCH_CODES))
            n_sets = BATCH_CODES // (part.stop - start)
            for i in range(0, len(dropped), n_sets):
                sets = dropped[i : i + n_sets]
                done = start - whole.start + (part.stop - start) * (i + len(sets)) / len(dropped)
                yield part, sets, done / (whole.stop - whole.start)


def _digits(column: IntArray, absent_level: int) -> NDArray[np.int32]:
    """0 for a missing value, 1, 2, … for the levels that occur, ascending."""
    if int(column.max(initial=0)) <= 4 * len(column):
        values, position = np.arange(int(column.max(initial=0)) + 1), column
        occurs = np.bincount(column, minlength=len(values)) > 0
    else:
        values, position = np.unique(column, return_inverse=True)
        occurs = np.ones(len(values), dtype=np.bool_)
    known = occurs & (values != absent_level)
    digit_of = np.where(known, np.cumsum(known), 0).astype(np.int32)
    return digit_of[position]


def _coding(sizes: Sequence[int]) -> Coding:
    """One word if the table fits, else words that fit in one together with the number of a code."""
    return Coding.of_sizes(sizes, WORD_LIMIT if math.prod(sizes) <= WORD_LIMIT else MAX_CELLS)


def _ranges(coding: Coding) -> list[int]:
    """How many values each word can take."""
    ranges = [1] * coding.n_words
    for place in coding.digits:
        ranges[place.word] *= place.size
    return ranges


def _words(digits: Sequence[NDArray[Any]], coding: Coding) -> list[IntArray]:
    """The code of every cell, word by word."""
    words = [np.zeros(len(digits[0]), dtype=np.int64) for _ in range(coding.n_words)]
    for digit, place in zip(digits, coding.digits, strict=True):
        words[place.word] += digit * np.int64(place.stride)
    return words


def _numbers(flags: BoolArray) -> IntArray:
    """A number for each row (rows × keys), by the set of rows that occur and not their order."""
    coding = _coding([2] * flags.shape[1])
    return Index.of(_words(list(flags.T), coding), _ranges(coding))[1]


def _cumulated(sizes: IntArray) -> IntArray:
    """0 and the sums of the first size, of the first two, …"""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])


def _patterns(absent: BoolArray) -> tuple[BoolArray, IntArray, IntArray]:
    """The patterns from small to large, complete last; their cells; the pattern of each cell."""
    _, first, ids, sizes = np.unique(
        _numbers(absent), return_index=True, return_inverse=True, return_counts=True
    )
    patterns = absent[first]
    by_size = np.lexsort((sizes, ~patterns.any(axis=1)))
    return patterns[by_size], sizes[by_size], np.argsort(by_size)[ids]


def _sorted_order(pattern: IntArray, words: list[IntArray]) -> IntArray:
    """The order by pattern and code; quick if the cells are in the order of codes already."""
    narrow = np.min_scalar_type(int(pattern.max(initial=0)))
    order: IntArray = np.argsort(pattern.astype(narrow), kind="stable")
    if _steps(order, pattern, words).all():
        return order
    order = np.lexsort([*words, pattern])
    steps = _steps(order, pattern, words)
    if not steps.all():
        pair = sorted(order[int(steps.argmin()) :][:2].tolist())
        where = f"rows {pair[0]} and {pair[1]}"
        raise InputError(must_be("levels", "distinct cells", "two that are equal", where=where))
    return order


def _steps(order: IntArray, pattern: IntArray, words: list[IntArray]) -> BoolArray:
    """Whether each cell in this order is beyond the one before it."""
    beyond = np.zeros(max(0, len(order) - 1), dtype=np.bool_)
    for column in [*words, pattern]:
        step = np.diff(column[order])
        beyond = (step > 0) | (beyond & (step == 0))
    return beyond


@dataclass(frozen=True, slots=True)
class _Codes:
    """Distinct codes of one word, found by a hash that loses nothing.

    `mixed` codes ascend; `first[b]` is where those with the leading bits b, or more, begin. Most
    codes that are not there fail at `occupied`, which has more leading bits.
    """

    mixed: NDArray[np.uint64]
    first: IntArray
    shift: np.uint64
    occupied: BoolArray
    filter_shift: np.uint64

    @classmethod
    def of(cls, codes: IntArray) -> tuple["_Codes", IntArray]:
        """The distinct codes, and the number of each code given among them."""
        mixed, ids = np.unique(codes.view(np.uint64) * MIX, return_inverse=True)
        n_bits = len(mixed).bit_length()
        n_filter_bits = max(n_bits, min(n_bits + 5, FILTER_BITS))
        shift, filter_shift = np.uint64(64 - n_bits), np.uint64(64 - n_filter_bits)
        sizes = np.bincount((mixed >> shift).view(np.int64), minlength=2**n_bits)
        occupied = np.zeros(2**n_filter_bits, dtype=np.bool_)
        occupied[(mixed >> filter_shift).view(np.int64)] = True
        return cls(mixed, _cumulated(sizes), shift, occupied, filter_shift), ids

    def __len__(self) -> int:
        return len(self.mixed)

    def find(self, codes: IntArray) -> tuple[IntArray, IntArray]:
        """Positions of the codes given that are there, and their numbers."""
        mixed = codes.view(np.uint64) * MIX
        rows = np.flatnonzero(self.occupied[(mixed >> self.filter_shift).view(np.int64)])
        mixed = mixed[rows]
        bucket = (mixed >> self.shift).view(np.int64)
        at, end = self.first[bucket], self.first[bucket + 1]
        found = [(rows[:0], at[:0])]
        while len(rows):
            at_hand = at < end
            rows, mixed, at, end = rows[at_hand], mixed[at_hand], at[at_hand], end[at_hand]
            same = self.mixed[at] == mixed
            found.append((rows[same], at[same]))
            rows, mixed, at, end = rows[~same], mixed[~same], at[~same] + 1, end[~same]
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])


@dataclass(frozen=True, slots=True)
class Index:
    """Distinct codes of one word or more: stage by stage, the code so far with the next word."""

    stages: list[_Codes]
    ranges: list[int]

    @classmethod
    def of(cls, words: list[IntArray], ranges: list[int]) -> tuple["Index", IntArray]:
        """The distinct codes, and the number of each code given among them."""
        first, ids = _Codes.of(words[0])
        stages = [first]
        for word, size in zip(words[1:], ranges[1:], strict=True):
            stage, ids = _Codes.of(ids * size + word)
            stages.append(stage)
        return cls(stages, ranges), ids

    def __len__(self) -> int:
        return len(self.stages[-1])

    def find(self, words: list[IntArray]) -> tuple[IntArray, IntArray]:
        """Positions of the codes given that are there, and their numbers."""
        rows, ids = self.stages[0].find(words[0])
        for stage, word, size in zip(self.stages[1:], words[1:], self.ranges[1:], strict=True):
            kept, ids = stage.find(ids * size + word[rows])
            rows = rows[kept]
        return rows, ids


def _match_weight(policy: str, missing_weight: float) -> float:
    """The weight of a match through a missing value."""
    if policy not in get_args(Policy):
        raise InputError(must_be("policy", "wildcard or conservative", repr(policy)))
    if not 0 <= missing_weight <= 1:
        raise InputError(must_be("missing_weight", "from 0 to 1", missing_weight))
    if policy == "conservative" and missing_weight != 1:
        remedy = "only wildcard has a use for it"
        raise InputError(
            must_be("missing_weight", "1 for conservative", missing_weight, remedy=remedy)
        )
    return float(missing_weight)


def _matrix(levels: ArrayLike, missing: ArrayLike) -> tuple[IntArray, IntArray]:
    """Level codes, and for each key the code of its missing level or −1."""
    matrix, absent_level = np.asarray(levels), np.asarray(missing)
    if matrix.ndim != 2 or not matrix.shape[1] or len(matrix) >= MAX_CELLS:
        rule = "a matrix of fewer than 2**31 cells and at least one key"
        raise InputError(must_be("levels", rule, f"the shape {matrix.shape}"))
    for name, codes in (("levels", matrix), ("missing", absent_level)):
        if codes.dtype.kind not in "iu":
            raise InputError(must_be(name, "whole-number codes", f"the type {codes.dtype}"))
    if absent_level.shape != matrix.shape[1:] or absent_level.min() < -1:
        rule = f"{matrix.shape[1]} codes, one a key, or -1"
        raise InputError(must_be("missing", rule, absent_level.tolist()))
    if matrix.size and not 0 <= int(matrix.min()) <= int(matrix.max()) < 2**63:
        remedy = "give missing values a level of their own"
        rule = "codes from 0 to 2**63 - 1"
        raise InputError(must_be("levels", rule, "another", remedy=remedy))
    return matrix.astype(np.int64, copy=False), absent_level.astype(np.int64)


def _counts(records: ArrayLike, n_cells: int) -> IntArray:
    """Records of each cell: at least one, fewer than 2^53 in all."""
    counts = np.asarray(records)
    if counts.shape != (n_cells,) or counts.dtype.kind not in "iu":
        got = f"the shape {counts.shape} and type {counts.dtype}"
        raise InputError(must_be("records", f"{n_cells} whole numbers, one a cell", got))
    if n_cells and counts.min() < 1:
        where = f"row {int(counts.argmin())}"
        raise InputError(must_be("records", "at least 1 in each cell", "fewer", where=where))
    if n_cells and _exact_sum(counts) >= MAX_RECORDS:
        raise InputError(must_be("records", "fewer than 2**53 in all", "more"))
    return counts.astype(np.int64, copy=False)


def _exact_sum(counts: NDArray[Any]) -> int:
    """The sum of non-negative whole numbers, whatever their size."""
    whole = counts.astype(np.uint64, copy=False)
    low = int((whole & np.uint64(2**32 - 1)).sum())
    return (int((whole >> np.uint64(32)).sum()) << 32) + low


def _weights(weights: ArrayLike | None, n_cells: int) -> list[FloatArray]:
    """Weights of each cell, none for a file without: positive, with a finite sum."""
    if weights is None:
        return []
    totals = np.asarray(weights, dtype=np.float64)
    if totals.shape != (n_cells,):
        rule = f"{n_cells} numbers, one a cell"
        raise WeightError(must_be("weights", rule, f"the shape {totals.shape}"))
    bad = np.flatnonzero(~((totals > 0) & (totals < np.inf)))
    if len(bad):
        where = f"row {int(bad[0])}"
        raise WeightError(must_be("weights", "positive and finite", "another", where=where))
    with np.errstate(over="ignore"):
        if not np.isfinite(totals.sum()):
            raise WeightError(must_be("weights", "numbers with a finite sum", "larger ones"))
    return [totals]
