"""Errors of an audit's figures that rest on draws or on weights of models, against exact ones."""

import numpy as np
import pytest

from discreet.belief import ladder
from discreet.belief.draws import weighted_draws
from discreet.belief.ladder import believe
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.models.model_averaging import Evidence, model_weights
from discreet.belief.table_posterior import TablePosterior
from discreet.choice.exposure import LIMITS, belief_exposure, exposure_of
from discreet.choice.measures import Measure
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.figures import Figure, How, Unavailable
from discreet.masks.after_publication import intruders_question
from discreet.masks.rounding import round_at_random
from discreet.tables import refused_margin
from discreet.tables.posteriors import _average
from discreet.tables.refused_margin import RefusalRule, RiskMeasure, refusal_view
from discreet.tables.release import released

REPEATS = 50


def test_the_true_table_after_rounding(monkeypatch, errors_are_right):
    monkeypatch.setattr(weighted_draws, "MOST_DRAWS", 1000)
    monkeypatch.setattr(weighted_draws, "FIRST_ROUND", 1000)
    table = Table.of_dense(np.array([[[2, 1], [0, 1]], [[1, 0], [3, 1]]]), ["a", "b", "c"])
    masked = round_at_random(table, base=3, seed=4)
    measure = Measure(kind=RiskMeasure.TABLE, confidence=0.3)
    intruder = measure.intruder("dirichlet", table.n_cells)
    rng = np.random.default_rng(1)
    exact = belief_exposure(masked, intruder, measure, clock=Clock(None), rng=rng).risk
    assert exact.how is How.EXACT
    question, scores = intruders_question(masked, intruder.prior, limits=LIMITS), []
    for _ in range(REPEATS):
        drawn = believe(question, ("filled",), rng=rng)
        found = exposure_of(drawn, table.dense(), measure).risk
        scores.append((found.value - exact.value) / found.standard_error)
    errors_are_right(scores)


def refusal(max_risk, rng):
    """The view of a table after a refusal that the limit explains, as a function."""
    table = Table.of_dense(np.array([[[2, 1], [3, 6]], [[4, 3], [7, 2]]]), names="abc")
    out = released(table, [["a", "b"], ["b", "c"]])
    model, alpha = HierarchicalModel.of(3, [(0, 1), (1, 2)]), np.full((2, 2, 2), 0.5)
    rule = RefusalRule(measure=RiskMeasure.TABLE, max_risk=max_risk, small=2, confidence=0.4)
    cells = np.array([0])
    return lambda: refusal_view(
        out, model, alpha, [(0, 2)], rule, cells, clock=Clock(None), rng=rng
    )


@pytest.fixture
def few_draws(monkeypatch):
    """As if tables were too many to list."""

    def begin():
        monkeypatch.setattr(ladder, "by_listing", lambda *_: Unavailable("too many"))
        monkeypatch.setattr(refused_margin, "MOST_JUDGED", 80)
        monkeypatch.setattr(weighted_draws, "FIRST_ROUND", 80)
        monkeypatch.setattr(weighted_draws, "MOST_DRAWS", 80)

    return begin


def test_the_probability_of_a_refusal(few_draws, errors_are_right):
    view = refusal(0.2, np.random.default_rng(2))
    exact = view()
    assert 0.2 < exact.probability.value < 0.95
    few_draws()
    q, p = max(exact.distributions[0].items(), key=lambda pair: pair[1])
    scores = []
    for _ in range(40):
        found = view()
        own = found.probability
        scores.append(
            (
                (own.value - exact.probability.value) / own.standard_error,
                (found.distributions[0][q] - p) / found.errors[0][q],
            )
        )
    for own in np.transpose(scores):
        errors_are_right(own)


def test_a_refusal_that_all_draws_explain_is_not_certain(few_draws):
    """80 draws that agree leave another a chance of 1 / 82."""
    few_draws()
    found = refusal(0.01, np.random.default_rng(2))().probability
    assert found.value == pytest.approx(1.0)
    assert found.standard_error == pytest.approx(1 / 82, rel=0.05)


def posterior(share: float, truth: float, evidence: Evidence) -> TablePosterior:
    """Of one cell that is 0 or 1, exact but for its evidence."""
    return TablePosterior(
        model=HierarchicalModel.saturated(1),
        cells=np.array([0]),
        distributions=[{0: share, 1: 1 - share}],
        errors=[{0: 0.0, 1: 0.0}],
        how=How.EXACT,
        method="",
        evidence=evidence,
        true_table=Figure(value=truth, how=How.EXACT),
        entropy=Unavailable(""),
    )


def test_an_average_over_models_whose_weights_are_estimates(errors_are_right):
    """Evidence of three models with normal errors, against the average without any. Weights add up
    to one, so that one too high is another too low, and where models agree it does not matter."""
    shares, truths = np.array([0.8, 0.3, 0.5]), np.array([0.30, 0.10, 0.28])
    logs, error = np.array([0.2, 0.0, -0.4]), np.array([0.1, 0.1, 0.05])
    exact = np.exp(logs) / np.exp(logs).sum()
    rng, scores = np.random.default_rng(3), []
    for _ in range(200):
        evidence = map(Evidence, logs + error * rng.standard_normal(3), error)
        found = dict(zip("abc", map(posterior, shares, truths, evidence), strict=True))
        average = _average(found, model_weights({name: p.evidence for name, p in found.items()}))
        scores.append(
            (
                (average.distributions[0][0] - exact @ shares) / average.errors[0][0],
                (average.true_table.value - exact @ truths) / average.true_table.standard_error,
            )
        )
    for own in np.transpose(scores):
        errors_are_right(own)
