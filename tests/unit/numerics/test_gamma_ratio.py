"""Ratios of gamma functions against mpmath."""

import mpmath
import numpy as np
import pytest

from discreet.numerics.gamma_ratio import log_factorial_difference, log_gamma_ratio, trigamma

PAIRS = [
    (x, d)
    for x in (1e-3, 0.5, 7.0, 15.9, 16.0, 1e3, 3e8, 1e14)
    for d in (0.0, 1e-9, 0.3, 5.0, 1e4, -0.4)
    if x + d > 0
]


@pytest.mark.parametrize(("x", "d"), PAIRS)
def test_against_mpmath(x, d):
    with mpmath.workdps(50):
        exact = mpmath.loggamma(mpmath.mpf(x) + mpmath.mpf(d)) - mpmath.loggamma(mpmath.mpf(x))
    assert float(log_gamma_ratio(x, d)) == pytest.approx(float(exact), rel=2e-14, abs=2e-13)


def test_arguments_are_broadcast():
    ratio = log_gamma_ratio(np.array([[3.0], [50.0]]), np.array([0.0, 1.0, 2.0]))
    assert ratio == pytest.approx(np.log([[1, 3, 12], [1, 50, 50 * 51]]))


def test_trigamma_against_mpmath():
    x = np.array([1e-9, 1e-3, 0.3, 1.0, 7.5, 300.0, 1e8])
    exact = [float(mpmath.polygamma(1, each)) for each in x]
    assert trigamma(x) == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("largest", [5, 40, 10**4, 10**7, 10**15])
def test_factorials_that_all_but_cancel(largest):
    above = np.random.default_rng(3).integers(0, largest, 60)
    below = above.copy()
    below[:30] += 1
    below[30:] = np.maximum(below[30:] - 1, 0)
    with mpmath.workdps(60):
        exact = mpmath.fsum(
            [mpmath.loggamma(n + 1) for n in above.tolist()]
            + [-mpmath.loggamma(n + 1) for n in below.tolist()]
        )
    assert log_factorial_difference(above, below) == pytest.approx(float(exact), abs=1e-11)


def test_no_factorials_at_all():
    none = np.zeros(0, dtype=np.int64)
    assert log_factorial_difference(none, none) == 0.0
