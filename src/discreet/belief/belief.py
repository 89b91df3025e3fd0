"""What an intruder believes of a hidden table: a distribution over all tables that fit what is out.

One contract, whichever way the distribution was found (see `ladder`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.numerics.rounding import first_largest

AGREES = 1e-9  # probabilities that should sum to one may differ by this


class Belief(Protocol):
    """A distribution over tables, as far as it is known; cells are numbered in C order."""

    @property
    def how(self) -> How:
        """Exact, or an estimate."""

    @property
    def method(self) -> str:
        """How it was found, in a few words."""

    @property
    def effective_draws(self) -> float | None:
        """How many unweighted, independent draws would tell as much; None where it is exact."""

    @property
    def lower(self) -> IntArray:
        """The least value of each cell over all consistent tables."""

    @property
    def upper(self) -> IntArray:
        """The greatest value of each cell over all consistent tables."""

    def cell(self, cell: int) -> dict[int, float]:
        """Pr(F(cell) = q) for every q that is possible."""

    def cell_error(self, cell: int) -> dict[int, float]:
        """The standard error of each of these, 0 where exact."""

    def probability(self, table: IntArray) -> Outcome:
        """The probability of a whole table."""

    def entropy(self) -> Outcome:
        """Entropy of the distribution over tables [bits]."""

    def most_probable(self) -> IntArray | None:
        """The most probable table, None where it is not known."""


class Exact(ABC):
    """What all exact beliefs have in common."""

    __slots__ = ()

    @property
    def how(self) -> How:
        """Exact."""
        return How.EXACT

    @property
    def effective_draws(self) -> float | None:
        """None: nothing was drawn."""
        return None

    @abstractmethod
    def cell(self, cell: int) -> dict[int, float]:
        """Pr(F(cell) = q) for every q that is possible."""

    def cell_error(self, cell: int) -> dict[int, float]:
        """Zero for every value."""
        return dict.fromkeys(self.cell(cell), 0.0)

    def most_probable(self) -> IntArray | None:
        """None, where finding it is work of its own."""
        return None


def checked_cell(cell: int, n_cells: int) -> int:
    """The number of a cell, if there is one of that number."""
    if not 0 <= cell < n_cells:
        raise InputError(must_be("cell", f"from 0 to {n_cells - 1}", cell))
    return cell


def checked_cells(table: IntArray, n_cells: int) -> IntArray:
    """The cells of a table in C order, if it is one of whole numbers of the right size."""
    cells = np.ravel(table)
    if len(cells) != n_cells or cells.dtype.kind not in "iu":
        rule = f"of whole numbers in {n_cells:,} cells"
        raise InputError(must_be("table", rule, f"{len(cells):,} of {cells.dtype}"))
    return cells.astype(np.int64)


def kept_by(holds: Iterable[bool]) -> BoolArray:
    """Which tables are left; raises InputError where none is: what is known contradicts itself."""
    kept = np.fromiter(holds, dtype=np.bool_)
    if not kept.any():
        raise InputError(must_be("what is known", "true of some consistent table", "none"))
    return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedBelief(Exact):
    """A distribution over tables that are all listed: `tables` (tables × cells) with
    `probabilities`. Exact.

    A probability below the least float is 0 but its table stays, being possible; where the tables
    were weighed, `logs` are the logarithms of their probabilities. Checked: probabilities are not
    negative and sum to one, tables are different.
    """

    tables: IntArray
    probabilities: FloatArray
    logs: FloatArray | None = None

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
        logs = log_weights[kept] - np.max(log_weights)
        weights = np.exp(logs)
        return cls(
            tables=np.asarray(list(tables), dtype=np.int64)[kept],
            probabilities=weights / weights.sum(),
            logs=logs - np.log(weights.sum()),
        )

    @property
    def method(self) -> str:
        """How many tables were listed."""
        n = len(self.tables)
        return f"exact, over {n:,} listed table{'' if n == 1 else 's'}"

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
        return Figure(value=min(float(self.probabilities[here].sum()), 1.0), how=How.EXACT)

    def log_probability(self, table: IntArray) -> tuple[float, float]:
        """log Pr(table) and 0 for its error; −inf if it is not among them."""
        here = np.flatnonzero(np.all(self.tables == np.ravel(table), axis=1))
        if len(here) == 0:
            return -np.inf, 0.0
        if self.logs is not None:
            return float(self.logs[here[0]]), 0.0
        with np.errstate(divide="ignore"):
            return float(np.log(self.probabilities[here[0]])), 0.0

    def entropy(self) -> Outcome:
        """−Σ p log₂ p [bits]."""
        p = self.probabilities[self.probabilities > 0]
        return Figure(value=max(float(-(p * np.log2(p)).sum()), 0.0), how=How.EXACT)

    def most_probable(self) -> IntArray | None:
        """The most probable table; the first of several."""
        found: IntArray = self.tables[first_largest(self.probabilities)]
        return found

    def given(self, holds: Iterable[bool]) -> "ListedBelief":
        """The distribution given that something holds of the table; `holds` has one answer a table.

        Raises InputError where it holds of none: then what is known contradicts itself.
        """
        kept = kept_by(holds)
        left = self.probabilities[kept]
        if left.sum() == 0:
            rule = "probable enough for a float"
            raise InputError(must_be("what is known", rule, "less than 1e-300"))
        return ListedBelief(tables=self.tables[kept], probabilities=left / left.sum())
