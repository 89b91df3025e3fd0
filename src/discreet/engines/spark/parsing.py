"""A CSV file made into Parquet by one of Spark's workers, with the reader that DuckDB has.

So a CSV file has the same values, and the same faults at the same lines, on every engine. Its one
reader goes through it once, in bounded memory, and keeps the order of the records.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from discreet.data.records import CsvScan, ParquetScan
from discreet.engines.spark.folding import fold
from discreet.engines.spark.work import Work

if TYPE_CHECKING:
    import pyarrow as pa

MEMORY = "512MB"
THREADS = 4


def parsed(work: Work, scan: CsvScan, name: str) -> ParquetScan:
    """The wanted columns of the file, all of them text, as c0, c1, … of one Parquet file."""
    folder = work.new_folder("parsed")
    folder.mkdir()
    target = folder / "records.parquet"
    one = work.spark.range(0, 1, 1, 1)
    fold(work, "reading the records", one, _Parser(scan, name, folder, target))
    columns = tuple(f"c{i}" for i in range(len(scan.positions)))
    return ParquetScan((target,), columns, hive=False)


class _Parser:
    """Parses the file, for the one row that it is asked for."""

    def __init__(self, scan: CsvScan, name: str, folder: Path, target: Path) -> None:
        self.scan, self.name, self.folder, self.target = scan, name, folder, target

    def of(self, batch: "pa.Table") -> bool:
        """Whether it is done."""
        import duckdb

        from discreet.engines import sql
        from discreet.engines.duckdb_errors import translated
        from discreet.engines.duckdb_scan import from_clause

        columns = ", ".join(f"c{i}" for i in range(len(self.scan.positions)))
        own = self.target.with_name(uuid4().hex)  # Spark may try twice, even at the same time
        config: dict[str, Any] = {
            "memory_limit": MEMORY,
            "threads": min(THREADS, os.cpu_count() or 1),
            "temp_directory": str(self.folder / "spill"),
        }
        with duckdb.connect(config=config) as con, translated(self.name):
            source = from_clause(con, self.scan, self.folder)
            con.execute(
                f"COPY (SELECT {columns} FROM {source}) "
                f"TO {sql.text_literal(str(own))} (FORMAT parquet)"
            )
        own.replace(self.target)
        return True

    def joined(self, one: bool, other: bool) -> bool:
        """Whether both are."""
        return one and other
