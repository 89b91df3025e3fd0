"""Fréchet's bounds against the list of all tables: exact for two margins, valid for more."""

import numpy as np
import pytest

from discreet.fiber.bounds.by_frechet import bounds_by_frechet
from discreet.fiber.sums.enumeration import tables
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import margins_of

TABLE = np.array([[[3, 1], [0, 2], [1, 1]], [[1, 4], [2, 0], [0, 1]]])
LEVELS = np.argwhere(np.ones(TABLE.shape, dtype=bool))


def listed(margins):
    every = np.array(list(tables(system_of(margins.n_cells, margins.statements()))))
    return every.min(axis=0), every.max(axis=0)


@pytest.mark.parametrize("sets", [[(0, 1), (0, 2)], [(0, 1), (1, 2)], [(0, 2), (1, 2)]])
def test_two_margins_have_exact_bounds(sets):
    margins = margins_of(TABLE, sets)
    found, (lower, upper) = bounds_by_frechet(margins, LEVELS), listed(margins)
    assert np.any(lower > 0)
    assert found.lower.tolist() == lower.tolist()
    assert found.upper.tolist() == upper.tolist()


def test_more_margins_have_valid_bounds():
    margins = margins_of(TABLE, [(0, 1), (0, 2), (1, 2)])
    found, (lower, upper) = bounds_by_frechet(margins, LEVELS), listed(margins)
    assert np.all(found.lower <= lower)
    assert np.all(found.upper >= upper)
