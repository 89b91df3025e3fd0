"""A workbook comes out with its cells as they were, and nothing in it that runs."""

import datetime
import zipfile

import openpyxl
import pyarrow as pa
import pytest
from openpyxl.cell import WriteOnlyCell

from discreet.data import excel_output
from discreet.data.excel_files import read_sheet
from discreet.data.records import open_records
from discreet.errors import OutputError

DAY = datetime.datetime(2020, 1, 31)
MOMENT = datetime.datetime(2020, 1, 31, 12, 30)
ROWS = [
    ["id", "naïve", "share", "ok", "day", "at", "mixed", "none", "time"],
    [1, "", 0.5, True, DAY, MOMENT, "x", None, datetime.time(8, 30)],
    [2, "a\nb", 1.25, None, None, DAY, 3, None, None],
    [3, "=1+1", 2, False, DAY, None, 2.5, None, None],
]
LOOKS = {"C": "0.00%", "E": "dd.mm.yyyy"}


@pytest.fixture
def source(tmp_path):
    """A workbook of two sheets, numbers and dates shown in their own way."""
    book = openpyxl.Workbook()
    book.active.append(["other"])
    book.active.append(["secret"])
    sheet = book.create_sheet("Perso-näl")
    for row in ROWS:
        sheet.append(row)
    sheet["B4"].data_type = "s"
    for column, look in LOOKS.items():
        for row in range(2, 5):
            sheet[f"{column}{row}"].number_format = look
    book.save(tmp_path / "in.xlsx")
    return tmp_path / "in.xlsx"


def cells(path):
    book = openpyxl.load_workbook(path)
    return book, [list(row) for row in book.worksheets[0].iter_rows()]


def values(path):
    return [[cell.value for cell in row] for row in cells(path)[1]]


def test_an_unchanged_sheet_has_the_same_cells(tmp_path, copies, source):
    path = copies.write(source, tmp_path / "out.xlsx", sheet="Perso-näl")
    book, found = cells(path)
    assert book.sheetnames == ["Perso-näl"]
    rows: list = ROWS
    expected = [[value if value != "" else None for value in row] for row in rows]
    assert [[cell.value for cell in row] for row in found] == expected
    assert {row[2].number_format for row in found[1:]} == {"0.00%"}
    assert found[1][4].number_format == "dd.mm.yyyy"
    assert found[3][1].data_type == "s"
    assert read_sheet(path).schema == read_sheet(source, "Perso-näl").schema


def test_the_other_sheets_stay_inside(tmp_path, copies, source):
    path = copies.write(source, tmp_path / "out.xlsx", sheet="Perso-näl")
    with zipfile.ZipFile(path) as packed:
        assert not any(b"secret" in packed.read(part) for part in packed.namelist())


def test_rows_columns_and_values_that_changed(tmp_path, copies, source):
    path = copies.write(
        source,
        tmp_path / "out.xlsx",
        sheet="Perso-näl",
        rows=[2, 0],
        names=["mixed", "day", "id", "share"],
        changed={
            "id": ["2-3", None],
            "mixed": [None, "x"],
            "day": [DAY.date(), None],
            "share": [1.5, 0.5],
        },
        recoded={"id": ("1", "2-3")},
        numbers=("share",),
    )
    assert values(path) == [
        ["mixed", "day", "id", "share"],
        [None, DAY, "2-3", 1.5],
        ["x", None, None, 0.5],
    ]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "#N/A", '=HYPERLINK("http://x")'])
def test_text_never_becomes_a_formula(tmp_path, copies, text):
    path = copies.write(pa.table({text: [text, "b"]}), tmp_path / "out.xlsx")
    _, found = cells(path)
    assert [(row[0].value, row[0].data_type) for row in found] == [
        (text, "s"),
        (text, "s"),
        ("b", "s"),
    ]
    with zipfile.ZipFile(path) as packed:
        assert b"<f>" not in packed.read("xl/worksheets/sheet1.xml")


