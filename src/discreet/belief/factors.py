"""How probable a published figure is under each hidden table, figure by figure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray, read_only

# log Pr(publication | table) for tables (rows) × cells (C order); −inf where impossible
LogLikelihood = Callable[[IntArray], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One figure's part in the likelihood: log Pr(figure | Σ x[cells] = low + i) for i = 0, 1, ….

    A sum outside of what is listed has probability zero.
    """

    cells: IntArray
    low: int
    log_probability: FloatArray
    name: str

    def __post_init__(self) -> None:
        read_only(self.cells)
        read_only(self.log_probability)

    @property
    def high(self) -> int:
        """The largest sum under which the figure is possible."""
        return self.low + len(self.log_probability) - 1

    def of_sums(self, sums: IntArray) -> FloatArray:
        """log Pr(figure | sum) of each sum."""
        place = np.asarray(sums) - self.low
        inside = (place >= 0) & (place < len(self.log_probability))
        chosen = self.log_probability[np.where(inside, place, 0)]
        return np.where(inside, chosen, -np.inf)


def product_of(factors: Sequence[Factor]) -> LogLikelihood:
    """The likelihood of figures that are independent of each other given the table."""
    return partial(_log_product, tuple(factors))


def _log_product(factors: Sequence[Factor], tables: IntArray) -> FloatArray:
    found = np.zeros(len(tables))
    for factor in factors:
        found += factor.of_sums(tables[:, factor.cells].sum(axis=1))
    return found
