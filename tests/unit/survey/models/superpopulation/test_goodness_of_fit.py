"""Predicted against observed size indices, ranking, and draws from the fit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2
from tests.oracles.partitions import draw_sizes

from discreet.data.summary import SizeIndices
from discreet.survey.models.superpopulation import goodness_of_fit as module
from discreet.survey.models.superpopulation.ewens import Ewens
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.goodness_of_fit import (
    FitTable,
    fit_table,
    goodness_of_fit,
    misfit,
)
from discreet.survey.models.superpopulation.partition_urn import PartitionUrn
from discreet.survey.models.superpopulation.pitman import Pitman
from discreet.survey.models.superpopulation.zayatz import Zayatz


def totals_of(sizes, factor=10):
    return Totals(
        size_indices=sizes, population_size=factor * sizes.sample_size, n_table_cells=10**6
    )


def drawn(alpha, theta, n, seed):
    return draw_sizes(PartitionUrn(alpha, theta, n, n), np.random.default_rng(seed))


def test_the_table_is_complete():
    sizes = drawn(0.6, 100.0, 3000, 1)
    table = fit_table(PartitionUrn(0.6, 100.0, 3000, 30_000), sizes, 2)
    assert table.first[0] == 1
    assert table.last[-1] == 3000
    assert (table.first[1:] == table.last[:-1] + 1).all()
    assert table.observed.sum() == sizes.n_cells
    urn = PartitionUrn(0.6, 100.0, 3000, 30_000)
    assert table.predicted.sum() == pytest.approx(urn.expected_cells(np.arange(1.0, 3001)).sum())
    assert (table.predicted >= 5).all()
    rows = table.rows()
    assert rows[0] == {
        "from": 1,
        "to": 1,
        "observed": sizes.sample_uniques,
        "predicted": pytest.approx(table.predicted[0]),
    }


def test_the_statistic_by_hand():
    sizes = drawn(0.6, 100.0, 3000, 1)
    table = fit_table(PartitionUrn(0.6, 100.0, 3000, 30_000), sizes, 2)
    expected = table.predicted * table.observed.sum() / table.predicted.sum()
    statistic = ((table.observed - expected) ** 2 / expected).sum()
    assert table.statistic == pytest.approx(statistic)
    assert table.degrees_of_freedom == len(expected) - 2
    assert table.p_value == pytest.approx(chi2.sf(statistic, len(expected) - 2))


def test_a_group_of_very_many_sizes_is_added_up_by_quadrature():
    urn = PartitionUrn(0.3, 50.0, 200_000, 200_000)
    table = fit_table(urn, drawn(0.3, 50.0, 200_000, 4), 2)
    exact = urn.expected_cells(np.arange(table.first[-1], 200_001.0)).sum()
    assert table.predicted[-1] == pytest.approx(exact, rel=1e-6)


def test_the_true_model_fits_and_a_wrong_one_does_not():
    totals = totals_of(drawn(0.7, 300.0, 5000, 2))
    assert misfit(Pitman().fit_totals(totals)) is None
    sentence = misfit(Ewens().fit_totals(totals))
    assert "does not fit the size indices" in sentence
    assert "where there are" in sentence
    assert misfit(Zayatz().fit_totals(totals)) is None  # it has no likelihood to contradict


def test_misfits_of_the_true_model_are_about_uniform():
    values = []
    for seed in range(120):
        fit = Pitman().fit_totals(totals_of(drawn(0.6, 100.0, 1500, seed)))
        values.append(goodness_of_fit(fit).p_value)
    assert np.mean(np.array(values) < 0.05) < 0.12
    assert np.mean(values) == pytest.approx(0.55, abs=0.12)


def test_a_table_too_small_for_a_test_has_no_p_value():
    sizes = SizeIndices(np.array([1, 3]), np.array([2, 1]))
    table = goodness_of_fit(Pitman().fit_totals(totals_of(sizes)))
    assert table.p_value is None
    assert table.observed.sum() == 3


@pytest.mark.parametrize("bits", [-3, 0, 3])
def test_of_groups_that_fit_equally_badly_the_first_is_named(monkeypatch, bits):
    table = FitTable(
        first=np.array([1, 2]),
        last=np.array([1, 2]),
        observed=np.array([90.0, 90.0]),
        predicted=np.array([30.0, 30.0 * (1 - bits * 2.0**-52)]),
        statistic=240.0,
        degrees_of_freedom=1,
        p_value=1e-50,
    )
    monkeypatch.setattr(module, "goodness_of_fit", lambda _: table)
    assert "cells of 1 records" in misfit(Ewens().fit_totals(totals_of(drawn(0.0, 9.0, 99, 3))))


def test_the_standard_error_is_that_of_fits_to_samples_drawn_from_the_fit():
    fit, rng = Pitman().fit_totals(totals_of(drawn(0.6, 100.0, 2000, 5))), np.random.default_rng(6)
    again = [
        Pitman().fit_totals(replace(fit.totals, size_indices=draw_sizes(fit.distribution, rng)))
        for _ in range(60)
    ]
    found = [refitted.population_uniques for refitted in again]
    low, high = np.quantile(found, [0.025, 0.975])
    assert low < fit.population_uniques < high
    assert np.std(found) == pytest.approx(fit.uniques_figure().standard_error, rel=0.5)
    statistics = [goodness_of_fit(refitted).statistic for refitted in again]
    assert np.mean(np.array(statistics) >= goodness_of_fit(fit).statistic) > 0.01
