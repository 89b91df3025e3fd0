"""The population's count given the sample's, against simulation and closed forms."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import betabinom
from tests.oracles.population_of_sample import population_distribution

from discreet.errors import InputError


def distribution(sample_distribution, n=5, N=20, alpha=0.5, total=2.0):
    return population_distribution(
        sample_distribution, alpha=alpha, alpha_total=total, sample_size=n, population_size=N
    )


def test_a_known_count_gives_a_shifted_beta_binomial():
    found = distribution({2: 1.0})
    expected = betabinom(15, 2.5, 1.5 + 3).pmf(np.arange(16))
    assert found[2:18] == pytest.approx(expected, rel=1e-12)
    assert found[:2].sum() == 0


def test_a_census_adds_nothing():
    assert distribution({1: 0.3, 4: 0.7}, n=20)[[1, 4]] == pytest.approx([0.3, 0.7])


def test_against_simulation():
    """Dirichlet probabilities, a population, a sample of it; condition on the sample's count."""
    rng = np.random.default_rng(4)
    alpha = np.array([0.5, 0.5, 1.0])
    theta = rng.dirichlet(alpha, size=400_000)
    sample = rng.multinomial(5, theta)
    rest = rng.multinomial(15, theta)
    here = sample[:, 0] == 1
    seen = np.bincount(1 + rest[here, 0], minlength=21) / here.sum()
    expected = distribution({1: 1.0})
    error = np.sqrt(expected * (1 - expected) / here.sum())
    assert np.all(np.abs(seen - expected) < 5 * error + 1e-4)


def test_risk_falls_with_the_sampling_fraction():
    ones = [distribution({1: 1.0}, N=N)[1] for N in (5, 10, 50, 500)]
    assert ones[0] == 1.0
    assert all(a > b for a, b in pairwise(ones))


def test_large_populations_stay_a_distribution():
    found = distribution({0: 0.5, 1: 0.5}, n=1000, N=200_000)
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    assert found.min() >= 0


def test_a_table_of_one_cell():
    assert distribution({5: 1.0}, alpha=2.0, total=2.0)[20] == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"N": 4}, "population must be at least the sample's 5, got 4"),
        ({"alpha": 0.0}, "alpha must be above 0, at most its total, got 0.0"),
        ({"alpha": 3.0}, "alpha must be above 0"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InputError, match=message):
        distribution({1: 1.0}, **options)
