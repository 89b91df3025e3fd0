"""Codes by the levels that occur: a level that only records left out have is none."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.spark.folding import fold, in_hand
from discreet.engines.spark.work import Work, mapped
from discreet.numerics.arrays import IntArray

if TYPE_CHECKING:
    import pyarrow as pa


def occurring_levels(work: Work, cells: Any, coding: Coding) -> list[IntArray]:
    """The levels of each key that occur in the cells."""
    found = fold(work, "reading the levels", cells, _Occurring(coding))
    return [np.flatnonzero(there) for there in found]


@dataclass(frozen=True, slots=True)
class _Occurring:
    """Which levels of each key occur."""

    coding: Coding

    def of(self, batch: "pa.Table") -> list[Any]:
        """Of these cells."""
        words = _words_of(batch, self.coding)
        there = []
        for key, size in enumerate(self.coding.sizes):
            seen = np.zeros(size, dtype=np.bool_)
            seen[self.coding.level(words, key)] = True
            there.append(seen)
        return there

    def joined(self, one: list[Any], other: list[Any]) -> list[Any]:
        """Of both."""
        return [mine | theirs for mine, theirs in zip(one, other, strict=True)]


@dataclass(frozen=True, slots=True)
class Recoder:
    """Writes codes by the levels that are kept of each key."""

    old: Coding
    new: Coding
    kept: tuple[IntArray, ...]

    def frame(self, work: Work, frame: Any) -> Any:
        """The frame with its words written anew."""
        from pyspark.sql.types import LongType, StructField, StructType

        own = [field for field in frame.schema.fields if not _is_word(field.name)]
        words = [StructField(f"w{i}", LongType()) for i in range(self.new.n_words)]
        recoded = mapped(frame, self.batches, StructType(words + own))
        return work.written("coding the records", recoded, "recoded")

    def batches(self, found: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        """The rows with new words; those that are left out have none."""
        import pyarrow as pa

        for table in in_hand(found):
            left_out = table["w0"].combine_chunks().is_null().to_numpy(zero_copy_only=False)
            levels = self.old.decode(_words_of(table, self.old))
            for key, kept in enumerate(self.kept):
                levels[:, key] = np.minimum(np.searchsorted(kept, levels[:, key]), len(kept) - 1)
            words = self.new.encode(levels)
            columns = {
                f"w{i}": pa.array(words[:, i], mask=left_out) for i in range(self.new.n_words)
            }
            own = {n: table[n] for n in table.column_names if not _is_word(n)}
            yield from pa.table(columns | own).to_batches()


def _is_word(name: str) -> bool:
    return name.startswith("w") and name[1:].isdigit()


def _words_of(table: "pa.Table", coding: Coding) -> IntArray:
    """The code of each row (rows × words), 0 for one without."""
    words = [table[f"w{i}"].fill_null(0).to_numpy() for i in range(coding.n_words)]
    return np.stack(words, axis=1)
