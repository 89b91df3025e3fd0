"""Estimates and statistics of kadane-krishnan-shmueli, with their place in the paper."""

import math

import numpy as np
import pytest

from discreet.count_tables.com_poisson.comparison_estimates import (
    ComparisonEstimate,
    weighted_least_squares,
)
from discreet.count_tables.com_poisson.estimation import Fit, maximum_likelihood, poisson_test
from discreet.count_tables.com_poisson.goodness import Goodness, goodness_of_fit
from discreet.count_tables.notation import parse_factorisation
from discreet.count_tables.statistics import CountStatistics

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))  # Table 3
POEM = dict(enumerate([0, 7, 33, 49, 22, 6]))  # Table 5
INJURIES = dict(enumerate([5363, 3091, 1008, 348, 105, 46, 19, 9, 7, 2, 1, 1]))  # Table 7


@pytest.mark.parametrize(
    ("table", "n", "total", "factorisation", "next_prime"),
    [
        (DISASTERS, 51, 61, "2^20*3^7", 5),
        (POEM, 117, 338, "2^166*3^77*5^6", 7),
        (INJURIES, 10_000, 7073, "2^2000*3^585*5^87*7^20*11^1", 13),
    ],
)
def test_statistics_of_sections_4_1_to_4_3(table, n, total, factorisation, next_prime):
    got = CountStatistics.of_counts(table)
    assert got == CountStatistics(n, total, parse_factorisation(factorisation))
    assert got.next_prime == next_prime


@pytest.mark.parametrize(
    ("table", "rate", "dispersion", "log_likelihood"),
    [
        (DISASTERS, 1.2156, 1.0245, -71.6291),
        (POEM, 70.541, 3.5991, None),
        (INJURIES, 0.50957, 0.33032, -11501.717),
    ],
)
def test_maximum_likelihood(table, rate, dispersion, log_likelihood):
    """Not printed, but for the disasters, where the paper's figures are another estimate's."""
    fit = maximum_likelihood(CountStatistics.of_counts(table))
    assert isinstance(fit, Fit)
    assert fit.rate == pytest.approx(rate, rel=5e-5)
    assert fit.dispersion == pytest.approx(dispersion, rel=5e-5)
    if log_likelihood is not None:
        assert fit.log_likelihood == pytest.approx(log_likelihood, abs=5e-4)


def test_estimates_of_section_4_1_are_least_squares():
    """'λ = 1.15, ν = 0.88': weighted least squares with the full covariance."""
    got = weighted_least_squares(DISASTERS)
    assert isinstance(got, ComparisonEstimate)
    assert (round(got.rate, 2), round(got.dispersion, 2)) == (1.15, 0.88)
    assert (got.rate, got.dispersion) == pytest.approx((1.1469, 0.8785), abs=5e-5)


def test_disasters_are_not_over_dispersed():
    """'over-dispersed compared to an ordinary Poisson' does not hold up: p is 0.95, and ν > 1."""
    fit = maximum_likelihood(CountStatistics.of_counts(DISASTERS))
    assert isinstance(fit, Fit)
    test = poisson_test(fit)
    assert fit.dispersion > 1
    assert test.p_value > 0.9
    low, high = fit.dispersion_interval()
    assert low < 0.5
    assert high > 1.5


def test_ratio_of_successive_probabilities():
    """Eq. 3."""
    fit = maximum_likelihood(CountStatistics.of_counts(POEM))
    assert isinstance(fit, Fit)
    masses = fit.distribution.mass(np.arange(8))
    expected = [x**fit.dispersion / fit.rate for x in range(1, 8)]
    assert masses[:-1] / masses[1:] == pytest.approx(expected, rel=1e-12)


def test_likelihood_of_equation_4():
    fit = maximum_likelihood(CountStatistics.of_counts(DISASTERS))
    assert isinstance(fit, Fit)
    z = math.fsum(fit.rate**x / math.factorial(x) ** fit.dispersion for x in range(60))
    by_hand = 61 * math.log(fit.rate) - fit.dispersion * (20 * math.log(2) + 7 * math.log(3))
    assert fit.log_likelihood == pytest.approx(by_hand - 51 * math.log(z), rel=1e-12)


@pytest.mark.parametrize(("table", "badly"), [(DISASTERS, False), (POEM, False), (INJURIES, True)])
def test_fit_claimed_in_section_5(table, badly):
    """'in all three examples, the COM-Poisson well approximates': not so for the injuries.

    There 39 accidents had six injuries or more where 15 are expected (chi-square 100 on 4 degrees).
    """
    got = goodness_of_fit(table, rng=np.random.default_rng(1), draws=99)
    assert isinstance(got, Goodness)
    assert got.fits_badly == badly
    if badly:
        assert got.groups[-1].low == 6
        assert got.groups[-1].observed == 39
        assert got.groups[-1].expected == pytest.approx(14.85, abs=0.01)
