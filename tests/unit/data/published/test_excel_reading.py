"""Published tables in workbooks: long form, crosstabs as offices lay them out, and hostile files."""

import datetime

import openpyxl
import pandas
import pytest
from tests.oracles.published_files import figures

from discreet.data.published.published_table import Statistic
from discreet.data.published.reading import read_published
from discreet.errors import FileError, InputError


def test_long_form(workbook):
    path = workbook(
        {
            "Ages": [
                ["age", "sex", "count"],
                [15, "M", 12],
                [15, "F", "x"],
                [16, "M", None],
                [16, "F", 1234],
            ]
        }
    )
    (table,) = read_published(path)
    assert table.name == "t.xlsx, sheet Ages"
    assert (table.variables, table.labels) == (("age", "sex"), (("15", "16"), ("M", "F")))
    assert (table.printed, table.marks) == (("12", "", "", "1234"), {1: "x"})
    assert table.where[1] == "sheet Ages!C3"


def test_a_long_table_as_an_office_gives_it(workbook):
    rows = [
        ["Table 7. Persons by region and sex"], [], ["Region", "Sex", "Number", "Percent"],
        ["North", "Men", 12, 48.0], [None, "Women", 13, 52.0], ["South", "Men", "..", None],
        [None, "Women", 5, 7.5], [], ["Source: register"], ["1) provisional"],
    ]  # fmt: skip
    counts, percents = read_published(workbook({"T": rows}, {"T": ["A1:D1", "A4:A5"]}))
    assert figures(counts) == {
        ("North", "Men"): "12", ("North", "Women"): "13",
        ("South", "Men"): "⟨..⟩", ("South", "Women"): "5",
    }  # fmt: skip
    assert percents.statistic is Statistic.PERCENT
    assert percents.printed == ("48", "52", "", "7.5")
    assert counts.notes == (
        "left out, sheet T!A1: Table 7. Persons by region and sex",
        "left out, sheet T!A9: Source: register",
        "left out, sheet T!A10: 1) provisional",
    )


def test_two_rows_of_headings_with_merged_cells(workbook):
    rows = [
        ["Employment by age and sex, 2021"],
        ["Age", "Men", None, "Women", None, "Total"],
        [None, "Employed", "Other", "Employed", "Other", None],
        ["15-19", 1, 2, 3, 4, 10],
        ["20 and over", 5, "x", 7, "x", 30],
        ["Total", 6, "x", 10, "x", 40],
        ["x: withheld"],
    ]
    merged = ["A1:F1", "A2:A3", "B2:C2", "D2:E2", "F2:F3"]
    (table,) = read_published(workbook({"T": rows}, {"T": merged}))
    assert table.variables == (
        "Age",
        "columns of t.xlsx, sheet T",
        "columns of t.xlsx, sheet T (2)",
    )
    assert figures(table)["20 and over", "Men", "Other"] == "⟨x⟩"
    assert figures(table)["15-19", "Women", "Employed"] == "3"
    assert figures(table)["Total", "Total", "Total"] == "40"
    assert table.where[0] == "sheet T!B4"
    assert "left out, sheet T!A7: x: withheld" in table.notes


def test_names_of_variables_above_their_labels(workbook):
    rows = [
        [None, "Sex", None, None, None],
        [None, "Men", None, "Women", None],
        [None, "Year", None, None, None],
        ["Age", 2020, 2021, 2020, 2021],
        [15, 1, 2, 3, 4],
        [16, 5, 6, 7, 8],
    ]
    merged = ["B1:E1", "B2:C2", "D2:E2", "B3:E3"]
    (table,) = read_published(workbook({"T": rows}, {"T": merged}))
    assert table.variables == ("Age", "Sex", "Year")
    assert table.labels == (("15", "16"), ("Men", "Women"), ("2020", "2021"))
    assert table.printed == tuple("12345678")
    assert table.notes == ()


def test_the_same_without_merged_cells(workbook):
    rows = [
        [None, "Sex", None, None],
        ["Age", "Men", "Women", "Total"],
        [15, 1, 2, 3],
        [16, 5, 6, 11],
    ]
    (table,) = read_published(workbook({"T": rows}))
    assert (table.variables, table.labels[1]) == (("Age", "Sex"), ("Men", "Women", "Total"))
    assert table.printed == ("1", "2", "3", "5", "6", "11")


def test_titles_and_units_beside_the_heading_are_noted(workbook):
    head = ["age \\ sex", "M", "F"]
    rows = [["Table 1", "Persons"], [], head, [15, 1, 2], [16, 3, 4]]
    (table,) = read_published(workbook({"T": rows}))
    assert (table.variables, table.notes) == (("age", "sex"), ("left out, sheet T!A1: Table 1",))
    rows = [["Table 1"], [None, None, "(thousands)"], head, [15, 1, 2], [16, 3, 4]]
    (table,) = read_published(workbook({"T": rows}))
    assert table.notes == ("left out, sheet T!A1: Table 1", "left out, sheet T!C2: (thousands)")


