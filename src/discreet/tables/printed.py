"""Small counts and zeros that a release prints: nobody has to work them out.

A table that goes out shows its own cells and every sum of them, at each level of aggregation. A
count from 1 to `small` there is known for certain, whatever stays hidden of a larger table.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import BoolArray, IntArray

Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Printed:
    """So many small counts stand in the table of these variables, `()` being the total."""

    axes: Axes
    number: int


def printed_small_counts(tables: Mapping[Axes, IntArray], small: int) -> tuple[Printed, ...]:
    """Where the tables, and all sums over variables of theirs, show counts from 1 to `small`.

    Each table of sums comes once, the largest first. One without a small count has none in its own
    sums either, since a sum from 1 to `small` has a term from 1 to `small`: so it ends there.
    """
    found = (
        Printed(axes, n_small(table, small))
        for axes, table in _with_sums(tables, lambda own: n_small(own, small) > 0)
    )
    return tuple(sorted(found, key=lambda one: (-len(one.axes), one.axes)))


def printed_zeros(
    tables: Mapping[Axes, IntArray], possible: Callable[[Axes], BoolArray]
) -> tuple[Printed, ...]:
    """Where the tables, and all sums over variables of theirs, show that nobody is there.

    `possible` says which entries of a table can be: what cannot is no zero of persons.
    """
    found = (
        Printed(axes, int(np.count_nonzero((table == 0) & possible(axes))))
        for axes, table in _with_sums(tables, lambda own: bool((own == 0).any()))
    )
    return tuple(
        sorted((one for one in found if one.number), key=lambda one: (-len(one.axes), one.axes))
    )


def _with_sums(
    tables: Mapping[Axes, IntArray], goes_on: Callable[[IntArray], bool]
) -> Iterator[tuple[Axes, IntArray]]:
    """The tables, and sums over their variables, as far as they go on; each once."""
    left = sorted(tables.items(), key=lambda item: (-len(item[0]), item[0]))
    looked_at: set[Axes] = set()
    while left:
        axes, table = left.pop(0)
        if axes in looked_at:
            continue
        looked_at.add(axes)
        if goes_on(table):
            yield axes, table
            left += [
                (axes[:i] + axes[i + 1 :], np.asarray(table.sum(axis=i))) for i in range(len(axes))
            ]


def n_small(counts: IntArray, small: int) -> int:
    """How many counts are from 1 to `small`."""
    return int(np.count_nonzero((counts > 0) & (counts <= small)))


def number_printed(found: Iterable[Printed]) -> int:
    """All small counts together."""
    return sum(one.number for one in found)
