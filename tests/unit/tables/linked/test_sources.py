"""Tables made ready to be put together: files with sections, names, parts, what is not listed."""

from dataclasses import replace

import numpy as np
import pytest
from tests.oracles.published_tables import published
from tests.unit.tables.linked.linking import source

from discreet.data.published.published_table import Statistic
from discreet.errors import InputError
from discreet.tables.linked import sources as module
from discreet.tables.linked.rules import Rule, Way
from discreet.tables.linked.sources import Source, source_of, source_of_knowledge, together

AGES = published("ages", ["age", "sex"], [("0-17", "F", 3), ("18+", "F", 4), ("18+", "M", 5)])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,n\n0-17,5\n18+,10\n")
    return path


def test_a_table_or_a_source_stands_for_itself():
    one = Source(table=AGES, rule=Rule(base=5))
    assert source_of(one) == (one,)
    assert source_of(AGES) == (Source(table=AGES, rule=Rule()),)


def test_sections_behind_the_file(file):
    [one] = source_of(f"{file} | sex=F, region = North East | rounded(5,nearest) | withheld(1..4)")
    assert one.table.part == {"sex": "F", "region": "North East"}
    assert one.rule == Rule(base=5, way=Way.NEAREST, withheld=(1, 4), stated=True)
    assert one.table.printed == ("5", "10")
    [plain] = source_of(file)
    assert plain.rule == Rule()


def test_what_the_figures_are(file):
    [shares] = source_of(f"{file} | percent(sex, region)")
    assert (shares.table.statistic, shares.table.of) == (Statistic.PERCENT, ("sex", "region"))
    [means] = source_of(f"{file} | Mean(age)")
    assert (means.table.statistic, means.table.of) == (Statistic.MEAN, ("age",))


def test_the_column_of_counts_and_the_sheet(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,men,women\n0-17,5,6\n18+,10,11\n")
    [one] = source_of(f"{path} | count=women")
    assert one.table.printed == ("6", "11")
    with pytest.raises(InputError, match="sheet must be left out unless the file is a workbook"):
        source_of(f"{path} | sheet=A")


def test_a_file_may_have_a_bar_in_its_name(tmp_path):
    path = tmp_path / "a | sex=F.csv"
    path.write_text("age,n\n0-17,5\n18+,10\n")
    assert source_of(str(path))[0].table.part == {}


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("nonsense", r"what follows the bar of published must be a part \(sex=F\), a rule .*, "
         r"or how to read the file \(count=COLUMN, .*\), got 'nonsense'"),
        ("mean", r"mean must be given one variable, as mean\(age\), got 'mean'"),
        ("mean(a,b)", "mean must be given one variable"),
        ("rounded(1)", "rounded must be given a whole number"),
    ],
)  # fmt: skip
def test_sections_that_cannot_be(file, section, message):
    with pytest.raises(InputError, match=message):
        source_of(f"{file} | {section}")


def test_what_is_no_table():
    with pytest.raises(InputError, match="published must be files, or published tables, got a int"):
        source_of(7)
    with pytest.raises(InputError, match="published must be at least one table, got none"):
        together([])


def test_knowledge_is_a_table_of_one_figure():
    one = source_of_knowledge("sex=F,age=15-19:0..3")
    assert one.table.variables == ("sex", "age")
    assert one.table.labels == (("F",), ("15-19",))
    assert one.rule.range_of(one.table.printed[0], "") == (0, 3)
    exact = source_of_knowledge("sex=F:3")
    assert exact.rule.range_of(exact.table.printed[0], "") == (3, 3)
    open_ended = source_of_knowledge('sex="F, M":2..')
    assert open_ended.table.labels == (("F, M",),)
    assert open_ended.rule.range_of("", "") == (2, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sex=F", "knows must be levels, a colon and a number or range"),
        ("sex=F:3..1", "knows must be a range from low to high"),
        ("sex=F,sex=M:1", "knows must be about different variables"),
    ],
)
def test_knowledge_that_cannot_be(text, message):
    with pytest.raises(InputError, match=message):
        source_of_knowledge(text)


def test_tables_of_one_name_are_told_apart():
    found = together([source("t", ["a"], [("x", 1)])] * 3)
    assert [table.name for table in found.tables] == ["t", "t (2)", "t (3)"]


def test_variables_are_the_same_but_for_their_case():
    found = together([source("t", ["Sex"], [("F", 1)]), source("u", ["sex"], [("F", 1)])])
    assert [table.variables for table in found.tables] == [("Sex",), ("Sex",)]


def test_other_names_of_variables_and_labels():
    german = source("g", ["Geschlecht"], [("Frau", 1), ("Mann ", 2)])
    given = ["geschlecht=sex", "Geschlecht:Frau=F", "sex:Mann=M"]
    found = together([german], labels=["Geschlecht=sex", "sex:Frau=F", "sex:Mann=M"])
    assert found.tables[0].variables == ("sex",)
    assert found.tables[0].labels == (("F", "M"),)
    # Labels are named by either name of their variable.
    assert together([german], labels=given).tables[0].labels == (("F", "M"),)