def test_two_tables_on_one_sheet_are_refused(workbook):
    rows = [["age \\ sex", "M", "F"], [15, 1, 2], [], ["region", "M", "F"], ["N", 3, 4]]
    with pytest.raises(FileError, match="got 'M' at sheet T!B4"):
        read_published(workbook({"T": rows}))


def test_labels_down_the_side(workbook):
    rows = [
        ["Region", "Age \\ Sex", "Men", "Women"],
        ["North", None, 3, 7],
        [None, "0-14", 1, 2],
        [None, "15+", 2, 5],
        ["South", "0-14", 4, 4],
        [None, "15+", 0, 9],
    ]
    (table,) = read_published(workbook({"T": rows}, {"T": ["A5:A6"]}))
    assert table.variables == ("Region", "Age", "Sex")
    assert figures(table)["North", "Total", "Women"] == "7"
    assert table.notes == ("1 × a blank behind another label, taken for its total: sheet T!B2",)
    assert figures(table)["North", "15+", "Men"] == "2"
    assert figures(table)["South", "15+", "Men"] == "0"


def test_a_second_column_of_numbers_tells_the_rows_apart(workbook):
    rows = [
        ["Region", "Age \\ Sex", "Men", "Women"],
        ["N", 15, 1, 2],
        ["N", 16, 3, 4],
        ["S", 15, 5, 6],
        ["S", 16, 7, 8],
    ]
    (table,) = read_published(workbook({"T": rows}))
    assert table.variables == ("Region", "Age", "Sex")
    assert table.labels[1] == ("15", "16")


def test_number_and_percent_under_each_heading(workbook):
    rows = [
        ["Age", "Men", None, "Women", None],
        [None, "Number", "Percent", "Number", "Percent"],
        ["15-19", 1, 25.5, 3, 74.5],
        ["20+", 5, 50, 5, 50],
    ]
    merged = {"T": ["A1:A2", "B1:C1", "D1:E1"]}
    counts, percents = read_published(workbook({"T": rows}, merged))
    assert counts.printed == ("1", "3", "5", "5")
    assert percents.printed == ("25.5", "74.5", "50", "50")
    assert percents.name == "t.xlsx, sheet T, percent"
    rows[1][4] = "Rank"
    with pytest.raises(
        FileError,
        match="one kind of figures in each row of its heading, got 'Percent' at sheet T!C2",
    ):
        read_published(workbook({"T": rows}, merged))


def test_what_pandas_and_openpyxl_write(tmp_path):
    frame = pandas.DataFrame({"age": ["0-4", "5+"] * 2, "sex": list("MMFF"), "count": [1, 2, 3, 4]})
    path = tmp_path / "p.xlsx"
    frame.to_excel(path, index=False)
    (table,) = read_published(path)
    assert table.printed == ("1", "2", "3", "4")
    wide = frame.pivot(index="age", columns="sex", values="count")
    wide.columns.name = None
    wide.to_excel(path)
    (table,) = read_published(path)
    assert figures(table)["5+", "F"] == "4"
    frame.set_index(["sex", "age"]).to_excel(path)  # with merged cells down the side
    (table,) = read_published(path)
    assert figures(table) == {
        ("M", "0-4"): "1",
        ("M", "5+"): "2",
        ("F", "0-4"): "3",
        ("F", "5+"): "4",
    }


def test_number_formats(workbook):
    rows = [["a", "percent"], ["x", 0.125], ["y", 0.5], ["z", 0.12345]]
    path = workbook({"T": rows}, formats={"T": {"B2": "0.0%", "B3": "0.0%", "B4": "0.0%"}})
    (table,) = read_published(path)
    assert table.printed == ("12.5", "50.0", "12.345")
    (table,) = read_published(
        workbook(
            {"T": [["a", "mean b"], ["x", 2.5], ["y", 3]]},
            formats={"T": {"B2": "0.00", "B3": "#,##0.00"}},
        )
    )
    assert table.printed == ("2.50", "3.00")
    with pytest.raises(FileError, match="must be a count, got a percentage at sheet T!B2"):
        read_published(workbook({"T": [["a", "count"], ["x", 0.5]]}, formats={"T": {"B2": "0%"}}))


