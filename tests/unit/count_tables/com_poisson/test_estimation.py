"""Maximum likelihood against its own equations, a general optimiser, closed forms and coverage."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import gammaln

from discreet.count_tables.com_poisson.distribution import ComPoisson
from discreet.count_tables.com_poisson.estimation import (
    GEOMETRIC_EXCESS,
    Fit,
    NoMaximum,
    SampleSums,
    maximum_likelihood,
    maximum_likelihood_from,
    poisson_test,
)
from discreet.count_tables.com_poisson.normaliser import moments
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError

DISASTERS = {0: 15, 1: 20, 2: 9, 3: 5, 4: 2}
tables = st.dictionaries(st.integers(0, 25), st.integers(1, 40), min_size=2, max_size=9)


def fit_of(table) -> Fit:
    outcome = maximum_likelihood(CountStatistics.of_counts(table))
    assert isinstance(outcome, Fit)
    return outcome


@settings(max_examples=60)
@given(tables)
def test_the_equations_hold(table):
    outcome = maximum_likelihood(CountStatistics.of_counts(table))
    spread = max(table) - min(table)
    assert isinstance(outcome, NoMaximum) == (spread == 1)
    if isinstance(outcome, NoMaximum):
        return
    found = moments(outcome.log_rate, outcome.dispersion)
    assert found.mean == pytest.approx(outcome.sums.mean, rel=1e-9)
    if outcome.at_boundary:
        assert outcome.dispersion == 0
        assert found.log_factorial_mean <= outcome.sums.log_factorial_mean * (1 + 1e-12)
    else:
        assert found.log_factorial_mean == pytest.approx(outcome.sums.log_factorial_mean, rel=1e-8)


def test_against_a_general_optimiser():
    table = {0: 3, 1: 9, 2: 20, 3: 11, 4: 2, 6: 1}
    x, counts = np.array(list(table)), np.array(list(table.values()))
    values = np.arange(200)

    def loss(at):
        log_z = np.logaddexp.reduce(values * at[0] - at[1] * gammaln(values + 1))
        return -(counts @ (x * at[0] - at[1] * gammaln(x + 1) - log_z))

    found = minimize(
        loss, [0.5, 1.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    fit = fit_of(table)
    assert (fit.log_rate, fit.dispersion) == pytest.approx(tuple(found.x), abs=1e-6)
    assert fit.log_likelihood == pytest.approx(-found.fun, rel=1e-12)
    masses = fit.distribution.log_mass(x)
    assert fit.log_likelihood == pytest.approx(float(counts @ masses), rel=1e-12)


def test_standard_errors_are_the_inverse_hessian():
    fit, h = fit_of(DISASTERS), 1e-4

    def log_likelihood(a, b):
        return fit.sums.log_likelihood(fit.log_rate + a, fit.dispersion + b)

    middle = log_likelihood(0, 0)
    tt = (log_likelihood(h, 0) - 2 * middle + log_likelihood(-h, 0)) / h**2
    nn = (log_likelihood(0, h) - 2 * middle + log_likelihood(0, -h)) / h**2
    corners = log_likelihood(h, h) + log_likelihood(-h, -h)
    tn = (corners - log_likelihood(h, -h) - log_likelihood(-h, h)) / (4 * h**2)
    inverse = np.linalg.inv(-np.array([[tt, tn], [tn, nn]]))
    assert fit.covariance == pytest.approx((inverse[0, 0], inverse[0, 1], inverse[1, 1]), rel=1e-4)
    assert fit.rate_standard_error == pytest.approx(fit.rate * math.sqrt(inverse[0, 0]), rel=1e-4)
    assert fit.dispersion_standard_error == pytest.approx(math.sqrt(inverse[1, 1]), rel=1e-4)


def test_large_and_narrow_counts():
    """Values about 1000 with variance 9/16: λ beyond every float, ν about μ/variance."""
    fit = fit_of({999: 4, 1000: 5, 1001: 7})
    assert fit.distribution.mean == pytest.approx(16003 / 16, rel=1e-12)
    assert fit.distribution.variance == pytest.approx(0.65, rel=0.03)
    assert fit.dispersion > 1000
    with pytest.raises(InputError, match="log_rate must be at most 709 to give a rate"):
        _ = fit.rate


@pytest.mark.parametrize(
    "table",
    [
        {12: 48352, 22: 3},
        {1: 29604, 3: 8, 4: 4},
        {2: 99772, 1: 63, 0: 17},
        {27: 2, 68: 45316},
        {0: 11, 1: 4073, 2: 3},
        {5: 68107, 2: 3},
        {38: 13295, 135: 1009, 217: 5, 185: 86594},
    ],
)
def test_one_value_with_a_few_others(table):
    """From too narrow a start Newton's method once stopped at a point of no information."""
    fit = fit_of(table)
    found = moments(fit.log_rate, fit.dispersion)
    assert found.mean == pytest.approx(fit.sums.mean, rel=1e-10)
    assert found.log_factorial_mean == pytest.approx(fit.sums.log_factorial_mean, rel=1e-9)


