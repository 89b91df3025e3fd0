"""Groups of persons that a release proves to share a level, and what was not looked at for them.

A cell may hold somebody if its upper bound is above 0. A group shares a level of the target if no
cell of its persons with another level may. For decomposable margins a cell may hold somebody
exactly if every margin's entry does (the upper bound of Dobra–Fienberg is the least of them), which
needs no list of cells: so groups are sought in tables of any size. Other margins of a large table
are covered by decomposable ones, which tell more; where even these show no group, none is shown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.clock import Clock
from discreet.data.table import DENSE_LIMIT, Table
from discreet.fiber.system.margins import Margins
from discreet.numerics.arrays import IntArray
from discreet.numerics.graphs import Graph, junction_tree
from discreet.tables.audit_cells import bounds_of
from discreet.tables.groups import (
    Learned,
    learned_from_bounds,
    learned_from_margins,
    learned_from_supports,
)
from discreet.tables.release import MOST_SHOWN, Release
from discreet.tables.ruled_out import is_common

NOT_ALL = (
    f"the table has more than {MOST_SHOWN:,} cells, and its margins do not fit together as a tree; "
    "what each shows by itself was searched, what they show together was not"
)

Targets = Sequence[int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGroups:
    """`learned` are the groups shown to share a level, beyond what everybody knows.

    `unless_nested` are those that are shown unless everybody knows what the data alone show of
    nested variables. `not_sought` says which groups were not looked for, nothing where all were.
    """

    learned: tuple[Learned, ...]
    unless_nested: tuple[Learned, ...] = ()
    not_sought: str = ""


def shown_by_release(
    out: Release, upper: IntArray | None, targets: Targets, clock: Clock
) -> ShownGroups:
    """The groups that margins and what else is known prove to share a level.

    `upper` are the upper bounds of all cells of a table that is shown. What everybody knows is left
    out. Where nesting that the data alone show would excuse a group, the release is looked at once
    more without that nesting.
    """

    def news(own: Release, most: IntArray | None) -> tuple[tuple[Learned, ...], str]:
        def is_news(one: Learned) -> bool:
            return not is_common(one, own.table, own.nested, own.known)

        plain = not own.informative
        return proved_groups(own.table, own.margins, most, targets, is_news, plain=plain)

    learned, missed = news(out, upper)
    if learned or not out.nested.unconfirmed:
        return ShownGroups(learned=learned, not_sought=missed)
    bare = out.with_nesting(out.nested.confirmed())
    more, also_missed = news(bare, _upper(bare, clock) if bare.is_shown else None)
    return ShownGroups(learned=(), unless_nested=more, not_sought=missed or also_missed)


def proved_groups(
    table: Table,
    margins: Margins | None,
    upper: IntArray | None,
    targets: Targets,
    is_news: Callable[[Learned], bool],
    *,
    plain: bool = True,
) -> tuple[tuple[Learned, ...], str]:
    """The groups that are news, and what was not looked at (nothing where all was).

    By single margins; by the upper bounds of all cells, where they are given; else by the margins
    together, which are all that is known where it is `plain`.
    """
    found = () if margins is None else learned_from_margins(margins, targets)
    missed = ""
    if upper is not None:
        found += learned_from_bounds(upper, table.dense(), targets, proved=found)
    elif not plain:
        missed = NOT_ALL
    elif margins is not None:
        sets = list(margins.tables)
        if junction_tree(sets) is not None:
            found += learned_from_supports(table, sets, targets, proved=found)
        elif _may_show(table, sets, targets, is_news):
            missed = NOT_ALL
    return tuple(filter(is_news, found)), missed


def _may_show(
    table: Table,
    sets: Sequence[tuple[int, ...]],
    targets: Targets,
    is_news: Callable[[Learned], bool],
) -> bool:
    """Whether decomposable margins that hold the given ones show a group, or are too large."""
    cover = Graph.of_generators(len(table.names), sets).triangulated().cliques
    if any(prod(table.sizes[axis] for axis in axes) > DENSE_LIMIT for axes in cover):
        return True
    return any(map(is_news, learned_from_supports(table, cover, targets)))


def possible_cells(margins: Margins) -> IntArray:
    """1 where a cell of decomposable margins may hold somebody, as an array shaped as the table."""
    possible = np.ones(margins.sizes, dtype=np.int64)
    for axes, counts in margins.tables.items():
        others = tuple(i for i in range(possible.ndim) if i not in axes)
        possible *= np.expand_dims(counts > 0, others)
    return possible


def _upper(out: Release, clock: Clock) -> IntArray:
    """Upper bounds of all cells of a table that is shown, or what is as good."""
    if not out.informative and junction_tree(out.sets) is not None:
        return possible_cells(out.margins)
    upper: IntArray = bounds_of(out, out.levels(1), clock).upper.reshape(out.table.sizes)
    return upper
