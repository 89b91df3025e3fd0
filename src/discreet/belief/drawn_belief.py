"""A belief by weighted draws: an estimate, in which every figure has its standard error."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.belief.belief import checked_cell, checked_cells, kept_by
from discreet.belief.draws import weights
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray, read_only

BITS = float(np.log(2.0))
LEAST_EFFECTIVE = 20.0  # draws from which probabilities are shown
LogWeight = Callable[[IntArray], FloatArray]  # log w of tables (rows), −inf where not consistent


def too_few(drawn: str, effective: float, least: float = LEAST_EFFECTIVE) -> Unavailable:
    """Why so few effective draws give no probabilities."""
    return Unavailable(
        f"{drawn} gave only {effective:.1f} effective draws, and {least:.0f} are needed; allow "
        "more seconds"
    )


@dataclass(frozen=True, kw_only=True)
class DrawnBelief:
    """A distribution over tables by weighted draws.

    `tables` (draws × cells) are the consistent ones of `n_tried` draws, `log_weights` their log w
    and `log_ratios` log w / q, where the q are probabilities up to one factor e^`log_scale`.
    `lower` and `upper` are certain bounds. `log_weight` gives log w of any tables; None where only
    the drawn ones can be weighed. `warning` says why not to trust the weights, and `complete` is
    False where time ended the draws early.
    """

    tables: IntArray
    log_ratios: FloatArray
    log_weights: FloatArray
    n_tried: int
    lower: IntArray
    upper: IntArray
    log_weight: LogWeight | None = None
    log_scale: float = 0.0
    warning: str = ""
    complete: bool = True

    def __post_init__(self) -> None:
        for array in (self.tables, self.log_ratios, self.log_weights, self.lower, self.upper):
            read_only(array)

    @property
    def how(self) -> How:
        """An estimate."""
        return How.ESTIMATE

    @property
    def method(self) -> str:
        """How many draws were made, and how many of them count."""
        return f"{self.n_tried:,} weighted draws ({self.effective_draws:,.0f} effective)"

    @cached_property
    def shares(self) -> FloatArray:
        """The weights, scaled to a sum of one."""
        return weights.shares_of(self.log_ratios)

    @cached_property
    def effective_draws(self) -> float:
        """As many unweighted draws would tell as much."""
        return weights.effective_draws(self.log_ratios)

    @cached_property
    def log_normaliser(self) -> tuple[float, float]:
        """log Σ w over all tables, and the standard error of that logarithm."""
        mean = weights.log_mean(self.log_ratios, self.n_tried)
        error = weights.relative_error(self.log_ratios - mean, self.n_tried)
        return mean + self.log_scale, error

    @cached_property
    def _told(self) -> dict[int, tuple[dict[int, float], dict[int, float]]]:
        """Cells that have been asked for, with their errors."""
        return {}

    def _cell(self, cell: int) -> tuple[dict[int, float], dict[int, float]]:
        checked_cell(cell, self.tables.shape[1])
        if cell not in self._told:
            room = bool(self.lower[cell] < self.upper[cell])
            self._told[cell] = weights.value_shares(self.tables[:, cell], self.shares, room=room)
        return self._told[cell]

    def cell(self, cell: int) -> dict[int, float]:
        """The share of weight of each value that was drawn in a cell."""
        return self._cell(cell)[0]

    def cell_error(self, cell: int) -> dict[int, float]:
        """The standard error of each of these shares; see `value_shares` where all draws agree."""
        return self._cell(cell)[1]

    def mean(self, cell: int) -> tuple[float, float]:
        """The mean of a cell and its standard error, √Σ share² (x − mean)²."""
        values = self.tables[:, checked_cell(cell, self.tables.shape[1])]
        mean = float(self.shares @ values)
        return mean, float(np.sqrt(np.sum(self.shares**2 * (values - mean) ** 2)))

    def log_probability(self, table: IntArray) -> tuple[float, float] | Unavailable:
        """log Pr(table) and its standard error; −inf and 0 if it is not consistent."""
        if self.log_weight is None:
            return Unavailable("only drawn tables can be weighed")
        cells = checked_cells(table, self.tables.shape[1])
        own = float(self.log_weight(cells[None])[0])
        log_z, error = self.log_normaliser
        return (own, 0.0) if own == -np.inf else (min(own - log_z, 0.0), error)

    def probability(self, table: IntArray) -> Outcome:
        """The probability of a whole table; exactly 0 if it is not consistent."""
        found = self.log_probability(table)
        if isinstance(found, Unavailable):
            return found
        log_p, error = found
        if log_p == -np.inf:
            return Figure(value=0.0, how=How.EXACT)
        value = float(np.exp(log_p))
        return Figure(value=value, how=How.ESTIMATE, standard_error=value * error)

    def entropy(self) -> Outcome:
        """log₂ Z − E log₂ w [bits], with its standard error."""
        mean = float(self.shares @ self.log_weights)
        terms = self.shares * (1 - (self.log_weights - mean)) - 1 / self.n_tried
        dead = (self.n_tried - len(terms)) / self.n_tried**2
        return Figure(
            value=max(self.log_normaliser[0] - mean, 0.0) / BITS,
            how=How.ESTIMATE,
            standard_error=float(np.sqrt((terms**2).sum() + dead)) / BITS,
        )

    def most_probable(self) -> IntArray | None:
        """None: draws cannot tell which table is the most probable."""
        return None

    def share_of(self, holds: Iterable[bool]) -> Figure:
        """The probability that something holds of the table, by one answer for each of the first
        draws. Draws that all agree are no proof: the rule of succession gives the error."""
        kept = np.fromiter(holds, dtype=np.bool_)
        shares = weights.shares_of(self.log_ratios[: len(kept)])
        p = float(shares[kept].sum())
        error = float(np.sqrt((shares**2 * (kept - p) ** 2).sum()))
        if kept.all() or not kept.any():
            error = 1.0 / (1.0 / float((shares**2).sum()) + 2.0)
        return Figure(value=min(p, 1.0), how=How.ESTIMATE, standard_error=error)

    def given(self, holds: Iterable[bool]) -> "DrawnBelief":
        """The belief given that something holds of the table, by one answer a draw.

        Draws without an answer are left out. Raises InputError where it holds of none.
        """
        answers = kept_by(holds)
        kept = np.flatnonzero(answers)
        return replace(
            self,
            n_tried=round(self.n_tried * len(answers) / len(self.tables)),
            tables=self.tables[kept],
            log_ratios=self.log_ratios[kept],
            log_weights=self.log_weights[kept],
            log_weight=None,
        )

    def reweighted(self, log_likelihood: LogWeight) -> "DrawnBelief | Unavailable":
        """The same draws with a likelihood in their weights; impossible ones are dropped."""
        logs = log_likelihood(self.tables)
        kept = np.flatnonzero(logs > -np.inf)
        if len(kept) == 0:
            return Unavailable(f"none of {self.n_tried:,} draws could have led to the publication")
        before = self.log_weight
        return replace(
            self,
            tables=self.tables[kept],
            log_ratios=(self.log_ratios + logs)[kept],
            log_weights=(self.log_weights + logs)[kept],
            log_weight=None if before is None else lambda t: before(t) + log_likelihood(t),
        )
