"""The limits of the recommended estimate: what they are made of, and how far out the truth lies."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from discreet.data.summary import SizeIndices
from discreet.survey.headline.extrapolation import CellHistogram, extrapolate
from discreet.survey.headline.limits import Doubt, Scale, doubt_of, figure_of
from discreet.survey.headline.possible_cells import UNLIMITED
from discreet.survey.headline.recommendation import (
    figures_of,
    misfit_of_uniques,
    recommend_from_sizes,
)

FRACTION = 0.5


LOG = Scale()


def limits(value: float, *, misfit: float = 0.0, chance: float = 0.0, scale=LOG):
    """Of one certain model."""
    most = scale.total or 1e9
    doubt = doubt_of(np.ones(1), np.full(1, value), misfit=misfit, scale=scale, most=most)
    return figure_of(doubt, chance=chance, scale=scale, most=most)


def reach(figure, scale=LOG) -> float:
    """Units of the scale from the estimate to the upper limit, over those to the 95 % point of a
    normal."""
    return float(scale.of(figure.high) - scale.of(figure.value)) / norm.ppf(0.95)


@pytest.mark.parametrize(("uniques", "share"), [(20, 0.2), (60, 0.5), (2000, 0.01), (500, 0.97)])
def test_the_chance_of_the_draw_makes_limits_that_cover(uniques, share):
    """So many sample uniques stay unique with one probability: 90 % limits hold 86 % to 98 %:
    they are rounded outward."""
    mean = uniques * share
    doubts = (Doubt(mean, mean, mean), Doubt(1.0, 1.0, 1.0))
    varying = mean * (1 - share)
    figure, _ = figures_of(doubts, varying=varying, most=(uniques, 1.0), fraction=0.1, note="")
    number = binom(uniques, share)
    held = number.cdf(figure.high) - number.cdf(figure.low - 1)
    assert 0.86 <= held <= 0.98


@pytest.mark.parametrize("scale", [LOG, Scale(80.0)])
def test_chance_misfit_and_doubt_about_the_model_add_as_squares(scale):
    assert reach(limits(50.0, misfit=0.1, scale=scale), scale) == pytest.approx(0.1)
    assert reach(limits(50.0, chance=0.2, scale=scale), scale) == pytest.approx(0.2)
    both = limits(50.0, misfit=0.1, chance=0.2, scale=scale)
    assert reach(both, scale) == pytest.approx(math.hypot(0.1, 0.2))
    ends = scale.of(np.array([both.low, both.value, both.high]))
    assert ends[0] + ends[2] == pytest.approx(2 * ends[1])
    points = norm.ppf((np.arange(2000) + 0.5) / 2000)
    value = np.array([scale.back(x) for x in float(scale.of(50.0)) + 0.1 * points])
    doubt = doubt_of(np.full(2000, 1 / 2000), value, misfit=0.0, scale=scale, most=1e9)
    posterior = figure_of(doubt, chance=0.0, scale=scale, most=1e9)
    spread = scale.of(posterior.high) - scale.of(posterior.low)
    assert spread / 2 == pytest.approx(0.1 * norm.ppf(0.95), rel=0.01)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.97])
def test_the_misfit_of_uniques_is_about_those_that_stay_and_those_that_do_not(share):
    """0.02 of the others for each log unit and 0.02 always, and 0.05 log units of the share."""
    fraction, n = 0.05, 400.0
    others = math.hypot(0.02 * math.log(1 / fraction), 0.02) / (1 - share)
    wanted = math.hypot(others, 0.05 * math.log(1 / share))
    assert misfit_of_uniques(share * n, n, fraction) == pytest.approx(wanted)
    others = math.hypot(0.02 * math.log(1000), 0.02) / (1 - share)
    rare = math.hypot(others, 0.05 * math.log(1 / share), 0.15 * math.log(10))
    assert misfit_of_uniques(share * n, n, 0.001) == pytest.approx(rare)


def histogram(cells: float) -> CellHistogram:
    """So many cells, three quarters of them sample uniques."""
    row = cells * 0.75 * 0.25 ** np.arange(15.0)[None]
    return CellHistogram(
        cells=row,
        index=np.zeros(1),
        uniques=row[:, :1],
        fraction=np.array([0.1]),
        seen_fraction=float(row.sum()) * 0.1,
    )


def relative_spread(cells: float) -> float:
    found = extrapolate(histogram(cells), fraction=0.1, possible=UNLIMITED)
    logs = np.log(found.uniques)
    return float(np.sqrt(found.weight @ (logs - found.weight @ logs) ** 2))


def test_no_more_than_2000_cells_weigh_in_the_likelihood():
    """No model is right in detail, so more cells do not make the choice among them surer."""
    assert relative_spread(200_000.0) == pytest.approx(relative_spread(2000.0), rel=1e-6)
    assert relative_spread(20_000.0) == pytest.approx(relative_spread(2000.0), rel=1e-6)


def test_fewer_cells_weigh_in_full():
    """The log-likelihood of a quarter of the cells is a quarter, so that models differ more."""
    assert relative_spread(2000.0) > 0.05
    assert 1.3 < relative_spread(500.0) / relative_spread(2000.0) < 2.5


@pytest.fixture(scope="module")
def scores():
    """(truth − estimate) / a 90 % limit's normal deviation, for uniques and matches of 100 samples
    of 400 cells with lognormal rates, one of the shapes that the estimate averages over."""
    rng, found = np.random.default_rng(1), []
    for _ in range(100):
        F = rng.poisson(np.exp(rng.normal(np.log(5.0), 1.0, 400)))
        f = rng.binomial(F, FRACTION)
        seen = f > 0
        told = recommend_from_sizes(SizeIndices.of_counts(f[seen]), population_size=float(F.sum()))
        truths = np.count_nonzero((f == 1) & (F == 1)), (f[seen] / F[seen]).sum()
        figures = told.expected_population_uniques, told.expected_correct_matches
        found.append([deviation(*pair) for pair in zip(figures, truths, strict=True)])
    return np.array(found)


def deviation(figure, truth) -> float:
    return (truth - figure.value) / ((figure.high - figure.low) / 2 / norm.ppf(0.95))


def test_limits_of_uniques_are_as_far_out_as_the_truth(scores, errors_are_right):
    """The spread is 0.77 of what is stated: limits are rounded outward and allow for misfit, of
    which there is none here. Without the chance of the draw it would be 1.16."""
    errors_are_right(scores[:, 0], at_least=0.77, at_most=0.77)


def test_limits_of_matches_are_as_far_out_as_the_truth(scores, errors_are_right):
    """The spread is 0.55 of what is stated: the chance of Σ f/F is taken as 0.7 of that of a count,
    which still is an upper limit, since most f/F are far from 0 and 1."""
    errors_are_right(scores[:, 1], at_least=0.55, at_most=0.55)
