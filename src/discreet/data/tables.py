"""Small tables that come with the data, such as lists of combinations."""

import csv as csv_module

import pyarrow as pa

from discreet.data.csv_dialect import open_text, readable
from discreet.data.records import ArrowScan, CsvScan, ParquetScan, Records
from discreet.data.stat_files import level_text
from discreet.errors import FileError, must_be


def read_text_columns(records: Records) -> pa.Table:
    """All columns as text, an empty value as None; for tables that fit in memory with ease."""
    scan = records.scan(range(len(records.column_names)))
    match scan:
        case ArrowScan(table):
            columns = table.columns
        case ParquetScan(paths, names, _):
            columns = pa.concat_tables(pa.parquet.read_table(path) for path in paths).select(names)
            columns = columns.columns
        case CsvScan():
            return _read_csv(records.name, scan)
    texts = [[None if v is None else level_text(v) for v in c.to_pylist()] for c in columns]
    return _table(records.column_names, texts)


def _read_csv(name: str, scan: CsvScan) -> pa.Table:
    dialect = scan.dialect
    with readable(scan.path, dialect.encoding), open_text(scan.path, dialect.encoding) as text:
        rows = list(csv_module.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote))
    rows = rows[dialect.blank_lines :]
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(dialect.names):
            rule = f"a table with {len(dialect.names)} fields on each line"
            raise FileError(must_be(name, rule, f"{len(row)}", where=f"line {line}"))
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [[] for _ in dialect.names]
    return _table(dialect.names, [[value or None for value in column] for column in columns])


def _table(names: tuple[str, ...], columns: list[list[str | None]]) -> pa.Table:
    return pa.Table.from_arrays([pa.array(c, pa.string()) for c in columns], names=list(names))
