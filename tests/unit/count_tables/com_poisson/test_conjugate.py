"""The conjugate density against a dense grid, large samples, identities and draws."""

import math

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from discreet.count_tables.com_poisson import conjugate as module
from discreet.count_tables.com_poisson.conjugate import (
    Conjugate,
    Integrated,
    bayes_from_statistics,
    lower_limit,
)
from discreet.count_tables.com_poisson.estimation import Fit, SampleSums, maximum_likelihood
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError
from discreet.figures import Figure, Unavailable

POEM = {1: 7, 2: 33, 3: 49, 4: 22, 5: 6}
DISASTERS = {0: 15, 1: 20, 2: 9, 3: 5, 4: 2}


def brute_force(density: Conjugate, thetas, nus):
    """Sums over an even grid, which for a smooth density that vanishes at its edges are exact."""
    x = np.arange(120.0)
    terms = thetas[:, None, None] * x - nus[:, None] * gammaln(x + 1)
    log_density = (
        density.a * thetas[:, None] - density.b * nus - density.c * logsumexp(terms, axis=2)
    )
    cell = (thetas[1] - thetas[0]) * (nus[1] - nus[0])
    weight = np.exp(log_density - log_density.max())
    return math.log(weight.sum() * cell) + log_density.max(), weight / weight.sum()


@pytest.fixture(scope="module")
def poem():
    density = Conjugate(2.0, 1.5, 1.0).updated(CountStatistics.of_counts(POEM))
    thetas, nus = np.linspace(-1, 11, 301), np.linspace(0.3, 8.3, 301)
    return density.integrated(), thetas, nus, brute_force(density, thetas, nus)


def value(figure) -> float:
    assert isinstance(figure, Figure)
    assert figure.value is not None
    return figure.value


def test_integral_and_means(poem):
    found, thetas, nus, (log_integral, weight) = poem
    assert found.log_integral == pytest.approx(log_integral, abs=1e-7)
    assert found.error < 1e-7
    dispersion, rate = weight.sum(axis=0), weight.sum(axis=1)
    mean = dispersion @ nus
    assert value(found.dispersion_mean) == pytest.approx(mean, rel=1e-7)
    deviation = math.sqrt(dispersion @ (nus - mean) ** 2)
    assert value(found.dispersion_deviation) == pytest.approx(deviation, rel=1e-6)
    first, second = rate @ np.exp(thetas), rate @ np.exp(2 * thetas)
    assert value(found.rate_mean) == pytest.approx(first, rel=1e-6)
    assert value(found.rate_deviation) == pytest.approx(math.sqrt(second - first**2), rel=1e-5)


@pytest.mark.parametrize("probability", [0.025, 0.5, 0.975])
def test_quantiles(poem, probability):
    """Between grid points the distribution function is a cubic spline of the grid's sums."""
    from scipy.interpolate import CubicSpline

    found, thetas, nus, (_, weight) = poem
    for axis, grid, got in (
        (0, nus, found.dispersion_quantile(probability)),
        (1, thetas, math.log(found.rate_quantile(probability))),
    ):
        marginal = CubicSpline(grid, weight.sum(axis=axis) / (grid[1] - grid[0]))
        assert marginal.integrate(grid[0], got) == pytest.approx(probability, abs=1e-6)


def test_predictive_is_a_ratio_of_integrals(poem):
    """P(x) = κ(a, b, c) / κ(a + x, b + log x!, c + 1)."""
    found = poem[0]
    got = found.predictive(np.arange(60))
    assert got.sum() == pytest.approx(1, rel=1e-8)
    for x in (0, 3, 6):
        after = found.density.updated(SampleSums(1, x, math.lgamma(x + 1))).integrated()
        assert got[x] == pytest.approx(math.exp(after.log_integral - found.log_integral), rel=1e-7)
    assert found.predictive(3).shape == ()


def test_large_samples_agree_with_maximum_likelihood():
    table = {x: 4000 * count for x, count in DISASTERS.items()}
    statistics = CountStatistics.of_counts(table)
    fit = maximum_likelihood(statistics)
    assert isinstance(fit, Fit)
    found = Conjugate(1.0, 1.0, 1.0).updated(statistics).integrated()
    assert value(found.dispersion_mean) == pytest.approx(fit.dispersion, abs=1e-3)
    assert value(found.dispersion_deviation) == pytest.approx(
        fit.dispersion_standard_error, rel=1e-3
    )
    assert value(found.rate_mean) == pytest.approx(fit.rate, abs=1e-3)
    assert value(found.rate_deviation) == pytest.approx(fit.rate_standard_error, rel=1e-2)


def test_posterior_on_the_boundary():
    """Counts more dispersed than geometric: all of the posterior is next to dispersion 0."""
    found = (
        Conjugate(1.0, 1.0, 1.0)
        .updated(CountStatistics.of_counts({0: 200, 1: 4, 20: 9}))
        .integrated()
    )
    assert found.density.mode.at_boundary
    assert 0 < value(found.dispersion_mean) < 0.05
    assert found.predictive(np.arange(2000)).sum() == pytest.approx(1, rel=1e-6)


def test_update_adds_the_statistics():
    statistics = CountStatistics.of_counts(DISASTERS)
    after = Conjugate(1.0, 1.0, 1.0).updated(statistics)
    assert (after.a, after.c) == (62, 52)
    assert after.b == pytest.approx(1 + 20 * math.log(2) + 7 * math.log(3))


