"""How a CSV file is written: its delimiter, quote, encoding and header."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from discreet.errors import FileError, InputError, must_be
from discreet.option_types import check_types

DELIMITERS = (",", ";", "\t", "|")
HEAD_BYTES = 1 << 20
HEADER_LIMIT = 1 << 26
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
        check_types(self)
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
    blank_lines: int = 0
    header_breaks: bool = False  # a name in the header holds a line break
    mark_hides_quote: bool = False  # a byte order mark stands before a quoted name


def read_dialect(path: Path, options: CsvOptions) -> CsvDialect:
    """The dialect of a file, from what the user says and its first megabyte.

    Checked: the file is not empty, holds no NUL bytes, its head decodes, its header is one line.
    """
    head = _read_head(path)
    encoding = options.encoding or _encoding_by_mark(head)
    text = _decode(path, head, encoding).removeprefix("\ufeff")
    if not text.strip():
        raise FileError(must_be(path.name, "a table with a header line", "an empty file"))
    if "\x00" in text:
        remedy = "is it a CSV file? if it is UTF-16, say so (encoding)"
        raise FileError(must_be(path.name, "text", "NUL bytes", remedy=remedy))
    body = text.lstrip("\r\n")
    delimiter = options.delimiter or _guess_delimiter(body, options.quote)
    if delimiter == options.quote:
        raise InputError(must_be("quote", "another character than the delimiter", repr(delimiter)))
    names = _header(path, body, delimiter, options.quote)
    return CsvDialect(
        delimiter=delimiter,
        quote=options.quote,
        encoding=encoding,
        decimal=options.decimal,
        names=tuple(names),
        blank_lines=len(text[: len(text) - len(body)].splitlines()),
        mark_hides_quote=head.startswith(b"\xef\xbb\xbf") and body.startswith(options.quote),
        header_breaks=any("\n" in name or "\r" in name for name in names),
    )


@contextmanager
def readable(path: Path, encoding: str) -> Iterator[None]:
    """Raise what can go wrong in reading a text file as a FileError."""
    try:
        yield
    except UnicodeError as error:
        raise not_in_encoding(path.name, encoding, None) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        got = "one that is damaged or cut off"
        raise FileError(must_be(path.name, "a readable gzip file", got)) from error
    except OSError as error:
        raise FileError(must_be(path.name, "a readable file", error.strerror)) from error


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked if its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return path.open("rb")


def open_text(path: Path, encoding: str) -> TextIO:
    """The text of a file, unpacked if need be, with its line ends as they are and no mark."""
    text = io.TextIOWrapper(open_bytes(path), encoding=encoding, newline="")
    if text.read(1) != "\ufeff":
        text.seek(0)
    return text


def _read_head(path: Path) -> bytes:
    """The first megabyte, and more if the header line is longer than that."""
    with readable(path, "bytes"), open_bytes(path) as file:
        head = file.read(HEAD_BYTES)
        while b"\n" not in head.lstrip(b"\r\n") and len(head) < HEADER_LIMIT:
            more = file.read(HEAD_BYTES)
            if not more:
                break
            head += more
        return head


def _check_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
    except (LookupError, UnicodeError) as error:
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
        if len(head) >= HEAD_BYTES and error.start >= len(head) - 8:
            return head[: error.start].decode(encoding)
        line = head[: error.start].count(b"\n") + 1
        raise not_in_encoding(path.name, encoding, f"line {line}") from error


def not_in_encoding(name: str, encoding: str, where: str | None) -> FileError:
    """The complaint about bytes that are not text in the encoding."""
    remedy = "give another (encoding), often latin-1 or cp1252"
    rule = f"text in {encoding}"
    return FileError(must_be(name, rule, "bytes that are not", where=where, remedy=remedy))


def _header(path: Path, text: str, delimiter: str, quote: str) -> list[str]:
    try:
        return next(_rows(text, delimiter, quote, strict=True))
    except csv.Error as error:
        got = "a quote in the header that does not end"
        raise FileError(must_be(path.name, "well quoted", got, where="line 1")) from error


def _rows(text: str, delimiter: str, quote: str, *, strict: bool = False) -> Iterator[list[str]]:
    csv.field_size_limit(1 << 30)
    lines = io.StringIO(text, newline="")
    return csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=strict)


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
