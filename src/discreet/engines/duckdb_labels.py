"""A small table as text, by the rule that names levels."""

from pathlib import Path

import duckdb

from discreet.data.records import Records
from discreet.engines import sql
from discreet.engines.duckdb_scan import from_clause


def read_labels(
    con: duckdb.DuckDBPyConnection, records: Records, folder: Path
) -> dict[str, list[str | None]]:
    """Every column of a small table as text; None is missing."""
    positions = records.find("columns", records.column_names)
    source = from_clause(con, records.scan(positions), folder)
    types = [sql.base_type(row[1]) for row in con.execute(f"DESCRIBE FROM {source}").fetchall()]
    labels = []
    for i, sql_type in enumerate(types):
        key_type = sql.KeyType(sql_type)
        labels.append(key_type.label(f"({key_type.value(f'c{i}')})"))
    rows = con.execute(f"SELECT {', '.join(labels)} FROM {source}").fetchall()
    columns = zip(*rows, strict=True) if rows else ([] for _ in labels)
    return {n: list(column) for n, column in zip(records.column_names, columns, strict=True)}
