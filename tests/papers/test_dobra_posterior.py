"""Tables 2 to 5 and the model weights of dobra, fienberg and trottini, from the census table."""

import numpy as np
import pytest
from scipy.special import gammaln

from discreet.belief.draws.augmentation import ChainEffort, augmented
from discreet.belief.draws.table_steps import ListedStep
from discreet.belief.exact.exact_distribution import exact_distribution
from discreet.belief.exact.listed_fiber import listed_fiber
from discreet.belief.models.generators import models_containing
from discreet.belief.models.model_averaging import (
    Evidence,
    bridged_evidence,
    model_weights,
    predictive_evidence,
)
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import margins_of

CENSUS = np.array(
    [[96, 72, 161], [10, 7, 6], [1, 1, 2], [186, 127, 51], [11, 7, 3], [0, 1, 0]]
).reshape(2, 3, 3)  # gender × race × income, table 1
RELEASED = [(1, 2), (0, 2)]
ALPHA = np.full(CENSUS.shape, 0.5)
SMALL = [(0, 2, 0), (0, 2, 1), (1, 2, 1), (0, 2, 2)]
CELLS = np.array([np.ravel_multi_index(cell, CENSUS.shape) for cell in SMALL])
RELEASED_MODEL, NO_SECOND_ORDER, SATURATED = models_containing(3, RELEASED)


def margins():
    return margins_of(CENSUS, RELEASED)


def exact(model):
    distribution = exact_distribution(margins(), model, ALPHA)
    return distribution, posterior(distribution.system, distribution.prior)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (
            SATURATED,
            [
                (0.4994, 0.5006, 0),
                (0.3739, 0.2500, 0.3761),
                (0.3761, 0.25, 0.3739),
                (0.3777, 0.2500, 0.3723),
            ],
        ),
        (
            RELEASED_MODEL,
            [
                (0.648, 0.352, 0),
                (0.3932, 0.4695, 0.1374),
                (0.1374, 0.4695, 0.3932),
                (0.0578, 0.3687, 0.5735),
            ],
        ),
    ],
    ids=["table 2, exact", "table 4"],
)
def test_exact_tables(model, expected):
    _, found = exact(model)
    for cell, distribution in zip(CELLS, expected, strict=True):
        assert [found.probability(int(cell), q) for q in range(3)] == pytest.approx(
            distribution, abs=6e-5
        )


@pytest.fixture(scope="module")
def drawn():
    fiber = listed_fiber(system_of(18, margins().statements()), most=10_000)
    effort = ChainEffort(n_draws=1500)
    return fiber, {
        model: augmented(
            ListedStep.of(fiber, CELLS),
            model,
            ALPHA,
            CELLS,
            effort=effort,
            rng=np.random.default_rng(11),
        )
        for model in (RELEASED_MODEL, NO_SECOND_ORDER, SATURATED)
    }


def test_table_3_by_simulation(drawn):
    """Long runs give these within ±.003."""
    found = drawn[1][NO_SECOND_ORDER]
    expected = [
        {0: 0.609, 1: 0.391},
        {0: 0.415, 1: 0.357, 2: 0.229},
        {0: 0.229, 1: 0.357, 2: 0.415},
        {0: 0.140, 1: 0.313, 2: 0.547},
    ]
    for distribution, error, right in zip(found.distributions, found.errors, expected, strict=True):
        for q, p in right.items():
            assert abs(distribution[q] - p) < 4 * error[q] + 0.004
            assert 0 < error[q] < 0.01


def test_simulation_agrees_with_the_exact_saturated_model(drawn):
    _, right = exact(SATURATED)
    found = drawn[1][SATURATED]
    for cell, distribution, error in zip(CELLS, found.distributions, found.errors, strict=True):
        for q, p in distribution.items():
            assert abs(p - right.probability(int(cell), q)) < 5 * error[q]
    assert found.complete
    assert found.diagnostics.r_hat.max() < 1.05


def log_dirichlet_multinomial(counts, alpha):
    """log of the Dirichlet–multinomial mass, one alpha for all."""
    x = np.ravel(counts).astype(float)
    a = np.full(x.shape, alpha)
    mass = gammaln(x.sum() + 1) - gammaln(x + 1).sum()
    return (
        mass + gammaln(a.sum()) - gammaln(a.sum() + x.sum()) + (gammaln(x + a) - gammaln(a)).sum()
    )


def test_the_evidence_of_the_released_model_by_hand():
    """Race × income is Dirichlet–multinomial with α = 1, gender within income with α = 1.5."""
    distribution, found = exact(RELEASED_MODEL)
    by_hand = log_dirichlet_multinomial(CENSUS.sum(axis=0), 1.0)
    by_hand += sum(log_dirichlet_multinomial(CENSUS.sum(axis=1)[:, i], 1.5) for i in range(3))
    assert found.log_normaliser + distribution.log_constant == pytest.approx(by_hand, abs=1e-9)


@pytest.mark.parametrize("model", [RELEASED_MODEL, SATURATED], ids=["released", "saturated"])
def test_bridge_sampling_agrees_with_closed_forms(drawn, model):
    fiber, chains = drawn
    found = bridged_evidence(fiber, model, ALPHA, chains[model], rng=np.random.default_rng(3))
    distribution, right = exact(model)
    assert found.standard_error < 0.15
    assert (
        abs(found.log_probability - right.log_normaliser - distribution.log_constant)
        < 4 * found.standard_error
    )


def test_model_weights(drawn):
    """With priors .22, .67, .11 the paper's posterior predictive weights are about .23, .66, .11 in
    a long run. The proper ones follow from exact evidence for two of the models."""
    fiber, chains = drawn
    prior = {"saturated": 0.22, "second": 0.67, "released": 0.11}
    models = {"saturated": SATURATED, "second": NO_SECOND_ORDER, "released": RELEASED_MODEL}
    predictive = {n: predictive_evidence(chains[m], int(CENSUS.sum())) for n, m in models.items()}
    weights = model_weights(predictive, prior)
    for name, right in (("saturated", 0.23), ("second", 0.66), ("released", 0.11)):
        assert weights[name][0] == pytest.approx(right, abs=0.025)
    proper = {}
    for name in ("saturated", "released"):
        distribution, found = exact(models[name])
        proper[name] = Evidence(found.log_normaliser + distribution.log_constant, 0.0)
    proper["second"] = bridged_evidence(
        fiber, NO_SECOND_ORDER, ALPHA, chains[NO_SECOND_ORDER], rng=np.random.default_rng(5)
    )
    found = model_weights(proper, prior)
    assert found["saturated"][0] == pytest.approx(0.105, abs=0.015)
    assert found["second"][0] == pytest.approx(0.69, abs=0.03)
    assert found["released"][0] == pytest.approx(0.204, abs=0.02)
    ratio = found["saturated"][0] / found["released"][0]
    assert ratio == pytest.approx(2 * 0.2563, rel=1e-3)  # exact for these two
