"""Exact probabilities of cells and tables, given what was released and a prior on tables.

A prior is a product of weights over cells, w(x) = ∏ w_i(x_i), so that one pass forward and one back
over the columns of each block give Z = Σ w(x) and Pr(x_i = q) for all cells and values at once. The
entropy of the table follows from them: H = log Z − Σ_i E log w_i(x_i).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, fsum, log

import numpy as np

from discreet.errors import InputError, must_be
from discreet.fiber.sums import dynamic_programming_kernels as kernels
from discreet.fiber.sums.dynamic_programming import (
    Budget,
    Marginals,
    Sweep,
    behind,
    descended,
    log_of,
    sweep,
    weights_of,
)
from discreet.fiber.sums.dynamic_programming_plan import plan_for
from discreet.fiber.system.blocks import Block, Split, split
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.priors import Prior, check_length
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.progress import Progress, silent

EPSILON = 2.0**-52


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """The distribution of the hidden table over all consistent ones, exact but for rounding.

    Cell i takes value `lower[i]` + q with probability `probabilities[i][q]`. `log_normaliser` is
    log Z, `entropy` is in bits. `relative_error` limits the rounding error of every probability,
    as a share of it.
    """

    system: System
    prior: Prior
    lower: IntArray
    probabilities: Sequence[FloatArray]
    log_normaliser: float
    entropy: float
    relative_error: float

    @property
    def effective_tables(self) -> float:
        """2^entropy: as many equally probable tables would leave as much doubt."""
        return float(2.0**self.entropy)

    def probability(self, cell: int, value: int) -> float:
        """Pr(x[cell] = value)."""
        at = value - int(self.lower[cell])
        inside = 0 <= at < len(self.probabilities[cell])
        return float(self.probabilities[cell][at]) if inside else 0.0

    def means(self) -> FloatArray:
        """The expected value of each cell."""
        pairs = zip(self.lower, self.probabilities, strict=True)
        return np.array([low + np.dot(p, np.arange(len(p))) for low, p in pairs])

    def log_table_probability(self, table: IntArray) -> float:
        """log Pr(table); raises InputError for a table that is not consistent."""
        table = np.asarray(table, dtype=np.int64).ravel()
        if len(table) != self.system.n_named or not self.system.holds(self.system.completed(table)):
            raise InputError(must_be("table", "consistent with the system", "another"))
        return fsum(self.prior.log_weight(np.arange(len(table)), table)) - self.log_normaliser

    def table_probability(self, table: IntArray) -> float:
        """Pr(table), zero only where it is below 1e-308."""
        return exp(min(0.0, self.log_table_probability(table)))


def posterior(
    system: System, prior: Prior, *, budget: Budget | None = None, progress: Progress = silent
) -> Posterior:
    """Exact marginals of every cell, normaliser and entropy under the prior.

    Checked: the fiber is not empty. Raises InputError where it is, BudgetExceeded where dynamic
    programming does not fit.
    """
    budget = budget or Budget()
    check_length(prior, system.n_named)
    parts = _checked(split(system))
    n = system.n_named
    lower, probabilities = parts.values[:n], [np.ones(1) for _ in range(n)]
    log_z, steps = _fixed_log_weight(parts, prior, n), 0
    for block in parts.blocks:
        found, marginals = _summed(block, prior, n, budget, progress)
        log_z += _fill(found, marginals, probabilities, n)
        steps += found.steps
    entropy, size = _entropy(prior, lower, probabilities, log_z)
    return Posterior(
        system=system,
        prior=prior,
        lower=lower,
        probabilities=probabilities,
        log_normaliser=log_z,
        entropy=max(0.0, entropy),
        relative_error=EPSILON * (4.0 * size + 4.0 * steps + 16.0 * n),
    )


def _checked(parts: Split) -> Split:
    if parts.is_empty:
        remedy = "consistency.check names a smallest set of statements that disagree"
        raise InputError(must_be("system", "true of some table", "a contradiction", remedy=remedy))
    return parts


def _fixed_log_weight(parts: Split, prior: Prior, n_named: int) -> float:
    fixed = np.ones(len(parts.values), dtype=np.bool_)
    for block in parts.blocks:
        fixed[block.columns] = False
    cells = np.flatnonzero(fixed[:n_named])
    return fsum(prior.log_weight(cells, parts.values[cells]))


def sweep_of(
    block: Block, prior: Prior, n_named: int, budget: Budget, progress: Progress = silent
) -> Sweep:
    """All layers of a block with the prior's weights; slacks have weight one."""
    plan = plan_for(block, closed=False, seconds=budget.seconds_left)
    budget.check_time("choosing an order of the cells")

    def log_weight(column: int, values: IntArray) -> FloatArray:
        cell = int(block.columns[column])
        if cell >= n_named:
            return np.zeros(len(values))
        return prior.log_weight(np.full(len(values), cell), values)

    weights = weights_of(plan, log_weight)
    return sweep(plan, budget, weights=weights, keep=True, closed=False, progress=progress)


