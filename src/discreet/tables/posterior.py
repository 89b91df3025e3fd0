"""The intruder's posterior of a hidden table under one log-linear model, exact where it can be.

In this order, each within its share of the time: matching records along a junction tree; summing
over all tables by dynamic programming; where the law of the table is known but too large to sum,
weighted draws; else data augmentation over tables that are listed, walked or resampled. Each result
says which way it was got.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np
from scipy.special import gammaln

from discreet.data.arrays import FloatArray, IntArray
from discreet.errors import InputError
from discreet.fiber import marginals
from discreet.fiber.dynamic_programming import Budget
from discreet.fiber.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.margins import Margins
from discreet.fiber.moves import connecting_moves
from discreet.fiber.starts import starting_points
from discreet.fiber.system import Statement, System, system_of
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.progress import Progress, silent
from discreet.tables.augmentation import LEAST_KEPT, Augmented, Effort, augmented
from discreet.tables.averaging import (
    Evidence,
    WeightKind,
    bridged_evidence,
    predictive_evidence,
    released_evidence,
)
from discreet.tables.exact_law import ExactLaw, exact_law
from discreet.tables.generators import HierarchicalModel
from discreet.tables.listed_fiber import ListedFiber
from discreet.tables.listed_law import completed_points
from discreet.tables.listing import listed_within
from discreet.tables.matched_law import matched_law
from discreet.tables.moved_law import TRUSTED, MovedLaw, moved_law
from discreet.tables.table_steps import ListedStep, ResamplingStep, TableStep, WalkStep
from discreet.tables.time_shares import Clock
from discreet.tables.weighted_law import ENOUGH, WeightedLaw, weighted_law

MOST_LISTED = 100_000  # tables of all blocks together
MOVES_PER_CELL = 4  # of a walk between two draws of the cell probabilities
EXACT_SECONDS = 60.0  # for summing over all tables, where no time was given
STEPS_A_SECOND = 50_000_000
LEAST_EFFECTIVE = 100  # weighted draws worth less give way to a walk where there is one
LEAST_CHAIN = 40  # draws of a chain that tell anything
MOST_BRIDGED = 512  # cells of a table whose constants are found by bridge sampling
NO_TRUTH = Unavailable("the true table was not given")
NO_CONSTANT = Unavailable("the model's constant has no closed form")


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePosterior:
    """What an intruder who believes in one model knows of the cells asked for.

    `laws[i]` is Pr(F(cells[i]) = q) for every possible q, `errors[i]` its standard errors, zero
    where exact. `true_table` is the probability of the table that was given as the truth, `entropy`
    that of the law over tables in bits. `method` says how it was got, `warning` what to mistrust.
    """

    model: HierarchicalModel
    cells: IntArray
    laws: Sequence[dict[int, float]]
    errors: Sequence[dict[int, float]]
    how: How
    method: str
    evidence: Evidence | Unavailable
    true_table: Outcome
    entropy: Outcome
    warning: str = ""
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of every model: the release, what else is known, and about which cells."""

    margins: Margins
    cells: IntArray
    alpha: FloatArray
    known: Sequence[Statement] = ()
    truth: IntArray | None = None
    weight_kind: WeightKind = WeightKind.MARGINAL_LIKELIHOOD
    effort: Effort = field(default_factory=Effort)
    budget_states: int = 2_000_000

    def system(self) -> System:
        """Everything that is known of the cells."""
        statements = [*self.margins.statements(), *self.known]
        return system_of(self.margins.n_cells, statements)


