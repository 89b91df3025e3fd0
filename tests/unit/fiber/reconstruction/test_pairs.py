"""Pairs of points as points of a system."""

import numpy as np

from discreet.fiber.reconstruction.pairs import pair_system, surplus
from discreet.fiber.system.linear_system import Statement, system_of

BLOCK = system_of(
    4,
    [
        Statement(cells=np.array([0, 1, 2]), low=3, high=3, name="a"),
        Statement(cells=np.array([1, 2, 3]), low=1, high=2, name="b"),
    ],
)


def test_a_pair_and_its_point_are_one_to_one():
    first, second = (BLOCK.completed(np.array(table)) for table in ([3, 0, 0, 1], [1, 0, 2, 0]))
    counted = np.array([True, True, True, False, False])
    pairs = pair_system(BLOCK, counted)
    point = pairs.point((first, second))
    assert pairs.system.holds(point)
    assert point[pairs.surplus].sum() == surplus(first[counted], second[counted]) == 2
    again = pairs.read(point)
    assert again[0].tolist() == first.tolist()
    assert again[1].tolist() == second.tolist()


def test_persons_that_both_tables_have_are_no_surplus():
    counted = np.ones(5, dtype=bool)
    pairs = pair_system(BLOCK, counted)
    point = pairs.point((BLOCK.completed(np.array([3, 0, 0, 1])),) * 2)
    more = point.copy()
    more[pairs.surplus[0]] += 1  # as if one person of the first cell were not of both
    more[0] -= 1
    more[2 * 5] += 1
    assert pairs.system.holds(point)
    assert not pairs.system.holds(more)
