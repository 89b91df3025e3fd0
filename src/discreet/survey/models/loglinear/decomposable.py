"""Decomposable log-linear models: closed-form fits from margins of cliques and separators.

With the keys in the order of a decomposable graph (see `numerics.graphs`), the fitted mean of a
cell is

    μ = n · ∏_v n(parents(v) ∪ v) / n(parents(v)),

with n(·) the sample's margin at the levels of the cell (darroch-lauritzen-speed 1980): no
iteration, and only combinations that records have are ever stored, however many cells the table
has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.numerics.arrays import FloatArray, read_only
from discreet.numerics.bit_sets import axes_of
from discreet.numerics.graphs import Graph, Keys
from discreet.survey.models.loglinear.cell_sums import CellSums, Function, sum_over_cells
from discreet.survey.models.loglinear.occupied_cells import (
    LevelArray,
    OccupiedCells,
    combination_code,
)


@dataclass(frozen=True)
class DecomposableFit:
    """A decomposable model fitted to the occupied cells of a sample."""

    graph: Graph
    cells: OccupiedCells

    @property
    def sample_size(self) -> int:
        """n, which the fitted means add up to over all cells."""
        return self.cells.sample_size

    @property
    def generators(self) -> tuple[Keys, ...]:
        """The cliques."""
        return self.graph.cliques

    @property
    def n_parameters(self) -> int:
        """Free parameters with non-zero margins: Σ over keys of (cliques − separators) seen."""
        grow = (
            len(self.cells.margin(step.clique).code) - len(self.cells.margin(step.parents).code)
            for step in self.graph.steps
        )
        return 1 + sum(grow)

    @cached_property
    def sample_mean(self) -> FloatArray:
        """μ of each occupied cell."""
        mean = np.full(len(self.cells), float(self.sample_size))
        for step in self.graph.steps:
            mean *= self._margin(step.clique) / self._margin(step.parents)
        return np.asarray(read_only(mean))

    def mean_with(self, u: int, v: int) -> FloatArray:
        """μ of each occupied cell with one more pair of keys joined, the graph staying chordal.

        The pair lies in one clique, with the keys S joined to both, and the means change by
        n(S ∪ uv)·n(S) / {n(S ∪ u)·n(S ∪ v)}.
        """
        shared = axes_of(self.graph.shared(u, v))
        mean = self.sample_mean * self._margin((*shared, u, v))
        mean /= self._margin((*shared, u))
        mean /= self._margin((*shared, v))
        mean *= self._margin(shared) if shared else self.sample_size
        return mean

    def _margin(self, keys: Keys) -> FloatArray:
        """The margin at each occupied cell."""
        margin = self.cells.margin(tuple(sorted(keys)))
        return margin.total.take(margin.group)

    def mean_at(self, levels: LevelArray) -> FloatArray:
        """μ of any cells, `levels` being keys × cells: 0 where a clique's combination is new."""
        mean = np.full(levels.shape[1], float(self.sample_size))
        for step in self.graph.steps:
            held = self._margin_at(step.parents, levels)
            joint = self._margin_at(step.clique, levels)
            mean *= np.divide(joint, held, out=np.zeros(len(joint)), where=held > 0)
        return mean

    def sums(self, functions: Sequence[Function], limit: float) -> CellSums:
        """Σ μ·ψ(μ) over all cells, those with means above `limit` one by one."""
        return sum_over_cells(self.cells, self.graph.steps, functions, limit)

    def _margin_at(self, keys: Keys, levels: LevelArray) -> FloatArray:
        margin = self.cells.margin(keys)
        code = combination_code(levels, keys, self.cells.sizes)
        place = np.minimum(np.searchsorted(margin.code, code), len(margin.code) - 1)
        return np.where(margin.code[place] == code, margin.total[place], 0.0)

    def estimation_variance(self, slope: FloatArray) -> float:
        """Var of Σ_k t_k from the error of μ̂, with `slope` = dt_k / d log μ_k for occupied cells.

        Each record i adds to the sum the influence Σ_C G_C / n(C) − Σ_S G_S / n(S) over the cliques
        and separators at its levels, with G the sum of slopes over cells of those levels; n is
        taken as fixed, so the variance is Σ (influence − mean)² over records (delta method).
        """
        influence = np.zeros(len(self.cells))
        for step in self.graph.steps:
            influence += self._share(step.clique, slope) - self._share(step.parents, slope)
        f = self.cells.sample_count
        mean = float(np.dot(f, influence)) / self.sample_size
        return float(np.dot(f, (influence - mean) ** 2))

    def _share(self, keys: Keys, slope: FloatArray) -> FloatArray:
        margin = self.cells.margin(keys)
        gathered = np.bincount(margin.group, slope, len(margin.total))
        shared: FloatArray = (gathered / margin.total)[margin.group]
        return shared
