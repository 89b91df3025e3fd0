"""Bayesian proportional fitting against Dirichlet and hyper-Dirichlet moments."""

import numpy as np
import pytest
from scipy.special import digamma
from scipy.stats import kstest

from discreet.belief.models.bayesian_fitting import fitting_cycle, log_gamma_draws, log_sum

DRAWS = 40_000


def draws(parameters, generators, *, cycles, seed=1):
    rng = np.random.default_rng(seed)
    state = np.zeros((DRAWS, *parameters.shape))
    state -= np.log(parameters.size)
    wide = np.broadcast_to(parameters, state.shape)
    for _ in range(cycles):
        state = fitting_cycle(state, wide, generators, rng=rng)
    return np.exp(state)


def close(sample, expected):
    """Means within five standard errors."""
    error = sample.std(axis=0) / DRAWS**0.5
    assert np.all(np.abs(sample.mean(axis=0) - expected) < 5 * error + 1e-12)


def test_the_saturated_model_gives_a_dirichlet_distribution():
    a = np.array([[0.3, 1.2], [2.0, 0.7]])
    theta = draws(a, [(0, 1)], cycles=1)
    mean = a / a.sum()
    close(theta, mean)
    close(theta**2, mean * (a + 1) / (a.sum() + 1))
    assert np.allclose(theta.sum(axis=(1, 2)), 1)


def test_a_decomposable_model_gives_a_hyper_dirichlet_distribution():
    a = np.random.default_rng(5).uniform(0.2, 2.0, (2, 3, 2))
    theta = draws(a, [(0, 1), (1, 2)], cycles=1)
    clique, separator = a.sum(axis=2), a.sum(axis=(0, 2))
    close(theta.sum(axis=3), clique / a.sum())
    given = theta.sum(axis=3) / theta.sum(axis=(1, 3))[:, None]
    share = clique / separator
    close(given, share)
    close(given**2, share * (clique + 1) / (separator + 1))
    other = theta.sum(axis=1) / theta.sum(axis=(1, 3))[:, :, None]
    both = other[:, 1, 0] * given[:, 0, 1]  # independent of each other given the separator
    close(both, a.sum(axis=0)[1, 0] / separator[1] * share[0, 1])


def test_independence_has_beta_margins():
    theta = draws(np.full((2, 2), 0.8), [(0,), (1,)], cycles=3)
    assert kstest(theta.sum(axis=2)[:, 0], "beta", args=(1.6, 1.6)).pvalue > 1e-3
    assert np.allclose(theta, theta.sum(axis=2, keepdims=True) * theta.sum(axis=1, keepdims=True))


def test_without_three_way_interaction_the_mean_margins_are_those_of_the_distribution():
    """Diaconis and Ylvisaker: a conjugate distribution has mean sufficient statistics a / Σ a."""
    a = np.random.default_rng(9).uniform(0.3, 2.0, (2, 2, 2))
    sets = [(0, 1), (0, 2), (1, 2)]
    theta = draws(a, sets, cycles=40)
    for axes in sets:
        rest = 3 - sum(axes)
        close(theta.sum(axis=1 + rest), a.sum(axis=rest) / a.sum())


def test_a_cycle_keeps_the_model():
    rng = np.random.default_rng(3)
    a = rng.uniform(0.2, 3, (2, 2, 3))
    state = fitting_cycle(np.zeros((2, 2, 3)), a, [(0, 1), (0, 2), (1, 2)], rng=rng)
    contrast = state[0] - state[1]
    assert np.allclose((contrast[0] - contrast[1]) - (contrast[0] - contrast[1])[0], 0)


def test_tiny_shapes_stay_finite_and_right():
    rng = np.random.default_rng(8)
    sample = log_gamma_draws(np.full(200_000, 1e-3), rng=rng)
    assert np.all(np.isfinite(sample))
    error = sample.std() / len(sample) ** 0.5
    assert sample.mean() == pytest.approx(digamma(1e-3), abs=5 * error)


def test_log_sum_does_not_overflow():
    assert log_sum(np.array([1000.0, 1000.0]), (0,))[0] == pytest.approx(1000 + np.log(2))
