"""Pitman's formula: the maximum, the moments, the edge where it becomes Ewens'."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from discreet.data.summary import SizeIndices
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.ewens import Ewens
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.partition_likelihood import PartitionLikelihood
from discreet.survey.models.superpopulation.pitman import (
    Pitman,
    PitmanFamily,
    maximum_likelihood,
    moment_estimates,
)
from discreet.survey.models.superpopulation.size_index_fit import profile_limits

ADULT = Path(__file__).parents[4] / "shared/data/arx_adult.csv"
SPARSE = [1] * 400 + [2] * 60 + [3] * 21 + [4] * 9 + [8] * 4 + [25, 60]
EVEN = [3] * 50 + [4] * 50 + [2] * 20 + [1] * 5


def sizes_of(counts):
    return SizeIndices.of_counts(np.array(counts))


def totals_of(counts, population):
    return Totals(size_indices=sizes_of(counts), population_size=population, n_table_cells=10**6)


def test_the_maximum_is_that_of_a_general_optimiser():
    likelihood = PartitionLikelihood.of(sizes_of(SPARSE))
    found = minimize(
        lambda p: -likelihood(p[0], p[1]).value,
        [0.5, 50.0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
    )
    assert maximum_likelihood(sizes_of(SPARSE)) == pytest.approx(tuple(found.x), rel=1e-5)


@given(st.lists(st.integers(1, 40), min_size=2, max_size=60))
@settings(max_examples=60)
def test_no_neighbour_is_more_likely(counts):
    assume(max(counts) > 1)
    sizes = sizes_of(counts)
    alpha, theta = maximum_likelihood(sizes)
    likelihood = PartitionLikelihood.of(sizes)
    best = likelihood(alpha, theta).value
    assert 0 <= alpha < 1
    assert theta > -alpha
    for da, db in ((1e-3, 0), (-1e-3, 0), (0, 1e-2), (0, -1e-2), (1e-2, -1e-2)):
        a = min(max(alpha + da, 0.0), 1 - 1e-6)
        t = (theta + alpha) * np.exp(db) - a
        assert likelihood(a, t).value <= best + 1e-8


def test_moments_expect_the_cells_and_uniques_there_are():
    sizes = sizes_of(SPARSE)
    alpha, theta = moment_estimates(sizes)
    n, rate = sizes.sample_size, np.arange(1, sizes.sample_size)
    uniques = n * np.prod((theta + rate - 1 + alpha) / (theta + rate))
    cells = (uniques * (theta + alpha + n - 1) / n - theta) / alpha
    assert (uniques, cells) == pytest.approx((400, sizes.n_cells), rel=1e-9)


def test_even_cells_end_at_ewens_and_say_so():
    totals = totals_of(EVEN, 4000)
    pitman, ewens = Pitman().fit_totals(totals), Ewens().fit_totals(totals)
    assert pitman.distribution.alpha == 0  # type: ignore[attr-defined]
    assert pitman.distribution.theta == pytest.approx(ewens.distribution.theta, rel=1e-8)  # type: ignore[attr-defined]
    assert "alpha = 0" in pitman.remark
    figure = pitman.uniques_figure()
    assert figure.low <= figure.value <= figure.high


def test_moments_without_a_solution():
    with pytest.raises(ModelUnavailable, match="have no solution"):
        moment_estimates(sizes_of(EVEN))
    with pytest.raises(ModelUnavailable, match="without sample uniques"):
        moment_estimates(sizes_of([2, 2, 3]))


def test_profile_limits_against_a_grid_of_both_parameters():
    family = PitmanFamily.of(totals_of(SPARSE, 20_000))
    alpha, theta = maximum_likelihood(family.totals.size_indices)
    point = np.array([alpha, np.log(theta + alpha)])
    best = family.log_likelihood(point).value
    inside = [
        family.log_unique_probability(p).value
        for a in np.linspace(alpha - 0.3, min(alpha + 0.3, 0.99), 80)
        for b in np.linspace(point[1] - 2.5, point[1] + 2.5, 120)
        if best - family.log_likelihood(p := np.array([a, b])).value <= 1.959964**2 / 2
    ]
    low, high = profile_limits(family, point, 0.95)
    assert low == pytest.approx(min(inside), abs=0.02)
    assert high == pytest.approx(max(inside), abs=0.02)


@pytest.mark.parametrize("counts", [[1] * 9, [9]])
def test_no_maximum_is_said(counts):
    with pytest.raises(ModelUnavailable, match="likelihood rises"):
        maximum_likelihood(sizes_of(counts))


def test_a_negative_theta_is_found():
    alpha, theta = maximum_likelihood(sizes_of([1000] + [1] * 30 + [2] * 2))
    assert -alpha < theta < 0


@pytest.mark.skipif(not ADULT.exists(), reason="the shared data are not there")
def test_adult():
    """Nine attributes of 30,162 persons; alpha and theta as other software finds them."""
    records = ADULT.read_text().split()[1:]
    counts = np.unique(records, return_counts=True)[1]
    sizes = sizes_of(counts)
    assert (sizes.sample_size, sizes.n_cells) == (30162, 19502)
    alpha, theta = maximum_likelihood(sizes)
    assert alpha == pytest.approx(0.7179489, abs=1e-7)
    assert theta == pytest.approx(3176.234, abs=1e-3)
