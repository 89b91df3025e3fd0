"""Sufficient statistics of a count table as a mask."""

import numpy as np
import pytest

from discreet.count_tables.com_poisson.estimation import maximum_likelihood
from discreet.count_tables.statistics import CountStatistics
from discreet.count_tables.statistics_mask import release_statistics
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.masks.after_publication import intruders_belief, intruders_bounds

DISASTERS = Table.of_dense(
    np.array([15, 20, 9, 5, 2]), names=["deaths"], levels=[["0", "1", "2", "3", "4"]]
)


@pytest.mark.parametrize("largest_known", [True, False])
def test_the_disaster_table_has_kadanes_seven_tables(largest_known):
    masked = release_statistics(DISASTERS, largest_known=largest_known)
    belief = intruders_belief(masked)
    assert len(belief.tables) == 7
    assert belief.probability(masked.source.dense()).value == pytest.approx(0.363, abs=5e-4)
    assert masked.figures == ("n = 51", "S1 = 61", "e^S2 = 2^20*3^7")
    assert masked.published == ()


def test_bounds_of_the_cells_are_exact():
    masked = release_statistics(DISASTERS)
    tables = intruders_belief(masked).tables
    bounds = intruders_bounds(masked)
    assert bounds.complete
    assert bounds.lower.tolist() == tables.min(axis=0).tolist()
    assert bounds.upper.tolist() == tables.max(axis=0).tolist()


def test_values_in_any_order_and_with_gaps():
    table = Table.of_dense(np.array([3, 2, 7]), levels=[["5", "0", "2"]])
    masked = release_statistics(table)
    system = masked.system()
    assert system.holds(system.completed(np.array([3, 2, 7])))
    wide = release_statistics(table, largest_known=False)
    assert wide.source.levels[0] == ("0", "1", "2", "3", "4", "5", "6")
    assert wide.source.dense().tolist() == [2, 0, 7, 0, 0, 3, 0]


def test_the_estimate_is_the_fitted_distribution():
    statistics = CountStatistics.of_counts({0: 15, 1: 20, 2: 9, 3: 5, 4: 2})
    distribution = maximum_likelihood(statistics).distribution
    estimate = release_statistics(DISASTERS).estimate
    np.testing.assert_allclose(estimate[:4], 51 * distribution.mass(np.arange(4)), rtol=1e-9)
    assert estimate.sum() == pytest.approx(51)


def test_counts_all_of_one_value_are_given_away():
    table = Table.of_dense(np.array([0, 7, 0]), levels=[["0", "1", "2"]])
    masked = release_statistics(table)
    assert masked.estimate.tolist() == [0, 7, 0]
    assert intruders_belief(masked).probability(np.array([0, 7, 0])).value == 1


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (Table.of_dense(np.ones((2, 2), np.int64)), "table must be of one variable"),
        (Table.of_dense(np.array([1, 2]), levels=[["few", "many"]]), "levels of v1 must be whole"),
        (Table.of_dense(np.array([1, 2]), levels=[["1", "9999"]]), "levels of v1 must be whole"),
        (Table.of_dense(np.array([1, 2]), levels=[["1", "01"]]), "levels of v1 must be different"),
        (
            Table.of_dense(np.array([1, 2]), levels=[["1", "9" * 5000]]),
            "levels of v1 must be whole",
        ),
        (Table.of_dense(np.array([4]), levels=[["0"]]), "total must be above zero"),
        (Table.of_dense(np.array([0, 0])), "table must be of at least one person"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(table, words):
    with pytest.raises(InputError, match=words):
        release_statistics(table)


@pytest.mark.parametrize("largest_known", [True, False])
def test_a_value_written_in_two_ways_is_refused_not_lost(largest_known):
    table = Table.of_dense(np.array([3, 4, 5]), levels=[["0", "1", "01"]])
    with pytest.raises(InputError, match="levels of v1 must be different numbers, got one twice"):
        release_statistics(table, largest_known=largest_known)
