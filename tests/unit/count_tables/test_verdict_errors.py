"""A verdict on counts leaves room for the errors of estimates, on either side of the limit."""

from dataclasses import replace

import pytest

from discreet.count_tables import category_assessment
from discreet.count_tables.verdict import count_rule, table_rule
from discreet.figures import Figure, How
from discreet.flows.counts import assess_categories
from discreet.policy.verdict import Ruling, ends, worst

TABLES = {"a": {0: 4, 1: 3, 2: 1}, "b": {0: 2, 1: 2, 2: 1}}
NEAR = [
    (0.25, Ruling.KEPT),
    (0.28, Ruling.UNDECIDED),
    (0.32, Ruling.UNDECIDED),
    (0.35, Ruling.BROKEN),
]


def estimate(value: float) -> Figure:
    return Figure(value=value, how=How.ESTIMATE, standard_error=0.02)


@pytest.mark.parametrize(("value", "ruling"), NEAR)
def test_a_table_near_the_limit_is_not_settled(value, ruling):
    """The limit is 0.3, and two standard errors are 0.04."""
    assert table_rule("is {}", estimate(value), 0.3).ruling is ruling
    assert count_rule("value 1", estimate(value), 0.3).ruling is ruling
    assert ends(estimate(value)) == (pytest.approx(value - 0.04), pytest.approx(value + 0.04))


@pytest.mark.parametrize(("value", "ruling"), NEAR)
def test_categories_near_the_limit_are_not_settled(value, ruling):
    risk = assess_categories(TABLES).joint
    cell = replace(risk.worst_cell, probability=0.1, standard_error=None, upper=0.1)
    near = replace(risk, best_guess_probability=estimate(value), worst_cell=cell)
    assert _ruling(near) is ruling
    by_cell = replace(
        risk,
        best_guess_probability=Figure(value=0.1, how=How.EXACT),
        worst_cell=replace(cell, probability=value, standard_error=0.02, upper=value + 0.04),
    )
    assert _ruling(by_cell) is ruling


def _ruling(risk):
    return worst(one.ruling for one in category_assessment._rules(risk, {}, (), 0.3))
