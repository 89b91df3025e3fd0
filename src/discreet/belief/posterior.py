"""The intruder's posterior of a hidden table under one log-linear model, exact where it can be.

In this order, each within its share of the time: matching records along a junction tree; summing
over all tables by dynamic programming; where the distribution of the table is known but too large
to sum, weighted draws; else data augmentation over tables that are listed, walked or resampled.
Each result says which way it was got."""

from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from discreet.belief.draws.chain_frequencies import warning_of
from discreet.belief.draws.data_augmentation import log_factorials, simulated
from discreet.belief.draws.resample_move import TRUSTED, MovedDistribution, moved_distribution
from discreet.belief.draws.smc import AnnealedDistribution, annealed_distribution
from discreet.belief.draws.weighted_draws import ENOUGH, WeightedDistribution, weighted_distribution
from discreet.belief.exact.clique_distribution import clique_distribution
from discreet.belief.exact.exact_distribution import ExactDistribution, exact_distribution
from discreet.belief.exact.listed_belief import completed_points
from discreet.belief.exact.matched_distribution import matched_distribution
from discreet.belief.exact.summed_cliques import summed_cliques
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.models.model_averaging import Evidence, WeightKind, released_evidence
from discreet.belief.request import LEAST_WORTH, NO_TRUTH, Question, TablePosterior, too_few
from discreet.belief.unreleased_variables import left_out, model_without, put_back, without
from discreet.clock import Clock
from discreet.fiber.sums import marginals
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.numerics.rounding import above
from discreet.progress import Progress, silent

__all__ = ["Question", "TablePosterior", "completed", "table_posterior"]

EXACT_SECONDS = 60.0  # for summing over all tables, where no time was given
STEPS_A_SECOND = 50_000_000
LEAST_STATES, STATES_A_SECOND = 20_000, 200_000  # kept at one time
LEAST_EFFECTIVE = 100  # weighted draws worth less give way to a walk where there is one
MOST_BRIDGED = 512  # cells of a table whose constants are found by bridge sampling
NO_CONSTANT = Unavailable("the model's constant has no closed form")


