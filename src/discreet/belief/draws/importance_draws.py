"""An intruder's distribution by weighted draws, where it can be neither listed nor summed.

Tables are drawn exactly and independently from what is easy: the prior, the figures about single
cells and every equation. What is left, ranges and likelihoods of sums, becomes the weight of each
draw. So probabilities are shares of weight, and the mean weight tells the normaliser; every number
has its standard error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.belief.drawn_belief import DrawnBelief, too_few
from discreet.belief.factors import Factor, LogLikelihood, product_of
from discreet.belief.intruder_priors import with_factors
from discreet.clock import working_seconds
from discreet.fiber.draws.exact_draws import sampler
from discreet.fiber.sums import marginals
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.priors import Prior
from discreet.figures import Unavailable
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.numerics.rounding import above
from discreet.progress import Progress

MOST_DRAWS = 4_000_000
MOST_KEPT = 2**26  # counts of drawn tables that are kept, 512 MiB
ENOUGH = 4000.0  # effective draws at which drawing ends
LEAST_EFFECTIVE = 400.0  # below which there is no belief


@dataclass(frozen=True, slots=True)
class _Distribution:
    """A prior, what is known, and the likelihood, of any table."""

    prior: Prior
    n_cells: int
    known: tuple[Statement, ...]
    likelihood: LogLikelihood

    def log_weights(self, tables: IntArray) -> FloatArray:
        """log(prior · likelihood) of each table (rows), −inf where it is not consistent."""
        columns = np.broadcast_to(np.arange(self.n_cells), tables.shape)
        logs = self.prior.log_weight(columns, tables).sum(axis=1)
        logs = logs + self.likelihood(tables)
        return np.asarray(np.where(holding(self.known, tables), logs, -np.inf))


def holding(known: Sequence[Statement], tables: IntArray) -> BoolArray:
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


def importance_belief(
    prior: Prior,
    n_cells: int,
    known: Sequence[Statement],
    factors: Sequence[Factor],
    limits: tuple[IntArray, IntArray],
    *,
    likelihood: LogLikelihood | None = None,
    seconds: float | None,
    progress: Progress,
) -> DrawnBelief | Unavailable:
    """The belief by weighted draws, the same ones each time, or why they are too few.

    `factors` are the likelihood; where `likelihood` is given, it is that instead, and factors about
    single cells only make draws that are near it.

    Raises BudgetExceeded where not even the easy part can be drawn from exactly.
    """
    easy = [s for s in known if _is_easy(s)]
    own = [f for f in factors if len(f.cells) == 1]
    weighed, statements = with_factors(prior, n_cells, easy, own)
    system = system_of(len(weighed.low), statements)
    end = np.inf if seconds is None else working_seconds() + seconds
    budget = Budget(seconds=None if seconds is None else seconds / 2)
    base = marginals.posterior(system, weighed, budget=budget, progress=progress).log_normaliser
    found = sampler(system, weighed, budget=budget, progress=progress)
    whole = likelihood or product_of(factors)
    distribution = _Distribution(prior, n_cells, tuple(known), whole)
    rest = _rest(own, factors, likelihood)
    kept = _Kept()
    for batch in found.batches(MOST_DRAWS, rng=np.random.default_rng(0)):
        kept.add(distribution, rest, batch[:, :n_cells])
        enough = not above(ENOUGH, kept.effective_draws)
        if enough or kept.n_numbers > MOST_KEPT or working_seconds() > end:
            break
    if above(LEAST_EFFECTIVE, kept.effective_draws):
        return too_few(f"{kept.n:,} weighted draws", kept.effective_draws, LEAST_EFFECTIVE)
    return kept.belief(distribution, base, limits)


def _rest(
    own: Sequence[Factor], factors: Sequence[Factor], likelihood: LogLikelihood | None
) -> LogLikelihood:
    """What is left of the likelihood once single cells are drawn by their `own` factors."""
    if likelihood is None:
        return product_of([factor for factor in factors if len(factor.cells) > 1])
    whole, drawn = likelihood, product_of(own)
    return lambda tables: whole(tables) - drawn(tables)


@dataclass(slots=True)
class _Kept:
    """The draws so far that are consistent, with the log of their weights."""

    n: int = 0
    n_numbers: int = 0
    tables: list[IntArray] = field(default_factory=list)
    logs: list[FloatArray] = field(default_factory=list)
    log_sum: float = -np.inf
    log_squares: float = -np.inf

    def add(self, distribution: _Distribution, rest: LogLikelihood, batch: IntArray) -> None:
        """Takes in a batch of draws."""
        kept = batch[holding(distribution.known, batch)]
        logs = rest(kept)
        kept, logs = kept[logs > -np.inf], logs[logs > -np.inf]
        self.n += len(batch)
        self.n_numbers += kept.size
        self.tables.append(kept)
        self.logs.append(logs)
        self.log_sum = float(np.logaddexp.reduce([self.log_sum, *logs]))
        self.log_squares = float(np.logaddexp.reduce([self.log_squares, *(2 * logs)]))

    @property
    def effective_draws(self) -> float:
        """As many unweighted draws would tell as much."""
        if self.log_sum == -np.inf:
            return 0.0
        return float(np.exp(2 * self.log_sum - self.log_squares))

    def belief(
        self, distribution: _Distribution, base: float, limits: tuple[IntArray, IntArray]
    ) -> DrawnBelief:
        """The distribution of which `base` is the log normaliser before these weights."""
        tables = np.concatenate(self.tables)
        return DrawnBelief(
            tables=tables,
            log_ratios=np.concatenate(self.logs),
            log_weights=distribution.log_weights(tables),
            n_tried=self.n,
            lower=limits[0],
            upper=limits[1],
            log_weight=distribution.log_weights,
            log_scale=base,
        )
