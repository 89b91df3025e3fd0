"""PX files, written by hand from the specification of AXIS-VERSION 2013."""

import numpy as np
import pytest
from tests.oracles.published_files import figures

from discreet.data.csv_dialect import CsvOptions
from discreet.data.published.about import About
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.data.published.writing import table_bytes
from discreet.errors import FileError, OutputError

HEAD = """CHARSET="ANSI";
AXIS-VERSION="2013";
LANGUAGE="en";
LANGUAGES="en","sv";
CREATION-DATE="20240131 10:00";
DECIMALS=0;
MATRIX="TAB1";
TITLE="Persons by age, "
"sex and year; made up";
TITLE[sv]="Personer";
CONTENTS="Persons";
UNITS="number";
STUB="age","sex";
STUB[sv]="ålder","kön";
HEADING="year";
VALUES("age")="0-14",
"15 and "
"over";
VALUES[sv]("ålder")="0-14","15+";
VALUES("sex")="men","women";
VALUES("year")="2020","2021";
CODES("sex")="1","2";
TIMEVAL("year")=TLIST(A1,"2020"-"2021");
NOTE("age")="Ages at the end; of the year = 31 December (a)";
"""
DATA = 'DATA=\n1 2\n"." ".."\n"-" 6\n7 "...";\n'


@pytest.fixture
def px(read):
    """Reads the tables of a PX file."""
    return lambda content, **options: read(content, "t.px", **options)


def test_a_file(px):
    (table,) = px(HEAD + DATA)
    assert table.name == "t.px"
    assert table.variables == ("age", "sex", "year")
    assert table.labels == (("0-14", "15 and over"), ("men", "women"), ("2020", "2021"))
    assert table.printed == ("1", "2", "", "", "0", "6", "7", "")
    assert table.marks == {2: ".", 3: "..", 7: "..."}
    assert table.where[2] == "DATA, figure 3"
    assert figures(table)["15 and over", "women", "2020"] == "7"
    assert table.notes == ()


def test_symbols_that_the_file_shows_for_dots_are_their_marks(px):
    symbols = 'DATASYMBOL1="<5";DATASYMBOL3="not asked";\n'
    (table,) = px(HEAD + symbols + DATA)
    assert table.marks == {2: "<5", 3: "..", 7: "not asked"}


@pytest.mark.parametrize(
    "data",
    [
        "DATA=1 2 3 4 5 6 7 8;",
        "data=\n1, 2,3\t4;5 6\n7 8",
        "DATA=1 2 3 4 5 6 7 8;\n \x1a".replace("\x1a", ""),
    ],
)
def test_the_data_may_be_parted_in_several_ways(px, data):
    (table,) = px(HEAD + data)
    assert table.printed == tuple("12345678")


def test_rows_with_keys_and_rows_of_zeros_left_out(px):
    keys = 'KEYS("age")=VALUES;\nKEYS("sex")=CODES;\n'
    (table,) = px(HEAD + keys + 'DATA=\n"15 and over","1",5 6\n"0-14","2",".." 4;\n')
    assert table.printed == ("0", "0", "", "4", "5", "6", "0", "0")
    with pytest.raises(FileError, match="PX with each row of DATA once, got one twice"):
        px(HEAD + keys + 'DATA="0-14","1",5 6 "0-14","1",5 6;')
    with pytest.raises(FileError, match="PX with the keys of each row of DATA, got '3'"):
        px(HEAD + keys + 'DATA="0-14","3",5 6;')
    with pytest.raises(
        FileError, match="PX with 2 figures in each row of DATA, got fewer in the last"
    ):
        px(HEAD + keys + 'DATA="0-14","1",5;')
    with pytest.raises(FileError, match="keys of each row of DATA, got its end"):
        px(HEAD + keys + 'DATA="0-14";')


def test_only_codes_or_times(px):
    text = 'STUB="sex";HEADING="year";CODES("sex")="1","2";TIMEVAL("year")=TLIST(A1,"2019"-"2021");DATA=1 2 3 4 5 6;'
    (table,) = px(text)
    assert table.labels == (("1", "2"), ("2019", "2020", "2021"))
    text = text.replace('TLIST(A1,"2019"-"2021")', 'TLIST(M1),"2019M01","2019M02","2019M03"')
    (table,) = px(text)
    assert table.labels[1] == ("2019M01", "2019M02", "2019M03")


def test_measures_are_tables_of_their_own(px):
    text = (
        'CONTVARIABLE="what";STUB="sex";HEADING="what";VALUES("sex")="M","F";'
        'VALUES("what")="Persons","Share","Median age";UNITS("Share")="percent";UNITS("Persons")="number";'
        'DATA=1 50.5 3 4 49.5 6;'
    )  # fmt: skip
    counts, percents = px(text)
    assert (counts.variables, counts.printed) == (("sex",), ("1", "4"))
    assert (percents.statistic, percents.printed) == (Statistic.PERCENT, ("50.5", "49.5"))
    assert percents.name == "t.px, Share"
    assert counts.notes == (
        "left out: 'Median age', which is neither a count nor a percentage nor a mean",
    )


def test_the_unit_of_a_file_tells_the_statistic(px):
    text = 'UNITS="percent";HEADING="sex";VALUES("sex")="M","F";DATA=50.0 50.0;'
    assert px(text)[0].statistic is Statistic.PERCENT
    assert px(text.replace("percent", "percent within sex"))[0].statistic is Statistic.PERCENT
    mean = px(text.replace("percent", "mean age"))[0]
    assert (mean.statistic, mean.of) == (Statistic.MEAN, ("age",))
    with pytest.raises(
        FileError, match="a table of counts, percentages or means, got one of 'index'"
    ):
        px(text.replace("percent", "index"))


