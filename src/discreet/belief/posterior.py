"""The intruder's posterior of a hidden table under one log-linear model, exact where it can be.

The rungs `closed` and `summed` of the ladder come first. Where the distribution of the table is
known but too large to sum, populations of tables are led up to a decomposable model, or tables are
filled with weights and then walked; where it is not known, data augmentation over tables that are
listed, walked or resampled. Each result says which way it was found."""

from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from discreet.belief.closed_belief import ClosedBelief, Matched
from discreet.belief.drawn_belief import LEAST_EFFECTIVE, DrawnBelief, too_few
from discreet.belief.draws.chain_frequencies import warning_of
from discreet.belief.draws.data_augmentation import log_factorials, simulated
from discreet.belief.draws.resample_move import TRUSTED, MovedDistribution, moved_distribution
from discreet.belief.draws.smc import AnnealedDistribution, annealed_distribution
from discreet.belief.draws.weighted_draws import ENOUGH
from discreet.belief.exact.clique_distribution import clique_distribution
from discreet.belief.exact.exact_distribution import ExactDistribution
from discreet.belief.exact.summed_cliques import summed_cliques
from discreet.belief.ladder import Climb, believe, budget
from discreet.belief.models.model_averaging import Evidence, WeightKind, released_evidence
from discreet.belief.request import Limits, Question
from discreet.belief.simulated_belief import SimulatedBelief
from discreet.belief.summed_belief import SummedBelief
from discreet.belief.table_posterior import TablePosterior, told
from discreet.belief.unreleased_variables import left_out, put_back, without
from discreet.clock import Clock
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.numerics.rounding import above
from discreet.progress import Progress, silent

__all__ = ["LIMITS", "Question", "TablePosterior", "table_posterior"]

LIMITS = Limits(exact_share=0.3, states=2_000_000, paced=True, draw_share=0.5)
LEFT_OUT_SHARE = 0.1  # of the time for exact sums, where a smaller table may do instead
FEW = 100  # effective weighted draws, fewer of which give way to a walk where there is one
MOST_BRIDGED = 512  # cells of a table whose constants are found by bridge sampling
NO_CONSTANT = Unavailable("the model's constant has no closed form")


