"""One ladder to what an intruder believes, climbed until a rung holds.

    closed     a formula                                                  exact
    listed     every table that fits, with its weight                     exact
    summed     a product over columns, summed by dynamic programming      exact
    weighed    what is easy drawn exactly, the rest in the weights        estimate
    filled     tables filled piece by piece, weighed by how               estimate

Who asks says which rungs to try, in this order; `posterior` adds walks for log-linear models. A
rung that is not for a question is passed over, and one that does not fit the time says why.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.belief.belief import Belief, ListedBelief
from discreet.belief.closed_belief import ClosedBelief, closed_belief
from discreet.belief.drawn_belief import DrawnBelief, too_few
from discreet.belief.draws.importance_draws import has_hard_part, importance_belief
from discreet.belief.draws.weighted_draws import weighted_belief
from discreet.belief.exact.listed_fiber import ListedFiber, all_tables, listed_fiber
from discreet.belief.exact.listing import listed_within
from discreet.belief.intruder_priors import LogLinearPrior, log_weights
from discreet.belief.request import NO_TOTAL, Question
from discreet.belief.summed_belief import SummedBelief
from discreet.clock import Clock, working_seconds
from discreet.fiber.bounds.cell_bounds import Bounds, bounds
from discreet.fiber.sums import marginals
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system import structure
from discreet.fiber.system.linear_system import System
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray
from discreet.numerics.rounding import above
from discreet.progress import Progress, silent

MOST_NUMBERS = 2**23  # cells of all listed tables together
FEW = 10**6  # combinations of values that are searched without guessing how many tables there are
BOUNDS_SECONDS = 30.0
LEAST_BOUNDS_SECONDS = 1.0
PACED_SECONDS = 60.0  # for exact sums, where no time was given
STEPS_A_SECOND = 50_000_000
LEAST_STATES, STATES_A_SECOND = 20_000, 200_000  # kept at one time


@dataclass(frozen=True, slots=True)
class Climb:
    """What every rung may use: the time, randomness, and who waits."""

    clock: Clock
    rng: np.random.Generator
    progress: Progress

    @property
    def seconds_left(self) -> float | None:
        """What is left, down to nothing; None where there is no limit."""
        if self.clock.seconds is None:
            return None
        left = self.clock.seconds - (working_seconds() - self.clock.began)
        return float(f"{max(0.0, left):.3g}")  # as it is told where time runs out

    def part(self, share: float) -> float | None:
        """A share of what is left."""
        left = self.seconds_left
        return None if left is None else left * share


Rung = Callable[[Question, Climb], Belief | Unavailable | None]


def believe(
    question: Question,
    rungs: Sequence[str] = ("closed", "listed", "summed", "weighed", "filled"),
    *,
    clock: Clock | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
) -> Belief | Unavailable:
    """The belief by the first rung that holds, or why none does.

    Trusted: what is known is true of some table.
    """
    climb = Climb(clock or Clock(None), rng or np.random.default_rng(0), progress)
    ways: dict[str, Rung] = {
        "closed": in_closed_form,
        "listed": by_listing,
        "summed": by_summing,
        "weighed": by_weighing,
        "filled": by_filling,
    }
    reasons: list[str] = []
    for name in rungs:
        try:
            found = ways[name](question, climb)
        except BudgetExceeded as beyond:
            found = Unavailable(str(beyond))
        if found is not None and not isinstance(found, Unavailable):
            return found
        if found is not None and found.reason not in reasons:
            reasons.append(found.reason)
    return Unavailable("; ".join(reasons) or "there is no way to weigh these tables")


def in_closed_form(question: Question, climb: Climb) -> ClosedBelief | None:
    """By a formula, where margins are all that is known."""
    margins = question.only_margins
    if margins is None or question.likelihood is not None:
        return None
    return closed_belief(margins, question.prior)


def by_listing(question: Question, climb: Climb) -> ListedBelief | Unavailable:
    """Every table that fits with its probability, unless there are too many."""
    most = min(question.limits.most_tables, MOST_NUMBERS // question.n_cells)
    before = question.prior_distribution
    if isinstance(before, Unavailable):
        return before
    fiber = fiber_within(question.system, most, climb.part(0.5), climb.rng)
    if fiber is None or fiber.n_tables > most:
        return Unavailable(f"there are more than {most:,} tables to list")
    tables = all_tables(fiber)
    if isinstance(question.prior, LogLinearPrior):
        weights = before.log_ratios(tables)
    else:
        weights = log_weights(question.prior, tables)
    if question.likelihood is not None:
        weights = weights + question.likelihood(tables)
    return ListedBelief.of_weights(tables, weights)


def fiber_within(
    system: System, most: int, seconds: float | None, rng: np.random.Generator
) -> ListedFiber | None:
    """All tables by blocks, or None where there are too many; without a guess where few can be."""
    blocks = structure.presolve(system, drop_redundant=False).blocks
    spans = [prod((b.system.upper - b.system.lower + 1).tolist()) for b in blocks]
    try:
        if sum(spans) <= FEW:
            return listed_fiber(system, most=most)
        return listed_within(system, most=most, seconds=seconds, rng=rng)
    except BudgetExceeded:
        return None


def by_summing(question: Question, climb: Climb) -> SummedBelief | Unavailable:
    """By sums over all tables, where the distribution is a product over columns."""
    product = question.distribution
    if isinstance(product, Unavailable):
        return product
    try:
        found = marginals.posterior(
            product.system, product.prior, budget=budget(question, climb), progress=climb.progress
        )
    except BudgetExceeded as beyond:
        return Unavailable(f"summing over all tables goes beyond its budget: {beyond}")
    return SummedBelief(
        distribution=found, n_cells=question.n_cells, bounds=lambda: _limits(question, climb, found)
    )


def sums_exactly(
    question: Question, sums: Sequence[IntArray], clock: Clock
) -> list[dict[int, float]] | Unavailable:
    """The exact distribution of each sum of cells, or why there is none."""
    product = question.distribution
    if isinstance(product, Unavailable):
        return product
    found = []
    for i, cells in enumerate(sums):
        climb = Climb(Clock(clock.share(1 / (len(sums) - i))), np.random.default_rng(0), silent)
        own = budget(question, climb)
        try:
            found.append(
                marginals.sum_distribution(product.system, product.prior, cells, budget=own)
            )
        except BudgetExceeded as beyond:
            return Unavailable(f"summing over all tables goes beyond its budget: {beyond}")
    return found


def budget(question: Question, climb: Climb) -> Budget:
    """For an exact sum, within its share of the time left."""
    limits = question.limits
    if not limits.paced:
        return Budget(
            states=limits.states, steps=limits.steps, seconds=climb.part(limits.exact_share)
        )
    seconds = climb.clock.share(limits.exact_share, PACED_SECONDS) or PACED_SECONDS
    states = min(limits.states, LEAST_STATES + int(STATES_A_SECOND * seconds))
    return Budget(states=states, steps=int(STEPS_A_SECOND * seconds), seconds=seconds)


def _limits(
    question: Question, climb: Climb, found: marginals.Posterior
) -> tuple[IntArray, IntArray]:
    """The range of each cell: all values of positive probability, or bounds where one is zero.

    A probability of zero may be one too small to write, which is still possible.
    """
    n = question.n_cells
    if all(np.all(p > 0) for p in found.probabilities[:n]):
        low = found.lower[:n].astype(np.int64)
        return low.copy(), low + np.array([len(p) - 1 for p in found.probabilities[:n]])
    return _bounds(question, climb)


def _bounds(question: Question, climb: Climb) -> tuple[IntArray, IntArray]:
    """Bounds of the cells within part of the time that is left, but some in any case."""
    left = climb.part(0.25)
    limit = BOUNDS_SECONDS if left is None else max(LEAST_BOUNDS_SECONDS, left)
    found = believed_bounds(question, time_limit=min(BOUNDS_SECONDS, limit))
    return found.lower.copy(), found.upper.copy()


def believed_bounds(
    question: Question,
    *,
    cells: IntArray | None = None,
    time_limit: float | None = BOUNDS_SECONDS,
    progress: Progress = silent,
) -> Bounds:
    """The least and the greatest count of each cell over all tables that fit.

    `cells` are numbers in C order, all if left out. The true table only spares search.
    """
    margins = question.only_margins
    tables = [] if question.truth is None else [np.asarray(question.truth)]
    if margins is not None:
        return bounds(margins, cells=cells, tables=tables, time_limit=time_limit, progress=progress)
    flat = [table.ravel() for table in tables]
    return bounds(
        question.system, cells=cells, tables=flat, time_limit=time_limit, progress=progress
    )


def by_weighing(question: Question, climb: Climb) -> DrawnBelief | Unavailable | None:
    """By exact draws of what is easy, the rest in their weights.

    Not for a question without such a rest: draws would need the very sum that is beyond its budget.
    """
    prior, factors = question.prior, question.factors or question.guide
    if isinstance(prior, LogLinearPrior) or question.total is None:
        return None
    if question.likelihood is not None and not factors:
        return None
    if not has_hard_part(question.statements, factors):
        return None
    limits = _bounds(question, climb)
    try:
        found = importance_belief(
            prior,
            question.n_cells,
            question.statements,
            factors,
            limits,
            likelihood=None if question.factors else question.likelihood,
            seconds=climb.seconds_left,
            progress=climb.progress,
        )
    except BudgetExceeded as beyond:
        found = Unavailable(str(beyond))
    return Unavailable(f"draws: {found.reason}") if isinstance(found, Unavailable) else found


def by_filling(question: Question, climb: Climb) -> DrawnBelief | Unavailable:
    """By tables filled piece by piece, with the likelihood in their weights."""
    before = question.prior_distribution
    if isinstance(before, Unavailable):
        return before
    limits = question.limits
    plain = before.system.n_named == before.n_cells
    drawn = weighted_belief(
        before,
        margins=question.only_margins if plain else None,
        clock=Clock(climb.clock.share(limits.draw_share, limits.draw_seconds)),
        rng=climb.rng,
        progress=climb.progress,
    )
    if isinstance(drawn, Unavailable):
        return drawn
    if len(np.unique(drawn.tables.sum(axis=1))) > 1:
        return NO_TOTAL
    if question.likelihood is not None:
        weighed = drawn.reweighted(question.likelihood)
        if isinstance(weighed, Unavailable):
            return weighed
        drawn = weighed
    if above(limits.least_effective, drawn.effective_draws):
        few = f"{drawn.n_tried:,} weighted draws"
        return too_few(few, drawn.effective_draws, limits.least_effective)
    return drawn
