"""E(1/F) of the urn against sums in many digits, for samples no enumeration reaches."""

import math

import mpmath
import numpy as np
import pytest
from tests.oracles.partitions import draw_sizes

from discreet.survey.models.superpopulation.partition_urn import MANY, PartitionUrn


def exact_moments(urn, f):
    """Both moments of 1/F by adding up the beta-binomial distribution."""
    with mpmath.workdps(30):
        alpha = mpmath.mpf(urn.alpha)
        a, b, M = f - alpha, mpmath.mpf(urn.theta) + urn.sample_size - f + alpha, urn.unseen
        mass = mpmath.beta(a, M + b) / mpmath.beta(a, b)
        first = second = mpmath.mpf(0)
        for x in range(M + 1):
            first += mass / (f + x)
            second += mass / (f + x) ** 2
            mass *= (M - x) * (a + x) / ((x + 1) * (M - x + b - 1))
        return float(first), float(second)


@pytest.mark.parametrize(
    ("alpha", "theta", "n", "population"),
    [
        (0.7, 3000.0, 150, 2500),
        (0.0, 20.0, 1000, 3000),
        (0.9, -0.5, 130, 2000),
        (-2.0, 40.0, 120, 2000),
        (0.3, 1.0, 121, 125),
        (0.5, 1e7, 1000, 2500),
    ],
)
def test_moments_of_the_inverse_count(alpha, theta, n, population):
    urn = PartitionUrn(alpha, theta, n, population)
    counts = np.array([1, 2, 7, 30, MANY - 1, MANY, 120])
    mean, square = urn.inverse_moments(counts.astype(float))
    exact = np.array([exact_moments(urn, int(f)) for f in counts])
    assert mean == pytest.approx(exact[:, 0], rel=1e-10)
    assert square == pytest.approx(exact[:, 1], rel=1e-10)


def test_a_census_leaves_every_cell_as_it_is():
    urn = PartitionUrn(0.3, 5.0, 40, 40)
    mean, square = urn.inverse_moments(np.array([1.0, 4.0, 200.0]))
    assert mean == pytest.approx([1, 0.25, 0.005])
    assert square == pytest.approx([1, 0.0625, 0.000025])
    assert urn.unique_probability == 1
    assert urn.uniques_variance(7) == 0


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.95, -1e-6])
def test_huge_populations_keep_their_digits(alpha):
    urn = PartitionUrn(alpha, 5000.0, 10**5, 3 * 10**8)
    with mpmath.workdps(40):
        c, n, N = 1 - mpmath.mpf(alpha), 5000 + 10**5, 5000 + 3 * 10**8
        log_q = mpmath.loggamma(N - c) - mpmath.loggamma(n - c)
        log_q -= mpmath.loggamma(N) - mpmath.loggamma(n)
        log_both = mpmath.loggamma(N - 2 * c) - mpmath.loggamma(n - 2 * c)
        log_both -= mpmath.loggamma(N) - mpmath.loggamma(n)
        q, both = mpmath.exp(log_q), mpmath.exp(log_both)
        variance = 900 * q * (1 - q) + 900 * 899 * (both - q * q)
    assert urn.unique_probability == pytest.approx(float(q), rel=1e-12)
    assert urn.uniques_variance(900) == pytest.approx(float(variance), rel=1e-11)


def test_a_unique_is_matched_at_least_as_often_as_it_is_unique():
    urn = PartitionUrn(0.5, 2000.0, 9809, 4_867_000)
    mean, square = urn.inverse_moments(np.arange(1.0, 300.0))
    assert urn.unique_probability < square[0] < mean[0] < 1
    assert (np.diff(mean) < 0).all()
    assert (square >= mean**2).all()


def test_expected_cells_hold_the_records_of_the_sample():
    for urn in (PartitionUrn(0.6, 30.0, 5000, 9000), PartitionUrn(-0.2, 60.0, 5000, 9000)):
        sizes = np.arange(1.0, 5001.0)
        assert urn.expected_cells(sizes) @ sizes == pytest.approx(5000, rel=1e-9)


def test_draws_follow_the_generator():
    urn = PartitionUrn(0.6, 30.0, 2000, 9000)
    one, two = (draw_sizes(urn, np.random.default_rng(3)) for _ in range(2))
    assert one.to_json() == two.to_json()
    assert one.sample_size == 2000
    number = np.mean([draw_sizes(urn, np.random.default_rng(k)).sample_uniques for k in range(200)])
    expected = float(urn.expected_cells(np.ones(1))[0])
    assert number == pytest.approx(expected, abs=5 * math.sqrt(3 * expected / 200))
