"""Published tables in CSV files: in long form, or laid out as a crosstab."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from discreet.data.csv_dialect import (
    DELIMITERS,
    CsvDialect,
    CsvOptions,
    open_text,
    read_dialect,
    readable,
)
from discreet.data.published.crosstab import grid_tables
from discreet.data.published.gathering import DecimalMark
from discreet.data.published.grid import grid_of
from discreet.data.published.headings import columns_of
from discreet.data.published.long_form import LongSource, long_tables
from discreet.data.published.published_table import PublishedTable
from discreet.errors import FileError, must_be

MOST_CELLS = 20_000_000  # of a crosstab, which is held as a whole
FIRST_LINES = 200  # that tell the delimiter where titles stand above the table


def read_csv(path: Path, count: str | None, options: CsvOptions) -> list[PublishedTable]:
    """The tables of a CSV file: one for each column of figures, or that of a crosstab."""
    dialect = read_dialect(path, options)
    names = [unguarded(name) for name in dialect.names]
    columns = columns_of(path.name, names, count)
    if columns is None or not columns.is_sure:
        return _of_grid(path, count, options, dialect)
    source = LongSource(
        file=path.name,
        name=path.name,
        names=tuple(names),
        columns=columns,
        rows=lambda: _long_rows(path, dialect),
        where=lambda row, place: f"{row}, column {place + 1}" if len(columns.figures) > 1 else row,
        mark=_mark(dialect, options),
    )
    return long_tables(source)


def unguarded(text: str) -> str:
    """The text without the apostrophe that keeps a program for sheets from taking it for a formula,
    as `csv_writing` puts it."""
    rest = text.lstrip("'")
    return text[1:] if rest != text and rest[:1] in tuple("=+-@\t\r") and rest else text


def _long_rows(path: Path, dialect: CsvDialect) -> Iterator[tuple[str, Sequence[str]]]:
    width = len(dialect.names)
    numbered = not dialect.names[0].strip()
    rows = ((number, row) for number, row in _rows(path, dialect) if row)
    next(rows)
    for place, (number, row) in enumerate(rows):
        if len(row) != width:
            rule = f"of {width} fields in every row, as its header has"
            where = f"row {number}"
            remedy = "put a field that holds the delimiter into quotes"
            said = must_be(path.name, rule, len(row), where=where, remedy=remedy)
            raise FileError(said)
        if numbered and row[0] not in (str(place), str(place + 1)):
            rule = "of columns with names, or with the numbers of rows in the first"
            raise FileError(must_be(path.name, rule, "another", where=f"row {number}"))
        yield f"row {number}", [unguarded(field) for field in row]


def _of_grid(
    path: Path, count: str | None, options: CsvOptions, dialect: CsvDialect
) -> list[PublishedTable]:
    """A crosstab, or a table in long form below lines of titles."""
    if options.delimiter is None:
        dialect = replace(dialect, delimiter=_delimiter(path, dialect))
    rows: list[list[str]] = []
    n_cells = 0
    for _, row in _rows(path, dialect):
        n_cells += len(row)
        if n_cells > MOST_CELLS:
            rule = f"a crosstab of at most {MOST_CELLS:,} cells"
            raise FileError(must_be(path.name, rule, "more", remedy="give it in long form"))
        rows.append([unguarded(field) for field in row])
    grid = grid_of(rows, (), lambda row, column: f"row {row + 1}, column {column + 1}")
    return grid_tables(path.name, path.name, grid, count, _mark(dialect, options))


def _mark(dialect: CsvDialect, options: CsvOptions) -> DecimalMark:
    """A file with semicolons is one of a country that writes decimal commas."""
    return DecimalMark(asked=options.decimal, likely="," if dialect.delimiter == ";" else ".")


def _rows(
    path: Path, dialect: CsvDialect, *, strict: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """The rows with their numbers, empty ones too."""
    csv.field_size_limit(1 << 20)
    with readable(path, dialect.encoding), open_text(path, dialect.encoding) as file:
        reader = csv.reader(
            file, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=strict
        )
        number = 0
        while True:
            number += 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                rule, got = "well quoted, without NUL bytes", "a field that is not"
                said = must_be(path.name, rule, got, where=f"row {number}")
                raise FileError(said) from error
            yield number, row


def _delimiter(path: Path, dialect: CsvDialect) -> str:
    """The delimiter under which the most of the first rows have two fields or more, as many as
    each other."""

    def agreement(delimiter: str) -> tuple[int, int]:
        own = replace(dialect, delimiter=delimiter)
        rows = zip(_rows(path, own, strict=False), range(FIRST_LINES), strict=False)
        widths = [len(row) for (_, row), _ in rows if len(row) > 1]
        most = max(widths, key=lambda width: (widths.count(width), width), default=0)
        return widths.count(most), most

    return max((one for one in DELIMITERS if one != dialect.quote), key=agreement)