def table_posterior(
    question: Question,
    model: HierarchicalModel,
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> TablePosterior | Unavailable:
    """The posterior of the cells under the model, or why there is none."""
    clock = Clock(question.effort.seconds)
    law = exact_law(question.margins, model, question.alpha, known=question.known)
    if law is None:
        return _simulated(question, model, clock, rng, progress)
    found = _by_law(question, model, law, clock, rng, progress)
    if question.weight_kind is WeightKind.MARGINAL_LIKELIHOOD or isinstance(found, Unavailable):
        return found
    return _with_predictive(question, found, clock, rng, progress)


def _by_law(
    question: Question,
    model: HierarchicalModel,
    law: ExactLaw,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
) -> TablePosterior | Unavailable:
    """The posterior where the law of the table is known up to its normaliser."""
    found: TablePosterior | Unavailable
    try:
        matched = None if question.known else _matched(question, model, law, clock)
        found = matched or _exactly(question, model, law, clock, progress)
    except BudgetExceeded:
        found = _by_weighted_draws(question, model, law, clock, rng, progress)
    if isinstance(found, Unavailable) or not isinstance(found.evidence, Unavailable):
        return found
    if question.margins.n_cells > MOST_BRIDGED or question.truth is None or question.known:
        return found
    return _with_constant(question, found, rng)


def _matched(
    question: Question, model: HierarchicalModel, law: ExactLaw, clock: Clock
) -> TablePosterior | None:
    """By matching records, where the margins are decomposable and the model's are all released."""
    found = matched_law(question.margins, model)
    if found is None:
        return None
    sizes = question.margins.sizes
    levels = np.stack(np.unravel_index(question.cells, sizes), axis=1)
    laws = found.cells(levels, lambda: clock.is_over)
    truth: Outcome = NO_TRUTH
    if question.truth is not None:
        value = float(np.exp(min(found.log_probability(question.truth), 0.0)))
        truth = Figure(value=value, how=How.EXACT)
    constant = law.log_constant
    return TablePosterior(
        model=model,
        cells=question.cells,
        laws=laws,
        errors=[dict.fromkeys(one, 0.0) for one in laws],
        how=How.EXACT,
        method="exact, by matching records along the junction tree",
        evidence=NO_CONSTANT
        if constant is None
        else Evidence(found.log_normaliser + constant, 0.0),
        true_table=truth,
        entropy=Figure(value=found.entropy(), how=How.EXACT)
        if question.margins.n_cells <= MOST_BRIDGED
        else Unavailable(f"not summed over more than {MOST_BRIDGED} cells"),
    )


def _exactly(
    question: Question, model: HierarchicalModel, law: ExactLaw, clock: Clock, progress: Progress
) -> TablePosterior:
    seconds = clock.share(0.35, EXACT_SECONDS) or EXACT_SECONDS
    budget = Budget(
        states=question.budget_states, steps=int(STEPS_A_SECOND * seconds), seconds=seconds
    )
    found = marginals.posterior(law.system, law.prior, budget=budget, progress=progress)
    laws = [
        {int(found.lower[c]) + q: float(p) for q, p in enumerate(found.probabilities[c]) if p > 0}
        for c in question.cells.tolist()
    ]
    evidence: Evidence | Unavailable = NO_CONSTANT
    if law.log_constant is not None:
        evidence = Evidence(found.log_normaliser + law.log_constant, 0.0)
    truth: Outcome = NO_TRUTH
    if question.truth is not None:
        point = completed(law, question.truth)
        truth = Figure(value=found.table_probability(point), how=How.EXACT)
    return TablePosterior(
        model=model,
        cells=question.cells,
        laws=laws,
        errors=[dict.fromkeys(law_of_cell, 0.0) for law_of_cell in laws],
        how=How.EXACT,
        method="exact, by summing over all consistent tables",
        evidence=evidence,
        true_table=truth,
        entropy=Figure(value=found.entropy, how=How.EXACT),
    )


def completed(law: ExactLaw, table: IntArray) -> IntArray:
    """The named columns of a table's point: its cells and the entries tied to them."""
    point: IntArray = completed_points(law, np.ravel(table)[None])[0]
    return point


def _by_weighted_draws(
    question: Question,
    model: HierarchicalModel,
    law: ExactLaw,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
) -> TablePosterior | Unavailable:
    """Weighted draws of the law itself; a walk where they are worth little and there is one."""
    plain = law.system.n_named == law.n_cells and not question.known
    drawn = weighted_law(
        law,
        margins=question.margins if plain else None,
        clock=Clock(clock.share(0.5)),
        rng=rng,
        progress=progress,
    )
    worth = 0.0 if isinstance(drawn, Unavailable) else drawn.effective_draws
    if worth < LEAST_EFFECTIVE:
        other = _simulated(question, model, clock, rng, progress, resample=False)
        if not isinstance(other, Unavailable):
            return other
    if isinstance(drawn, Unavailable):
        return Unavailable(f"tables can be neither summed nor drawn: {drawn.reason}")
    found = _from_weighted(question, model, law, drawn)
    if not plain or worth >= ENOUGH:
        return found
    effort = question.effort
    moved = moved_law(
        law,
        question.margins,
        drawn,
        question.cells,
        effort=effort,
        clock=clock,
        rng=rng,
        progress=progress,
    )
    return found if moved is None else _with_moved(found, moved)


def _with_moved(found: TablePosterior, moved: MovedLaw) -> TablePosterior:
    """The cells' laws after walks from the weighted draws; the rest stays as it was."""
    way = f"then {moved.n_chains} walks of {moved.n_draws:,} tables from them"
    return replace(
        found,
        laws=moved.laws,
        errors=moved.errors,
        method=f"{found.method}, {way}",
        warning=moved.warning,
        complete=True,
    )


def _from_weighted(
    question: Question, model: HierarchicalModel, law: ExactLaw, drawn: WeightedLaw
) -> TablePosterior:
    pairs = [drawn.cell(cell) for cell in question.cells.tolist()]
    log_z, error = drawn.normaliser()
    few = Unavailable(
        f"weighted draws were worth only {drawn.effective_draws:.0f} plain ones, too few to trust "
        "their sum; allow more seconds"
    )
    enough = drawn.effective_draws >= TRUSTED
    evidence: Evidence | Unavailable = NO_CONSTANT if enough else few
    if law.log_constant is not None and enough:
        evidence = Evidence(log_z + law.log_constant, error)
    truth: Outcome = few if question.truth is not None else NO_TRUTH
    if question.truth is not None and enough:
        point = completed(law, question.truth)
        log_weight = float(law.prior.log_weight(np.arange(len(point)), point).sum())
        value = float(np.exp(min(log_weight - log_z, 0.0)))
        truth = Figure(value=value, how=How.ESTIMATE, standard_error=value * error)
    return TablePosterior(
        model=model,
        cells=question.cells,
        laws=[one for one, _ in pairs],
        errors=[one for _, one in pairs],
        how=How.ESTIMATE,
        method=f"{drawn.n_tried:,} weighted draws, worth {drawn.effective_draws:,.0f} plain ones",
        evidence=evidence,
        true_table=truth,
        entropy=drawn.entropy() if enough else few,
        warning=drawn.warning,
        complete=drawn.complete,
    )


def _with_constant(
    question: Question, found: TablePosterior, rng: np.random.Generator
) -> TablePosterior:
    """With the marginal likelihood of a model without closed form whose margins are all released.

    log Pr(R | A) = log n! + log Σ 1/∏F! + the log ratio of the constants of the posterior and the
    prior of θ. The sum is had from the probability of the true table, 1/∏f! over it.
    """
    own = found.true_table
    if question.truth is None or isinstance(own, Unavailable) or not own.value:
        return found
    log_z = -log_factorials(np.ravel(question.truth)) - float(np.log(own.value))
    error = (own.standard_error or 0.0) / own.value
    n_draws = min(question.effort.n_draws, 1000)
    ratio = released_evidence(found.model, question.alpha, question.truth, n_draws, rng=rng)
    if isinstance(ratio, Unavailable):
        return replace(found, evidence=ratio)
    value = float(gammaln(question.margins.total + 1)) + log_z + ratio.log_probability
    whole = float(np.hypot(error, ratio.standard_error))
    return replace(found, evidence=Evidence(value, whole))


def _simulated(
    question: Question,
    model: HierarchicalModel,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
    *,
    resample: bool = True,
) -> TablePosterior | Unavailable:
    """Data augmentation over tables that are listed, walked, or else filled and resampled."""
    system = question.system()
    fiber = listed_within(system, most=MOST_LISTED, seconds=clock.share(0.3, 30.0), rng=rng)
    try:
        step = _step(question, system, fiber, clock, rng, resample=resample)
        if isinstance(step, Unavailable):
            return step
        effort = _fitting_effort(step, question, model, clock, rng)
        if isinstance(effort, Unavailable):
            return effort
        drawn = augmented(
            step, model, question.alpha, question.cells, effort=effort, rng=rng, progress=progress
        )
    except InputError as failed:
        return Unavailable(f"tables could not be drawn: {failed}")
    drawn = replace(drawn, complete=drawn.complete and effort.n_draws == question.effort.n_draws)
    return _from_draws(question, model, drawn, fiber, step, rng)


def _step(
    question: Question,
    system: System,
    fiber: ListedFiber | None,
    clock: Clock,
    rng: np.random.Generator,
    *,
    resample: bool,
) -> TableStep | Unavailable:
    if fiber is not None:
        return ListedStep.of(fiber, question.cells)
    margins = None if question.known else question.margins
    moves = connecting_moves(system, margins, time_limit=clock.share(0.3, 60.0) or 60.0)
    n_chains = question.effort.n_chains
    if isinstance(moves, Unavailable):
        if resample:
            return ResamplingStep(system, question.cells, n_chains=n_chains)
        return Unavailable(f"tables can be neither summed nor listed, and {moves.reason}")
    limit = (clock.share(0.3, 60.0) or 60.0) / n_chains
    starts = starting_points(system, n_chains, rng=rng, time_limit=limit)
    thin = MOVES_PER_CELL * system.n_named
    return WalkStep.of(system, moves, starts, question.cells, thin=thin, rng=rng)


def _fitting_effort(
    step: TableStep,
    question: Question,
    model: HierarchicalModel,
    clock: Clock,
    rng: np.random.Generator,
) -> Effort | Unavailable:
    """As many draws as the time allows, found from a few that are thrown away."""
    effort = question.effort
    left = clock.share(0.5)
    if left is None:
        return effort
    began = monotonic()
    even = np.full((effort.n_chains, question.margins.n_cells), -np.log(question.margins.n_cells))
    step.take(even, rng=rng)
    first = monotonic() - began
    if first > left / 4:
        return _no_time(first)
    pilot = replace(effort, n_draws=LEAST_KEPT, seconds=None)
    began = monotonic()
    augmented(step, model, question.alpha, question.cells, effort=pilot, rng=rng)
    used = monotonic() - began
    possible = int((left - first - used) * (LEAST_KEPT + 2) / (used * (1 + effort.burn_in)))
    if possible < LEAST_CHAIN:
        return _no_time(used / (LEAST_KEPT + 2))
    return replace(effort, n_draws=min(effort.n_draws, possible), seconds=None)


def _no_time(turn: float) -> Unavailable:
    remedy = "allow more seconds, or install the extra 'algebra' for moves from 4ti2"
    return Unavailable(f"a draw of tables takes {turn:.2g} s, too long for the time left; {remedy}")


def _from_draws(
    question: Question,
    model: HierarchicalModel,
    drawn: Augmented,
    fiber: ListedFiber | None,
    step: TableStep,
    rng: np.random.Generator,
) -> TablePosterior:
    way = "tables drawn exactly given the cell probabilities"
    if fiber is None:
        way = "tables drawn by a walk that connects them"
    if isinstance(step, ResamplingStep):
        way = "tables filled cell by cell and resampled"
    n_chains, n_draws = drawn.tables.shape[:2]
    return TablePosterior(
        model=model,
        cells=question.cells,
        laws=drawn.laws,
        errors=drawn.errors,
        how=How.ESTIMATE,
        method=f"simulated: {n_chains} chains of {n_draws:,} draws, {way}",
        evidence=_evidence(question, model, drawn, fiber, rng),
        true_table=_simulated_truth(question, drawn, fiber),
        entropy=Unavailable("simulation gives no entropy of the whole table"),
        warning=drawn.diagnostics.warning,
        complete=drawn.complete,
    )


def _evidence(
    question: Question,
    model: HierarchicalModel,
    drawn: Augmented,
    fiber: ListedFiber | None,
    rng: np.random.Generator,
) -> Evidence | Unavailable:
    if fiber is None:
        return Unavailable("the fiber is too large to be listed, which weighing a model needs")
    if question.weight_kind is WeightKind.POSTERIOR_PREDICTIVE:
        return predictive_evidence(drawn, question.margins.total)
    try:
        return bridged_evidence(fiber, model, question.alpha, drawn, rng=rng)
    except InputError as failed:
        return Unavailable(f"too few draws to weigh the model: {failed}")


def _simulated_truth(question: Question, drawn: Augmented, fiber: ListedFiber | None) -> Outcome:
    """Pr(truth | θ) averaged over the draws of θ, where its normaliser is known."""
    if question.truth is None:
        return NO_TRUTH
    if fiber is None or drawn.log_released is None:
        return Unavailable("the fiber is too large to be listed")
    table = np.ravel(question.truth)
    logs = drawn.log_theta @ table - log_factorials(table) - drawn.log_released
    by_chain = np.exp(logs).mean(axis=1)
    error = float(by_chain.std(ddof=1) / np.sqrt(len(by_chain)))
    return Figure(value=float(by_chain.mean()), how=How.ESTIMATE, standard_error=error)


def log_factorials(table: IntArray) -> float:
    """log ∏ x!."""
    return float(gammaln(table + 1.0).sum())


def _with_predictive(
    question: Question,
    found: TablePosterior,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
) -> TablePosterior:
    """The exact posterior with the paper's weight, which only draws can give."""
    simulated = _simulated(question, found.model, clock, rng, progress)
    if isinstance(simulated, Unavailable):
        return replace(found, evidence=simulated)
    return replace(found, evidence=simulated.evidence)
