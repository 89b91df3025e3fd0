"""The Poisson–inverse Gaussian model against integrals over its own mixing distribution."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import poisson

from discreet.data.summary import SizeIndices
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.poisson_inverse_gaussian import (
    InverseGaussianDistribution,
    PoissonInverseGaussian,
)

COUNTS = [1] * 300 + [2] * 60 + [3] * 25 + [4] * 12 + [6] * 7 + [11] * 3


def totals_of(counts, population, cells=10**6):
    return Totals(
        size_indices=SizeIndices.of_counts(np.array(counts)),
        population_size=population,
        n_table_cells=cells,
    )


DISTRIBUTIONS = [
    InverseGaussianDistribution(2000.0, 0.7, totals_of(COUNTS, 6000)),
    InverseGaussianDistribution(60_000.0, 0.02, totals_of(COUNTS, 6000)),
    InverseGaussianDistribution(900.0, 20.0, totals_of(COUNTS, 1300)),
]


def over_rates(distribution, function):
    """E function(λ) under the inverse Gaussian distribution, λ = e^v."""
    mean, shape = distribution.mean, distribution.mean * distribution.evenness

    def integrand(v):
        rate = math.exp(v)
        density = math.sqrt(shape / (2 * math.pi * rate**3))
        density *= math.exp(-shape * (rate - mean) ** 2 / (2 * mean**2 * rate))
        return function(rate) * density * rate

    return quad(integrand, -40, 12, limit=500, points=[-10, -5, -2, 0, 2, 5])[0]


def chance_and_inverse(distribution, f):
    """P(f) and E(1/F; f) by adding up the unseen people at each rate."""
    pi = distribution.fraction
    unseen = np.arange(0, 3000)

    def inverse(rate):
        mass = poisson.pmf(unseen, (1 - pi) * rate)
        return poisson.pmf(f, pi * rate) * (mass / (f + unseen)).sum()

    return over_rates(distribution, lambda rate: poisson.pmf(f, pi * rate)), over_rates(
        distribution, inverse
    )


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_everything_given_a_sample_count(distribution):
    counts = np.array([1.0, 3.0])
    mean, _ = distribution.inverse_moments(counts)
    for i, f in enumerate(counts):
        chance, inverse = chance_and_inverse(distribution, f)
        assert math.exp(distribution.log_probability(np.array([f]))[0]) == pytest.approx(
            chance, rel=1e-6
        )
        assert mean[i] == pytest.approx(inverse / chance, rel=1e-6)
    pi = distribution.fraction
    alone = over_rates(distribution, lambda rate: pi * rate * math.exp(-rate))
    seen = over_rates(distribution, lambda rate: pi * rate * math.exp(-pi * rate))
    assert distribution.unique_probability == pytest.approx(alone / seen, rel=1e-6)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_moments_of_the_sample_count(distribution):
    sizes = np.arange(1.0, 20_000.0)
    expected = distribution.expected_cells(sizes)
    assert expected @ sizes == pytest.approx(distribution.totals.sample_size, rel=1e-8)
    assert expected.sum() == pytest.approx(distribution.cells * distribution.occupied, rel=1e-8)
    assert expected @ sizes**2 == pytest.approx(
        distribution.cells * distribution.second_moment, rel=1e-8
    )


def test_second_moments_lie_between_what_they_can():
    mean, square = DISTRIBUTIONS[0].inverse_moments(np.arange(1.0, 200.0))
    assert (square >= mean**2 * (1 - 1e-12)).all()
    assert (square <= mean).all()
    assert (np.diff(mean) < 0).all()


def test_no_neighbour_of_the_fit_is_more_likely():
    fit = PoissonInverseGaussian().fit_totals(totals_of(COUNTS, 6000))
    family, point = fit.uncertainty.family, fit.uncertainty.point
    best = family.log_likelihood(point).value
    for step in ((0.05, 0), (-0.05, 0), (0, 0.05), (0, -0.05), (0.05, -0.05)):
        assert family.log_likelihood(point + step).value < best


def test_the_cells_fitted_are_no_more_than_there_are():
    wide = PoissonInverseGaussian().fit_totals(totals_of(COUNTS, 6000))
    tight = PoissonInverseGaussian().fit_totals(totals_of(COUNTS, 6000, cells=500))
    assert wide.distribution.cells > 500  # type: ignore[attr-defined]
    assert tight.distribution.cells == pytest.approx(500)  # type: ignore[attr-defined]
    for fit in (wide, tight):
        figure = fit.uniques_figure()
        assert 0 <= figure.low <= figure.value <= figure.high <= 300


@pytest.mark.parametrize(
    ("counts", "reason"),
    [([1] * 30, "every record"), ([30], "one cell"), ([3] * 40 + [2] * 3 + [4] * 3, "uneven")],
)
def test_no_maximum_is_said(counts, reason):
    with pytest.raises(ModelUnavailable, match=reason):
        PoissonInverseGaussian().fit_totals(totals_of(counts, 1000))


def test_more_occupied_cells_than_possible_ones():
    with pytest.raises(ModelUnavailable, match="n_table_cells must be at least"):
        PoissonInverseGaussian().fit_totals(totals_of(COUNTS, 6000, cells=100))
