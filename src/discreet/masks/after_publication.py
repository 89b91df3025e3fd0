"""A publication as the intruder sees it: the distribution of the hidden table, and bounds of its
cells.

By Bayes' rule

    Pr(table | publication)  ∝  prior(table) · Pr(publication | table)    over the fiber,

the fiber being all tables that agree with what is known for certain. The distribution is exact
where every table is listed, or where it is a product over columns and is summed by dynamic
programming. Beyond that it is estimated from weighted draws, each figure with its standard error;
and where those are worth too little the answer says so."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from discreet.belief.belief import Belief, ListedBelief
from discreet.belief.draws.importance_draws import (
    DrawnBelief,
    checked_cells,
    drawn_belief,
    has_hard_part,
)
from discreet.belief.exact import listed_belief
from discreet.belief.exact.exact_distribution import ExactDistribution, exact_distribution
from discreet.belief.exact.listed_fiber import ListedFiber, listed_fiber
from discreet.belief.exact.listing import listed_within
from discreet.belief.intruder_priors import LogLinearPrior, log_weights, prior_named, with_factors
from discreet.clock import working_seconds
from discreet.errors import InputError, must_be
from discreet.fiber.bounds.cell_bounds import Bounds, bounds
from discreet.fiber.sums import marginals
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system import structure
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.fiber.system.priors import Prior, check_length
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.masks.contract import Masked
from discreet.masks.margins import margins_out
from discreet.numerics.arrays import IntArray, read_only
from discreet.progress import Progress, silent

MOST_TABLES = listed_belief.MOST_TABLES
SECONDS = 60.0
BOUNDS_SECONDS = 30.0
LEAST_BOUNDS_SECONDS = 1.0
FEW = 10**6  # combinations of values that are searched without guessing how many tables there are

AnyPrior = Prior | LogLinearPrior | str


@dataclass(frozen=True, slots=True, kw_only=True)
class SummedBelief:
    """A distribution over tables known by its sums: of every cell and of any one table. Exact."""

    distribution: marginals.Posterior
    n_cells: int
    least: IntArray
    most: IntArray

    def __post_init__(self) -> None:
        read_only(self.least)
        read_only(self.most)

    @property
    def lower(self) -> IntArray:
        """The least value of each cell."""
        return self.least

    @property
    def upper(self) -> IntArray:
        """The greatest value of each cell."""
        return self.most

    def cell(self, cell: int) -> dict[int, float]:
        """Pr(F(cell) = q) for every q that is possible."""
        if not 0 <= cell < self.n_cells:
            raise InputError(must_be("cell", f"from 0 to {self.n_cells - 1}", cell))
        low = int(self.distribution.lower[cell])
        distribution = enumerate(self.distribution.probabilities[cell])
        return {low + q: float(p) for q, p in distribution if p > 0}

    def probability(self, table: IntArray) -> Outcome:
        """The probability of a whole table; 0 if it is not consistent."""
        point = _completed(self.distribution.system, checked_cells(table, self.n_cells))
        possible = self.distribution.system.holds(self.distribution.system.completed(point))
        value = self.distribution.table_probability(point) if possible else 0.0
        return Figure(value=value, how=How.EXACT)

    def entropy(self) -> Outcome:
        """Entropy of the distribution over tables [bits]."""
        return Figure(value=self.distribution.entropy, how=How.EXACT)


class _Ask(NamedTuple):
    masked: Masked
    prior: Prior | LogLinearPrior
    statements: list[Statement]
    most_tables: int
    end: float
    progress: Progress

    @property
    def seconds_left(self) -> float:
        return round(max(0.0, self.end - working_seconds()), 1)

    @property
    def also(self) -> list[Statement]:
        """What is known beside the publication."""
        return self.statements[len(self.masked.known) :]

    @property
    def n_cells(self) -> int:
        return self.masked.source.n_cells


def intruders_belief(
    masked: Masked,
    prior: AnyPrior = "multinomial",
    *,
    also: Sequence[Statement] = (),
    most_tables: int = MOST_TABLES,
    seconds: float = SECONDS,
    progress: Progress = silent,
) -> Belief | Unavailable:
    """The intruder's distribution over tables once he has seen the publication, or why it is not
    had.

    `prior` is a name (`multinomial`, `dirichlet`, `uniform`), a prior of the fiber, or a log-linear
    model; `also` is what he knows beside. Tables are listed where there are at most `most_tables`,
    else summed over where the distribution is a product, else drawn; `seconds` limit all of it,
    roughly.
    `probability` and `entropy` of the belief say whether they are exact.

    Checked: the prior fits the table. Trusted: `also` is true of the table.
    """
    named = _checked_prior(prior, masked)
    if not seconds >= 0:
        raise InputError(must_be("seconds", "at least 0", seconds))
    end = working_seconds() + seconds
    ask = _Ask(masked, named, [*masked.known, *also], most_tables, end, progress)
    distribution = _model_distribution(ask) if isinstance(named, LogLinearPrior) else None
    if isinstance(distribution, Unavailable):
        return distribution
    try:
        listed = _listed(ask, distribution)
    except BudgetExceeded as beyond:
        return Unavailable(str(beyond))
    if listed is not None:
        return listed
    summed = _summed(ask, distribution)
    if not isinstance(summed, Unavailable) or isinstance(named, LogLinearPrior):
        return summed
    return _drawn(ask, summed)


def _checked_prior(prior: AnyPrior, masked: Masked) -> Prior | LogLinearPrior:
    """The prior, if it is about tables of this size."""
    if isinstance(prior, LogLinearPrior):
        n = len(masked.source.names)
        if prior.model.n_variables != n:
            rule = f"a model of {n} variables"
            raise InputError(must_be("prior", rule, f"one of {prior.model.n_variables}"))
        return prior
    named = prior_named(prior, masked.source.n_cells) if isinstance(prior, str) else prior
    if not hasattr(named, "log_weight"):
        raise InputError(must_be("prior", "a name or a prior", type(prior).__name__))
    check_length(named, masked.source.n_cells)
    return named


def intruders_bounds(
    masked: Masked,
    *,
    cells: IntArray | None = None,
    also: Sequence[Statement] = (),
    time_limit: float | None = BOUNDS_SECONDS,
    progress: Progress = silent,
) -> Bounds:
    """The least and the greatest count of each cell that agree with what the intruder knows.

    `cells` are numbers in C order, all if left out. The true table only spares search.
    """
    truth = masked.source.dense()
    if masked.margins is not None and not also:
        return bounds(
            masked.margins, cells=cells, tables=[truth], time_limit=time_limit, progress=progress
        )
    system = system_of(masked.source.n_cells, [*masked.known, *also])
    return bounds(
        system, cells=cells, tables=[truth.ravel()], time_limit=time_limit, progress=progress
    )


def _model_distribution(ask: _Ask) -> ExactDistribution | Unavailable:
    """The distribution of the table under a log-linear model and all statements."""
    masked, prior = ask.masked, ask.prior
    assert isinstance(prior, LogLinearPrior)
    margins = masked.margins
    known = ask.also
    if margins is None:
        if not _fixes_total(ask):
            return Unavailable("a log-linear model needs the number of persons to be known")
        margins = margins_out(masked.source, masked.source.dense(), [()])
        known = ask.statements
    alpha = np.full(masked.source.sizes, prior.alpha)
    distribution = exact_distribution(margins, prior.model, alpha, known=known)
    if distribution is None:
        return Unavailable(
            "the model is not decomposable and has margins that are not published, so that its "
            "distribution over tables has no closed form"
        )
    return distribution


def _fixes_total(ask: _Ask) -> bool:
    """Whether all tables have the same number of persons for certain."""
    whole = ask.n_cells
    return ask.masked.margins is not None or any(
        s.is_equation and len(s.cells) == whole and _plain(s) for s in ask.statements
    )


def _plain(statement: Statement) -> bool:
    return statement.coefficients is None or bool(np.all(statement.coefficients == 1))


def _listed(ask: _Ask, distribution: ExactDistribution | None) -> ListedBelief | None:
    """The distribution with every table listed, or None where there are too many."""
    system = system_of(ask.n_cells, ask.statements)
    most = min(ask.most_tables, listed_belief.MOST_NUMBERS // ask.n_cells)
    fiber = _fiber(system, most, ask.seconds_left / 2)
    if fiber is None or fiber.n_tables > most:
        return None
    tables = listed_belief.all_tables(fiber)
    if isinstance(ask.prior, LogLinearPrior):
        assert distribution is not None
        weights = listed_belief.log_weights(distribution, tables)
    else:
        weights = log_weights(ask.prior, tables)
    if ask.masked.likelihood is not None:
        weights = weights + ask.masked.likelihood(tables)
    return ListedBelief.of_weights(tables, weights)


def _fiber(system: System, most: int, seconds: float) -> ListedFiber | None:
    """All tables by blocks, or None where there are too many; without a guess where few can be."""
    blocks = structure.presolve(system, drop_redundant=False).blocks
    spans = [prod((b.system.upper - b.system.lower + 1).tolist()) for b in blocks]
    try:
        if sum(spans) <= FEW:
            return listed_fiber(system, most=most)
        return listed_within(system, most=most, seconds=seconds, rng=np.random.default_rng(0))
    except BudgetExceeded:
        return None


def _summed(ask: _Ask, distribution: ExactDistribution | None) -> SummedBelief | Unavailable:
    """The distribution summed over all tables by dynamic programming, or why it cannot be."""
    few = f"there are more than {ask.most_tables:,} tables to list"
    product = _product(ask, distribution)
    if isinstance(product, Unavailable):
        return Unavailable(f"{few}, and {product.reason}")
    system, prior = product
    budget = Budget(seconds=ask.seconds_left / 2)
    try:
        found = marginals.posterior(system, prior, budget=budget, progress=ask.progress)
    except BudgetExceeded as beyond:
        return Unavailable(f"{few}, and summing over them goes beyond its budget: {beyond}")
    least, most = _limits(ask, found)
    return SummedBelief(distribution=found, n_cells=ask.n_cells, least=least, most=most)


def _drawn(ask: _Ask, otherwise: Unavailable) -> DrawnBelief | Unavailable:
    """The distribution by weighted draws, or why it is not had that way either."""
    factors = ask.masked.factors or ()
    if (ask.masked.likelihood is not None and not factors) or not _fixes_total(ask):
        return otherwise
    if not has_hard_part(ask.statements, factors):
        return otherwise  # draws would need the very sum that was beyond its budget
    assert not isinstance(ask.prior, LogLinearPrior)
    exact = _bounds(ask)
    try:
        found = drawn_belief(
            ask.prior,
            ask.n_cells,
            ask.statements,
            factors,
            (exact.lower.copy(), exact.upper.copy()),
            seconds=ask.seconds_left,
            progress=ask.progress,
        )
    except BudgetExceeded as beyond:
        found = Unavailable(str(beyond))
    if isinstance(found, Unavailable):
        return Unavailable(f"{otherwise.reason}; draws: {found.reason}")
    return found


def _product(
    ask: _Ask, distribution: ExactDistribution | None
) -> tuple[System, Prior] | Unavailable:
    """The distribution as a product over the columns of a system."""
    factors = ask.masked.factors or ()
    if ask.masked.likelihood is not None and not factors:
        return Unavailable("the publication's probability is no product over figures")
    if distribution is not None:
        if factors:
            return Unavailable("a log-linear distribution with rounded figures is not summed")
        return distribution.system, distribution.prior
    assert not isinstance(ask.prior, LogLinearPrior)
    if not _fixes_total(ask):
        return Unavailable(
            "the number of persons is not known, without which the distribution is no product"
        )
    prior, statements = with_factors(ask.prior, ask.n_cells, ask.statements, factors)
    return system_of(len(prior.low), statements), prior


def _limits(ask: _Ask, found: marginals.Posterior) -> tuple[IntArray, IntArray]:
    """The range of each cell: all values of positive probability, or bounds where one is zero.

    A probability of zero may be one too small to write, which is still possible.
    """
    distributions = found.probabilities[: ask.n_cells]
    low = found.lower[: ask.n_cells].astype(np.int64)
    if all(np.all(distribution > 0) for distribution in distributions):
        return low.copy(), low + np.array(
            [len(distribution) - 1 for distribution in distributions], dtype=np.int64
        )
    exact = _bounds(ask)
    return exact.lower.copy(), exact.upper.copy()


def _bounds(ask: _Ask) -> Bounds:
    """Bounds of the cells within part of the time that is left, but some in any case."""
    limit = min(BOUNDS_SECONDS, max(LEAST_BOUNDS_SECONDS, ask.seconds_left / 4))
    return intruders_bounds(ask.masked, also=ask.also, time_limit=limit)


def _completed(system: System, table: IntArray) -> IntArray:
    """The named columns of a table's point: its cells, and the columns tied to them."""
    n = len(table)
    point = np.zeros(system.n_named, dtype=np.int64)
    point[:n] = table
    left = system.right - system.matrix[:, :n] @ table
    tied = system.matrix[:, n : system.n_named].tocoo()
    point[n + tied.col] = left[tied.row]
    return point
