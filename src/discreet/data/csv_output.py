"""A CSV file written as another one is: its delimiter, quotes, encoding and line ends."""

import codecs
import gzip
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
import pyarrow.compute as pc

from discreet.data.csv_dialect import open_bytes, open_text, readable
from discreet.data.output_columns import OutputRows
from discreet.data.records import CsvScan, Records
from discreet.errors import ColumnError, OutputError, must_be
from discreet.numerics.arrays import IntArray

CHUNK = 1 << 16  # rows that are joined into lines at a time
HEAD = 1 << 18  # characters of the source that show how it is written
SAMPLE = 200  # its first rows
LEVEL = 6  # of packing, as gzip itself has it
MARK = b"\xef\xbb\xbf"
PLAIN = ("utf-8", "utf-8-sig")


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvStyle:
    """How a CSV file is written; `always_quoted` are columns whose values stand in quotes though
    they need none, and `quoted_names` those whose names do."""

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    line_end: str = "\n"
    decimal: str = "."
    always_quoted: frozenset[str] = frozenset()
    quoted_names: frozenset[str] = frozenset()


def style_of(path: Path, records: Records) -> CsvStyle:
    """The style of the source where it is a CSV file; else a plain one, by the ending of `path`."""
    scan = records.scan((0,)) if records.is_csv else None
    if isinstance(scan, CsvScan):
        return _source_style(scan)
    tabs = any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes)
    return CsvStyle(delimiter="\t" if tabs else ",")


def _source_style(scan: CsvScan) -> CsvStyle:
    dialect = scan.dialect
    with readable(scan.path, dialect.encoding):
        with open_text(scan.path, dialect.encoding) as source:
            head = source.read(HEAD).lstrip("\r\n")
        with open_bytes(scan.path) as file:
            marked = file.read(len(MARK)) == MARK
    rows = list(_raw_rows(head, dialect.delimiter, dialect.quote))
    encoding = codecs.lookup(dialect.encoding).name
    return CsvStyle(
        delimiter=dialect.delimiter,
        quote=dialect.quote,
        encoding="utf-8-sig" if marked and encoding == "utf-8" else dialect.encoding,
        decimal=dialect.decimal,
        line_end="\r\n" if rows and rows[0][1] == "\r\n" else "\n",
        always_quoted=_always_quoted(dialect.names, [row for row, _ in rows[1:]], dialect.quote),
        quoted_names=_always_quoted(dialect.names, [row for row, _ in rows[:1]], dialect.quote),
    )


def _raw_rows(text: str, delimiter: str, quote: str) -> Iterator[tuple[list[str], str]]:
    """The first whole rows, each field with its quotes, and how each row ends."""
    d, q = re.escape(delimiter), re.escape(quote)
    field = re.compile(f"({q}(?:[^{q}]|{q}{q})*{q}|[^{d}\r\n]*)({d}|\r\n|\n|\r)")
    row: list[str] = []
    at = found = 0
    while found < SAMPLE and (match := field.match(text, at)):
        row.append(match[1])
        at = match.end()
        if match[2] != delimiter:
            yield row, match[2]
            row, found = [], found + 1


def _always_quoted(
    names: Sequence[str], rows: Sequence[Sequence[str]], quote: str
) -> frozenset[str]:
    """Columns that have values among these rows, all of them in quotes."""
    found = set()
    for place, name in enumerate(names):
        fields = [row[place] for row in rows if place < len(row) and row[place]]
        if fields and all(_is_quoted(field, quote) for field in fields):
            found.add(name)
    return frozenset(found)


def _is_quoted(field: str, quote: str) -> bool:
    return len(field) > 1 and field.startswith(quote) and field.endswith(quote)


