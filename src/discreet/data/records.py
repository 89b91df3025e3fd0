"""Records as the agency holds them: a file, a folder of files, or a frame in memory.

`open_records` looks at the source and reads nothing but names. `Records.scan` then says where the
wanted columns are to be had, as one of a few kinds that engines know how to read.
"""

import glob
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data import excel_files, stat_files
from discreet.data.columns import FRAME, find_columns
from discreet.data.csv_dialect import CsvDialect, CsvOptions, read_dialect
from discreet.errors import ColumnError, FileError, InputError, must_be

if TYPE_CHECKING:
    import pyarrow as pa  # loaded where a source is no CSV file

CSV_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")
KINDS = "CSV, Parquet, Arrow/Feather, Excel, Stata, SPSS or SAS"


@dataclass(frozen=True, slots=True)
class CsvScan:
    """A CSV file; `positions` are the wanted columns among those of the dialect."""

    path: Path
    dialect: CsvDialect
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ParquetScan:
    """Parquet files that share their columns, in reading order."""

    paths: tuple[Path, ...]
    columns: tuple[str, ...]
    hive: bool


@dataclass(frozen=True, slots=True)
class ArrowScan:
    """A table in memory (or mapped from a file) with just the wanted columns, in order."""

    table: "pa.Table"


@dataclass(frozen=True, slots=True)
class SparkScan:
    """A Spark frame with just the wanted columns, in order; only Spark can read it."""

    frame: Any


Scan = CsvScan | ParquetScan | ArrowScan | SparkScan
Named = Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """A source of records: its name for messages, its columns, and how to scan some of them.

    `value_labels` maps a column and the text of a value to a label, where the file has them;
    `files` are the inputs, which no output may overwrite; `sheet` is the one of an Excel file that
    was asked for. `keeping_opener` is that of a file which
    may declare some values missing: it keeps those that are named. `typer` tells the types of the
    columns at some positions, where the source has types.
    """

    name: str
    column_names: tuple[str, ...]
    opener: Callable[[tuple[int, ...]], Scan]
    value_labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    sheet: str | None = None
    keeping_opener: Callable[[tuple[int, ...], Named], Scan] | None = None
    typer: "Callable[[Sequence[int]], Sequence[pa.DataType | None]] | None" = None

    @property
    def parts(self) -> tuple[Path, ...]:
        """The files, where there are several that make up one table."""
        return self.files if len(self.files) > 1 else ()

    @property
    def is_csv(self) -> bool:
        """Whether it is read from a CSV file."""
        return any(suffix_of(path) in CSV_SUFFIXES for path in self.files)

    def types(self, names: Sequence[str]) -> "dict[str, pa.DataType]":
        """The types of the named columns, of those that have one; of coded columns that of their
        values."""
        if self.typer is None:
            return {}
        import pyarrow as pa

        own = [name for name in names if name in self.column_names]
        found = self.typer([self.column_names.index(name) for name in own])
        return {
            name: one.value_type if pa.types.is_dictionary(one) else one
            for name, one in zip(own, found, strict=True)
            if one is not None
        }

    def find(self, role: str, columns: Sequence[str]) -> tuple[int, ...]:
        """Positions of the columns that serve as `role`; ColumnError names the near match."""
        return find_columns(role, columns, self.column_names, self.name, is_file=bool(self.files))

    def scan(self, positions: Sequence[int], named: Named | None = None) -> Scan:
        """Where to read the columns at these positions.

        What the file itself declares missing is missing, but for the values `named` by column,
        which are there as they stand.
        """
        if not named or self.keeping_opener is None:
            return self.opener(tuple(positions))
        return self.keeping_opener(tuple(positions), named)


