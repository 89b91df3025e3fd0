"""One sheet of an Excel workbook: a header, then a row a record, values in their own types.

A workbook is a packed folder of XML that may come from anybody, so it is looked at before it is
opened: how large it would become, and that it defines no entities. Macros and links are never run
or followed; of a formula the value that was stored with it is read.
"""

import re
import zipfile
from collections.abc import Generator, Iterator, Sequence
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data.stat_files import level_text
from discreet.errors import FileError, must_be

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".xlsx", ".xlsm")
OLD_SUFFIXES = (".xls", ".xlsb", ".ods")
MOST_BYTES = 1 << 29  # of all parts unpacked
MOST_PARTS = 10_000
MOST_CELLS = 20_000_000  # those left out between others counted in
ERRORS = {"#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!", "#GETTING_DATA"}
ENTITIES = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
CHUNK = 1 << 20
GENERAL = "General"  # how Excel shows numbers of which nothing else is said
FORMAT_ROWS = 1000  # that tell how a column is shown


def is_excel(path: Path) -> bool:
    """Whether the file is a workbook, by its ending; of an old kind too, so that it is told."""
    return path.suffix.lower() in (*SUFFIXES, *OLD_SUFFIXES)


def read_sheet(path: Path, sheet: str | None = None) -> "pa.Table":
    """The sheet of that name, or the first, as an Arrow table.

    Raises FileError where the workbook is damaged or too large, the sheet is not there or empty, a
    column has no name, or a cell has an error or a formula without a value.
    """
    import pyarrow as pa

    header, columns = read_cells(path, sheet)
    return pa.Table.from_arrays([_column(values) for values in columns], names=header)