def _summed(
    block: Block, prior: Prior, n_named: int, budget: Budget, progress: Progress
) -> tuple[Sweep, Marginals]:
    found = sweep_of(block, prior, n_named, budget, progress)
    marginals = Marginals.zeros(int(found.weights.start[-1]))
    layers = behind(found, budget, marginals=marginals, progress=progress)
    if layers[0].mantissa[0] == 0.0:
        _checked(Split(values=block.lower, blocks=(), is_empty=True))
    found.layers = layers
    return found, marginals


def _fill(
    found: Sweep, marginals: Marginals, probabilities: list[FloatArray], n_named: int
) -> float:
    """Writes the block's marginals beside the others; its log normaliser."""
    plan, start = found.plan, found.weights.start
    log_z = float(log_of(found.layers[0].mantissa, found.layers[0].exponent)[0])
    for k, column in enumerate(plan.order):
        cell = int(plan.block.columns[column])
        if cell < n_named:
            at = slice(start[k], start[k + 1])
            p = np.exp(log_of(marginals.mantissa[at], marginals.exponent[at]) - log_z)
            probabilities[cell] = p / p.sum()
    return log_z


def _entropy(
    prior: Prior, lower: IntArray, probabilities: Sequence[FloatArray], log_z: float
) -> tuple[float, float]:
    """Entropy in bits, and the sum over cells of the largest |log weight|.

    Log weights are taken relative to the likeliest value of their cell, so that what is summed up
    is small against what cancels.
    """
    parts, size = [log_z], 0.0
    if all(np.count_nonzero(p) == 1 for p in probabilities):
        return 0.0, 0.0  # one table, whatever rounding makes of its weight
    for cell, p in enumerate(probabilities):
        logs = prior.log_weight(np.full(len(p), cell), int(lower[cell]) + np.arange(len(p)))
        centre = float(logs[np.argmax(p)])
        parts += [-centre, -float(np.dot(p, logs - centre))]
        size += float(np.abs(logs).max())
    return fsum(parts) / log(2.0), size


def most_probable_table(
    system: System, prior: Prior, *, budget: Budget | None = None, progress: Progress = silent
) -> IntArray:
    """A consistent table of the largest weight under the prior, the same one of several each time.

    Raises InputError where there is none, BudgetExceeded where dynamic programming does not fit.
    """
    budget = budget or Budget()
    parts = _checked(split(system))
    point = parts.values.copy()
    for block in parts.blocks:
        found = sweep_of(block, prior, system.n_named, budget, progress)
        layers = behind(found, budget, mode=kernels.BEST, progress=progress)
        if layers[0].mantissa[0] == 0.0:
            _checked(Split(values=block.lower, blocks=(), is_empty=True))
        best = descended(found, layers, np.zeros((1, len(block.columns))), kernels.BEST)
        point[block.columns] = found.plan.in_block_order(best)[0]
    return point[: system.n_named]