def test_condition_for_a_density():
    """b must lie above the polygon through (x, log x!): at a/c = 2.5 the chord of 2 and 3."""
    assert lower_limit(5.0, 2.0) == pytest.approx(2 * (math.log(2) + math.log(6)) / 2)
    assert lower_limit(0.5, 1.0) == 0
    Conjugate(5.0, lower_limit(5.0, 2.0) + 1e-6, 2.0)
    with pytest.raises(
        InputError, match="b must be above 2.48491 for the density with a = 5, c = 2"
    ):
        Conjugate(5.0, lower_limit(5.0, 2.0), 2.0)
    with pytest.raises(InputError, match="a must be a finite number above zero"):
        Conjugate(0.0, 1.0, 1.0)
    with pytest.raises(InputError, match="c must be a finite number above zero"):
        Conjugate(1.0, 1.0, -1.0)


def test_infinite_moments_are_told():
    """λ has a mean only if (a + 1, b, c) is a density too."""
    found = Conjugate(20.0, 7.5, 10.0).integrated()
    assert lower_limit(21.0, 10.0) > 7.5
    assert isinstance(found.rate_mean, Unavailable)
    assert isinstance(found.rate_deviation, Unavailable)


def test_refuses(poem):
    with pytest.raises(InputError, match="probability must be between 0 and 1"):
        poem[0].rate_quantile(0.0)
    with pytest.raises(InputError, match="probability must be between 0 and 1"):
        poem[0].dispersion_quantile(1.0)
    with pytest.raises(InputError, match="values must be whole numbers of zero or more"):
        poem[0].predictive([0.5])


def test_one_call_from_released_statistics():
    """Flat in log rate and dispersion, on a grid that is cut at dispersion 0 (midpoints)."""
    statistics = CountStatistics.of_counts(DISASTERS)
    found = bayes_from_statistics(statistics, values=[0, 1, 2])
    step = 5.0 / 400
    thetas, nus = np.linspace(-1.5, 3.0, 361), step * (np.arange(400) + 0.5)
    posterior = Conjugate(61, statistics.log_factorial_total, 51)
    assert found.posterior == posterior
    _, weight = brute_force(posterior, thetas, nus)
    over_nu, over_theta = weight.sum(axis=0), weight.sum(axis=1)
    assert value(found.dispersion_mean) == pytest.approx(over_nu @ nus, rel=1e-3)
    assert value(found.rate_mean) == pytest.approx(over_theta @ np.exp(thetas), rel=1e-3)
    assert found.less_dispersed == pytest.approx(over_nu[nus > 1].sum(), abs=2e-3)
    below = np.cumsum(over_theta)
    for p, quantile in zip(found.probabilities, found.rate_quantiles, strict=True):
        assert np.interp(math.log(quantile), thetas + 0.5 * (thetas[1] - thetas[0]), below) == (
            pytest.approx(p, abs=2e-3)
        )
    sums = [math.exp(t) for t in thetas]
    assert found.predictive[0][0] == 0
    x = np.arange(120.0)
    z = np.exp(np.log(sums)[:, None, None] * x - nus[:, None] * gammaln(x + 1)).sum(axis=2)
    assert found.predictive[0][1] == pytest.approx(float((weight / z).sum()), rel=1e-3)
    assert "flat" in found.prior_words


def test_one_call_without_an_integral_says_so():
    two_values = CountStatistics.of_counts({0: 3, 1: 4})
    assert "no integral without a prior" in bayes_from_statistics(two_values).reason
    with pytest.raises(InputError, match="probability must be between 0 and 1"):
        bayes_from_statistics(two_values, probabilities=(1.5,))


NEIGHBOURS = [{1: 5, 2: 3}, {3: 7, 4: 1}, {2: 9}, {10: 3, 11: 8}, {7: 2, 8: 2}, {5: 1, 6: 30}]


@pytest.mark.parametrize("bits", [-3, -1, 0, 1, 3])
@pytest.mark.parametrize("table", NEIGHBOURS)
def test_rounding_gives_no_density_to_neighbouring_values(table, bits):
    one = CountStatistics.of_counts(table)
    sums = SampleSums(one.n, one.total, one.log_factorial_total * (1 + bits * 2**-52))
    found = bayes_from_statistics(sums)
    assert isinstance(found, Unavailable)
    assert "no integral without a prior" in found.reason


@pytest.mark.parametrize("bits", [-3, -1, 1, 3])
def test_rounding_makes_no_infinite_mean_finite(monkeypatch, bits):
    """Observations 0 and 2: their S2 = log 2 is the least of two observations with total 3."""
    density = Conjugate(2.0, math.log(2) * (1 + bits * 2**-52), 2.0)
    monkeypatch.setattr(module, "_raised", lambda *_: pytest.fail("taken as finite"))
    found = Integrated(density, None, 0.0, None)
    assert isinstance(found.rate_mean, Unavailable)


@pytest.mark.parametrize("counts", [{0: 10**9, 2: 1}, {1: 10**9, 3: 1}])
def test_one_count_apart_among_very_many_alike_is_no_rounding(counts):
    sums = CountStatistics.of_counts(counts)
    density = Conjugate(sums.total, sums.log_factorial_total, sums.n)
    assert density.b > 0
