"""Published tables in CSV files: long form, crosstabs, and what is refused."""

import gzip

import pytest
from tests.oracles.published_files import figures

from discreet.data.csv_dialect import CsvOptions
from discreet.data.published import gathering
from discreet.data.published.csv_reading import unguarded
from discreet.data.published.published_table import Statistic
from discreet.data.published.reading import read_published
from discreet.errors import FileError, InputError


def test_long_form(read):
    (table,) = read("age,sex,count\n15-19,M,12\n15-19,F,x\n85+,M,\nTotal,M,1234\n")
    assert table.name == "t.csv"
    assert table.variables == ("age", "sex")
    assert table.labels == (("15-19", "85+", "Total"), ("M", "F"))
    assert table.places.tolist() == [[0, 0], [0, 1], [1, 0], [2, 0]]
    assert table.printed == ("12", "", "", "1234")
    assert table.marks == {1: "x"}
    assert table.where == ("row 2", "row 3", "row 4", "row 5")
    assert (table.statistic, table.of, table.notes) == (Statistic.COUNT, (), ())


@pytest.mark.parametrize(
    "name",
    ["count", "Count", "COUNTS", "n", "freq", "Freq", "value", "persons", "OBS_VALUE", "count_"],
)
def test_names_of_counts(read, name):
    (table,) = read(f"sex,age,{name}\nM,15,7\nM,16,8\n")
    assert figures(table) == {("M", "15"): "7", ("M", "16"): "8"}


def test_the_surest_name_is_the_count_and_two_alike_are_refused(read):
    (table,) = read("size,count\n1,7\n2,8\n")
    assert table.variables == ("size",)
    (table,) = read("region,size,persons\nN,1,7\nN,2,8\n")
    assert table.variables == ("region", "size")
    (table,) = read("count,count_\n1,7\n2,8\n")
    assert table.variables == ("count",)
    with pytest.raises(FileError, match="one column of counts, got 'n' and 'freq'; say which"):
        read("a,n,freq\nx,1,2\n")
    (table,) = read("a,n,freq\nx,1,2\n", count="freq")
    assert table.variables == ("a", "n")
    with pytest.raises(InputError, match="count must be a column of t.csv, got 'm'"):
        read("a,n\nx,1\n", count="m")


def test_counts_percentages_and_means_side_by_side(read):
    counts, percents, means = read("sex,n,percent,mean age\nM,12,48.0,40.5\nF,13,52.0,-1.5\n")
    assert [one.statistic for one in (counts, percents, means)] == ["count", "percent", "mean"]
    assert (percents.printed, percents.of) == (("48.0", "52.0"), ())
    assert (means.printed, means.of) == (("40.5", "-1.5"), ("age",))
    assert percents.name == "t.csv, percent"
    assert percents.where[0] == "row 2, column 3"
    (within,) = read('sex,age,"percent within sex,age"\nM,1,100\n')
    assert (within.statistic, within.of) == ("percent", ("sex", "age"))
    (signed,) = read("sex,%\nM,48 %\nF,52%\n")
    assert signed.printed == ("48", "52")


def test_a_file_of_an_exchange_of_codes(read):
    text = (
        "DATAFLOW,LAST UPDATE,freq,unit,age,OBS_VALUE,OBS_FLAG\n"
        "X:Y,1,A,NR,Y15-19,12,\nX:Y,1,A,NR,Y20-24,,c\nX:Y,1,A,NR,TOTAL,40,p\n"
        "X:Y,1,A,Percent,TOTAL,100,\nX:Y,1,A,Median,TOTAL,40,\n"
    )
    counts, percents = read(text)
    assert counts.variables == ("freq", "age")
    assert figures(counts) == {("A", "Y15-19"): "12", ("A", "Y20-24"): "⟨c⟩", ("A", "TOTAL"): "40"}
    assert percents.statistic == "percent"
    assert counts.notes == (
        "column 'DATAFLOW' left out: it is about the file",
        "column 'LAST UPDATE' left out: it is about the file",
        "1 figures of 'Median' left out: neither counts nor percentages nor means",
        "1 × a flag beside the figure, left out: row 4",
    )


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a,n\nx,\"1,234\"\ny,5\n", ("1234", "5")),
        ("a;n\nx;1.234\ny;5\n", ("1234", "5")),
        ("a\tn\nx\t1 234\ny\t5\n", ("1234", "5")),
        ("a;percent\nx;1,5\ny;98,5\n", ("1.5", "98.5")),
        ("a|n\nx|1,234.5\ny|0\n", ("1234.5", "0")),
        ("\ufeffa,n\nx,1\ny,2\n", ("1", "2")),
        ("a,n\n\nx,1\n\ny,2\n\n", ("1", "2")),
        ("a,n\r\nx,1\r\ny,2", ("1", "2")),
    ],
)  # fmt: skip
def test_numbers_and_delimiters(read, text, printed):
    (table,) = read(text)
    assert (table.variables, table.printed) == (("a",), printed)


