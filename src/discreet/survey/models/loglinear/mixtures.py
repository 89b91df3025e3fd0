"""Models between independence and a richer log-linear model: means mixed by sums or by products."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.numerics.arrays import FloatArray
from discreet.numerics.graphs import Graph
from discreet.survey.models.loglinear.cell_sums import CellSums, Function
from discreet.survey.models.loglinear.decomposable import DecomposableFit
from discreet.survey.models.loglinear.fitting import IterativeFit
from discreet.survey.models.loglinear.occupied_cells import LevelArray, OccupiedCells


def geometric_mixture(fit: IterativeFit, weight: float) -> IterativeFit:
    """Means ∝ (independence)^(1−w) · (fit)^w on the support of the fit, adding up to n."""
    apart = DecomposableFit(Graph.empty(len(fit.cells.sizes)), fit.cells)
    with np.errstate(divide="ignore"):
        logs = (1 - weight) * np.log(apart.mean_at(fit.support.levels)) + weight * np.log(fit.mean)
    mean = np.exp(logs - logs.max(initial=-math.inf))
    mean *= fit.sample_size / mean.sum()
    return replace(fit, mean=mean)


@dataclass(frozen=True)
class ArithmeticMixture:
    """Means (1 − w)·first + w·second, with the first a decomposable model such as independence."""

    first: DecomposableFit
    second: IterativeFit
    weight: float

    @property
    def cells(self) -> OccupiedCells:
        """The sample that both were fitted to."""
        return self.first.cells

    @property
    def sample_size(self) -> int:
        """n, which the means add up to."""
        return self.first.sample_size

    @cached_property
    def sample_mean(self) -> FloatArray:
        """μ of each occupied cell."""
        return self._mixed(self.first.sample_mean, self.second.sample_mean)

    def mean_at(self, levels: LevelArray) -> FloatArray:
        """μ of any cells."""
        return self._mixed(self.first.mean_at(levels), self.second.mean_at(levels))

    def sums(self, functions: Sequence[Function], limit: float) -> CellSums:
        """Σ μ·ψ(μ) over all cells: those of the second support, and the rest by the first model."""
        share = 1 - self.weight
        scaled = [_scaled(function, share) for function in functions]
        everywhere = self.first.sums(scaled, limit)
        apart = self.first.mean_at(self.second.support.levels)
        both = self._mixed(apart, self.second.mean)
        change = [
            float(np.dot(both, function(both)) - np.dot(apart, part(apart)))
            for function, part in zip(functions, scaled, strict=True)
        ]
        return CellSums(everywhere.value + change, everywhere.error, everywhere.n_rows + len(both))

    def _mixed(self, first: FloatArray, second: FloatArray) -> FloatArray:
        return (1 - self.weight) * first + self.weight * second


def _scaled(function: Function, share: float) -> Function:
    """ψ for means that are a share of those given: share·ψ(share·μ)."""
    return lambda mean: share * function(share * mean)
