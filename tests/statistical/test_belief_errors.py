"""Errors of what an intruder believes, by every kind of draws, against exact sums."""

from itertools import count, product

import numpy as np
import pytest

from discreet.belief import posterior as posteriors
from discreet.belief.belief import ListedBelief
from discreet.belief.draws import importance_draws, smc, weighted_draws
from discreet.belief.draws.augmentation import ChainEffort, augmented
from discreet.belief.draws.data_augmentation import simulated
from discreet.belief.draws.importance_draws import importance_belief
from discreet.belief.draws.smc import annealed_distribution
from discreet.belief.draws.table_steps import ListedStep
from discreet.belief.draws.weighted_draws import weighted_belief
from discreet.belief.exact.clique_distribution import clique_distribution
from discreet.belief.exact.exact_distribution import exact_distribution
from discreet.belief.exact.listed_fiber import listed_fiber
from discreet.belief.factors import Factor, product_of
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.models.model_averaging import Evidence, model_weights, predictive_evidence
from discreet.belief.posterior import Question, table_posterior
from discreet.belief.unreleased_variables import without
from discreet.clock import Clock
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.priors import Multinomial, Uniform
from discreet.progress import silent

REPEATS = 50
TABLE = np.array([[[3, 1, 2], [0, 2, 1]], [[1, 4, 0], [2, 1, 3]]])
ALPHA = np.full(TABLE.shape, 0.5)
CELLS = np.arange(TABLE.size)
MODEL = HierarchicalModel.saturated(3)
PAIRS = margins_of(TABLE, [(0, 1), (0, 2), (1, 2)])
SYSTEM = system_of(TABLE.size, PAIRS.statements())
DISTRIBUTION = exact_distribution(PAIRS, MODEL, ALPHA)
# Its tables have weights even enough for errors to be normal after a few hundred draws.
EVEN = np.array([[[2, 1], [1, 2]], [[2, 3], [1, 1]]])
SINGLE = margins_of(EVEN, [(0,), (1,), (2,)])
EVEN_DISTRIBUTION = exact_distribution(SINGLE, MODEL, np.full(EVEN.shape, 0.7))


@pytest.fixture(scope="module")
def right():
    return posterior(DISTRIBUTION.system, DISTRIBUTION.prior)


@pytest.fixture(scope="module")
def even():
    return posterior(EVEN_DISTRIBUTION.system, EVEN_DISTRIBUTION.prior)


def likely(right, cell=0):
    """The value of a cell whose probability is nearest one half, and that probability."""
    found = {q: right.probability(cell, q) for q in range(8)}
    return min(found.items(), key=lambda pair: abs(pair[1] - 0.5))


def test_weighted_draws(monkeypatch, even, errors_are_right):
    monkeypatch.setattr(weighted_draws, "MOST_DRAWS", 400)
    monkeypatch.setattr(weighted_draws, "FIRST_ROUND", 400)
    q, p = likely(even)
    rng, scores = np.random.default_rng(1), []
    for _ in range(REPEATS):
        drawn = weighted_belief(EVEN_DISTRIBUTION, margins=SINGLE, clock=Clock(None), rng=rng)
        log_z, error = drawn.log_normaliser
        shares, errors = drawn.cell(0), drawn.cell_error(0)
        bits = drawn.entropy()
        scores.append(
            (
                (log_z - even.log_normaliser) / error,
                (shares[q] - p) / errors[q],
                (bits.value - even.entropy) / bits.standard_error,
            )
        )
    for own in np.transpose(scores):
        errors_are_right(own)


def test_a_posterior_by_weighted_draws(monkeypatch, even, errors_are_right):
    """The true table, a cell and the entropy, as the ladder of methods hands them on."""
    monkeypatch.setattr(posteriors, "_exactly", lambda *_: None)
    monkeypatch.setattr(posteriors, "clique_distribution", lambda *_: None)
    monkeypatch.setattr(posteriors, "ENOUGH", 1)  # else walks follow
    monkeypatch.setattr(weighted_draws, "MOST_DRAWS", 400)
    monkeypatch.setattr(weighted_draws, "FIRST_ROUND", 400)
    truth, (q, p) = even.table_probability(EVEN.ravel()), likely(even)
    prior = LogLinearPrior(MODEL, 0.7)
    question = Question(prior=prior, margins=SINGLE, cells=CELLS[:1], truth=EVEN)
    rng, scores = np.random.default_rng(7), []
    for _ in range(REPEATS):
        found = table_posterior(question, rng=rng)
        own, bits, log_z = found.true_table, found.entropy, found.evidence
        right = even.log_normaliser + EVEN_DISTRIBUTION.log_constant
        scores.append(
            (
                (own.value - truth) / own.standard_error,
                (found.distributions[0][q] - p) / found.errors[0][q],
                (bits.value - even.entropy) / bits.standard_error,
                (log_z.log_probability - right) / log_z.standard_error,
            )
        )
    assert "400 weighted draws" in found.method
    for one in np.transpose(scores):
        errors_are_right(one)


