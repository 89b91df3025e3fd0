"""Variables in no released margin, taken out and put back, against sums over all tables."""

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import betabinom

from discreet.belief import posterior as posteriors
from discreet.belief.draws.augmentation import Effort
from discreet.belief.exact.exact_distribution import completed_points, exact_distribution
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.posterior import Question, table_posterior
from discreet.belief.unreleased_variables import left_out, log_split, model_without, without
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.linear_system import Statement
from discreet.fiber.system.margins import margins_of
from discreet.figures import How

TABLE = np.array([[[2, 1], [0, 1]], [[1, 0], [1, 2]], [[0, 1], [1, 1]]])
ALPHA = np.random.default_rng(4).uniform(0.3, 1.4, TABLE.shape)
CELLS = np.arange(TABLE.size)
MODELS = [
    (HierarchicalModel.saturated(3), [(0, 1)]),
    (HierarchicalModel.of(3, [(0, 1), (1, 2)]), [(0, 1)]),
    (HierarchicalModel.of(3, [(0, 1), (2,)]), [(0, 1)]),
    (HierarchicalModel.of(3, [(0, 1), (0, 2)]), [(0,)]),
    (HierarchicalModel.saturated(3), [(0,), (2,)]),
]


def question(sets, model, **more):
    prior = LogLinearPrior(model, ALPHA)
    return Question(prior=prior, margins=margins_of(TABLE, sets), cells=CELLS, truth=TABLE, **more)


@pytest.fixture
def only_small_sums(monkeypatch):
    """Sums over the full table are refused, so that the way round is taken."""
    exactly = posteriors._exactly

    def small(asked, *rest):
        if asked.margins.n_cells == TABLE.size:
            return None
        return exactly(asked, *rest)

    monkeypatch.setattr(posteriors, "_exactly", small)


@pytest.mark.parametrize(("model", "sets"), MODELS)
def test_against_the_sum_over_full_tables(only_small_sums, model, sets):
    distribution = exact_distribution(margins_of(TABLE, sets), model, ALPHA)
    right = posterior(distribution.system, distribution.prior)
    found = table_posterior(question(sets, model), rng=np.random.default_rng(1))
    assert found.how is How.EXACT
    assert "spread exactly" in found.method
    for cell, own in enumerate(found.distributions):
        assert sum(own.values()) == pytest.approx(1)
        for q, p in own.items():
            assert p == pytest.approx(right.probability(cell, q), abs=1e-10)
    assert found.evidence.log_probability == pytest.approx(
        right.log_normaliser + distribution.log_constant, abs=1e-9
    )
    truth = completed_points(distribution.system, TABLE.ravel()[None])[0]
    assert found.true_table.value == pytest.approx(right.table_probability(truth), rel=1e-9)


def test_a_model_without_closed_form():
    """Three pairs of variables released of four: the fourth is spread over the simulated table."""
    table = np.random.default_rng(2).integers(0, 3, (2, 2, 2, 2))
    model = HierarchicalModel.of(4, [(0, 1), (0, 2), (1, 2), (3,)])
    sets = [(0, 1), (2,)]
    asked = Question(
        prior=LogLinearPrior(model, 0.5),
        margins=margins_of(table, sets),
        cells=np.array([3]),
        truth=table,
        effort=Effort(n_draws=400),
    )
    found = table_posterior(asked, rng=np.random.default_rng(1))
    smaller, place = without(asked, 3)
    inner = table_posterior(smaller, rng=np.random.default_rng(1))
    expected = sum(
        p * betabinom(m, 4.0, 4.0).pmf(0) for m, p in inner.distributions[int(place[0])].items()
    )
    assert found.distributions[0][0] == pytest.approx(expected, rel=1e-9)


def test_which_variables_may_go():
    pair = HierarchicalModel.of(3, [(0, 1), (1, 2)])
    assert left_out(question([(0, 1)], pair)) == 2
    assert left_out(question([(0,)], pair)) == 2
    assert left_out(question([(0,), (2,)], pair)) is None  # 1 lies between the others
    assert left_out(question([(0, 1), (1, 2)], pair)) is None
    known = [Statement(cells=np.array([0]), low=0, high=2, name="known")]
    assert left_out(question([(0, 1)], pair, known=known)) is None


def test_the_smaller_question_and_model():
    asked, place = without(question([(0, 2)], HierarchicalModel.saturated(3)), 1)
    assert asked.margins.sizes == (3, 2)
    assert list(asked.margins.tables) == [(0, 1)]
    assert np.array_equal(asked.truth, TABLE.sum(axis=1))
    assert np.allclose(asked.alpha, ALPHA.sum(axis=1))
    levels = np.stack(np.unravel_index(CELLS, TABLE.shape), axis=1)
    assert np.array_equal(asked.cells[place], levels[:, 0] * 2 + levels[:, 2])
    model = HierarchicalModel.of(4, [(0, 1, 2), (2, 3)])
    assert model_without(model, 1) == HierarchicalModel.of(3, [(0, 1), (1, 2)])


def test_the_split_of_a_table_is_a_distribution():
    """Over all tables of four cells with given sums over the last variable."""
    alpha = np.array([[0.4, 1.1], [0.9, 0.6]])
    total = 0.0
    for a in range(4):
        for b in range(3):
            total += np.exp(log_split(np.array([[a, 3 - a], [b, 2 - b]]), alpha, (0, 1), 1))
    assert total == pytest.approx(1)
    independent = sum(
        np.exp(log_split(np.array([[a, 3 - a], [b, 2 - b]]), alpha, (1,), 1))
        for a in range(4)
        for b in range(3)
    )
    assert independent == pytest.approx(1)
    one = log_split(np.array([[3, 0], [0, 2]]), alpha, (1,), 1)
    a, b = alpha.sum(axis=0)
    right = gammaln(a + 3) + gammaln(b + 2) + gammaln(a + b) - gammaln(a) - gammaln(b)
    assert one == pytest.approx(right - gammaln(a + b + 5))
