"""A belief known by its sums over all tables: of every cell and of any one table. Exact."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from discreet.belief.belief import Exact, checked_cell, checked_cells
from discreet.belief.exact.exact_distribution import completed_points
from discreet.fiber.sums.marginals import Posterior, most_probable_table
from discreet.figures import Figure, How, Outcome
from discreet.numerics.arrays import IntArray, read_only


@dataclass(frozen=True, kw_only=True)
class SummedBelief(Exact):
    """A distribution over tables by sums over the columns of a system, whose first `n_cells` are
    the table. `bounds` finds those of the cells, if they are asked for."""

    distribution: Posterior
    n_cells: int
    bounds: Callable[[], tuple[IntArray, IntArray]]
    method: str = "exact, by summing over all consistent tables"

    @cached_property
    def _bounds(self) -> tuple[IntArray, IntArray]:
        lower, upper = self.bounds()
        return read_only(lower), read_only(upper)

    @property
    def lower(self) -> IntArray:
        """The least value of each cell."""
        return self._bounds[0]

    @property
    def upper(self) -> IntArray:
        """The greatest value of each cell."""
        return self._bounds[1]

    @property
    def log_normaliser(self) -> tuple[float, float]:
        """log Σ w over all tables, and 0 for its error."""
        return self.distribution.log_normaliser, 0.0

    def cell(self, cell: int) -> dict[int, float]:
        """Pr(F(cell) = q) for every q that is possible."""
        low = int(self.distribution.lower[checked_cell(cell, self.n_cells)])
        shares = enumerate(self.distribution.probabilities[cell])
        return {low + q: float(p) for q, p in shares if p > 0}

    def probability(self, table: IntArray) -> Outcome:
        """The probability of a whole table; 0 if it is not consistent."""
        cells, system = checked_cells(table, self.n_cells), self.distribution.system
        point = completed_points(system, cells[None])[0]
        possible = system.holds(system.completed(point))
        value = self.distribution.table_probability(point) if possible else 0.0
        return Figure(value=value, how=How.EXACT)

    def entropy(self) -> Outcome:
        """Entropy of the distribution over tables [bits]."""
        return Figure(value=self.distribution.entropy, how=How.EXACT)

    def most_probable(self) -> IntArray | None:
        """The most probable table. Raises BudgetExceeded where finding it does not fit."""
        system, prior = self.distribution.system, self.distribution.prior
        found: IntArray = most_probable_table(system, prior)[: self.n_cells]
        return found