def test_the_decimal_mark_can_be_said(read):
    with pytest.raises(
        FileError,
        match="must be a count, got '1.234' at row 2; if the point .*decimals ..t.csv . decimal=,",
    ):
        read("a,n\nx,1.234\n")
    (table,) = read("a,n\nx,1.234\n", csv=CsvOptions(decimal=","))
    assert table.printed == ("1234",)
    with pytest.raises(
        FileError,
        match="of one decimal mark, got '2.5' and '1,5' at row 3, column 2 and row 2, column 2",
    ):
        read('a,percent\nx,"1,5"\ny,2.5\n')


def test_what_was_made_of_odd_cells_is_noted(read):
    (table,) = read("a,n\nu,-\nv,12*\nw,–\nx,3 (a)\nu,-\n")
    assert table.notes == (
        "2 × a lone dash, taken for a figure withheld: row 2, row 4",
        "2 × a sign of a footnote beside the figure, left out: row 3, row 5",
        "1 × the same figure for the same labels again, left out: row 6 (row 2)",
    )


def test_ranges_stay_as_marks(read):
    (table,) = read("a,n\nu,<5\nv,1-4\nw,9\n")
    assert figures(table) == {("u",): "⟨<5⟩", ("v",): "⟨1-4⟩", ("w",): "9"}


def test_other_encodings_and_packed_files(read):
    (table,) = read("a,n\nMünchen,1\n".encode("latin-1"), csv=CsvOptions(encoding="latin-1"))
    assert table.labels == (("München",),)
    (table,) = read("a,n\nMünchen,1\n".encode("utf-16"))
    assert table.labels == (("München",),)
    (table,) = read(gzip.compress(b"a,n\nx,1\n"), "t.csv.gz")
    assert table.printed == ("1",)


def test_text_stays_text(read):
    (table,) = read('a,n\n<b>x</b>,1\n"=1+2",2\n"two\nlines",3\n\u202edesrever,4\n')
    assert table.labels == (("<b>x</b>", "=1+2", "two lines", "\u202edesrever"),)


def test_an_apostrophe_before_a_formula_is_taken_away():
    assert [unguarded(one) for one in ("'=1", "''=1", "'a", "'", "=1", "'-1", "'@")] == [
        "=1", "'=1", "'a", "'", "=1", "-1", "@"
    ]  # fmt: skip


def test_a_column_that_numbers_the_rows_is_left_out(read):
    (table,) = read('"","age","Freq"\n"1","15",4\n"2","16",5\n')
    assert (table.variables, table.printed) == (("age",), ("4", "5"))
    assert table.notes == ("column '' left out: it numbers the rows",)
    with pytest.raises(
        FileError, match="or with the numbers of rows in the first, got another at row 3"
    ):
        read('"","age","Freq"\n"1","15",4\n"x","16",5\n')