def table_posterior(
    question: Question,
    model: HierarchicalModel,
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> TablePosterior | Unavailable:
    """The posterior of the cells under the model, or why there is none."""
    clock = Clock(question.effort.seconds)
    distribution = exact_distribution(question.margins, model, question.alpha, known=question.known)
    if distribution is None:
        smaller = _without_left_out(question, model, clock, rng, progress)
        return smaller or simulated(question, model, clock, rng, progress)
    found = _by_distribution(question, model, distribution, clock, rng, progress)
    if question.weight_kind is WeightKind.MARGINAL_LIKELIHOOD or isinstance(found, Unavailable):
        return found
    return _with_predictive(question, found, clock, rng, progress)


def _by_distribution(
    question: Question,
    model: HierarchicalModel,
    distribution: ExactDistribution,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
) -> TablePosterior | Unavailable:
    """The posterior where the distribution of the table is known up to its normaliser."""
    found: TablePosterior | Unavailable
    try:
        matched = None if question.known else _matched(question, model, distribution, clock)
        found = matched or _exactly(question, model, distribution, clock, progress)
    except BudgetExceeded:
        found = _drawn(question, model, distribution, clock, rng, progress)
    if isinstance(found, Unavailable) or not isinstance(found.evidence, Unavailable):
        return found
    if question.margins.n_cells > MOST_BRIDGED or question.truth is None or question.known:
        return found
    return _with_constant(question, found, clock, rng)


def _without_left_out(
    question: Question,
    model: HierarchicalModel,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
) -> TablePosterior | Unavailable | None:
    """From the table without a variable that no margin holds; None where there is none such."""
    axis = left_out(question, model)
    if axis is None:
        return None
    asked, place = without(question, model, axis)
    effort = replace(question.effort, seconds=clock.left())
    asked = replace(asked, effort=effort)
    found = table_posterior(asked, model_without(model, axis), rng=rng, progress=progress)
    if isinstance(found, Unavailable):
        return found
    return put_back(question, model, axis, found, place)


def _drawn(
    question: Question,
    model: HierarchicalModel,
    distribution: ExactDistribution,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
) -> TablePosterior | Unavailable:
    """By populations led up to a decomposable model, else by weighted draws, of a table without
    the variables that no margin holds."""
    smaller = _without_left_out(question, model, clock, rng, progress)
    if smaller is not None:
        return smaller
    cliques = (
        None if question.known else clique_distribution(question.margins, model, question.alpha)
    )
    if cliques is None:
        return _by_weighted_draws(question, model, distribution, clock, rng, progress)
    levels = np.stack(np.unravel_index(question.cells, question.margins.sizes), axis=1)
    evidence: Evidence | None = None
    try:
        evidence = summed_cliques(cliques, budget=_budget(question, clock, 0.3), progress=progress)
    except BudgetExceeded:
        progress("leading tables up to the model", None)
    found = annealed_distribution(
        cliques,
        levels,
        evidence=evidence,
        clock=Clock(clock.left()),
        rng=rng,
        progress=progress,
    )
    if not isinstance(found, Unavailable):
        return _from_annealed(question, model, distribution, found)
    left = clock.left()
    if left is not None and left < (clock.seconds or 0.0) / 3:
        return found
    other = _by_weighted_draws(question, model, distribution, clock, rng, progress)
    return found if isinstance(other, Unavailable) else other


def _from_annealed(
    question: Question,
    model: HierarchicalModel,
    distribution: ExactDistribution,
    found: AnnealedDistribution,
) -> TablePosterior | Unavailable:
    told = found.distributions()
    n_chains, n_draws = found.counts.shape[:2]
    worth = min((one.worth for one in told), default=LEAST_WORTH)
    if worth < LEAST_WORTH:
        return too_few(worth, f"{n_chains * n_draws:,} tables of {n_chains} walks")
    return TablePosterior(
        model=model,
        cells=question.cells,
        distributions=[one.distribution for one in told],
        errors=[one.errors for one in told],
        how=How.ESTIMATE,
        method=found.method,
        evidence=found.evidence,
        true_table=_truth_by_evidence(question, distribution, found.evidence),
        entropy=Unavailable("walks over the model's margins give no entropy of the whole table"),
        warning=warning_of(told),
        complete=found.complete,
        worth=[one.worth for one in told],
    )


def _truth_by_evidence(
    question: Question, distribution: ExactDistribution, evidence: Evidence | Unavailable
) -> Outcome:
    """Pr(f | R) = Pr(f) / Pr(R), the first in closed form."""
    if question.truth is None or distribution.log_constant is None:
        return NO_TRUTH
    if isinstance(evidence, Unavailable):
        return evidence
    point = completed(distribution, question.truth)
    own = (
        float(distribution.prior.log_weight(np.arange(len(point)), point).sum())
        + distribution.log_constant
    )
    value = float(np.exp(min(own - evidence.log_probability, 0.0)))
    error = value * evidence.standard_error
    if error == 0 and evidence.standard_error == 0:
        return Figure(value=value, how=How.EXACT)
    return Figure(value=value, how=How.ESTIMATE, standard_error=error)


def _matched(
    question: Question, model: HierarchicalModel, distribution: ExactDistribution, clock: Clock
) -> TablePosterior | None:
    """By matching records, where the margins are decomposable and the model's are all released."""
    found = matched_distribution(question.margins, model)
    if found is None:
        return None
    sizes = question.margins.sizes
    levels = np.stack(np.unravel_index(question.cells, sizes), axis=1)
    distributions = found.cells(levels, lambda: clock.is_over)
    if len(distributions) < len(levels):
        raise BudgetExceeded(
            f"the time was over after {len(distributions):,} of {len(levels):,} small cells"
        )
    truth: Outcome = NO_TRUTH
    if question.truth is not None:
        value = float(np.exp(min(found.log_probability(question.truth), 0.0)))
        truth = Figure(value=value, how=How.EXACT)
    constant = distribution.log_constant
    return TablePosterior(
        model=model,
        cells=question.cells,
        distributions=distributions,
        errors=[dict.fromkeys(one, 0.0) for one in distributions],
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


def _budget(question: Question, clock: Clock, part: float) -> Budget:
    """For an exact sum, within a part of the time left."""
    seconds = clock.share(part, EXACT_SECONDS) or EXACT_SECONDS
    steps = int(STEPS_A_SECOND * seconds)
    states = min(question.budget_states, LEAST_STATES + int(STATES_A_SECOND * seconds))
    return Budget(states=states, steps=steps, seconds=seconds)


def _exactly(
    question: Question,
    model: HierarchicalModel,
    distribution: ExactDistribution,
    clock: Clock,
    progress: Progress,
) -> TablePosterior:
    part = 0.3 if left_out(question, model) is None else 0.1
    budget = _budget(question, clock, part)
    found = marginals.posterior(
        distribution.system, distribution.prior, budget=budget, progress=progress
    )
    distributions = [
        {int(found.lower[c]) + q: float(p) for q, p in enumerate(found.probabilities[c]) if p > 0}
        for c in question.cells.tolist()
    ]
    evidence: Evidence | Unavailable = NO_CONSTANT
    if distribution.log_constant is not None:
        evidence = Evidence(found.log_normaliser + distribution.log_constant, 0.0)
    truth: Outcome = NO_TRUTH
    if question.truth is not None:
        point = completed(distribution, question.truth)
        truth = Figure(value=found.table_probability(point), how=How.EXACT)
    return TablePosterior(
        model=model,
        cells=question.cells,
        distributions=distributions,
        errors=[dict.fromkeys(distribution_of_cell, 0.0) for distribution_of_cell in distributions],
        how=How.EXACT,
        method="exact, by summing over all consistent tables",
        evidence=evidence,
        true_table=truth,
        entropy=Figure(value=found.entropy, how=How.EXACT),
    )


def completed(distribution: ExactDistribution, table: IntArray) -> IntArray:
    """The named columns of a table's point: its cells and the entries tied to them."""
    point: IntArray = completed_points(distribution, np.ravel(table)[None])[0]
    return point


def _by_weighted_draws(
    question: Question,
    model: HierarchicalModel,
    distribution: ExactDistribution,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
) -> TablePosterior | Unavailable:
    """Weighted draws of the distribution itself; a walk where they are worth little and there is
    one.
    """
    plain = distribution.system.n_named == distribution.n_cells and not question.known
    drawn = weighted_distribution(
        distribution,
        margins=question.margins if plain else None,
        clock=Clock(clock.share(0.5)),
        rng=rng,
        progress=progress,
    )
    worth = 0.0 if isinstance(drawn, Unavailable) else drawn.effective_draws
    moved = None
    if plain and not isinstance(drawn, Unavailable) and above(ENOUGH, worth):
        moved = moved_distribution(
            distribution,
            question.margins,
            drawn,
            question.cells,
            effort=question.effort,
            clock=clock,
            rng=rng,
            progress=progress,
        )
    if moved is None and above(LEAST_EFFECTIVE, worth):
        other = simulated(question, model, clock, rng, progress, resample=False)
        if not isinstance(other, Unavailable):
            return other
    if isinstance(drawn, Unavailable):
        return Unavailable(f"tables can be neither summed nor drawn: {drawn.reason}")
    found = _from_weighted(question, model, distribution, drawn)
    if moved is None:
        few = f"{drawn.n_tried:,} weighted draws"
        return too_few(worth, few) if above(LEAST_WORTH, worth) else found
    if moved.worth < LEAST_WORTH:
        return too_few(moved.worth, f"{moved.n_chains} walks of {moved.n_draws:,} tables")
    return _with_moved(found, moved)


def _with_moved(found: TablePosterior, moved: MovedDistribution) -> TablePosterior:
    """The cells' distributions after walks from the weighted draws; the rest stays as it was."""
    way = f"then {moved.n_chains} walks of {moved.n_draws:,} tables from them"
    return replace(
        found,
        distributions=moved.distributions,
        errors=moved.errors,
        method=f"{found.method}, {way}",
        warning=moved.warning,
        complete=True,
        worth=[moved.worth] * len(found.cells),
    )


def _from_weighted(
    question: Question,
    model: HierarchicalModel,
    distribution: ExactDistribution,
    drawn: WeightedDistribution,
) -> TablePosterior:
    pairs = [drawn.cell(cell) for cell in question.cells.tolist()]
    log_z, error = drawn.normaliser()
    few = Unavailable(
        f"weighted draws were worth only {drawn.effective_draws:.0f} plain ones, too few to trust "
        "their sum; allow more seconds"
    )
    enough = not above(TRUSTED, drawn.effective_draws)
    evidence: Evidence | Unavailable = NO_CONSTANT if enough else few
    if distribution.log_constant is not None and enough:
        evidence = Evidence(log_z + distribution.log_constant, error)
    truth: Outcome = few if question.truth is not None else NO_TRUTH
    if question.truth is not None and enough:
        point = completed(distribution, question.truth)
        log_weight = float(distribution.prior.log_weight(np.arange(len(point)), point).sum())
        value = float(np.exp(min(log_weight - log_z, 0.0)))
        truth = Figure(value=value, how=How.ESTIMATE, standard_error=value * error)
    return TablePosterior(
        model=model,
        cells=question.cells,
        distributions=[one for one, _ in pairs],
        errors=[one for _, one in pairs],
        how=How.ESTIMATE,
        method=f"{drawn.n_tried:,} weighted draws, worth {drawn.effective_draws:,.0f} plain ones",
        evidence=evidence,
        true_table=truth,
        entropy=drawn.entropy() if enough else few,
        warning=drawn.warning,
        complete=drawn.complete,
        worth=[drawn.effective_draws] * len(question.cells),
    )


def _with_constant(
    question: Question, found: TablePosterior, clock: Clock, rng: np.random.Generator
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
    ratio = released_evidence(
        found.model, question.alpha, question.truth, n_draws, clock=clock, rng=rng
    )
    if isinstance(ratio, Unavailable):
        return replace(found, evidence=ratio)
    value = float(gammaln(question.margins.total + 1)) + log_z + ratio.log_probability
    whole = float(np.hypot(error, ratio.standard_error))
    return replace(found, evidence=Evidence(value, whole))


def _with_predictive(
    question: Question,
    found: TablePosterior,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
) -> TablePosterior:
    """The exact posterior with the paper's weight, which only draws can give."""
    drawn = simulated(question, found.model, clock, rng, progress)
    if isinstance(drawn, Unavailable):
        return replace(found, evidence=drawn)
    return replace(found, evidence=drawn.evidence)
