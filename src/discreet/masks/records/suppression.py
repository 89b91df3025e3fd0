"""Local suppression: which single values are taken out, so that nobody stands out any more.

What "nobody stands out" means is one of three guarantees:

- `strict`: at least k released records show the same pattern, where a value that was taken out is a
  value of its own. The file proves it by itself.
- `candidates`: every released record fits at least k of the original records, so that k persons
  could be behind it. It follows from `strict`. Records do not depend on each other, so that the
  least suppression is found exactly.
- `wildcard`: a value that was taken out matches any other, as in R sdcMicro. It has a worthless
  optimum (k − 1 records without any value match everybody), so it is for comparison and never the
  only check.

A problem is put in cells: records of one cell are alike and are treated alike, but for those that
a large cell gives to a smaller one.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.key_space import KeyLevels
from discreet.engines.local.grouping import distinct_rows
from discreet.errors import InputError, must_be
from discreet.figures import How
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

MOST_KEYS = 40  # sets of keys are bit masks, and there are too many of more keys
MOST_SETS = 1 << 16  # sets of keys that are looked at; beyond it the rest lose all values


class Guarantee(StrEnum):
    """What holds of every released record."""

    STRICT = "strict"
    CANDIDATES = "candidates"
    WILDCARD = "wildcard"


MEANING = {
    Guarantee.STRICT: "at least {k} released records show the same values, where a suppressed "
    "value counts as a value of its own",
    Guarantee.CANDIDATES: "every released record fits at least {k} of the original records, so "
    "that at least {k} persons could be behind it",
    Guarantee.WILDCARD: "every released record matches at least {k} released records, where a "
    "suppressed value matches any other; a few records without any value are enough for that, so "
    "do not rest on this alone",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The values of a sensitive variable in the cells, of which each released pattern needs at
    least `least` different ones: `records[i]` records of `cell[i]` have `value[i]`."""

    cell: IntArray
    value: IntArray
    least: int


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Cells, of which some stand out.

    `k` records are needed together. `cost` is the price of a value of each key; `never` are keys of
    which no value is taken out, `most` how many values of a key may be (−1: any number). `open` are
    the cells that stand out, by default those of fewer than k records. Of more than `most_sets`
    sets of keys only the cheapest are looked at, and all keys at once.
    """

    coding: Coding
    words: IntArray
    records: IntArray
    k: int
    cost: FloatArray
    never: frozenset[int] = frozenset()
    most: IntArray | None = None
    open: BoolArray | None = None
    values: tuple[Values, ...] = ()
    most_sets: int = MOST_SETS
    _sums: dict[int, IntArray] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.n_keys > MOST_KEYS:
            remedy = "name fewer keys, or leave some out (drop)"
            rule = f"at most {MOST_KEYS} for local suppression"
            raise InputError(must_be("keys", rule, self.n_keys, remedy=remedy))

    @property
    def n_keys(self) -> int:
        """Number of keys."""
        return len(self.coding.digits)

    @cached_property
    def free(self) -> list[int]:
        """The keys of which values may be taken out."""
        return [key for key in range(self.n_keys) if key not in self.never]

    @cached_property
    def stands_out(self) -> BoolArray:
        """The cells that stand out."""
        return self.records < self.k if self.open is None else self.open

    @cached_property
    def parts(self) -> IntArray:
        """What each key adds to the code of each cell: cells × keys, of codes of one word."""
        strides = [digit.stride for digit in self.coding.digits]
        return self.coding.decode(self.words) * np.array(strides, dtype=np.int64)

    def codes(self, without: int, cells: IntArray | slice = slice(None)) -> IntArray:
        """A number for what each cell is without some keys (a bit mask): equal where cells agree on
        all other keys."""
        if self.coding.n_words == 1:
            code: IntArray = self.words[cells, 0]
            for key in keys_in(without):
                code = code - self.parts[cells, key]
            return code
        if without not in self._sums:  # codes of several words are numbered, for all cells at once
            words = self.words.copy()
            for key in keys_in(without):
                words[:, self.coding.digits[key].word] -= self.parts[:, key]
            self._sums.clear()
            self._sums[without] = distinct_rows(words)[1]
        return self._sums[without][cells]

    def n_codes(self, without: int) -> int:
        """How many codes there may be without some keys."""
        return int(
            np.prod([float(s) for j, s in enumerate(self.coding.sizes) if not without >> j & 1])
        )

    def sets(self) -> Iterator[tuple[float, int]]:
        """The sets of keys that may be suppressed with their costs, the cheapest first; at most
        `most_sets` of them, and last that of all keys that may be."""
        free = self.free
        return cheapest_sets([float(self.cost[key]) for key in free], free, self.most_sets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """What is taken out: `records[i]` records of `cell[i]` lose the keys `without[i]` (a bit mask).

    The records of each cell add up to all of it. `how` says whether no other choice could do with
    less at this price: exact, or a bound. `least` is a price that no choice can do without. `left`
    are records that could not be helped, `steps` how often the cells were looked at.
    """

    cell: IntArray
    without: IntArray
    records: IntArray
    how: How
    least: float
    left: int = 0
    steps: int = 0

    def values(self, n_keys: int) -> IntArray:
        """How many values of each key are taken out, of those that the cells have."""
        return np.array(
            [int(self.records[(self.without >> key & 1) == 1].sum()) for key in range(n_keys)]
        )


def keys_in(mask: int) -> list[int]:
    """The places of the bits of a mask."""
    return [key for key in range(int(mask).bit_length()) if int(mask) >> key & 1]


def cheapest_sets(
    costs: Sequence[float], keys: Sequence[int], most: int
) -> Iterator[tuple[float, int]]:
    """The non-empty sets of some keys by what they cost together: at most so many, and last the set
    of all."""
    order = sorted(range(len(keys)), key=lambda i: (costs[i], keys[i]))
    whole = sum(1 << key for key in keys)
    # Each set comes from the one without its dearest key, or with that key in place of the next
    # cheaper one; so a heap gives every set once, in order of cost.
    heap = [(costs[order[0]], 1 << keys[order[0]], 0)] if order else []
    n_found, mask = 0, 0
    while heap and n_found < most:
        cost, mask, last = heapq.heappop(heap)
        n_found += 1
        yield cost, mask
        if last + 1 < len(order):
            here, after = order[last], order[last + 1]
            more = 1 << keys[after]
            heapq.heappush(heap, (cost + costs[after], mask | more, last + 1))
            swapped = mask & ~(1 << keys[here]) | more
            heapq.heappush(heap, (cost - costs[here] + costs[after], swapped, last + 1))
    if heap:
        yield sum(costs), whole


def joined_pieces(
    pieces: Sequence[tuple[IntArray, IntArray, IntArray]],
) -> tuple[IntArray, IntArray, IntArray]:
    """Cells, masks and records of several lots as one, in the order of cells and masks."""
    cell, without, records = (np.concatenate(column) for column in zip(*pieces, strict=True))
    order = np.lexsort((without, cell))
    return cell[order], without[order], records[order]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterSuppression:
    """The cells that there are once values are taken out: their `keys`, how levels make up a code,
    codes and records; and each piece of the cells before: its `cell`, its `n` records and the
    `place` of what it became."""

    keys: tuple[KeyLevels, ...]
    coding: Coding
    words: IntArray
    records: IntArray
    cell: IntArray
    n: IntArray
    place: IntArray


def after_suppression(
    keys: Sequence[KeyLevels], problem: Problem, found: Suppression
) -> AfterSuppression:
    """The cells after a suppression; a value that was taken out is a missing one."""
    levels = problem.coding.decode(problem.words[found.cell])
    own = list(keys)
    for key, one in enumerate(keys):
        gone = (found.without >> key & 1) == 1
        if gone.any():
            own[key] = with_missing(one)
            levels[gone, key] = len(own[key].values) - 1
    coding = Coding.of_sizes([max(len(key.values), 1) for key in own])
    words, place = distinct_rows(coding.encode(levels))
    records = np.bincount(place, weights=found.records, minlength=len(words))
    return AfterSuppression(
        keys=tuple(own),
        coding=coding,
        words=words,
        records=records.astype(np.int64),
        cell=found.cell,
        n=found.records,
        place=place,
    )


def with_missing(key: KeyLevels) -> KeyLevels:
    """The key with a last level for a value that is missing or was taken out."""
    if key.values[-1:] == (None,):
        return key
    return replace(key, values=(*key.values, None), labels=(*key.labels, "(missing)"))


def distinct_values(values: Values, group: IntArray, n_groups: int) -> IntArray:
    """How many different values there are in each group; `group` is that of each cell, −1 for a
    cell that is in none."""
    own = group[values.cell]
    inside = own >= 0
    n_values = int(values.value.max(initial=0)) + 1
    pairs = np.unique(own[inside] * n_values + values.value[inside])
    return np.bincount(pairs // n_values, minlength=n_groups)
