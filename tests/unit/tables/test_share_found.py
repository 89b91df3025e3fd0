"""The share of small cells found, by draws: cells near the confidence are told as open."""

import pytest

from discreet.figures import Unavailable
from discreet.tables.measures import share_found, table_measures


@pytest.mark.parametrize(
    ("p", "low", "high"), [(0.6, 1, 1), (0.53, 0, 1), (0.47, 0, 1), (0.4, 0, 0)]
)
def test_two_standard_errors_either_way(p, low, high):
    """The confidence is one half and the error of the true count's probability 0.02."""
    distribution = {1: p, 2: 0.3, 3: 0.7 - p}
    found = share_found([distribution], [{1: 0.02, 2: 0.0, 3: 0.0}], [1], 0.5)
    assert (found.low, found.high) == (low, high)
    assert found.value == (p > 0.5)


@pytest.mark.parametrize(("error", "low"), [(0.02, 0), (0.001, 1)])
def test_another_count_that_may_be_likelier(error, low):
    found = share_found([{1: 0.5, 2: 0.45, 3: 0.05}], [{1: 0.0, 2: 2 * error, 3: 0.0}], [1], 0.3)
    assert (found.low, found.high) == (low, 1)


@pytest.mark.parametrize("error", [0.01, 0.03])
def test_a_wrong_guess_near_the_confidence_leaves_nothing_open(error):
    """The true count has probability .16: two standard errors cannot make it the best guess."""
    distribution = {0: 0.51, 1: 0.16, 2: 0.33}
    errors = dict.fromkeys(distribution, error)
    found = share_found([distribution], [errors], [1], 0.5)
    assert (found.value, found.low, found.high) == (0, 0, 0)
    told = table_measures(
        [distribution], [errors], [1], confidence=0.5, true_table=Unavailable("none")
    )
    assert told.small_cells_identified == found
