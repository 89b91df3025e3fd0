"""What an intruder believes of a hidden table: a distribution over all tables consistent with a
release.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import entr

from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome
from discreet.numerics.arrays import FloatArray, IntArray, read_only

AGREES = 1e-9  # probabilities that should sum to one may differ by this


class Belief(Protocol):
    """A distribution over tables, as far as it is known; cells are numbered in C order."""

    @property
    def lower(self) -> IntArray:
        """The least value of each cell over all consistent tables."""

    @property
    def upper(self) -> IntArray:
        """The greatest value of each cell over all consistent tables."""

    def cell(self, cell: int) -> dict[int, float]:
        """Pr(F(cell) = q) for every q that is possible."""

    def probability(self, table: IntArray) -> Outcome:
        """The probability of a whole table."""

    def entropy(self) -> Outcome:
        """Entropy of the distribution over tables [bits]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedBelief:
    """A distribution over tables that are all listed: `tables` (tables × cells) with
    `probabilities`. Exact.

    A probability below the least float is 0 but its table stays, being possible. Checked:
    probabilities are not negative and sum to one, tables are different.
    """

    tables: IntArray
    probabilities: FloatArray

    def __post_init__(self) -> None:
        if len(self.tables) == 0 or len(self.tables) != len(self.probabilities):
            raise InputError(must_be("tables", "as many as probabilities, at least 1", "another"))
        if np.any(self.probabilities < 0) or abs(self.probabilities.sum() - 1) > AGREES:
            raise InputError(must_be("probabilities", "from 0 with sum 1", "others"))
        if len(np.unique(self.tables, axis=0)) < len(self.tables):
            raise InputError(must_be("tables", "different from each other", "one twice"))
        read_only(self.tables)
        read_only(self.probabilities)

    @classmethod
    def of_weights(cls, tables: Iterable[IntArray], log_weights: FloatArray) -> "ListedBelief":
        """From weights on a log scale that need not sum to one; tables of weight 0 are left out."""
        kept = np.asarray(log_weights) > -np.inf
        weights = np.exp(log_weights[kept] - np.max(log_weights))
        return cls(
            tables=np.asarray(list(tables), dtype=np.int64)[kept],
            probabilities=weights / weights.sum(),
        )

    @property
    def lower(self) -> IntArray:
        """The least value of each cell."""
        least: IntArray = self.tables.min(axis=0)
        return least

    @property
    def upper(self) -> IntArray:
        """The greatest value of each cell."""
        most: IntArray = self.tables.max(axis=0)
        return most

    def cell(self, cell: int) -> dict[int, float]:
        """Pr(F(cell) = q) for every q that is possible (dobra eq. 6)."""
        values, place = np.unique(self.tables[:, cell], return_inverse=True)
        sums = np.bincount(place, weights=self.probabilities)
        return {int(q): float(p) for q, p in zip(values, sums, strict=True)}

    def probability(self, table: IntArray) -> Outcome:
        """The probability of a whole table; 0 if it is not among them."""
        here = np.all(self.tables == np.ravel(table), axis=1)
        return Figure(value=float(self.probabilities[here].sum()), how=How.EXACT)

    def entropy(self) -> Outcome:
        """−Σ p log₂ p [bits]."""
        p = self.probabilities
        return Figure(value=max(float(entr(p).sum() / np.log(2.0)), 0.0), how=How.EXACT)

    def given(self, holds: Iterable[bool]) -> "ListedBelief":
        """The distribution given that something holds of the table; `holds` has one answer a table.

        Raises InputError where it holds of none: then what is known contradicts itself.
        """
        kept = np.fromiter(holds, dtype=np.bool_, count=len(self.tables))
        if not kept.any():
            raise InputError(must_be("what is known", "true of some consistent table", "none"))
        left = self.probabilities[kept]
        if left.sum() == 0:
            rule = "probable enough for a float"
            raise InputError(must_be("what is known", rule, "less than 1e-300"))
        return ListedBelief(tables=self.tables[kept], probabilities=left / left.sum())
