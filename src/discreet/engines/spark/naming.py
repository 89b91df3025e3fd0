"""Levels of a column: which values are missing, what each is called, and in which order they stand.

One rule for every engine: the distinct values that Spark found are handed to DuckDB, in the driver,
which names and orders them by the same expressions as its own (`sql.KeyType`). So

- text is its own name, and the empty text is missing; NaN is missing, and −0 is 0;
- a floating-point number that is whole and below 1e15 is written without a point, any other with
  the fewest digits that tell it from its neighbours, such as 0.1 and 1e+300;
- integers, decimals (with all their decimals), dates (2020-02-29), timestamps (with microseconds
  where there are any, in UTC where they have a zone), true and false as DuckDB writes them;
- numbers stand in order of size, also those that are written as text, which come before all other
  text; that stands in the binary order of UTF-8.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from discreet.data.csv_dialect import not_in_encoding
from discreet.engines.duckdb_keys import Column
from discreet.engines.spark.values import Values
from discreet.numerics.arrays import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

NO_LEVEL = -1


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a column: `labels` in order, the place of each of the `values` among them
    (NO_LEVEL for one that is missing), and the records that lack one.

    `by_code` counts the records with each of the column's codes.
    """

    labels: tuple[str, ...]
    values: "pa.Array"
    places: IntArray
    n_missing: int
    by_code: dict[str, int]


def named_levels(column: Column, found: Values, source: str) -> Levels:
    """The levels of a column, whose values are called v in its SQL; `source` is for messages."""
    import pyarrow as pa

    values = found.table["v"].combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    _check_text(values, source)
    with connected() as con:
        _name(con, column, found.table.append_column("i", pa.array(np.arange(len(values)))))
        labels = _in_order(con, column)
        con.register("levels", {"label": np.array(labels, object), "place": np.arange(len(labels))})
        places = con.execute(
            f"SELECT coalesce(place, {NO_LEVEL}) AS place "
            "FROM named LEFT JOIN levels USING (label) ORDER BY i"
        ).fetchnumpy()["place"]
        absent = con.execute("SELECT coalesce(sum(n), 0) FROM named WHERE k IS NULL").fetchall()
        counts = dict(con.execute("SELECT code, sum(n) FROM named GROUP BY code").fetchall())
    return Levels(
        labels=labels,
        values=values,
        places=np.asarray(places, dtype=np.int64),
        n_missing=found.n_null + int(absent[0][0]),
        by_code={code: int(counts.get(code, 0)) for code in column.codes},
    )


def _name(con: duckdb.DuckDBPyConnection, column: Column, found: "pa.Table") -> None:
    """Table `named`: of each value i, k as the column has it, its label, and how a code reads."""
    con.register("found", found)
    plain = f"(SELECT CAST(v AS {castable(column.sql_type)}) AS v, n, i FROM found)"
    con.execute(
        f"CREATE TABLE named AS SELECT k, {column.key_type.label('k')} AS label, n, i, code "
        f"FROM (SELECT {column.value()} AS k, {column.label()} AS code, n, i FROM {plain})"
    )


def _in_order(con: duckdb.DuckDBPyConnection, column: Column) -> tuple[str, ...]:
    rows = con.execute(
        "SELECT label FROM (SELECT any_value(k) AS k, label FROM named WHERE label IS NOT NULL "
        f"GROUP BY label) ORDER BY {column.key_type.order('k')}"
    ).fetchall()
    return tuple(label for (label,) in rows)


def connected() -> duckdb.DuckDBPyConnection:
    """DuckDB for a few values, with the settings of the engine that has its name."""
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    return con


def castable(sql_type: str) -> str:
    """A type that values can be cast to; categories are text."""
    return "VARCHAR" if sql_type in ("ENUM", "NULL") else sql_type


def _check_text(values: "pa.Array", source: str) -> None:
    import pyarrow as pa

    try:
        values.validate(full=True)
    except pa.ArrowInvalid as error:
        raise not_in_encoding(source, "utf-8", None) from error