def test_only_a_total(read):
    (table,) = read("count\n170\n")
    assert (table.variables, table.places.shape, table.printed) == ((), (1, 0), ("170",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv must be a table with a header line, got an empty file"),
        ("a,n\n", "t.csv must be a table with rows below its header, got none"),
        ("a,n\nx,1,2\n", "t.csv must be of 2 fields in every row, as its header has, got 3 at row 2"),
        ("a,n\nx\n", "got 1 at row 2; put a field that holds the delimiter into quotes"),
        ("a,n\nx,1\nx,2\n", "one figure for 'x', got two that differ at row 2 and row 3"),
        ("a,n\n,1\n", "a label of 'a' in every row, got an empty field at row 2; write the label"),
        ("a,n\nx,-3\n", "figure in t.csv must be a figure from 0, got '-3' at row 2"),
        ("a,n\nx,1\ny,many\n", "a figure from 0 or the mark of a withheld one, got 'many' at row 3"),
        ("a,n\nx,9007199254740993\n", "a figure below 2**53, got '9007199254740993' at row 2"),
        ("a,n\nx,12 %\n", "must be a count, got a percentage at row 2; name its column percent"),
        ("a,a,n\nx,y,1\n", "t.csv must be of variables with different names, got 'a' twice"),
        ("a,,n\nx,y,1\n", "t.csv must be named throughout, each variable, got an empty name"),
        ("a,b\nx,y\n", "got none that could be found; name the column of its figures count or percent"),
        ("a,n\nx\x1b[31m,1\n", r"without control characters for a label of 'a', got 'x\x1b[31m'"),
        ('a,n\n"x,1\n', "well quoted, without NUL bytes, got a field that is not at row 2"),
        (b"a,n\nx,1\n\x00", "t.csv must be text, got NUL bytes"),
        (b"a,n\n\xff,1\n", "t.csv must be text in utf-8, got bytes that are not at line 2"),
    ],
)  # fmt: skip
def test_what_is_refused(read, text, message):
    with pytest.raises(FileError) as raised:
        read(text)
    assert message in str(raised.value)


def test_a_table_too_large(read, monkeypatch):
    monkeypatch.setattr(gathering, "MOST_FIGURES", 2)
    with pytest.raises(FileError, match="of at most 2 figures, got more; give smaller tables"):
        read("a,n\nx,1\ny,2\nz,3\n")


def test_crosstab(read):
    (table,) = read("age \\ sex,M,F,Total\n15-19,1,2,3\n20+,4,x,\nTotal,5,6,11\n")
    assert table.variables == ("age", "sex")
    assert table.labels == (("15-19", "20+", "Total"), ("M", "F", "Total"))
    assert table.printed == ("1", "2", "3", "4", "", "", "5", "6", "11")
    assert table.marks == {4: "x"}
    assert table.where[4] == "row 3, column 3"
    assert table.notes == ()


def test_a_crosstab_with_everything_in_quotes(read):
    (table,) = read('"age \\ sex";"M";"F"\n"15";"1.234";"2"\n"16";"3";"4"\n')
    assert (table.variables, table.printed) == (("age", "sex"), ("1234", "2", "3", "4"))


def test_a_crosstab_whose_columns_have_no_name(read):
    (table,) = read("age,M,F\n15,1,2\n16,3,4\n")
    assert table.variables == ("age", "columns of t.csv")
    assert "write both names into the corner: age \\ sex" in table.notes[0]


def test_a_column_of_all_persons_is_no_column_of_counts(read):
    (table,) = read("region \\ sex,Male,Female,Persons\nNorth,1,2,3\nSouth,4,5,9\n")
    assert table.variables == ("region", "sex")
    assert table.labels[1] == ("Male", "Female", "Persons")


def test_a_crosstab_with_titles_two_headings_and_notes(read):
    text = (
        "Table 1: Persons by age\n\n"
        ";Sex;;\nAge;Male;Female;Total\n15-19;1.000;2;1.002\n20+;4;x;\n\nx: secret\nSource: us\n"
    )
    (table,) = read(text)
    assert table.variables == ("Age", "Sex")
    assert figures(table)["15-19", "Male"] == "1000"
    assert figures(table)["20+", "Total"] == "⟨⟩"
    assert table.notes == (
        "left out, row 1, column 1: Table 1: Persons by age",
        "left out, row 8, column 1: x: secret",
        "left out, row 9, column 1: Source: us",
    )


def test_options_that_do_not_fit(read):
    with pytest.raises(InputError, match="sheet must be left out unless the file is a workbook"):
        read("a,n\nx,1\n", sheet="A")
    with pytest.raises(InputError, match="count must be left out where the file itself tells"):
        read("{}", "t.json", count="n")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.pdf", b"%PDF-1.7"),
        ("t.parquet", b"PAR1"),
        ("page", b"<html></html>"),
        ("t", b"PK\x03\x04"),
    ],
)
def test_a_file_of_another_kind(read, name, content):
    with pytest.raises(FileError, match="a published table as CSV, Excel .* JSON-stat 2.0 or PX"):
        read(content, name)


def test_a_file_that_is_not_there(tmp_path):
    for name in ("t.csv", "t.xlsx", "t.json", "t.px", "t"):
        with pytest.raises(FileError, match="must be a readable file, got No such file"):
            read_published(tmp_path / name)
    with pytest.raises(FileError, match="must be a readable file, got Is a directory"):
        read_published(tmp_path)
