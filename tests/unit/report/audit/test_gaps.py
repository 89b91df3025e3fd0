"""An audit says what has no figure, with the reason, and what is cut."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.report.showing import page_words, terminal_words

from discreet.data.table import Table
from discreet.fiber.sums.counting import Count
from discreet.figures import Unavailable
from discreet.flows.audit import audit, audit_sequence
from discreet.report.audit.document import audit_document
from discreet.report.audit.json import audit_json
from discreet.tables.audit_options import AuditOptions

TABLE = Table.of_dense(np.array([[[3, 1], [0, 2]], [[2, 4], [1, 0]]]), ["a", "b", "c"])
SETS = [["a", "b"], ["b", "c"]]


def shown(audits):
    """On the terminal and on the page."""
    document = audit_document("t", audits, sequence=True)
    return terminal_words(document, full=True), page_words(document)


@pytest.fixture(scope="module")
def several():
    return audit(TABLE, SETS, AuditOptions(models=("released", "saturated")))


def test_models_without_a_weight_or_a_figure_say_why(several):
    first, second = several.views
    lost = Unavailable("no time to weigh it")
    views = {name: replace(view, weight=lost) for name, view in several.views.items()}
    own = replace(several.measures[second], true_table=Unavailable("too many tables"))
    found = replace(several, views=views, measures={**several.measures, second: own})
    lines = (
        f"No probability of the model for {first} and {second}: no time to weigh it.",
        f"No true table's probability for {second}: too many tables.",
    )
    for text in shown([found]):
        assert all(line in text for line in lines)
    told = audit_json([found])["views"][first]
    assert told["weight"] == {"unavailable": "no time to weigh it"}


def test_a_release_of_unknown_probability_has_its_reason_in_json(several):
    view = replace(next(iter(several.views.values())), evidence=Unavailable("no closed form"))
    name = next(iter(several.views))
    told = audit_json([replace(several, views={**several.views, name: view})])
    assert told["views"][name]["log_probability_of_release"] == {"unavailable": "no closed form"}


def test_models_that_are_not_shown_are_counted(several):
    view = next(iter(several.views.values()))
    measures = next(iter(several.measures.values()))
    names = [f"model {i}" for i in range(13)]
    many = replace(
        several, views=dict.fromkeys(names, view), measures=dict.fromkeys(names, measures)
    )
    assert "The first 10 of 13; --report or --json shows the rest." in shown([many])[0]


def test_steps_of_a_sequence_say_why_figures_are_missing():
    steps = audit_sequence(TABLE, SETS)
    none = Count(value=None, how=None, note="too many cells")
    views = dict.fromkeys(steps[0].views, Unavailable("no time"))
    first = replace(steps[0], n_tables=none, views=views, measures={})
    for text in shown([first, steps[1]]):
        assert "After [a b], not known: number of tables (too many cells)." in text
        assert re.search(r"After \[a b\], not known: .*small cells identified.*\(no time\)\.", text)


def test_every_step_of_a_sequence_has_its_verdict():
    """The first margin has no small count, the second prints some."""
    counts = np.array([[[9, 1], [8, 9]], [[7, 6], [9, 9]]])
    table = Table.of_dense(counts, ["a", "b", "c"])
    steps = audit_sequence(table, [["a"], ["b", "c"], ["a", "b", "c"]], max_risk=0.5)
    told = audit_json(steps, sequence=True)["sequence"]
    assert [step["verdict"]["verdict"] for step in told] == ["kept", "kept", "broken"]
    said = page_words(audit_document("t", steps, sequence=True))
    assert "[a]: may go out." in said
    assert "[a][b c]: may go out." in said
    assert "[a b c]: may not go out. An intruder would find 1 of 1 small cell" in said
    free = audit_sequence(table, [["a"], ["b", "c"]])
    assert "verdict" not in audit_json(free, sequence=True)["sequence"][0]
