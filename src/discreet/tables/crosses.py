"""Smaller crosses of what is out: a small count that is found there is found.

Of [a][b][c] an intruder may be unsure of every cell a × b × c, and yet know that one person has
a = 1 and b = 2: finer cells only split what he found. So a release is judged by the table of all
its variables, and by smaller ones: of any of its tables taken together, and of every two or three
of its variables. Then neither one more table that goes out nor one more variable that is named
hides what the others give away.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from math import comb

import numpy as np

from discreet.data.table import Table
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.bounds.contract import Bounds
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import maximal
from discreet.masks.contract import entry_groups
from discreet.numerics.arrays import IntArray
from discreet.numerics.bit_sets import lies_within, set_of
from discreet.tables.release import Release, assembled

Axes = tuple[int, ...]
MOST_CROSSES = 500
MOST_WORK = 50_000_000  # occupied cells × crosses
MOST_LISTED = 2000  # tables taken together, before those that are printed whole are left out
MOST_SETS = 6  # released tables of which every choice is taken together


def crosses(
    sets: Iterable[Axes],
    n_variables: int,
    n_occupied: int = 1,
    *,
    also: Collection[int] = (),
    exact: bool = True,
) -> tuple[Axes, ...]:
    """The crosses of fewer than `n_variables` that a release of these tables is judged by, the
    smallest first; `also` are variables that something else is known of, each a cross by itself.

    Left out: what is printed whole in one table, where figures are `exact`. Of many variables only
    pairs are looked at, of very many only tables taken together, and no more of these than one
    beyond MOST_CROSSES, which stands for all that are not looked at: which ones depends on the size
    of the question, never on the clock.
    """
    own = [frozenset(axes) for axes in maximal(sets)]
    every = sorted(frozenset(also).union(*own))
    most = min(MOST_CROSSES, MOST_WORK // max(1, n_occupied))
    found = {frozenset(every), frozenset[int]().union(*own)}
    found |= set(islice(_unions(own), MOST_LISTED))
    found |= {frozenset([axis]) for axis in also}
    for size in (2, 3):
        if sum(comb(len(every), k) for k in range(2, size + 1)) <= most:
            found |= set(map(frozenset, combinations(every, size)))
    told = [set_of(one) for one in own] if exact else [0]
    hidden = (one for one in found if not lies_within(set_of(one), told))
    listed = (tuple(sorted(one)) for one in hidden if len(one) < n_variables)
    return tuple(sorted(listed, key=lambda axes: (len(axes), axes))[: MOST_CROSSES + 1])


def _unions(sets: Sequence[frozenset[int]]) -> Iterator[frozenset[int]]:
    """Any of the tables taken together; of many, any two and all but one."""
    numbers = range(2, len(sets)) if len(sets) <= MOST_SETS else (2, len(sets) - 1)
    for number in numbers:
        for some in combinations(sets, number):
            yield frozenset[int]().union(*some)


def within(out: Release, axes: Axes) -> Release:
    """What a release and what is known besides tell of some of its variables by themselves.

    What reaches them by way of other variables is left out.
    """
    own, place = out.table.over(axes), {axis: i for i, axis in enumerate(axes)}
    sets = maximal(tuple(place[axis] for axis in one if axis in place) for one in out.sets)
    known = (one for one in out.known if one.levels.keys() <= place.keys())
    return assembled(
        own,
        sets,
        out.nested.within(axes),
        known=tuple(
            replace(one, levels={place[axis]: level for axis, level in one.levels.items()})
            for one in known
        ),
    )


def stands_alone(out: Release, axes: Axes) -> bool:
    """Whether `within` leaves out nothing: the other variables tell nothing more of these.

    They do not where each group of them that tables connect touches these within one table: given
    its margin there, whatever the group holds is matched with the rest at random.
    """
    own = set(axes)
    if any(not one.levels.keys() <= own for one in out.informative):
        return False
    sets = [set(one) for one in out.sets]
    left = set().union(*sets) - own
    while left:
        group, grown = set[int](), {left.pop()}
        while grown:
            group |= grown
            near = set().union(*(one for one in sets if one & group))
            grown = near - own - group
        left -= group
        touched = set().union(*(one for one in sets if one & group)) & own
        if not any(touched <= one for one in sets):
            return False
    return True


def entry_bounds(
    table: Table,
    known: Sequence[Statement],
    wanted: Mapping[Axes, IntArray],
    time_limit: float | None,
) -> dict[Axes, Bounds]:
    """The least and the greatest count of entries of margins, by all that is known of the cells.

    `wanted` names the entries of each margin, in C order. A sum of cells becomes a column of its
    own: what it lacks to the number of persons, tied to its cells by an equation. Bounds that meet
    prove the figure, whether they are tight or not.
    """
    statements, point = list(known), table.dense().ravel().tolist()
    for axes, entries in wanted.items():
        groups, sums = entry_groups(table, axes), table.margin(axes).ravel()
        for entry in entries.tolist():
            tied = np.append(groups[entry], len(point))
            lack = Statement(cells=tied, low=table.total, high=table.total, name="lack")
            statements.append(lack)
            point.append(table.total - int(sums[entry]))
    found = bounds(
        system_of(len(point), statements),
        cells=np.arange(table.n_cells, len(point), dtype=np.int64),
        tables=[np.array(point, dtype=np.int64)],
        time_limit=time_limit,
    )
    ends = np.cumsum([len(entries) for entries in wanted.values()]).tolist()
    return {
        axes: Bounds(
            lower=table.total - found.upper[end - len(entries) : end],
            upper=table.total - found.lower[end - len(entries) : end],
            lower_proof=found.upper_proof[end - len(entries) : end].copy(),
            upper_proof=found.lower_proof[end - len(entries) : end].copy(),
            note=found.note,
        )
        for (axes, entries), end in zip(wanted.items(), ends, strict=True)
    }