def read_cells(path: Path, sheet: str | None = None) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns of a sheet and their values as the cells hold them; what is wrong
    with the sheet is said as in `read_sheet`."""
    if path.suffix.lower() in OLD_SUFFIXES:
        remedy = "save it as .xlsx or CSV"
        raise FileError(must_be(path.name, "an .xlsx workbook", "an older kind", remedy=remedy))
    check_parts(path)
    rows = _values(path, sheet)
    header = _header(path, rows)
    columns: list[list[Any]] = [[] for _ in header]
    for number, row in rows:
        _check_row(row, number, len(header))
        if all(value is None for value in row):  # formatted, but never filled: no record
            continue
        for place, column in enumerate(columns):
            column.append(row[place] if place < len(row) else None)
    if not columns[0]:
        raise FileError(must_be(path.name, "a sheet with rows below its header", "none"))
    return header, columns


def read_look(path: Path, sheet: str | None, width: int) -> tuple[str, list[str]]:
    """The name of the sheet, and for each column the number format of its first values."""
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    try:
        found = sheet_of(path, book, sheet)
        found.reset_dimensions()
        formats: list[str | None] = [None] * width
        for row in islice(found.iter_rows(), 1, FORMAT_ROWS):
            for place, cell in enumerate(row[:width]):
                if cell.value is not None and formats[place] is None:
                    formats[place] = cell.number_format
        return found.title, [one or GENERAL for one in formats]
    finally:
        book.close()


def check_parts(path: Path) -> None:
    """The workbook is a packed folder of bounded size, without XML that defines entities."""
    try:
        with zipfile.ZipFile(path) as packed:
            parts = packed.infolist()
            if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_BYTES:
                rule = f"at most {MOST_BYTES >> 20:,} MB unpacked"
                raise FileError(must_be(path.name, rule, "more", remedy="save it as CSV"))
            for part in parts:
                if part.filename.lower().endswith((".xml", ".rels")):
                    _check_xml(path, packed, part)
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, EOFError) as error:
        raise damaged(path) from error


def _check_xml(path: Path, packed: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """No part holds more than it says, or a definition by which a few bytes become many."""
    done, before = 0, b""
    with packed.open(part) as stream:
        while chunk := stream.read(CHUNK):
            done += len(chunk)
            if done > part.file_size or ENTITIES.search(before + chunk):
                raise damaged(path)
            before = chunk[-16:]


def damaged(path: Path) -> FileError:
    """The complaint about a workbook that cannot be opened."""
    got = "one that is damaged, locked with a password or of another kind"
    return FileError(must_be(path.name, "a readable Excel workbook", got))


def _values(path: Path, sheet: str | None) -> Iterator[tuple[int, Sequence[Any]]]:
    """The rows with their numbers; a formula is its stored value."""
    stored = _rows(path, sheet, data_only=True)
    if not has_formulas(path):
        yield from stored
        return
    for (number, row), (_, written) in zip(
        stored, _rows(path, sheet, data_only=False), strict=True
    ):
        for place, (value, formula) in enumerate(zip(row, written, strict=True)):
            if value is None and formula is not None:
                where = f"{letter_of(place)}{number}"
                remedy = "open the file in Excel and save it"
                got = "a formula without one"
                rule = "a stored value"
                raise FileError(must_be("cell", rule, got, where=where, remedy=remedy))
        yield number, row


def open_book(path: Path, *, data_only: bool) -> Any:
    """The workbook, its sheets read as they are asked for; of formulas the stored values, or they
    themselves. Raises FileError where it is damaged."""
    import openpyxl

    try:
        return openpyxl.load_workbook(path, read_only=True, data_only=data_only, keep_links=False)
    except Exception as error:  # what a parser makes of a damaged file can be anything
        raise damaged(path) from error


def rows_of(path: Path, sheet: Any, *, values_only: bool) -> Generator[Sequence[Any]]:
    """The rows of a sheet. Checked: they are no more than MOST_CELLS cells together."""
    sheet.reset_dimensions()  # what the file says of its size need not be true
    cells = 0
    for row in _guarded(path, sheet, values_only):
        cells += len(row)
        if cells > MOST_CELLS:
            rule = f"a sheet of at most {MOST_CELLS:,} cells"
            raise FileError(must_be(path.name, rule, "more", remedy="save it as CSV"))
        yield row


def _rows(path: Path, sheet: str | None, *, data_only: bool) -> Iterator[tuple[int, Sequence[Any]]]:
    book = open_book(path, data_only=data_only)
    try:
        found = sheet_of(path, book, sheet)
        yield from enumerate(rows_of(path, found, values_only=True), start=1)
    finally:
        book.close()


def _guarded(path: Path, sheet: Any, values_only: bool) -> Iterator[Sequence[Any]]:
    try:
        yield from sheet.iter_rows(values_only=values_only)
    except Exception as error:  # as above
        raise damaged(path) from error


def sheet_of(path: Path, book: Any, sheet: str | None) -> Any:
    """The sheet of that name, or the first."""
    names = [one.title for one in book.worksheets]
    if not names:
        raise FileError(must_be(path.name, "a workbook with a sheet of cells", "none"))
    if sheet is not None and sheet not in names:
        listed = ", ".join(repr(name) for name in names[:8])
        raise FileError(must_be("sheet", f"one of {listed}", repr(sheet)))
    return book.worksheets[0 if sheet is None else names.index(sheet)]


def has_formulas(path: Path) -> bool:
    """Whether any sheet holds a formula."""
    with zipfile.ZipFile(path) as packed:
        for part in packed.namelist():
            if part.startswith("xl/worksheets/"):
                with packed.open(part) as stream:
                    before = b""
                    while chunk := stream.read(CHUNK):
                        if b"<f>" in before + chunk or b"<f " in before + chunk:
                            return True
                        before = chunk[-4:]
    return False


def _header(path: Path, rows: Iterator[tuple[int, Sequence[Any]]]) -> list[str]:
    """The names of the columns: the first row that is not empty."""
    for number, row in rows:
        if any(value is not None for value in row):
            last = max(i for i, value in enumerate(row) if value is not None)
            return [_name(value, number, place) for place, value in enumerate(row[: last + 1])]
    raise FileError(must_be(path.name, "a sheet with a header and rows", "an empty one"))


def _name(value: Any, number: int, place: int) -> str:
    if value is None or str(value).strip() == "":
        rule = "the name of a column"
        remedy = "name each column in one row, and take merged cells apart"
        where = f"{letter_of(place)}{number}"
        raise FileError(must_be("header", rule, "an empty cell", where=where, remedy=remedy))
    return level_text(value).strip()


def _check_row(row: Sequence[Any], number: int, width: int) -> None:
    for place, value in enumerate(row):
        if place >= width and value is not None:
            rule, got = "under the name of a column", "one beside"
            remedy = "name each column in one row, and take merged cells apart"
        elif isinstance(value, str) and value in ERRORS:
            rule, got = "a value", "an error of Excel"
            remedy = "correct it, or leave the cell empty where the value is missing"
        else:
            continue
        where = f"{letter_of(place)}{number}"
        raise FileError(must_be("cell", rule, got, where=where, remedy=remedy))


def _column(values: list[Any]) -> "pa.Array":
    """Numbers, truth values, dates and text as such; a column that mixes them as text."""
    import pyarrow as pa

    known = [None if value == "" else value for value in values]
    kinds = {type(value) for value in known if value is not None}
    if kinds <= {int, float}:
        whole = all(value is None or _is_whole(value) for value in known)
        kind = pa.int64() if whole else pa.float64()
        return pa.array([None if v is None else int(v) if whole else float(v) for v in known], kind)
    if kinds <= {datetime, date}:
        plain = all(not isinstance(v, datetime) or v.time() == time() for v in known)
        days = [v.date() if isinstance(v, datetime) else v for v in known]
        return pa.array(days) if plain else pa.array(known, pa.timestamp("us"))
    if len(kinds) == 1 and kinds <= {bool, str, time}:
        return pa.array(known)
    return pa.array([None if value is None else level_text(value) for value in known])


def _is_whole(number: float) -> bool:
    return abs(number) < 2**63 and number == int(number)


def letter_of(place: int) -> str:
    """The letters of a column: A, B, … Z, AA."""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
