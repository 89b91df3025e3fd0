"""Records as codes, computed where the records lie.

A `RecordCoder` turns some records of a `Source` into: their row, the words of their code (NULL for
a record that is left out), whether they lack a key, and what else was asked for. It is pickled and
sent to every worker, with the levels of all columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.spark.folding import in_hand
from discreet.engines.spark.naming import NO_LEVEL, Levels
from discreet.engines.spark.source import rows
from discreet.engines.weight_numbers import weight_number
from discreet.errors import FileError, must_be
from discreet.numerics.arrays import BoolArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

UNKNOWN = -2  # the level of a value that the coding does not have


@dataclass(frozen=True, slots=True)
class WeightColumn:
    """Where the weight is, of which type for DuckDB, and with which decimal mark as text."""

    column: str
    sql_type: str
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCoder:
    """Codes records: keys first among the columns c0, c1, …, then sensitive variables.

    `places` has, for each key and each of its `values`, the level in the coding, NO_LEVEL for one
    that is missing; a missing value has the level `missing` of its key, and where that is NO_LEVEL
    the record is left out. So is one with a value of UNKNOWN level.
    """

    name: str
    coding: Coding
    keys: tuple[Levels, ...]
    missing: tuple[int, ...]
    sensitive: tuple[Levels, ...] = ()
    weight: WeightColumn | None = None
    household: str | None = None
    carry: tuple[str, ...] = ()
    starts: Mapping[str, int]

    def batches(self, records: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        """The coded records, for mapInArrow."""
        for table in in_hand(records):
            yield from self.coded(table).to_batches()

    def coded(self, table: "pa.Table") -> "pa.Table":
        """Some records, coded."""
        import pyarrow as pa

        words, incomplete, left_out = self._words(table)
        columns: dict[str, Any] = {"row": rows(table, self.starts)}
        for i in range(self.coding.n_words):
            columns[f"w{i}"] = pa.array(words[:, i], pa.int64(), mask=left_out)
        columns["incomplete"] = pa.array(incomplete)
        for i, levels in enumerate(self.sensitive):
            place = level_of(table[f"c{len(self.keys) + i}"], levels, self.name)
            columns[f"s{i}"] = pa.array(np.where(place == NO_LEVEL, len(levels.labels), place))
        if self.weight is not None:
            columns["weight"] = _numbers(table[self.weight.column], self.weight)
        if self.household is not None:
            columns["household"] = table[self.household]
        return pa.table(columns | {f"x{i}": table[name] for i, name in enumerate(self.carry)})

    def schema(self, carried: Sequence[Any]) -> Any:
        """Spark's schema of what is made; `carried` are the types of the columns to carry."""
        from pyspark.sql.types import (
            BooleanType,
            DoubleType,
            LongType,
            StringType,
            StructField,
            StructType,
        )

        fields: list[tuple[str, Any]] = [("row", LongType())]
        fields += [(f"w{i}", LongType()) for i in range(self.coding.n_words)]
        fields.append(("incomplete", BooleanType()))
        fields += [(f"s{i}", LongType()) for i in range(len(self.sensitive))]
        fields += [("weight", DoubleType())] if self.weight is not None else []
        fields += [("household", StringType())] if self.household is not None else []
        fields += [(f"x{i}", kind) for i, kind in enumerate(carried)]
        return StructType([StructField(name, kind) for name, kind in fields])

    def _words(self, table: "pa.Table") -> tuple[IntArray, BoolArray, BoolArray]:
        """The code of each record, whether it lacks a key, and whether it is left out for it."""
        words = np.zeros((len(table), self.coding.n_words), dtype=np.int64)
        incomplete = np.zeros(len(table), dtype=np.bool_)
        left_out = np.zeros(len(table), dtype=np.bool_)
        for j, (levels, digit) in enumerate(zip(self.keys, self.coding.digits, strict=True)):
            place = level_of(table[f"c{j}"], levels, self.name)
            lacks = place == NO_LEVEL
            if lacks.any():
                incomplete |= lacks
                place = np.where(lacks, self.missing[j], place)
            left_out |= place < 0
            words[:, digit.word] += place * digit.stride
        return words, incomplete, left_out


def level_of(column: "pa.ChunkedArray", levels: Levels, name: str) -> IntArray:
    """The level of each record, NO_LEVEL where it is missing.

    Checked: every value is one that was seen before; else the file has changed in between.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(levels.values):
        return np.full(len(column), NO_LEVEL, dtype=np.int64)
    own = column if column.type == levels.values.type else column.cast(levels.values.type)
    found = pc.index_in(own, value_set=levels.values)
    if found.null_count > own.null_count:
        raise FileError(must_be(name, "the same from beginning to end", "other values meanwhile"))
    at = found.fill_null(len(levels.values))
    if isinstance(at, pa.ChunkedArray):
        at = at.combine_chunks()
    place: IntArray = np.append(levels.places, NO_LEVEL)[at.to_numpy(zero_copy_only=False)]
    return place


def _numbers(column: "pa.ChunkedArray", weight: WeightColumn) -> "pa.ChunkedArray":
    """Weights as numbers, read by the same rule as DuckDB's engine reads them."""
    import duckdb
    import pyarrow as pa

    if column.type == pa.float64():
        return column
    with duckdb.connect(config={"threads": 1}) as con:
        con.register("t", pa.table({"c": column, "i": pa.array(np.arange(len(column)))}))
        number = weight_number("c", weight.sql_type, weight.mark)
        found: pa.Table = con.sql(f"SELECT {number} AS w FROM t ORDER BY i").to_arrow_table()
    return found["w"]
