"""A belief by walks or data augmentation, which follow the cells asked about and no others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.structure import presolve
from discreet.figures import How, Outcome
from discreet.numerics.arrays import IntArray


@dataclass(frozen=True, kw_only=True)
class SimulatedBelief:
    """Distributions of some `cells` of a `system`'s first `n_cells`, by simulation.

    `errors` are their standard errors, and `effective` is how many independent draws each rests
    on. `score` gives the probability of a whole table, `total_entropy` that of the distribution
    over tables, as far as the simulation tells. `warning` says what to mistrust, and `complete` is
    False where time ended it early.
    """

    system: System
    n_cells: int
    cells: IntArray
    distributions: Sequence[dict[int, float]]
    errors: Sequence[dict[int, float]]
    effective: Sequence[float]
    score: Callable[[IntArray], Outcome]
    total_entropy: Outcome
    method: str
    warning: str = ""
    complete: bool = True

    @property
    def how(self) -> How:
        """An estimate."""
        return How.ESTIMATE

    @property
    def effective_draws(self) -> float | None:
        """Those of the least settled cell."""
        return min(self.effective, default=None)

    @cached_property
    def _limits(self) -> tuple[IntArray, IntArray]:
        found = presolve(self.system, drop_redundant=False)
        return found.lower[: self.n_cells], found.upper[: self.n_cells]

    @property
    def lower(self) -> IntArray:
        """A value that each cell is never below."""
        return self._limits[0]

    @property
    def upper(self) -> IntArray:
        """A value that each cell is never above."""
        return self._limits[1]

    @cached_property
    def _place(self) -> dict[int, int]:
        return {cell: i for i, cell in enumerate(self.cells.tolist())}

    def _at(self, cell: int) -> int:
        if cell not in self._place:
            raise InputError(must_be("cell", "one of those asked about", cell))
        return self._place[cell]

    def cell(self, cell: int) -> dict[int, float]:
        """Pr(F(cell) = q) for every q that was seen, of a cell asked about."""
        return self.distributions[self._at(cell)]

    def cell_error(self, cell: int) -> dict[int, float]:
        """The standard error of each of these."""
        return self.errors[self._at(cell)]

    def probability(self, table: IntArray) -> Outcome:
        """The probability of a whole table, where the simulation tells it."""
        return self.score(table)

    def entropy(self) -> Outcome:
        """Entropy of the distribution over tables [bits], where the simulation tells it."""
        return self.total_entropy

    def most_probable(self) -> IntArray | None:
        """None: draws cannot tell which table is the most probable."""
        return None
