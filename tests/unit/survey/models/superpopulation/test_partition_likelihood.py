"""Derivatives of the partition's likelihood, and its size for large samples."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

from discreet.data.summary import SizeIndices
from discreet.survey.models.superpopulation.partition_likelihood import (
    LogUniqueProbability,
    PartitionLikelihood,
    along_dirichlet,
    along_ewens,
    along_pitman,
)
from discreet.survey.models.superpopulation.size_index_fit import numerical

INDICES = SizeIndices(np.array([1, 2, 3, 17, 400]), np.array([900, 120, 40, 6, 2]))
SURFACES = [PartitionLikelihood.of(INDICES), LogUniqueProbability.of(2166, 40_000)]


def agrees(chart, surface, point):
    exact = chart(surface, np.array(point))
    by_difference = numerical(lambda p: chart(surface, p).value)(np.array(point))
    scale = max(1.0, abs(exact.value))
    assert exact.gradient == pytest.approx(by_difference.gradient, rel=3e-4, abs=1e-8 * scale)
    assert exact.curvature == pytest.approx(by_difference.curvature, rel=1e-3, abs=1e-6 * scale)


@pytest.mark.parametrize("surface", SURFACES)
def test_derivatives_by_differences(surface):
    agrees(along_ewens, surface, [6.0])
    agrees(along_pitman, surface, [0.4, 5.0])
    agrees(along_pitman, surface, [0.9, -1.0])
    agrees(along_dirichlet, surface, [-2.0, 8.0])


def test_the_value_is_that_of_gamma_functions():
    alpha, theta = 0.45, 210.0
    n, u = INDICES.sample_size, INDICES.n_cells
    value = u * math.log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha)
    value += gammaln(theta) - gammaln(theta + n)
    value += INDICES.cells @ (gammaln(INDICES.sizes - alpha) - gammaln(1 - alpha))
    assert SURFACES[0](alpha, theta).value == pytest.approx(value, rel=1e-12)


def test_no_jump_where_pitman_becomes_ewens():
    at, near = SURFACES[0](0.0, 300.0), SURFACES[0](1e-9, 300.0)
    assert near.value == pytest.approx(at.value + 1e-9 * at.alpha, rel=1e-13)


def test_ewens_unique_probability_is_a_closed_form():
    for theta in (1e-3, 77.0, 1e12):
        value = SURFACES[1](0.0, theta).value
        assert math.exp(value) == pytest.approx((theta + 2165) / (theta + 39_999), rel=1e-12)
