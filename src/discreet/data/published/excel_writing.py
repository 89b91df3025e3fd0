"""A published table as an Excel workbook of one sheet, in long form.

Labels are text whatever they look like, so that none is a formula or a date. Figures are numbers
that show as many decimals as were printed; a withheld figure is its mark, or `x`, since an empty
cell counts as a zero in a formula.
"""

import io
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from discreet.data.excel_files import GENERAL
from discreet.data.excel_output import EXACT, INSTEAD, MOST_COLUMNS, MOST_ROWS, discard, sheet_cell
from discreet.data.published.about import About
from discreet.data.published.headings import heading, order_of
from discreet.data.published.published_table import PublishedTable
from discreet.errors import OutputError, must_be

SHEET = "Table"
WITHHELD = "x"
MADE = datetime(
    2000, 1, 1
)  # so that the same table gives the same workbook, whenever it is written


def excel_bytes(table: PublishedTable, about: About) -> bytes:
    """The workbook. Checked: it holds no more than a sheet can."""
    import openpyxl

    order = order_of(table)
    names = [*(table.variables[i] for i in order), about.column or heading(table)]
    if len(table.printed) >= MOST_ROWS or len(names) > MOST_COLUMNS:
        rule = f"a sheet of fewer than {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns"
        raise OutputError(must_be("output", rule, "more", remedy=INSTEAD))
    book = openpyxl.Workbook(write_only=True)
    book.properties.creator, book.properties.created = "discreet", MADE
    book.properties.title = about.title or None
    book.properties.description = about.source or None
    sheet = book.create_sheet(SHEET)
    packed = io.BytesIO()
    try:
        sheet.append([sheet_cell(sheet, name, GENERAL, name) for name in names])
        for place in range(len(table.printed)):
            sheet.append(_row(sheet, table, place, order, names))
        book.save(packed)
    except BaseException:
        discard(sheet)
        raise
    return packed.getvalue()


def _row(
    sheet: Any, table: PublishedTable, place: int, order: Sequence[int], names: Sequence[str]
) -> list[Any]:
    codes = table.places[place].tolist()
    labels = (table.labels[i][codes[i]] for i in order)
    value, look = _figure(table.printed[place], table.marks.get(place, ""))
    told = [*((label, GENERAL) for label in labels), (value, look)]
    return [sheet_cell(sheet, *one, name) for one, name in zip(told, names, strict=True)]


def _figure(printed: str, mark: str) -> tuple[Any, str]:
    """What the cell of a figure holds, and the number format that shows its decimals."""
    if not printed:
        return mark or WITHHELD, GENERAL
    number, places = Decimal(printed), len(printed.partition(".")[2])
    if abs(number) >= EXACT or len(number.as_tuple().digits) > len(str(EXACT)) - 1:
        return printed, GENERAL
    return (int(number), GENERAL) if not places else (float(number), "0." + "0" * places)
