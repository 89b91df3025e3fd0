"""The distribution of a hidden table estimated from weighted draws, where exact sums do not fit.

Cells are drawn from the largest value down. Given all cells above, the cell of a prime is fixed by
that prime's equation, f_1 by S1 and f_0 by n: the equations are triangular, so draws in this order
meet no dead ends of divisibility. The multinomial weight 1/∏ f_j! may be multiplied by exp(λᵀ A f),
which is one number for all tables; λ is chosen so that independent Poisson cells meet the
statistics on average, A E f = b, else draws stray to where no weight is.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln, logsumexp

from discreet.belief.count_belief import (
    CellDistribution,
    TableDistribution,
    power_of_two,
    prior_named,
    reciprocal,
    score,
)
from discreet.clock import working_seconds
from discreet.fiber.draws.sequential import LEAST_EFFECTIVE, WeightedDraws, weighted_draws
from discreet.fiber.sums.enumeration import tables
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.priors import Prior, ProductForm
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import above
from discreet.progress import Progress, silent

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
    return found if isinstance(found, Unavailable) else _distribution(system, name, *found, truth)


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
    found = _draws(system, "multinomial", n_draws, rng, time_limit, silent)
    if isinstance(found, Unavailable):
        return found
    drawn, shift = found
    chosen = rng.choice(len(drawn.tables), size=number, p=drawn.shares)
    return np.unique(drawn.tables[chosen, ::-1], axis=0), _log_mean(drawn) - shift


def _draws(
    system: System,
    prior: str,
    n_draws: int,
    rng: np.random.Generator,
    time_limit: float | None,
    progress: Progress,
) -> tuple[WeightedDraws, float] | Unavailable:
    """Draws that carry enough weight, and the logarithm of the factor that their weights have."""
    turned = descending(system)
    weight, shift = _tilted(turned, prior)
    drawn = _drawn_in_time(turned, weight, n_draws, rng, time_limit, progress)
    if isinstance(drawn, Unavailable):
        return drawn
    if above(LEAST_EFFECTIVE, drawn.effective_draws):  # 100 draws alike are worth 100
        return Unavailable(drawn.warning or f"none of {drawn.n_tried} draws found a table")
    return drawn, shift


def _drawn_in_time(
    system: System,
    weight: Prior,
    n_draws: int,
    rng: np.random.Generator,
    time_limit: float | None,
    progress: Progress,
) -> WeightedDraws | Unavailable:
    """Draws in parts of one size, so that the clock is looked at often and a seed says which."""
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


def _distribution(
    system: System, prior: str, drawn: WeightedDraws, shift: float, truth: IntArray | None
) -> TableDistribution:
    tables = drawn.tables[:, ::-1]
    own = -gammaln(tables + 1.0).sum(axis=1) if prior == "multinomial" else np.zeros(len(tables))
    relative = drawn.shares * drawn.n_tried  # weights over their mean, dead ends left out
    dead = drawn.n_tried - len(relative)
    log_z = _log_mean(drawn) - shift
    mean = float(drawn.shares @ own)
    pulls = relative - 1 - relative * (own - mean)
    error = math.sqrt(float(np.sum(pulls**2)) + dead) / drawn.n_tried
    z_error = math.sqrt(float(np.sum((relative - 1) ** 2)) + dead) / drawn.n_tried
    bits = (log_z - mean) / math.log(2)
    entropy = Figure(value=bits, how=How.ESTIMATE, standard_error=error / math.log(2))
    scored = None if truth is None else _scored(system, prior, truth, log_z, z_error)
    return TableDistribution(
        prior=prior,
        how=How.ESTIMATE,
        cells=_cells(tables, drawn),
        entropy=entropy,
        effective_tables=power_of_two(entropy),
        reciprocal_entropy=reciprocal(entropy),
        best_guess=None,
        best_guess_probability=Unavailable("draws cannot tell which table is the most probable"),
        truth_probability=None if scored is None else scored[0],
        truth_surprisal=None if scored is None else scored[1],
        note=f"{drawn.how}; {drawn.effective_draws:.0f} effective draws of {drawn.n_tried}",
        best_guess_limit=_best_limit(prior, greatest_log_weight(system), log_z, z_error),
    )


def _log_mean(drawn: WeightedDraws) -> float:
    """The logarithm of the mean weight, dead ends being zero; the mean itself may be too large."""
    return float(logsumexp(drawn.log_weights)) - math.log(drawn.n_tried)


def _scored(
    system: System, prior: str, truth: IntArray, log_z: float, error: float
) -> tuple[Outcome, Outcome]:
    if not system.holds(system.completed(truth)):
        return score(None)
    own = prior_named(prior).log_weight(np.arange(len(truth)), truth)
    return score(math.fsum(own) - log_z, error)


def _cells(tables: IntArray, drawn: WeightedDraws) -> tuple[CellDistribution, ...]:
    means, errors = drawn.mean()[::-1], drawn.standard_error()[::-1]
    return tuple(
        _cell(cell, tables[:, cell], drawn, float(means[cell]), float(errors[cell]))
        for cell in range(tables.shape[1])
    )


def _cell(
    cell: int, counts: IntArray, drawn: WeightedDraws, mean: float, error: float
) -> CellDistribution:
    found = cell_from_draws(cell, counts, drawn.shares)
    return replace(found, mean=mean, standard_error=error)


def cell_from_draws(cell: int, counts: IntArray, shares: FloatArray) -> CellDistribution:
    """The weighted shares of each count; errors √Σ share² (hit − p)², the delta method."""
    support, where = np.unique(counts, return_inverse=True)
    p = np.bincount(where.ravel(), weights=shares).astype(np.float64)
    squares = np.bincount(where.ravel(), weights=shares**2)
    all_squares = float(np.sum(shares**2))
    spread = squares * (1 - p) ** 2 + (all_squares - squares) * p**2
    mean = float(shares @ counts)
    return CellDistribution(
        cell=cell,
        support=support.astype(np.int64),
        probabilities=p,
        mean=mean,
        standard_error=math.sqrt(float(np.sum(shares**2 * (counts - mean) ** 2))),
        errors=np.sqrt(np.maximum(0.0, spread)),
        effective_draws=1 / all_squares,
    )


def _best_limit(prior: str, bound: float, log_z: float, error: float) -> Outcome:
    """What no table's probability exceeds; Z is an estimate, so that this is one."""
    own = bound if prior == "multinomial" else 0.0
    return score(min(0.0, own - log_z), error)[0]


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
    return float(np.sum(t * at - gammaln(at + 1)) - multipliers @ right)
