"""Cells seen through fewer keys: what an intruder has who knows only some of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.coding import Coding
from discreet.data.missing import MissingPolicy
from discreet.data.summary import SizeIndices
from discreet.engines.contract import KeyLevels
from discreet.engines.matching import matched_cells
from discreet.numerics.arrays import CountArray, FloatArray, IntArray

FEW_CODES = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class AllCells:
    """Every occupied cell at once: what figures over subsets of the keys are computed from.

    `records` lie in each cell; `sample_count` is how many a record of it matches, itself included.
    """

    words: IntArray
    records: IntArray
    sample_count: CountArray
    coding: Coding
    keys: tuple[KeyLevels, ...]
    policy: MissingPolicy
    missing_weight: float

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
        levels = (self.coding.level(self.words, key) for key in range(len(self.keys)))
        lacks = [here == gone for here, gone in zip(levels, self.missing_levels, strict=True)]
        return int(np.logical_or.reduce(lacks).sum())

    def uniques_without(self, dropped: Sequence[int]) -> int:
        """Records that no other matches when the keys at `dropped` are left out."""
        kept = [key for key in range(len(self.keys)) if key not in dropped]
        if not kept:
            return int(self.records.sum() == 1)
        return self.project(kept).size_indices().sample_uniques

    def project(self, keys: Sequence[int]) -> "Projection":
        """The cells of these keys alone."""
        coding = Coding.of_sizes([self.coding.sizes[key] for key in keys])
        levels = np.stack([self.coding.level(self.words, key) for key in keys], axis=1)
        words, place = distinct_rows(coding.encode(levels), coding.n_combinations)
        records = np.bincount(place, weights=self.records, minlength=len(words)).astype(np.int64)
        count: CountArray = records
        missing = self.missing_levels[list(keys)]
        reduced = coding.decode(words)
        overlap = self.policy.matching is not None and bool((reduced == missing).any())
        if self.policy.matching is not None and overlap:
            count = matched_cells(
                reduced,
                missing,
                records,
                None,
                policy=self.policy.matching,
                missing_weight=self.missing_weight,
            ).sample_count
        return Projection(place=place, records=records, sample_count=count, disjoint=not overlap)


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """Coarser cells: which one each finer cell falls in, their records and sample counts."""

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
