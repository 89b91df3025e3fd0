"""The tables as a system: implied figures left out, atoms without a limit set aside, in blocks."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, vstack

from discreet.fiber.bounds.certificates import Ranges
from discreet.fiber.system.linear_system import UNLIMITED, Statement, System
from discreet.fiber.system.ranges import system_of_ranges
from discreet.fiber.system.structure import Presolved, presolve
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.tables.linked.implied import implied_figures
from discreet.tables.linked.universe import Universe


@dataclass(frozen=True, kw_only=True)
class Reduced:
    """What the tables say, in as few statements as hold it.

    `kept` are the figures, and behind them moments, that others do not imply. `limited` are the
    atoms that some figure limits from above: columns of `system`, in this order. Of the others
    nothing but what is said of sums that hold no limited atom is known, and nothing follows.
    """

    universe: Universe
    kept: IntArray
    limited: IntArray
    system: System

    @cached_property
    def structure(self) -> Presolved:
        """Limits narrowed along rows, forced atoms, and the blocks that stand apart.

        Raises InputError where rows by themselves contradict each other.
        """
        return presolve(self.system, drop_redundant=False)

    @cached_property
    def ranges(self) -> Ranges:
        """All figures, implied ones too, and moments: for short derivations."""
        return all_ranges(self.universe)

    @cached_property
    def kept_ranges(self) -> Ranges:
        """The figures that others do not imply, in the order of `kept`."""
        own = self.ranges
        return Ranges(
            matrix=csr_array(own.matrix[self.kept]),
            low=own.low[self.kept],
            high=own.high[self.kept],
        )

    def statements(self) -> Iterator[Statement]:
        """The figures that are not implied, as statements about atoms."""
        ranges = self.ranges
        for row in self.kept.tolist():
            span = slice(ranges.matrix.indptr[row], ranges.matrix.indptr[row + 1])
            high = int(ranges.high[row])
            weights = ranges.matrix.data[span]
            yield Statement(
                cells=ranges.matrix.indices[span].astype(np.int64),
                low=int(ranges.low[row]),
                high=None if high == UNLIMITED else high,
                name=self.universe.name_of(self.universe.figure_of(row)),
                coefficients=None if np.all(weights == 1) else weights.astype(np.int64),
            )

    @property
    def n_unlimited(self) -> int:
        """Atoms that no figure limits from above."""
        return self.universe.n_atoms - len(self.limited)

    @cached_property
    def block_of(self) -> IntArray:
        """The block of each atom: −1 for one that is forced, −2 for one without a limit."""
        found = np.full(self.universe.n_atoms, -2, dtype=np.int64)
        found[self.limited] = -1
        for number, block in enumerate(self.structure.blocks):
            named = block.columns[block.columns < self.system.n_named]
            found[self.limited[named]] = number
        return found

    def limits(self) -> tuple[IntArray, IntArray]:
        """Limits of every atom as far as rows taken singly show; UNLIMITED where there is none."""
        lower = np.zeros(self.universe.n_atoms, dtype=np.int64)
        upper = np.full(self.universe.n_atoms, UNLIMITED, dtype=np.int64)
        n = self.system.n_named
        lower[self.limited] = self.structure.lower[:n]
        upper[self.limited] = self.structure.upper[:n]
        return lower, upper


def reduced(universe: Universe) -> Reduced:
    """The system of the figures; raises InputError where one is not the sum of its parts."""
    implied = implied_figures(universe)
    limited = _limited(universe)
    every = all_ranges(universe)
    says = (every.low > 0) | (every.high < UNLIMITED)
    free = (every.matrix @ (~limited).astype(np.int64)) > 0
    more = np.zeros(len(universe.moments), dtype=np.bool_)
    kept = np.flatnonzero(~np.concatenate([implied, more]) & says & ~free)
    columns = np.flatnonzero(limited)
    system = system_of_ranges(
        csr_array(every.matrix[kept][:, columns]),
        every.low[kept],
        every.high[kept],
        lambda row: universe.name_of(universe.figure_of(int(kept[row]))),
    )
    return Reduced(universe=universe, kept=kept, limited=columns, system=system)


def all_ranges(universe: Universe) -> Ranges:
    """All figures as ranges of sums of atoms, then the moments."""
    more = universe.moments
    if not more:
        return Ranges(matrix=universe.matrix, low=universe.low, high=universe.high)
    return Ranges(
        matrix=csr_array(vstack([universe.matrix, *(one.matrix for one in more)], format="csr")),
        low=np.concatenate([universe.low, [one.low for one in more]]),
        high=np.concatenate([universe.high, [one.high for one in more]]),
    )


def _limited(universe: Universe) -> BoolArray:
    """Atoms that are in a figure with an upper limit."""
    finite = np.flatnonzero(universe.high < UNLIMITED)
    found = np.zeros(universe.n_atoms, dtype=np.bool_)
    found[csr_array(universe.matrix[finite]).indices] = True
    return found
