"""The slide negative binomial model against sums over its own population law."""

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
    SlideFamily,
    SlideLaw,
)

COUNTS = [1] * 300 + [2] * 60 + [3] * 25 + [4] * 12 + [6] * 7 + [11] * 3


def totals_of(counts, population):
    return Totals(
        size_indices=SizeIndices.of_counts(np.array(counts)),
        population_size=population,
        n_table_cells=10**6,
    )


def joint(law, f):
    """P(F = h and f) for h = 1, 2, …, by the definition of the model."""
    h = np.arange(1, 4000)
    p = law.shape / (law.shape + law.excess)
    return h, nbinom.pmf(h - 1, law.shape, p) * binom.pmf(f, h, law.fraction)


LAWS = [
    SlideLaw(0.4, 6.0, totals_of(COUNTS, 6000)),
    SlideLaw(0.02, 3.0, totals_of(COUNTS, 1200)),
    SlideLaw(30.0, 0.5, totals_of(COUNTS, 20_000)),
]


@pytest.mark.parametrize("law", LAWS)
def test_everything_given_a_sample_count(law):
    counts = np.array([1.0, 2.0, 5.0, 40.0])
    mean, square = law.inverse_moments(counts)
    for i, f in enumerate(counts):
        h, chance = joint(law, f)
        total = chance.sum()
        assert math.exp(law.log_probability(np.array([f]))[0]) == pytest.approx(total, rel=1e-8)
        assert mean[i] == pytest.approx((chance / h).sum() / total, rel=1e-8)
        assert square[i] == pytest.approx((chance / h**2).sum() / total, rel=1e-8)
        if f == 1:
            assert law.unique_probability == pytest.approx(chance[0] / total, rel=1e-8)


@pytest.mark.parametrize("law", LAWS)
def test_moments_of_the_sample_count(law):
    sizes = np.arange(1.0, 5000.0)
    expected = law.expected_cells(sizes)
    assert expected @ sizes == pytest.approx(law.totals.sample_size, rel=1e-8)
    assert expected.sum() == pytest.approx(law.cells * law.occupied, rel=1e-8)
    assert expected @ sizes**2 == pytest.approx(law.cells * law.second_moment, rel=1e-8)


def test_the_fit_is_the_maximum_of_the_poisson_likelihood_of_the_size_indices():
    totals = totals_of(COUNTS, 6000)
    sizes, cells = totals.size_indices.sizes, totals.size_indices.cells

    def loss(point):
        law = SlideFamily(totals).law(point)
        every = np.arange(1.0, 400.0)
        observed = np.zeros(len(every))
        observed[sizes - 1] = cells
        return -poisson.logpmf(observed, law.expected_cells(every)).sum()

    best = minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9})
    fit = NegativeBinomial().fit_totals(totals)
    found = np.log([fit.law.shape, fit.law.excess])
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


def test_draws_have_the_expected_size_indices():
    law, rng = LAWS[0], np.random.default_rng(2)
    drawn = np.mean([law.draw_sizes(rng).sample_uniques for _ in range(300)])
    expected = float(law.expected_cells(np.ones(1))[0])
    assert drawn == pytest.approx(expected, abs=5 * math.sqrt(expected / 300))
