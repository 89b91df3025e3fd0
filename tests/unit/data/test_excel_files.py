"""Excel workbooks: types kept, clear errors, and nothing that a hostile file could use."""

import datetime
import re
import zipfile

import openpyxl
import pyarrow as pa
import pytest

from discreet.data import excel_files
from discreet.data.excel_files import read_sheet
from discreet.data.records import open_records
from discreet.errors import FileError, InputError

DAY = datetime.date(2020, 1, 31)
MOMENT = datetime.datetime(2020, 1, 31, 12, 30)


@pytest.fixture
def workbook(tmp_path):
    """Writes sheets, each a list of rows, and gives the path."""

    def write(name="book.xlsx", **sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        book.save(tmp_path / name)
        return tmp_path / name

    return write


def changed(path, part, change):
    """The workbook with one of its parts rewritten."""
    with zipfile.ZipFile(path) as packed:
        parts = {info.filename: packed.read(info) for info in packed.infolist()}
    parts[part] = change(parts[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return path


SHEET = "xl/worksheets/sheet1.xml"


def test_values_keep_their_types(workbook):
    path = workbook(
        Data=[
            ["whole", "number", "text", "truth", "day", "moment", "mixed", 7],
            [1, 1.5, "a", True, DAY, MOMENT, "x", None],
            [None, 2, None, None, None, None, 3, None],
            [2.0, 3, "", False, DAY, DAY, 2.5, 4],
        ]
    )
    found = read_sheet(path)
    assert dict(zip(found.column_names, found.schema.types, strict=True)) == {
        "whole": pa.int64(),
        "number": pa.float64(),
        "text": pa.string(),
        "truth": pa.bool_(),
        "day": pa.date32(),
        "moment": pa.timestamp("us"),
        "mixed": pa.string(),
        "7": pa.int64(),
    }
    assert found["whole"].to_pylist() == [1, None, 2]
    assert found["text"].to_pylist() == ["a", None, None]
    assert found["mixed"].to_pylist() == ["x", "3", "2.5"]
    assert found["day"].to_pylist() == [DAY, None, DAY]


def test_the_first_sheet_or_the_one_that_is_named(workbook):
    path = workbook(One=[["a"], [1]], Two=[["b"], [2]])
    assert read_sheet(path).column_names == ["a"]
    assert read_sheet(path, "Two").column_names == ["b"]
    with pytest.raises(FileError, match="sheet must be one of 'One', 'Two', got 'Three'"):
        read_sheet(path, "Three")


def test_empty_rows_between_records_are_no_records(workbook):
    rows = [["a", "b"], [1, "x"], [None, None], [], [2, None], [None, None]]
    assert read_sheet(workbook(one=rows)).to_pydict() == {"a": [1, 2], "b": ["x", None]}


def test_empty_rows_before_and_after_are_no_records(workbook):
    path = workbook(Data=[[None], [None, None], ["a", "b"], [1, 2], [None, 3], [None, None]])
    found = read_sheet(path)
    assert found.column_names == ["a", "b"]
    assert found.to_pylist() == [{"a": 1, "b": 2}, {"a": None, "b": 3}]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "a sheet with a header and rows, got an empty one"),
        ([["a", "b"]], "a sheet with rows below its header, got none"),
        (
            [["a", None, "c"], [1, 2, 3]],
            "header must be the name of a column, got an empty cell at B1",
        ),
        ([["a"], [1, 2]], "cell must be under the name of a column, got one beside at B2"),
        ([["a"], [1], ["#N/A"]], "cell must be a value, got an error of Excel at A3"),
        (
            [["a", "b"], [1, "=A2+1"]],
            "cell must be a stored value, got a formula without one at B2",
        ),
    ],
)
def test_what_cannot_be_read_is_named(workbook, rows, says):
    with pytest.raises(FileError, match=re.escape(says)):
        read_sheet(workbook(Data=rows))


def test_a_merged_header_is_named(tmp_path):
    book = openpyxl.Workbook()
    for row in (["age", None, "sex"], [1, 2, "m"]):
        book.active.append(row)
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "merged.xlsx")
    with pytest.raises(FileError, match="take merged cells apart"):
        read_sheet(tmp_path / "merged.xlsx")


