"""Frames in memory as Arrow: pandas, polars, DuckDB relations, and all that speaks Arrow."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from discreet.data.python_tables import is_series, is_wide
from discreet.errors import ColumnError, InputError, must_be
from discreet.option_types import a_kind

TYPE_ROWS = 1000  # of a frame, that tell the types of its columns


def frame_columns(frame: Any) -> tuple[str, ...]:
    """The names of the columns; raises InputError for what is no frame of records."""
    _refuse_counts(frame)
    if not is_frame(frame):
        rule = "a path, a pandas or polars frame, an Arrow table or a DuckDB relation"
        raise InputError(must_be("source", rule, a_kind(frame), remedy=how_to_frame(frame)))
    names = frame.columns if _is_pandas(frame) else getattr(frame, "column_names", frame.columns)
    return tuple(str(name) for name in names)


def is_frame(frame: Any) -> bool:
    """A frame, a table or a relation that can be read."""
    return _is_pandas(frame) or _speaks_arrow(frame)


def how_to_frame(source: Any) -> str | None:
    """What makes a frame of something that is none."""
    if hasattr(type(source), "collect"):
        return "collect() makes a frame of it"
    if hasattr(type(source), "to_frame"):
        return "to_frame() makes a frame of its values"
    if isinstance(source, dict | list | tuple):
        return "make a frame of it first, as pandas.DataFrame does"
    return None


def _is_pandas(frame: Any) -> bool:
    return hasattr(type(frame), "iloc") and hasattr(type(frame), "columns")


def _speaks_arrow(frame: Any) -> bool:
    """A DuckDB relation, or a table that speaks the Arrow protocol (a lazy frame does not)."""
    kind = type(frame)
    return hasattr(kind, "to_arrow_table") or (
        hasattr(kind, "__arrow_c_stream__") and hasattr(kind, "columns")
    )


def frame_table(frame: Any, positions: Sequence[int]) -> pa.Table:
    """Whole frame as Arrow, or for pandas (which has no cheap view) only the wanted columns."""
    try:
        if _is_pandas(frame):
            return _pandas_table(frame, len(frame.columns), positions)
        if hasattr(frame, "to_arrow_table"):  # a DuckDB relation
            return frame.to_arrow_table()
        return pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        rule = "made of columns of one type that Arrow knows"
        remedy = "turn mixed or unusual columns into text first"
        got = _unlike_column(frame, positions)
        raise ColumnError(must_be("the data frame", rule, got, remedy=remedy)) from error


def _unlike_column(frame: Any, positions: Sequence[int]) -> str:
    """The column that Arrow does not know, by its name where that can be told."""
    if _is_pandas(frame):
        for i in positions:
            try:
                _pandas_column(frame.iloc[:, i])
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                return f"column {str(frame.columns[i])!r}"
    return "a column that is not"


def _pandas_table(frame: Any, width: int, positions: Sequence[int]) -> pa.Table:
    """Wanted columns in their place, the rest empty; the index never comes along."""
    wanted = set(positions)
    columns = [
        _pandas_column(frame.iloc[:, i]) if i in wanted else pa.nulls(len(frame))
        for i in range(width)
    ]
    return pa.Table.from_arrays(columns, names=[f"c{i}" for i in range(width)])


def _pandas_column(column: Any) -> pa.Array:
    """A pandas column; the intervals that `pandas.cut` makes, and periods, as text."""
    kind = str(getattr(column.dtype, "categories", column).dtype)
    if kind.startswith(("interval", "period")):
        column = column.astype(object).map(lambda value: value if value != value else str(value))
    return pa.array(column, from_pandas=True)


def frame_types(frame: Any, positions: Sequence[int]) -> list[pa.DataType | None]:
    """The types of the columns at these positions, as its first rows tell them."""
    table = frame_table(_first_rows(frame), positions)
    return [table.schema.types[i] for i in positions]


def _first_rows(frame: Any) -> Any:
    """Some rows of a frame, from which the types of its columns can be told."""
    if hasattr(frame, "to_arrow_table"):  # a DuckDB relation, which would be computed
        return frame.limit(TYPE_ROWS)
    return frame.head(TYPE_ROWS) if hasattr(frame, "head") else frame


def _refuse_counts(frame: Any) -> None:
    """A crosstab and a Series are tables or columns, not records."""
    rule = "a path, or a frame with one row a record"
    if is_wide(frame):
        remedy = "audit and choose take one; if these are records, take the name off the columns"
        raise InputError(must_be("source", rule, "a crosstab of counts", remedy=remedy))
    if is_series(frame):
        remedy = "to_frame() makes a frame of its values"
        raise InputError(must_be("source", rule, "a Series", remedy=remedy))
