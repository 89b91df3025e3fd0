"""The risk of a release: exact by (1), by draws with limits, worst of several intruders."""

import numpy as np
import pytest

from discreet.belief.drawn_belief import DrawnBelief
from discreet.belief.draws.importance_draws import importance_belief
from discreet.belief.ladder import believe
from discreet.choice.choice import Standing, standing
from discreet.choice.exposure import LIMITS, belief_exposure, bounds_exposure, exposure_of
from discreet.choice.measures import Measure
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.figures import Figure, How, Unavailable
from discreet.masks.after_publication import intruders_belief, intruders_question
from discreet.masks.cell_key import perturb_by_keys
from discreet.masks.contract import Masked
from discreet.masks.discrete_laplace import add_laplace
from discreet.masks.margins import release_margins
from discreet.masks.perturbation_table import NoiseRule
from discreet.masks.rounding import round_at_random, round_conventionally
from discreet.tables.disclosure import disclosure_risk
from discreet.tables.measures import share_found
from discreet.tables.refused_margin import RiskMeasure
from discreet.tables.worst_figure import worst_figure as worst

TABLE = Table.of_dense(np.array([[[2, 1], [0, 1]], [[1, 0], [3, 1]]]), ["a", "b", "c"])
RELEASES = {
    "total": release_margins(TABLE, [[]]),
    "one": release_margins(TABLE, [["a", "b"]]),
    "decomposable": release_margins(TABLE, [["a", "b"], ["b", "c"]]),
    "cycle": release_margins(TABLE, [["a", "b"], ["b", "c"], ["a", "c"]]),
    "rounded": round_conventionally(TABLE, base=3),
    "at random": round_at_random(TABLE, base=3, seed=4),
    "by key": perturb_by_keys(TABLE, rule=NoiseRule(variance=1.0, largest=2), seed=4),
    "noisy": add_laplace(TABLE, epsilon=1, seed=4),
}
INTRUDERS = ("dirichlet", "multinomial", "uniform")


def exposed(masked: Masked, measure, intruder):
    return belief_exposure(
        masked,
        measure.intruder(intruder, TABLE.n_cells),
        measure,
        clock=Clock(None),
        rng=np.random.default_rng(1),
    )


@pytest.mark.parametrize("intruder", INTRUDERS)
@pytest.mark.parametrize("policy", [RiskMeasure.TABLE, RiskMeasure.CELLS])
@pytest.mark.parametrize("name", RELEASES)
def test_the_quick_way_is_equation_1(name, policy, intruder):
    measure = Measure(kind=policy, confidence=0.3)
    found = exposed(RELEASES[name], measure, intruder).risk
    actor = measure.intruder(intruder, TABLE.n_cells)
    belief = intruders_belief(RELEASES[name], actor.prior)
    assert found.how is How.EXACT
    assert found.value == pytest.approx(disclosure_risk(actor.scenario, belief, TABLE.dense()))


@pytest.mark.parametrize("name", RELEASES)
def test_bounds_are_equation_1_too(name):
    found = bounds_exposure(RELEASES[name], 2, clock=Clock(None)).risk
    belief = intruders_belief(RELEASES[name], "uniform")
    scenario = Measure(kind=RiskMeasure.BOUNDS).scenario(TABLE.n_cells)
    assert found.value == disclosure_risk(scenario, belief, TABLE.dense())


@pytest.mark.parametrize("policy", [RiskMeasure.TABLE, RiskMeasure.CELLS])
@pytest.mark.parametrize("name", ["decomposable", "rounded", "at random"])
def test_draws_come_near_what_is_exact(name, policy):
    measure = Measure(kind=policy, confidence=0.3)
    prior = measure.intruder("dirichlet", TABLE.n_cells).prior
    exact = exposed(RELEASES[name], measure, "dirichlet").risk
    question = intruders_question(RELEASES[name], prior, limits=LIMITS)
    drawn = believe(question, ("filled",), rng=np.random.default_rng(2))
    found = exposure_of(drawn, TABLE.dense(), measure).risk
    assert found.how is How.ESTIMATE
    if policy is RiskMeasure.TABLE:
        assert abs(found.value - exact.value) <= 4 * found.standard_error + 1e-12
    else:
        assert found.low <= exact.value <= found.high


@pytest.mark.parametrize("policy", [RiskMeasure.TABLE, RiskMeasure.CELLS])
def test_a_belief_by_draws_is_an_estimate(policy, monkeypatch):
    masked = RELEASES["rounded"]
    measure = Measure(kind=policy, confidence=0.3)
    exact = exposed(masked, measure, "dirichlet").risk
    intruder = measure.intruder("dirichlet", TABLE.n_cells)
    limits = (np.zeros(8, dtype=np.int64), np.full(8, 11))
    drawn = importance_belief(
        intruder.prior, 8, masked.known, (), limits, seconds=20.0, progress=lambda *_: None
    )
    monkeypatch.setattr("discreet.choice.exposure.believe", lambda *_, **__: drawn)
    found = exposed(masked, measure, "dirichlet").risk
    assert found.how is How.ESTIMATE
    if policy is RiskMeasure.TABLE:
        assert abs(found.value - exact.value) <= 4 * found.standard_error + 1e-12
    else:
        assert found.low <= exact.value <= found.high


