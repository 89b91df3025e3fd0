"""The distribution behind a rounded S2 from draws, where its factorisations are too many to go
through.

Independent counts given n and S1 have P(f) ∝ e^(−ν S2(f)) / ∏ f_j!, a distribution of two equations
that dynamic programming draws from exactly. Tables whose S2 lies in the interval are kept: they are
independent draws of the proper distribution, and the share that is kept gives its normaliser. For
tables that all count the same the weights e^(−ν′ S2), with ν′ such that S2 is met on average, do
the same and are undone, which within the interval is a factor of next to nothing."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.belief.count_belief import TableDistribution, drawn_distribution
from discreet.belief.draws.count_draws import balanced_multipliers, greatest_log_weight
from discreet.clock import working_seconds
from discreet.count_tables.factorials import factorisation_of, log_of_factorisation
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.statistics import DecimalLog
from discreet.count_tables.two_sum_draws import two_sum_distribution
from discreet.fiber.sums.counting import Count
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.figures import How, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import above
from discreet.numerics.special import log_gamma
from discreet.progress import heed

if TYPE_CHECKING:
    from discreet.belief.drawn_belief import DrawnBelief

LEAST_KEPT = 100  # effective draws below which errors would not be what they say
BATCH = 4000
MOST_DRAWS = 200_000
NEWTON_STEPS = 100


@dataclass(frozen=True, slots=True)
class Tilted:
    """∏ e^(t_j f_j), over ∏ f_j! where tables count by their orders.

    `for_n` and `for_total` are multipliers of n and S1 that make cells meet both on average; one
    factor for all tables, taken out of the normaliser again.
    """

    tilt: FloatArray
    by_orders: bool
    for_n: float
    for_total: float

    @property
    def name(self) -> str:
        """The prior on tables that this is a tilt of."""
        return "multinomial" if self.by_orders else "uniform"

    @property
    def log_means(self) -> FloatArray:
        """t_j with the multipliers: the logarithm of a Poisson mean, or of a geometric ratio."""
        found: FloatArray = self.tilt + self.for_n + self.for_total * np.arange(len(self.tilt))
        return found

    def weights(self, n: int) -> FloatArray:
        """Probabilities of 0 … n in each cell by itself, Poisson or geometric."""
        f, theta = np.arange(n + 1), self.log_means[:, None]
        logs = f * theta - self.log_scales[:, None]
        found: FloatArray = np.exp(logs - log_gamma(f + 1.0) if self.by_orders else logs)
        return found

    @property
    def log_scales(self) -> FloatArray:
        """The logarithm of the sum over all f of a cell."""
        if self.by_orders:
            return np.exp(self.log_means)
        found: FloatArray = -np.log(-np.expm1(self.log_means))
        return found

    def log_weight(self, tables: IntArray) -> FloatArray:
        """Σ t_j f_j − log f_j! of each table, or Σ t_j f_j."""
        own: FloatArray = tables @ self.tilt
        return own - log_gamma(tables + 1.0).sum(axis=-1) if self.by_orders else own


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedQuestion:
    """Tables of n counts with a total whose S2 lies in the interval, and what is known of them."""

    n: int
    total: int
    released: DecimalLog
    knowledge: Knowledge
    largest: int
    log_factorials: FloatArray = field(init=False)
    system: System = field(init=False)

    def __post_init__(self) -> None:
        values = np.arange(self.largest + 1)
        object.__setattr__(self, "log_factorials", log_gamma(values + 1.0))
        given = [
            Statement(cells=values, low=self.n, high=self.n, name="n"),
            Statement(
                cells=values[1:],
                low=self.total,
                high=self.total,
                name="S1",
                coefficients=values[1:],
            ),
            *self.knowledge.statements(self.largest),
        ]
        object.__setattr__(self, "system", system_of(self.largest + 1, given))

    def limited(self, weights: FloatArray) -> FloatArray:
        """Weights of counts, zero for those that are known to be wrong."""
        for j, (low, high) in self.knowledge.cells.items():
            if j <= self.largest:
                weights[j, :low] = 0.0
                weights[j, (self.n if high is None else high) + 1 :] = 0.0
        if self.knowledge.no_zeros:
            weights[0, 1:] = 0.0
        return weights

    def kept(self, tables: IntArray) -> tuple[IntArray, FloatArray]:
        """Tables within the interval that have the known shape, and their S2."""
        logs = tables @ self.log_factorials
        low, high = float(self.released.low), float(self.released.high)
        slack = 1e-9 * (1 + abs(high))
        inside = (logs >= low) & (logs < high)
        near = (np.abs(logs - low) < slack) | (np.abs(logs - high) < slack)
        for place in np.flatnonzero(near):
            inside[place] = self._is_inside(tables[place])
        if self.knowledge.largest_range is not None:
            inside &= tables[:, self.knowledge.largest_range[0] :].any(axis=1)
        if self.knowledge.shape is not None:
            for place in np.flatnonzero(inside):
                counts = {j: int(c) for j, c in enumerate(tables[place]) if c}
                inside[place] = self.knowledge.is_shape_of(counts, True)
        return tables[inside], logs[inside]

    def _is_inside(self, table: IntArray) -> bool:
        exponents = factorisation_of({j: int(c) for j, c in enumerate(table) if c})
        exact = log_of_factorisation(exponents, self.released.decimals + 30)
        return self.released.low <= exact < self.released.high


@dataclass(frozen=True, slots=True)
class _Draws:
    """Kept tables, their S2, how many were tried, and the distribution they were drawn from."""

    tables: IntArray
    logs: FloatArray
    tried: int
    prior: Tilted
    log_normaliser: float


def drawn_distributions(
    question: RoundedQuestion,
    dispersion: float,
    *,
    rng: np.random.Generator,
    seconds: float | None,
    truth: IntArray | None = None,
) -> tuple[TableDistribution | Unavailable, TableDistribution | Unavailable, Count]:
    """The proper distribution, that of equal tables, and the number of tables, with standard
    errors.

    Raises BudgetExceeded where not even tables with n and S1 alone can be drawn.
    """
    proper = _draw(question, _by_orders(question, dispersion), rng, seconds)
    even = _draw(question, _alike(question), rng, seconds)
    distribution = _distribution(question, even, truth)
    return _distribution(question, proper, truth), distribution, _number(even, distribution)


def _draw(
    question: RoundedQuestion, prior: Tilted, rng: np.random.Generator, seconds: float | None
) -> _Draws:
    begun = working_seconds()
    distribution = two_sum_distribution(
        question.n, question.total, question.limited(prior.weights(question.n))
    )
    if distribution.log_total == -math.inf:
        raise BudgetExceeded("what is known leaves no table with n and S1 that floats can weigh")
    shift = prior.for_n * question.n + prior.for_total * question.total
    log_z = distribution.log_total + float(prior.log_scales.sum()) - shift
    tables: list[IntArray] = []
    logs: list[FloatArray] = []
    tried = kept = 0
    while tried < MOST_DRAWS and kept < BATCH:
        heed()
        own, s2 = question.kept(distribution.draw(BATCH, rng=rng))
        tables.append(own)
        logs.append(s2)
        tried, kept = tried + BATCH, kept + len(own)
        if seconds is not None and working_seconds() - begun > seconds:
            break
    return _Draws(np.concatenate(tables), np.concatenate(logs), tried, prior, log_z)


def _by_orders(question: RoundedQuestion, dispersion: float) -> Tilted:
    """The distribution of independent counts: e^(−ν S2) / ∏ f_j!."""
    tilt = -dispersion * question.log_factorials
    rows = np.stack([np.ones(len(tilt)), np.arange(float(len(tilt)))])
    right = np.array([question.n, question.total], dtype=np.float64)
    multipliers = balanced_multipliers(rows, right, tilt)
    return Tilted(tilt, True, float(multipliers[0]), float(multipliers[1]))


def _alike(question: RoundedQuestion) -> Tilted:
    """Tables weighed by e^(−ν′ S2) alone, such that S2 is about the released one on average.

    Cells taken as independent and geometric, with means that meet n, S1 and S2: the dual function
    −Σ log(1 − e^θ_j) − λᵀ b with θ = Aᵀ λ < 0 is convex, and Newton's method with shortened steps
    finds where it is least. Any λ gives right answers; this one keeps most draws.
    """
    values = np.arange(question.largest + 1)
    rows = np.stack([np.ones(len(values)), values, question.log_factorials])
    middle = (float(question.released.low) + float(question.released.high)) / 2
    right = np.array([question.n, question.total, middle])
    at = np.array([-1.0, 0.0, 0.0])

    def dual(where: FloatArray) -> float:
        theta = rows.T @ where
        if theta.max() >= 0:
            return math.inf
        return float(-np.log(-np.expm1(theta)).sum()) - float(where @ right)

    for _ in range(NEWTON_STEPS):
        odds = np.exp(rows.T @ at) / -np.expm1(rows.T @ at)
        gradient = rows @ odds - right
        step = np.linalg.lstsq((rows * (odds * (1 + odds))) @ rows.T, gradient, rcond=None)[0]
        size, gain = 1.0, float(gradient @ step)
        if gain < 1e-9:
            break
        while size > 1e-9 and dual(at - size * step) > dual(at) - 0.25 * size * gain:
            size /= 2
        at = at - size * step
    tilt = at[2] * question.log_factorials
    return Tilted(tilt, False, float(at[0]), float(at[1]))


def _distribution(
    question: RoundedQuestion, drawn: _Draws, truth: IntArray | None
) -> TableDistribution | Unavailable:
    if len(drawn.tables) == 0:
        return Unavailable(f"none of {drawn.tried:,} draws had this S2; state more decimals")
    belief = _belief(question, drawn)
    if above(LEAST_KEPT, belief.effective_draws):
        few = f"only {belief.effective_draws:.0f} effective draws of {drawn.tried:,} had this S2"
        return Unavailable(f"{few}; state more decimals or less knowledge")
    return drawn_distribution(
        belief,
        drawn.prior.name,
        greatest=_greatest(question, drawn.prior),
        note=f"{len(drawn.tables):,} of {drawn.tried:,} tables drawn given n and S1 had this S2",
        truth=truth,
    )


def _belief(question: RoundedQuestion, drawn: _Draws) -> "DrawnBelief":
    """The belief by the tables that were kept, of which equal ones have their tilt undone."""
    from discreet.belief.drawn_belief import DrawnBelief  # slow to load

    prior, n = drawn.prior, drawn.tables.shape[1]
    own = prior.log_weight if prior.by_orders else _alike_weight
    undone = np.zeros(len(drawn.tables)) if prior.by_orders else -(drawn.tables @ prior.tilt)
    return DrawnBelief(
        tables=drawn.tables,
        log_ratios=undone,
        log_weights=own(drawn.tables),
        n_tried=drawn.tried,
        lower=question.system.lower[:n].copy(),
        upper=question.system.upper[:n].copy(),
        log_weight=own,
        log_scale=drawn.log_normaliser,
    )


def _alike_weight(tables: IntArray) -> FloatArray:
    return np.zeros(len(tables))


def _greatest(question: RoundedQuestion, prior: Tilted) -> float:
    """What no table's log weight exceeds."""
    return greatest_log_weight(question.system, prior.tilt) if prior.by_orders else 0.0


def _number(drawn: _Draws, distribution: TableDistribution | Unavailable) -> Count:
    """The number of tables is 2^H where all count the same."""
    least = len(np.unique(drawn.tables, axis=0)) if len(drawn.tables) else 0
    if isinstance(distribution, Unavailable):
        return Count(value=None, how=None, note=distribution.reason, at_least=least)
    tables = distribution.effective_tables
    if isinstance(tables, Unavailable) or tables.value is None:
        return Count(value=None, how=None, note="too large for a number", at_least=least)
    return Count(
        value=round(tables.value),
        how=How.ESTIMATE,
        standard_error=tables.standard_error,
        note=distribution.note,
        at_least=least,
    )
