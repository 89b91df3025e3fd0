"""A protected copy of a frame, as a frame of the same kind."""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from discreet.data.arrow_schema import fitted, output_schema
from discreet.data.frames import kind_of_frame
from discreet.data.output_columns import (
    OutputColumn,
    RecordOutput,
    check_columns,
    joined,
    rows_of,
    without,
)
from discreet.data.records import Records
from discreet.numerics.arrays import BoolArray, IntArray


class FrameOutput(RecordOutput, Protocol):
    """Takes rows, and gives them as a frame when all are there."""

    def frame(self) -> Any:
        """All rows, as the kind of frame that the source is."""


def frame_output(
    frame: Any, records: Records, columns: Sequence[OutputColumn], changed: Collection[str]
) -> FrameOutput:
    """A copy of `frame`, which `records` were opened from: pandas or polars as it is, else (Arrow
    tables, DuckDB relations) an Arrow table."""
    check_columns(records, columns)
    kind = kind_of_frame(frame)
    if kind == "pandas":
        return PandasOutput(frame, records, columns, changed)
    if kind == "polars":
        return PolarsOutput(frame, records, columns, changed)
    return TableOutput(frame, records, columns, changed)


class GatheredRows:
    """Keeps the rows and their changed columns until all are there."""

    carries: tuple[str, ...] = ()

    def __init__(
        self,
        frame: Any,
        records: Records,
        columns: Sequence[OutputColumn],
        changed: Collection[str],
    ) -> None:
        self._frame, self._columns, self._changed = frame, tuple(columns), frozenset(changed)
        self._records = records
        self._places = [records.column_names.index(column.name) for column in columns]
        self._rows: list[IntArray] = []
        self._tables: list[pa.Table] = []

    def write(self, rows: IntArray, table: pa.Table) -> None:
        """Adds rows."""
        self._rows.append(np.asarray(rows, dtype=np.int64))
        names = [column.name for column in self._columns if column.name in self._changed]
        self._tables.append(table.select(names))

    def _all_rows(self) -> IntArray:
        return np.concatenate(self._rows) if self._rows else np.zeros(0, dtype=np.int64)

    def _handed(self, column: OutputColumn) -> pa.ChunkedArray:
        """All that was handed over of a column, coded text as text."""
        found = [table.column(column.name) for table in self._tables]
        return joined(found, pa.float64() if column.numbers else pa.string())

    def _gone(self, column: OutputColumn) -> BoolArray:
        """Where a value is missing or was taken out."""
        return np.asarray(self._handed(column).is_null().to_numpy(), dtype=np.bool_)


class PandasOutput(GatheredRows):
    """A pandas frame with its index, the types of its columns and their names."""

    def frame(self) -> Any:
        """All rows; a column of whole numbers or of truth values from which values were taken is
        one that can be empty."""
        found = self._frame.iloc[self._all_rows(), self._places].copy()
        series = [
            self._series(column, found.iloc[:, place]) for place, column in enumerate(self._columns)
        ]
        if not series:
            return found
        import pandas as pd

        made = pd.concat(series, axis=1)
        made.columns = found.columns
        made.attrs = dict(found.attrs)
        return made

    def _series(self, column: OutputColumn, was: Any) -> Any:
        if column.name not in self._changed:
            return was
        if column.own:
            return _pandas_without(was, self._gone(column))
        if column.recoded is None:
            return self._numbers(was, column)
        return self._recoded(was, column)

    def _numbers(self, was: Any, column: OutputColumn) -> Any:
        import pandas as pd

        return pd.Series(self._handed(column).to_pandas().to_numpy(), index=was.index)

    def _recoded(self, was: Any, column: OutputColumn) -> Any:
        import pandas as pd

        texts = self._handed(column).to_pylist()
        if isinstance(was.dtype, pd.CategoricalDtype):
            kind = pd.CategoricalDtype(list(column.recoded or ()), ordered=was.dtype.ordered)
            return pd.Series(pd.Categorical(texts, dtype=kind), index=was.index)
        if isinstance(was.dtype, pd.StringDtype):
            return pd.Series(texts, index=was.index, dtype=was.dtype)
        # Some text at the end, so that a column of nothing but gaps is one of text as well.
        return pd.Series([*texts, ""]).iloc[:-1].set_axis(was.index)


def _pandas_without(was: Any, gone: BoolArray) -> Any:
    """The column with those values taken out, in its own type where that has room for gaps."""
    taken = gone & ~was.isna().to_numpy()
    if not taken.any():
        return was
    kind = was.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iu":
        was = was.astype(("U" if kind.kind == "u" else "") + f"Int{8 * kind.itemsize}")
    elif isinstance(kind, np.dtype) and kind.kind == "b":
        was = was.astype("boolean")
    return was.mask(taken)


class PolarsOutput(GatheredRows):
    """A polars frame with the types of its columns."""

    def frame(self) -> Any:
        """All rows."""
        import polars as pl

        names = [self._frame.columns[place] for place in self._places]
        found = self._frame.select(names)[self._all_rows()]
        return found.with_columns(
            self._series(pl, column, found[column.name])
            for column in self._columns
            if column.name in self._changed
        )

    def _series(self, pl: Any, column: OutputColumn, was: Any) -> Any:
        if column.own:
            gone = pl.Series(self._gone(column))
            return was.set(gone, None)
        handed = pl.Series(column.name, self._handed(column))
        if column.recoded is None:
            return handed
        if isinstance(was.dtype, pl.Enum):
            return handed.cast(pl.Enum(list(column.recoded)))
        categorical = isinstance(was.dtype, pl.Categorical)
        return handed.cast(pl.Categorical if categorical else pl.String)


class TableOutput(GatheredRows):
    """An Arrow table with its schema as far as it stays true."""

    def frame(self) -> pa.Table:
        """All rows."""
        source = self._source()
        own = rows_of(source, self._all_rows())
        handed = {
            column.name: self._handed(column)
            for column in self._columns
            if column.name in self._changed
        }
        arriving = pa.schema([(name, column.type) for name, column in handed.items()])
        schema = output_schema(self._columns, source.schema, arriving)
        columns = [
            self._column(column, own.column(at), handed.get(column.name), schema.field(place).type)
            for place, (column, at) in enumerate(zip(self._columns, self._places, strict=True))
        ]
        return pa.Table.from_arrays(columns, schema=schema)

    def _source(self) -> pa.Table:
        """The whole source as an Arrow table."""
        given = self._frame
        return given.to_arrow_table() if hasattr(given, "to_arrow_table") else pa.table(given)

    def _column(
        self,
        column: OutputColumn,
        own: pa.ChunkedArray,
        handed: pa.ChunkedArray | None,
        kind: pa.DataType,
    ) -> pa.ChunkedArray:
        if handed is None:
            return own
        if column.own:
            return without(own, handed)
        levels = pa.array(column.recoded, pa.string()) if column.recoded is not None else None
        return fitted(handed, kind, levels if pa.types.is_dictionary(kind) else None)
