"""One sheet of an Excel workbook: a header, then a row a record, values in their own types."""

import io
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.data.excel_files import GENERAL, is_excel, read_cells, read_look
from discreet.data.output_columns import OutputColumn, OutputRows, output_rows
from discreet.data.records import Records
from discreet.data.text_values import typed_text
from discreet.errors import OutputError, must_be
from discreet.numerics.arrays import IntArray

MOST_ROWS = 1_048_576  # of a sheet, the header among them
MOST_COLUMNS = 16_384
MOST_LETTERS = 32_767  # of a cell
EXACT = 10**15  # Excel keeps fifteen digits of a number
FIRST_YEAR = 1900
INSTEAD = "write a .csv or .parquet file"


class ExcelOutput:
    """Gathers the rows, for a sheet is small, and writes them at the end.

    `typed`: the source tells numbers from text; where it does not, the values tell.
    """

    def __init__(self, rows: OutputRows, cells: "SheetCells | None", *, typed: bool) -> None:
        self.carries = rows.carries
        self._rows, self._cells, self._typed = rows, cells, typed
        self._numbers: list[IntArray] = []
        self._tables: list[pa.Table] = []
        self._n_rows = 0

    def write(self, rows: IntArray, table: pa.Table) -> None:
        """Adds rows."""
        self._n_rows += len(rows)
        if self._n_rows >= MOST_ROWS:
            rule = f"a sheet of fewer than {MOST_ROWS:,} records"
            raise OutputError(must_be("output", rule, "more", remedy=INSTEAD))
        self._numbers.append(rows)
        self._tables.append(self._rows.table(rows, table))

    def columns(self) -> list[list[Any]]:
        """The values of each column, as its cells hold them."""
        if not self._tables:
            return [[] for _ in self._rows.columns]
        table = pa.concat_tables(self._tables, promote_options="permissive")
        rows = np.concatenate(self._numbers)
        columns = self._rows.columns
        return [self._values(column, table.column(column.name), rows) for column in columns]

    def _values(self, column: OutputColumn, found: pa.ChunkedArray, rows: IntArray) -> list[Any]:
        if self._cells is not None and column.own:
            own = self._cells.columns[column.name]
            if column.name not in self._rows.changed:
                return [own[row] for row in rows]
            there = found.is_valid().to_pylist()
            return [own[row] if known else None for row, known in zip(rows, there, strict=True)]
        if column.own and not self._typed:
            found = typed_text(found)
        return [_cell_value(value) for value in found.to_pylist()]


class SheetCells:
    """The sheet that the records came from: its name, and the cells and look of its columns."""

    def __init__(self, path: Path, sheet: str | None) -> None:
        names, columns = read_cells(path, sheet)
        self.title, formats = read_look(path, sheet, len(names))
        self.columns = dict(zip(names, columns, strict=True))
        self.formats = dict(zip(names, formats, strict=True))


def _cell_value(value: Any) -> Any:
    """What a cell can hold of a value: what Excel would alter goes out as text."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | Decimal) and abs(Decimal(value)) >= EXACT:
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return value if math.isfinite(value) else str(value)
    if isinstance(value, date):  # a datetime is one too
        zoned = isinstance(value, datetime) and value.tzinfo is not None
        return value.isoformat() if zoned or value.year < FIRST_YEAR else value
    return str(value) if isinstance(value, list | dict | bytes) else value


@contextmanager
def excel_output(
    path: Path, records: Records, columns: Sequence[OutputColumn], changed: Collection[str]
) -> Iterator[ExcelOutput]:
    """A workbook of one sheet, which is named and shows its numbers as the source does."""
    if len(columns) > MOST_COLUMNS:
        rule, got = f"a sheet of at most {MOST_COLUMNS:,} columns", f"{len(columns):,}"
        raise OutputError(must_be("output", rule, got, remedy=INSTEAD))
    rows = output_rows(records, columns, changed)
    of_sheet = bool(records.files) and is_excel(records.files[0])
    cells = SheetCells(records.files[0], records.sheet) if of_sheet else None
    output = ExcelOutput(rows, cells, typed=not records.is_csv)
    yield output
    _save(path, rows.columns, output.columns(), cells)


def _save(
    path: Path,
    columns: Sequence[OutputColumn],
    values: Sequence[Sequence[Any]],
    cells: SheetCells | None,
) -> None:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1" if cells is None else cells.title)
    look = [
        cells.formats[column.name] if cells is not None and column.own else GENERAL
        for column in columns
    ]
    names = [column.name for column in columns]
    packed = io.BytesIO()  # a book that meets a full disk would complain of it twice
    try:
        sheet.append([sheet_cell(sheet, name, GENERAL, name) for name in names])
        for row in zip(*values, strict=True):
            sheet.append([sheet_cell(sheet, *one) for one in zip(row, look, names, strict=True)])
        book.save(packed)
    except BaseException:
        discard(sheet)
        raise
    path.write_bytes(packed.getbuffer())


def discard(sheet: Any) -> None:
    """Removes the temporary file in which openpyxl keeps the rows until the book is saved."""
    with suppress(Exception):
        sheet.close()
    with suppress(Exception):
        sheet._writer.cleanup()


def sheet_cell(sheet: Any, value: Any, look: str, name: str) -> Any:
    """A value ready to be written: text is text, whatever it begins with."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils.exceptions import IllegalCharacterError

    if not isinstance(value, str):
        if look == GENERAL or value is None:
            return value
        cell = WriteOnlyCell(sheet, value)
        cell.number_format = look
        return cell
    if len(value) > MOST_LETTERS:
        raise _unfit(name, "text that is longer")
    try:
        cell = WriteOnlyCell(sheet, value)
    except IllegalCharacterError as error:
        raise _unfit(name, "a control character") from error
    cell.data_type = "s"  # else a formula is what begins with =, and an error what reads like one
    return cell


def _unfit(name: str, got: str) -> OutputError:
    rule = f"text that a cell of Excel can hold ({MOST_LETTERS:,} characters, none of control)"
    return OutputError(must_be(f"column {name!r}", rule, got, remedy=INSTEAD))
