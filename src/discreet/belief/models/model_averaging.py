"""Which model the released margins speak for: marginal likelihoods and model weights.

The proper weight of a model is its prior probability times Pr(R | A) = ∫ Pr(R | θ) π(θ | A) dθ, the
probability that the prior gives to what was released. The paper prints another figure, the same
integral against the *posterior* of θ, which uses R twice (`posterior_predictive`); both are offered
by name, the proper one is the default.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import gammaln

from discreet.belief.draws.augmentation import Augmented
from discreet.belief.exact.listed_fiber import ListedFiber
from discreet.belief.models.bayesian_fitting import fitting_cycle, log_sum
from discreet.belief.models.bridge_sampling import log_constant
from discreet.belief.models.design import design_matrix, free_parameters, log_probabilities
from discreet.belief.models.generators import HierarchicalModel
from discreet.clock import Clock, working_seconds
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.numerics.arrays import FloatArray, IntArray

PRIOR_BURN_IN = 200
TIMED = 5  # draws that tell how long one takes


class WeightKind(StrEnum):
    """Which probability of the release weighs a model."""

    MARGINAL_LIKELIHOOD = "marginal_likelihood"
    POSTERIOR_PREDICTIVE = "posterior_predictive"


@dataclass(frozen=True, slots=True)
class Evidence:
    """log Pr(R | A), exact where `standard_error` is 0."""

    log_probability: float
    standard_error: float


def bridged_evidence(
    fiber: ListedFiber,
    model: HierarchicalModel,
    alpha: FloatArray,
    drawn: Augmented,
    *,
    rng: np.random.Generator,
) -> Evidence:
    """The marginal likelihood of a model without closed form, by bridge sampling.

    The constant of the posterior comes from the draws of the data augmentation, that of the prior
    from as many draws of Bayesian proportional fitting; their ratio is Pr(R | A). On models with a
    closed form it agrees with that.
    """
    design = design_matrix(model, alpha.shape)
    total = float(fiber.fixed.sum() + sum(block.tables[0].sum() for block in fiber.blocks))

    def log_prior(psi: FloatArray) -> FloatArray:
        return np.asarray(log_probabilities(psi, design) @ alpha.ravel())

    def log_posterior(psi: FloatArray) -> FloatArray:
        log_theta = log_probabilities(psi, design)
        return log_theta @ alpha.ravel() + fiber.weigh(log_theta)[0] + gammaln(total + 1)

    own = log_constant(free_parameters(drawn.log_theta, design), log_posterior, rng=rng)
    before = log_constant(
        free_parameters(_prior_draws(model, alpha, drawn.log_theta.shape[:2], rng), design),
        log_prior,
        rng=rng,
    )
    error = float(np.hypot(own.standard_error, before.standard_error))
    return Evidence(own.value - before.value, error)


def released_evidence(
    model: HierarchicalModel,
    alpha: FloatArray,
    table: IntArray,
    n_draws: int,
    *,
    clock: Clock | None = None,
    rng: np.random.Generator,
) -> Evidence | Unavailable:
    """log ∫ ∏ θ^f π(θ) dθ for a model whose own margins are all released, by bridge sampling.

    It depends on the table through the model's margins alone, so that any consistent one will do.
    With log n! and log Σ 1/∏F! over the fiber it makes log Pr(R | A). As many of `n_draws` are made
    as the clock allows.
    """
    design = design_matrix(model, alpha.shape)
    least = design.shape[1] + 8
    n_draws = _affordable(model, alpha, max(n_draws, least), clock, rng)
    if n_draws < least:
        return Unavailable("too little time was left to weigh the model; allow more seconds")
    shape = (8, n_draws)
    constants = []
    for weights in (alpha + table, alpha):

        def log_density(psi: FloatArray, weights: FloatArray = weights) -> FloatArray:
            return np.asarray(log_probabilities(psi, design) @ np.ravel(weights))

        draws = free_parameters(_prior_draws(model, weights, shape, rng), design)
        try:
            constants.append(log_constant(draws, log_density, rng=rng))
        except np.linalg.LinAlgError:
            return Unavailable(
                "the draws do not span the parameters, so the model cannot be weighed"
            )
    own, before = constants
    error = float(np.hypot(own.standard_error, before.standard_error))
    return Evidence(own.value - before.value, error)


def _affordable(
    model: HierarchicalModel,
    alpha: FloatArray,
    wanted: int,
    clock: Clock | None,
    rng: np.random.Generator,
) -> int:
    """How many draws of two distributions fit into what is left of the time, found from a few of
    them.
    """
    left = None if clock is None else clock.left()
    if left is None:
        return wanted
    state = np.full((8, *alpha.shape), -np.log(alpha.size))
    wide = np.broadcast_to(alpha, state.shape)
    began = working_seconds()
    for _ in range(TIMED):
        state = fitting_cycle(state, wide, model.generators, rng=rng)
    each = 1.5 * (working_seconds() - began) / TIMED
    return min(wanted, int(left / (2 * each)) - PRIOR_BURN_IN)


def _prior_draws(
    model: HierarchicalModel, alpha: FloatArray, shape: tuple[int, ...], rng: np.random.Generator
) -> FloatArray:
    """Draws of the constrained Dirichlet distribution with these parameters (chains × draws ×
    cells).
    """
    n_chains, n_draws = shape
    state = np.full((n_chains, *alpha.shape), -np.log(alpha.size))
    wide = np.broadcast_to(alpha, state.shape)
    kept = np.empty((n_chains, n_draws, alpha.size))
    for step in range(PRIOR_BURN_IN + n_draws):
        state = fitting_cycle(state, wide, model.generators, rng=rng)
        if step >= PRIOR_BURN_IN:
            kept[:, step - PRIOR_BURN_IN] = state.reshape(n_chains, -1)
    return kept


def predictive_evidence(drawn: Augmented, total: int) -> Evidence:
    """The paper's Pr(R | A): Pr(R | θ) averaged over the posterior of θ, which has seen R already.

    The standard error treats each chain as one observation.
    """
    if drawn.log_released is None:
        raise InputError(must_be("fiber", "listed, to weigh a model", "one that is walked"))
    logs = drawn.log_released + gammaln(total + 1)
    by_chain = log_sum(logs, (1,))[:, 0] - np.log(logs.shape[1])
    value = float(log_sum(by_chain, (0,))[0] - np.log(len(by_chain)))
    spread = np.exp(by_chain - value)
    return Evidence(value, float(spread.std(ddof=1) / np.sqrt(len(spread))))


def model_weights(
    evidence: Mapping[str, Evidence], prior: Mapping[str, float] | None = None
) -> dict[str, tuple[float, float]]:
    """Posterior probability of each model and its standard error (delta method).

    Without `prior` all models are equally probable before. Checked: a positive prior for each.
    """
    given = prior or dict.fromkeys(evidence, 1.0)
    wrong = [name for name in evidence if not given.get(name, 0.0) > 0]
    if wrong or set(given) - set(evidence):
        rule = "a positive probability for each model"
        raise InputError(must_be("model priors", rule, (wrong or list(given))[0]))
    logs = np.array([e.log_probability + np.log(given[n]) for n, e in evidence.items()])
    weights = np.exp(logs - log_sum(logs, (0,)))
    variance = np.array([e.standard_error**2 for e in evidence.values()])
    shares = (np.eye(len(weights)) - weights) ** 2 @ variance
    errors = weights * np.sqrt(shares)
    return {
        name: (float(w), float(e)) for name, w, e in zip(evidence, weights, errors, strict=True)
    }
