"""The few numbers about a sample that models are fitted on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.numerics.arrays import CountArray, IntArray, read_only


@dataclass(frozen=True, slots=True)
class SizeIndices:
    """How many cells have each sample count: `cells[i]` have `sizes[i]` and hold `records[i]`.

    `sizes` ascends and lists only sizes that occur. In a partition of the records a cell of size j
    holds j records, and `records` may be left out. Where missing values match anything it is none:
    sizes count matches, which overlap and may count in part, and `records` stands by itself.
    `disjoint` is False there, even if the sizes happen to add up.
    """

    sizes: CountArray
    cells: IntArray
    records: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    disjoint: bool = True

    def __post_init__(self) -> None:
        if len(self.records) != len(self.cells):
            object.__setattr__(self, "records", (self.sizes * self.cells).astype(np.int64))
        for array in (self.sizes, self.cells, self.records):
            read_only(array)

    @property
    def is_partition(self) -> bool:
        """Whether every record lies in one cell whose size is its number of records."""
        return self.disjoint and bool(np.array_equal(self.sizes * self.cells, self.records))

    @property
    def n_cells(self) -> int:
        """Occupied cells."""
        return int(self.cells.sum())

    @property
    def sample_size(self) -> int:
        """Records in all cells."""
        return int(self.records.sum())

    def cells_below(self, k: int) -> int:
        """Cells with a sample count below k."""
        return int(self.cells[self.sizes < k].sum())

    def records_below(self, k: int) -> int:
        """Records in cells with a sample count below k: those that break k-anonymity."""
        return int(self.records[self.sizes < k].sum())

    @property
    def sample_uniques(self) -> int:
        """Records that no other record matches, not even in part: sample count at most 1.

        With fractional counts a record may break 2-anonymity, its count being below 2, without
        being one of these.
        """
        return int(self.records[self.sizes <= 1].sum())

    @property
    def unique_cells(self) -> int:
        """Cells of sample uniques."""
        return int(self.cells[self.sizes <= 1].sum())

    def to_json(self) -> dict[str, int]:
        """Size to number of cells, the sizes as text, as JSON wants them."""
        return {_text(size): int(n) for size, n in zip(self.sizes, self.cells, strict=True)}

    def joined(self, other: "SizeIndices") -> "SizeIndices":
        """These cells and others together."""
        sizes, place = np.unique(np.concatenate([self.sizes, other.sizes]), return_inverse=True)
        cells, records = (
            np.bincount(place, np.concatenate(both), len(sizes)).astype(np.int64)
            for both in ((self.cells, other.cells), (self.records, other.records))
        )
        return SizeIndices(sizes, cells, records, self.disjoint and other.disjoint)

    @classmethod
    def of_counts(
        cls, sample_count: CountArray, records: IntArray | None = None, *, disjoint: bool = True
    ) -> "SizeIndices":
        """From the sample count of every occupied cell, and its records where they differ."""
        counts: Any = sample_count
        if _can_be_listed(counts):
            listed = np.bincount(counts)
            sizes = np.flatnonzero(listed)
            cells = listed[sizes]
            held = None if records is None else np.bincount(counts, records)[sizes]
        else:
            sizes, place, cells = np.unique(counts, return_inverse=True, return_counts=True)
            held = None if records is None else np.bincount(place, records, len(sizes))
        if held is None:
            return cls(sizes, cells.astype(np.int64), disjoint=disjoint)
        return cls(sizes, cells.astype(np.int64), held.astype(np.int64), disjoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a model may see of a sample: totals, size indices and the margins it asked for.

    `margins` maps positions of keys, ascending, to a dense table of counts whose axes are those
    keys: `margins[(0, 2)][i, j]` records have level i of key 0 and level j of key 2.
    """

    sample_size: int
    n_table_cells: int
    level_counts: tuple[int, ...]
    size_indices: SizeIndices
    weight_total: float | None
    population_size: float | None
    population_size_known: bool
    margins: Mapping[tuple[int, ...], IntArray] = field(default_factory=dict)


def _can_be_listed(counts: Any) -> bool:
    """Whether a list of all sizes up to the largest is no longer than the counts themselves."""
    whole = np.issubdtype(counts.dtype, np.integer)
    return bool(whole and len(counts) and counts.min() >= 0 and counts.max() <= len(counts))


def _text(size: float) -> str:
    return str(int(size)) if size == int(size) else repr(float(size))
