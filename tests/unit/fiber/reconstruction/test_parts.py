"""Parts of a system that vary freely."""

import numpy as np

from discreet.fiber.reconstruction.parts import parts_of
from discreet.fiber.system.linear_system import Statement, system_of


def test_a_sum_that_others_imply_ties_nothing():
    rows = [Statement(cells=np.arange(6), low=6, high=6, name="total")]
    for start in (0, 2, 4):
        cells = np.array([start, start + 1])
        rows.append(Statement(cells=cells, low=2, high=2, name=f"part {start}"))
    found = parts_of(system_of(6, rows))
    assert [part.columns.tolist() for part in found.parts] == [[0, 1], [2, 3], [4, 5]]
    assert [part.system.right.tolist() for part in found.parts] == [[2], [2], [2]]


def test_a_sum_that_others_do_not_imply_ties_them():
    rows = [
        Statement(cells=np.arange(4), low=4, high=4, name="total"),
        Statement(cells=np.array([0, 1]), low=0, high=3, name="left"),
    ]
    assert [len(part.columns) for part in parts_of(system_of(4, rows)).parts] == [5]