def open_records(source: Any, csv: CsvOptions | None = None, sheet: str | None = None) -> Records:
    """Records of a path (file, folder or glob), a pandas or polars frame, an Arrow table, a DuckDB
    relation, a Spark frame (for the Spark engine alone), or anything else that speaks the Arrow
    stream protocol.

    `sheet` is that of an Excel file, by default the first; of any other source it is refused.
    """
    is_path = isinstance(source, str | Path)
    if sheet is not None and not (is_path and excel_files.is_excel(Path(source))):
        got = repr(Path(source).name) if is_path else "another source"
        raise InputError(must_be("sheet", "given with an Excel file", got))
    if isinstance(source, Records):
        return source
    if is_path:
        try:
            return _open_path(str(source), csv or CsvOptions(), sheet)
        except OSError as error:  # such as a folder that may not be looked into
            raise _unreadable(str(source), error) from error
    if type(source).__module__.startswith("pyspark.sql."):
        return _open_spark(source)
    return _open_frame(source)


def files_of(given: str) -> tuple[Path, ...]:
    """The files that a path names: itself, those of a folder or a pattern; none where there are
    none."""
    path = Path(given)
    try:
        if path.is_file():
            return (path,)
        return _expanded([given] if path.is_dir() else glob.glob(given, recursive=True))
    except (OSError, ValueError):  # a name that no file can have is none (FileError is one)
        return ()


def _unreadable(given: str, error: OSError) -> FileError:
    shown = given if len(given) < 100 else given[:100] + "…"
    return FileError(must_be(f"file {shown!r}", "readable", error.strerror or "an error"))


def _open_path(given: str, csv: CsvOptions, sheet: str | None) -> Records:
    path = Path(given)
    _check_name(given)
    if not path.exists():
        paths = _expanded(glob.glob(given, recursive=True))
        if not paths:
            raise FileError(must_be("file", "one that exists", repr(given)))
        return _open_parquet(given, paths)
    if path.is_dir():
        return _open_parquet(given, _expanded([given]))
    if not path.is_file():
        raise FileError(must_be("file", "a regular file", repr(given)))
    return _open_file(path, csv, sheet)


def _check_name(given: str) -> None:
    """The file can be looked at, and its name can be printed and handed on."""
    try:
        given.encode("utf-8")
        if Path(given).is_file():
            Path(given).open("rb").close()
    except UnicodeError as error:
        raise FileError(must_be("file", "named in UTF-8", ascii(given))) from error
    except OSError as error:
        raise _unreadable(given, error) from error


def _open_file(path: Path, csv: CsvOptions, sheet: str | None) -> Records:
    suffix = suffix_of(path)
    if suffix in CSV_SUFFIXES:
        return _open_csv(path, csv)
    if suffix in PARQUET_SUFFIXES:
        return _open_parquet(path.name, (path,))
    if suffix in ARROW_SUFFIXES:
        return _open_arrow(path)
    if suffix in stat_files.READERS:
        return _open_stat_file(path)
    if excel_files.is_excel(path):
        return _open_excel(path, sheet)
    remedy = "save it as CSV or Parquet and name it so"
    raise FileError(must_be("file", f"{KINDS}, by its ending", repr(path.name), remedy=remedy))


