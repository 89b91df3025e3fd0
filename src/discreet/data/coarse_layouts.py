"""The coarsest table that holds all figures of some layouts.

Ages that every table puts into the same band need not be told apart: no figure changes when a
person moves between them. So levels that lie in the same categories of all layouts, and in the same
parts, are made one, and variables that no layout has are summed out. What is proved of the coarser
table is proved of the finer one: each table with the same figures is the sum of one with finer
levels, and the other way round.
"""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from discreet.data.layout import Classified, Layout
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray, IntArray

MOST_NAMED = 3  # levels in the name of a group that no category is


def coarsened(layouts: Sequence[Layout]) -> tuple[Layout, ...]:
    """The same layouts on the coarsest table that has all their figures.

    Checked: there is one at least, and all are of one table.
    """
    if not layouts or any(one.table is not layouts[0].table for one in layouts):
        got = "tables of different data" if layouts else "none"
        raise InputError(must_be("tables", "at least one, all of the same data", got))
    table = layouts[0].table
    kept = sorted({axis for one in layouts for axis in (*one.axes, *one.part)})
    groups = {axis: _groups(layouts, axis) for axis in kept}
    own = _merged(table, kept, groups, layouts)
    return tuple(_on(one, own, kept, groups) for one in layouts)


def _groups(layouts: Sequence[Layout], axis: int) -> IntArray:
    """The group of each level of a variable: those that all layouts treat alike."""
    rows = [v.holds for one in layouts for v in one.variables if v.axis == axis]
    rows += [one.part[axis][None, :] for one in layouts if axis in one.part]
    _, first, group = np.unique(
        np.concatenate(rows), axis=1, return_index=True, return_inverse=True
    )
    rank = np.argsort(np.argsort(first))  # groups in the order of their first levels
    return np.asarray(rank[np.ravel(group)], dtype=np.int64)


def _merged(
    table: Table, kept: Sequence[int], groups: dict[int, IntArray], layouts: Sequence[Layout]
) -> Table:
    cells = np.stack([groups[axis][table.cells[:, axis]] for axis in kept], axis=1)
    found = Table(
        names=table.names_of(kept),
        levels=tuple(_names(table, axis, groups[axis], layouts) for axis in kept),
        cells=cells,
        counts=table.counts,
        notes=table.notes,
        doubts=table.doubts,
    )
    return found.over(range(len(kept)))


def _names(table: Table, axis: int, group: IntArray, layouts: Sequence[Layout]) -> tuple[str, ...]:
    """What to call each group: its only level, a category that it is, or its first levels."""
    categories = {
        held.tobytes(): name
        for one in layouts
        for v in one.variables
        if v.axis == axis
        for name, held in zip(v.categories, v.holds, strict=True)
    }
    levels = table.levels[axis]
    found: list[str] = []
    for number in range(int(group.max()) + 1):
        held: BoolArray = group == number
        own = [level for level, is_in in zip(levels, held, strict=True) if is_in]
        name = own[0] if len(own) == 1 else categories.get(held.tobytes()) or _listed(own)
        found.append(name if name not in found else _listed(own))
    return tuple(found)


def _listed(levels: Sequence[str]) -> str:
    more = f" and {len(levels) - MOST_NAMED} more" if len(levels) > MOST_NAMED else ""
    return ", ".join(levels[:MOST_NAMED]) + more


def _on(layout: Layout, own: Table, kept: Sequence[int], groups: dict[int, IntArray]) -> Layout:
    first = {axis: np.unique(group, return_index=True)[1] for axis, group in groups.items()}
    place = {axis: i for i, axis in enumerate(kept)}
    variables = tuple(
        Classified(
            axis=place[v.axis],
            categories=v.categories,
            holds=np.ascontiguousarray(v.holds[:, first[v.axis]]),
        )
        for v in layout.variables
    )
    part = {place[axis]: held[first[axis]] for axis, held in layout.part.items()}
    return replace(layout, table=own, variables=variables, part=MappingProxyType(part))
