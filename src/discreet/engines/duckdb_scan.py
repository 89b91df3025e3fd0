"""Records as something DuckDB can read FROM, with columns c0, c1, …"""

import csv
import shutil
import tempfile
from pathlib import Path
from typing import Any, TextIO

import duckdb

from discreet.data.columns import FRAME
from discreet.data.csv_dialect import CsvDialect, open_text, readable
from discreet.data.records import ArrowScan, CsvScan, ParquetScan, Scan, SparkScan
from discreet.engines.sql import quoted, text_literal
from discreet.errors import InputError, must_be

CHUNK = 1 << 24


def from_clause(con: duckdb.DuckDBPyConnection, scan: Scan, workspace: Path) -> str:
    """A parenthesised query over the scan's columns, named c0, c1, … in the wanted order."""
    match scan:
        case ArrowScan(table):
            name = f"arrow_{id(table)}"
            con.register(name, table)
            return f"(SELECT * FROM {name})"
        case ParquetScan(paths, columns, hive):
            picked = ", ".join(f"{quoted(name)} AS c{i}" for i, name in enumerate(columns))
            files = ", ".join(_literal_path(path) for path in paths)
            # Statistics of a file leave NaN out; DuckDB would take that for a promise of none.
            options = f"can_have_nan=true, hive_partitioning={hive}".lower()
            options += f", union_by_name={len(paths) > 1}".lower()
            return f"(SELECT {picked} FROM read_parquet([{files}], {options}))"
        case CsvScan():
            return _csv_clause(scan, workspace)
        case SparkScan():
            remedy = "choose Spark (engine), or hand over frame.toArrow()"
            raise InputError(must_be(FRAME, "one in memory", "a Spark frame", remedy=remedy))


def _csv_clause(scan: CsvScan, workspace: Path) -> str:
    """All columns as text: '01' and '1' stay what they are, and no guess can fail half-way."""
    dialect = scan.dialect
    picked = ", ".join(f"x{at} AS c{i}" for i, at in enumerate(scan.positions))
    columns = ", ".join(f"'x{i}': 'VARCHAR'" for i in range(len(dialect.names)))
    options = {
        "auto_detect": "false",
        "header": "true",
        "skip": str(dialect.blank_lines),
        "delim": text_literal(dialect.delimiter),
        "quote": text_literal(dialect.quote),
        "escape": text_literal(dialect.quote),
        "columns": "{" + columns + "}",
    }
    given = ", ".join(f"{name}={value}" for name, value in options.items())
    path = _literal_path(_as_utf8(scan, workspace))
    return f"(SELECT {picked} FROM read_csv([{path}], {given}))"


def _literal_path(path: Path) -> str:
    """The path as SQL text, with the characters that DuckDB takes for a pattern taken literally."""
    return text_literal("".join(f"[{c}]" if c in "*?[" else c for c in str(path)))


def _as_utf8(scan: CsvScan, workspace: Path) -> Path:
    """The file itself if it is plain UTF-8, else a copy that is, in the private workspace.

    A packed file is unpacked here once, with its check sum, rather than twice by DuckDB.
    """
    encoding = scan.dialect.encoding.lower().replace("_", "-")
    plain = encoding in ("utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii")
    misread = scan.dialect.header_breaks or scan.dialect.mark_hides_quote
    if plain and scan.path.suffix.lower() != ".gz" and not misread:
        return scan.path
    copy = Path(tempfile.mkstemp(suffix=".csv", dir=workspace)[1])
    with (
        readable(scan.path, scan.dialect.encoding),
        open_text(scan.path, scan.dialect.encoding) as source,
        copy.open("w", encoding="utf-8", newline="") as target,
    ):
        if scan.dialect.header_breaks:
            _write_anew(source, target, scan.dialect)
        else:
            shutil.copyfileobj(source, target, CHUNK)
    return copy


def _write_anew(source: TextIO, target: TextIO, dialect: CsvDialect) -> None:
    """Row by row with one kind of line end: DuckDB takes a break within the header for it."""
    style: dict[str, Any] = {"delimiter": dialect.delimiter, "quotechar": dialect.quote}
    rows = csv.reader(source, **style)
    for _ in range(dialect.blank_lines):
        next(rows)
    target.write("\n" * dialect.blank_lines)
    writer = csv.writer(target, lineterminator="\n", **style)
    next(rows)
    writer.writerow(f"x{i}" for i in range(len(dialect.names)))
    writer.writerows(rows)
