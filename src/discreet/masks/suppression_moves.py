"""The simplest moves: up and down at the corners of a box.

Write every margin as one more level of the variables that it sums over, with a minus sign for each
such variable. Then every line of the table so extended adds up to zero, each published figure is
one of its entries, and a change up and down in turn at the corners of a box keeps all that. A box
within the cells changes no margin; one that has a corner on a margin changes fewer cells. In two
ways the boxes are the familiar rectangles. The cheapest of them is found at once however large the
table is. But longer moves may exist where no box does, or hide less.
"""

from itertools import product

import numpy as np

from discreet.masks.suppression_pattern import Move, Pattern, Problem, move_of
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

OPERATION_SECONDS = 2e-9  # nominal, an addition of prices
SEARCH_SECONDS = 2e-4  # nominal, what a search for a box takes however small the table


class Boxes:
    """The boxes of a table, sought again and again as more figures are hidden."""

    def __init__(self, problem: Problem) -> None:
        figures, table = problem.figures, problem.figures.table
        self._problem = problem
        self._shape = tuple(size + 1 for size in table.sizes)
        self._places = _places(problem, self._shape)
        cells = np.ravel_multi_index(
            np.indices(table.sizes).reshape(len(table.sizes), -1), self._shape
        )
        # What an entry can lose: cells that are not published stay at 0 or above, a figure that is
        # hidden at the least that the rule leaves to it, margins that are not published anywhere.
        self._room = np.full(int(np.prod(self._shape)), np.inf)
        self._room[cells] = problem.counts
        own = figures.counts - problem.rule.least
        self._room[self._places] = np.minimum(self._room[self._places], own)
        self._sign = np.where(_summed_over(self._shape) % 2, -1, 1)
        self._may = problem.may_hide

    def cheapest(
        self, pattern: Pattern, figure: int, steps: int, without: BoolArray | None = None
    ) -> Move | None:
        """The box that raises a figure by so many (lowers it, where they are negative) and costs
        least to hide, or None where none can be made so often; figures `without` stay shown."""
        price = np.zeros(len(self._room))
        price[-1] = np.inf  # the number of persons
        own = np.where(pattern.hidden, 0.0, np.where(self._may, self._problem.costs, np.inf))
        if without is not None:
            own[without] = np.inf
        price[self._places] = own
        falls = np.where(self._room >= abs(steps), price, np.inf)
        at = int(self._places[figure])
        same = self._sign == self._sign[at] if steps > 0 else self._sign != self._sign[at]
        # Corners an even number of turns away change in the sense of the figure, save for the sign
        # that a margin has.
        even = np.where(same, price, falls).reshape(self._shape)
        odd = np.where(same, falls, price).reshape(self._shape)
        change = self._best(even, odd, at)
        return None if change is None else move_of(self._problem, *change)

    def _best(self, even: FloatArray, odd: FloatArray, at: int) -> tuple[IntArray, IntArray] | None:
        levels = [int(level) for level in np.unravel_index(at, self._shape)]
        pairs = zip(self._shape, levels, strict=True)
        others = [np.delete(np.arange(size), level) for size, level in pairs]
        total = np.zeros(())
        for turns in product((False, True), repeat=len(levels)):
            chosen = [
                rest if turn else np.array([level])
                for rest, turn, level in zip(others, turns, levels, strict=True)
            ]
            total = total + (odd if sum(turns) % 2 else even)[np.ix_(*chosen)]
        self._problem.budget.spend(
            SEARCH_SECONDS + OPERATION_SECONDS * 2 ** len(levels) * total.size
        )
        if total.size == 0 or not np.isfinite(total.min()):
            return None
        best = np.unravel_index(int(np.argmin(total)), total.shape)
        far = [int(rest[place]) for rest, place in zip(others, best, strict=True)]
        return self._change(levels, far)

    def _change(self, near: list[int], far: list[int]) -> tuple[IntArray, IntArray]:
        """The cells at the corners between two of them, and by how much they change."""
        sizes = self._problem.figures.table.sizes
        cells, by = [], []
        for turns in product((False, True), repeat=len(near)):
            corner = [b if turn else a for a, b, turn in zip(near, far, turns, strict=True)]
            if all(level < size for level, size in zip(corner, sizes, strict=True)):
                cells.append(int(np.ravel_multi_index(corner, sizes)))
                by.append(-1 if sum(turns) % 2 else 1)
        order = np.argsort(cells)
        return np.array(cells, dtype=np.int64)[order], np.array(by, dtype=np.int64)[order]


def _places(problem: Problem, shape: tuple[int, ...]) -> IntArray:
    """Where each figure stands in the extended table."""
    sizes, found = problem.figures.table.sizes, []
    for axes in problem.figures.sets:
        own_sizes = [sizes[axis] for axis in axes]
        n = int(np.prod(own_sizes, dtype=np.int64))
        levels = np.indices(own_sizes).reshape(len(axes), n)
        entry = [np.full(n, size, dtype=np.int64) for size in sizes]
        for axis, own in zip(axes, levels, strict=True):
            entry[axis] = own
        found.append(np.ravel_multi_index(entry, shape))
    return np.concatenate(found)


def _summed_over(shape: tuple[int, ...]) -> IntArray:
    """Over how many variables each entry of the extended table is a sum."""
    total = np.zeros(shape, dtype=np.int64)
    for axis, size in enumerate(shape):
        last = np.arange(size) == size - 1
        total = total + last.reshape([-1 if other == axis else 1 for other in range(len(shape))])
    return total.ravel()
