"""How probable noisy figures are, where figures that count the same persons have the same noise.

The noise of a cell key belongs to the persons that a figure counts. Figures of different persons
have noise independent of each other; two figures of the same persons, such as a row and its only
occupied cell, have one and the same. Which figures these are depends on the hidden table x: those
whose cells agree wherever x is above zero. So

    Pr(publication | x) = ∏ over sets of persons  Pr(figure | count)    if the figures of each set
                          are equal, else 0,

with one factor for a set, however many figures count it. That is no product over figures, unless
what is published shows that no two of them count the same persons. Two that differ do not, so that
someone is in one of them alone: a statement about cells. Two equal ones may.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array

from discreet.belief.factors import Factor
from discreet.fiber.system.linear_system import Statement
from discreet.masks.perturbation_table import KeyArray
from discreet.numerics.arrays import FloatArray, IntArray

MOST_NUMBERS = 2**22  # figures of all tables that are looked at together
MOST_BITS = 64  # cells that have a bit each; of more, each has a random number
MOST_PAIRS = 20_000  # of figures that are compared with each other


@dataclass(frozen=True, kw_only=True)
class SamePersons:
    """log Pr(publication | table) of figures with noise by cell keys; see the module.

    `factors` are the figures with the probability of each by itself, `figures` what was published.
    Sets of persons are told apart by the sum of a number for each occupied cell: powers of two up
    to 64 cells; else random numbers of 64 bits, which differ but for a chance of about 10**-12.
    """

    n_cells: int
    figures: IntArray
    factors: tuple[Factor, ...]

    def __call__(self, tables: IntArray) -> FloatArray:
        """The logarithm for each table (rows), −inf where it could not have been published."""
        step = max(1, MOST_NUMBERS // len(self.factors))
        parts = [self._of(tables[i : i + step]) for i in range(0, len(tables), step)]
        return np.concatenate(parts) if parts else np.empty(0)

    def _of(self, tables: IntArray) -> FloatArray:
        logs = np.empty((len(tables), len(self.factors)))
        for j, factor in enumerate(self.factors):
            logs[:, j] = factor.of_sums(tables[:, factor.cells].sum(axis=1))
        persons = self.persons(tables)
        order = np.argsort(persons, axis=1, kind="stable")
        own = np.take_along_axis(persons, order, axis=1)
        again = own[:, 1:] == own[:, :-1]
        figures = self.figures[order]
        differ = again & (figures[:, 1:] != figures[:, :-1])
        logs = np.take_along_axis(logs, order, axis=1)
        once = np.where(again & (logs[:, 1:] > -np.inf), 0.0, logs[:, 1:])
        total = logs[:, 0] + once.sum(axis=1)
        return np.asarray(np.where(differ.any(axis=1), -np.inf, total))

    def persons(self, tables: IntArray) -> KeyArray:
        """A number for the persons that each figure (columns) counts in each table (rows); 0 for
        none."""
        occupied = (tables > 0).astype(np.uint64) * _numbers(self.n_cells)
        return np.asarray((self._sums() @ occupied.T).T)

    def _sums(self) -> csr_array:
        """Figures × cells: which cells each figure sums. Sums of 64 bits go round."""
        lengths = [len(factor.cells) for factor in self.factors]
        columns = np.concatenate([factor.cells for factor in self.factors])
        start = np.concatenate([[0], np.cumsum(lengths)])
        ones = np.ones(len(columns), dtype=np.uint64)
        return csr_array((ones, columns, start), shape=(len(lengths), self.n_cells))

    @cached_property
    def pairs(self) -> list[tuple[int, int]] | None:
        """Pairs of figures that may count the same persons, as far as each figure by itself tells;
        None where there are too many to look at.

        Such figures share a cell, have a count in common that both may stand for, and hold the same
        of the cells that are surely occupied: those published by themselves above zero.
        """
        sure = np.zeros(self.n_cells, dtype=np.int64)
        for factor in self.factors:
            if len(factor.cells) == 1 and factor.low > 0:
                sure[factor.cells] = 1
        persons = self.persons(sure[None])[0]
        order = np.argsort(persons, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(persons[order])) + 1)
        if sum(len(group) ** 2 for group in groups) > 2 * MOST_PAIRS:
            return None
        both = (pair for group in groups for pair in combinations(group.tolist(), 2))
        return [(i, j) for i, j in both if _may_be_one(self.factors[i], self.factors[j])]

    @property
    def is_product(self) -> bool:
        """Whether each figure has its own factor under every table that fits: no two equal figures
        can count the same persons, and different ones do not by `statements`."""
        equal = [self.figures[i] == self.figures[j] for i, j in self.pairs or ()]
        return self.pairs is not None and not any(equal)

    def statements(self) -> list[Statement]:
        """Figures that differ do not count the same persons: someone is in one and not in both."""
        found = []
        for i, j in self.pairs or ():
            one, other = self.factors[i], self.factors[j]
            if self.figures[i] != self.figures[j]:
                cells = np.setxor1d(one.cells, other.cells)
                name = f"{one.name} differs from {other.name}"
                found.append(Statement(cells=cells, low=1, high=None, name=name))
        return found


def _may_be_one(one: Factor, other: Factor) -> bool:
    """Whether figures share a cell and a count that both may stand for."""
    meet = one.low <= other.high and other.low <= one.high
    return meet and len(np.intersect1d(one.cells, other.cells, assume_unique=True)) > 0


def _numbers(n_cells: int) -> KeyArray:
    """A number for each cell, of which sums over different sets of cells differ."""
    if n_cells <= MOST_BITS:
        return np.uint64(1) << np.arange(n_cells, dtype=np.uint64)
    return np.random.default_rng(n_cells).integers(1, 2**64, size=n_cells, dtype=np.uint64)
