"""log Z and moments against fifty-digit sums, closed forms and published expansions."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.count_tables.com_poisson.normaliser import (
    log_normaliser,
    log_normalisers,
    moments,
    range_sum,
)
from discreet.count_tables.com_poisson.terms import terms_of
from discreet.errors import InputError

SMALL = [(1e-300, 2), (1e-30, 0.7), (1e-10, 0), (0.5, 0), (0.99, 0), (0.9, 1e15), (0.7, 0.2)]
NEAR_ONE = [(0.995, 1e-5), (1.0, 0.01), (1.0, 1e-3), (1.01, 2e-3), (0.996, 1e-4), (1.0, 4e-4)]
MIDDLE = [(1.2, 1), (70.54, 3.6), (0.50957, 0.33), (2, 0.1), (5, 0.3), (30, 1), (4, 1e6)]
LARGE = [(1e20, 100), (1e280, 1000), (1e300, 100), (5e307, 80), (1e10, 3), (2, 0.09), (3, 0.15)]
NAMES = ("log_normaliser", "mean", "log_factorial_mean", "variance", "covariance")
NAMES += ("log_factorial_variance",)


def exact_moments(rate: float, dispersion: float) -> dict[str, float]:
    """Term by term from the largest, until terms are 1e-35 of it, with fifty digits."""
    with mp.workdps(50):
        theta, nu = mp.log(mp.mpf(rate)), mp.mpf(dispersion)
        mode = mp.floor(mp.e ** (theta / nu)) if rate > 1 else mp.mpf(0)
        sums = [mp.mpf(0)] * 6

        def add(k, factorial, log_term):
            row = (1, k, factorial, k * k, k * factorial, factorial * factorial)
            term = mp.exp(log_term)
            for place, weight in enumerate(row):
                sums[place] += weight * term

        for direction in (1, -1):
            k = factorial = log_term = mp.mpf(0)
            while (log_term > -80 or abs(k) < 6) and mode + k + direction >= 0:
                log = mp.log(mode + k + (direction > 0))
                k += direction
                factorial += direction * log
                log_term += direction * (theta - nu * log)
                add(k, factorial, log_term)
        k, f, kk, kf, ff = (s / (1 + sums[0]) for s in sums[1:])
        log_z = mp.log1p(sums[0]) + mode * theta - nu * mp.loggamma(mode + 1)
        values = (log_z, mode + k, mp.loggamma(mode + 1) + f, kk - k * k, kf - k * f, ff - f * f)
        return dict(zip(NAMES, map(float, values)))


@pytest.mark.parametrize(("rate", "dispersion"), SMALL + NEAR_ONE + MIDDLE + LARGE)
def test_against_long_sums(rate, dispersion):
    got, exact = moments(math.log(rate), dispersion, rate=rate), exact_moments(rate, dispersion)
    for name in NAMES:
        assert getattr(got, name) == pytest.approx(exact[name], rel=2e-12, abs=1e-305), name


@settings(max_examples=40)
@given(st.floats(-3, 3), st.floats(0.3, 6))
def test_anywhere_in_the_middle(log_rate, dispersion):
    got, exact = moments(log_rate, dispersion), exact_moments(math.exp(log_rate), dispersion)
    for name in NAMES:
        assert getattr(got, name) == pytest.approx(exact[name], rel=1e-11), name


@pytest.mark.parametrize("mean", [1e-5, 0.3, 7.0, 300.0, 1e5, 1e9, 1e14, 1e30])
def test_poisson(mean):
    got = moments(math.log(mean), 1.0, rate=mean)
    assert got.log_normaliser == pytest.approx(mean, rel=1e-13)
    assert got.mean == pytest.approx(mean, rel=1e-13)
    assert got.variance == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("rate", [1e-12, 0.3, 0.99, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12])
def test_geometric(rate):
    got = moments(math.log(rate), 0.0)
    assert got.log_normaliser == pytest.approx(-math.log1p(-rate), rel=1e-11)
    # log λ near 0 is a float with fewer digits of 1 − λ, hence by 1 − λ = −expm1(log λ)
    odds = -math.exp(math.log(rate)) / math.expm1(math.log(rate))
    assert got.mean == pytest.approx(odds, rel=1e-12)
    assert got.variance == pytest.approx(odds * (1 + odds), rel=1e-11)


@pytest.mark.parametrize("rate", [1e-9, 0.4, 1.0, 3.0, 1e6])
def test_bernoulli_limit(rate):
    got = moments(math.log(rate), 4000.0)
    assert got.log_normaliser == pytest.approx(math.log1p(rate), rel=1e-13)
    assert got.mean == pytest.approx(rate / (1 + rate), rel=1e-13)
    assert got.variance == pytest.approx(rate / (1 + rate) ** 2, rel=1e-12)


@pytest.mark.parametrize(
    ("log_rate", "dispersion"),
    [
        (20.0, 0.9),
        (math.log(1.5), 2.1e-3),
        (600.0, 30.0),
        (0.01, 2e-4),
        (3000.0, 300.0),
        (40.0, 0.21),
    ],
)
def test_expansion_for_large_counts(log_rate, dispersion):
    """Gaunt, Iyengar, Olde Daalhuis and Simsek (2019), four terms in 1/(νμ)."""
    with mp.workdps(60):
        nu = mp.mpf(dispersion)
        mu = mp.e ** (mp.mpf(log_rate) / nu)
        square = nu * nu
        correction = 1 + (square - 1) / 24 / (nu * mu)
        correction += (square - 1) * (square + 23) / 1152 / (nu * mu) ** 2
        leading = nu * mu - (nu - 1) / (2 * nu) * log_rate
        leading -= (nu - 1) / 2 * mp.log(2 * mp.pi) + mp.log(nu) / 2
        exact = leading + mp.log(correction)
    assert log_normaliser(log_rate, dispersion) == pytest.approx(float(exact), rel=1e-12)
    got = moments(log_rate, dispersion)
    mean = mu + 1 / (2 * nu) - mp.mpf(1) / 2 - (square - 1) / 24 / (nu * nu * mu)
    assert got.mean == pytest.approx(float(mean), rel=1e-11)
    assert got.variance == pytest.approx(float(mu / nu + (square - 1) / 24 / nu**3 / mu), rel=1e-9)


def test_reduced_covariance_keeps_its_digits():
    """For Poisson(μ) and large μ, X log μ − log X! has variance near 1/2, not lost in 1e13."""
    var, cov, residual = moments(math.log(1e12), 1.0, rate=1e12).reduced
    assert (var, cov, residual) == pytest.approx((1e12, -0.5, 0.5), rel=1e-9)


@pytest.mark.parametrize(("rate", "dispersion"), [(0.9999, 1e-7), (1.01, 1e-3), (2.0, 0.08)])
def test_both_ways_of_adding_agree(rate, dispersion, monkeypatch):
    smooth = moments(math.log(rate), dispersion)
    monkeypatch.setattr("discreet.count_tables.com_poisson.normaliser.DIRECT_TERMS", 10_000_000)
    direct = moments(math.log(rate), dispersion)
    for name in NAMES:
        assert getattr(smooth, name) == pytest.approx(getattr(direct, name), rel=1e-11), name


def test_parts_of_the_range_add_up():
    terms = terms_of(math.log(1.0099), 1e-3)
    whole = range_sum(terms, 0.0, math.inf).log_total
    for cut in (0, 5, 40, 3000, 15_000, 30_000, 60_000):
        low, high = range_sum(terms, 0.0, float(cut)), range_sum(terms, cut + 1.0, math.inf)
        assert np.logaddexp(low.log_total, high.log_total) == pytest.approx(whole, abs=1e-12)


def test_mode_between_two_whole_numbers_with_a_large_dispersion():
    """ν = 10⁵ and μ = 2.5: only 2 matters, though the series' smooth peak lies e^5000 above."""
    got = moments(1e5 * math.log(2.5), 1e5)
    assert got.mean == pytest.approx(2, rel=1e-12)
    exact = 2 * 1e5 * math.log(2.5) - 1e5 * math.log(2)
    assert got.log_normaliser == pytest.approx(exact, rel=1e-12)


