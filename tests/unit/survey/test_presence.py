"""Presence in the sample and the risks of a known population: worked examples and refusals."""

import math

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.survey.presence import delta_presence, journalist_risk, marketer_risk, prosecutor_risk

SAMPLE = np.array([1, 2, 5, 0, 2])
POPULATION = np.array([4, 2, 50, 7, 8])


def test_presence_of_every_cell_of_the_population():
    found = delta_presence(SAMPLE, POPULATION)
    assert found.presence.tolist() == [0.25, 1, 0.1, 0, 0.25]
    assert (found.delta_min, found.delta_max) == (0, 1)
    assert found.meaning.startswith("from 0 to 1 of the people with the same key combination")


def test_cells_outside_the_limits():
    outside = delta_presence(SAMPLE, POPULATION).outside(0.1, 0.25)
    assert outside.cell.tolist() == [False, True, False, True, False]
    assert (outside.cells, outside.cell_share) == (2, 0.4)
    assert (outside.population_records, outside.sample_records) == (9, 2)
    assert outside.population_share == 9 / 71
    assert delta_presence(SAMPLE, POPULATION).outside(0, 1).cells == 0


def test_prosecutor_knows_who_is_in_the_sample():
    found = prosecutor_risk(SAMPLE, threshold=0.2)
    assert found.risk.tolist() == [1, 0.5, 0.2, None, 0.5]
    assert (found.highest, found.highest_cell) == (1, 0)
    assert found.average == found.success_rate == 4 / 10
    assert (found.records_at_risk, found.cells_at_risk, found.record_share) == (5, 3, 0.5)
    assert prosecutor_risk(SAMPLE, threshold=0.5).records_at_risk == 1


def test_journalist_chooses_among_the_population():
    found = journalist_risk(SAMPLE, POPULATION, threshold=0.125)
    assert found.risk.tolist() == [0.25, 0.5, 0.02, None, 0.125]
    assert (found.highest, found.highest_cell) == (0.5, 1)
    assert found.average == pytest.approx((0.25 + 1 + 0.1 + 0.25) / 10, rel=1e-15)
    assert found.success_rate == found.average > 4 / 64
    assert (found.records_at_risk, found.cells_at_risk) == (3, 2)
    assert found.record_share == 0.3


def test_success_rate_is_the_larger_of_two_directions():
    found = journalist_risk([1, 10], [2, 10], threshold=0.2)
    assert found.average == pytest.approx(1.5 / 11, rel=1e-15)
    assert found.success_rate == 2 / 12


def test_marketer_matches_everyone():
    assert marketer_risk(SAMPLE, POPULATION) == pytest.approx(0.16, rel=1e-15)
    assert marketer_risk(SAMPLE[SAMPLE > 0], POPULATION[SAMPLE > 0]) == pytest.approx(0.16)


def test_when_the_sample_is_the_population_all_three_agree():
    counts = np.array([1, 2, 5, 2])
    prosecutor = prosecutor_risk(counts, threshold=0.3)
    journalist = journalist_risk(counts, counts, threshold=0.3)
    assert prosecutor.risk.tolist() == journalist.risk.tolist()
    assert prosecutor.average == journalist.average == marketer_risk(counts, counts) == 0.4
    assert prosecutor.records_at_risk == journalist.records_at_risk
    assert delta_presence(counts, counts).delta_min == 1


@pytest.mark.parametrize("k", [3, 5, 6, 7, 10, 20, 33, 49, 97])
def test_a_risk_equal_to_the_threshold_is_not_above_it(k):
    assert prosecutor_risk([k], threshold=1 / k).records_at_risk == 0
    assert prosecutor_risk([k], threshold=1 / (k + 1)).records_at_risk == k


def test_each_record_has_the_risk_of_its_cell():
    found = prosecutor_risk(SAMPLE, threshold=0.2)
    assert found.per_record([2, 0, 4]).tolist() == [0.2, 1, 0.5]
    with pytest.raises(InputError, match="cell must be below 5, got 5"):
        found.per_record([5])


def test_huge_populations():
    found = journalist_risk([1], [2**52], threshold=0)
    assert found.highest == 2.0**-52
    assert found.records_at_risk == 1
    assert delta_presence([2**51], [2**52]).delta_max == 0.5


def test_results_cannot_be_changed_and_arguments_stay_as_they_are():
    found = prosecutor_risk(SAMPLE, threshold=0.2)
    presence = delta_presence(SAMPLE, POPULATION)
    for array in (found.risk, found.sample_count, presence.presence, presence.population_count):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        presence.outside(0, 0.5).cell[0] = True
    assert SAMPLE.flags.writeable
    assert POPULATION.flags.writeable


@pytest.mark.parametrize(
    "call",
    [delta_presence, marketer_risk, lambda f, F: journalist_risk(f, F, threshold=0.1)],
)
@pytest.mark.parametrize(
    ("sample", "population", "message"),
    [
        ([1, 3], [1, 2], "population_count must be at least the sample_count .* at cell 1; the "),
        ([1, 3], [1, 2], "the population file must contain the sample"),
        ([1, 0], [1, 0], "population_count must be at least 1, got 0 at cell 1"),
        ([1, -1], [1, 2], "sample_count must be at least 0, got -1 at row 1"),
        ([1], [1, 2], "population_count must be of one cell or more, .* got 2 for 1"),
        ([1.5], [2], "sample_count must be a row of whole numbers, got float64"),
        ([[1]], [[2]], "sample_count must be a row of whole numbers, got int64 in 2 dimensions"),
        ([1, 1], [2**62, 2**62], r"population_count must be fewer than 2\^53 in all"),
        (np.array([], dtype=int), np.array([], dtype=int), "must be of one cell or more"),
    ],
)
def test_counts_that_cannot_be_are_refused(call, sample, population, message):
    with pytest.raises(InputError, match=message):
        call(sample, population)


@pytest.mark.parametrize(
    "call",
    [
        lambda: prosecutor_risk([0, 0], threshold=0.1),
        lambda: prosecutor_risk(np.array([], dtype=int), threshold=0.1),
        lambda: journalist_risk([0], [3], threshold=0.1),
        lambda: marketer_risk([0], [3]),
    ],
)
def test_a_sample_without_records_has_no_risk(call):
    with pytest.raises(InputError, match="sample_count must be above 0 in some cell, got none"):
        call()


@pytest.mark.parametrize("threshold", [-0.1, 1.5, math.nan])
def test_thresholds_outside_their_range_are_refused(threshold):
    with pytest.raises(InputError, match="threshold must be from 0 to 1"):
        prosecutor_risk([1], threshold=threshold)
    with pytest.raises(InputError, match="threshold must be from 0 to 1"):
        journalist_risk([1], [1], threshold=threshold)


@pytest.mark.parametrize("limits", [(-0.1, 1), (0, 1.1), (0.6, 0.5), (math.nan, 1)])
def test_limits_of_presence_outside_their_range_are_refused(limits):
    with pytest.raises(InputError, match="delta_min, delta_max must be from 0 to 1, the lower"):
        delta_presence([1], [1]).outside(*limits)
