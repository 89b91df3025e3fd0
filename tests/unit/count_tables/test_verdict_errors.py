"""A verdict on counts leaves room for the errors of estimates, on either side of the limit."""

from dataclasses import replace

import pytest

from discreet.count_tables import category_assessment
from discreet.count_tables.verdict import plain_policy
from discreet.figures import Figure, How
from discreet.flows.counts import assess_categories
from discreet.policy.count_rules import BestGuess, CountRisk
from discreet.policy.findings import Finding, Findings
from discreet.policy.policy import judge
from discreet.policy.rule import Subject
from discreet.policy.verdict import Ruling, ends

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
    found = Findings(
        {name: Finding(value=estimate(value)) for name in ("best_guess", "count:3:value 1")}
    )
    for rule in (BestGuess(limit=0.3), CountRisk(limit=0.3)):
        assert [one.ruling for one in rule.judge(found)] == [ruling]
    assert ends(estimate(value)) == (pytest.approx(value - 0.04), pytest.approx(value + 0.04))


@pytest.mark.parametrize(("value", "ruling"), NEAR)
def test_categories_near_the_limit_are_not_settled(value, ruling):
    found = assess_categories(TABLES)
    low = replace(found.joint_cells["a"][0], truth_probability=0.1, truth_upper=0.1)
    near = replace(
        low, truth_probability=value, truth_standard_error=0.02, truth_upper=value + 0.04
    )
    assert _ruling(estimate(value), low, found) is ruling
    assert _ruling(Figure(value=0.1, how=How.EXACT), near, found) is ruling


def _ruling(best_guess, cell, found):
    risk = replace(found.joint, best_guess_probability=best_guess)
    findings = category_assessment._findings(risk, {}, {"a": (cell,)}, TABLES, {})
    return judge(plain_policy(0.3), Subject.COUNTS, findings).ruling
