"""The few numbers about a sample that models are fitted on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.data.arrays import IntArray, read_only


@dataclass(frozen=True, slots=True)
class SizeIndices:
    """How many cells hold exactly j records: `cells[i]` of them hold `sizes[i]`.

    `sizes` ascends and lists only sizes that occur.
    """

    sizes: IntArray
    cells: IntArray

    def __post_init__(self) -> None:
        read_only(self.sizes)
        read_only(self.cells)

    @property
    def n_cells(self) -> int:
        """Occupied cells."""
        return int(self.cells.sum())

    @property
    def sample_size(self) -> int:
        """Records in all cells."""
        return int((self.sizes * self.cells).sum())

    def cells_below(self, k: int) -> int:
        """Cells with fewer than k records."""
        return int(self.cells[self.sizes < k].sum())

    def records_below(self, k: int) -> int:
        """Records in cells with fewer than k records: those that break k-anonymity."""
        small = self.sizes < k
        return int((self.sizes[small] * self.cells[small]).sum())

    @property
    def sample_uniques(self) -> int:
        """Records that are alone in their cell."""
        return self.records_below(2)

    def to_json(self) -> dict[str, int]:
        """Size to number of cells, the sizes as text, as JSON wants them."""
        return {str(size): int(n) for size, n in zip(self.sizes, self.cells, strict=True)}

    @classmethod
    def of_counts(cls, sample_count: IntArray) -> "SizeIndices":
        """From the count of every occupied cell."""
        sizes, cells = np.unique(np.asarray(sample_count, dtype=np.int64), return_counts=True)
        return cls(sizes, cells.astype(np.int64))


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
