"""Cells: the occupied combinations of the keys, in batches."""

from dataclasses import dataclass

from discreet.data.arrays import FloatArray, IntArray
from discreet.data.coding import Coding


@dataclass(frozen=True, slots=True, kw_only=True)
class CellBatch:
    """Some occupied cells of a sample, one row each.

    `words` is the code of the combination (rows × words, see `Coding`), `sample_count` is f_k and
    `weight_total` the sum of the survey weights in the cell, None for a file without weights.
    """

    coding: Coding
    words: IntArray
    sample_count: IntArray
    weight_total: FloatArray | None

    def __len__(self) -> int:
        return len(self.sample_count)

    def levels(self) -> IntArray:
        """Level of every key in every cell: rows × keys."""
        return self.coding.decode(self.words)
