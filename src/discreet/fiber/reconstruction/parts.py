"""The parts of a system that vary freely of each other, as fine as its rows allow.

A sum over everything ties all cells together in form. Where finer sums imply it, it is left out
before blocks are sought, so that more and smaller blocks come out.
"""

from dataclasses import dataclass

import numpy as np

from discreet.fiber.system.linear_system import System
from discreet.fiber.system.structure import independent_rows, presolve, with_rows
from discreet.numerics.arrays import IntArray

MOST_ROWS = 1500  # of a block in which sums are sought that others imply: takes rows³ / 2 steps


@dataclass(frozen=True, slots=True)
class Part:
    """Columns of a whole system that depend on each other, as a system of their own."""

    system: System
    columns: IntArray


@dataclass(frozen=True, slots=True)
class Parts:
    """A system with narrowed limits, and the parts of what they leave open."""

    lower: IntArray
    upper: IntArray
    parts: tuple[Part, ...]


def parts_of(system: System) -> Parts:
    """The system's parts, the smallest first; raises InputError where its limits leave no table."""
    found = presolve(system, drop_redundant=False)
    parts = [part for b in found.blocks for part in _finer(Part(b.system, b.columns))]
    parts.sort(key=lambda part: (len(part.columns), int(part.columns[0])))
    return Parts(found.lower, found.upper, tuple(parts))


def _finer(part: Part) -> list[Part]:
    """The part without sums that smaller ones imply, in the parts that this leaves."""
    n_rows = part.system.n_rows
    if not 1 < n_rows <= MOST_ROWS:
        return [part]
    by_size = np.argsort(np.diff(part.system.matrix.indptr), kind="stable")
    smallest_first = with_order(part.system, by_size)
    needed = independent_rows(smallest_first)
    blocks = presolve(with_rows(smallest_first, needed), drop_redundant=False).blocks
    if len(blocks) < 2:
        return [part]
    return [Part(block.system, part.columns[block.columns]) for block in blocks]


def with_order(system: System, order: IntArray) -> System:
    """The system with its rows in another order."""
    return System(
        matrix=system.matrix[order],
        right=system.right[order],
        lower=system.lower,
        upper=system.upper,
        n_named=system.n_named,
        row_names=tuple(system.row_names[i] for i in order),
    )
