"""Refusals judged quickly, against the general machinery; and by weighted draws."""

import numpy as np
import pytest

from discreet.belief import ladder
from discreet.belief.belief import ListedBelief
from discreet.belief.drawn_belief import DrawnBelief
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.ladder import believe
from discreet.belief.models.generators import HierarchicalModel
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.tables import refused_margin
from discreet.tables.attacks import bounds_scenario, cells_scenario, table_scenario
from discreet.tables.refusal_loss import risk_above, would_refuse
from discreet.tables.refused_margin import RefusalRule, RiskMeasure, refusal_view, refused_tables
from discreet.tables.release import released

TABLE = Table.of_dense(np.array([[[2, 1], [3, 6]], [[4, 3], [7, 2]]]), names="abc")
MODEL = HierarchicalModel.of(3, [(0, 1), (1, 2)])
ALPHA = np.full((2, 2, 2), 0.5)


def release():
    return released(TABLE, [["a", "b"], ["b", "c"]])


def rule(policy, max_risk):
    return RefusalRule(measure=policy, max_risk=max_risk, small=2, confidence=0.4)


def belief():
    return believe(release().question(LogLinearPrior(MODEL, ALPHA)), ("listed",))


@pytest.mark.parametrize(
    ("policy", "max_risk", "scenario"),
    [
        (RiskMeasure.TABLE, 0.2, table_scenario()),
        (RiskMeasure.BOUNDS, -2.5, bounds_scenario()),
        (RiskMeasure.CELLS, 0.4, cells_scenario(8, confidence=0.4)),
    ],
)
def test_against_the_general_risk(policy, max_risk, scenario):
    own = belief()
    quick = refused_tables(own, (2, 2, 2), (0, 2), rule(policy, max_risk))
    slow = would_refuse(own, (2, 2, 2), (0, 2), risk_above(scenario, max_risk))
    assert quick.tolist() == slow.tolist()
    assert 0 < quick.sum() < len(quick)


@pytest.mark.parametrize(
    ("policy", "max_risk"), [(RiskMeasure.TABLE, 0.1), (RiskMeasure.TABLE, 0.05)]
)
def test_weighted_draws_agree_with_the_list(monkeypatch, policy, max_risk):
    cells = np.flatnonzero((TABLE.dense().ravel() > 0) & (TABLE.dense().ravel() <= 2))

    def view():
        return refusal_view(
            release(), MODEL, ALPHA, [(0, 2)], rule(policy, max_risk), cells,
            clock=Clock(None), rng=np.random.default_rng(3),
        )  # fmt: skip

    exact = view()
    monkeypatch.setattr(ladder, "by_listing", lambda *_: Unavailable("too many"))
    drawn = view()
    error = drawn.probability.standard_error
    assert abs(drawn.probability.value - exact.probability.value) < 4 * error + 1e-9
    for distribution, errors, right in zip(
        drawn.distributions, drawn.errors, exact.distributions, strict=True
    ):
        for q, p in distribution.items():
            assert abs(p - right[q]) < 4.5 * errors[q] + 1e-9


def test_a_refusal_that_the_policy_would_not_make():
    with pytest.raises(InputError, match="refused must be a margin that the rule refuses"):
        refusal_view(
            release(), MODEL, ALPHA, [(0, 2)], rule(RiskMeasure.TABLE, 0.9999), np.array([0]),
            clock=Clock(None), rng=np.random.default_rng(3),
        )  # fmt: skip


def test_a_model_without_known_distribution():
    model = HierarchicalModel.no_highest_interaction(3)
    found = refusal_view(
        release(), model, ALPHA, [(0, 2)], rule(RiskMeasure.TABLE, 0.1), np.array([0]),
        clock=Clock(None), rng=np.random.default_rng(3),
    )  # fmt: skip
    assert isinstance(found, Unavailable)


def test_rounding_noise_turns_no_even_chance():
    even = np.array([0.5 + 2**-53, 0.5 - 2**-53])
    tables = np.array([[1, 3], [3, 1]])
    own = RefusalRule(measure=RiskMeasure.CELLS, max_risk=0.25, small=1, confidence=0.5)
    assert refused_margin.risks_of(tables, even, own).tolist() == [0.0, 0.0]
    sure = refused_margin.risks_of(tables, np.array([0.6, 0.4]), own)
    assert sure.tolist() == [1.0, 0.0]


def test_a_table_without_small_cells_has_nothing_that_bounds_could_show():
    tables = np.array([[4, 0], [0, 4], [2, 2]])
    own = rule(RiskMeasure.BOUNDS, -5)
    assert refused_margin.risks_of(tables, np.full(3, 1 / 3), own).tolist() == [
        -np.inf,
        -np.inf,
        -4,
    ]


@pytest.mark.parametrize("bits", [-4, -1, 0, 1, 4])
def test_rounding_refuses_nothing_that_meets_its_limit(bits):
    two = ListedBelief(
        tables=np.array([[1, 0, 0, 1], [0, 1, 1, 0]]), probabilities=np.array([0.5, 0.5])
    )
    for limit in (0.5, 0.5 * (1 + bits * 2**-52)):
        refused = refused_tables(two, (2, 2), (0,), rule(RiskMeasure.TABLE, limit))
        assert refused.tolist() == [False, False]
        general = would_refuse(two, (2, 2), (0,), risk_above(table_scenario(), limit))
        assert general.tolist() == [False, False]


def test_a_tiny_limit_refuses_what_is_many_times_larger():
    tables = np.array([[1, 0, 0, 1], [0, 1, 1, 0]])
    own = ListedBelief(tables=tables, probabilities=np.array([5e-10, 1 - 5e-10]))
    refused = refused_tables(own, (2, 2), (0,), rule(RiskMeasure.TABLE, 1e-12))
    assert refused.tolist() == [True, True]


@pytest.mark.parametrize("n", [20, 23, 49])
def test_draws_that_are_just_enough_tell_of_a_refusal(monkeypatch, n):
    """Equal weights: n draws are n effective ones, give or take a last bit."""
    drawn = DrawnBelief(
        tables=np.arange(n)[:, None] % 2,
        log_ratios=np.zeros(n),
        log_weights=np.zeros(n),
        n_tried=n,
        lower=np.zeros(1, dtype=np.int64),
        upper=np.ones(1, dtype=np.int64),
    )
    monkeypatch.setattr(refused_margin, "LEAST_EFFECTIVE", n * (1 + 2**-50))
    asked = ([(0,)], rule(RiskMeasure.CELLS, 0.1), np.array([0]))
    found = refused_margin._conditioned(drawn, np.ones(n, np.bool_), *asked)
    assert not isinstance(found, Unavailable)
