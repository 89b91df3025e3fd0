"""Counted cells held in memory, and the margins of cells wherever they are held."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices
from discreet.numerics.arrays import FloatArray, IntArray, read_only


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTable:
    """The occupied cells of a sample: codes, counts and, with weights, their sums."""

    coding: Coding
    words: IntArray
    sample_count: IntArray
    weight_total: FloatArray | None = None

    @property
    def n_records(self) -> int:
        """Records in all cells."""
        return int(self.sample_count.sum())

    @property
    def n_cells(self) -> int:
        """Occupied cells."""
        return len(self.sample_count)

    def size_indices(self) -> SizeIndices:
        """How many cells hold exactly j records."""
        return SizeIndices.of_counts(self.sample_count)

    def margins(self, order: int) -> Mapping[tuple[int, ...], IntArray]:
        """Every margin of that many keys as a dense table."""
        sets = list(combinations(range(len(self.coding.digits)), order))
        return margins_of_cells(self.batches(), self.coding, sets)

    def batches(self) -> Iterator[CellBatch]:
        """All cells, as one batch."""
        yield CellBatch(
            coding=self.coding,
            words=self.words,
            sample_count=self.sample_count,
            weight_total=self.weight_total,
        )


def margins_of_cells(
    batches: Iterable[CellBatch], coding: Coding, sets: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], IntArray]:
    """The records by the levels of each set of keys, as dense tables, from one pass."""
    sizes = coding.sizes
    margins = {axes: np.zeros([sizes[a] for a in axes], dtype=np.int64) for axes in sets}
    for batch in batches:
        levels = [coding.level(batch.words, key) for key in range(len(sizes))]
        for axes, margin in margins.items():
            place = np.ravel_multi_index([levels[a] for a in axes], margin.shape)
            counts = np.bincount(place, weights=batch.n_records, minlength=margin.size)
            margin += counts.astype(np.int64).reshape(margin.shape)
    return {axes: read_only(margin) for axes, margin in margins.items()}


def without_unused_levels(
    coding: Coding, levels: IntArray, counts: IntArray, weights: FloatArray | None = None
) -> CellTable:
    """The cells (levels: cells × keys) coded by the levels that occur among them."""
    places = [np.unique(column, return_inverse=True) for column in levels.T]
    tight = Coding.of_sizes([len(values) for values, _ in places])
    words = tight.encode(np.stack([place for _, place in places], axis=1))
    return CellTable(coding=tight, words=words, sample_count=counts, weight_total=weights)
