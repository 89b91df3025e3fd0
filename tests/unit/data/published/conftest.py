"""Files of published tables, made in the test."""

import openpyxl
import pytest

from discreet.data.published.reading import read_published


@pytest.fixture
def read(tmp_path):
    """Writes a file of text or bytes and reads its tables."""

    def reading(content, name="t.csv", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_published(path, **options)

    return reading


@pytest.fixture
def workbook(tmp_path):
    """Writes sheets of rows, with areas to be merged by sheet, and gives the path."""

    def write(sheets, merged=None, formats=None):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
            for area in (merged or {}).get(title, ()):
                sheet.merge_cells(area)
            for cell, form in (formats or {}).get(title, {}).items():
                sheet[cell].number_format = form
        path = tmp_path / "t.xlsx"
        book.save(path)
        return path

    return write
