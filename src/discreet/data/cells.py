"""Cells: the occupied combinations of the keys, in batches."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from discreet.data.coding import Coding
from discreet.numerics.arrays import CountArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class CellBatch:
    """Some occupied cells of a sample, one row each.

    `words` is the code of the combination (rows × words, see `Coding`), `sample_count` is f_k and
    `weight_total` the sum of the survey weights over those f_k records, None for a file without
    weights. Where missing values match anything, a record matches more records than lie in its
    cell, and each such match may count in part: `sample_count` then is no whole number of records,
    and `records` says how many lie in the cell. Elsewhere `records` is None: the same. `extra` has
    the columns that were put beside the cells and asked for.
    """

    coding: Coding
    words: IntArray
    sample_count: CountArray
    weight_total: FloatArray | None
    records: IntArray | None = None
    extra: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.sample_count)

    @property
    def n_records(self) -> IntArray:
        """Records that lie in each cell."""
        if self.records is not None:
            return self.records
        return self.sample_count.astype("int64", copy=False)

    def part(self, cells: IntArray | slice) -> "CellBatch":
        """Some cells of the batch, by their places."""
        return replace(
            self,
            words=self.words[cells],
            sample_count=self.sample_count[cells],
            weight_total=None if self.weight_total is None else self.weight_total[cells],
            records=None if self.records is None else self.records[cells],
            extra={name: values[cells] for name, values in self.extra.items()},
        )

    def levels(self) -> IntArray:
        """Level of every key in every cell: rows × keys."""
        return self.coding.decode(self.words)
