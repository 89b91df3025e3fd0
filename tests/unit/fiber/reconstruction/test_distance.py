"""The two consistent tables furthest apart, where the answer is known."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.fiber.reconstruction.distance import largest_distance
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.programs import Ending, Found, Search
from discreet.figures import How, Unavailable


def margins_system(table, released):
    return system_of(table.size, margins_of(table, released).statements())


def test_a_table_that_is_published_is_rebuilt():
    found = largest_distance(margins_system(np.array([[3, 1], [0, 2]]), [(0, 1)]))
    assert (found.value, found.upper, found.how) == (0, 0, How.EXACT)
    assert found.pair[0].tolist() == [3, 1, 0, 2]
    assert found.share.value == 0


@pytest.mark.parametrize("scale", [1, 1_000_000])
def test_two_by_two_tables_differ_by_the_range_of_their_cells(scale):
    # Row sums 5 and 7, column sums 4 and 8: the first cell is 0 to 4, and two cells fall with it.
    system = margins_system(scale * np.array([[2, 3], [2, 5]]), [(0,), (1,)])
    found = largest_distance(system)
    assert found.value == found.upper == 8 * scale
    assert found.persons == (12 * scale, 12 * scale)
    assert found.share.value == pytest.approx(8 / 12)


def test_a_total_alone_leaves_everything_open():
    system = margins_system(np.array([3, 0, 2, 0]), [()])
    found = largest_distance(system)
    assert found.value == found.upper == 5
    assert found.share.value == 1


def test_where_the_number_of_persons_is_not_fixed_the_larger_surplus_counts():
    about = [Statement(cells=np.array([0, 1]), low=2, high=5, name="about how many")]
    found = largest_distance(system_of(2, about))
    assert found.value == found.upper == 5  # all five in one cell, two or more in the other
    assert found.persons == (2, 5)
    assert (found.share.low, found.share.high) == (1, 1) or found.share.value == 1


def test_parts_add_up_although_a_total_spans_them():
    rows = [
        Statement(cells=np.array([0, 1]), low=3, high=3, name="left"),
        Statement(cells=np.array([2, 3]), low=4, high=4, name="right"),
        Statement(cells=np.arange(4), low=7, high=7, name="total"),
    ]
    found = largest_distance(system_of(4, rows))
    assert found.value == found.upper == 7
    assert largest_distance(system_of(4, rows), cells=np.array([2, 3])).value == 4


def test_a_known_table_changes_nothing():
    table = np.arange(8).reshape(2, 2, 2)
    system = margins_system(table, [(0, 1), (0, 2), (1, 2)])
    plain, known = largest_distance(system), largest_distance(system, tables=[table.ravel()])
    assert (plain.value, plain.upper) == (known.value, known.upper)


def test_time_that_is_over_leaves_limits_that_hold(monkeypatch):
    table = np.random.default_rng(1).poisson(2, (3, 4, 2))
    system = margins_system(table, [(0, 1), (0, 2), (1, 2)])
    exact = largest_distance(system)
    assert exact.how is How.EXACT
    monkeypatch.setattr(Search, "maximise", lambda *_: Found(Ending.UNKNOWN))
    found = largest_distance(system, time_limit=0)
    assert found.value == 0
    assert found.pair is None
    assert found.upper >= exact.value
    assert found.note == "time limit reached: the true distance lies between"
    assert found.figure.how is How.BOUND
    assert found.share.high <= 1
    assert found.to_json()["persons"]["lower"] == 0


def test_nobody_has_no_share():
    found = largest_distance(margins_system(np.zeros((2, 2), dtype=int), [(0,)]))
    assert isinstance(found.share, Unavailable)
    assert found.value == 0


def test_what_disagrees_is_named():
    rows = [
        Statement(cells=np.array([0, 1]), low=1, high=1, name="one"),
        Statement(cells=np.array([1, 2]), low=1, high=1, name="two"),
        Statement(cells=np.array([0, 2]), low=1, high=1, name="three"),
    ]
    with pytest.raises(InputError, match="statements must be true of at least one table"):
        largest_distance(system_of(3, rows))


def test_cells_must_exist():
    system = margins_system(np.array([1, 2]), [()])
    with pytest.raises(InputError, match="cells must be numbers 0 to 1, got others"):
        largest_distance(system, cells=np.array([2]))


def test_a_table_that_does_not_fit_is_refused():
    system = margins_system(np.array([1, 2]), [()])
    with pytest.raises(InputError, match="tables must be consistent with every statement"):
        largest_distance(system, tables=[np.array([1, 1])])
    with pytest.raises(InputError, match="tables must be of 2 cells, got 3"):
        largest_distance(system, tables=[np.array([1, 1, 1])])
