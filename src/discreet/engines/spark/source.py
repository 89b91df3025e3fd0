"""Records as a Spark frame with columns c0, c1, …, whatever they are read from.

Every source is read from Parquet files, as these alone tell the place of a record in its file.
Parquet files are read where they are; a CSV file and a Spark table are written into the workspace
first, which also makes sure that reading them twice gives the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import duckdb

from discreet.data.records import CsvScan, Named, ParquetScan, Records, SparkScan
from discreet.engines import sql
from discreet.engines.duckdb_errors import translated as duckdb_translated
from discreet.engines.duckdb_scan import from_clause
from discreet.engines.spark.parsing import parsed
from discreet.engines.spark.work import Work, as_url
from discreet.errors import ColumnError, InputError, must_be

if TYPE_CHECKING:
    import pyarrow as pa

SPARK_TYPES = {  # by DuckDB's, for files of several types of numbers
    "TINYINT": "byte",
    "SMALLINT": "short",
    "INTEGER": "integer",
    "BIGINT": "long",
    "UTINYINT": "short",
    "USMALLINT": "integer",
    "UINTEGER": "long",
    "UBIGINT": "decimal(20,0)",
    "HUGEINT": "decimal(38,0)",
    "FLOAT": "float",
    "DOUBLE": "double",
    "VARCHAR": "string",
}


@dataclass(frozen=True, slots=True)
class Source:
    """Records to be read any number of times.

    `frame` has the wanted columns as c0, c1, …, then `place`, the place of a record in its file,
    and `file` where there are several files, whose first rows are `starts`. `types` are those that
    DuckDB gives the columns.
    """

    frame: Any
    types: tuple[str, ...]
    starts: Mapping[str, int]

    @property
    def values(self) -> Any:
        """The wanted columns alone."""
        return self.frame.select(*(f"c{i}" for i in range(len(self.types))))


def open_source(
    work: Work, records: Records, positions: Sequence[int], named: Named | None = None
) -> Source:
    """The columns at these positions; raises InputError for what Spark cannot read."""
    scan = records.scan(positions, named)
    if isinstance(scan, SparkScan):
        types = _described(_empty(scan.frame))
        found = _table(work, scan)
    elif isinstance(scan, CsvScan):
        found, types = parsed(work, scan, records.name), ("VARCHAR",) * len(positions)
    elif isinstance(scan, ParquetScan):
        with duckdb_translated(records.name):
            _check_readable(scan)
            found, types = scan, _described(scan)
    else:
        rule = "a Parquet or CSV file, or a Spark table, to be counted by Spark"
        remedy = "write it as Parquet first"
        raise InputError(must_be(records.name, rule, "another kind", remedy=remedy))
    return Source(_frame(work, found, types), types, _starts(found.paths))


def quoted(name: str) -> str:
    """A name as Spark takes it for one column, dots and all."""
    return "`" + name.replace("`", "``") + "`"


def rows(table: "pa.Table", starts: Mapping[str, int]) -> "pa.ChunkedArray":
    """The row of each record, from 1 in the order of the files."""
    import pyarrow as pa
    import pyarrow.compute as pc

    place = pc.add(table["place"].cast(pa.int64()), 1)
    if "file" not in table.column_names:
        return place
    coded = table["file"].combine_chunks().dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    before = [starts[unquote(urlparse(path).path)] for path in coded.dictionary.to_pylist()]
    return pc.add(place, pa.array(before, pa.int64()).take(coded.indices))


def _empty(frame: Any) -> "pa.Table":
    return frame.limit(0).toArrow()


def _described(source: "ParquetScan | pa.Table") -> tuple[str, ...]:
    """The types of the columns as DuckDB tells them."""
    with duckdb.connect() as con:
        clause = "source"
        if isinstance(source, ParquetScan):
            clause = from_clause(con, source, Path())
        else:
            names = [f"c{i}" for i in range(source.num_columns)]
            con.register(clause, source.rename_columns(names))
        found = con.execute(f"DESCRIBE SELECT * FROM {clause}").fetchall()
    return tuple(sql.base_type(row[1]) for row in found)


def _check_readable(scan: ParquetScan) -> None:
    """Spark knows the types of the columns; raises ColumnError where it does not."""
    for schema in _by_types(scan):
        for field in schema:
            got = _unknown(field.type)
            if got is not None:
                rule = "of a type that Spark reads"
                remedy = "write it in another type, such as text"
                raise ColumnError(must_be(f"column {field.name!r}", rule, got, remedy=remedy))


def _unknown(kind: "pa.DataType") -> str | None:
    """What a type is that Spark does not read."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return "timestamps with nanoseconds"
    if pa.types.is_time(kind):
        return "times of day"
    if pa.types.is_float16(kind):
        return "floating-point numbers of 16 bits"
    return "decimals of more than 38 digits" if pa.types.is_decimal256(kind) else None


