"""Cells seen through fewer keys: what an intruder has who knows only some of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.data.coding import Coding
from discreet.data.missing import MissingPolicy
from discreet.data.nesting import Nested
from discreet.data.summary import SizeIndices
from discreet.engines.contract import KeyLevels
from discreet.engines.matching import matched_cells
from discreet.numerics.arrays import CountArray, FloatArray, IntArray
from discreet.survey.nested_keys import n_possible, ruled_out
from discreet.survey.regrouping import grouped, recoded_words

FEW_CODES = 1 << 12
MOST_BOXES = 20_000  # pairs of levels that are held against a list of impossible combinations


@dataclass(frozen=True, slots=True, kw_only=True)
class AllCells:
    """Every occupied cell at once: what figures over subsets of the keys are computed from.

    `records` lie in each cell; `sample_count` is how many a record of it matches, itself included.
    `nested` are pairs of keys, by position, of which one determines the other.
    """

    words: IntArray
    records: IntArray
    sample_count: CountArray
    coding: Coding
    keys: tuple[KeyLevels, ...]
    policy: MissingPolicy
    missing_weight: float
    nested: tuple[Nested, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the keys."""
        return tuple(key.name for key in self.keys)

    @property
    def missing_levels(self) -> IntArray:
        """Level that stands for missing in each key, −1 where none does."""
        return np.array([len(k.values) - 1 if k.values[-1] is None else -1 for k in self.keys])

    @property
    def overlap(self) -> bool:
        """Whether records match records of other cells."""
        return self.policy.matching is not None and any(k.values[-1] is None for k in self.keys)

    @property
    def matched_by(self) -> str:
        """Who shares a combination, in a sentence, where that is not who lies in the same cell."""
        if not self.overlap:
            return ""
        meaning = self.policy.in_words(self.missing_weight)
        return f" Records share a combination here if they match: {meaning}."

    @property
    def n_incomplete(self) -> int:
        """Cells that lack the value of a key."""
        gone = {key: level for key, level in enumerate(self.missing_levels.tolist()) if level >= 0}
        lacks = np.zeros(len(self.words), dtype=np.bool_)
        for key, level in gone.items():
            lacks |= self.coding.level(self.words, key) == level
        return int(np.count_nonzero(lacks))

    def uniques_without(self, dropped: Sequence[int]) -> int:
        """Records that no other matches when the keys at `dropped` are left out."""
        kept = [key for key in range(len(self.keys)) if key not in dropped]
        if not kept:
            return int(self.records.sum() == 1)
        return self.project(kept).size_indices().sample_uniques

    @property
    def known_sizes(self) -> tuple[int, ...]:
        """Levels of each key that make a cell: all, but for a missing one that matches others."""
        if self.policy.matching is None:
            return self.coding.sizes
        return tuple(key.n_known for key in self.keys)

    def n_possible(self) -> int:
        """Cells that could be occupied: no combination that nesting rules out, and none of a
        missing value that matches anything."""
        sizes = self.known_sizes
        if not self.nested:
            return math.prod(sizes)
        return n_possible(self.coding.decode(self.words), sizes, self.nested)

    def ruled_out(self) -> list[dict[int, int]]:
        """Pairs of levels that nesting rules out, as boxes; none where they would be too many."""
        found = ruled_out(self.coding.decode(self.words), self.known_sizes, self.nested)
        return found if len(found) <= MOST_BOXES else []

    def within(self, keys: Sequence[int]) -> tuple["AllCells", IntArray]:
        """The cells of these keys alone, and in which of them each cell lies.

        Their sample counts are left to `matched`.
        """
        kept = [self.keys[key] for key in keys]
        sizes = [self.coding.sizes[key] for key in keys]
        if len(keys) == len(self.keys) - 1 and self.coding.n_words == 1:
            (gone,) = set(range(len(self.keys))) - set(keys)
            if list(keys) == sorted(keys):
                return self._changed(gone, None, kept, sizes, keys)
        levels = np.stack([self.coding.level(self.words, key) for key in keys], axis=1)
        return self._regrouped(levels, kept, sizes, keys)

    def recoded(self, key: int, to: IntArray, levels: KeyLevels) -> tuple["AllCells", IntArray]:
        """The cells with level i of one key turned into level to[i] of `levels`.

        What the key determined it may determine no longer.
        """
        keys = [levels if j == key else own for j, own in enumerate(self.keys)]
        sizes = [len(levels.values) if j == key else n for j, n in enumerate(self.coding.sizes)]
        if self.coding.n_words == 1 and sizes[key] <= self.coding.sizes[key]:
            cells, place = self._changed(key, to, keys, sizes, range(len(keys)))
        else:
            coded = self.coding.decode(self.words)
            coded[:, key] = to[coded[:, key]]
            cells, place = self._regrouped(coded, keys, sizes, range(len(keys)))
        still = tuple(pair for pair in cells.nested if pair.determining != key)
        return replace(cells, nested=still), place

    def flattened(self, key: int) -> tuple["AllCells", IntArray]:
        """The cells with all levels of one key as one, which is as if it were not there."""
        one = KeyLevels(name=self.keys[key].name, values=("",), labels=("",), n_missing=0)
        return self.recoded(key, np.zeros(self.coding.sizes[key], dtype=np.int64), one)

    def _changed(
        self,
        key: int,
        to: IntArray | None,
        keys: Sequence[KeyLevels],
        sizes: Sequence[int],
        places: Sequence[int],
    ) -> tuple["AllCells", IntArray]:
        """The cells with one key of one word recoded, or left out where `to` is None.

        Only the digits above the key move, all by the same factor.
        """
        recoded = recoded_words(self.words, self.coding, key, to)
        order, starts = grouped(recoded)
        digit = self.coding.digits[key]
        span = digit.stride * (1 if to is None else sizes[key])
        words = recoded[order[starts]]
        above = words // (digit.stride * digit.size)
        words += above * (span - digit.stride * digit.size)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
        records = np.add.reduceat(self.records[order], starts)
        return self._with(words, records, Coding.of_sizes(sizes), keys, places), place

    def _regrouped(
        self,
        levels: IntArray,
        keys: Sequence[KeyLevels],
        sizes: Sequence[int],
        places: Sequence[int],
    ) -> tuple["AllCells", IntArray]:
        coding = Coding.of_sizes(sizes)
        words, place = distinct_rows(coding.encode(levels), coding.n_combinations)
        records = np.bincount(place, weights=self.records, minlength=len(words)).astype(np.int64)
        return self._with(words, records, coding, keys, places), place

    def _with(
        self,
        words: IntArray,
        records: IntArray,
        coding: Coding,
        keys: Sequence[KeyLevels],
        places: Sequence[int],
    ) -> "AllCells":
        """Other cells of the same records, by keys that stood at these places."""
        at = {old: new for new, old in enumerate(places)}
        nested = (
            Nested(at[pair.determining], at[pair.determined])
            for pair in self.nested
            if pair.determining in at and pair.determined in at
        )
        return replace(
            self,
            words=words,
            records=records,
            sample_count=records,
            coding=coding,
            keys=tuple(keys),
            nested=tuple(nested),
        )

    def matched(self) -> tuple[CountArray, bool]:
        """How many records one of each cell matches, and whether no two cells match each other."""
        matching = self.policy.matching
        if matching is None or not self.overlap:
            return self.records, True
        levels, missing = self.coding.decode(self.words), self.missing_levels
        if not bool((levels == missing).any()):
            return self.records, True
        found = matched_cells(
            levels,
            missing,
            self.records,
            None,
            policy=matching,
            missing_weight=self.missing_weight,
        )
        return found.sample_count, False

    def project(self, keys: Sequence[int]) -> "Projection":
        """The cells of these keys alone."""
        cells, place = self.within(keys)
        count, disjoint = cells.matched()
        return Projection(
            cells=cells, place=place, records=cells.records, sample_count=count, disjoint=disjoint
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """Coarser cells: which one each finer cell falls in, their records and sample counts."""

    cells: AllCells
    place: IntArray
    records: IntArray
    sample_count: CountArray
    disjoint: bool = True

    def size_indices(self) -> SizeIndices:
        """How many of the coarser cells have each sample count."""
        return SizeIndices.of_counts(self.sample_count, self.records, disjoint=self.disjoint)

    def match_probability(self) -> FloatArray:
        """1/f for each of the finer cells."""
        risk = 1.0 / self.sample_count
        return risk[self.place]


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
    order = np.lexsort(words.T[::-1])
    ordered = words[order]
    fresh = np.ones(len(words), dtype=np.bool_)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(words), dtype=np.int64)
    place[order] = np.cumsum(fresh) - 1
    return ordered[fresh], place