def simplex(n_cells, total):
    """All tables of so many cells with a total."""
    return [t for t in product(range(total + 1), repeat=n_cells) if sum(t) == total]


@pytest.mark.parametrize("prior", [Multinomial(), Uniform()], ids=lambda p: type(p).__name__)
def test_weighted_draws_of_a_publication(monkeypatch, prior, errors_are_right):
    """A range of one sum and a likelihood of another become weights.

    Where all tables are alike but for the likelihood, the weight of a draw and the logarithm whose
    mean the entropy has go together, so that their errors do not add."""
    monkeypatch.setattr(importance_draws, "ENOUGH", 1.0)
    monkeypatch.setattr(importance_draws, "LEAST_EFFECTIVE", 1.0)
    monkeypatch.setattr(importance_draws, "MOST_DRAWS", 400)
    seeds, generator = count(), np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda _: generator(next(seeds)))
    known = [
        Statement(cells=np.arange(4), low=8, high=8, name="total"),
        Statement(cells=np.array([0, 1]), low=2, high=6, name="range"),
    ]
    factor = Factor(cells=np.array([1, 2]), low=0, log_probability=0.6 * np.arange(9.0), name="sum")
    tables = np.array([t for t in simplex(4, 8) if 2 <= t[0] + t[1] <= 6])
    logs = prior.log_weight(np.broadcast_to(np.arange(4), tables.shape), tables)
    exact = ListedBelief.of_weights(tables, logs.sum(axis=1) + product_of([factor])(tables))
    truth, limits = np.array([1, 3, 3, 1]), (np.zeros(4, dtype=int), np.full(4, 8))
    scores = []
    for _ in range(REPEATS):
        found = importance_belief(prior, 4, known, [factor], limits, seconds=60.0, progress=silent)
        whole, bits = found.probability(truth), found.entropy()
        scores.append(
            (
                (found.cell(0)[1] - exact.cell(0)[1]) / found.cell_error(0)[1],
                (whole.value - exact.probability(truth).value) / whole.standard_error,
                (bits.value - exact.entropy().value) / bits.standard_error,
            )
        )
    for own in np.transpose(scores):
        errors_are_right(own)


def test_populations_led_up_to_a_model(monkeypatch, right, errors_are_right):
    """Of six populations: Student's factor for so few makes the error 1.3 times as large."""
    monkeypatch.setattr(smc, "MOST_POPULATIONS", 6)
    monkeypatch.setattr(smc, "POPULATION", 24)
    monkeypatch.setattr(smc, "MOST_KEPT", 40)
    cliques = clique_distribution(PAIRS, MODEL, ALPHA)
    log_evidence = right.log_normaliser + DISTRIBUTION.log_constant
    rng, scores = np.random.default_rng(2), []
    for _ in range(REPEATS):
        found = annealed_distribution(
            cliques, np.zeros((1, 3), dtype=np.int64), clock=Clock(None), rng=rng
        ).evidence
        scores.append((found.log_probability - log_evidence) / found.standard_error)
    errors_are_right(scores, at_least=0.7, at_most=0.9)


def test_the_true_table_has_the_relative_error_of_the_evidence(monkeypatch):
    """Pr(f | R) = Pr(f) / Pr(R), the first in closed form."""

    def beyond(*_, **__):
        raise BudgetExceeded("too large")

    monkeypatch.setattr(posteriors, "_exactly", lambda *_: None)
    monkeypatch.setattr(posteriors, "summed_cliques", beyond)
    monkeypatch.setattr(smc, "MOST_POPULATIONS", 6)
    prior = LogLinearPrior(MODEL, 0.5)
    question = Question(prior=prior, margins=PAIRS, cells=CELLS[:1], truth=TABLE)
    found = table_posterior(question, rng=np.random.default_rng(1))
    truth, evidence = found.true_table, found.evidence
    assert "led up to the model" in found.method
    assert 0.01 < evidence.standard_error < 0.5
    assert truth.standard_error / truth.value == pytest.approx(evidence.standard_error)


