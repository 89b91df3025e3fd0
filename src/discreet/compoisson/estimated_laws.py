"""The law of a hidden table estimated from weighted draws, where exact sums do not fit.

Cells are drawn from the largest value down. Given all cells above, the cell of a prime is fixed by
that prime's equation, f_1 by S1 and f_0 by n: the equations are triangular, so draws in this order
meet no dead ends of divisibility. The multinomial weight 1/∏ f_j! may be multiplied by exp(λᵀ A f),
which is one number for all tables; λ is chosen so that independent Poisson cells meet the
statistics on average, A E f = b, else draws stray to where no weight is.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln

from discreet.compoisson.laws import CellLaw, TableLaw, power_of_two, prior_named, reciprocal, score
from discreet.data.arrays import FloatArray, IntArray
from discreet.fiber.enumeration import tables
from discreet.fiber.priors import Prior, ProductForm
from discreet.fiber.sequential import LEAST_EFFECTIVE, WeightedDraws, weighted_draws
from discreet.fiber.system import System
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.progress import Progress, silent

NEWTON_STEPS = 200


def estimated_law(
    system: System,
    prior: str,
    *,
    n_draws: int,
    rng: np.random.Generator,
    truth: IntArray | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> TableLaw | Unavailable:
    """The law of the table and its cells with standard errors, or why there is none.

    None where fewer than 100 effective draws carry the weight: errors would not be what they say.
    """
    name = prior_named(prior).name
    found = _draws(system, name, n_draws, rng, time_limit, progress)
    return found if isinstance(found, Unavailable) else _law(system, name, *found, truth)


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
    drawn = weighted_draws(
        turned, weight, n_draws, rng=rng, time_limit=time_limit, progress=progress
    )
    if isinstance(drawn, Unavailable):
        return drawn
    if drawn.effective_draws < LEAST_EFFECTIVE:
        return Unavailable(drawn.warning or f"none of {drawn.n_tried} draws found a table")
    return drawn, shift


def descending(system: System) -> System:
    """The same tables with the cells named from the last to the first."""
    n = system.n_named
    order = np.concatenate([np.arange(n)[::-1], np.arange(n, system.n_columns)])
    return System(
        matrix=csr_array(system.matrix[:, order]),
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


def balanced_multipliers(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The λ that minimises Σ exp(Aᵀ λ) − λᵀ b, so that A exp(Aᵀ λ) = b; by damped Newton steps.

    Any λ gives right answers; this one makes draws efficient. Rows that others imply are allowed.
    """
    start = np.maximum(1.0, np.linalg.lstsq(matrix, right, rcond=None)[0])
    multipliers: FloatArray = np.linalg.lstsq(matrix.T, np.log(start), rcond=None)[0]

    def objective(at: FloatArray) -> float:
        exponents = matrix.T @ at
        return math.inf if exponents.max() > 600 else float(np.exp(exponents).sum() - right @ at)

    for _ in range(NEWTON_STEPS):
        cells = np.exp(np.minimum(matrix.T @ multipliers, 600.0))
        gradient = matrix @ cells - right
        step = np.linalg.lstsq((matrix * cells) @ matrix.T, gradient, rcond=None)[0]
        gain, size, here = float(gradient @ step), 1.0, objective(multipliers)
        if gain < 1e-9:
            break
        while size > 1e-12 and objective(multipliers - size * step) > here - 0.25 * size * gain:
            size /= 2
        multipliers = multipliers - size * step
    return multipliers


def _law(
    system: System, prior: str, drawn: WeightedDraws, shift: float, truth: IntArray | None
) -> TableLaw:
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
    return TableLaw(
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
    )


def _log_mean(drawn: WeightedDraws) -> float:
    total = drawn.total()
    return math.nan if isinstance(total, Unavailable) else total.log_value


def _scored(
    system: System, prior: str, truth: IntArray, log_z: float, error: float
) -> tuple[Outcome, Outcome]:
    if not system.holds(system.completed(truth)):
        return score(None)
    own = prior_named(prior).log_weight(np.arange(len(truth)), truth)
    return score(math.fsum(own) - log_z, error)


def _cells(tables: IntArray, drawn: WeightedDraws) -> tuple[CellLaw, ...]:
    means, errors = drawn.mean()[::-1], drawn.standard_error()[::-1]
    return tuple(
        _cell(cell, tables[:, cell], drawn.shares, float(means[cell]), float(errors[cell]))
        for cell in range(tables.shape[1])
    )


def _cell(cell: int, counts: IntArray, shares: FloatArray, mean: float, error: float) -> CellLaw:
    support, where = np.unique(counts, return_inverse=True)
    probabilities = np.bincount(where.ravel(), weights=shares).astype(np.float64)
    return CellLaw(
        cell=cell, support=support, probabilities=probabilities, mean=mean, standard_error=error
    )