def test_counts_in_the_hundred_thousands():
    rng = np.random.default_rng(5)
    drawn = rng.poisson(200_000, 50)
    fit = maximum_likelihood_from(50, int(drawn.sum()), float(gammaln(drawn + 1.0).sum()))
    assert isinstance(fit, Fit)
    assert fit.distribution.mean == pytest.approx(drawn.mean(), rel=1e-10)
    assert fit.distribution.variance == pytest.approx(drawn.var(), rel=1e-3)


@pytest.mark.parametrize(
    ("table", "reason", "limit"),
    [
        ({0: 5, 1: 3}, "all observations are 0 or 1", 5 * math.log(5 / 8) + 3 * math.log(3 / 8)),
        ({3: 5}, "all observations are 3,", 0.0),
        ({1: 9}, "all observations are 1,", 0.0),
        ({3: 1, 4: 1}, "all observations are 3 or 4", 2 * math.log(0.5)),
    ],
)
def test_no_maximum(table, reason, limit):
    outcome = maximum_likelihood(CountStatistics.of_counts(table))
    assert isinstance(outcome, NoMaximum)
    assert reason in outcome.reason
    assert outcome.log_likelihood_limit == pytest.approx(limit)
    sums = outcome.sums
    again = maximum_likelihood_from(round(sums.n), round(sums.total), sums.log_factorial_total)
    assert again == outcome
    # the limit is approached from below as the dispersion grows
    low = min(table)
    share = table.get(low + 1, 0) / sums.n
    if 0 < share < 1:
        log_rate = 60 * math.log(low + 1) + math.log(share / (1 - share))
        near = sums.log_likelihood(log_rate, 60.0)
        assert near <= limit
        assert near == pytest.approx(limit, abs=1e-3)


def test_all_zero_has_no_maximum():
    outcome = maximum_likelihood_from(4, 0, 0.0)
    assert isinstance(outcome, NoMaximum)
    assert "all observations are zero" in outcome.reason
    assert poisson_test(outcome).p_value == 1


@pytest.mark.parametrize("mean", [10.0**k for k in range(-9, 9)])
def test_where_the_boundary_is_looked_for(mean):
    """At ν = 0 log X! exceeds log Γ(mean + 1) by more than the share of the mean that is assumed."""
    found = moments(math.log(mean / (1 + mean)), 0.0)
    excess = found.log_factorial_mean - math.lgamma(found.mean + 1)
    assert excess > GEOMETRIC_EXCESS * found.mean * (1 + 1e-9)


