"""How a CSV file is written: its delimiter, quote, encoding and header."""

import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from discreet.errors import FileError, InputError, must_be

DELIMITERS = (",", ";", "\t", "|")
HEAD_BYTES = 1 << 20
BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions:
    """What the user says about a CSV file; None means: find out."""

    delimiter: str | None = None
    quote: str = '"'
    encoding: str | None = None
    decimal: str = "."

    def __post_init__(self) -> None:
        for name, value in (("delimiter", self.delimiter), ("quote", self.quote)):
            if value is not None and (len(value) != 1 or value in "\r\n"):
                raise InputError(must_be(name, "one character", repr(value)))
        if self.delimiter == self.quote:
            raise InputError(must_be("delimiter", "another character than quote", repr(self.quote)))
        if self.decimal not in (".", ","):
            raise InputError(must_be("decimal", "'.' or ','", repr(self.decimal)))
        if self.encoding is not None:
            _check_encoding(self.encoding)


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvDialect:
    """How one CSV file is written, all of it known."""

    delimiter: str
    quote: str
    encoding: str
    decimal: str
    names: tuple[str, ...]


def read_dialect(path: Path, options: CsvOptions) -> CsvDialect:
    """The dialect of a file, from what the user says and its first megabyte.

    Checked: the file is not empty, holds no NUL bytes, and its head decodes.
    """
    head = _read_head(path)
    if not head.strip():
        raise FileError(must_be(path.name, "a table with a header line", "an empty file"))
    encoding = options.encoding or _encoding_by_mark(head)
    text = _decode(path, head, encoding)
    if "\x00" in text:
        remedy = "is it a CSV file? if it is UTF-16, say so with --encoding utf-16"
        raise FileError(must_be(path.name, "text", "NUL bytes", remedy=remedy))
    delimiter = options.delimiter or _guess_delimiter(text, options.quote)
    names = next(_rows(text, delimiter, options.quote))
    return CsvDialect(
        delimiter=delimiter,
        quote=options.quote,
        encoding=encoding,
        decimal=options.decimal,
        names=tuple(names),
    )


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked if its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return path.open("rb")


def _read_head(path: Path) -> bytes:
    try:
        with open_bytes(path) as file:
            return file.read(HEAD_BYTES)
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "a damaged gzip file"
        raise FileError(must_be(path.name, "a readable file", reason)) from error


def _check_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
    except LookupError as error:
        remedy = "try utf-8, latin-1 or cp1252"
        raise InputError(
            must_be("encoding", "one that Python knows", repr(encoding), remedy=remedy)
        ) from error


def _encoding_by_mark(head: bytes) -> str:
    return next((name for mark, name in BYTE_ORDER_MARKS if head.startswith(mark)), "utf-8")


def _decode(path: Path, head: bytes, encoding: str) -> str:
    """The head as text; a character cut in two at its end is no error, any other bad byte is."""
    try:
        return head.decode(encoding)
    except UnicodeDecodeError as error:
        if len(head) == HEAD_BYTES and error.start >= len(head) - 8:
            return head[: error.start].decode(encoding)
        line = head[: error.start].count(b"\n") + 1
        raise not_in_encoding(path.name, encoding, f"line {line}") from error


def not_in_encoding(name: str, encoding: str, where: str | None) -> FileError:
    """The complaint about bytes that are not text in the encoding."""
    remedy = "give --encoding, often latin-1 or cp1252"
    rule = f"text in {encoding}"
    return FileError(must_be(name, rule, "bytes that are not", where=where, remedy=remedy))


def _rows(text: str, delimiter: str, quote: str) -> Iterator[list[str]]:
    csv.field_size_limit(1 << 30)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote)


def _guess_delimiter(text: str, quote: str) -> str:
    """The delimiter under which the most lines have as many fields as the header, two or more."""
    complete = text.rsplit("\n", 1)[0] if len(text) >= HEAD_BYTES // 4 else text

    def agreement(delimiter: str) -> tuple[float, int]:
        rows = [row for row, _ in zip(_rows(complete, delimiter, quote), range(200), strict=False)]
        return _agreement(rows)

    return max(DELIMITERS, key=agreement)


def _agreement(rows: Sequence[Sequence[str]]) -> tuple[float, int]:
    width = len(rows[0])
    if width < 2:
        return (0.0, width)
    return (sum(len(row) == width for row in rows) / len(rows), width)
