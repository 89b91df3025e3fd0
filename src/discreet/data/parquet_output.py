"""Parquet and Arrow files of a protected copy, written as the rows come."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.data.arrow_schema import fitted, output_schema
from discreet.data.output_columns import OutputRows
from discreet.data.records import Records, arrow_table, is_arrow, is_parquet
from discreet.errors import OutputError, must_be
from discreet.numerics.arrays import IntArray

GROUP = 1 << 17  # rows of a row group


class ArrowRows:
    """Gathers rows and hands them on in groups, all in one schema.

    `start` opens what writes groups, which is known only when the first rows show their types.
    """

    def __init__(
        self, rows: OutputRows, source: pa.Schema | None, start: Callable[[pa.Schema], Any]
    ) -> None:
        self.carries = rows.carries
        self._rows, self._source, self._start = rows, source, start
        self._waiting: list[pa.Table] = []
        self._levels: dict[str, pa.Array] = {
            column.name: pa.array(column.recoded, pa.string())
            for column in rows.columns
            if column.recoded is not None
        }
        self._writer: Any = None
        self._schema = pa.schema([])

    def know(self, levels: Mapping[str, pa.Array]) -> None:
        """The dictionaries of coded columns whose values come as plain text."""
        self._levels = {**levels, **self._levels}

    def write(self, rows: IntArray, table: pa.Table) -> None:
        """Adds rows."""
        self._waiting.append(self._rows.table(rows, table))
        if sum(one.num_rows for one in self._waiting) >= GROUP:
            self._flush()

    def finish(self) -> None:
        """Writes what waits, and the end of the file."""
        if self._waiting or self._writer is None:
            self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Leaves a file that cannot be finished; else the writer would try once more, aloud."""
        if isinstance(self._writer, pq.ParquetWriter):
            self._writer.is_open = False

    def _flush(self) -> None:
        arriving = self._waiting[0].schema if self._waiting else _types_of(self._rows)
        if self._writer is None:
            self._schema = output_schema(self._rows.columns, self._source, arriving)
            self._writer = self._start(self._schema)
        for group in self._waiting:
            self._writer.write_table(self._fitted(group))
        self._waiting = []

    def _fitted(self, table: pa.Table) -> pa.Table:
        columns = []
        for field in self._schema:
            column = self._column(table.column(field.name), field)
            if pa.types.is_dictionary(field.type) and column.num_chunks:
                self._levels[field.name] = column.chunk(0).dictionary
            columns.append(column)
        return pa.Table.from_arrays(columns, schema=self._schema)

    def _column(self, column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
        """The column in the type of its field."""
        coded = pa.types.is_dictionary(field.type)
        try:
            if coded and column.type == field.type and field.name not in self._levels:
                return column.unify_dictionaries()
            return fitted(column, field.type, self._levels.get(field.name) if coded else None)
        except pa.ArrowException as error:
            rule, got = f"of {field.type} in every file", "values of another kind"
            raise OutputError(must_be(f"column {field.name!r}", rule, got)) from error


def _types_of(rows: OutputRows) -> pa.Schema:
    """The types of rows where there are none: those of the source where they are known."""
    held = rows.held.schema if rows.held is not None else pa.schema([])
    return pa.schema(
        held.field(column.name)
        if column.name in held.names
        else pa.field(column.name, pa.float64() if column.numbers else pa.string())
        for column in rows.columns
    )


@contextmanager
def parquet_output(path: Path, records: Records, rows: OutputRows) -> Iterator[ArrowRows]:
    """One Parquet file, packed as the source is where that is Parquet."""
    source, packing = source_schema(records), _packing(records, rows.names)

    def start(schema: pa.Schema) -> pq.ParquetWriter:
        return pq.ParquetWriter(file, schema, compression=packing)

    with path.open("wb") as file:
        output = ArrowRows(rows, source, start)
        if source is not None and is_parquet(records):
            output.know(_dictionaries(records.files, source, rows.names))
        try:
            yield output
            output.finish()
        except BaseException:
            output.abandon()
            raise


@contextmanager
def arrow_output(path: Path, records: Records, rows: OutputRows) -> Iterator[ArrowRows]:
    """One Arrow IPC file; a .feather file is packed, as such files are."""
    packing = "lz4" if path.suffix.lower() == ".feather" else None
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True, compression=packing)

    def start(schema: pa.Schema) -> Any:
        return pa.ipc.new_file(file, schema, options=options)

    with path.open("wb") as file:
        output = ArrowRows(rows, source_schema(records), start)
        if is_parquet(records) and (source := source_schema(records)) is not None:
            output.know(_dictionaries(records.files, source, rows.names))
        yield output
        output.finish()


def source_schema(records: Records) -> pa.Schema | None:
    """The schema of Parquet files or of an Arrow file; None for other sources."""
    if is_arrow(records):
        return arrow_table(records.files[0]).schema
    if not is_parquet(records):
        return None
    first, *others = (pq.read_schema(path) for path in records.files)
    if not others:
        return first
    try:
        joined = pa.unify_schemas([first, *others], promote_options="permissive")
    except pa.ArrowException:
        return first
    return joined.with_metadata(first.metadata)


def _dictionaries(
    paths: Sequence[Path], schema: pa.Schema, names: Sequence[str]
) -> dict[str, pa.Array]:
    """The values of coded columns in the order of the first rows of the source."""
    coded = [
        name
        for name in names
        if name in schema.names and pa.types.is_dictionary(schema.field(name).type)
    ]
    file = pq.ParquetFile(paths[0])
    if not coded or not file.num_row_groups:
        return {}
    table = file.read_row_group(0, columns=coded).unify_dictionaries()
    return {
        name: table.column(name).chunk(0).dictionary
        for name in coded
        if pa.types.is_dictionary(table.column(name).type) and table.column(name).num_chunks
    }


def _packing(records: Records, names: Sequence[str]) -> str | dict[str, str]:
    """How the columns of the source are packed; one word where all are alike."""
    if not is_parquet(records):
        return "snappy"
    about = pq.ParquetFile(records.files[0]).metadata
    if not about.num_row_groups:
        return "snappy"
    group = about.row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]
    of = {column.path_in_schema: _codec(column.compression) for column in columns}
    usual = Counter(of.values()).most_common(1)[0][0]
    if len(set(of.values())) == 1:
        return usual
    return {**dict.fromkeys(names, usual), **of}


def _codec(name: str) -> str:
    return "none" if name == "UNCOMPRESSED" else name.lower()
