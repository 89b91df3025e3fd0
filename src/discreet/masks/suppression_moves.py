"""Witnesses of a sensitive figure by the simplest change of a table: up and down at the corners of
a box.

With a second level for each variable of the figure and one level for every other variable, the
corners of the box are raised and lowered in turn. A margin that lacks one of the figure's variables
does not notice; those that have them all change by the same amount, up or down. In two ways this is
the familiar rectangle. It is found at once however large the table is, though it need not exist
where other witnesses do, and may hide more than they would.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet.masks.contract import Axes
from discreet.masks.suppression_figures import Figures, Needs, Rule
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Steps:
    """How far a box raises the figure in one table and lowers it in another."""

    up: int
    down: int

    @classmethod
    def for_needs(cls, needs: Needs, count: int) -> "Steps":
        """The least steps that give an interval all it must reach."""
        down = max(0, count - needs.low)
        return cls(max(needs.high - count, needs.width - down, 0), down)


def cheapest_box(
    figures: Figures, rule: Rule, costs: IntArray, hidden: BoolArray, figure: int, steps: Steps
) -> IntArray | None:
    """The change of the cells by one at the corners of the box that costs least to hide, or None.

    The figure itself goes up. `steps` times this change, up, and down with a minus sign, are
    witnesses of the figure once every figure that changes is hidden.
    """
    axes, levels = _place(figures, figure)
    sizes = figures.table.sizes
    others = [np.delete(np.arange(sizes[a]), v) for a, v in zip(axes, levels, strict=True)]
    may = rule.may_hide(figures.counts) & ~figures.is_total
    price = np.where(hidden, 0.0, np.where(may, costs, np.inf))
    total = np.zeros(())
    for flips in product((False, True), repeat=len(axes)):
        needed = rule.least + (steps.up if sum(flips) % 2 else steps.down)
        corner = np.where(figures.counts >= needed, price, np.inf)
        at = zip(others, flips, levels, strict=True)
        chosen = [rest if flip else np.array([level]) for rest, flip, level in at]
        total = total + _summed(figures, corner, axes, chosen, needed - rule.least)
    if total.size == 0 or not np.isfinite(total.min()):
        return None
    best = np.unravel_index(int(np.argmin(total)), total.shape)
    return _change(figures, axes, levels, others, tuple(int(place) for place in best))


def _place(figures: Figures, figure: int) -> tuple[Axes, tuple[int, ...]]:
    """The variables of a figure and their levels."""
    table = int(np.searchsorted(figures.first, figure, side="right")) - 1
    axes = figures.sets[table]
    shape = tuple(figures.table.sizes[axis] for axis in axes)
    entry = figure - int(figures.first[table])
    return axes, tuple(int(level) for level in np.unravel_index(entry, shape))


def _summed(
    figures: Figures, values: FloatArray, axes: Axes, chosen: Sequence[IntArray], needed: int
) -> FloatArray:
    """What one corner costs for every box: all figures there that have the variables `axes`, and
    the cells themselves, which must have `needed` persons whether they are published or not."""
    own = dict(zip(axes, chosen, strict=True))
    every = range(len(figures.table.sizes))
    pick = [own.get(axis, np.arange(figures.table.sizes[axis])) for axis in every]
    cells = figures.table.dense()[np.ix_(*pick)]
    total = np.where(cells >= needed, 0.0, np.inf)
    for one, part in zip(figures.sets, figures.split(values), strict=True):
        if set(axes) <= set(one):
            here = part[np.ix_(*(pick[axis] for axis in one))]
            shape = [here.shape[one.index(axis)] if axis in one else 1 for axis in every]
            total = total + here.reshape(shape)
    return np.asarray(total)


def _change(
    figures: Figures,
    axes: Axes,
    levels: Sequence[int],
    others: Sequence[IntArray],
    best: tuple[int, ...],
) -> IntArray:
    change = np.zeros(figures.table.sizes, dtype=np.int64)
    for flips in product((False, True), repeat=len(axes)):
        corner = list(best)
        for axis, flip, level, rest in zip(axes, flips, levels, others, strict=True):
            corner[axis] = int(rest[best[axis]]) if flip else level
        change[tuple(corner)] = -1 if sum(flips) % 2 else 1
    return change.ravel()
