"""Counts that cells are seen to reach in tables walked through from a known one.

A move adds +1 and −1 by turns to the corners of a cube over a set of variables that no margin holds
whole, while every smaller part of it is released; it changes no margin. From a consistent table,
each wanted cell in turn is pushed up or down by moves through it, with others thrown in to make
room. Every table on the way is consistent, so the least and greatest counts seen are attained.
Whether the walk could reach all tables does not matter: it proves attainment and nothing else.
"""

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from discreet.clock import work
from discreet.fiber.bounds.kernels import push_cells
from discreet.fiber.system.decomposable import Axes
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.programs import Deadline
from discreet.numerics.arrays import IntArray

LARGEST_CUBE = 6  # variables of a move: 64 cells
STEPS = 2000  # moves tried for a cell in one pass
FIRST_STEPS, FEW_CELLS = 100, 64  # in the first pass over few cells, which plain loops make
PUSH_SECONDS = 3e-8  # a move tried
PASSES = 40
WORTHWHILE = 0.01  # share of open sides that a pass must close for another to be made
PASS_CELLS = 4096  # sides pushed before the clock is looked at


def minimal_non_faces(sets: Iterable[Axes], sizes: tuple[int, ...]) -> list[Axes]:
    """Sets of variables that lie in no released set, though all their smaller parts do."""
    released = [frozenset(axes) for axes in sets]
    free = [axis for axis, size in enumerate(sizes) if size > 1]
    found: list[Axes] = []
    for size in range(1, min(LARGEST_CUBE, len(free)) + 1):
        for axes in combinations(free, size):
            parts = [frozenset(axes) - {axis} for axis in axes]
            whole = frozenset(axes)
            if any(whole <= s for s in released):
                continue
            if all(any(part <= s for s in released) for part in parts):
                found.append(axes)
    return found


def attained_by_moves(
    margins: Margins,
    table: IntArray,
    limits: tuple[IntArray, IntArray],
    wanted: IntArray,
    deadline: Deadline,
) -> tuple[IntArray, IntArray]:
    """The least and the greatest count of each cell seen on the walk, in C order.

    `table` is consistent, trusted; `limits` are valid bounds, and a cell that has reached one is
    not pushed that way any more. `wanted` are the cells to push.
    """
    least, most = table.ravel().copy(), table.ravel().copy()
    cubes = minimal_non_faces(margins.tables, margins.sizes)
    if not cubes:
        return least, most
    now = table.ravel().copy()
    moves = (*_ragged(cubes), np.array(margins.sizes), _strides(margins.sizes))
    state = np.array([0x9E3779B97F4A7C15], dtype=np.uint64)
    n_open = _open(least, most, limits, wanted)
    first = FIRST_STEPS if len(wanted) <= FEW_CELLS else STEPS
    for steps in (first, *[STEPS] * (PASSES - 1)):
        for start in range(0, len(wanted), PASS_CELLS):
            if deadline.passed:
                return least, most
            part = wanted[start : start + PASS_CELLS]
            push = push_cells.suited(2 * steps * len(part))
            push(now, least, most, *limits, part, *moves, steps, state)
            work(PUSH_SECONDS * steps * len(part))
        left = _open(least, most, limits, wanted)
        if left == 0 or (steps == STEPS and n_open - left < WORTHWHILE * n_open):
            break
        n_open = left
    return least, most


def _open(
    least: IntArray, most: IntArray, limits: tuple[IntArray, IntArray], wanted: IntArray
) -> int:
    """Sides of wanted cells whose limit has not been seen."""
    low, high = least > limits[0], most < limits[1]
    return int(low[wanted].sum() + high[wanted].sum())


def _strides(sizes: tuple[int, ...]) -> IntArray:
    """How far apart neighbours along each axis are, in cells."""
    after = [1, *np.cumprod(sizes[:0:-1], dtype=np.int64).tolist()]
    return np.array(after[::-1], dtype=np.int64)


def _ragged(rows: list[Axes]) -> tuple[IntArray, IntArray]:
    """Where each row begins, and the rows end to end."""
    starts = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    return starts, np.array([axis for row in rows for axis in row], dtype=np.int64)
