"""What follows from published tables in words: the count first, then what to add and subtract."""

import numpy as np
import pytest

import discreet
from discreet.data.published.published_table import PublishedTable
from discreet.report.attack.audit_document import published_audit_document
from discreet.report.attack.document import attack_document
from discreet.report.attack.reasons import LISTED, reason
from discreet.report.document import Document, Section, Table
from discreet.tables.linked.attack import Followed
from discreet.tables.linked.naming import Derivation, Step

NAMES = {"t1.csv": "t1.csv", "age,sex": "table 2"}


def step(times, figure, cell, *, table="t1.csv", printed=None):
    shown = str(figure) if printed is None else printed
    return Step(table=table, cell=cell, printed=shown, figure=figure, times=times)


def followed(above, below=None, *, value=1, sentence="in full"):
    told = Derivation(sentence=sentence, above=above, below=above if below is None else below)
    cell = {"age": "15", "sex": "F"}
    return Followed(
        cell=cell, but=(), lower=value, upper=value, how="exact", derivation=told,
        atoms=np.array([0]),
    )  # fmt: skip


def published(name, variables, labels, printed):
    places = np.argwhere(np.ones([len(column) for column in labels]))
    return PublishedTable(
        name=name, variables=variables, labels=labels, places=places, printed=printed
    )


def two_tables(*, youth=("29", "40")):
    by_age = published("by_age.csv", ("age",), (("15-19", "20+"),), ("30", "40"))
    return [by_age, published("youth.csv", ("age",), (("16-19", "20+"),), youth)]


def section(document: Document, title: str) -> Section:
    return next(b for b in document.blocks if isinstance(b, Section) and b.title == title)


def texts(document: Document, title: str) -> list[str]:
    return [getattr(block, "text", "") for block in section(document, title).blocks]


def test_what_is_the_same_is_not_said_again():
    above = (
        step(1, 30, {"age": "15-19", "sex": "F"}),
        step(-2, 14, {"age": "15"}, table="age,sex", printed="15"),
        step(-1, 1, {"age": "15", "sex": "F", "region": "N"}, printed="withheld"),
    )
    assert reason(followed(above), NAMES) == (
        "30 (age 15-19 in t1.csv) − 2 × 14 (any sex in table 2, printed 15) "
        "− 1 (region N in t1.csv, withheld)"
    )


def test_limits_from_both_sides():
    own = {"age": "15", "sex": "F"}
    above, below = (step(1, 2, own, printed="0"),), (step(1, 2, own, printed="3"),)
    assert reason(followed(above, below, value=2), NAMES) == (
        "at most 2 (in t1.csv, printed 0); at least 2 (in t1.csv, printed 3)"
    )
    assert reason(followed(above, (), value=2), NAMES) == "at most 2 (in t1.csv, printed 0)"


def test_what_is_divided_is_told_in_full():
    own = {"age": "15", "sex": "F"}
    assert reason(followed((step(1, 3, own),), (step(1, 1, own),), value=1), NAMES) == "in full"


def test_what_was_listed_has_no_figures():
    assert reason(followed(()), NAMES) == LISTED


def test_a_long_sum_is_cut():
    above = tuple(step(1, 10, {"age": str(age), "sex": "F"}) for age in range(20, 29))
    assert reason(followed(above, value=90), NAMES).endswith(
        "age 25 in t1.csv) + 30 (3 more figures)"
    )


def test_the_count_comes_first_and_zeros_are_told_apart():
    found = attack_document(discreet.attack(two_tables(), small=1))
    table = section(found, "What follows although no table shows it").blocks[0]
    assert isinstance(table, Table)
    assert table.rows == (
        ("age 15", "1", "30 (age 15-19 in by_age.csv) − 29 (age 16-19 in youth.csv)"),
    )
    none = attack_document(discreet.attack(two_tables(youth=("30", "40"))))
    assert texts(none, "What follows although no table shows it") == ["1 zero follows."]


def test_tables_in_words_go_by_number():
    data = discreet.Table.of_dense(
        np.array([2, 17, 31]), names=["age"], levels=[["15", "16-19", "20+"]]
    )
    found = discreet.audit_published(data, [], ["age | rounded(3)", "age | rounded(5)"])
    shown = published_audit_document(found, "t.csv", "discreet choose t.csv")
    assert "table 2: age, rounded to 5 to the nearest" in shown.scope
    assert texts(shown, "What now")[0].startswith("`discreet choose t.csv` looks for")


@pytest.mark.parametrize(("absent", "says"), [("unknown", "(--absent zero)"), ("zero", "as zero")])
def test_notes_keep_the_names_of_tables(absent, says):
    places = np.array([[0, 0], [1, 1]])
    odd = PublishedTable(
        name="odd.csv", variables=("a", "b"), labels=(("x", "y"), ("u", "v")), places=places,
        printed=("3", "4"), notes=("a note",),
    )  # fmt: skip
    rests = texts(attack_document(discreet.attack(odd, absent=absent)), "What this rests on")
    assert "In odd.csv: a note." in rests
    assert any(says in line for line in rests)


def test_what_an_intruder_knows_is_no_table():
    found = attack_document(discreet.attack(two_tables()[0], knows=["age=20+:40"]))
    assert found.scope[0].startswith("1 table with 2 figures; it tells")
    assert "The intruder also knows: age=20+:40." in texts(found, "What this rests on")
