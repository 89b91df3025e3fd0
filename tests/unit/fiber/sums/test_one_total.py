"""Counts of one total, by convolution: against listing, dynamic programming and a closed form."""

import numpy as np
import pytest
from scipy.stats import binom

from discreet.fiber.sums import marginals
from discreet.fiber.sums.one_total import given_their_total
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.priors import DirichletMultinomial, Multinomial


def by_listing(logs, total):
    tables = np.array([t for t in np.ndindex(*map(len, logs)) if sum(t) == total])
    weights = np.exp(sum(one[tables[:, c]] for c, one in enumerate(logs)))
    found = [np.bincount(tables[:, c], weights, len(one)) for c, one in enumerate(logs)]
    return np.log(weights.sum()), [one / weights.sum() for one in found]


@pytest.mark.parametrize("seed", range(12))
def test_sums_are_those_over_all_listed_counts(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 7, size=4)
    logs = [3 * rng.standard_normal(length) for length in lengths]
    for total in {0, 1, int(lengths.sum() - 4), int(rng.integers(1, lengths.sum() - 4))}:
        log_z, found = given_their_total(logs, total)
        expected_z, expected = by_listing(logs, total)
        assert log_z == pytest.approx(expected_z, abs=1e-11)
        for own, one in zip(found, expected):
            np.testing.assert_allclose(own, one, rtol=1e-10, atol=1e-300)


def test_equal_poisson_weights_give_binomial_counts_however_far_from_their_mean():
    n, total = 6, 900
    logs = [-np.cumsum(np.log(np.maximum(np.arange(total + 1), 1)))] * n
    _, found = given_their_total(logs, total)
    exact = binom.pmf(np.arange(total + 1), total, 1 / n)
    kept = exact > 1e-200
    np.testing.assert_allclose(found[3][kept], exact[kept], rtol=1e-9)


def test_weights_of_zero_stay_impossible():
    logs = [np.array([0.0, -np.inf, 1.0]), np.array([0.0, 0.5, 0.2]), np.zeros(3)]
    log_z, found = given_their_total(logs, 3)
    expected_z, expected = by_listing(logs, 3)
    assert log_z == pytest.approx(expected_z, abs=1e-12)
    assert found[0][1] == 0
    for own, one in zip(found, expected):
        np.testing.assert_allclose(own, one, rtol=1e-11)


@pytest.mark.parametrize("prior", [Multinomial(), DirichletMultinomial(np.full(7, 0.5))])
def test_posteriors_are_those_of_dynamic_programming(prior, monkeypatch):
    cells = np.arange(7)
    limits = [Statement(cells=np.array([i]), low=i, high=40 - i, name=f"c{i}") for i in range(7)]
    system = system_of(7, [*limits, Statement(cells=cells, low=120, high=120, name="total")])
    with monkeypatch.context() as alone:
        alone.setattr(marginals, "_summed", None)
        quick = marginals.posterior(system, prior)
    monkeypatch.setattr(marginals, "is_one_total", lambda _: False)
    slow = marginals.posterior(system, prior)
    assert quick.log_normaliser == pytest.approx(slow.log_normaliser, rel=1e-12)
    assert quick.entropy == pytest.approx(slow.entropy, rel=1e-11)
    for own, one in zip(quick.probabilities, slow.probabilities):
        np.testing.assert_allclose(own, one, rtol=1e-8, atol=1e-200)


@pytest.mark.parametrize("cells", [[2], [0, 3], [1, 2, 4, 5], [0, 1, 2, 3, 4, 5, 6]])
def test_sums_of_cells_are_those_of_dynamic_programming(cells, monkeypatch):
    fixed = Statement(cells=np.array([1]), low=4, high=4, name="known")
    limits = [Statement(cells=np.array([i]), low=i, high=40 - i, name=f"c{i}") for i in range(7)]
    total = Statement(cells=np.arange(7), low=120, high=120, name="total")
    system, prior = system_of(7, [*limits, fixed, total]), DirichletMultinomial(np.full(7, 0.5))
    with monkeypatch.context() as alone:  # nothing else is tried
        alone.setattr(marginals, "_summed", None)
        alone.setattr(marginals, "listed_points", None)
        quick = marginals.sum_distribution(system, prior, np.array(cells))
    monkeypatch.setattr(marginals, "is_one_total", lambda _: False)
    slow = marginals.sum_distribution(system, prior, np.array(cells))
    assert quick == pytest.approx(slow, rel=1e-9)