def test_data_augmentation(right, errors_are_right):
    """Cells, the true table, and the paper's Pr(R | A), whose errors are those between chains."""
    step = ListedStep.of(listed_fiber(SYSTEM, most=50_000), CELLS)
    effort = ChainEffort(n_chains=6, n_draws=60)
    q, p = likely(right)
    rng, scores, evidence = np.random.default_rng(3), [], []
    for _ in range(REPEATS):
        found = augmented(step, MODEL, ALPHA, CELLS, effort=effort, rng=rng)
        scores.append((found.distributions[0][q] - p) / found.errors[0][q])
        evidence.append(predictive_evidence(found, int(TABLE.sum())))
    errors_are_right(scores)
    middle = np.mean([one.log_probability for one in evidence])
    errors_are_right([(e.log_probability - middle) / e.standard_error for e in evidence])


def test_the_true_table_by_data_augmentation(even, errors_are_right):
    """The error is that between eight chains, so that scores have Student's distribution: their
    root mean square is √(7/5)."""
    truth = even.table_probability(EVEN.ravel())
    prior, effort = LogLinearPrior(MODEL, 0.7), ChainEffort(n_draws=100)
    question = Question(prior=prior, margins=SINGLE, cells=CELLS[:1], truth=EVEN, effort=effort)
    rng, scores = np.random.default_rng(4), []
    for _ in range(REPEATS):
        found = simulated(question, Clock(None), rng, silent).true_table
        scores.append((found.value - truth) / found.standard_error)
    errors_are_right(scores, at_most=np.sqrt(7 / 5))


def test_a_variable_put_back_leaves_relative_errors_alone():
    """Pr(table) is Pr(table without v) times an exact factor, and so is its error."""
    table = np.random.default_rng(2).integers(0, 3, (2, 2, 2, 2))
    model = HierarchicalModel.of(4, [(0, 1), (0, 2), (1, 2), (3,)])
    asked = Question(
        prior=LogLinearPrior(model, 0.5),
        margins=margins_of(table, [(0, 1), (2,)]),
        cells=np.array([3]),
        truth=table,
        effort=ChainEffort(n_draws=60),
    )
    smaller, _ = without(asked, 3)
    whole = table_posterior(asked, rng=np.random.default_rng(1)).true_table
    inner = table_posterior(smaller, rng=np.random.default_rng(1))
    own = inner.true_table
    assert whole.value < 0.1 * own.value
    assert whole.standard_error / whole.value == pytest.approx(own.standard_error / own.value)


def test_a_variable_put_back_has_the_errors_of_its_cells(errors_are_right):
    """As of draws of the cells themselves, though probabilities given θ were averaged, which is
    somewhat better."""
    table = np.random.default_rng(2).integers(0, 3, (2, 2, 2, 2))
    model = HierarchicalModel.of(4, [(0, 1), (0, 2), (1, 2), (3,)])
    asked = Question(
        prior=LogLinearPrior(model, 0.5),
        margins=margins_of(table, [(0, 1), (2,)]),
        cells=np.array([3]),
        effort=ChainEffort(n_draws=60),
    )
    rng = np.random.default_rng(5)
    found = [table_posterior(asked, rng=rng) for _ in range(REPEATS)]
    shares = np.array([one.distributions[0][1] for one in found])
    errors = np.array([one.errors[0][1] for one in found])
    errors_are_right((shares - shares.mean()) / errors, at_least=0.7)


def test_weights_of_models(errors_are_right):
    """From evidence with normal errors, against the weights without any."""
    logs, error = np.array([0.0, -0.5, 0.3]), np.array([0.1, 0.05, 0.15])
    exact = np.exp(logs) / np.exp(logs).sum()
    rng, scores = np.random.default_rng(6), []
    for _ in range(200):
        noisy = logs + error * rng.standard_normal(3)
        pairs = zip("abc", map(Evidence, noisy, error), strict=True)
        weights = model_weights(dict(pairs))
        scores.append([(w - p) / e for (w, e), p in zip(weights.values(), exact, strict=True)])
    for own in np.transpose(scores):
        errors_are_right(own)