SMALL = 'HEADING="a";VALUES("a")="Åre","b";DATA=1 2;'


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (SMALL.encode("utf-8"), {}),
        (SMALL.encode("utf-8-sig"), {}),
        (('CHARSET="ANSI";' + SMALL).encode("cp1252"), {}),
        (SMALL.encode("cp850"), {}),
        (('CODEPAGE="iso-8859-15";' + SMALL).encode("iso-8859-15"), {}),
        (SMALL.encode("cp1252"), {"csv": CsvOptions(encoding="cp1252")}),
    ],
)
def test_encodings(px, content, options):
    (table,) = px(content, **options)
    assert table.labels == (("Åre", "b"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.px must be PX with keywords and DATA, got the end of the file at line 1"),
        ("%!", "t.px must be PX with keywords and DATA, got something else at line 1"),
        ('TITLE="x";', "got the end of the file"),
        ('TITLE "x";', "t.px must be PX, got a keyword without '='"),
        ('\nTITLE="x', "PX with ';' behind each value, got TITLE without an end at line 2"),
        ("DATA 1 2", "PX with DATA=, got no figures"),
        ("DATA=1;", "PX with STUB or HEADING, got neither"),
        ('STUB="a";DATA=1;', "PX with VALUES of 'a', got none"),
        ('STUB="a";VALUES("a")="x","y";CODES("a")="1";DATA=1;', "as many CODES of 'a' as VALUES, got 1 of 2"),
        (HEAD + "DATA=1 2 3;", "PX with 8 figures, got 3"),
        (HEAD + "DATA=" + "1 " * 9 + ";", "PX with 8 figures, got more"),
        (HEAD + "DATA=1 2 3 4 5 6 7 -8;", "a figure from 0, got '-8' at DATA, figure 8"),
        (HEAD + "DATA=1 2 3 4 5 6 7 many;", "got 'many' at DATA, figure 8"),
        (HEAD + "DATA=1 2 3 4 5 6 7 9007199254740992;", "a figure below 2**53"),
        ('CODEPAGE="klingon";' + SMALL, "t.px must be text in klingon, got bytes that are not; give another"),
        (b'CODEPAGE="utf-8";HEADING="\xff";', "t.px must be text in utf-8, got bytes that are not"),
    ],
)  # fmt: skip
def test_what_is_refused(px, text, message):
    with pytest.raises(FileError) as raised:
        px(text)
    assert message in str(raised.value)


def test_a_file_without_an_ending_is_told_by_how_it_begins(read):
    (table,) = read(HEAD + DATA, "table")
    assert table.variables == ("age", "sex", "year")


def table(**changes):
    """A table of ages and sexes with withheld figures, its rows in no order."""
    own = {
        "name": "t",
        "variables": ("age", "sex"),
        "labels": (("0-14", "15+"), ("M", "F")),
        "places": np.array([[1, 0], [0, 0], [0, 1], [1, 1]]),
        "printed": ("12.5", "3", "", ""),
        "marks": {3: "<5"},
    }
    return PublishedTable(**{**own, **changes})


def test_what_is_written_follows_the_specification():
    about = About(title='The "small" one', source="us", updated="2024-01-31T10:00")
    assert table_bytes(table(), "px", about=about).decode() == (
        'CHARSET="ANSI";\nAXIS-VERSION="2013";\nCODEPAGE="utf-8";\nLANGUAGE="en";\n'
        'CREATION-DATE="20240131 10:00";\nDECIMALS=1;\nSHOWDECIMALS=1;\nMATRIX="TABLE";\n'
        'SUBJECT-AREA="";\nSUBJECT-CODE="";\nTITLE="The \'small\' one";\nCONTENTS="The \'small\' one";\n'
        'UNITS="persons";\nSOURCE="us";\nDATASYMBOL1="<5";\nSTUB="age";\nHEADING="sex";\n'
        'VALUES("age")="0-14","15+";\nVALUES("sex")="M","F";\nDATA=\n3 ".."\n12.5 ".";\n'
    )


def test_what_px_cannot_hold():
    with pytest.raises(
        OutputError, match="without double quotes and line breaks as PX, got '0\"14'; write csv"
    ):
        table_bytes(table(labels=(('0"14', "15+"), ("M", "F"))), "px")
    with pytest.raises(OutputError, match="every combination of its labels as PX, got one without"):
        table_bytes(table(places=np.array([[1, 0]]), printed=("1",), marks={}), "px")
    many = {i: f"<{i + 2}" for i in range(7)}
    own = table(
        variables=("a",),
        labels=(tuple("abcdefg"),),
        places=np.arange(7)[:, None],
        printed=("",) * 7,
        marks=many,
    )
    with pytest.raises(OutputError, match="at most 6 kinds of marks as PX, got 7"):
        table_bytes(own, "px")


@pytest.mark.parametrize("name", [",", "a, b", "d'or", "a',b", "x and y"])
def test_percentages_within_a_variable_whose_name_holds_a_comma_or_a_quote(px, name):
    table = PublishedTable(
        name="t",
        variables=(name,),
        labels=(("x",),),
        places=np.array([[0]]),
        printed=("12.50",),
        statistic=Statistic.PERCENT,
        of=(name,),
    )
    (found,) = px(table_bytes(table, "px").decode())
    assert (found.statistic, found.of, found.printed) == (Statistic.PERCENT, (name,), ("12.50",))
