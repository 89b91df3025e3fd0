"""The text of a PX file taken apart: keywords with their languages, sub-keys and values, then data.

Format: PX file format specification, AXIS-VERSION 2013, Statistics Sweden. A value in quotes may go
on in quotes on the next line; it cannot hold a quotation mark.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from discreet.errors import FileError, must_be

KEYWORD = re.compile(r"\s*([A-Za-z][A-Za-z0-9_-]*)\s*(?:\[([^\]\n]{0,40})\])?\s*")
TOKEN = re.compile(r'\s*(?:"([^"]*)"|([(),;=])|([^\s"(),;=]+))')
CELL = re.compile(r'"([^"]*)"|([^\s,;"]+)')
CODEPAGE = re.compile(rb'CODEPAGE\s*=\s*"([^"]{1,40})"', re.IGNORECASE)
CHARSET = re.compile(rb'CHARSET\s*=\s*"ANSI"', re.IGNORECASE)
HEAD = 1 << 16  # bytes in which the code page is told


@dataclass(frozen=True, slots=True)
class Entry:
    """One keyword: its language ("" for that of the file), its sub-keys, and its values.

    `values` are texts in quotes and words without, in their order; those of a list of times too.
    """

    keyword: str
    language: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    place: int


def decoded(name: str, data: bytes, encoding: str | None) -> str:
    """The text of a PX file, by what is asked or what the file tells of its encoding."""
    chosen = encoding or _encoding(data)
    try:
        return data.decode(chosen)
    except (LookupError, UnicodeDecodeError) as error:
        remedy = "give another (encoding), often cp1252 or latin-1"
        said = must_be(name, f"text in {chosen}", "bytes that are not", remedy=remedy)
        raise FileError(said) from error


def _encoding(data: bytes) -> str:
    """By a byte order mark or the code page, else UTF-8 where the bytes are, else that of Windows
    or, where the file is not called ANSI, of DOS."""
    if data.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    told = CODEPAGE.search(data[:HEAD])
    if told:
        return told[1].decode("ascii", "replace").strip()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252" if CHARSET.search(data[:HEAD]) else "cp850"
    return "utf-8"


def entries(name: str, text: str) -> tuple[list[Entry], int]:
    """The keywords before DATA, and where the data begin."""
    found: list[Entry] = []
    at = 0
    while True:
        match = KEYWORD.match(text, at)
        if match is None:
            got = "the end of the file" if not text[at:].strip() else "something else"
            raise FileError(must_be(name, "PX with keywords and DATA", got, where=_line(text, at)))
        if match[1].upper() == "DATA":
            equals = text.find("=", match.end())
            if equals < 0:
                where = _line(text, at)
                raise FileError(must_be(name, "PX with DATA=", "no figures", where=where))
            return found, equals + 1
        entry, at = _entry(name, text, match)
        found.append(entry)


def _entry(name: str, text: str, match: re.Match[str]) -> tuple[Entry, int]:
    keys: list[str] = []
    values: list[str] = []
    into, at, joins = values, match.end(), False
    if text[at : at + 1] not in ("(", "="):
        where = _line(text, at)
        raise FileError(must_be(name, "PX", "a keyword without '='", where=where))
    seen_equals = False
    while True:
        token = TOKEN.match(text, at)
        if token is None:
            where = _line(text, match.start(1))
            got = f"{match[1]} without an end"
            raise FileError(must_be(name, "PX with ';' behind each value", got, where=where))
        at = token.end()
        if token[2] == ";":
            own = Entry(match[1].upper(), match[2] or "", tuple(keys), tuple(values), match.start())
            return own, at
        if token[2] is not None:
            seen_equals = seen_equals or token[2] == "="
            into = values if seen_equals else keys
            joins = False
            continue
        value = token[1] if token[1] is not None else token[3]
        if joins and token[1] is not None:
            into[-1] += value
        else:
            into.append(value)
        joins = token[1] is not None


def cells(text: str, start: int) -> Iterator[tuple[str, bool]]:
    """The words of the data and whether each stands in quotes; commas and semicolons part them as
    blanks do."""
    for match in CELL.finditer(text, start):
        yield (match[1], True) if match[1] is not None else (match[2], False)


def _line(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}"
