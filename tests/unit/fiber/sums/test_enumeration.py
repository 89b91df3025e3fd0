"""Tables one by one: order, laziness, ends."""

from itertools import islice

import numpy as np

from discreet.fiber.sums.enumeration import tables
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import all_margins, margins_of


def test_the_first_of_very_many():
    table = np.random.default_rng(2).integers(50, 400, (6, 6, 6))
    system = system_of(table.size, margins_of(table, all_margins(3, 2)).statements())
    found = [row.copy() for row in islice(tables(system), 3)]
    assert len({tuple(row) for row in found}) == 3
    for row in found:
        assert system.holds(system.completed(row))
    assert tuple(found[0]) < tuple(found[1]) < tuple(found[2])


def test_an_empty_fiber():
    total = Statement(cells=np.arange(3), low=3, high=3, name="total")
    large = Statement(cells=np.array([1]), low=4, high=9, name="cell 1")
    assert list(tables(system_of(3, [total, large]))) == []


def test_slacks_are_left_out():
    share = Statement(cells=np.arange(2), low=1, high=2, name="range")
    found = [row.tolist() for row in tables(system_of(2, [share]))]
    assert found == [[0, 1], [0, 2], [1, 0], [1, 1], [2, 0]]
