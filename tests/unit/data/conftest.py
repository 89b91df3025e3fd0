"""Protected copies, made as a command makes them: what must be carried is read by the engine."""

from contextlib import contextmanager

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet.data.output_columns import OutputColumn
from discreet.data.record_output import record_output
from discreet.data.records import ArrowScan, open_records
from discreet.data.writing import written_whole
from discreet.engines.duckdb_scan import from_clause


def values_of(records, names, workspace):
    """The columns as the engine reads them, in the order of the source."""
    scan = records.scan(records.find("columns", names))
    if isinstance(scan, ArrowScan):
        return scan.table.rename_columns(names)
    with duckdb.connect() as con:
        found = con.sql(f"SELECT * FROM {from_clause(con, scan, workspace)}").to_arrow_table()
    return found.rename_columns(names)


class Copies:
    """Writes a copy of a source: all of it, or some rows and columns, some of them changed."""

    def __init__(self, workspace):
        self.workspace = workspace

    def columns(self, records, names, recoded, numbers):
        names = records.column_names if names is None else names
        return [
            OutputColumn(name=name, recoded=recoded.get(name), numbers=name in numbers)
            for name in names
        ]

    @contextmanager
    def opened(self, source, path, *, names=None, changed=(), recoded=None, numbers=(), **options):
        """The records and an output that waits for rows."""
        records = open_records(source, **options)
        columns = self.columns(records, names, recoded or {}, numbers)
        with (
            written_whole(path) as temporary,
            record_output(temporary, records, columns, changed) as output,
        ):
            yield records, output

    def write(self, source, path, *, rows=None, changed=None, batch=2, **options):
        """The path of the copy; `changed` has the values of changed columns, one a row."""
        changed = changed or {}
        with self.opened(source, path, changed=changed, **options) as (records, output):
            every = values_of(records, list(records.column_names), self.workspace)
            rows = np.arange(every.num_rows) if rows is None else np.array(rows, dtype=np.int64)
            for start in range(0, len(rows), batch):
                part = rows[start : start + batch]
                table = {name: every[name].take(part) for name in output.carries}
                for name, values in changed.items():
                    table[name] = pa.array(values)[start : start + batch]
                output.write(part, pa.table(table))
        return path


@pytest.fixture
def copies(tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return Copies(workspace)
