"""Exact probabilities of cells and tables, given what was released and a prior on tables.

A prior is a product of weights over cells, w(x) = ∏ w_i(x_i), so that one pass forward and one back
over the columns of each block give Z = Σ w(x) and Pr(x_i = q) for all cells and values at once. The
entropy of the table follows from them: H = log Z − Σ_i E log w_i(x_i).

Weights of large counts are of size x log x on a log scale, and differences of such numbers lose the
digits that a verdict may hang on. So each cell's weights are taken relative to that of one of its
values, at first the one of the largest weight; where that lies too far from the most probable
value, the sums are made once more relative to the most probable ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, fsum, log

import numpy as np

from discreet.errors import InputError, must_be
from discreet.fiber.sums import dynamic_programming_kernels as kernels
from discreet.fiber.sums.dynamic_programming import (
    MAX_WEIGHTS,
    Budget,
    Marginals,
    Sweep,
    behind,
    descended,
    log_of,
    sweep,
    weights_of,
)
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded, plan_for
from discreet.fiber.sums.one_total import fits, given_their_total, is_one_total, sum_given_total
from discreet.fiber.sums.small_blocks import listed_points
from discreet.fiber.system.blocks import Block, Split, split
from discreet.fiber.system.linear_system import System, with_sum
from discreet.fiber.system.priors import Prior, check_length, log_ratio
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import EPSILON
from discreet.progress import Progress, silent

NEGLIGIBLE = 1e-15  # probabilities below it decide nothing
LISTED_COLUMNS = 10  # of a block with a sum, up to which its points are listed
PRECISE = 1e-10  # relative error of a probability that needs no second look


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """The distribution of the hidden table over all consistent ones, exact but for rounding.

    Cell i takes value `lower[i]` + q with probability `probabilities[i][q]`. `log_normaliser` is
    log Z, `entropy` is in bits. Z is `log_relative` on a log scale where weights are taken relative
    to those of the values in `start`. `relative_error` limits the rounding error of probabilities
    above NEGLIGIBLE, as a share of each.
    """

    system: System
    prior: Prior
    lower: IntArray
    probabilities: Sequence[FloatArray]
    start: IntArray
    log_relative: float
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
        cells = np.arange(len(table))
        return fsum(log_ratio(self.prior, cells, self.start, table)) - self.log_relative

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
    start = heaviest(parts, prior, system.n_named)
    found, size = _relative_to(start, parts, system, prior, budget, progress)
    if 4.0 * EPSILON * size > PRECISE:
        most_probable = [int(np.argmax(p)) for p in found.probabilities]
        try:
            near = found.lower + np.array(most_probable, dtype=np.int64)
            found, _ = _relative_to(near, parts, system, prior, budget, progress)
        except BudgetExceeded:
            pass  # the first sums stand, with the error that they state
    return found


def _relative_to(
    start: IntArray, parts: Split, system: System, prior: Prior, budget: Budget, progress: Progress
) -> tuple[Posterior, float]:
    """The posterior by weights relative to those of some values, and the size of what was added."""
    n = system.n_named
    lower, probabilities = parts.values[:n], [np.ones(1) for _ in range(n)]
    log_z, steps = 0.0, 0
    for block in parts.blocks:
        few = float(block.upper.sum()) <= MAX_WEIGHTS  # values whose probabilities are written out
        points = listed_points(block, budget) if few else None
        if points is not None:
            log_z += _fill_listed(block, points, prior, start, probabilities)
            steps += points.size
            continue
        if few and is_one_total(block) and fits(block, budget):
            log_z += _fill_one_total(block, prior, start, probabilities)
            steps += 3 * len(block.columns) * (int(block.right[0]) + 1)
            budget.check_time("summing over counts of one total")
            continue
        found, marginals = _summed(block, prior, start, budget, progress)
        log_z += _fill(found, marginals, probabilities, n)
        steps += found.steps
    entropy, size = _entropy(prior, start, lower, probabilities, log_z)
    posterior = Posterior(
        system=system,
        prior=prior,
        lower=lower,
        probabilities=probabilities,
        start=start,
        log_relative=log_z,
        log_normaliser=fsum([*prior.log_weight(np.arange(n), start), log_z]),
        entropy=max(0.0, entropy),
        relative_error=EPSILON * (4.0 * size + 4.0 * steps + 16.0 * n),
    )
    return posterior, size


def _checked(parts: Split) -> Split:
    if parts.is_empty:
        remedy = "consistency.check names a smallest set of statements that disagree"
        raise InputError(must_be("system", "true of some table", "a contradiction", remedy=remedy))
    return parts


def heaviest(parts: Split, prior: Prior, n_named: int) -> IntArray:
    """The value of the largest weight of each cell, for its own sake, within its limits."""
    start = parts.values[:n_named].copy()
    for block in parts.blocks:
        for cell, low, width in zip(block.columns, block.lower, block.upper, strict=True):
            if cell < n_named and width < MAX_WEIGHTS:  # more values than these are never weighed
                values = np.arange(low, low + width + 1)
                logs = prior.log_weight(np.full(len(values), cell), values)
                start[cell] = values[np.argmax(logs)]
    return start


def sweep_of(
    block: Block, prior: Prior, start: IntArray, budget: Budget, progress: Progress = silent
) -> Sweep:
    """All layers of a block with the prior's weights relative to those of the values in `start`.

    Slacks have weight one.
    """
    plan = plan_for(block, closed=False, seconds=budget.seconds_left)
    budget.check_time("choosing an order of the cells")

    def log_weight(column: int, values: IntArray) -> FloatArray:
        cell = int(block.columns[column])
        if cell >= len(start):
            return np.zeros(len(values))
        return log_ratio(prior, np.full(len(values), cell), start[cell], values)

    weights = weights_of(plan, log_weight)
    return sweep(plan, budget, weights=weights, keep=True, closed=False, progress=progress)


def _fill_listed(
    block: Block, points: IntArray, prior: Prior, start: IntArray, probabilities: list[FloatArray]
) -> float:
    """Writes the marginals of a block whose points are listed; its log normaliser."""
    if not len(points):
        _checked(Split(values=block.lower, blocks=(), is_empty=True))
    logs = _log_weights(block, points, prior, start)
    weights, named = np.exp(logs - logs.max()), block.columns < len(start)
    cells = block.columns[named]
    for cell, column, top in zip(cells, points[:, named].T, block.upper[named], strict=True):
        p = np.bincount(column, weights, int(top) + 1)
        probabilities[int(cell)] = p / p.sum()
    return float(logs.max() + np.log(weights.sum()))


def _fill_one_total(
    block: Block, prior: Prior, start: IntArray, probabilities: list[FloatArray]
) -> float:
    """Writes the marginals of a block of which only the total is known; its log normaliser."""
    logs = _relative_logs(block, prior, start)
    log_z, found = given_their_total(logs, int(block.right[0]))
    for column, p in zip(block.columns.tolist(), found, strict=True):
        if column < len(start):
            probabilities[column] = p
    return log_z


def _relative_logs(block: Block, prior: Prior, start: IntArray) -> list[FloatArray]:
    """Log weights of all values of each column, relative to that in `start`; slacks have one."""
    logs = []
    for column, low, width in zip(block.columns, block.lower, block.upper, strict=True):
        values = np.arange(low, low + width + 1)
        named, own = column < len(start), np.full(len(values), column)
        logs.append(log_ratio(prior, own, start[column], values) if named else np.zeros(len(own)))
    return logs


def _sum_of_one_total(
    parts: Split, prior: Prior, cells: IntArray, n_named: int, budget: Budget
) -> dict[int, float] | None:
    """The distribution of a sum where all that is not forced has one total, else None."""
    if len(parts.blocks) != 1:
        return None
    block = parts.blocks[0]
    few = float(block.upper.sum()) <= MAX_WEIGHTS
    if not (few and is_one_total(block) and fits(block, budget)):
        return None
    logs = _relative_logs(block, prior, heaviest(parts, prior, n_named))
    p = sum_given_total(logs, int(block.right[0]), np.isin(block.columns, cells))
    low = int(parts.values[cells].sum())
    return {low + int(q): float(p[q]) for q in np.flatnonzero(p)}


def _log_weights(block: Block, points: IntArray, prior: Prior, start: IntArray) -> FloatArray:
    """Of listed points of a block, relative to the values in `start`; slacks have weight one."""
    named = block.columns < len(start)
    logs = np.zeros(len(points))
    pairs = zip(block.columns[named], (points + block.lower)[:, named].T, strict=True)
    for cell, column in pairs:
        logs += log_ratio(prior, np.full(len(points), cell), start[cell], column)
    return logs


def sum_distribution(
    system: System,
    prior: Prior,
    cells: IntArray,
    *,
    budget: Budget | None = None,
    progress: Progress = silent,
) -> dict[int, float]:
    """The exact distribution of the sum of some cells: the sum joins the system as a column.

    Raises as `posterior` does.
    """
    budget = budget or Budget()
    check_length(prior, system.n_named)
    plain = _sum_of_one_total(_checked(split(system)), prior, cells, system.n_named, budget)
    if plain is not None:
        return plain
    parts = _checked(split(with_sum(system, cells)))
    of_sum = [
        (b, b.columns.tolist().index(system.n_columns))
        for b in parts.blocks
        if system.n_columns in b.columns
    ]
    if not of_sum:
        return {int(parts.values[system.n_columns]): 1.0}
    block, place = of_sum[0]
    start = heaviest(parts, prior, system.n_named)
    few = len(block.columns) <= LISTED_COLUMNS  # the sum joins blocks that have few points each
    points = listed_points(block, budget) if few else None
    if points is not None and len(points):
        logs = _log_weights(block, points, prior, start)
        p = np.bincount(points[:, place], np.exp(logs - logs.max()), int(block.upper[place]) + 1)
    else:
        found, marginals = _summed(block, prior, start, budget, progress)
        k = found.plan.order.tolist().index(place)
        at = slice(found.weights.start[k], found.weights.start[k + 1])
        logs = log_of(marginals.mantissa[at], marginals.exponent[at])
        p = np.exp(logs - logs.max())
    low, p = int(block.lower[place]), p / p.sum()
    return {low + int(q): float(p[q]) for q in np.flatnonzero(p)}


def _summed(
    block: Block, prior: Prior, start: IntArray, budget: Budget, progress: Progress
) -> tuple[Sweep, Marginals]:
    found = sweep_of(block, prior, start, budget, progress)
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
    prior: Prior,
    start: IntArray,
    lower: IntArray,
    probabilities: Sequence[FloatArray],
    log_z: float,
) -> tuple[float, float]:
    """Entropy in bits, and the sum over cells of the largest relative log weight that matters."""
    parts, size = [log_z], 0.0
    if all(np.count_nonzero(p) == 1 for p in probabilities):
        return 0.0, 0.0  # one table, whatever rounding makes of its weight
    for cell, p in enumerate(probabilities):
        values = int(lower[cell]) + np.arange(len(p))
        logs = log_ratio(prior, np.full(len(p), cell), start[cell], values)
        centre = float(logs[np.argmax(p)])  # so that what is summed up is small
        parts += [-centre, -float(np.dot(p, logs - centre))]
        size += float(np.abs(logs[p > NEGLIGIBLE]).max())
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
    start = heaviest(parts, prior, system.n_named)
    for block in parts.blocks:
        found = sweep_of(block, prior, start, budget, progress)
        layers = behind(found, budget, mode=kernels.BEST, progress=progress)
        if layers[0].mantissa[0] == 0.0:
            _checked(Split(values=block.lower, blocks=(), is_empty=True))
        best = descended(found, layers, np.zeros((1, len(block.columns))), kernels.BEST)
        point[block.columns] = found.plan.in_block_order(best)[0]
    return point[: system.n_named]
