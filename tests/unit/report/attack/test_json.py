"""What follows from published tables, as JSON and as a document."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.report.showing import terminal_words
from tests.unit.tables.linked.linking import SQUARE, TOLD, source

from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.flows.attack import attack
from discreet.flows.audit_published import audit_published
from discreet.report.attack.audit_json import published_audit_json
from discreet.report.attack.document import attack_document
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


def test_nothing_follows():
    said = terminal_words(attack_document(attack([SQUARE], seconds=None)))
    assert "Verdict: nothing small follows" in said
    assert "No figure that is not shown follows from the tables." in said
    assert "discreet choose" not in said


def test_what_cannot_be_rebuilt_says_why():
    free = attack([source("t", ["sex"], [("F", 5), ("M", None)])], seconds=None)
    assert isinstance(free.rebuilt, Unavailable)
    assert "Not worked out: some cells are limited by no figure." in (
        terminal_words(attack_document(free), full=True)
    )


def test_proofs_from_both_sides_have_both_steps():
    rounded = source("r", ["x"], [("a", 0), ("b", 3)], rule=Rule(base=3, stated=True))
    told = attack([rounded, source("n", [], [(7,)])], seconds=None)
    one = attack_json(told)["derived"][0]
    assert "steps" not in one or one["steps"] is None
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


def test_an_audit_as_json():
    told = published_audit_json(AUDIT)
    json.dumps(told)
    assert [one["small"] for one in told["derived"]] == [True, False]
    assert told["risk"]["small_cells_identified"]["value"] == 1.0
    counts = [one["count"] for one in published_audit_json(MARGINS)["cells"] if "count" in one]
    assert sorted(counts) == [1, 2]
