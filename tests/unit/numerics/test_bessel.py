"""Bessel functions of half order against their finite sums in many digits."""

import mpmath
import numpy as np
import pytest

from discreet.numerics.bessel import log_scaled_bessel


def exact(f, y):
    """log (y/2)^(f−½) K_(f−½)(y) / f! by the finite sum of positive terms."""
    with mpmath.workdps(40):
        y, m = mpmath.mpf(y), max(f - 1, 0)
        terms = (
            mpmath.factorial(m + k) / (mpmath.factorial(k) * mpmath.factorial(m - k) * (2 * y) ** k)
            for k in range(m + 1)
        )
        bessel = mpmath.log(mpmath.pi / (2 * y)) / 2 - y + mpmath.log(mpmath.fsum(terms))
        return float(bessel + (f - mpmath.mpf(1) / 2) * mpmath.log(y / 2) - mpmath.loggamma(f + 1))


@pytest.mark.parametrize("f", [0, 1, 2, 5, 30, 64, 65, 100, 800])
def test_against_the_finite_sum(f):
    y = np.array([1e-6, 0.1, 3.0, 60.0, 5000.0])
    expected = np.array([exact(f, each) for each in y])
    assert log_scaled_bessel(np.array([float(f)]), y)[0] == pytest.approx(
        expected, rel=1e-13, abs=2e-11
    )
    for each, value in zip(y, expected):
        alone = log_scaled_bessel(np.array([float(f)]), np.array([each]))
        assert alone[0, 0] == pytest.approx(value, rel=1e-13, abs=2e-11)


def test_rows_are_orders_and_columns_arguments():
    table = log_scaled_bessel(np.array([3.0, 70.0, 1.0]), np.array([0.5, 2.0]))
    assert table.shape == (3, 2)
    assert table[2] == pytest.approx([exact(1, 0.5), exact(1, 2.0)])
    assert table[1] == pytest.approx([exact(70, 0.5), exact(70, 2.0)])
