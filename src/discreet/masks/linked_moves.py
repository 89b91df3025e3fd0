"""The simplest moves of linked tables: up and down at the corners of a box of cells.

A box has two levels of some variables and one of each other. Cells at its corners change by +1 and
−1 in turn, so that every sum along a variable with two levels stays. A figure that counts the
categories k changes by

    Π H(k, near) − H(k, far)   over variables with two levels      × Π H(k, near)   over the others,

where H says which levels a category holds, and a variable that a table does not have is a single
category with all levels. So the charge of all boxes from one cell is, table by table, a product of
small matrices with the prices of the figures, however categories overlap.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from discreet.data.layout import Layout
from discreet.masks.linked_figures import LinkedFigures
from discreet.masks.suppression_pattern import Move, Pattern, Problem, move_of
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

SHUT = 1e30  # the price of a figure that must be shown; finite, since it is multiplied by 0
OPERATION_SECONDS = 4e-9  # nominal, an addition of prices
SEARCH_SECONDS = 5e-4  # nominal, what a search for a box takes however small the tables
STARTS = 4  # cells of a figure from which boxes are tried

_Box = tuple[float, tuple[int, ...], list[int]]  # cost, near corner, far corner


class LinkedBoxes:
    """The boxes of linked tables, sought again and again as more figures are hidden."""

    def __init__(self, problem: Problem) -> None:
        assert isinstance(problem.figures, LinkedFigures)
        self._problem, self._figures = problem, problem.figures
        self._sizes = problem.figures.table.sizes
        self._may = problem.may_hide
        self._room = problem.figures.counts - problem.rule.least
        self._first = _first_entries(problem.figures)
        self._axes = [_axes(one) for one in problem.figures.layouts]

    def cheapest(
        self, pattern: Pattern, figure: int, steps: int, without: BoolArray | None = None
    ) -> Move | None:
        """The box that raises a figure by so many (lowers it, where they are negative) and costs
        least to hide, or None where none can be made so often; figures `without` stay shown."""
        prices = np.where(self._may, self._problem.costs, SHUT).astype(np.float64)
        prices[pattern.hidden] = 0.0
        if without is not None:
            prices[without] = SHUT
        falls = np.where(self._room >= abs(steps), prices, SHUT)
        both = self._by_table(prices), self._by_table(falls)
        best: _Box | None = None
        held = self._levels(figure)
        self._problem.budget.spend(SEARCH_SECONDS)
        for near in self._starts(figure, steps):
            for turned in self._turns(held):
                found = self._best(held, near, turned, both if steps > 0 else both[::-1], steps)
                if found is not None and (best is None or found[0] < best[0]):
                    best = found
        if best is None:
            return None
        return move_of(self._problem, *self._change(best[1], best[2]))

    def _by_table(self, prices: FloatArray) -> list[FloatArray]:
        """Prices in the shape of each table, an axis for every variable; a figure that several
        tables have is paid for once."""
        padded = np.append(prices, 0.0)
        found = []
        for own, layout in zip(self._first, self._figures.layouts, strict=True):
            ordered = padded[own].reshape(layout.shape).transpose(np.argsort(layout.axes))
            absent = [axis for axis in range(len(self._sizes)) if axis not in layout.axes]
            found.append(np.expand_dims(ordered, absent))
        return found

    def _starts(self, figure: int, steps: int) -> Iterator[tuple[int, ...]]:
        """Cells of a figure with the most persons, from which the most can be taken."""
        cells = self._figures.cells(figure)
        counts = self._problem.counts[cells]
        able = cells[(counts >= abs(steps)) | (steps > 0)]
        order = np.argsort(-self._problem.counts[able], kind="stable")[:STARTS]
        for cell in able[order].tolist():
            yield tuple(int(level) for level in np.unravel_index(cell, self._sizes))

    def _turns(self, held: list[BoolArray]) -> Iterator[tuple[bool, ...]]:
        """Which variables have two levels: one at least, and none that the figure counts whole."""
        ways = [(False,) if np.all(own) else (False, True) for own in held]
        for turned in product(*ways):
            if any(turned):
                yield turned

    def _levels(self, figure: int) -> list[BoolArray]:
        """The levels of each variable that a figure holds."""
        found = []
        for levels, size in zip(
            np.unravel_index(self._figures.cells(figure), self._sizes), self._sizes, strict=True
        ):
            held = np.zeros(size, dtype=np.bool_)
            held[levels] = True
            found.append(held)
        return found

    def _best(
        self,
        held: list[BoolArray],
        near: tuple[int, ...],
        turned: tuple[bool, ...],
        prices: tuple[list[FloatArray], list[FloatArray]],
        steps: int,
    ) -> _Box | None:
        """The box from a cell that costs least, as its cost and both corners."""
        far = [
            np.flatnonzero(~own) if turn else np.array([level])
            for own, turn, level in zip(held, turned, near, strict=True)
        ]
        total = self._cells_that_fall(near, far, turned, steps)
        for axes, rises, falls in zip(self._axes, *prices, strict=True):
            total = total + self._charge(axes, near, far, turned, rises, falls)
        if not total.size or total.min() >= SHUT:
            return None
        place = np.unravel_index(int(np.argmin(total)), total.shape)
        corner = [int(own[i]) for own, i in zip(far, place, strict=True)]
        return float(total[place]), near, corner

    def _cells_that_fall(
        self, near: tuple[int, ...], far: list[IntArray], turned: tuple[bool, ...], steps: int
    ) -> FloatArray:
        """Shut where a corner that falls has not so many persons."""
        counts = self._problem.counts.reshape(self._sizes)
        total = np.zeros([len(own) for own in far])
        for turns in product(*((False, True) if turn else (False,) for turn in turned)):
            if (sum(turns) % 2 == 1) is (steps > 0):
                chosen = [
                    own if turn else np.array([level])
                    for own, turn, level in zip(far, turns, near, strict=True)
                ]
                total = total + np.where(counts[np.ix_(*chosen)] < abs(steps), SHUT, 0.0)
        return total

    def _charge(
        self,
        axes: list["_Axis"],
        near: tuple[int, ...],
        far: list[IntArray],
        turned: tuple[bool, ...],
        rises: FloatArray,
        falls: FloatArray,
    ) -> FloatArray:
        """What the figures of one table cost that change, for every far corner."""
        up, down = rises, falls
        for place, (axis, turn) in enumerate(zip(axes, turned, strict=True)):
            if not turn:  # what does not hold the level does not change
                own = axis.of_level(near[place])
                up = up.take(own, axis=place).sum(axis=place, keepdims=True)
                down = down.take(own, axis=place).sum(axis=place, keepdims=True)
        for place, (axis, turn) in enumerate(zip(axes, turned, strict=True)):
            # The axis in front is summed out, and its far levels come last: after all variables
            # their order is again that of the table.
            if not turn:
                up, down = np.moveaxis(up, 0, -1), np.moveaxis(down, 0, -1)
                continue
            n_far = len(far[place])
            self._problem.budget.spend(OPERATION_SECONDS * axis.width * n_far * up[0].size)
            rest = up.shape[1:]
            pairs = axis.left(up, near[place], far[place]), axis.left(down, near[place], far[place])
            (up_left, up_come), (down_left, down_come) = pairs
            shape = (n_far, *rest)
            up = np.moveaxis((up_left + down_come).reshape(shape), 0, -1)
            down = np.moveaxis((down_left + up_come).reshape(shape), 0, -1)
        return up

    def _change(self, near: tuple[int, ...], far: list[int]) -> tuple[IntArray, IntArray]:
        """The cells at the corners between two of them, and by how much they change."""
        ways = [((a, 0), (b, 1)) if a != b else ((a, 0),) for a, b in zip(near, far, strict=True)]
        corners = list(product(*ways))
        levels = np.array([[level for level, _ in corner] for corner in corners]).T
        cells = np.ravel_multi_index(tuple(levels), self._sizes).astype(np.int64)
        by = np.array([1 - 2 * (sum(turn for _, turn in corner) % 2) for corner in corners])
        order = np.argsort(cells)
        return cells[order], by[order].astype(np.int64)


def _first_entries(figures: LinkedFigures) -> list[IntArray]:
    """The figure of each entry, with the number of figures where it has none or an earlier one
    has it."""
    seen = np.zeros(figures.n + 1, dtype=np.bool_)
    found = []
    for own in figures.entries:
        own = np.where(own < 0, figures.n, own)
        fresh = np.full(len(own), figures.n, dtype=np.int64)
        _, first = np.unique(own, return_index=True)
        fresh[first] = own[first]
        fresh[seen[fresh]] = figures.n
        seen[own] = True
        found.append(fresh)
    return found


class _Axis:
    """The categories of one variable: which of them hold a level, few of many."""

    def __init__(self, holds: BoolArray) -> None:
        self._holds = holds
        n_categories, n_levels = holds.shape
        self.width = max(1, int(holds.sum(axis=0).max(initial=0)))
        self._slots = np.full((self.width, n_levels), n_categories, dtype=np.int64)
        for level in range(n_levels):
            own = np.flatnonzero(holds[:, level])
            self._slots[: len(own), level] = own

    def of_level(self, level: int) -> IntArray:
        """The categories that hold a level."""
        return np.flatnonzero(self._holds[:, level])

    def left(self, prices: FloatArray, near: int, far: IntArray) -> tuple[FloatArray, FloatArray]:
        """For each far level, the prices of the categories that hold the near level and not it, and
        of those that hold it and not the near one."""
        flat = prices.reshape(len(prices), -1)
        left = np.zeros((len(far), flat.shape[1]))
        for category in self.of_level(near).tolist():
            left += np.multiply.outer(~self._holds[category, far], flat[category])
        padded = np.concatenate([flat, np.zeros((1, flat.shape[1]))])
        is_other = np.append(~self._holds[:, near], False)
        come = np.zeros_like(left)
        for slot in self._slots[:, far]:
            come += padded[slot] * is_other[slot, None]
        return left, come


def _axes(layout: Layout) -> list[_Axis]:
    """The categories of a layout, variable by variable of the table; a variable that it has not is
    a single category with all levels of its part."""
    own = {one.axis: one.holds for one in layout.variables}
    found = []
    for axis, size in enumerate(layout.table.sizes):
        held = own.get(axis, np.ones((1, size), dtype=np.bool_))
        found.append(_Axis(held & layout.part[axis] if axis in layout.part else held))
    return found
