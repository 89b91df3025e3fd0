"""The intruder's posterior of a hidden table under one log-linear model, exact where it can be.

First the exact law by dynamic programming; where the model has no such law, or it does not fit the
budget, data augmentation over a listed fiber; where that cannot be listed, over a walk that
connects it. Each result says which way it was got.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np
from scipy.special import gammaln

from discreet.data.arrays import FloatArray, IntArray
from discreet.fiber import marginals
from discreet.fiber.dynamic_programming import Budget
from discreet.fiber.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.margins import Margins
from discreet.fiber.moves import connecting_moves
from discreet.fiber.starts import starting_points
from discreet.fiber.system import Statement, system_of
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.progress import Progress, silent
from discreet.tables.augmentation import Augmented, Effort, augmented
from discreet.tables.averaging import (
    Evidence,
    WeightKind,
    bridged_evidence,
    predictive_evidence,
)
from discreet.tables.exact_law import ExactLaw, exact_law
from discreet.tables.generators import HierarchicalModel
from discreet.tables.listed_fiber import ListedFiber, listed_fiber
from discreet.tables.table_steps import ListedStep, TableStep, WalkStep

MOST_LISTED = 100_000  # tables of all blocks together
MOVES_PER_CELL = 4  # of a walk between two draws of the cell probabilities


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


def table_posterior(
    question: Question,
    model: HierarchicalModel,
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> TablePosterior | Unavailable:
    """The posterior of the cells under the model, or why there is none."""
    law = exact_law(question.margins, model, question.alpha, known=question.known)
    exact_weight = law is not None and law.log_constant is not None
    proper = question.weight_kind is WeightKind.MARGINAL_LIKELIHOOD
    if law is not None:
        try:
            found = _exactly(question, model, law, progress)
            if proper or not exact_weight:
                return found
            return _with_predictive(question, found, rng, progress)
        except BudgetExceeded:
            pass
    return _simulated(question, model, rng, progress)


def _exactly(
    question: Question, model: HierarchicalModel, law: ExactLaw, progress: Progress
) -> TablePosterior:
    budget = Budget(states=question.budget_states, seconds=question.effort.seconds)
    found = marginals.posterior(law.system, law.prior, budget=budget, progress=progress)
    laws = [
        {int(found.lower[c]) + q: float(p) for q, p in enumerate(found.probabilities[c]) if p > 0}
        for c in question.cells.tolist()
    ]
    evidence: Evidence | Unavailable = Unavailable("the model's constant has no closed form")
    if law.log_constant is not None:
        evidence = Evidence(found.log_normaliser + law.log_constant, 0.0)
    return TablePosterior(
        model=model,
        cells=question.cells,
        laws=laws,
        errors=[dict.fromkeys(law_of_cell, 0.0) for law_of_cell in laws],
        how=How.EXACT,
        method="exact, by summing over all consistent tables",
        evidence=evidence,
        true_table=_true_table(question, law, found),
        entropy=Figure(value=found.entropy, how=How.EXACT),
    )


def _true_table(question: Question, law: ExactLaw, found: marginals.Posterior) -> Outcome:
    if question.truth is None:
        return Unavailable("the true table was not given")
    point = completed(law, question.truth)
    return Figure(value=found.table_probability(point), how=How.EXACT)


def completed(law: ExactLaw, table: IntArray) -> IntArray:
    """The named columns of a table's point: its cells and the entries tied to them."""
    system = law.system
    point = np.zeros(system.n_named, dtype=np.int64)
    point[: law.n_cells] = np.ravel(table)
    full = np.zeros(system.n_columns, dtype=np.int64)
    full[: system.n_named] = point
    left = system.right - system.matrix @ full
    tied = system.matrix[:, law.n_cells : system.n_named].tocoo()
    point[law.n_cells + tied.col] = left[tied.row]
    return point


def _simulated(
    question: Question,
    model: HierarchicalModel,
    rng: np.random.Generator,
    progress: Progress,
) -> TablePosterior | Unavailable:
    began = monotonic()
    system = system_of(question.margins.n_cells, [*question.margins.statements(), *question.known])
    fiber = listed_fiber(system, most=MOST_LISTED)
    step: TableStep
    if fiber is not None:
        step = ListedStep.of(fiber, question.cells)
    else:
        margins = None if question.known else question.margins
        moves = connecting_moves(system, margins)
        if isinstance(moves, Unavailable):
            return Unavailable(f"tables can be neither summed nor listed, and {moves.reason}")
        starts = starting_points(system, question.effort.n_chains, rng=rng)
        thin = MOVES_PER_CELL * system.n_named
        step = WalkStep.of(system, moves, starts, question.cells, thin=thin, rng=rng)
    effort = _shortened(question.effort, monotonic() - began)
    drawn = augmented(
        step, model, question.alpha, question.cells, effort=effort, rng=rng, progress=progress
    )
    return _from_draws(question, model, drawn, fiber, rng)


def _shortened(effort: Effort, used: float) -> Effort:
    if effort.seconds is None:
        return effort
    return replace(effort, seconds=max(effort.seconds - used, 0.1))


def _from_draws(
    question: Question,
    model: HierarchicalModel,
    drawn: Augmented,
    fiber: ListedFiber | None,
    rng: np.random.Generator,
) -> TablePosterior:
    way = "tables drawn exactly given the cell probabilities"
    if fiber is None:
        way = "tables drawn by a walk that connects them"
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
    return bridged_evidence(fiber, model, question.alpha, drawn, rng=rng)


def _simulated_truth(question: Question, drawn: Augmented, fiber: ListedFiber | None) -> Outcome:
    """Pr(truth | θ) averaged over the draws of θ, where its normaliser is known."""
    if question.truth is None:
        return Unavailable("the true table was not given")
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
    rng: np.random.Generator,
    progress: Progress,
) -> TablePosterior:
    """The exact posterior with the paper's weight, which only draws can give."""
    simulated = _simulated(question, found.model, rng, progress)
    if isinstance(simulated, Unavailable):
        return replace(found, evidence=simulated)
    return replace(found, evidence=simulated.evidence)
