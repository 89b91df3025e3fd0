"""Ewens' formula: both estimators, and where they have no solution."""

import numpy as np
import pytest

from discreet.data.summary import SizeIndices, Summary
from discreet.errors import InputError
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.ewens import Ewens, moment_estimate


def summary_of(counts, population=None, cells=10**6):
    indices = SizeIndices.of_counts(np.array(counts))
    return Summary(
        sample_size=indices.sample_size,
        n_table_cells=cells,
        level_counts=(cells,),
        size_indices=indices,
        weight_total=None,
        population_size=None if population is None else float(population),
        population_size_known=population is not None,
    )


COUNTS = [1] * 40 + [2] * 9 + [3] * 4 + [11, 30]


def test_maximum_likelihood_solves_its_equation():
    summary = summary_of(COUNTS, 5000)
    theta = Ewens().fit(summary).parameters["theta"]
    n, cells = summary.sample_size, summary.size_indices.n_cells
    assert sum(theta / (theta + m) for m in range(n)) == pytest.approx(cells, rel=1e-10)


def test_moments_expect_the_uniques_there_are():
    summary = summary_of(COUNTS, 5000)
    fit = Ewens(estimator="moments").fit(summary)
    theta, n = fit.parameters["theta"], summary.sample_size
    assert n * theta / (n - 1 + theta) == pytest.approx(40, rel=1e-12)
    assert fit.parameters["estimator"] == "moments"
    assert fit.distribution.unique_probability == pytest.approx(
        (theta + n - 1) / (theta + 4999), rel=1e-12
    )


def test_the_likelihood_of_the_maximum_is_the_greater():
    summary = summary_of(COUNTS, 5000)
    best, other = Ewens().fit(summary), Ewens(estimator="moments").fit(summary)
    assert best.log_likelihood > other.log_likelihood


@pytest.mark.parametrize("estimator", ["maximum_likelihood", "moments"])
def test_all_unique_has_no_estimate(estimator):
    with pytest.raises(ModelUnavailable, match="every record of the sample is unique"):
        Ewens(estimator=estimator).fit(summary_of([1] * 20, 100))


@pytest.mark.parametrize("estimator", ["maximum_likelihood", "moments"])
def test_one_cell_has_no_estimate(estimator):
    with pytest.raises(ModelUnavailable, match="all records lie in one cell"):
        Ewens(estimator=estimator).fit(summary_of([20], 100))


def test_moments_need_a_sample_unique():
    with pytest.raises(ModelUnavailable, match="without sample uniques"):
        Ewens(estimator="moments").fit(summary_of([2, 3, 3], 100))
    with pytest.raises(ModelUnavailable, match="every record"):
        moment_estimate(SizeIndices.of_counts(np.array([1, 1])))


def test_an_unknown_estimator_is_refused():
    with pytest.raises(InputError, match="estimator must be among maximum_likelihood, moments"):
        Ewens(estimator="guess").fit(summary_of(COUNTS, 5000))


@pytest.mark.parametrize("estimator", ["maximum_likelihood", "moments"])
def test_limits_hold_the_estimate(estimator):
    figure = Ewens(estimator=estimator).fit(summary_of(COUNTS, 500)).uniques_figure()
    assert 0 <= figure.low <= figure.value <= figure.high <= 40
    assert figure.standard_error > 0
