"""Cells seen through fewer keys: what an intruder has who knows only some of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.coding import Coding
from discreet.data.missing import MissingPolicy
from discreet.data.summary import SizeIndices
from discreet.engines.contract import Cells
from discreet.engines.key_space import KeyLevels, KeySpace
from discreet.engines.local.grouping import distinct_rows
from discreet.engines.matching import matched_cells
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import CountArray, FloatArray, IntArray

MOST_HELD = 5_000_000  # cells that are held at once for figures that need all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class AllCells:
    """Every occupied cell at once, in the order of the codes: what figures are computed from that
    hold each cell against every other.

    `records` lie in each cell, with the sum `weight` of their weights and that of their `squares`;
    `sample_count` is how many a record of it matches, itself included.
    """

    words: IntArray
    records: IntArray
    sample_count: CountArray
    space: KeySpace
    weight: FloatArray | None = None
    squares: FloatArray | None = None

    @classmethod
    def of(cls, cells: Cells, most: int = MOST_HELD) -> "AllCells":
        """All cells, if there are no more than `most`; raises InputError where there are."""
        held = cells.held(most, ("squares",) if cells.weighted else ())
        if held is None:
            rule = f"at most {most:,}, which is what a figure over all of them at once allows"
            remedy = "make keys coarser, leave one out, or do without the figure"
            got = f"{cells.n_cells:,}"
            raise InputError(must_be("occupied cells", rule, got, remedy=remedy))
        return cls(
            words=held.words,
            records=held.n_records,
            sample_count=held.sample_count,
            space=cells.space,
            weight=held.extra.get("weight", held.weight_total),
            squares=held.extra.get("squares"),
        )

    @property
    def coding(self) -> Coding:
        """How levels make up the code of a cell."""
        return self.space.coding

    @property
    def keys(self) -> tuple[KeyLevels, ...]:
        """The keys and their levels."""
        return self.space.keys

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the keys."""
        return self.space.names

    @property
    def policy(self) -> MissingPolicy:
        """What a missing value means."""
        return self.space.policy

    @property
    def missing_weight(self) -> float:
        """What a match counts that needs a missing value."""
        return self.space.missing_weight

    @property
    def missing_levels(self) -> IntArray:
        """Level that stands for missing in each key, −1 where none does."""
        return self.space.missing_levels

    @property
    def overlap(self) -> bool:
        """Whether records match records of other cells."""
        return self.space.overlap

    def within(self, keys: Sequence[int]) -> tuple["AllCells", IntArray]:
        """The cells of these keys alone, and in which of them each cell lies.

        Their sample counts are left to `matched`.
        """
        view = self.space.itself().of_keys(list(keys))
        words, place = distinct_rows(view.words(self.words), view.space.coding.n_combinations)
        records = np.bincount(place, weights=self.records, minlength=len(words)).astype(np.int64)
        cells = AllCells(words=words, records=records, sample_count=records, space=view.space)
        return cells, place

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
