"""The posterior under a model whose distribution of the table has no closed form: data
augmentation.

Tables are listed, walked, or filled and resampled given the cell probabilities, and these drawn
given the tables (see `augmentation`).
"""

from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from discreet.belief.drawn_belief import LEAST_EFFECTIVE, too_few
from discreet.belief.draws.augmentation import LEAST_KEPT, Augmented, Effort, augmented
from discreet.belief.draws.resample_move import cube_moves
from discreet.belief.draws.table_steps import ListedStep, ResamplingStep, TableStep, WalkStep
from discreet.belief.exact.listed_fiber import ListedFiber
from discreet.belief.exact.listing import listed_within
from discreet.belief.models.model_averaging import (
    Evidence,
    WeightKind,
    bridged_evidence,
    predictive_evidence,
)
from discreet.belief.request import Question
from discreet.belief.simulated_belief import SimulatedBelief
from discreet.belief.table_posterior import TablePosterior, told
from discreet.clock import Clock, working_seconds
from discreet.errors import InputError
from discreet.fiber.draws.moves import connecting_moves
from discreet.fiber.draws.sequential import weighted_draws
from discreet.fiber.draws.starts import starting_points
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.priors import Multinomial
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress

MOST_LISTED = 100_000  # tables of all blocks together
MOVES_PER_CELL = 4  # of a walk between two draws of the cell probabilities
LEAST_CHAIN = 40  # draws of a chain that tell anything
MOST_NUMBERS = 2**25  # counts or probabilities kept of all draws
STARTS = 200  # weighted draws from which walks begin
UNPROVED = "the walk rests on moves that are not proved to connect all tables"


def simulated(
    question: Question,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
    *,
    weight_kind: WeightKind = WeightKind.MARGINAL_LIKELIHOOD,
    resample: bool = True,
) -> TablePosterior | Unavailable:
    """Data augmentation over tables that are listed, walked, or else filled and resampled."""
    system, model = question.system, question.model
    fiber = listed_within(system, most=MOST_LISTED, seconds=clock.share(0.3, 30.0), rng=rng)
    try:
        step = _step(question, system, fiber, clock, rng, resample=resample)
        if isinstance(step, Unavailable):
            return step
        effort = _fitting_effort(step, question, clock, rng)
        if isinstance(effort, Unavailable):
            return effort
        drawn = augmented(
            step, model, question.alpha, question.cells, effort=effort, rng=rng, progress=progress
        )
    except InputError as failed:
        return Unavailable(f"tables could not be drawn: {failed}")
    drawn = replace(drawn, complete=drawn.complete and effort.n_draws == question.effort.n_draws)
    return _from_draws(question, drawn, fiber, step, weight_kind, rng)


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
    margins = question.only_margins
    moves = connecting_moves(system, margins, time_limit=clock.share(0.3, 60.0) or 60.0)
    n_chains = question.effort.n_chains
    thin = MOVES_PER_CELL * system.n_named
    if isinstance(moves, Unavailable):
        if not resample:
            return Unavailable(f"tables can be neither summed nor listed: {moves.reason}")
        walk = None
        if margins is not None:
            walk = _unproved_walk(question, margins, thin, clock, rng)
        return walk or ResamplingStep(system, question.cells, n_chains=n_chains, clock=clock)
    limit = (clock.share(0.3, 60.0) or 60.0) / n_chains
    starts = starting_points(system, n_chains, rng=rng, time_limit=limit)
    return WalkStep.of(system, moves, starts, question.cells, thin=thin, rng=rng)


def _unproved_walk(
    question: Question, margins: Margins, thin: int, clock: Clock, rng: np.random.Generator
) -> WalkStep | None:
    """A walk by cubes from weighted draws, or None where there are no cubes or no draws."""
    moves, system = cube_moves(margins), question.system
    if moves is None or moves.n_moves == 0:
        return None
    drawn = weighted_draws(
        system, Multinomial(), STARTS, rng=rng, time_limit=clock.share(0.2, 30.0)
    )
    if isinstance(drawn, Unavailable) or len(drawn.tables) == 0:
        return None
    chosen = rng.choice(len(drawn.tables), size=question.effort.n_chains, p=drawn.shares)
    starts = [drawn.tables[i] for i in chosen]
    return WalkStep.of(system, moves, starts, question.cells, thin=thin, proved=False, rng=rng)