def suffix_of(path: Path) -> str:
    """The ending that tells the kind of a file; of a packed CSV file the one before .gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = suffixes[-1] if suffixes else ""
    if suffix == ".gz" and len(suffixes) > 1:
        suffix = suffixes[-2] if suffixes[-2] in CSV_SUFFIXES else suffix
    return suffix


def _open_csv(path: Path, options: CsvOptions) -> Records:
    dialect = read_dialect(path, options)
    return Records(
        name=path.name,
        column_names=dialect.names,
        opener=lambda positions: CsvScan(path, dialect, positions),
        files=(path,),
    )


def _expanded(found: Sequence[str]) -> tuple[Path, ...]:
    """Files as they are, and the Parquet files anywhere below each folder, in order."""
    files: set[Path] = set()
    for path in map(Path, found):
        try:
            files.update({path} if path.is_file() else _parquet_below(path))
        except OSError as error:  # a folder that may not be looked into
            problem = error.strerror or "an error"
            raise FileError(must_be(f"folder {str(path)!r}", "readable", problem)) from error
    if not files and found:
        rule = "a file, or a folder that holds Parquet files"
        got = f"the folder {found[0]!r} without any"
        raise FileError(must_be("file", rule, got, remedy=_other_file(Path(found[0]))))
    return tuple(sorted(files))


def _parquet_below(folder: Path) -> Iterator[Path]:
    """The Parquet files anywhere below a folder, hidden ones left out."""
    for below in folder.rglob("*"):
        of_kind = below.suffix.lower() in PARQUET_SUFFIXES and below.is_file()
        if of_kind and not _hidden(below.relative_to(folder)):
            yield below


def _other_file(folder: Path) -> str | None:
    """That one file of another kind has to be named, where the folder holds some."""
    others = (path.name for path in sorted(folder.iterdir()) if suffix_of(path) in CSV_SUFFIXES)
    first = next(others, None)
    return None if first is None else f"name one of its files, such as {first!r}"


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _open_parquet(name: str, paths: tuple[Path, ...]) -> Records:
    names = _parquet_columns(paths[0])
    folders = re.findall(r"([^/=]+)=[^/]*/", paths[0].as_posix())
    partitions = tuple(column for column in folders if column not in names)

    def opener(positions: tuple[int, ...]) -> Scan:
        columns = tuple((names + partitions)[i] for i in positions)
        if "" in columns:
            raise ColumnError(must_be("column", "named", "one with an empty name"))
        _check_same_columns(paths, columns, names + partitions, partitions)
        return ParquetScan(paths, columns, bool(partitions))

    return Records(
        name=name,
        column_names=names + partitions,
        opener=opener,
        files=paths,
        typer=lambda at: _parquet_types(paths[0], [(names + partitions)[i] for i in at]),
    )


def _parquet_columns(path: Path) -> tuple[str, ...]:
    return tuple(_parquet_schema(path).names)


def _parquet_schema(path: Path) -> "pa.Schema":
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        got = "one that is truncated or of another kind"
        raise FileError(must_be(path.name, "a readable Parquet file", got)) from error


def _parquet_types(path: Path, names: Sequence[str]) -> "list[pa.DataType | None]":
    """The types of columns; a folder's name has none."""
    schema = _parquet_schema(path)
    return [schema.field(name).type if name in schema.names else None for name in names]


def _check_same_columns(
    paths: tuple[Path, ...],
    columns: tuple[str, ...],
    first_names: tuple[str, ...],
    partitions: tuple[str, ...],
) -> None:
    """Every file has the wanted columns, of kinds that can be compared, and no two columns differ
    only in capitals, to which SQL is blind."""
    folded = [name.casefold() for name in first_names]
    for column in columns:
        if folded.count(column.casefold()) > 1:
            got = f"{column!r} and another that differs only in capitals"
            raise ColumnError(must_be("column", "named unlike the others", got))
    wanted = [column for column in columns if column not in partitions]
    first = _parquet_schema(paths[0])
    for path in paths[1:]:
        schema = _parquet_schema(path)
        for column in wanted:
            if column not in schema.names:
                got = f"{path.name} without {column!r}"
                raise ColumnError(must_be("Parquet files", "alike in their columns", got))
            kinds = _kind(first.field(column).type), _kind(schema.field(column).type)
            if kinds[0] != kinds[1] and "empty" not in kinds:
                got = f"{column!r} as {kinds[1]} in {path.name} and {kinds[0]} before"
                raise ColumnError(must_be("Parquet files", "alike in their columns", got))


def is_parquet(records: Records) -> bool:
    """Whether the records are read from Parquet files."""
    return bool(records.files) and suffix_of(records.files[0]) in PARQUET_SUFFIXES


def is_arrow(records: Records) -> bool:
    """Whether the records are read from an Arrow or Feather file."""
    return bool(records.files) and suffix_of(records.files[0]) in ARROW_SUFFIXES


def arrow_table(path: Path) -> "pa.Table":
    """An Arrow or Feather file as it is: mapped where it can be, its schema and names its own."""
    import pyarrow as pa
    import pyarrow.feather

    for opener in (pa.ipc.open_file, pa.ipc.open_stream):
        try:
            return opener(pa.memory_map(str(path))).read_all()
        except (pa.ArrowException, OSError):
            continue
    try:
        return pyarrow.feather.read_table(path)
    except (pa.ArrowException, OSError) as error:
        got = "one that is truncated or of another kind"
        raise FileError(must_be(path.name, "a readable Arrow or Feather file", got)) from error


