"""What follows from published tables, as a document and as JSON."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.report.showing import page_words, terminal_lines, terminal_words
from tests.unit.tables.linked.linking import SQUARE, TOLD, source

from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.flows.attack import attack
from discreet.flows.audit_published import audit_published
from discreet.report.attack.audit_document import published_audit_document
from discreet.report.attack.audit_json import published_audit_json
from discreet.report.attack.document import SHOWN, attack_document
from discreet.report.attack.json import attack_json, figures_are
from discreet.tables.linked.rules import Rule

ATTACK = attack(list(TOLD), seconds=None)
MANY = attack(
    [
        source("t1", ["sex", "age"], [(f"s{i}", "15-19", 20 + i) for i in range(12)]),
        source("t2", ["sex", "age"], [(f"s{i}", "16-19", 18 + i * (i > 1)) for i in range(12)]),
    ],
    seconds=None,
)
TABLE = Table.of_dense(
    np.array([[1, 17], [12, 18], [13, 2]]), ["age", "sex"], [["15", "16", "17"], ["F", "M"]]
)
AUDIT = audit_published(TABLE, (), ["sex", "sex | age=16;17"], seconds=None)
MARGINS = audit_published(TABLE, (), [["age"], ["sex"]], seconds=None)


@pytest.mark.parametrize("show", [terminal_words, page_words])
def test_the_answer_stands_first(show):
    said = show(attack_document(ATTACK))
    verdict = said.index("the tables give small figures away")
    follows = said.index("What follows although no table shows it")
    rests = said.index("What this rests on")
    assert verdict < follows < rests
    assert "2 tables with 4 figures, 4 cells told apart by sex and age" in said
    assert "sex M, age 15: 30 (t1: sex M, age 15-19) − 29 (t2: sex M, age 16-19) = 1" in said
    assert "Tables that fit all figures" in said


def test_nothing_follows():
    said = terminal_words(attack_document(attack([SQUARE], seconds=None)))
    assert "Verdict: nothing small follows" in said
    assert "No figure that is not shown follows from the tables." in said
    assert "discreet choose" not in said


def test_the_terminal_shows_the_smallest_and_how_many_there_are():
    said = terminal_lines(attack_document(MANY))
    persons = [line for line in said.splitlines() if "= " in line]
    assert len(persons) <= SHOWN * 2
    words = " ".join(said.split())
    assert f"The smallest above 0 of {MANY.n_derived} figures in all" in words
    assert max(map(len, said.splitlines())) <= 80


def test_zeros_are_counted_and_not_listed_first():
    rows = [("F", 3), ("M", 4), ("Total", 7)]
    told = attack(
        [source("t", ["sex"], rows), source("u", ["sex"], [("F", 3), ("X", 0)])],
        seconds=None, others=("sex",),
    )  # fmt: skip
    document = attack_document(told)
    zeros = sum(one.upper == 0 for one in told.derived)
    assert zeros >= 1
    assert f"{zeros} {'is' if zeros == 1 else 'are'} 0" in terminal_words(document)


def test_cells_that_are_small_for_certain():
    table = source("t", ["sex"], [("F", None), ("M", None), ("Total", 3)],
                   rule=Rule(withheld=(1, 9), stated=True))  # fmt: skip
    said = terminal_words(attack_document(attack([table], seconds=None)))
    assert "Small for certain, though not known: sex F (1 to 2); sex M (1 to 2)." in said


def test_what_was_not_proved_is_said():
    open_ended = replace(ATTACK, unproved=3)
    assert "3 more cells are the same in every table that was looked at; that was not proved" in (
        terminal_words(attack_document(open_ended))
    )
    assert attack_json(open_ended)["n_unproved"] == 3
    assert "n_unproved" not in attack_json(ATTACK)


def test_what_cannot_be_rebuilt_says_why():
    free = attack([source("t", ["sex"], [("F", 5), ("M", None)])], seconds=None)
    assert isinstance(free.rebuilt, Unavailable)
    assert "Not worked out: some cells are limited by no figure." in (
        terminal_words(attack_document(free), full=True)
    )


def test_a_table_without_variables():
    told = attack([source("t", [], [(5,)])], seconds=None)
    assert "1 table with 1 figure, 1 cell Verdict" in terminal_words(attack_document(told))
    json.dumps(attack_json(told))


def test_proofs_from_both_sides_have_both_steps():
    rounded = source("r", ["x"], [("a", 0), ("b", 3)], rule=Rule(base=3, stated=True))
    told = attack([rounded, source("n", [], [(7,)])], seconds=None)
    one = attack_json(told)["derived"][0]
    assert "steps" not in one
    assert one["steps_at_most"][0]["printed"] == "0"
    assert [step["times"] for step in one["steps_at_least"]] == [1, -1]


@pytest.mark.parametrize("attacked", [ATTACK, MANY])
def test_steps_add_up_to_the_figure(attacked):
    for one in attack_json(attacked)["derived"]:
        assert sum(step["times"] * step["figure"] for step in one["steps"]) == one["lower"]


def test_what_figures_are():
    from discreet.data.published.published_table import Statistic

    table = SQUARE.table
    assert figures_are(table, Rule(base=5)) == "rounded to 5"
    assert figures_are(replace(table, statistic=Statistic.PERCENT), Rule()) == "percentages"
    assert figures_are(replace(table, statistic=Statistic.MEAN), Rule()) == "means"


@pytest.mark.parametrize("show", [terminal_words, page_words])
def test_an_audit_says_what_an_intruder_would_find(show):
    said = show(published_audit_document(AUDIT, "a.csv"))
    assert "What the published tables of a.csv reveal together" in said
    assert "63 persons, 1 small cell (a count from 1 to 2)" in said
    assert "Narrowest bounds of a small cell: 0 wide, so it is known." in said
    assert "Every printed figure is true of the data under the rule that it claims." in said


def test_an_audit_of_what_is_not_small():
    whole = audit_published(TABLE, (), ["sex"], seconds=None)
    assert "No cell is small, so there is none to protect." in (
        terminal_words(published_audit_document(whole))
    )
    said = terminal_words(published_audit_document(MARGINS))
    assert "Narrowest bounds of a small cell: 15 wide." in said


def test_an_audit_as_json():
    told = published_audit_json(AUDIT)
    json.dumps(told)
    assert [one["small"] for one in told["derived"]] == [True, False]
    assert told["risk"]["small_cells_identified"]["value"] == 1.0
    counts = [one["count"] for one in published_audit_json(MARGINS)["cells"] if "count" in one]
    assert sorted(counts) == [1, 2]
