"""Published tables in Excel workbooks: each sheet with figures holds one."""

import re
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.data.excel_files import (
    CHUNK,
    ERRORS,
    OLD_SUFFIXES,
    check_parts,
    has_formulas,
    letter_of,
    open_book,
    rows_of,
    sheet_of,
)
from discreet.data.published.crosstab import grid_tables
from discreet.data.published.figures_in_cells import Percentage, is_blank, is_number
from discreet.data.published.gathering import DecimalMark
from discreet.data.published.grid import Area, grid_of
from discreet.data.published.published_table import PublishedTable
from discreet.errors import FileError, must_be

MERGED = re.compile(
    rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"'
)
MOST_MERGED = 100_000
EXACT = 10**15  # Excel keeps fifteen digits of a number
SHOWS = re.compile(r"(?:#,##)?0(?:\.(?P<places>0+))?(?P<percent>%?)")  # number formats


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One sheet: its name, the cells of its rows, and the areas that are merged."""

    title: str
    rows: list[list[Any]]
    areas: tuple[Area, ...]


def read_excel(
    path: Path, count: str | None, sheet: str | None, mark: DecimalMark
) -> list[PublishedTable]:
    """The tables of a sheet, or of all sheets that hold figures; others are named in a note."""
    found: list[PublishedTable] = []
    empty: list[str] = []
    with closing(_sheets(path, sheet)) as sheets:
        for one in sheets:
            if _holds_table(one):
                found += _tables(path, one, count, mark)
            else:
                empty.append(one.title)
    if not found:
        named = f"sheet {empty[0]!r}" if len(empty) == 1 else "any sheet"
        raise FileError(must_be(path.name, "a workbook with figures", f"none in {named}"))
    notes = tuple(f"left out, sheet {title}: it holds no figures" for title in empty)
    return [replace(found[0], notes=(*found[0].notes, *notes)), *found[1:]]


def _tables(path: Path, sheet: Sheet, count: str | None, mark: DecimalMark) -> list[PublishedTable]:
    def where(row: int, column: int) -> str:
        return f"sheet {sheet.title}!{letter_of(column)}{row + 1}"

    grid = grid_of(sheet.rows, sheet.areas, where)
    return grid_tables(path.name, f"{path.name}, sheet {sheet.title}", grid, count, mark)


def _holds_table(sheet: Sheet) -> bool:
    """Whether a row has a figure behind a label, or figures are all there is."""
    width = max((len(row) for row in sheet.rows), default=0)
    return any(
        is_number(value) and (width == 1 or any(not is_blank(one) for one in row[:place]))
        for row in sheet.rows
        for place, value in enumerate(row)
    )


def _sheets(path: Path, wanted: str | None) -> Generator[Sheet]:
    if path.suffix.lower() in OLD_SUFFIXES:
        remedy = "save it as .xlsx or CSV"
        raise FileError(must_be(path.name, "an .xlsx workbook", "an older kind", remedy=remedy))
    check_parts(path)
    with ExitStack() as stack:
        book = open_book(path, data_only=True)
        stack.callback(book.close)
        first = sheet_of(path, book, wanted)  # checked: there is one
        written = None
        if has_formulas(path):
            written = open_book(path, data_only=False)
            stack.callback(written.close)
        for number, sheet in enumerate(book.worksheets):
            if wanted is None or sheet is first:
                formulas = written.worksheets[number] if written is not None else None
                yield _sheet(path, sheet, formulas)


def _sheet(path: Path, sheet: Any, written: Any) -> Sheet:
    rows: list[list[Any]] = []
    with ExitStack() as stack:
        told = stack.enter_context(closing(rows_of(path, sheet, values_only=False)))
        formulas = None
        if written is not None:
            formulas = stack.enter_context(closing(rows_of(path, written, values_only=False)))
        for number, row in enumerate(told, start=1):
            if formulas is not None:
                _check_stored(path, sheet.title, number, row, next(formulas, ()))
            rows.append([_value(path, sheet.title, cell) for cell in row])
    while rows and all(is_blank(value) for value in rows[-1]):
        rows.pop()
    return Sheet(title=sheet.title, rows=rows, areas=tuple(_merged(path, sheet)))


def _check_stored(
    path: Path, title: str, number: int, row: Sequence[Any], written: Sequence[Any]
) -> None:
    """A formula has the value that was stored with it."""
    for place, (cell, formula) in enumerate(zip(row, written, strict=False)):
        if cell.value is None and formula.value is not None:
            where = f"sheet {title}!{letter_of(place)}{number}"
            remedy = "open the file in Excel and save it"
            rule, got = "a stored value of its formula", "none"
            name = f"cell in {path.name}"
            raise FileError(must_be(name, rule, got, where=where, remedy=remedy))


def _value(path: Path, title: str, cell: Any) -> Any:
    """What a cell holds; a number with the decimals that it shows, if it has no more."""
    value = cell.value
    if isinstance(value, str) and value in ERRORS:
        where = f"sheet {title}!{letter_of(cell.column - 1)}{cell.row}"
        name = f"cell in {path.name}"
        raise FileError(must_be(name, "a value", "an error of Excel", where=where))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    shows = SHOWS.fullmatch(cell.number_format or "")
    if shows is None or value in (float("inf"), float("-inf")) or value != value:
        return value
    number = Decimal(repr(value)) * (100 if shows["percent"] else 1)
    places = Decimal(1).scaleb(-len(shows["places"] or ""))
    if abs(number) < EXACT:
        rounded = number.quantize(places)
        number = rounded if number == rounded else number.normalize()
    if shows["percent"]:
        return Percentage(number)
    return number if shows["places"] else value


def _merged(path: Path, sheet: Any) -> Iterator[Area]:
    """The merged areas of a sheet, which are told at the end of its part of the file."""
    with zipfile.ZipFile(path) as packed, packed.open(sheet._worksheet_path) as part:
        before, found = b"", 0
        while chunk := part.read(CHUNK):
            text = before + chunk
            end = text.rfind(b">") + 1
            for match in MERGED.finditer(text[:end]):
                found += 1
                if found > MOST_MERGED:
                    rule = f"a sheet of at most {MOST_MERGED:,} merged cells"
                    raise FileError(must_be(path.name, rule, "more", remedy="save it as CSV"))
                yield _area(match)
            before = text[end:]


def _area(match: re.Match[bytes]) -> Area:
    left, first, right, last = (group.decode("ascii") for group in match.groups())
    return int(first) - 1, int(last) - 1, _number(left), _number(right)


def _number(letters: str) -> int:
    """The place of a column of that name, from 0."""
    place = 0
    for letter in letters:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1
