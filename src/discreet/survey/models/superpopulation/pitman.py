"""Pitman's sampling formula as a model of the population's cells.

Two parameters, 0 ≤ α < 1 and θ > −α (see `partition_likelihood`); α = 0 is Ewens. The larger α the
more of the cells stay small however many records come, which is what sparse tables of survey keys
look like (Hoshino 2001). Fitted by maximum likelihood; the moment equations give the start. A
distribution with α < 0 has a fixed number of cells: that is `poisson_gamma`, and here the fit stops
at α = 0."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.data.summary import SizeIndices
from discreet.numerics.arrays import FloatArray
from discreet.numerics.integer_sums import integer_nodes
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.model import (
    ALL_UNIQUE,
    LikelihoodModel,
    check_two_kinds,
    fitted_point,
)
from discreet.survey.models.superpopulation.partition_family import PartitionFamily
from discreet.survey.models.superpopulation.partition_likelihood import along_pitman
from discreet.survey.models.superpopulation.partition_urn import PartitionUrn

LARGEST_ALPHA = 1 - 1e-9
AT_EDGE = (
    "the fit is at alpha = 0, Ewens' formula: the cells are more even than under any Pitman "
    "distribution with alpha above 0"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pitman(LikelihoodModel):
    """Two parameters α and θ, by maximum likelihood."""

    name: str = "pitman"
    assumption: str = (
        "The cells of the population arise as in Pitman's sampling formula, whose number of small "
        "cells falls as a power of their size, the sample is drawn at random, and all sample "
        "uniques are alike."
    )

    def family(self, totals: Totals) -> "PitmanFamily":
        """All α ≥ 0 and θ."""
        check_two_kinds(totals.size_indices)
        return PitmanFamily.of(totals)


def maximum_likelihood(sizes: SizeIndices) -> tuple[float, float]:
    """α and θ of the size indices alone; raises ModelUnavailable where there is no maximum."""
    check_two_kinds(sizes)
    totals = Totals(size_indices=sizes, population_size=sizes.sample_size + 1, n_table_cells=0)
    family = PitmanFamily.of(totals)
    distribution = family.distribution(fitted_point(family)[0])
    return distribution.alpha, distribution.theta


def moment_estimates(sizes: SizeIndices) -> tuple[float, float]:
    """α > 0 and θ at which the numbers of cells and of sample uniques are expected.

    E(s) = n (θ + α)_(n−1)/(θ + 1)_(n−1) and α E(u) = E(s)(θ + α + n − 1)/n − θ, with (x)_k the
    rising factorial. The second gives θ, which makes the first an equation for α. It always holds
    at α = 0; raises ModelUnavailable where it holds nowhere else.
    """
    from scipy.optimize import brentq  # here: only these estimates need its quarter of a second

    check_two_kinds(sizes)
    t, w = integer_nodes(1, sizes.sample_size)
    n, s = sizes.sample_size, sizes.sample_uniques
    if s == 0:
        raise ModelUnavailable("without sample uniques the moment equations have no solution")

    def excess(alpha: float) -> float:
        theta = _moment_theta(sizes, alpha)
        return math.log(n / s) + float(w @ np.log1p((alpha - 1) / (theta + t)))

    most = min(1.0, s * (n - 1) / (n * (sizes.n_cells - 1)))
    grid = most * (1 - np.geomspace(1e-9, 1 - 1e-4, 40))
    signs = [excess(alpha) > 0 for alpha in grid]
    turns = [i for i in range(len(grid) - 1) if signs[i] != signs[i + 1]]
    if not turns:
        raise ModelUnavailable("the moment equations of Pitman's formula have no solution here")
    alpha = float(brentq(excess, grid[turns[-1] + 1], grid[turns[-1]], xtol=1e-14))
    return alpha, _moment_theta(sizes, alpha)


def _moment_theta(sizes: SizeIndices, alpha: float) -> float:
    """θ from the second moment equation."""
    n, s, u = sizes.sample_size, sizes.sample_uniques, sizes.n_cells
    return (s * (n - 1) - alpha * (n * u - s)) / (n - s)


@dataclass(frozen=True, slots=True)
class PitmanFamily(PartitionFamily):
    """The distributions of all α and θ, in the coordinates α and log(θ + α)."""

    along = along_pitman
    n_parameters: ClassVar[int] = 2
    no_maximum: ClassVar[str] = ALL_UNIQUE

    @property
    def lower(self) -> FloatArray:
        """α = 0 and θ + α = e^−200."""
        return np.array([0.0, -200.0])

    @property
    def upper(self) -> FloatArray:
        """α next to 1 and θ = e^60."""
        return np.array([LARGEST_ALPHA, 60.0])

    def starts(self) -> list[FloatArray]:
        """A first guess: the share of uniques among the cells for α, θ from the moment equation."""
        sizes = self.totals.size_indices
        alpha = min(0.9 * sizes.sample_uniques / sizes.n_cells, 0.95)
        theta = max(_moment_theta(sizes, alpha), 1 - alpha)
        return [np.array([alpha, math.log(theta + alpha)])]

    def remark(self, point: FloatArray) -> str | None:
        """Where α is at its edge."""
        return AT_EDGE if point[0] == 0 else None

    def distribution(self, point: FloatArray) -> PartitionUrn:
        """The urn at a point."""
        alpha, reach = float(point[0]), math.exp(point[1])
        totals = self.totals
        return PartitionUrn(alpha, reach - alpha, totals.sample_size, totals.population_size)
