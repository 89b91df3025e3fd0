"""Bounds of unions of cells that are small, such as all ages under 16 in one village.

Entries of the coarser crosses count, as far as no table shows them and they are not known anyway.
Each is one more column of the system, the sum of its cells.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.clock import Clock
from discreet.fiber.bounds.by_programming import Work
from discreet.fiber.bounds.contract import Bounds
from discreet.fiber.system.linear_system import with_sum
from discreet.fiber.system.programs import Deadline
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress
from discreet.tables.linked.crosses import crosses_of, entries_of
from discreet.tables.linked.reduced import Reduced
from discreet.tables.linked.witnesses import SAME, Witnesses

MOST_UNIONS = 200  # that are bounded
MOST_CELLS = 4096  # of tables whose unions are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Union:
    """Atoms that are a cell of a coarser cross, with bounds of their sum."""

    atoms: IntArray
    lower: int
    upper: int
    how: str


def small_unions(
    seen: Witnesses,
    counts: IntArray | None,
    small: int,
    clock: Clock,
    progress: Progress,
) -> tuple[tuple[Union, ...], int]:
    """Small unions with their bounds, and how many more were not bounded.

    `counts` are the true counts of the atoms, where there are data: then those count that are small
    in truth; without, those that are small in every table that was found.
    """
    known = seen.known
    if known.n_unlimited or not 0 < len(known.limited) <= MOST_CELLS:
        return (), 0
    found = list(_candidates(seen, counts, small))
    chosen = found[:MOST_UNIONS]
    if not chosen:
        return (), 0
    limits = _bounded(known, chosen, counts, clock, progress)
    unions = []
    for place, atoms in enumerate(chosen):
        least, most = limits.how(place)
        same = least if least == most else max(least, most)
        unions.append(
            Union(
                atoms=atoms,
                lower=int(limits.lower[place]),
                upper=int(limits.upper[place]),
                how=same.text,
            )
        )
    return tuple(unions), len(found) - len(chosen)


def _candidates(seen: Witnesses, counts: IntArray | None, small: int) -> Iterator[IntArray]:
    """Unions of several atoms that are small, are not shown, and are not the same in all tables."""
    universe = seen.known.universe
    told = set(universe.row_keys[universe.is_shown].tolist())
    for axes in crosses_of(universe)[1:]:
        entry = entries_of(universe, axes)
        n = len(entry.valid)
        low, high = seen.sums(entry.of_atom, n)
        wanted = entry.valid & (high - low > SAME)
        if counts is None:
            wanted &= (low > 0.5) & (high < small + 0.5)
        else:
            sums = np.bincount(entry.of_atom, weights=counts, minlength=n)
            wanted &= (sums > 0) & (sums <= small)
        for place in np.flatnonzero(wanted).tolist():
            atoms = entry.atoms(place)
            key = int(np.add.reduce(universe.keys[atoms], dtype=np.uint64))
            if len(atoms) > 1 and key not in told:
                told.add(key)
                yield atoms


def _bounded(
    known: Reduced,
    unions: list[IntArray],
    counts: IntArray | None,
    clock: Clock,
    progress: Progress,
) -> Bounds:
    """The bounds of the sums, each a column behind all others."""
    system = known.system
    first = system.n_columns
    for atoms in unions:
        system = with_sum(system, np.searchsorted(known.limited, atoms))
    columns = np.arange(first, system.n_columns)
    tables = [] if counts is None else [counts[known.limited]]
    return Work(system, tables, Deadline(clock.left()), progress).bounds(columns)
