"""Crosses of the parts of some variables, and which of their entries are unions of atoms."""

from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from discreet.numerics.arrays import BoolArray, IntArray
from discreet.tables.linked.universe import Universe

MOST_ENTRIES = 2**21  # of all crosses together


@dataclass(frozen=True, slots=True)
class Entries:
    """The entry of a cross that each atom is in, and which entries are unions of atoms."""

    of_atom: IntArray
    valid: BoolArray

    def atoms(self, entry: int) -> IntArray:
        """The atoms of an entry."""
        return np.flatnonzero(self.of_atom == entry)


def crosses_of(universe: Universe) -> list[tuple[int, ...]]:
    """The sets of variables whose crosses are looked at, finest first: all of them, unless the
    crosses have more than 2**21 entries together; then the finest alone."""
    shape = universe.shape
    every = range(len(shape))
    if prod(size + 1 for size in shape) > MOST_ENTRIES:
        return [tuple(every)]
    return [axes for size in range(len(shape), -1, -1) for axes in combinations(every, size)]


def entries_of(universe: Universe, axes: tuple[int, ...]) -> Entries:
    """The entries of a cross; one that cuts an atom, or has a cell that no figure counts, is not
    valid."""
    u = universe
    own = [u.shape[a] for a in axes]
    of_cell = np.zeros(len(u.atom_of), dtype=np.int64)
    if axes:
        places = np.unravel_index(np.arange(len(u.atom_of)), u.shape)
        of_cell = np.ravel_multi_index([places[a] for a in axes], own)
    held = u.atom_of >= 0
    first = np.full(u.n_atoms, -1, dtype=np.int64)
    first[u.atom_of[held]] = of_cell[held]
    cut = first[u.atom_of[held]] != of_cell[held]
    valid = np.ones(prod(own), dtype=np.bool_)
    valid[of_cell[held][cut]] = False
    valid[first[u.atom_of[held][cut]]] = False
    valid[of_cell[~held]] = False
    return Entries(first, valid)
