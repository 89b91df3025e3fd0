"""Zayatz' method against Bayes' rule written out with hypergeometric probabilities."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.data.summary import SizeIndices
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.zayatz import SampleShares, Zayatz

COUNTS = [1] * 30 + [2] * 8 + [3] * 5 + [9]


def totals_of(counts, population):
    return Totals(
        size_indices=SizeIndices.of_counts(np.array(counts)),
        population_size=population,
        n_table_cells=1000,
    )


def chance(f, j, n, N):
    return Fraction(math.comb(j, f) * math.comb(N - j, n - f), math.comb(N, n))


@pytest.mark.parametrize("population", [72, 400, 10**7])
def test_bayes_rule(population):
    totals = totals_of(COUNTS, population)
    n, distribution = totals.sample_size, SampleShares(totals)
    shares = {1: 30, 2: 8, 3: 5, 9: 1}
    for f in (1, 2, 3):
        weights = {j: s * chance(f, j, n, population) for j, s in shares.items() if j >= f}
        total = sum(weights.values())
        first, second = distribution.inverse_moments(np.array([float(f)]))
        assert first[0] == pytest.approx(float(sum(w / j for j, w in weights.items()) / total))
        exact = sum(w / j**2 for j, w in weights.items()) / total
        assert second[0] == pytest.approx(float(exact))
        if f == 1:
            assert distribution.unique_probability == pytest.approx(
                float(weights[1] / total), rel=1e-10
            )


def test_the_error_is_that_of_poisson_size_indices():
    one, rng = totals_of(COUNTS, 400), np.random.default_rng(7)
    many = replace(
        one,
        size_indices=SizeIndices(one.size_indices.sizes, 100 * one.size_indices.cells),
        population_size=40_000,
    )
    logs = []
    for _ in range(400):
        cells = rng.poisson(many.size_indices.cells)
        sizes = SizeIndices(many.size_indices.sizes[cells > 0], cells[cells > 0])
        drawn = SampleShares(replace(many, size_indices=sizes))
        uniques = drawn.totals.size_indices.sample_uniques
        logs.append(math.log(uniques * drawn.unique_probability))
    error = SampleShares(many).log_error
    assert np.std(logs) == pytest.approx(error, rel=0.15)
    assert SampleShares(one).log_error == pytest.approx(10 * error, rel=0.05)


def test_no_sample_unique_leaves_certainty():
    fit = Zayatz().fit_totals(totals_of([2] * 5 + [3], 400))
    figure = fit.uniques_figure()
    assert (figure.value, figure.low, figure.high, figure.how) == (0, 0, 0, "exact")


def test_a_cell_that_no_size_explains_keeps_its_own_share():
    mean, square = SampleShares(totals_of(COUNTS, 400)).inverse_moments(np.array([50.0]))
    assert (mean[0], square[0]) == (0.02, 0.0004)


def test_all_unique_is_refused():
    with pytest.raises(ModelUnavailable, match="every record of the sample is unique"):
        Zayatz().fit_totals(totals_of([1] * 10, 100))


def test_limits_hold_the_estimate():
    figure = Zayatz().fit_totals(totals_of(COUNTS, 400)).uniques_figure()
    assert 0 < figure.low < figure.value < figure.high <= 30