def test_ends_of_a_range_of_huge_counts_are_kept():
    """P(X > x) − P(X > x + 1) is P(X = x + 1), eight deviations above a mean of 10¹¹."""
    terms = terms_of(math.log(1e11), 1.0, rate=1e11)
    value = 1e11 + 8 * math.sqrt(1e11) // 1
    above, next_above = (range_sum(terms, value + k, math.inf).log_total for k in (0, 1))
    log_term = float(terms.log_term(terms.offset(np.array(value))))
    assert above + math.log(-math.expm1(next_above - above)) == pytest.approx(log_term, abs=1e-6)


def test_truncation_is_a_bound():
    terms = terms_of(math.log(3.0), 0.7)
    rest = range_sum(terms, 40.0, math.inf)
    exact = sum(3.0**x / math.factorial(x) ** 0.7 for x in range(40, 150))
    assert math.exp(rest.log_total + terms.log_reference) == pytest.approx(exact, rel=1e-12)
    assert 0 <= rest.truncation < 1e-15
    assert rest.error < 1e-11


def test_many_rates_at_once():
    rates = np.linspace(-8, 2.5, 40)
    for dispersion in (0.4, 1.0, 7.0):
        expected = [log_normaliser(float(theta), dispersion) for theta in rates]
        assert log_normalisers(rates, np.full(40, dispersion)) == pytest.approx(expected, rel=1e-11)
    large = np.array([0.1, 12.0])
    assert log_normalisers(large, np.ones(2)) == pytest.approx(np.exp(large), rel=1e-12)


def test_refuses_where_ten_digits_cannot_be_had(monkeypatch):
    monkeypatch.setattr("discreet.count_tables.com_poisson.normaliser.PANELS", 1)
    monkeypatch.setattr("discreet.count_tables.com_poisson.normaliser.TOLERANCE", 1e-14)
    with pytest.raises(
        InputError, match="log_rate and dispersion must be such that sums reach ten"
    ):
        moments(math.log(1e8), 1.0)


def test_refuses_counts_beyond_reason():
    with pytest.raises(InputError, match="about 5e.201 counts matter"):
        moments(-1e-200, 0.0)
