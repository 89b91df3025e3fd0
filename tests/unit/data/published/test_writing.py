"""Published tables in files of every format: nothing withheld becomes a figure, nothing a formula."""

import numpy as np
import openpyxl
import pytest

from discreet.data.published.about import About
from discreet.data.published.csv_writing import guarded
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.data.published.reading import read_published
from discreet.data.published.writing import Format, formats_of, table_bytes, write_published
from discreet.errors import InputError, OutputError


def table(**changes):
    own = {
        "name": "t",
        "variables": ("age", "sex"),
        "labels": (("0-14", "15+"), ("M", "=F")),
        "places": np.array([[0, 0], [0, 1], [1, 0], [1, 1]]),
        "printed": ("3", "", "12.50", ""),
        "marks": {3: "x"},
    }
    return PublishedTable(**{**own, **changes})


def test_csv():
    assert (
        table_bytes(table(), "csv")
        == b"age,sex,count\n0-14,M,3\n0-14,'=F,\n15+,M,12.50\n15+,'=F,x\n"
    )
    assert table_bytes(table(), "csv", about=About(column="n")).startswith(b"age,sex,n\n")
    total = table(variables=(), labels=(), places=np.zeros((1, 0), int), printed=("",), marks={})
    assert table_bytes(total, "csv") == b'count\n""\n'


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+2", "'=1+2"), ("@SUM(A1)", "'@SUM(A1)"), ("+cmd|' /C'", "'+cmd|' /C'"), ("-x", "'-x"),
        ("\tx", "'\tx"), ("'=1", "''=1"), ("-5", "-5"), ("-5 to -1", "-5 to -1"), ("-", "-"),
        ("'-5", "''-5"), ("a=b", "a=b"), ("'a", "'a"), ("", ""),
    ],
)  # fmt: skip
def test_text_that_would_be_a_formula(text, written):
    assert guarded(text) == written


def test_a_workbook_holds_text_and_numbers(tmp_path):
    path = tmp_path / "t.xlsx"
    write_published(table(), path, "xlsx", about=About(title="Persons", source="us"))
    book = openpyxl.load_workbook(path)
    rows = [[cell.value for cell in row] for row in book.active.rows]
    assert rows == [
        ["age", "sex", "count"], ["0-14", "M", 3], ["0-14", "=F", "x"], ["15+", "M", 12.5], ["15+", "=F", "x"],
    ]  # fmt: skip
    assert book.active["B3"].data_type == "s"
    assert book.active["C4"].number_format == "0.00"
    assert (book.properties.title, book.properties.description) == ("Persons", "us")


def test_the_column_of_figures_says_what_they_are():
    percents = table(statistic=Statistic.PERCENT, of=("sex",))
    assert table_bytes(percents, "csv").startswith(b"age,sex,percent within sex\n")
    assert b'UNITS="percent within sex";' in table_bytes(percents, "px")
    assert b'"extension":{"statistic":"percent","of":["sex"],' in table_bytes(
        percents, "json-stat2"
    )
    means = table(statistic=Statistic.MEAN, of=("income",))
    assert table_bytes(means, "csv").startswith(b"age,sex,mean income\n")
    assert table_bytes(table(variables=("Count", "n")), "csv").startswith(b"Count,n,count_\n")
    assert table_bytes(table(variables=("a", "percent")), "csv").startswith(
        b"percent,a,count\nM,0-14,3"
    )


@pytest.mark.parametrize("format", Format)
def test_the_part_of_a_table_becomes_a_variable(tmp_path, format):
    path = tmp_path / f"t{format.ending}"
    write_published(table(part={"region": "North"}), path, format)
    (found,) = read_published(path)
    assert found.variables == ("age", "sex", "region")
    assert found.labels[2] == ("North",)
    with pytest.raises(
        InputError, match="part must be of other variables than the table's, got 'sex'"
    ):
        table_bytes(table(part={"sex": "M"}), format)


def test_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "t.px"
    path.write_text("before")
    with pytest.raises(OutputError):
        write_published(table(labels=(("0-14", "15+"), ("M", '"'))), path, "px")
    assert path.read_text() == "before"

    def full_disk(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full_disk)
    with pytest.raises(OutputError, match="writable, got No space left on device"):
        write_published(table(), path, "csv")
    assert [one.name for one in tmp_path.iterdir()] == ["t.px"]


def test_what_is_no_table_or_format():
    with pytest.raises(
        InputError, match="format must be one of csv, xlsx, json-stat2, px, got 'ods'"
    ):
        table_bytes(table(), "ods")
    with pytest.raises(
        InputError, match="printed must be figures as text, such as 12 or 12.5, got '1,5'"
    ):
        table_bytes(table(printed=("1,5", "", "", "")), "csv")
    with pytest.raises(InputError, match="labels of 'sex' must be different, got one twice"):
        table_bytes(table(labels=(("0-14", "15+"), ("M", "M"))), "csv")
    assert formats_of(["px", "csv"]) == (Format.PX, Format.CSV)
    with pytest.raises(InputError, match="format must be different formats, got csv, csv"):
        formats_of(["csv", "csv"])
    with pytest.raises(InputError, match="format must be different formats, got none"):
        formats_of([])


def test_what_a_sheet_cannot_hold(monkeypatch):
    monkeypatch.setattr("discreet.data.published.excel_writing.MOST_ROWS", 4)
    with pytest.raises(
        OutputError, match="a sheet of fewer than 4 rows and 16,384 columns, got more"
    ):
        table_bytes(table(), "xlsx")
    with pytest.raises(
        OutputError, match="column 'age' must be text that a cell of Excel can hold"
    ):
        table_bytes(
            table(labels=(("\x01", "15+"), ("M", "F")), places=np.array([[0, 0]]), printed=("1",)),
            "xlsx",
        )