def test_several_sheets(workbook):
    rows = [["a", "n"], ["x", 1], ["y", 2]]
    path = workbook({"About": [["Published in May"], ["by us"]], "A": rows, "B": rows, "Empty": []})
    first, second = read_published(path)
    assert [first.name, second.name] == ["t.xlsx, sheet A", "t.xlsx, sheet B"]
    assert first.notes == (
        "left out, sheet About: it holds no figures", "left out, sheet Empty: it holds no figures"
    )  # fmt: skip
    (only,) = read_published(path, sheet="B")
    assert (only.name, only.notes) == ("t.xlsx, sheet B", ())
    with pytest.raises(
        InputError, match="sheet must be one of 'About', 'A', 'B', 'Empty', got 'C'"
    ):
        read_published(path, sheet="C")
    with pytest.raises(FileError, match="a workbook with figures, got none in sheet 'Empty'"):
        read_published(path, sheet="Empty")


def test_labels_of_other_types(workbook):
    day = datetime.datetime(2021, 1, 31)
    rows = [
        ["day", "n"],
        [day, 1],
        [datetime.date(2021, 2, 1), 2],
        [2.0, 3],
        [True, 4],
        ["a\nb", 5],
    ]
    rows += [[0.1, 6], [2.5, 7]]
    formats = {"T": {"A7": "0%", "A8": "0.00"}}
    (table,) = read_published(workbook({"T": rows}, formats=formats))
    assert table.labels == (("2021-01-31", "2021-02-01", "2", "True", "a b", "10%", "2.5"),)


@pytest.mark.parametrize(
    ("rows", "merged", "message"),
    [
        ([["a", "n"], ["x", 1], ["y", "many"]], [], "got 'many' at sheet T!B3"),
        ([["a", "n"], ["x", -1]], [], "a figure from 0, got '-1' at sheet T!B2"),
        ([["a", "n"], ["x", 2**53]], [], "below 2**53, got '9007199254740992' at sheet T!B2"),
        ([["a", "n"], ["x", "#REF!"]], [], "a value, got an error of Excel at sheet T!B2"),
        ([["a", "n"], ["x", "=1+1"], ["y", 1]], [], "a stored value of its formula, got none at sheet T!B2"),
        ([["a \\ b", "p", "q"], ["x", 1, 2], ["x", 3, 4]], [], "one figure for 'x', 'p', got two that differ at sheet T!B2 and sheet T!B3"),
        ([["a \\ b", "p", "q"], ["North", None, None], ["x", 1, 2], ["South", None, None], ["y", 3, 4]], [],
         "a row with figures or marks of withheld ones, got one with a label only at sheet T!A2; write what"),
        ([["a \\ b", "p", "q"], ["x", 1, None], ["y", 3, 4]], ["B2:C2"], "one cell for each figure, got merged cells at sheet T!C2"),
        ([["a \\ b", "p", "q"], [None, 1, 2], ["y", 3, 4]], [], "a label for every row, got none at sheet T!A2"),
        ([["a", "p", "q"], [1, 2, 3, 4]], [], "a table with a heading over its figures, got none that could be found"),
        ([["a", "b", "n"], ["x", "y", 1], ["z", None, 2]], [], ""),
    ],
)  # fmt: skip
def test_what_is_refused(workbook, rows, merged, message):
    path = workbook({"T": rows}, {"T": merged})
    if not message:  # a blank behind a label is a total
        assert figures(read_published(path)[0])["z", "Total"] == "2"
        return
    with pytest.raises(FileError) as raised:
        read_published(path)
    assert message in str(raised.value)


def test_files_that_are_no_workbooks(tmp_path, read):
    with pytest.raises(
        FileError, match="an .xlsx workbook, got an older kind; save it as .xlsx or CSV"
    ):
        read(b"\xd0\xcf", "t.xls")
    with pytest.raises(FileError, match="a readable Excel workbook"):
        read(b"PK\x03\x04broken", "t.xlsx")


def test_entities_and_large_sheets(workbook, monkeypatch):
    from tests.unit.data.test_excel_files import changed

    path = workbook({"T": [["a", "n"], ["x", 1]]})
    monkeypatch.setattr("discreet.data.excel_files.MOST_CELLS", 3)
    with pytest.raises(FileError, match="a sheet of at most 3 cells, got more; save it as CSV"):
        read_published(path)
    monkeypatch.undo()
    changed(path, "xl/worksheets/sheet1.xml", lambda xml: b"<!DOCTYPE x [<!ENTITY y 'z'>]>" + xml)
    with pytest.raises(FileError, match="a readable Excel workbook"):
        read_published(path)


def test_a_formula_is_its_stored_value(workbook):
    from tests.unit.data.test_excel_files import changed

    path = workbook({"T": [["a", "n"], ["x", "=1+1"]]})
    changed(
        path,
        "xl/worksheets/sheet1.xml",
        lambda xml: xml.replace(b"<v />", b"<v>2</v>").replace(b"<v></v>", b"<v>2</v>"),
    )
    assert openpyxl.load_workbook(path, data_only=True)["T"]["B2"].value == 2
    (table,) = read_published(path)
    assert table.printed == ("2",)