def _fitting_effort(
    step: TableStep,
    question: Question,
    clock: Clock,
    rng: np.random.Generator,
) -> Effort | Unavailable:
    """As many draws as the time allows, found from a few that are thrown away."""
    effort = question.effort
    effort = replace(effort, n_draws=min(effort.n_draws, _most_draws(step, question)))
    left = clock.share(0.5)
    if left is None:
        return effort
    began = working_seconds()
    even = np.full((effort.n_chains, question.n_cells), -np.log(question.n_cells))
    step.take(even, rng=rng)
    first = working_seconds() - began
    if first > left / 4:
        return _no_time(first)
    pilot = replace(effort, n_draws=LEAST_KEPT, seconds=None)
    began = working_seconds()
    augmented(step, question.model, question.alpha, question.cells, effort=pilot, rng=rng)
    used = working_seconds() - began
    possible = int((left - first - used) * (LEAST_KEPT + 2) / (used * (1 + effort.burn_in)))
    if possible < LEAST_CHAIN:
        return _no_time(used / (LEAST_KEPT + 2))
    return replace(effort, n_draws=min(effort.n_draws, possible), seconds=left)


def _most_draws(step: TableStep, question: Question) -> int:
    """Draws of a chain that can be kept."""
    each = question.effort.n_chains * max(question.n_cells, len(step.pair_cell), 1)
    return max(LEAST_CHAIN, MOST_NUMBERS // each)


def _no_time(turn: float) -> Unavailable:
    remedy = "allow more seconds, or install the extra 'algebra' for moves from 4ti2"
    return Unavailable(f"a draw of tables takes {turn:.2g} s, too long for the time left; {remedy}")


def _from_draws(
    question: Question,
    drawn: Augmented,
    fiber: ListedFiber | None,
    step: TableStep,
    weight_kind: WeightKind,
    rng: np.random.Generator,
) -> TablePosterior | Unavailable:
    way = "tables drawn exactly given the cell probabilities"
    if fiber is None:
        way = "tables drawn by a walk that connects them"
    if isinstance(step, ResamplingStep):
        way = "tables filled cell by cell and resampled"
    warning = drawn.diagnostics.warning
    if isinstance(step, WalkStep) and not step.proved:
        way = "tables drawn by a walk"
        warning = "; ".join(filter(None, [warning, UNPROVED]))
    n_chains, n_draws = drawn.tables.shape[:2]
    if drawn.effective_draws < LEAST_EFFECTIVE:
        return too_few(f"{n_chains} chains of {n_draws:,} draws", drawn.effective_draws)
    belief = SimulatedBelief(
        system=question.system,
        n_cells=question.n_cells,
        cells=question.cells,
        distributions=drawn.distributions,
        errors=drawn.errors,
        effective=[drawn.effective_draws] * len(question.cells),
        score=lambda table: _score(table, drawn, fiber),
        total_entropy=Unavailable("simulation gives no entropy of the whole table"),
        method=f"simulated: {n_chains} chains of {n_draws:,} draws, {way}",
        warning=warning,
        complete=drawn.complete,
    )
    return told(question, belief, _evidence(question, drawn, fiber, weight_kind, rng))


def _evidence(
    question: Question,
    drawn: Augmented,
    fiber: ListedFiber | None,
    weight_kind: WeightKind,
    rng: np.random.Generator,
) -> Evidence | Unavailable:
    if fiber is None:
        return Unavailable(
            "the model cannot be weighed: there are too many consistent tables to list"
        )
    if weight_kind is WeightKind.POSTERIOR_PREDICTIVE and question.total is not None:
        return predictive_evidence(drawn, question.total)
    try:
        return bridged_evidence(fiber, question.model, question.alpha, drawn, rng=rng)
    except InputError as failed:
        return Unavailable(f"too few draws to weigh the model: {failed}")


def _score(truth: IntArray, drawn: Augmented, fiber: ListedFiber | None) -> Outcome:
    """Pr(truth | θ) averaged over the draws of θ, where its normaliser is known."""
    if fiber is None or drawn.log_released is None:
        return Unavailable("there are too many consistent tables to list")
    table = np.ravel(truth)
    logs = drawn.log_theta @ table - log_factorials(table) - drawn.log_released
    by_chain = np.exp(logs).mean(axis=1)
    error = float(by_chain.std(ddof=1) / np.sqrt(len(by_chain)))
    return Figure(value=float(by_chain.mean()), how=How.ESTIMATE, standard_error=error)


def log_factorials(table: IntArray) -> float:
    """log ∏ x!."""
    return float(gammaln(table + 1.0).sum())
