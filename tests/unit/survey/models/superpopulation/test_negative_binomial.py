"""The slide negative binomial model against sums over its own population distribution."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, nbinom, poisson

from discreet.data.summary import SizeIndices
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.negative_binomial import (
    NegativeBinomial,
    SlideDistribution,
    SlideFamily,
)

COUNTS = [1] * 300 + [2] * 60 + [3] * 25 + [4] * 12 + [6] * 7 + [11] * 3


def totals_of(counts, population):
    return Totals(
        size_indices=SizeIndices.of_counts(np.array(counts)),
        population_size=population,
        n_table_cells=10**6,
    )


def joint(distribution, f):
    """P(F = h and f) for h = 1, 2, …, by the definition of the model."""
    h = np.arange(1, 4000)
    p = distribution.shape / (distribution.shape + distribution.excess)
    return h, nbinom.pmf(h - 1, distribution.shape, p) * binom.pmf(f, h, distribution.fraction)


DISTRIBUTIONS = [
    SlideDistribution(0.4, 6.0, totals_of(COUNTS, 6000)),
    SlideDistribution(0.02, 3.0, totals_of(COUNTS, 1200)),
    SlideDistribution(30.0, 0.5, totals_of(COUNTS, 20_000)),
]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_everything_given_a_sample_count(distribution):
    counts = np.array([1.0, 2.0, 5.0, 40.0])
    mean, square = distribution.inverse_moments(counts)
    for i, f in enumerate(counts):
        h, chance = joint(distribution, f)
        total = chance.sum()
        assert math.exp(distribution.log_probability(np.array([f]))[0]) == pytest.approx(
            total, rel=1e-8
        )
        assert mean[i] == pytest.approx((chance / h).sum() / total, rel=1e-8)
        assert square[i] == pytest.approx((chance / h**2).sum() / total, rel=1e-8)
        if f == 1:
            assert distribution.unique_probability == pytest.approx(chance[0] / total, rel=1e-8)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_moments_of_the_sample_count(distribution):
    sizes = np.arange(1.0, 5000.0)
    expected = distribution.expected_cells(sizes)
    assert expected @ sizes == pytest.approx(distribution.totals.sample_size, rel=1e-8)
    assert expected.sum() == pytest.approx(distribution.cells * distribution.occupied, rel=1e-8)
    assert expected @ sizes**2 == pytest.approx(
        distribution.cells * distribution.second_moment, rel=1e-8
    )


def test_the_fit_is_the_maximum_of_the_poisson_likelihood_of_the_size_indices():
    totals = totals_of(COUNTS, 6000)
    sizes, cells = totals.size_indices.sizes, totals.size_indices.cells

    def loss(point):
        distribution = SlideFamily(totals).distribution(point)
        every = np.arange(1.0, 400.0)
        observed = np.zeros(len(every))
        observed[sizes - 1] = cells
        return -poisson.logpmf(observed, distribution.expected_cells(every)).sum()

    best = minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9})
    fit = NegativeBinomial().fit_totals(totals)
    found = np.log([fit.distribution.shape, fit.distribution.excess])  # type: ignore[attr-defined]
    assert found == pytest.approx(best.x, abs=1e-3)


def test_limits_hold_the_estimate():
    figure = NegativeBinomial().fit_totals(totals_of(COUNTS, 6000)).uniques_figure()
    assert 0 < figure.low < figure.value < figure.high < 300


@pytest.mark.parametrize(
    ("counts", "reason"),
    [([1] * 30, "every record"), ([30], "one cell"), ([3] * 40 + [2] * 3 + [4] * 3, "uneven")],
)
def test_no_maximum_is_said(counts, reason):
    with pytest.raises(ModelUnavailable, match=reason):
        NegativeBinomial().fit_totals(totals_of(counts, 1000))
