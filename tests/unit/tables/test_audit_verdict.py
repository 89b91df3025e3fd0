"""What the policy says of a release: yes only where the risk is shown to be within the limit."""

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.errors import InputError
from discreet.figures import Figure, How, Unavailable
from discreet.flows.audit import audit, audit_sequence
from discreet.policy.findings import Findings
from discreet.policy.policy import judge
from discreet.policy.rule import Subject
from discreet.policy.verdict import Ruling
from discreet.tables.audit_options import AuditOptions
from discreet.tables.cross_risks import CrossRisk
from discreet.tables.policy_needs import finding_name, plain_policy
from discreet.tables.refused_margin import BY_OPTION, RiskFigure, RiskMeasure
from discreet.tables.table_findings import measured_finding


def judged(risk, policy=RiskMeasure.CELLS, max_risk=0.25, n_small=4, n_looked_at=4):
    figure = RiskFigure(measure=policy, small=2, confidence=0.5)
    whole = CrossRisk(axes=(0, 1, 2), risk=risk, n_small=n_small, n_looked_at=n_looked_at)
    found = Findings({finding_name(figure): measured_finding(TABLE, figure, whole)})
    rules = judge([plain_policy(policy, max_risk, 2, 0.5)], Subject.TABLES, found).rules
    return rules[0].ruling


@pytest.mark.parametrize(
    ("value", "decision"),
    [(0.0, Ruling.KEPT), (0.25, Ruling.KEPT), (0.5, Ruling.BROKEN)],
)
def test_an_exact_risk_may_equal_the_limit(value, decision):
    assert judged(Figure(value=value, how=How.EXACT)) is decision


@pytest.mark.parametrize(
    ("value", "decision"),
    [(0.20, Ruling.KEPT), (0.24, Ruling.UNDECIDED), (0.26, Ruling.UNDECIDED),
     (0.30, Ruling.BROKEN)],
)  # fmt: skip
def test_an_estimate_keeps_two_standard_errors_away(value, decision):
    risk = Figure(value=value, how=How.ESTIMATE, standard_error=0.02)
    assert judged(risk, RiskMeasure.TABLE) is decision


def test_limits_decide_where_both_lie_on_one_side():
    loose = Figure(value=None, low=-5, high=0, how=How.BOUND)
    assert judged(loose, RiskMeasure.BOUNDS, max_risk=-6) is Ruling.BROKEN
    assert judged(loose, RiskMeasure.BOUNDS, max_risk=-3) is Ruling.UNDECIDED
    assert judged(loose, RiskMeasure.BOUNDS, max_risk=0) is Ruling.KEPT


def test_what_is_not_known_is_never_allowed():
    assert judged(Unavailable("no time")) is Ruling.UNDECIDED


def test_without_a_small_cell_there_is_nothing_to_protect():
    none = Unavailable("no cell is small")
    assert judged(none, RiskMeasure.CELLS, n_small=0, n_looked_at=0) is Ruling.KEPT
    assert judged(none, RiskMeasure.TABLE, n_small=0, n_looked_at=0) is Ruling.UNDECIDED


def test_cells_that_were_not_looked_at_may_all_be_found():
    none_of_half = Figure(value=0.0, how=How.EXACT)
    assert judged(none_of_half, n_small=8, n_looked_at=4) is Ruling.UNDECIDED
    assert judged(none_of_half, max_risk=0.5, n_small=8, n_looked_at=4) is Ruling.KEPT
    all_of_half = Figure(value=1.0, how=How.EXACT)
    assert judged(all_of_half, n_small=8, n_looked_at=4) is Ruling.BROKEN


@pytest.mark.parametrize(
    ("policy", "max_risk"),
    [(RiskMeasure.BOUNDS, 1.0), (RiskMeasure.BOUNDS, float("-inf")), (RiskMeasure.CELLS, -1.0),
     (RiskMeasure.CELLS, 1.5), (RiskMeasure.TABLE, float("nan"))],
)  # fmt: skip
def test_a_limit_must_be_one_of_the_measure(policy, max_risk):
    with pytest.raises(InputError, match="max_risk must be"):
        AuditOptions(measure=policy, max_risk=max_risk)


TABLE = Table.of_dense(np.array([[[3, 1], [0, 2]], [[2, 4], [1, 0]]]), ["a", "b", "c"])


def test_a_release_is_judged_by_the_measure_that_it_prints():
    for policy in BY_OPTION:
        found = audit(TABLE, [["a", "b"], ["b", "c"]], AuditOptions(measure=policy, max_risk=0.0))
        assert found.verdict is not None
        risk = {
            RiskMeasure.BOUNDS: found.tightness,
            RiskMeasure.TABLE: found.measures["[a b][b c]"].true_table,
            RiskMeasure.CELLS: found.measures["[a b][b c]"].small_cells_identified,
        }[policy]
        first = found.verdict.rules[0]
        worst = max(one.value for one in [risk, *(cross.risk for cross in found.crosses)])
        sign = -1 if policy is RiskMeasure.BOUNDS else 1
        assert first.value.value == sign * worst
        assert (first.ruling is Ruling.KEPT) == (worst <= 0)


def test_refused_margins_leave_the_limit_to_them():
    options = AuditOptions(refused=[["a", "c"]], measure=RiskMeasure.BOUNDS, max_risk=-3)
    steps = audit_sequence(TABLE, [["a", "b"], ["b", "c"]], options)
    assert [step.verdict for step in steps] == [None, None]
    assert steps[-1].refusal is not None


def test_each_step_of_a_sequence_is_judged():
    options = AuditOptions(measure=RiskMeasure.BOUNDS, max_risk=-2)
    steps = audit_sequence(TABLE, [["a"], ["a", "b", "c"]], options)
    assert [step.verdict.allows for step in steps if step.verdict is not None] == [True, False]


@pytest.mark.parametrize("limit", [0.1, 1 / 3, 1e-12, -3.0])
@pytest.mark.parametrize("bits", [-4, -1, 0, 1, 4])
def test_rounding_breaks_no_limit_that_is_met(limit, bits):
    risk = Figure(value=limit * (1 + bits * 2**-52), how=How.EXACT)
    measure = RiskMeasure.TABLE if limit > 0 else RiskMeasure.BOUNDS
    assert judged(risk, measure, max_risk=limit) is Ruling.KEPT


def test_a_tiny_limit_is_not_kept_by_what_is_many_times_larger():
    risk = Figure(value=5e-10, how=How.EXACT)
    assert judged(risk, RiskMeasure.TABLE, max_risk=1e-12) is Ruling.BROKEN