def test_boundary_is_the_geometric_fit():
    fit = fit_of({0: 50, 1: 1, 20: 5})
    mean = 101 / 56
    assert fit.at_boundary
    assert fit.dispersion == 0
    assert fit.rate == pytest.approx(mean / (1 + mean), rel=1e-12)
    exact = 101 * math.log(mean / (1 + mean)) - 56 * math.log(1 + mean)
    assert fit.log_likelihood == pytest.approx(exact, rel=1e-12)
    assert fit.dispersion_standard_error is None
    assert fit.log_rate_standard_error == pytest.approx(1 / math.sqrt(56 * mean * (1 + mean)))
    low, high = fit.dispersion_interval()
    assert low == 0
    assert high > 0


@pytest.mark.parametrize("table", [DISASTERS, {0: 90, 1: 30, 2: 12, 3: 5, 5: 2}])
def test_profile_intervals_end_where_the_likelihood_has_dropped(table):
    fit = fit_of(table)
    drop = 1.920729410347062  # half the 0.95 quantile of chi-square with one degree
    grid = np.linspace(-8, 8, 3201)
    low, high = fit.dispersion_interval()
    for end in (low, high):
        if end > 0:
            best = max(fit.sums.log_likelihood(t, end) for t in fit.log_rate + grid / 4)
            assert fit.log_likelihood - best == pytest.approx(drop, abs=1e-4)


def test_intervals_cover():
    """Seeded: 200 samples of 150 from a known distribution; 95 % intervals, error 1.5 %."""
    truth, rng = ComPoisson(3.0, 1.4), np.random.default_rng(11)
    covered = {"profile": 0, "wald": 0}
    for _ in range(200):
        counts = np.bincount(truth.draw(150, rng=rng))
        fit = fit_of(dict(enumerate(counts.tolist())))
        low, high = fit.dispersion_interval()
        covered["profile"] += low <= 1.4 <= high
        reach = 1.959963984540054 * fit.dispersion_standard_error
        covered["wald"] += abs(fit.dispersion - 1.4) <= reach
    assert all(179 <= times <= 199 for times in covered.values()), covered


def test_poisson_test():
    wide = poisson_test(fit_of({0: 60, 1: 20, 2: 10, 3: 6, 5: 4}))
    assert wide.p_value < 0.05
    assert wide.sentence.startswith("The counts are over-dispersed against Poisson")
    narrow = poisson_test(fit_of({3: 40, 4: 50, 5: 40, 6: 2}))
    assert narrow.sentence.startswith("The counts are under-dispersed against Poisson")
    assert "do not contradict Poisson" in poisson_test(fit_of(DISASTERS)).sentence
    outcome = maximum_likelihood(CountStatistics.of_counts({3: 50, 4: 50}))
    assert poisson_test(outcome).sentence.startswith("The counts are under-dispersed")


def test_poisson_test_has_its_size():
    """Seeded: of 300 Poisson samples about 5 % are rejected at 5 %."""
    rng = np.random.default_rng(2)
    rejected = 0
    for _ in range(300):
        counts = np.bincount(rng.poisson(2.5, 120))
        rejected += poisson_test(fit_of(dict(enumerate(counts.tolist())))).p_value < 0.05
    assert 5 <= rejected <= 28


@pytest.mark.parametrize(
    ("n", "total", "s2", "message"),
    [
        (0, 3, 1.0, "n must be at least 1"),
        (3, -3, 1.0, "total must be zero or more"),
        (
            51,
            61,
            1e-3,
            "S2 must be from 6.93147 to 192.739 for n = 51 and a total of 61, got 0.001",
        ),
        (51, 61, 500.0, "S2 must be from"),
        (51, 61, math.nan, "S2 must be from"),
    ],
)
def test_refuses(n, total, s2, message):
    with pytest.raises(InputError, match=message):
        maximum_likelihood_from(n, total, s2)


def test_confidence_is_checked():
    with pytest.raises(InputError, match="confidence must be between 0 and 1, got 95"):
        fit_of(DISASTERS).dispersion_interval(95)


def test_sums():
    sums = SampleSums(4, 8, 3.0)
    assert (sums.mean, sums.log_factorial_mean) == (2, 0.75)
