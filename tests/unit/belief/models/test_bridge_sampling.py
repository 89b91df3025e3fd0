"""Bridge sampling against integrals that are known, the design against its model."""

import numpy as np
import pytest
from scipy.special import gammaln

from discreet.belief.models.bridge_sampling import log_constant
from discreet.belief.models.design import (
    contrasts,
    design_matrix,
    free_parameters,
    log_probabilities,
)
from discreet.belief.models.generators import HierarchicalModel, models_containing
from discreet.belief.models.model_averaging import Evidence, model_weights
from discreet.errors import InputError


@pytest.mark.parametrize("p", [1, 3, 10])
def test_a_normal_distribution(p):
    rng = np.random.default_rng(p)
    root = np.tril(rng.normal(size=(p, p))) + 2 * np.eye(p)
    draws = rng.standard_normal((4, 2000, p)) @ root.T + 5
    inverse = np.linalg.inv(root @ root.T)

    def log_density(x):
        d = x - 5
        return -0.5 * np.einsum("ij,jk,ik->i", d, inverse, d)

    found = log_constant(draws, log_density, rng=rng)
    right = 0.5 * p * np.log(2 * np.pi) + np.log(np.abs(np.diag(root))).sum()
    assert found.value == pytest.approx(right, abs=max(5 * found.standard_error, 1e-6))


def test_a_skewed_distribution():
    """log of Gamma(1/2) variables: ∫ exp(a y − e^y) dy = Γ(a)."""
    rng = np.random.default_rng(4)
    draws = np.log(rng.standard_gamma(0.5, size=(4, 5000, 3)))
    found = log_constant(draws, lambda y: (0.5 * y - np.exp(y)).sum(axis=1), rng=rng)
    assert found.standard_error < 0.05
    assert found.value == pytest.approx(3 * gammaln(0.5), abs=4 * found.standard_error)


def test_errors_are_of_the_right_size():
    values, errors = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        draws = np.log(rng.standard_gamma(1.0, size=(2, 300, 2)))
        found = log_constant(draws, lambda y: (y - np.exp(y)).sum(axis=1), rng=rng)
        values.append(found.value)
        errors.append(found.standard_error)
    assert 0.6 < np.std(values) / np.mean(errors) < 1.6


def test_too_few_draws():
    with pytest.raises(InputError, match="draws must be more than"):
        log_constant(np.zeros((2, 4, 5)), lambda x: x.sum(axis=1), rng=np.random.default_rng(1))


def test_contrasts_are_orthonormal_and_sum_to_zero():
    for size in (1, 2, 5):
        c = contrasts(size)
        assert c.T @ c == pytest.approx(np.eye(size - 1), abs=1e-12)
        assert c.sum(axis=0) == pytest.approx(np.zeros(size - 1), abs=1e-12)


@pytest.mark.parametrize("model", models_containing(3, []), ids=lambda m: m.name("abc"))
def test_the_design_spans_its_model(model):
    sizes = (2, 3, 2)
    design = design_matrix(model, sizes)
    assert design.T @ design == pytest.approx(np.eye(design.shape[1]), abs=1e-12)
    psi = np.random.default_rng(1).normal(size=(4, design.shape[1]))
    log_theta = log_probabilities(psi, design)
    assert np.exp(log_theta).sum(axis=1) == pytest.approx(np.ones(4))
    assert free_parameters(log_theta, design) == pytest.approx(psi)


def test_the_saturated_model_has_all_parameters():
    assert design_matrix(HierarchicalModel.saturated(3), (2, 3, 2)).shape == (12, 11)


def test_weights_and_their_errors():
    evidence = {"a": Evidence(-10.0, 0.1), "b": Evidence(-11.0, 0.0)}
    found = model_weights(evidence, {"a": 0.5, "b": 0.5})
    right = 1 / (1 + np.exp(-1))
    assert found["a"][0] == pytest.approx(right)
    assert found["a"][1] == pytest.approx(right * (1 - right) * 0.1)
    assert found["b"][1] == pytest.approx(right * (1 - right) * 0.1)


@pytest.mark.parametrize(
    "prior", [{"a": 1.0}, {"a": 1.0, "b": 0.0}, {"a": 1.0, "b": 1.0, "c": 1.0}]
)
def test_priors_that_do_not_fit(prior):
    with pytest.raises(InputError, match="model priors must be a positive probability for each"):
        model_weights({"a": Evidence(0, 0), "b": Evidence(0, 0)}, prior)