def _kind(arrow_type: "pa.DataType") -> str:
    """What values of a type can be compared with."""
    import pyarrow as pa

    value = arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type
    if pa.types.is_null(value):
        return "empty"
    if pa.types.is_boolean(value):
        return "true or false"
    if pa.types.is_integer(value) or pa.types.is_floating(value) or pa.types.is_decimal(value):
        return "numbers"
    return "text" if "string" in str(value) else str(value)


def _open_arrow(path: Path) -> Records:
    names, read = _arrow_reader(path)
    return Records(
        name=path.name,
        column_names=names,
        opener=lambda at: ArrowScan(read(at)),
        files=(path,),
        typer=lambda at: read(at).schema.types,  # the file is mapped, not read
    )


def _open_excel(path: Path, sheet: str | None) -> Records:
    table = excel_files.read_sheet(path, sheet)
    return Records(
        name=path.name,
        column_names=tuple(table.column_names),
        opener=lambda positions: ArrowScan(_pick(table, positions)),
        files=(path,),
        sheet=sheet,
        typer=lambda positions: [table.schema.types[i] for i in positions],
    )


def _arrow_reader(path: Path) -> "tuple[tuple[str, ...], Callable[[Sequence[int]], pa.Table]]":
    """Names and a reader of an Arrow file, an Arrow stream or an old Feather file."""
    import pyarrow as pa
    import pyarrow.feather

    for opener in (pa.ipc.open_file, pa.ipc.open_stream):
        try:
            with pa.memory_map(str(path)) as source:
                names = tuple(opener(source).schema.names)
        except (pa.ArrowException, OSError):
            continue
        return names, partial(_read_arrow, path, opener)
    try:
        table = pyarrow.feather.read_table(path)
    except (pa.ArrowException, OSError) as error:
        got = "one that is truncated or of another kind"
        raise FileError(must_be(path.name, "a readable Arrow or Feather file", got)) from error
    return tuple(table.column_names), lambda at: _pick(table, at)


def _read_arrow(path: Path, opener: Callable[[Any], Any], positions: Sequence[int]) -> "pa.Table":
    import pyarrow as pa

    try:
        return _pick(opener(pa.memory_map(str(path))).read_all(), positions)
    except (pa.ArrowException, OSError) as error:
        got = "one that is truncated"
        raise FileError(must_be(path.name, "a readable Arrow file", got)) from error


def _pick(table: "pa.Table", positions: Sequence[int]) -> "pa.Table":
    """The columns at these positions, renamed c0, c1, … so that no name can clash."""
    import pyarrow as pa

    columns = [_plain(table.column(i)) for i in positions]
    return pa.Table.from_arrays(columns, names=[f"c{i}" for i in range(len(columns))])


def _plain(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """The column in a type that engines know."""
    import pyarrow as pa

    if pa.types.is_float16(column.type):
        return column.cast(pa.float32())
    return column.cast(pa.string()) if pa.types.is_decimal256(column.type) else column


def _open_stat_file(path: Path) -> Records:
    names, labels = stat_files.read_header(path)

    def opener(positions: tuple[int, ...], named: Named | None = None) -> Scan:
        table = stat_files.read_columns(path, [names[i] for i in positions], named)
        return ArrowScan(_pick(table, range(len(positions))))

    return Records(
        name=path.name,
        column_names=names,
        opener=opener,
        value_labels=labels,
        files=(path,),
        keeping_opener=opener,
    )


def _open_frame(frame: Any) -> Records:
    from discreet.data.frame_reading import frame_columns, frame_table, frame_types

    names = frame_columns(frame)
    return Records(
        name=FRAME,
        column_names=names,
        opener=lambda positions: ArrowScan(_pick(frame_table(frame, positions), positions)),
        typer=lambda positions: frame_types(frame, positions),
    )


def _open_spark(frame: Any) -> Records:
    names = tuple(frame.columns)

    def opener(positions: tuple[int, ...]) -> Scan:
        quoted = ["`" + names[i].replace("`", "``") + "`" for i in positions]
        return SparkScan(frame.select(*quoted))

    return Records(name=FRAME, column_names=names, opener=opener)
