"""Small special functions agree with SciPy's."""

import math

import numpy as np
import pytest
from scipy import special

from discreet.count_tables.com_poisson.solving import crossing
from discreet.numerics.special import (
    chi_square_above,
    digamma,
    log_factorials,
    log_gamma,
    log_sum,
)


@pytest.mark.parametrize("x", [1e-3, 0.5, 1.0, 1.4616, 2.0, 11.9, 12.0, 150.5, 1e8])
def test_digamma(x):
    assert digamma(x) == pytest.approx(float(special.digamma(x)), rel=1e-13, abs=1e-14)


@pytest.mark.parametrize("size", [3, 3000])
def test_log_gamma_one_by_one_and_many(size):
    x = np.linspace(0.1, 500, size)
    np.testing.assert_allclose(log_gamma(x), special.gammaln(x), rtol=1e-13, atol=1e-13)
    assert log_gamma(np.zeros(1))[0] == math.inf


def test_log_factorials_of_small_and_large_counts():
    for counts in (np.array([[0, 1], [5, 3]]), np.array([0, 10**6])):
        np.testing.assert_allclose(log_factorials(counts), special.gammaln(counts + 1.0))


def test_log_sum():
    assert log_sum([-1000.0, -1001.0]) == pytest.approx(special.logsumexp([-1000.0, -1001.0]))
    assert log_sum([-math.inf]) == -math.inf


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 30])
@pytest.mark.parametrize("statistic", [0.0, 0.3, 4.0, 60.0])
def test_chi_square(degrees, statistic):
    wanted = float(special.chdtrc(degrees, statistic))
    assert chi_square_above(degrees, statistic) == pytest.approx(wanted, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("root", [1e-6, 0.3, 7.0])
def test_crossing(root):
    assert crossing(lambda x: math.expm1(3 * (x - root)), 0.0, 10.0) == pytest.approx(
        root, abs=1e-11
    )
    assert crossing(lambda x: (x - root) ** 3, 0.0, 10.0) == pytest.approx(root, abs=1e-4)
