"""A decomposable model's own margins summed over exactly.

The columns of `clique_distribution` that are not released are few where the model adds little to
the release, though the full table may have very many: their sum by dynamic programming is the
marginal likelihood."""

from dataclasses import dataclass

import numpy as np

from discreet.belief.exact.clique_distribution import CliqueDistribution
from discreet.belief.models.generators import Axes
from discreet.belief.models.model_averaging import Evidence
from discreet.fiber.sums import marginals
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.progress import Progress, silent


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The weights of a clique distribution's columns; those of `turned` ones stand for upper −
    count.
    """

    log_weights: FloatArray
    start: IntArray
    upper: IntArray
    turned: IntArray
    name: str = "cliques"

    def __post_init__(self) -> None:
        for array in (self.log_weights, self.start, self.upper, self.turned):
            read_only(array)

    def log_weight(self, cells: IntArray, values: IntArray) -> FloatArray:
        """The logarithm of each column's weight at its count."""
        counts = np.where(self.turned[cells], self.upper[cells] - values, values)
        found: FloatArray = self.log_weights[self.start[cells] + counts]
        return found


def summed_cliques(
    distribution: CliqueDistribution, *, budget: Budget, progress: Progress = silent
) -> Evidence:
    """log Pr(R | A), exact. Raises BudgetExceeded where dynamic programming does not fit."""
    first = _first_columns(distribution)
    statements = [*_released(distribution, first), *_tied(distribution, first)]
    system = system_of(len(distribution.upper), statements)
    turned = np.repeat(
        [sign < 0 for _, sign in distribution.sets],
        [_size(distribution, axes) for axes, _ in distribution.sets],
    ).astype(np.int64)
    prior = LookedUp(
        distribution.plain + distribution.more, distribution.start, distribution.upper, turned
    )
    found = marginals.posterior(system, prior, budget=budget, progress=progress)
    return Evidence(distribution.log_constant + found.log_normaliser, 0.0)


def _size(distribution: CliqueDistribution, axes: Axes) -> int:
    return int(np.prod([distribution.margins.sizes[axis] for axis in axes], dtype=np.int64))


def _first_columns(distribution: CliqueDistribution) -> list[int]:
    sizes = [_size(distribution, axes) for axes, _ in distribution.sets]
    return [0, *np.cumsum(sizes)[:-1].tolist()]


def _groups(distribution: CliqueDistribution, outer: Axes, inner: Axes, first: int) -> IntArray:
    """Columns of a clique that make up each entry over some of its variables, a row an entry."""
    shape = [distribution.margins.sizes[axis] for axis in outer]
    columns = first + np.arange(_size(distribution, outer), dtype=np.int64).reshape(shape)
    order = [outer.index(axis) for axis in inner]
    rest = [i for i, axis in enumerate(outer) if axis not in inner]
    return columns.transpose([*order, *rest]).reshape(_size(distribution, inner), -1)


def _released(distribution: CliqueDistribution, first: list[int]) -> list[Statement]:
    """Every released margin, stated of each clique that holds it."""
    found = []
    for (axes, sign), begin in zip(distribution.sets, first, strict=True):
        for own, table in distribution.margins.tables.items():
            if sign > 0 and set(own) <= set(axes):
                groups = _groups(distribution, axes, own, begin)
                pairs = zip(groups, table.ravel().tolist(), strict=True)
                found += [
                    Statement(cells=group, low=n, high=n, name="released") for group, n in pairs
                ]
    return found


def _tied(distribution: CliqueDistribution, first: list[int]) -> list[Statement]:
    """Each separator's entries, as what is left of their limits, stated of both cliques beside."""
    found, n_cliques = [], len(distribution.tree.components)
    for i, separator in enumerate(distribution.tree.separators[1:], start=1):
        begin = first[n_cliques + i - 1]
        for clique in (i, distribution.tree.parents[i]):
            groups = _groups(
                distribution, distribution.tree.components[clique], separator, first[clique]
            )
            for j, group in enumerate(groups):
                most = int(distribution.upper[begin + j])
                cells = np.append(group, begin + j)
                found.append(Statement(cells=cells, low=most, high=most, name="separator"))
    return found
