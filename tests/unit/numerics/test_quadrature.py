"""Integrals and quantiles of log-concave densities against SciPy's normal and gamma."""

import math

import numpy as np
import pytest
from scipy import stats

from discreet.errors import InputError
from discreet.numerics.quadrature import panels_around, panels_between


@pytest.mark.parametrize("scale", [0.01, 0.7, 1.0, 40.0])
def test_normal(scale):
    """Whatever the guess of its width."""
    normal = stats.norm(3.0, 1.0)
    rule = panels_around(normal.logpdf, 3.0, scale, order=10, each_side=5)
    log_density = normal.logpdf(rule.nodes)
    assert rule.weights @ np.exp(log_density) == pytest.approx(1, rel=1e-10)
    for probability in (1e-6, 0.2, 0.5, 0.975):
        at = rule.quantile(log_density, probability)
        assert at == pytest.approx(normal.ppf(probability), abs=1e-7)
        assert rule.cumulative(log_density, at) == pytest.approx(probability, rel=1e-8)


@pytest.mark.parametrize("shape", [1.0, 1.5, 3.0])
def test_gamma_with_a_limit(shape):
    gamma = stats.gamma(shape)
    rule = panels_around(gamma.logpdf, max(shape - 1, 0.0), 1.0, low=0.0, order=12, each_side=8)
    log_density = gamma.logpdf(rule.nodes)
    assert 0 <= rule.cuts[0] < 1e-6
    assert rule.weights @ np.exp(log_density) == pytest.approx(1, rel=1e-6)
    assert rule.quantile(log_density, 0.5) == pytest.approx(gamma.median(), rel=1e-5)


def test_a_density_that_cannot_be_computed_everywhere():
    def wall(at: float) -> float:
        if at > 1:
            raise InputError("beyond")
        return -math.exp(40 * at)

    rule = panels_around(wall, -5.0, 1.0, low=-6.0, order=10, each_side=10)
    assert rule.cuts[-1] < 1
    assert wall(rule.cuts[-1]) <= -40


def test_polynomials_are_exact():
    rule = panels_between(np.array([0.0, 0.5, 2.0]), 6)
    assert rule.weights @ rule.nodes**11 == pytest.approx(2.0**12 / 12, rel=1e-13)