@pytest.mark.parametrize("text", [" lead", "trail ", "a\nb", "_x0041_", "<&>\"'", "\t", "𝒳é"])
def test_text_is_the_same_letter_for_letter(tmp_path, copies, text):
    path = copies.write(pa.table({"a": [text, "b"]}), tmp_path / "out.xlsx")
    assert read_sheet(path).to_pydict() == {"a": [text, "b"]}
    assert read_sheet(copies.write(path, tmp_path / "again.xlsx")).to_pydict() == {"a": [text, "b"]}


def test_a_line_break_of_another_kind_becomes_the_usual_one(tmp_path, copies):
    path = copies.write(pa.table({"a": ["a\r\nb", "a\rb"]}), tmp_path / "out.xlsx")
    assert read_sheet(path).to_pydict() == {"a": ["a\nb", "a\nb"]}


def test_numbers_of_a_csv_file_are_numbers_and_codes_stay_text(tmp_path, copies):
    source = tmp_path / "in.csv"
    source.write_text(f"code,n,f,big,key\n01,5,1.5,{2**62},1\n2,,2,1,2\n")
    path = copies.write(
        source, tmp_path / "out.xlsx", changed={"key": ["1", None]}, recoded={"key": ("1",)}
    )
    assert values(path)[1:] == [["01", 5, 1.5, str(2**62), "1"], ["2", None, 2, "1", None]]


def test_what_excel_would_alter_goes_out_as_text(tmp_path, copies):
    zoned = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "big": [2**62, 1],
            "old": [datetime.date(1850, 1, 1), datetime.date(2020, 1, 1)],
            "zoned": [zoned, None],
            "f": [float("nan"), float("inf")],
        }
    )
    found = values(copies.write(table, tmp_path / "out.xlsx"))
    assert found[1] == [str(2**62), "1850-01-01", "2020-01-01T00:00:00+00:00", None]
    assert found[2] == [1, datetime.datetime(2020, 1, 1), None, "inf"]


def test_no_rows_leave_the_header(tmp_path, copies, source):
    path = copies.write(source, tmp_path / "out.xlsx", sheet="Perso-näl", rows=[])
    assert values(path) == [ROWS[0]]


def test_one_record(tmp_path, copies, source):
    path = copies.write(source, tmp_path / "out.xlsx", sheet="Perso-näl", rows=[1])
    assert open_records(path).scan((0,)).table.to_pylist() == [{"c0": 2}]


@pytest.mark.parametrize(
    ("text", "got"), [("x" * 32_768, "text that is longer"), ("\x01", "a control")]
)
def test_text_that_a_cell_cannot_hold(tmp_path, copies, text, got):
    with pytest.raises(OutputError, match=f"column 'a' must be text that a cell .* got {got}"):
        copies.write(pa.table({"a": [text]}), tmp_path / "out.xlsx")
    assert [path.name for path in tmp_path.iterdir()] == ["workspace"]


def test_more_records_than_a_sheet_holds(tmp_path, copies, monkeypatch):
    monkeypatch.setattr(excel_output, "MOST_ROWS", 3)
    assert len(values(copies.write(pa.table({"a": [1, 2]}), tmp_path / "out.xlsx"))) == 3
    with pytest.raises(OutputError, match="a sheet of fewer than 3 records"):
        copies.write(pa.table({"a": [1, 2, 3]}), tmp_path / "out.xlsx")


def test_more_columns_than_a_sheet_holds(tmp_path, copies, monkeypatch):
    monkeypatch.setattr(excel_output, "MOST_COLUMNS", 1)
    with pytest.raises(OutputError, match="a sheet of at most 1 columns, got 2"):
        copies.write(pa.table({"a": [1], "b": [1]}), tmp_path / "out.xlsx")


def test_a_text_cell_of_openpyxl_is_a_formula_unless_told_otherwise():
    """Why the type of each text is set."""
    sheet = openpyxl.Workbook(write_only=True).create_sheet("s")
    assert WriteOnlyCell(sheet, "=1").data_type == "f"
