"""Hidden counts that can be worked out: those whose least and greatest possible value agree.

Looked for in the table of all variables and in smaller crosses, given all that is out. Bounds that
meet prove a count, whether they are tight or not; bounds that do not meet show that it is hidden
only where both are attained. What is neither may be known, and is counted as that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.clock import Clock, work
from discreet.data.table import DENSE_LIMIT, Table
from discreet.fiber.bounds.contract import Bounds
from discreet.fiber.system.linear_system import Statement
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.numerics.graphs import junction_tree
from discreet.tables.audit_cells import MOST_BOUNDED, bounds_of
from discreet.tables.crosses import MOST_CROSSES, Axes, crosses, entry_bounds, stands_alone, within
from discreet.tables.release import Release
from discreet.tables.ruled_out import RuledOut

SHARE, SECONDS = 0.3, 10.0  # of the time, for the bounds of crosses that others tell of

CROSS_SECONDS = 1e-4  # to see what is released of a cross, for each table


@dataclass(frozen=True, slots=True)
class WorkedOut:
    """Of the hidden counts in the table of these variables at least `least` can be worked out, and
    `most` at most."""

    axes: Axes
    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which counts are looked for: from 1 to `small`, or zeros where that is 0.

    What nesting rules out is no zero of persons. Where the data alone show the nesting, it may be
    one.
    """

    small: int
    nested: RuledOut

    def entries(self, counts: IntArray, axes: Axes, sizes: Sequence[int]) -> tuple[IntArray, int]:
        """The entries of a table to be looked at, and how many more there may be."""
        if self.small:
            return np.flatnonzero((counts > 0) & (counts <= self.small)), 0
        zero = np.asarray(counts == 0)
        can_be = self.nested.possible_cells(sizes, axes)
        may_be = self.nested.confirmed().possible_cells(sizes, axes)
        doubtful = int(np.count_nonzero(zero & may_be & ~can_be))
        return np.flatnonzero(zero & can_be), doubtful


def worked_out(out: Release, small: int, clock: Clock) -> tuple[WorkedOut, ...]:
    """Where hidden counts from 1 to `small`, or zeros for 0, can be worked out from a release.

    A cross of a large table that other variables tell of too is bounded by what is released of its
    own, which shows what can be worked out and not what cannot.
    """
    wanted = Wanted(small=small, nested=out.nested)
    every = tuple(range(len(out.table.names)))
    found = list(_of_release(out, every, wanted, clock)) if out.hides else list(_open(out, wanted))
    known_of = {axis for one in out.known for axis in one.levels}
    smaller = crosses(out.sets, len(every), len(out.table.cells), also=known_of)
    looked, beyond = smaller[:MOST_CROSSES], list(smaller[MOST_CROSSES:])
    alone = [axes for axes in looked if stands_alone(out, axes)]
    linked = [axes for axes in looked if axes not in set(alone)]
    for axes in alone:
        if clock.is_over:
            beyond.append(axes)
            continue
        work(CROSS_SECONDS * (1 + len(out.sets)))
        found += _of_release(within(out, axes), axes, wanted, clock)
    found += [WorkedOut(axes, 0, 1) for axes in beyond]  # not looked at: there may be one
    if out.is_shown:
        found += by_statements(out.table, out.statements(), linked, wanted, clock)
    else:
        for axes in linked:
            found += _of_release(within(out, axes), axes, wanted, clock, all_told=False)
    return tuple(found)


def _open(out: Release, wanted: Wanted) -> Iterator[WorkedOut]:
    """Zeros of a table that is printed whole only by a nesting that the data alone show: they may
    tell of persons."""
    if out.is_shown:
        every = tuple(range(len(out.table.names)))
        _, doubtful = wanted.entries(out.table.dense(), every, out.table.sizes)
        if doubtful:
            yield WorkedOut(every, 0, doubtful)


def by_statements(
    table: Table,
    known: Sequence[Statement],
    every: Sequence[Axes],
    wanted: Wanted,
    clock: Clock,
    *,
    shown: dict[Axes, BoolArray] | None = None,
) -> Iterator[WorkedOut]:
    """In each of the crosses, by all that is known of the cells; figures that are `shown` as they
    are have nothing to be worked out."""
    looked: dict[Axes, IntArray] = {}
    more: dict[Axes, int] = {}
    for axes in every:
        entries, more[axes] = wanted.entries(table.margin(axes), axes, table.sizes)
        if shown is not None and axes in shown:
            entries = entries[~shown[axes].ravel()[entries]]
        looked[axes] = entries
    seconds = clock.share(SHARE, SECONDS) or SECONDS
    some = {axes: entries for axes, entries in looked.items() if len(entries)}
    found = entry_bounds(table, known, some, seconds) if some else {}
    for axes in every:
        least, most = _numbers(found[axes]) if axes in found else (0, 0)
        if most + more[axes]:
            yield WorkedOut(axes, least, most + more[axes])


def _numbers(found: Bounds) -> tuple[int, int]:
    """How many counts are known, and how many may be."""
    met = found.lower == found.upper
    return int(np.count_nonzero(met)), int(np.count_nonzero(met | ~found.exact))


def _of_release(
    own: Release, axes: Axes, wanted: Wanted, clock: Clock, *, all_told: bool = True
) -> Iterator[WorkedOut]:
    """In the table of all variables of a release, which are `axes` of the whole one."""
    wanted = Wanted(small=wanted.small, nested=own.nested)
    if own.is_shown:
        every = tuple(range(len(own.table.names)))
        entries, more = wanted.entries(own.table.dense(), every, own.table.sizes)
        least, most = _bounded(own, entries, clock)
        n_wanted = len(entries)
    elif wanted.small:
        levels = own.table.small_cells(wanted.small)
        n_wanted, more = len(levels), 0
        least, most = _numbers(bounds_of(own, levels[:MOST_BOUNDED], clock))
        most += max(0, n_wanted - MOST_BOUNDED)
    else:
        least, most = _zeros_of_large(own)
        n_wanted, more = most, 0
    most = most if all_told else n_wanted
    if most + more:
        yield WorkedOut(axes, least, most + more)


def _bounded(own: Release, entries: IntArray, clock: Clock) -> tuple[int, int]:
    if not len(entries):
        return 0, 0
    levels = np.stack(np.unravel_index(entries, own.table.sizes), axis=1)
    found = bounds_of(own, levels, clock)
    if own.informative:  # then the bounds are those of all cells
        met, exact = (found.lower == found.upper)[entries], found.exact[entries]
        return int(np.count_nonzero(met)), int(np.count_nonzero(met | ~exact))
    return _numbers(found)


def _zeros_of_large(own: Release) -> tuple[int, int]:
    """Zeros of a table too large to look at every cell.

    Of margins that fit together as a tree a cell may hold somebody exactly if every margin's entry
    does: without a zero in one of them none can be worked out, with one all below it can.
    """
    tree = not own.informative and junction_tree(own.sets) is not None
    printed = any(
        bool(((counts == 0) & own.nested.possible_cells(own.table.sizes, axes)).any())
        for axes, counts in own.margins.tables.items()
        if counts.size <= DENSE_LIMIT
    )
    n_empty = own.table.n_cells - len(own.table.cells)
    if printed:
        return 1, n_empty
    return (0, 0) if tree else (0, n_empty)
