"""Records that stand in every consistent table."""

import numpy as np
import pytest

from discreet.fiber.reconstruction.rebuilt import rebuilt, rebuilt_table
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import margins_of
from discreet.figures import How, Unavailable


def margins_system(table, released):
    return system_of(table.size, margins_of(table, released).statements())


def test_certain_records_of_a_two_by_two_table():
    # Row sums 5 and 7, column sums 4 and 8: the cells are at least 0, 1, 0 and 3.
    found = rebuilt_table(margins_system(np.array([[2, 3], [2, 5]]), [(0,), (1,)]))
    assert (found.rebuilt.certain, found.rebuilt.certain_most) == (4, 4)
    assert found.rebuilt.lower.tolist() == [0, 1, 0, 3]
    assert found.rebuilt.share.value == pytest.approx(4 / 12)
    assert found.rebuilt.is_whole is False
    assert found.n_tables.value == 5
    assert found.to_json() == {
        "persons": {"value": 12, "how": "exact"},
        "certain": {
            "persons": {"value": 4, "how": "exact"},
            "share": {"value": pytest.approx(1 / 3), "how": "exact"},
            "whole": False,
        },
        "distance": {
            "persons": {"value": 8, "how": "exact"},
            "share": {"value": pytest.approx(2 / 3), "how": "exact"},
        },
        "n_tables": {"value": 5, "how": "exact"},
    }


def test_one_table_is_rebuilt_whole():
    found = rebuilt_table(margins_system(np.array([[4, 0], [3, 0]]), [(0,), (1,)]))
    assert found.rebuilt.is_whole
    assert found.rebuilt.certain == 7
    assert found.n_tables.value == 1


def test_an_area_may_be_rebuilt_where_the_rest_is_not():
    rows = [
        Statement(cells=np.array([0, 1]), low=2, high=2, name="here"),
        Statement(cells=np.array([1]), low=0, high=0, name="nobody"),
        Statement(cells=np.array([2, 3]), low=2, high=2, name="there"),
    ]
    assert rebuilt(system_of(4, rows), cells=np.array([0, 1])).is_whole
    assert rebuilt(system_of(4, rows), cells=np.array([2, 3])).is_whole is False
    assert rebuilt(system_of(4, rows)).certain == 2


def test_limits_hold_where_time_is_short():
    table = np.random.default_rng(1).poisson(2, (3, 4, 2))
    system = margins_system(table, [(0, 1), (0, 2), (1, 2)])
    short, exact = rebuilt(system, time_limit=0.01), rebuilt(system)
    assert short.certain <= exact.certain == exact.certain_most <= short.certain_most
    assert short.figure.how is How.BOUND
    assert short.note


def test_nobody_has_no_share():
    found = rebuilt(margins_system(np.zeros((2, 2), dtype=int), [(0,)]))
    assert isinstance(found.share, Unavailable)