def test_another_name_of_what_no_table_has():
    german = source("g", ["Geschlecht"], [("Frau", 1), ("Mann", 2)])
    for given in (["nothing=sex"], ["Geschlecht:Kind=C"], ["nix:a=b"]):
        with pytest.raises(InputError, match="labels must be of a variable or label that some "
                           "table has, got '"):  # fmt: skip
            together([german], labels=given)


@pytest.mark.parametrize("text", ["sex", "=F", "sex:=F", "sex:F=", ":F=M"])
def test_other_names_that_cannot_be(text):
    with pytest.raises(InputError, match="labels must be written VARIABLE:LABEL=LEVEL or "
                       "OTHER=VARIABLE, got"):  # fmt: skip
        together([source("t", ["sex"], [("F", 1)])], labels=[text])


def test_two_labels_of_one_name_give_figures_twice():
    with pytest.raises(InputError, match=r"figures of t must be of one combination each, got sex F "
                       r"twice; are two labels called the same \(labels\)\?"):  # fmt: skip
        together([source("t", ["sex"], [("F", 1), ("Frau", 1)])], labels=["sex:Frau=F"])


def test_two_variables_of_one_name():
    with pytest.raises(
        InputError, match="variables of t must be different but for case, got 'b' twice"
    ):
        together([source("t", ["a", "b"], [("x", "y", 1)])], labels=["a=b"])


def test_variables_that_the_data_do_not_have():
    with pytest.raises(InputError, match="variables of published tables must be those of the data, "
                       r"got 'Sexx' at t; did you mean 'Sex'\? .*'Sexx=VARIABLE'"):  # fmt: skip
        together([source("t", ["Sexx"], [("F", 1)])], names=["Sex", "Age"])
    assert together([source("t", ["SEX"], [("F", 1)])], names=["Sex"]).tables[0].variables == (
        "Sex",
    )


def test_a_part_becomes_a_variable_with_one_label():
    [one] = together([source("t", ["age"], [("0-17", 1), ("18+", 2)], part={"sex": "F"})]).tables
    assert one.variables == ("age", "sex")
    assert one.labels == (("0-17", "18+"), ("F",))
    assert one.places.tolist() == [[0, 0], [1, 0]]
    assert one.part == {}


def test_percentages_of_a_part_are_within_it():
    table = {"statistic": Statistic.PERCENT, "of": ("age",), "part": {"sex": "F"}}
    [one] = together([source("t", ["age"], [("0-17", 100)], **table)]).tables
    assert one.of == ("age", "sex")
    [guessed] = together([source("t", ["age"], [("0-17", 100)], **(table | {"of": ()}))]).tables
    assert guessed.of == ()


def test_a_part_is_about_other_variables():
    with pytest.raises(InputError, match="part of t must be about variables that the table has no "
                       "column for, got 'sex'"):  # fmt: skip
        together([source("t", ["sex"], [("F", 1)], part={"sex": "F"})])


def test_percentages_are_of_variables_of_the_table():
    table = {"statistic": Statistic.PERCENT, "of": ("sax",)}
    with pytest.raises(InputError, match=r"percentages must be within variables of t \(sex\), got "
                       "'sax'"):  # fmt: skip
        together([source("t", ["sex"], [("F", 100)], **table)])


def test_combinations_that_are_not_listed():
    found = together([Source(table=AGES, rule=Rule())])
    assert found.tables[0].n_figures == 3
    assert found.notes == (
        "1 of 4 combinations are not listed in ages: taken as not published. If they are empty, say "
        "so (absent zero).",
    )
    table = replace(AGES, where=("row 1", "row 2", "row 3"))
    found = together([Source(table=table, rule=Rule())], absent="zero")
    assert found.tables[0].cell(3) == {"age": "0-17", "sex": "M"}
    assert found.tables[0].printed == ("3", "4", "5", "0")
    assert found.tables[0].where[3] == "not listed"
    assert found.notes == ("1 of 4 combinations are not listed in ages: taken as zero.",)


def test_so_many_combinations_are_not_filled(monkeypatch):
    monkeypatch.setattr(module, "MOST_ABSENT", 3)
    with pytest.raises(InputError, match="absent must be zero for at most 3, got 4"):
        together([Source(table=AGES, rule=Rule())], absent="zero")


def test_notes_of_reading_and_guessing_are_told():
    table = published("t", ["a"], [(f"x{i}", 10 * i) for i in range(9)])
    found = together([Source(table=replace(table, notes=("a note",)), rule=Rule())])
    assert found.notes[0] == "t: a note"
    assert found.notes[1].startswith("All 9 figures of t are multiples of 10")
    assert found.rules[0].base == 10


def test_a_table_without_variables():
    [one] = together([source("t", [], [(5,)])]).tables
    assert one.places.shape == (1, 0)
    assert np.array_equal(one.cell(0), {})
    with pytest.raises(InputError, match="figures of t must be of one combination each, got the "
                       "total twice"):  # fmt: skip
        together([source("t", [], [(5,), (5,)])])