def table_posterior(
    question: Question,
    *,
    weight_kind: WeightKind = WeightKind.MARGINAL_LIKELIHOOD,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> TablePosterior | Unavailable:
    """The posterior of the cells under the question's log-linear model, or why there is none."""
    climb = Climb(Clock(question.effort.seconds), rng, progress)
    distribution = question.model_distribution
    if isinstance(distribution, Unavailable):
        smaller = _without_left_out(question, weight_kind, climb)
        return smaller or simulated(question, climb.clock, rng, progress, weight_kind=weight_kind)
    found = _by_distribution(question, distribution, climb)
    if weight_kind is WeightKind.MARGINAL_LIKELIHOOD or isinstance(found, Unavailable):
        return found
    return _with_predictive(question, found, climb)


def _by_distribution(
    question: Question, distribution: ExactDistribution, climb: Climb
) -> TablePosterior | Unavailable:
    """The posterior where the distribution of the table is known up to its normaliser."""
    found: TablePosterior | Unavailable | None = _exactly(question, distribution, climb)
    if found is None:
        found = _drawn(question, distribution, climb)
    if isinstance(found, Unavailable) or not isinstance(found.evidence, Unavailable):
        return found
    if question.n_cells > MOST_BRIDGED or question.truth is None or question.known:
        return found
    return _with_constant(question, found, climb)


def _exactly(
    question: Question, distribution: ExactDistribution, climb: Climb
) -> TablePosterior | None:
    """By a closed form or by sums, or None where neither fits the time."""
    asked = question
    if left_out(question) is not None:
        asked = replace(question, limits=replace(question.limits, exact_share=LEFT_OUT_SHARE))
    belief = believe(
        asked, ("closed", "summed"), clock=climb.clock, rng=climb.rng, progress=climb.progress
    )
    if not isinstance(belief, Matched | SummedBelief):
        return None
    evidence = _evidence(distribution, belief.log_normaliser)
    slow = isinstance(belief, ClosedBelief)
    try:
        return told(question, belief, evidence, is_over=lambda: slow and climb.clock.is_over)
    except BudgetExceeded:
        return None


def _evidence(
    distribution: ExactDistribution, log_normaliser: tuple[float, float]
) -> Evidence | Unavailable:
    """log Pr(R | A) from the sum of the weights of all tables."""
    if distribution.log_constant is None:
        return NO_CONSTANT
    log_z, error = log_normaliser
    return Evidence(log_z + distribution.log_constant, error)


def _without_left_out(
    question: Question, weight_kind: WeightKind, climb: Climb
) -> TablePosterior | Unavailable | None:
    """From the table without a variable that no margin holds; None where there is none such."""
    axis = left_out(question)
    if axis is None:
        return None
    asked, place = without(question, axis)
    asked = replace(asked, effort=replace(question.effort, seconds=climb.clock.left()))
    found = table_posterior(asked, weight_kind=weight_kind, rng=climb.rng, progress=climb.progress)
    if isinstance(found, Unavailable):
        return found
    return put_back(question, axis, found, place)


def _drawn(
    question: Question, distribution: ExactDistribution, climb: Climb
) -> TablePosterior | Unavailable:
    """By populations led up to a decomposable model, else by weighted draws, of a table without
    the variables that no margin holds."""
    smaller = _without_left_out(question, WeightKind.MARGINAL_LIKELIHOOD, climb)
    if smaller is not None:
        return smaller
    margins = question.only_margins
    cliques = None
    if margins is not None:
        cliques = clique_distribution(margins, question.model, question.alpha)
    if cliques is None:
        return _by_weighted_draws(question, distribution, climb)
    levels = np.stack(np.unravel_index(question.cells, question.sizes), axis=1)
    evidence: Evidence | None = None
    try:
        evidence = summed_cliques(cliques, budget=budget(question, climb), progress=climb.progress)
    except BudgetExceeded:
        climb.progress("leading tables up to the model", None)
    found = annealed_distribution(
        cliques,
        levels,
        evidence=evidence,
        clock=Clock(climb.clock.left()),
        rng=climb.rng,
        progress=climb.progress,
    )
    if not isinstance(found, Unavailable):
        return _from_annealed(question, distribution, found)
    left = climb.clock.left()
    if left is not None and left < (climb.clock.seconds or 0.0) / 3:
        return found
    other = _by_weighted_draws(question, distribution, climb)
    return found if isinstance(other, Unavailable) else other


def _from_annealed(
    question: Question, distribution: ExactDistribution, found: AnnealedDistribution
) -> TablePosterior | Unavailable:
    seen = found.distributions()
    n_chains, n_draws = found.counts.shape[:2]
    effective = min((one.effective_draws for one in seen), default=LEAST_EFFECTIVE)
    if effective < LEAST_EFFECTIVE:
        return too_few(f"{n_chains * n_draws:,} tables of {n_chains} walks", effective)
    belief = SimulatedBelief(
        system=distribution.system,
        n_cells=distribution.n_cells,
        cells=question.cells,
        distributions=[one.distribution for one in seen],
        errors=[one.errors for one in seen],
        effective=[one.effective_draws for one in seen],
        score=lambda table: _by_evidence(table, distribution, found.evidence),
        total_entropy=Unavailable(
            "walks over the model's margins give no entropy of the whole table"
        ),
        method=found.method,
        warning=warning_of(seen),
        complete=found.complete,
    )
    return told(question, belief, found.evidence)


def _by_evidence(
    table: IntArray, distribution: ExactDistribution, evidence: Evidence | Unavailable
) -> Outcome:
    """Pr(f | R) = Pr(f) / Pr(R), the first in closed form."""
    if isinstance(evidence, Unavailable):
        return evidence
    if distribution.log_constant is None:
        return NO_CONSTANT
    own = float(distribution.log_weights(np.ravel(table)[None])[0]) + distribution.log_constant
    value = float(np.exp(min(own - evidence.log_probability, 0.0)))
    if evidence.standard_error == 0:
        return Figure(value=value, how=How.EXACT)
    return Figure(value=value, how=How.ESTIMATE, standard_error=value * evidence.standard_error)


def _by_weighted_draws(
    question: Question, distribution: ExactDistribution, climb: Climb
) -> TablePosterior | Unavailable:
    """Weighted draws of the distribution itself; a walk where few are effective."""
    drawn = believe(
        question, ("filled",), clock=climb.clock, rng=climb.rng, progress=climb.progress
    )
    effective = drawn.effective_draws or 0.0 if isinstance(drawn, DrawnBelief) else 0.0
    moved = None
    if isinstance(drawn, DrawnBelief) and above(ENOUGH, effective):
        moved = _moved(question, distribution, drawn, climb)
    if moved is None and above(FEW, effective):
        other = simulated(question, climb.clock, climb.rng, climb.progress, resample=False)
        if not isinstance(other, Unavailable):
            return other
    if not isinstance(drawn, DrawnBelief):
        reason = drawn.reason if isinstance(drawn, Unavailable) else "no draws were made"
        return Unavailable(f"tables can be neither summed nor drawn: {reason}")
    found = _from_weighted(question, distribution, drawn)
    if moved is None:
        few = f"{drawn.n_tried:,} weighted draws"
        return too_few(few, effective) if above(LEAST_EFFECTIVE, effective) else found
    if moved.effective_draws < LEAST_EFFECTIVE:
        few = f"{moved.n_chains} walks of {moved.n_draws:,} tables"
        return too_few(few, moved.effective_draws)
    return _with_moved(found, moved)


def _moved(
    question: Question, distribution: ExactDistribution, drawn: DrawnBelief, climb: Climb
) -> MovedDistribution | None:
    """Walks from the draws, where margins are all that is known and cells the only columns."""
    margins = question.only_margins
    if margins is None or distribution.system.n_named != distribution.n_cells:
        return None
    return moved_distribution(
        distribution,
        margins,
        drawn,
        question.cells,
        effort=question.effort,
        clock=climb.clock,
        rng=climb.rng,
        progress=climb.progress,
    )


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
        effective_draws=[moved.effective_draws] * len(found.cells),
    )


