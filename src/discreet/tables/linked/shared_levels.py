"""Groups of persons who are shown to share a part of a variable: a whole row in one cell.

A group is a combination of parts of some variables. Its members share a part of another where all
its other parts can only be empty, and somebody is in it for certain. Of a group within one that is
listed nothing is told.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.numerics.arrays import BoolArray, IntArray
from discreet.tables.linked.naming import said
from discreet.tables.linked.universe import Universe


@dataclass(frozen=True, slots=True)
class SharedLevel:
    """All persons of `cell` have `part` of the variable `name`."""

    cell: dict[str, str]
    name: str
    part: str

    @property
    def words(self) -> str:
        """It in a few words."""
        return f"all of {said(self.cell)} are {self.name} {self.part}"


def shared_levels(
    universe: Universe, bounds: tuple[IntArray, IntArray], known: Sequence[tuple[str, str]]
) -> tuple[SharedLevel, ...]:
    """The groups, from the least and the greatest counts that the atoms can have.

    `known` are pairs of variables of which the first determines the second, as everybody knows:
    what a group shares by that is no news.
    """
    possible = np.zeros(len(universe.atom_of), dtype=np.bool_)
    held = universe.atom_of >= 0
    lower, upper = bounds
    possible[held] = upper[universe.atom_of[held]] > 0
    possible[~held] = True  # nothing is told of these cells
    found: list[SharedLevel] = []
    for axis, domain in enumerate(universe.domains):
        if domain.size > 1:
            own = _Axis(universe, axis, lower, possible.reshape(universe.shape))
            found += own.groups({a for a, b in known if b == domain.name})
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Axis:
    """One variable whose parts groups may share."""

    universe: Universe
    axis: int
    lower: IntArray
    possible: BoolArray

    def groups(self, determining: set[str]) -> Iterator[SharedLevel]:
        """Groups by ever more variables; those within one that was found are left out."""
        domains = self.universe.domains
        others = [a for a in range(len(domains)) if a != self.axis]
        listed: dict[tuple[int, ...], BoolArray] = {}
        for size in range(1, len(others) + 1):
            for axes in combinations(others, size):
                if any(domains[a].name in determining for a in axes):
                    continue
                shared, part = self._shared(axes)
                for less, before in listed.items():
                    if set(less) <= set(axes):
                        along = [slice(None) if a in less else None for a in axes]
                        shared = shared & ~before[tuple(along)]
                listed[axes] = shared
                for place in np.argwhere(shared):
                    at = tuple(place.tolist())
                    cell = {
                        domains[a].name: domains[a].parts[i] for a, i in zip(axes, at, strict=True)
                    }
                    own = domains[self.axis]
                    yield SharedLevel(cell, own.name, own.parts[int(part[at])])

    def _shared(self, axes: tuple[int, ...]) -> tuple[BoolArray, IntArray]:
        """Which groups by these variables have one possible part and somebody in them."""
        away = tuple(a for a in range(self.possible.ndim) if a not in (*axes, self.axis))
        some = np.any(self.possible, axis=away)
        place = sorted((*axes, self.axis)).index(self.axis)
        by_part = np.moveaxis(some, place, -1)
        return (by_part.sum(axis=-1) == 1) & self._occupied(axes), by_part.argmax(axis=-1)

    def _occupied(self, axes: tuple[int, ...]) -> BoolArray:
        """Groups within which lies a figure above 0, or an atom that cannot be empty."""
        u = self.universe
        places = u.places(np.arange(len(u.atom_of)))
        shape = [u.shape[a] for a in axes]
        of_cell = np.ravel_multi_index([places[a] for a in axes], shape)
        held = u.atom_of >= 0
        low = np.full(u.n_atoms, np.iinfo(np.int64).max)
        high = np.full(u.n_atoms, -1, dtype=np.int64)
        np.minimum.at(low, u.atom_of[held], of_cell[held])
        np.maximum.at(high, u.atom_of[held], of_cell[held])
        found = np.zeros(int(np.prod(shape)), dtype=np.bool_)
        for row in np.flatnonzero(u.low > 0).tolist():
            atoms = u.matrix.indices[u.matrix.indptr[row] : u.matrix.indptr[row + 1]]
            if low[atoms].min() == high[atoms].max():
                found[int(low[atoms[0]])] = True
        certain = np.flatnonzero((self.lower > 0) & (low == high))
        found[low[certain]] = True
        return found.reshape(shape)
