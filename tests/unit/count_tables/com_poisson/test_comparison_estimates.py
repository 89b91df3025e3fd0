"""Least squares and moments against direct solutions."""

import math

import numpy as np
import pytest

from discreet.count_tables.com_poisson.comparison_estimates import (
    ComparisonEstimate,
    moment_estimate,
    weighted_least_squares,
)
from discreet.count_tables.com_poisson.distribution import ComPoisson
from discreet.figures import Unavailable


def estimated(outcome) -> ComparisonEstimate:
    assert isinstance(outcome, ComparisonEstimate)
    return outcome


@pytest.mark.parametrize("full", [True, False])
def test_least_squares_recover_an_exact_line(full):
    """Counts in exact COM-Poisson proportions, up to rounding of 10¹² observations."""
    masses = ComPoisson(3.0, 1.3).mass(np.arange(9))
    table = {x: round(1e12 * mass) for x, mass in enumerate(masses)}
    got = estimated(weighted_least_squares(table, full_covariance=full))
    assert (got.rate, got.dispersion) == pytest.approx((3.0, 1.3), rel=1e-6)


def test_covariance_is_that_of_the_multinomial():
    """Standard errors against those of log-ratios in 20,000 seeded multinomial tables."""
    shares = np.array([0.3, 0.4, 0.2, 0.1])
    n = 4000
    table = dict(enumerate((n * shares).astype(int).tolist()))
    got = estimated(weighted_least_squares(table))
    rng = np.random.default_rng(4)
    found = [
        estimated(weighted_least_squares(dict(enumerate(row.tolist()))))
        for row in rng.multinomial(n, shares, 2000)
    ]
    assert got.dispersion_standard_error == pytest.approx(
        np.std([f.dispersion for f in found]), rel=0.06
    )
    assert got.log_rate_standard_error == pytest.approx(
        np.std([f.log_rate for f in found]), rel=0.06
    )


def test_gaps_in_the_table_are_left_out():
    table = {0: 40, 1: 30, 3: 8, 4: 2, 6: 1}
    got = estimated(weighted_least_squares(table))
    x = np.array([1.0, 4.0])
    y = np.log([40 / 30, 8 / 2])
    slope = (y[1] - y[0]) / (math.log(x[1]) - math.log(x[0]))
    assert got.dispersion == pytest.approx(slope)
    assert got.log_rate == pytest.approx(-y[0])


def test_least_squares_may_be_unavailable():
    assert "need three values" in weighted_least_squares({0: 3, 1: 4}).reason
    falling = weighted_least_squares({0: 900, 1: 100, 2: 90, 3: 85})
    assert isinstance(falling, Unavailable)
    assert "dispersion of -" in falling.reason


def test_moments_are_matched():
    table = {0: 10, 1: 30, 2: 25, 3: 9, 5: 1}
    values = np.repeat(list(table), list(table.values()))
    got = estimated(moment_estimate(table))
    fitted = ComPoisson.of_log_rate(got.log_rate, got.dispersion)
    assert fitted.mean == pytest.approx(values.mean(), rel=1e-9)
    assert fitted.variance == pytest.approx(values.var(), rel=1e-9)


def test_moments_may_be_unavailable():
    assert "nothing" in moment_estimate({0: 3}).reason or "zero" in moment_estimate({0: 3}).reason
    assert "the least" in moment_estimate({2: 3, 3: 4}).reason
    assert "above" in moment_estimate({0: 50, 20: 5}).reason


@pytest.mark.parametrize(
    "table",
    [{0: 8, 1: 4, 2: 2, 3: 1}, {0: 27, 1: 9, 2: 3, 3: 1}, {0: 125, 1: 25, 2: 5, 3: 1},
     {0: 250, 1: 100, 2: 40, 3: 16}],
)  # fmt: skip
@pytest.mark.parametrize("full", [True, False])
def test_counts_on_a_line_without_slope_are_geometric(table, full):
    got = estimated(weighted_least_squares(table, full_covariance=full))
    assert got.dispersion == 0.0
    assert got.rate == pytest.approx(table[1] / table[0])
    rising = dict(enumerate(reversed(table.values())))
    refused = weighted_least_squares(rising, full_covariance=full)
    assert isinstance(refused, Unavailable)
    assert "a dispersion of 0," in refused.reason


@pytest.mark.parametrize("value", [3, 1000, 4999])
@pytest.mark.parametrize("n", [3, 49, 1001])
def test_two_neighbouring_values_have_the_least_variance_exactly(value, n):
    refused = moment_estimate({value: n - 1, value + 1: 1})
    assert isinstance(refused, Unavailable)
    assert "the least" in refused.reason


@pytest.mark.parametrize("table", [{0: 16, 1: 3, 2: 1, 3: 5}, {0: 17, 2: 4, 3: 4}])
def test_a_variance_as_large_as_the_geometric_one_is_refused_exactly(table):
    """Mean 4/5 and variance 36/25 = 4/5 · 9/5."""
    refused = moment_estimate(table)
    assert isinstance(refused, Unavailable)
    assert "of geometric counts" in refused.reason


@pytest.mark.parametrize("times", [1, 10**6, 10**11, 10**12])
@pytest.mark.parametrize(
    ("shape", "is_there"),
    [([243, 81, 27, 9, 3, 1], True), ([32, 16, 8, 4, 2, 1], True), ([1, 2, 4, 8], False)],
)
def test_a_line_without_slope_is_one_however_many_counts(shape, is_there, times):
    got = weighted_least_squares({i: count * times for i, count in enumerate(shape)})
    assert isinstance(got, Unavailable) is not is_there
    if is_there:
        assert got.dispersion == 0
