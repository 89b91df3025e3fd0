"""The schema of a protected copy in Arrow's terms: that of the source as far as it stays true."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.data.output_columns import OutputColumn

PANDAS = b"pandas"


def output_schema(
    columns: Sequence[OutputColumn], source: pa.Schema | None, arriving: pa.Schema
) -> pa.Schema:
    """Each column's type, and what the source says of its columns and of itself.

    `source` is the schema of the source where it has one; `arriving` has the types of the rows.
    """
    fields = [_field(column, source, arriving) for column in columns]
    said = dict(source.metadata or {}) if source is not None else {}
    if PANDAS in said:
        said[PANDAS] = _pandas_said(said[PANDAS], columns, fields)
    return pa.schema(fields, metadata=said or None)


def _field(column: OutputColumn, source: pa.Schema | None, arriving: pa.Schema) -> pa.Field:
    known = source is not None and column.name in source.names
    was = source.field(column.name) if known and source is not None else None
    if was is None:
        new = pa.string() if column.recoded is not None else _arriving(column.name, arriving)
        return pa.field(column.name, new)
    if column.own:
        return was.with_nullable(True)
    new = recoded_type(was.type) if column.recoded is not None else _arriving(column.name, arriving)
    return pa.field(column.name, new, metadata=was.metadata)


def _arriving(name: str, arriving: pa.Schema) -> pa.DataType:
    return arriving.field(name).type if name in arriving.names else pa.string()


def recoded_type(was: pa.DataType) -> pa.DataType:
    """A recoded key is text; coded text where the key was coded."""
    if pa.types.is_dictionary(was):
        return pa.dictionary(pa.int32(), pa.string(), was.ordered)
    texts = (pa.types.is_large_string(was), pa.types.is_string_view(was))
    return was if any(texts) else pa.string()


def _pandas_said(said: bytes, columns: Sequence[OutputColumn], fields: Sequence[pa.Field]) -> bytes:
    """What pandas noted of its frame, of the columns that go out and as they are now."""
    try:
        noted: dict[str, Any] = json.loads(said)
        of = {column.get("field_name") or column["name"]: column for column in noted["columns"]}
        kept = [
            of[c.name] if c.own else _noted(of[c.name], c, field.type)
            for c, field in zip(columns, fields, strict=True)
            if c.name in of
        ]
        names = {field.name for field in fields}
        index = [one for one in noted["index_columns"] if isinstance(one, str) and one in names]
    except (ValueError, KeyError, TypeError, AttributeError):  # written by something else
        return said
    return json.dumps({**noted, "columns": kept, "index_columns": index}).encode("utf-8")


def _noted(was: dict[str, Any], column: OutputColumn, kind: pa.DataType) -> dict[str, Any]:
    if pa.types.is_dictionary(kind):
        levels: Any = {"num_categories": len(column.recoded or ()), "ordered": kind.ordered}
        new: dict[str, Any] = {
            "pandas_type": "categorical",
            "numpy_type": "int32",
            "metadata": levels,
        }
    elif column.recoded is not None:
        new = {"pandas_type": "unicode", "numpy_type": "object", "metadata": None}
    else:
        plain = "float64" if pa.types.is_floating(kind) else str(kind)
        new = {"pandas_type": plain, "numpy_type": plain, "metadata": None}
    return {**was, **new}


def fitted(column: pa.ChunkedArray, kind: pa.DataType, levels: pa.Array | None) -> pa.ChunkedArray:
    """The column in that type; `levels` come first in the dictionary of coded text."""
    if column.type == kind and levels is None:
        return column
    if pa.types.is_null(kind):
        return pa.chunked_array([pa.nulls(len(column))])
    if not pa.types.is_dictionary(kind):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return column.cast(kind)
    coded = encoded(column, kind, levels)
    return pa.chunked_array([coded], coded.type)


def encoded(column: pa.ChunkedArray, kind: pa.DataType, levels: pa.Array | None) -> pa.Array:
    """Values as codes of `levels`, then of the values that are none of these."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values = column.cast(kind.value_type)
    known = pa.array([], kind.value_type) if levels is None else levels.cast(kind.value_type)
    present = values.unique().drop_null()
    fresh = present.filter(pc.invert(pc.is_in(present, value_set=known)))
    known = pa.concat_arrays([known, fresh])
    codes = pc.index_in(values, value_set=known, skip_nulls=True)
    codes = pa.concat_arrays(codes.chunks) if codes.num_chunks else pa.array([], pa.int32())
    return pa.DictionaryArray.from_arrays(codes.cast(kind.index_type), known, ordered=kind.ordered)