class CsvOutput:
    """Writes rows as lines of text; what is missing or was taken out is an empty field."""

    def __init__(self, file: IO[bytes], rows: OutputRows, style: CsvStyle) -> None:
        self.carries = rows.carries
        self._file, self._rows, self._style = file, rows, style
        self._encoder = codecs.getincrementalencoder(style.encoding)()
        self._plain = codecs.lookup(style.encoding).name == "utf-8"
        names = pa.table({name: [name] for name in rows.names})
        self._write_lines(names, style.quoted_names, "the header")

    def write(self, rows: IntArray, table: pa.Table) -> None:
        """Adds rows."""
        made = self._rows.table(rows, table)
        for start in range(0, made.num_rows, CHUNK):
            part = made.slice(start, CHUNK)
            self._write_lines(part, self._style.always_quoted, None)

    def _write_lines(self, table: pa.Table, always: frozenset[str], where: str | None) -> None:
        style = self._style
        alone = table.num_columns == 1  # an empty line would be no row
        fields = [
            quoted_fields(self._text(name, column), style, name in always, alone)
            for name, column in zip(table.column_names, table.columns, strict=True)
        ]
        nulls = {"null_handling": "replace", "null_replacement": ""}
        lines = pc.binary_join_element_wise(*fields, style.delimiter, **nulls)
        lines = pc.binary_join_element_wise(lines, style.line_end, "", **nulls)
        data = _bytes_of(lines)
        self._file.write(data if self._plain else self._encoded(data, table, where))

    def _text(self, name: str, column: pa.ChunkedArray) -> pa.Array:
        """The values as text, numbers with the decimal sign of the file."""
        text = text_column(name, column)
        if self._style.decimal == "." or not pa.types.is_floating(column.type):
            return text
        return pc.replace_substring(text, ".", self._style.decimal)

    def _encoded(self, data: bytes, table: pa.Table, where: str | None) -> bytes:
        try:
            return self._encoder.encode(data.decode("utf-8"))
        except UnicodeEncodeError as error:
            raise _not_writable(self._style.encoding, table, where) from error


def _not_writable(encoding: str, table: pa.Table, where: str | None) -> OutputError:
    """The complaint about a character that the encoding lacks, with the column that has it."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            _bytes_of(text_column(name, column)).decode("utf-8").encode(encoding)
        except UnicodeEncodeError:
            break
    rule = f"text that can be written in {encoding}"
    remedy = "use plainer labels for its levels, or write a .parquet file"
    got = "a character that it does not have"
    named = f"column {ascii(name) if where else repr(name)}"
    return OutputError(must_be(named, rule, got, where=where, remedy=remedy))


def text_column(name: str, column: pa.ChunkedArray) -> pa.Array:
    """The values as text, each number in the fewest digits that give it back."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        if pa.types.is_timestamp(column.type):
            column = _in_seconds(column)
        if pa.types.is_floating(column.type):  # what is no number is a missing one
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        text = column.cast(pa.string()).combine_chunks()
    except pa.ArrowException as error:
        got = f"one of {column.type}"
        remedy = "write a .parquet file"
        said = must_be(f"column {name!r}", "one that text can hold", got, remedy=remedy)
        raise ColumnError(said) from error
    if isinstance(text, pa.ChunkedArray):
        return text.chunk(0) if text.num_chunks else pa.array([], pa.string())
    return text


def _in_seconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times without the fraction of a second, where none has one."""
    try:
        return column.cast(pa.timestamp("s", column.type.tz))
    except pa.ArrowInvalid:
        return column


def quoted_fields(text: pa.Array, style: CsvStyle, always: bool, alone: bool) -> pa.Array:
    """The fields of a column, in quotes where they need them."""
    quote = style.quote
    if alone:
        text = pc.fill_null(text, "")
    if not always and not alone and not _has_any(text, style):
        return text
    special = "".join(re.escape(c) for c in (style.delimiter, quote, "\r", "\n"))
    needs = pc.match_substring_regex(text, f"[{special}]")
    if alone:
        needs = pc.or_(needs, pc.equal(text, ""))
    inner = pc.replace_substring(text, quote, quote + quote)
    in_quotes = pc.binary_join_element_wise(quote, inner, quote, "")
    return in_quotes if always else pc.if_else(needs, in_quotes, text)


def _has_any(text: pa.Array, style: CsvStyle) -> bool:
    """Whether a character that asks for quotes stands anywhere in the column."""
    data = _bytes_of(text)
    special = (style.delimiter, style.quote, "\r", "\n")
    return any(data.find(character.encode("utf-8")) >= 0 for character in special)


def _bytes_of(text: pa.Array) -> bytes:
    """The UTF-8 of all values, one after the other."""
    if not len(text) or text.buffers()[2] is None:
        return b""
    offsets = memoryview(text.buffers()[1]).cast("i")
    start, end = offsets[text.offset], offsets[text.offset + len(text)]
    return cast(bytes, text.buffers()[2].slice(start, end - start).to_pybytes())


@contextmanager
def csv_output(path: Path, records: Records, rows: OutputRows) -> Iterator[CsvOutput]:
    """A CSV file of these rows, packed where its name ends in .gz."""
    style = style_of(path, records)
    with path.open("wb") as file:
        if path.suffix.lower() != ".gz":
            yield CsvOutput(file, rows, style)
            return
        # Neither the temporary name nor the time of day goes into the file.
        with gzip.GzipFile("", "wb", LEVEL, file, mtime=0) as packed:
            yield CsvOutput(cast(IO[bytes], packed), rows, style)
