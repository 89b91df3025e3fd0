"""Rows as a frame of the kind that someone works with: pandas, polars or an Arrow table."""

import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import pyarrow as pa

from discreet.data.missing import MISSING_LABELS
from discreet.errors import InputError, must_be

FRAME_KINDS = ("pandas", "polars", "arrow")


def kind_of_frame(frame: Any) -> str:
    """Which kind a frame is; Arrow for all that is neither pandas nor polars."""
    home = type(frame).__module__.partition(".")[0]
    return home if home in FRAME_KINDS else "arrow"


def usual_kind() -> str:
    """pandas where it is installed, else Arrow."""
    return "arrow" if find_spec("pandas") is None else "pandas"


def frame_from(table: pa.Table, kind: str | None = None) -> Any:
    """An Arrow table as a frame of that kind; by default as `usual_kind` says."""
    kind = usual_kind() if kind is None else kind
    if kind not in FRAME_KINDS:
        raise InputError(must_be("kind", f"one of {', '.join(FRAME_KINDS)}", repr(kind)))
    if kind == "arrow":
        return table
    if find_spec(kind) is None:
        remedy = "an Arrow table can always be had (kind='arrow')"
        raise InputError(must_be("kind", "an installed library", repr(kind), remedy=remedy))
    if kind == "pandas":
        return table.to_pandas()
    import polars

    return polars.from_arrow(table)


def table_from_rows(rows: Sequence[Mapping[str, Any]], types: Mapping[str, Any]) -> pa.Table:
    """Rows as an Arrow table, one column a name; what a row lacks is empty.

    Labels of a column in `types` become values of that type again.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_column([row.get(name) for row in rows], types.get(name)) for name in names]
    return pa.Table.from_arrays(columns, names=names)


def _column(values: list[Any], own: Any) -> pa.Array:
    """Values in one type: their own, else numbers as floats, else text."""
    if own is not None and all(value is None or isinstance(value, str) for value in values):
        found = _typed(values, own)
        if found is not None:
            return found
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        pass
    if all(value is None or isinstance(value, int | float) for value in values):
        try:
            return pa.array([None if value is None else float(value) for value in values])
        except OverflowError:
            return pa.array([None if value is None else str(value) for value in values])
    return pa.array([None if value is None else _text(value) for value in values])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _typed(labels: list[str | None], own: Any) -> pa.Array | None:
    """Labels as values of a type, None where one is no such value."""
    known = [None if label in MISSING_LABELS else label for label in labels]
    try:
        found = pa.array(known, pa.string()).cast(own)
        again = found.cast(pa.string()).to_pylist()
    except pa.ArrowException:
        return None
    lost = sum(a is None for a in again) != sum(a is None for a in known)
    return None if lost else found