def test_the_stored_value_of_a_formula_is_read(workbook):
    path = workbook(Data=[["a", "b"], [1, "=A2+1"]])
    stored = re.compile(rb"<f>A2\+1</f><v ?/?>(</v>)?")

    def store(xml):
        assert stored.search(xml)
        return stored.sub(b"<f>A2+1</f><v>2</v>", xml)

    assert read_sheet(changed(path, SHEET, store)).to_pylist() == [{"a": 1, "b": 2}]


def test_macros_are_not_run(workbook):
    path = workbook("book.xlsm", Data=[["a"], [1]])
    with zipfile.ZipFile(path, "a") as packed:
        packed.writestr("xl/vbaProject.bin", b"anything")
    assert read_sheet(path).num_rows == 1


def test_a_bomb_is_refused_before_it_is_unpacked(workbook, monkeypatch):
    path = workbook(Data=[["a"], [1]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/media/zeros.bin", bytes(1 << 22))
    monkeypatch.setattr(excel_files, "MOST_BYTES", 1 << 21)
    with pytest.raises(FileError, match="at most 2 MB unpacked, got more; save it as CSV"):
        read_sheet(path)


def test_many_parts_are_refused(workbook, monkeypatch):
    path = workbook(Data=[["a"], [1]])
    monkeypatch.setattr(excel_files, "MOST_PARTS", 3)
    with pytest.raises(FileError, match="unpacked, got more"):
        read_sheet(path)


def test_a_sheet_of_too_many_cells_is_refused(workbook, monkeypatch):
    monkeypatch.setattr(excel_files, "MOST_CELLS", 10)
    assert read_sheet(workbook(Data=[["a", "b"]] * 5)).num_rows == 4
    with pytest.raises(FileError, match="a sheet of at most 10 cells, got more"):
        read_sheet(workbook(Data=[["a", "b"]] * 6))


def test_what_a_sheet_says_of_its_size_is_not_believed(workbook):
    path = workbook(Data=[["a", "b"], [1, 2]])

    def lie(xml):
        assert b'<dimension ref="A1:B2"' in xml
        return xml.replace(b'<dimension ref="A1:B2"', b'<dimension ref="A1:XFD1048576"')

    found = read_sheet(changed(path, SHEET, lie))
    assert (found.num_rows, found.num_columns) == (1, 2)


def test_entities_are_refused(workbook):
    path = workbook(Data=[["a"], [1]])
    bomb = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'

    def prepend(xml):
        return bomb + xml[xml.index(b"<worksheet") :]

    with pytest.raises(FileError, match="a readable Excel workbook"):
        read_sheet(changed(path, SHEET, prepend))


@pytest.mark.parametrize("content", [b"", b"not a workbook", b"PK\x03\x04 broken"])
def test_a_damaged_file_is_told(tmp_path, content):
    (tmp_path / "book.xlsx").write_bytes(content)
    with pytest.raises(
        FileError, match="must be a readable Excel workbook, got one that is damaged"
    ):
        read_sheet(tmp_path / "book.xlsx")


def test_a_packed_folder_that_is_no_workbook(tmp_path):
    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as packed:
        packed.writestr("hello.txt", "hello")
    with pytest.raises(FileError, match="must be a readable Excel workbook"):
        read_sheet(tmp_path / "book.xlsx")


def test_xml_that_ends_early(workbook):
    path = workbook(Data=[["a"], [1]])
    with pytest.raises(FileError, match="must be a readable Excel workbook"):
        read_sheet(changed(path, SHEET, lambda xml: xml[: len(xml) // 2]))


def test_old_kinds_are_told_what_to_become(tmp_path):
    (tmp_path / "book.xls").write_bytes(b"x")
    with pytest.raises(FileError, match="an .xlsx workbook, got an older kind; save it as .xlsx"):
        open_records(tmp_path / "book.xls")


def test_a_workbook_is_a_source_of_records(workbook):
    path = workbook(Data=[["a", "b"], [1, "x"]], More=[["c"], [2]])
    records = open_records(path)
    assert records.column_names == ("a", "b")
    assert records.types(["a"]) == {"a": pa.int64()}
    assert open_records(path, sheet="More").column_names == ("c",)
    with pytest.raises(InputError, match="sheet must be given with an Excel file, got 'x.csv'"):
        open_records(path.with_name("x.csv"), sheet="More")
