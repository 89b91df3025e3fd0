"""A verdict on counts leaves room for the errors of estimates, on either side of the limit."""

from dataclasses import replace

import pytest

from discreet.count_tables import category_assessment, verdict
from discreet.count_tables.verdict import Judged
from discreet.figures import Figure, How
from discreet.flows.counts import assess_categories

TABLES = {"a": {0: 4, 1: 3, 2: 1}, "b": {0: 2, 1: 2, 2: 1}}


def estimate(value: float) -> Figure:
    return Figure(value=value, how=How.ESTIMATE, standard_error=0.02)


@pytest.mark.parametrize(
    ("value", "judged"),
    [(0.25, Judged.LOW), (0.28, Judged.UNKNOWN), (0.32, Judged.UNKNOWN), (0.35, Judged.HIGH)],
)
def test_a_table_near_the_limit_is_not_settled(value, judged):
    """The limit is 0.3, and two standard errors are 0.04."""
    assert verdict._judge(estimate(value), None, False, 0.3) is judged
    low, high = verdict._ends(estimate(value))
    assert (low, high) == (pytest.approx(value - 0.04), pytest.approx(value + 0.04))


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.25, "Release"), (0.28, "Undecided"), (0.32, "Undecided"), (0.35, "Do not release")],
)
def test_categories_near_the_limit_are_not_settled(value, words):
    risk = assess_categories(TABLES).joint
    worst = replace(risk.worst_cell, probability=0.1, standard_error=None, upper=0.1)
    near = replace(risk, best_guess_probability=estimate(value), worst_cell=worst)
    sentence, allows = category_assessment._judged_distribution(near, {}, 0.3)
    assert sentence.startswith(words)
    assert allows == (words == "Release")
    by_cell = replace(
        risk,
        best_guess_probability=Figure(value=0.1, how=How.EXACT),
        worst_cell=replace(worst, probability=value, standard_error=0.02, upper=value + 0.04),
    )
    assert category_assessment._judged_distribution(by_cell, {}, 0.3)[0].startswith(words)
