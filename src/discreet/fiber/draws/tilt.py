"""Slopes on cells that bring a product of weights near the released figures, changing no odds.

On one fiber A x = b, multiplying ∏ w_i(x_i) by exp(λᵀ A x) multiplies every table's weight by the
same number. So λ may be chosen freely: here so that independent cells with the tilted weights meet
the released figures on average, A E(x) = b (the maximum-entropy choice of Barvinok and Hartigan
2010). Draws of cells one by one then seldom stray to where no table is.
"""

from dataclasses import dataclass

import numpy as np

from discreet.clock import standing_still, work, working_seconds
from discreet.fiber.draws.walk_weights import WeightTable
from discreet.fiber.system.linear_system import System
from discreet.numerics.arrays import FloatArray, IntArray

MOST_VALUES = 2**21  # values of all cells together up to which slopes are sought
STEPS = 200
STEP_SECONDS, VALUE_SECONDS = 4e-4, 3e-8  # of looking at the slope once, for each value of a cell


@dataclass(frozen=True, slots=True)
class Tilt:
    """Slopes Aᵀ λ, and mean and variance of each column under its tilted weights."""

    slopes: FloatArray
    mean: FloatArray
    variance: FloatArray


def balanced(system: System, weights: WeightTable, seconds: float | None = None) -> Tilt:
    """The tilt by the λ that minimises Σ log Z_i((Aᵀ λ)_i) − λᵀ b; none for a very large system.

    Z_i(s) = Σ w_i(x) e^{s x} over the limits of column i. Any λ is valid, so that the search may
    stop early, after `seconds`; it cannot make a draw wrong, only less efficient.
    """
    sizes = system.upper - system.lower + 1
    if system.n_rows == 0 or sizes.min(initial=1) < 1 or int(sizes.sum()) > MOST_VALUES:
        return Tilt(*np.zeros((3, system.n_columns)))
    begin = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    column = np.repeat(np.arange(system.n_columns), sizes)
    values = np.arange(len(column)) - begin[column] + system.lower[column]
    log_weights = weights.values[weights.start[column] + values] + weights.slope[column] * values
    scale = 1.0 / np.maximum(1.0, values.max(initial=1))

    def objective(multipliers: FloatArray) -> tuple[float, FloatArray]:
        work(STEP_SECONDS + VALUE_SECONDS * (len(values) + system.matrix.nnz))
        slopes = system.matrix.T @ (multipliers * scale)
        log_sums, means = _moments(log_weights + slopes[column] * values, values, begin, column)
        gradient = (system.matrix @ means - system.right) * scale
        return float(log_sums.sum() - system.right @ (multipliers * scale)), gradient

    end = None if seconds is None else working_seconds() + seconds

    def stop_in_time(xk: FloatArray) -> None:
        if end is not None and working_seconds() > end:
            raise StopIteration

    with standing_still():
        from scipy.optimize import minimize  # slow to load, seldom needed

    found = minimize(
        objective,
        np.zeros(system.n_rows),
        jac=True,
        method="L-BFGS-B",
        callback=stop_in_time,
        options={"maxiter": STEPS},
    )
    slopes: FloatArray = system.matrix.T @ (found.x * scale)
    if not np.all(np.isfinite(slopes)):
        slopes = np.zeros(system.n_columns)
    log_terms = log_weights + slopes[column] * values
    _, means = _moments(log_terms, values, begin, column)
    _, squares = _moments(log_terms, (values - means[column]) ** 2, begin, column)
    return Tilt(slopes, means, squares)


def _moments(
    log_terms: FloatArray, values: IntArray | FloatArray, begin: IntArray, column: IntArray
) -> tuple[FloatArray, FloatArray]:
    """log Z and the mean of each column."""
    peaks = np.maximum.reduceat(log_terms, begin)
    terms = np.exp(log_terms - peaks[column])
    sums = np.add.reduceat(terms, begin)
    return np.log(sums) + peaks, np.add.reduceat(terms * values, begin) / sums
