"""The distribution of a hidden table estimated from weighted draws, where exact sums do not fit.

Cells are drawn from the largest value down. Given all cells above, the cell of a prime is fixed by
that prime's equation, f_1 by S1 and f_0 by n: the equations are triangular, so draws in this order
meet no dead ends of divisibility. The multinomial weight 1/∏ f_j! may be multiplied by exp(λᵀ A f),
which is one number for all tables; λ is chosen so that independent Poisson cells meet the
statistics on average, A E f = b, else draws stray to where no weight is.
"""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from discreet.belief.count_belief import TableDistribution, drawn_distribution, prior_named
from discreet.clock import working_seconds
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.priors import Prior, ProductForm
from discreet.figures import Unavailable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import above
from discreet.numerics.special import log_gamma
from discreet.progress import Progress, silent

if TYPE_CHECKING:
    from discreet.belief.drawn_belief import DrawnBelief
    from discreet.fiber.draws.sequential import WeightedDraws

NEWTON_STEPS = 200
DRAWN_AT_ONCE = 100


def estimated_distribution(
    system: System,
    prior: str,
    *,
    n_draws: int,
    rng: np.random.Generator,
    truth: IntArray | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> TableDistribution | Unavailable:
    """The distribution of the table and its cells with standard errors, or why there is none.

    None where fewer than 100 effective draws carry the weight: errors would not be what they say.
    """
    name = prior_named(prior).name
    found = _draws(system, name, n_draws, rng, time_limit, progress)
    if isinstance(found, Unavailable):
        return found
    drawn, shift = found
    return drawn_distribution(
        _belief(system, name, drawn, shift),
        name,
        greatest=greatest_log_weight(system) if name == "multinomial" else 0.0,
        note=f"{drawn.how}; {drawn.effective_draws:.0f} effective draws of {drawn.n_tried}",
        truth=truth,
    )


def probable_tables(
    system: System,
    number: int,
    *,
    n_draws: int,
    rng: np.random.Generator,
    time_limit: float | None = None,
) -> tuple[IntArray, float] | Unavailable:
    """Different tables, about as many as asked, drawn by their multinomial probability.

    With them the logarithm of the normaliser Σ 1/∏ f_j! as the draws estimate it.
    """
    from discreet.belief.draws.weights import log_mean

    found = _draws(system, "multinomial", n_draws, rng, time_limit, silent)
    if isinstance(found, Unavailable):
        return found
    drawn, shift = found
    chosen = rng.choice(len(drawn.tables), size=number, p=drawn.shares)
    log_z = log_mean(drawn.log_weights, drawn.n_tried) - shift
    return np.unique(drawn.tables[chosen, ::-1], axis=0), log_z


def _draws(
    system: System,
    prior: str,
    n_draws: int,
    rng: np.random.Generator,
    time_limit: float | None,
    progress: Progress,
) -> "tuple[WeightedDraws, float] | Unavailable":
    """Draws that carry enough weight, and the logarithm of the factor that their weights have."""
    from discreet.fiber.draws.sequential import LEAST_EFFECTIVE

    turned = descending(system)
    weight, shift = _tilted(turned, prior)
    drawn = _drawn_in_time(turned, weight, n_draws, rng, time_limit, progress)
    if isinstance(drawn, Unavailable):
        return drawn
    if above(LEAST_EFFECTIVE, drawn.effective_draws):
        return Unavailable(drawn.warning or f"none of {drawn.n_tried} draws found a table")
    return drawn, shift


def _drawn_in_time(
    system: System,
    weight: Prior,
    n_draws: int,
    rng: np.random.Generator,
    time_limit: float | None,
    progress: Progress,
) -> "WeightedDraws | Unavailable":
    """Draws in parts of one size, so that the clock is looked at often and a seed says which."""
    from discreet.fiber.draws.sequential import WeightedDraws, weighted_draws

    begun, found, tried, stopped = working_seconds(), [], 0, ""
    while tried < n_draws and not stopped:
        part = min(DRAWN_AT_ONCE, n_draws - tried)
        one = weighted_draws(system, weight, part, rng=rng, time_limit=time_limit)
        if isinstance(one, Unavailable):
            return one
        found.append(one)
        tried += one.n_tried
        stopped = one.stopped
        progress("drawing tables", tried / n_draws)
        if time_limit is not None and working_seconds() - begun > time_limit and tried < n_draws:
            stopped = stopped or f"stopped by the time limit of {time_limit:.3g} s"
    return WeightedDraws(
        tables=np.concatenate([one.tables for one in found]),
        log_weights=np.concatenate([one.log_weights for one in found]),
        n_tried=tried,
        how=found[0].how,
        stopped=stopped,
    )


def descending(system: System) -> System:
    """The same tables with the cells named from the last to the first."""
    n = system.n_named
    order = np.concatenate([np.arange(n)[::-1], np.arange(n, system.n_columns)])
    matrix = csr_array(system.matrix[:, order])
    matrix.sort_indices()  # which later work does itself, but not to arrays that are read-only
    return System(
        matrix=matrix,
        right=system.right.copy(),
        lower=system.lower[order],
        upper=system.upper[order],
        n_named=n,
        row_names=system.row_names,
    )


def listed(system: System, *, limit: int | None = None) -> Iterator[IntArray]:
    """All tables one by one, in order of the last cell, then the one before, and so on."""
    from discreet.fiber.sums.enumeration import tables

    for table in tables(descending(system), limit=limit):
        yield table[::-1].copy()


def _tilted(system: System, prior: str) -> tuple[Prior, float]:
    """A prior that weighs tables alike but for one factor, and the logarithm of that factor."""
    if prior != "multinomial":
        return prior_named(prior), 0.0
    named = system.matrix[:, : system.n_named].toarray().astype(np.float64)
    plain = np.asarray(abs(system.matrix[:, system.n_named :]).sum(axis=1)).ravel() == 0
    multipliers = balanced_multipliers(named[plain], system.right[plain].astype(np.float64))
    log_theta = np.clip(named[plain].T @ multipliers, -600.0, 600.0)
    if not np.all(np.isfinite(log_theta)) or np.any(np.abs(log_theta) >= 600):
        return prior_named(prior), 0.0
    return ProductForm(np.exp(log_theta)), float(multipliers @ system.right[plain])


def balanced_multipliers(
    matrix: FloatArray, right: FloatArray, tilt: FloatArray | None = None
) -> FloatArray:
    """The λ that minimises Σ exp(s + Aᵀ λ) − λᵀ b, so that A exp(s + Aᵀ λ) = b; by Newton steps.

    `tilt` is s, zero if not given. Any λ gives right answers; this one makes draws efficient. Rows
    that others imply are allowed.
    """
    own = np.zeros(matrix.shape[1]) if tilt is None else tilt
    start = np.maximum(1.0, np.linalg.lstsq(matrix, right, rcond=None)[0])
    multipliers: FloatArray = np.linalg.lstsq(matrix.T, np.log(start) - own, rcond=None)[0]

    def objective(at: FloatArray) -> float:
        exponents = own + matrix.T @ at
        return math.inf if exponents.max() > 600 else float(np.exp(exponents).sum() - right @ at)

    for _ in range(NEWTON_STEPS):
        cells = np.exp(np.minimum(own + matrix.T @ multipliers, 600.0))
        gradient = matrix @ cells - right
        step = np.linalg.lstsq((matrix * cells) @ matrix.T, gradient, rcond=None)[0]
        gain, size, here = float(gradient @ step), 1.0, objective(multipliers)
        if gain < 1e-9:
            break
        while size > 1e-12 and objective(multipliers - size * step) > here - 0.25 * size * gain:
            size /= 2
        multipliers = multipliers - size * step
    return multipliers


def _belief(system: System, prior: str, drawn: "WeightedDraws", shift: float) -> "DrawnBelief":
    """The belief by draws of cells from the last to the first, whose weights have a factor."""
    from discreet.belief.drawn_belief import DrawnBelief
    from discreet.belief.exact.exact_distribution import ExactDistribution
    from discreet.fiber.system.structure import presolve

    own = prior_named(prior)
    product = ExactDistribution(system=system, prior=own, n_cells=system.n_named, log_constant=None)
    tables, limits = drawn.tables[:, ::-1].copy(), presolve(system, drop_redundant=False)
    return DrawnBelief(
        tables=tables,
        log_ratios=drawn.log_weights,
        log_weights=product.log_weights(tables),
        n_tried=drawn.n_tried,
        lower=limits.lower[: system.n_named].copy(),
        upper=limits.upper[: system.n_named].copy(),
        log_weight=product.log_weights_where_consistent,
        log_scale=-shift,
    )


def greatest_log_weight(system: System, tilt: FloatArray | None = None) -> float:
    """A number that Σ (s_j f_j − log f_j!) of no table exceeds: the dual of the integer program.

    `tilt` is s, zero if not given. For every λ, with t = s + Aᵀ λ, that sum is
    Σ (t_j f_j − log f_j!) − λᵀ b, and each term is at most what it is at the whole part of e^t_j,
    within the cell's limits. The λ taken is that of balance, A e^t = b.
    """
    named = system.matrix[:, : system.n_named].toarray().astype(np.float64)
    plain = np.asarray(abs(system.matrix[:, system.n_named :]).sum(axis=1)).ravel() == 0
    rows, right = named[plain], system.right[plain].astype(np.float64)
    start = np.zeros(system.n_named) if tilt is None else tilt
    multipliers = balanced_multipliers(rows, right, start)
    t = start + rows.T @ multipliers
    n = system.n_named
    low, high = (limit[:n].astype(np.float64) for limit in (system.lower, system.upper))
    at = np.clip(np.floor(np.exp(np.minimum(t, 600.0))), low, high)
    return float(np.sum(t * at - log_gamma(at + 1)) - multipliers @ right)