def _from_weighted(
    question: Question, distribution: ExactDistribution, drawn: DrawnBelief
) -> TablePosterior:
    if not above(TRUSTED, drawn.effective_draws):
        return told(question, drawn, _evidence(distribution, drawn.log_normaliser))
    few = Unavailable(
        f"only {drawn.effective_draws:.0f} effective weighted draws, too few to trust their sum; "
        "allow more seconds"
    )
    return told(question, drawn, few, too_few=few)


def _with_constant(question: Question, found: TablePosterior, climb: Climb) -> TablePosterior:
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
        found.model, question.alpha, question.truth, n_draws, clock=climb.clock, rng=climb.rng
    )
    if isinstance(ratio, Unavailable):
        return replace(found, evidence=ratio)
    value = float(gammaln(question.truth.sum() + 1)) + log_z + ratio.log_probability
    whole = float(np.hypot(error, ratio.standard_error))
    return replace(found, evidence=Evidence(value, whole))


def _with_predictive(question: Question, found: TablePosterior, climb: Climb) -> TablePosterior:
    """The exact posterior with the paper's weight, which only draws can give."""
    drawn = simulated(
        question,
        climb.clock,
        climb.rng,
        climb.progress,
        weight_kind=WeightKind.POSTERIOR_PREDICTIVE,
    )
    return replace(found, evidence=drawn if isinstance(drawn, Unavailable) else drawn.evidence)