def test_without_small_cells_there_is_no_risk():
    table = Table.of_dense(np.array([[5, 7], [9, 4]]))
    masked = release_margins(table, [["v1", "v2"]])
    found = belief_exposure(
        masked,
        Measure().intruder("uniform", 4),
        Measure(),
        clock=Clock(None),
        rng=np.random.default_rng(1),
    )
    assert found.risk.value == 0
    assert bounds_exposure(masked, 2, clock=Clock(None)).risk.value == -25


def test_the_share_found_has_limits_where_cells_are_near_the_confidence():
    sure = ({1: 0.9, 0: 0.1}, {1: 0.01, 0: 0.01}, 1)
    near = ({1: 0.52, 0: 0.48}, {1: 0.05, 0: 0.05}, 1)
    wrong = ({0: 0.9, 1: 0.1}, {0: 0.01, 1: 0.01}, 1)
    distributions, errors, truths = zip(sure, near, wrong, strict=True)
    found = share_found(distributions, errors, truths, 0.5)
    assert (found.low, found.value, found.high) == pytest.approx((1 / 3, 2 / 3, 2 / 3))
    assert "1 of the cells" in found.note


def test_the_worst_of_several():
    low, high = Figure(value=0.1, how=How.EXACT), Figure(value=0.4, how=How.EXACT)
    rough = Figure(value=0.3, how=How.ESTIMATE, standard_error=0.1)
    none = Unavailable("too large")
    assert worst({"a": low, "b": high}) == high
    both = worst({"a": high, "b": rough})
    assert (both.low, both.high) == pytest.approx((0.4, 0.5))
    at_least = worst({"a": high, "b": none})
    assert (at_least.value, at_least.low, at_least.high) == (None, 0.4, 1.0)
    assert at_least.how is How.BOUND
    assert "b: too large" in at_least.note
    assert worst({"a": none}) == none


EPSILON = 2.0**-52


@pytest.mark.parametrize("off", [-2, -1, 0, 1, 2])
def test_an_even_chance_is_not_above_one_half_whatever_rounding_does(off):
    distribution = {1: 0.5 + off * EPSILON, 2: 0.5 - off * EPSILON}
    assert share_found([distribution], [{}], [1], 0.5).value == 0


@pytest.mark.parametrize("off", [-2, -1, 0])
def test_a_certainty_is_the_worst_there_is_whatever_rounding_does(off):
    sure = Figure(value=1.0 + off * EPSILON, how=How.EXACT)
    assert worst({"a": sure, "b": Unavailable("too large")}).how is How.EXACT


@pytest.mark.parametrize("off", [-2, 0, 2])
def test_of_risks_that_are_alike_the_first_is_the_worst(off):
    exact = Figure(value=0.5 * (1 + off * EPSILON), how=How.EXACT)
    rough = Figure(value=0.5, low=0.5, high=0.5, how=How.ESTIMATE)
    assert worst({"a": exact, "b": rough}).how is How.EXACT
    assert worst({"a": rough, "b": exact}).how is How.ESTIMATE


@pytest.fixture
def even_draws(monkeypatch):
    """The exposure of the one of two tables, by draws whose weights are alike but for rounding."""
    masked = release_margins(Table.of_dense(np.eye(2, dtype=np.int64)), [["v1"], ["v2"]])
    measure = Measure(kind=RiskMeasure.TABLE)

    def found(n_draws, seed):
        rng = np.random.default_rng(seed)
        noise = rng.integers(-3, 4, n_draws) * EPSILON
        drawn = DrawnBelief(
            tables=np.array([[1, 0, 0, 1], [0, 1, 1, 0]])[np.arange(n_draws) % 2],
            log_ratios=np.log(2.0) * (1 + noise),
            log_weights=np.zeros(n_draws),
            n_tried=n_draws,
            lower=np.zeros(4, dtype=np.int64),
            upper=np.ones(4, dtype=np.int64),
            log_weight=lambda tables: np.zeros(len(tables)),
        )
        monkeypatch.setattr("discreet.belief.ladder.weighted_belief", lambda *_, **__: drawn)
        prior = measure.intruder("uniform", 4).prior
        question = intruders_question(masked, prior, limits=LIMITS)
        belief = believe(question, ("filled",))
        if isinstance(belief, Unavailable):
            return belief
        return exposure_of(belief, masked.source.dense(), measure).risk

    return found


def test_weights_that_are_alike_leave_no_doubt_of_a_risk_at_the_cap(even_draws):
    for seed in range(10):
        assert standing(even_draws(400, seed), 0.5) is Standing.WITHIN


def test_as_many_even_draws_as_must_be_are_enough_whatever_rounding_does(even_draws):
    for seed in range(10):
        assert isinstance(even_draws(100, seed), Figure)
    assert isinstance(even_draws(99, 0), Unavailable)
