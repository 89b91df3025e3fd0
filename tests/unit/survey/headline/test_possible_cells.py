import math

import numpy as np
import pytest

from discreet.survey.headline.possible_cells import (
    DOUBT,
    TOLERANCE,
    PossibleCells,
    cells_of_all_levels,
    known_cells,
    unseen_levels,
)


def test_unseen_levels_are_those_of_the_formula():
    margin = np.array([1, 1, 1, 1, 2, 2, 7, 0])
    assert unseen_levels(margin) == 4 * 3 / (2 * 3)
    assert unseen_levels(np.array([5, 1, 9])) == 0
    assert unseen_levels(np.array([], dtype=np.int64)) == 0


@pytest.mark.parametrize(("n_levels", "n_records"), [(3_000, 1_000), (30_000, 5_000)])
def test_levels_equally_likely_are_all_accounted_for(n_levels, n_records):
    rng = np.random.default_rng(1)
    found = [
        unseen_levels(margin) + (margin > 0).sum()
        for margin in rng.multinomial(n_records, np.full(n_levels, 1 / n_levels), size=40)
    ]
    assert np.mean(found) == pytest.approx(n_levels, rel=0.03)


def test_levels_unequally_likely_are_never_overcounted_on_average():
    rng = np.random.default_rng(2)
    chances = rng.dirichlet(np.full(2_000, 0.3))
    found = [
        unseen_levels(margin) + (margin > 0).sum()
        for margin in rng.multinomial(1_000, chances, size=40)
    ]
    assert np.mean(found) < 2_000


def test_complete_keys_leave_the_possible_cells_as_they_are():
    found = cells_of_all_levels([np.full(2, 12), np.full(3, 8)], 6)
    assert found == known_cells(6) == PossibleCells(math.log(6), TOLERANCE)


def test_unseen_levels_of_each_key_multiply():
    found = cells_of_all_levels([np.array([1, 1, 1, 2]), np.array([2, 1, 2])], 12)
    # first key: levels with 1, 1, 1, 2 records, so 3·2/(2·2) = 1.5 unseen beside 4;
    # second key: 2, 1, 2 records, so none
    u = math.log(5.5 / 4)
    assert found.log_number == pytest.approx(math.log(12) + u)
    assert found.tolerance == pytest.approx(TOLERANCE + DOUBT * u**2)


def test_more_possible_cells_than_a_float_can_count():
    assert known_cells(10**400).log_number == pytest.approx(400 * math.log(10))
