"""An intruder's distribution by weighted draws, where it can be neither listed nor summed.

Tables are drawn exactly and independently from what is easy: the prior, the figures about single
cells and every equation. What is left, ranges and likelihoods of sums, becomes the weight of each
draw. So probabilities are shares of weight, and the mean weight tells the normaliser; every number
has its standard error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.belief.draws.weighted_draws import relative_error
from discreet.belief.factors import Factor, product_of
from discreet.belief.intruder_priors import with_factors
from discreet.clock import working_seconds
from discreet.errors import InputError, must_be
from discreet.fiber.draws.exact_draws import sampler
from discreet.fiber.sums import marginals
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.priors import Prior
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.rounding import above
from discreet.progress import Progress

MOST_DRAWS = 4_000_000
MOST_KEPT = 2**26  # counts of drawn tables that are kept, 512 MiB
ENOUGH = 4000.0  # plain draws' worth at which drawing ends
LEAST_WORTH = 400.0  # plain draws that the weighted ones must be worth
BITS = float(np.log(2))


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBelief:
    """A distribution over tables by weighted draws: an estimate, with standard errors.

    `tables` are draws × cells, `weights` sum to one. `log_prior` is the log of each table's weight
    under prior and likelihood, `log_normaliser` that of their sum over all tables, with its
    standard error. `least` and `most` are certain bounds of the cells.
    """

    tables: IntArray
    weights: FloatArray
    log_prior: FloatArray
    log_normaliser: float
    log_error: float
    distribution: "_Distribution"
    least: IntArray
    most: IntArray

    def __post_init__(self) -> None:
        for array in (self.tables, self.weights, self.log_prior, self.least, self.most):
            read_only(array)

    @property
    def effective_draws(self) -> float:
        """As many plain draws would be as good."""
        return 1.0 / float(np.square(self.weights).sum())

    @property
    def lower(self) -> IntArray:
        """The least value of each cell, certain."""
        return self.least

    @property
    def upper(self) -> IntArray:
        """The greatest value of each cell, certain."""
        return self.most

    def cell(self, cell: int) -> dict[int, float]:
        """The share of weight of each value that was drawn in a cell."""
        if not 0 <= cell < self.tables.shape[1]:
            raise InputError(must_be("cell", f"from 0 to {self.tables.shape[1] - 1}", cell))
        values, place = np.unique(self.tables[:, cell], return_inverse=True)
        shares = np.bincount(place, weights=self.weights)
        return {int(q): float(p) for q, p in zip(values, shares, strict=True)}

    def cell_error(self, cell: int) -> dict[int, float]:
        """The standard error of each of these shares."""
        return {
            value: float(np.sqrt(np.square(self.weights * (here - share)).sum()))
            for value, share in self.cell(cell).items()
            for here in [self.tables[:, cell] == value]
        }

    def probability(self, table: IntArray) -> Outcome:
        """The probability of a whole table; exactly 0 if it is not consistent."""
        cells = checked_cells(table, self.tables.shape[1])
        own = float(self.distribution.log_weights(cells[None])[0])
        if own == -np.inf:
            return Figure(value=0.0, how=How.EXACT)
        value = float(np.exp(min(own - self.log_normaliser, 0.0)))
        return Figure(value=value, how=How.ESTIMATE, standard_error=value * self.log_error)

    def entropy(self) -> Outcome:
        """Entropy of the distribution over tables [bits]: log Z less the mean log weight of a
        table.
        """
        mean = float(self.weights @ self.log_prior)
        off = self.log_prior - mean
        # A draw of great weight raises log Z and pulls the mean towards its own log weight.
        together = float(np.square(self.weights) @ off)
        variance = self.log_error**2 + float(np.square(self.weights * off).sum()) - 2 * together
        return Figure(
            value=max(0.0, (self.log_normaliser - mean) / BITS),
            how=How.ESTIMATE,
            standard_error=float(np.sqrt(max(variance, 0.0))) / BITS,
        )


@dataclass(frozen=True, slots=True)
class _Distribution:
    """A prior, what is known, and the figures' likelihood, of any table."""

    prior: Prior
    n_cells: int
    known: tuple[Statement, ...]
    factors: tuple[Factor, ...]

    def log_weights(self, tables: IntArray) -> FloatArray:
        """log(prior · likelihood) of each table (rows), −inf where it is not consistent."""
        columns = np.broadcast_to(np.arange(self.n_cells), tables.shape)
        logs = self.prior.log_weight(columns, tables).sum(axis=1)
        logs = logs + product_of(self.factors)(tables)
        return np.asarray(np.where(holding(self.known, tables), logs, -np.inf))


