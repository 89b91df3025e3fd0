"""What can be rebuilt, against all pairs of consistent tables."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tests.agreement.test_fiber_bounds import all_points, statements

from discreet.fiber.reconstruction import distance as module
from discreet.fiber.reconstruction.areas import Area, rebuild_areas
from discreet.fiber.reconstruction.distance import largest_distance
from discreet.fiber.reconstruction.rebuilt import rebuilt, rebuilt_table
from discreet.fiber.sums.enumeration import tables
from discreet.fiber.system.linear_system import system_of
from discreet.synthetic.census_areas import census_areas, census_layouts, statements_of

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
@given(statements())
def test_some_cells_by_themselves_are_as_in_all_tables(given_):
    system = system_of(*given_)
    points = np.unique(all_points(system)[:, : system.n_named], axis=0)
    for cells in (np.array([0]), np.arange(1, system.n_named)):
        checked(system, points, largest_distance(system, cells=cells), cells)
        certain = rebuilt(system, cells=cells)
        assert certain.certain == certain.certain_most == points[:, cells].min(axis=0).sum()
        assert certain.is_whole == (len(np.unique(points[:, cells], axis=0)) == 1)


@SLOW
@given(statements())
def test_certain_records_are_those_in_every_table(given_):
    system = system_of(*given_)
    points = np.unique(all_points(system)[:, : system.n_named], axis=0)
    found = rebuilt_table(system)
    certain = points.min(axis=0).sum()
    assert found.rebuilt.certain == found.rebuilt.certain_most == certain
    assert found.rebuilt.is_whole == (len(points) == 1)
    assert found.n_tables.value == len(points)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(40))
def test_areas_of_a_census_against_all_pairs_of_their_tables(seed):
    ((_, table),) = census_areas(1, seed=seed, least=60, most=120)
    system = system_of(*statements_of(census_layouts(table)))
    points = np.array(list(tables(system, limit=3001)))
    found = rebuilt_table(system, time_limit=60)
    assert found.distance.value == found.distance.upper
    if len(points) <= 3000:
        assert found.distance.value == greatest(points)
        assert found.rebuilt.certain == points.min(axis=0).sum()
        assert found.n_tables.value == len(points)


@pytest.mark.soak
def test_a_thousand_areas_in_one_run():
    def areas():
        for name, table in census_areas(1000, seed=1):
            n_cells, known = statements_of(census_layouts(table))
            yield Area(name=name, n_cells=n_cells, statements=known)

    found = list(rebuild_areas(areas(), seconds=10, workers=2))
    assert [each.name for each in found] == [f"area {i + 1}" for i in range(1000)]
    assert not any(each.problem for each in found)
    for each in found:  # a gap is stated with its reason, and there is hardly one
        assert each.distance.value is not None or each.distance.note
        assert each.certain.value is not None or each.certain.note
    assert sum(each.distance.value is not None for each in found) >= 990
    # Areas of a single table are those without any distance, and all of their persons are certain.
    for each in found:
        if each.is_whole:
            assert each.distance.value == 0
            assert each.certain.value == each.persons.value