def _table(work: Work, scan: SparkScan) -> ParquetScan:
    """A Spark table, written once, in the order in which Spark reads it."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import NullType

    own = scan.frame.toDF(*(f"c{i}" for i in range(len(scan.frame.columns))))
    kinds = own.schema.fields
    empty = [field.name for field in kinds if isinstance(field.dataType, NullType)]
    own = reduce(lambda f, name: f.withColumn(name, F.col(name).cast("string")), empty, own)
    folder = work.write("reading the records", own, "table")
    paths = tuple(sorted(folder.glob("*.parquet")))
    return ParquetScan(paths, tuple(own.columns), hive=False)


def _frame(work: Work, scan: ParquetScan, types: Sequence[str]) -> Any:
    """The wanted columns and the place of each record. Files that differ in the types of these are
    read by themselves, as Spark reads no file by the types of another."""
    alike = _by_types(scan)
    kinds = [None if len(alike) == 1 else _spark_type(kind) for kind in types]
    frames = [_frame_of(work, scan, own, paths, kinds) for own, paths in alike.items()]
    return reduce(lambda one, other: one.unionAll(other), frames)


def _frame_of(
    work: Work, scan: ParquetScan, own: "pa.Schema", paths: Sequence[Path], kinds: Sequence[Any]
) -> Any:
    """Files that have their columns alike, each read as the kind that it has in all, where told."""
    from pyspark.sql import functions as F  # noqa: N812

    reader = work.spark.read
    if scan.hive:
        reader = reader.option("basePath", as_url(_base(scan.paths[0])))
    files = reader.schema(_schema(work, scan, own)).parquet(*map(as_url, paths))
    place = files.metadataColumn("_metadata")
    columns = []
    for i, (name, kind) in enumerate(zip(scan.columns, kinds, strict=True)):
        column = F.col(quoted(name))
        columns.append((column if kind is None else column.cast(kind)).alias(f"c{i}"))
    columns.append(place["row_index"].alias("place"))
    if len(scan.paths) > 1:
        columns.append(place["file_path"].alias("file"))
    return files.select(*columns)


def _by_types(scan: ParquetScan) -> "dict[pa.Schema, list[Path]]":
    """The files by the types of the wanted columns that they have."""
    found: dict[pa.Schema, list[Path]] = {}
    for path in scan.paths:
        found.setdefault(_types_in(path, scan.columns), []).append(path)
    return found


def _types_in(path: Path, names: Sequence[str]) -> "pa.Schema":
    """The types of some columns of a file, of those that it has."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    told = pq.read_metadata(path).schema
    schema = told.to_arrow_schema()
    leaves = (told.column(i) for i in range(len(told)))
    of_spark = {leaf.path for leaf in leaves if leaf.physical_type == "INT96"}
    moment = pa.timestamp("us", "UTC")  # what Spark itself means by the timestamps that it writes
    return pa.schema(
        (name, moment if name in of_spark else schema.field(name).type)
        for name in dict.fromkeys(names)
        if name in schema.names
    )


def _schema(work: Work, scan: ParquetScan, own: "pa.Schema") -> Any:
    """The wanted columns as Spark reads them, which it tells of a file that has no others: of one
    column that it cannot read it would refuse the whole file. Folders' names are text."""
    import pyarrow.parquet as pq
    from pyspark.sql.types import StringType, StructType

    folder = work.new_folder("types")
    folder.mkdir()
    pq.write_table(own.empty_table(), folder / "none.parquet")
    told = work.spark.read.parquet(as_url(folder)).schema if len(own) else StructType()
    schema = StructType()
    for name in dict.fromkeys(scan.columns):
        kind = told[name].dataType if name in own.names else StringType()
        schema = schema.add(name, kind)
    return schema


def _spark_type(kind: str) -> str | None:
    """Spark's name for a type of numbers or text of DuckDB's."""
    return kind.lower() if kind.startswith("DECIMAL") else SPARK_TYPES.get(kind)


def _base(path: Path) -> Path:
    """The folder above those that are named column=value."""
    return next(
        (folder for folder in reversed(path.parents) if _has_value_below(folder, path)), path.parent
    )


def _has_value_below(folder: Path, path: Path) -> bool:
    return "=" in path.relative_to(folder).parts[0]


def _starts(paths: Sequence[Path]) -> dict[str, int]:
    """How many rows come before each file."""
    import pyarrow.parquet as pq

    starts, total = {}, 0
    for path in paths if len(paths) > 1 else ():
        starts[str(path.absolute())] = total
        total += pq.read_metadata(path).num_rows
    return starts