def checked_cells(table: IntArray, n_cells: int) -> IntArray:
    """The cells of a table in C order, if it is one of whole numbers of the right size."""
    cells = np.ravel(table)
    if len(cells) != n_cells or cells.dtype.kind not in "iu":
        rule = f"of whole numbers in {n_cells:,} cells"
        raise InputError(must_be("table", rule, f"{len(cells):,} of {cells.dtype}"))
    return cells.astype(np.int64)


def holding(known: Sequence[Statement], tables: IntArray) -> "np.typing.NDArray[np.bool_]":
    """Which tables (rows) agree with all statements."""
    agrees = np.all(tables >= 0, axis=1)
    for one in known:
        part = tables[:, one.cells]
        sums = part.sum(axis=1) if one.coefficients is None else part @ one.coefficients
        agrees &= sums >= one.low
        if one.high is not None:
            agrees &= sums <= one.high
    return np.asarray(agrees)


def has_hard_part(known: Sequence[Statement], factors: Sequence[Factor]) -> bool:
    """Whether something is left for weights: a range or a likelihood of a sum of cells."""
    return any(len(f.cells) > 1 for f in factors) or not all(map(_is_easy, known))


def _is_easy(statement: Statement) -> bool:
    return statement.is_equation or len(statement.cells) == 1


def drawn_belief(
    prior: Prior,
    n_cells: int,
    known: Sequence[Statement],
    factors: Sequence[Factor],
    limits: tuple[IntArray, IntArray],
    *,
    seconds: float,
    progress: Progress,
) -> DrawnBelief | Unavailable:
    """The distribution by weighted draws, or why they are worth too little. The same draws each
    time.

    Raises BudgetExceeded where not even the easy part can be drawn from exactly.
    """
    easy = [s for s in known if _is_easy(s)]
    own = [f for f in factors if len(f.cells) == 1]
    weighed, statements = with_factors(prior, n_cells, easy, own)
    system = system_of(len(weighed.low), statements)
    end = working_seconds() + seconds
    budget = Budget(seconds=seconds / 2)
    base = marginals.posterior(system, weighed, budget=budget, progress=progress).log_normaliser
    found = sampler(system, weighed, budget=budget, progress=progress)
    distribution = _Distribution(prior, n_cells, tuple(known), tuple(factors))
    rest = [f for f in factors if len(f.cells) > 1]
    kept = _Kept()
    for batch in found.batches(MOST_DRAWS, rng=np.random.default_rng(0)):
        kept.add(distribution, rest, batch[:, :n_cells])
        if not above(ENOUGH, kept.worth) or kept.n_numbers > MOST_KEPT or working_seconds() > end:
            break
    if above(LEAST_WORTH, kept.worth):
        return Unavailable(
            f"{kept.n:,} weighted draws are worth {kept.worth:.0f} plain ones, too few to trust"
        )
    return kept.belief(distribution, base, limits)


@dataclass(slots=True)
class _Kept:
    """The draws so far that are consistent, with the log of their weights."""

    n: int = 0
    n_numbers: int = 0
    tables: list[IntArray] = field(default_factory=list)
    logs: list[FloatArray] = field(default_factory=list)
    log_sum: float = -np.inf
    log_squares: float = -np.inf

    def add(self, distribution: _Distribution, rest: Sequence[Factor], batch: IntArray) -> None:
        """Takes in a batch of draws."""
        kept = batch[holding(distribution.known, batch)]
        logs = product_of(rest)(kept)
        self.n += len(batch)
        self.n_numbers += kept.size
        self.tables.append(kept)
        self.logs.append(logs)
        self.log_sum = float(np.logaddexp.reduce([self.log_sum, *logs]))
        self.log_squares = float(np.logaddexp.reduce([self.log_squares, *(2 * logs)]))

    def weights(self) -> tuple[FloatArray, float]:
        """Weights up to a factor, and the log of that factor."""
        logs = np.concatenate(self.logs)
        top = float(np.max(logs, initial=-700.0))
        return np.exp(logs - top), top

    @property
    def worth(self) -> float:
        """Plain draws that would be as good."""
        if self.log_sum == -np.inf:
            return 0.0
        return float(np.exp(2 * self.log_sum - self.log_squares))

    def belief(
        self, distribution: _Distribution, base: float, limits: tuple[IntArray, IntArray]
    ) -> DrawnBelief:
        """The distribution of which `base` is the log normaliser before these weights."""
        weights, top = self.weights()
        total, tables = float(weights.sum()), np.concatenate(self.tables)
        log_mean = top + float(np.log(total / self.n))
        return DrawnBelief(
            tables=tables,
            weights=weights / total,
            log_prior=distribution.log_weights(tables),
            log_normaliser=base + log_mean,
            log_error=relative_error(np.concatenate(self.logs) - log_mean, self.n),
            distribution=distribution,
            least=limits[0],
            most=limits[1],
        )
