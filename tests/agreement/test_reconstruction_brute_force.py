"""What can be rebuilt, against all pairs of consistent tables."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.agreement.test_fiber_bounds import all_points, statements

from discreet.fiber.reconstruction import distance as module
from discreet.fiber.reconstruction.distance import largest_distance
from discreet.fiber.reconstruction.rebuilt import reconstruction
from discreet.fiber.system.linear_system import system_of

SLOW = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
WAYS = ["listing", "linear program and search", "search"]


def apart(first, second):
    """Persons to be changed, added or left out to make one table of the other."""
    more = np.maximum(first - second, 0).sum(axis=-1)
    return np.maximum(more, np.maximum(second - first, 0).sum(axis=-1))


def greatest(points):
    """The greatest distance of two of the points."""
    return max(int(apart(point, points).max()) for point in points)


@pytest.fixture(params=WAYS)
def one_way(request, monkeypatch):
    """Only one of the ways to find a distance."""
    if request.param != "listing":
        monkeypatch.setattr(module, "_by_listing", lambda *_: None)
    if request.param == "search":
        monkeypatch.setattr(module, "_by_linear_program", lambda *_: None)


def checked(system, points, found, cells=slice(None)):
    """The distance of all pairs, with two tables that show it."""
    assert found.value == found.upper == greatest(points[:, cells])
    assert found.note == ""
    assert all(table.tolist() in points.tolist() for table in found.pair)
    assert apart(found.pair[0][cells], found.pair[1][cells]) == found.value
    sums = points[:, cells].sum(axis=1)
    assert found.persons[0] <= sums.min()
    assert found.persons[1] >= sums.max()
    if sums.max():
        share = found.share
        low, high = (share.value,) * 2 if share.low is None else (share.low, share.high)
        assert 0 <= low <= found.value / sums.max() <= high <= 1


@SLOW
@given(given_=statements())
@pytest.mark.usefixtures("one_way")
def test_the_distance_of_any_system_is_that_of_all_pairs(given_):
    system = system_of(*given_)
    points = np.unique(all_points(system)[:, : system.n_named], axis=0)
    checked(system, points, largest_distance(system))


@SLOW
@given(given_=statements(), chosen=st.sets(st.integers(0, 4), min_size=1))
@pytest.mark.usefixtures("one_way")
def test_the_distance_in_some_cells_is_that_of_all_pairs(given_, chosen):
    system = system_of(*given_)
    cells = np.array(sorted(cell % system.n_named for cell in chosen))
    points = np.unique(all_points(system)[:, : system.n_named], axis=0)
    cells = np.unique(cells)
    checked(system, points, largest_distance(system, cells=cells), cells)


@SLOW
@given(statements(), st.sets(st.integers(0, 4), min_size=1))
def test_certain_records_are_those_in_every_table(given_, chosen):
    system = system_of(*given_)
    cells = np.unique([cell % system.n_named for cell in chosen])
    points = np.unique(all_points(system)[:, : system.n_named], axis=0)
    for asked in (None, cells):
        kept = slice(None) if asked is None else asked
        found = reconstruction(system, cells=asked)
        certain = points[:, kept].min(axis=0).sum()
        assert found.rebuilt.certain == found.rebuilt.certain_most == certain
        assert found.rebuilt.is_whole == (len(np.unique(points[:, kept], axis=0)) == 1)
        assert found.n_tables.value == len(points)
