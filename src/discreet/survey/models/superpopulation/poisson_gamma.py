"""The Poisson–gamma model of Bethlehem, Keller and Pannekoek (1990), given its total.

Each of K cells has a Poisson number of people whose mean is drawn from one gamma distribution.
Given the population size the cell counts are Dirichlet–multinomial, with the shape γ of the gamma
distribution: Pitman's partition with α = −γ and θ = Kγ. So the same urn gives all of its figures
exactly.

K is fitted too, up to the number of possible cells: how many of those can be occupied at all is
seldom known, and taking all of them makes the model one with Ewens' in a sparse table. With
`fit_cells=False` all possible cells count, as in the paper. A finite γ of greatest likelihood then
exists if and only if the cells are more uneven than those of equal probability:
Σ j(j − 1) s_j > n(n − 1)/K (Levin and Reeds 1977).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.numerics.arrays import FloatArray
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.model import ONE_CELL, LikelihoodModel, check_room
from discreet.survey.models.superpopulation.partition_family import PartitionFamily
from discreet.survey.models.superpopulation.partition_likelihood import (
    LogUniqueProbability,
    PartitionLikelihood,
    along_dirichlet,
)
from discreet.survey.models.superpopulation.partition_urn import PartitionUrn

LARGEST_GAMMA = 1e4  # no sample tells such cells from equal ones
MOST_CELLS = 10**100  # no figure tells a larger table from this one
TOO_EVEN = (
    "the cells are no more uneven than if all were equally probable, so the likelihood rises "
    "without end as they become so"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonGamma(LikelihoodModel):
    """Two parameters γ and K, or γ alone for all cells of the table."""

    name: str = "poisson_gamma"
    assumption: str = (
        "The people of each cell are a Poisson number whose mean is drawn from one gamma "
        "distribution for all cells, the sample is drawn at random, and all sample uniques are "
        "alike."
    )
    fit_cells: bool = True

    def family(self, totals: Totals) -> "PoissonGammaFamily":
        """All γ, and all K unless it is that of the table."""
        check_uneven(totals)
        return PoissonGammaFamily.of_table(totals, fit_cells=self.fit_cells)


def check_uneven(totals: Totals) -> None:
    """Raises ModelUnavailable unless the cells fit in the table and γ has a finite estimate."""
    check_room(totals)
    sizes, n_table_cells = totals.size_indices, totals.n_table_cells
    if sizes.n_cells == 1:
        raise ModelUnavailable(ONE_CELL)
    n = sizes.sample_size
    pairs = sum(
        int(j) * (int(j) - 1) * int(s) for j, s in zip(sizes.sizes, sizes.cells, strict=True)
    )
    if pairs * n_table_cells <= n * (n - 1):
        raise ModelUnavailable(TOO_EVEN)


@dataclass(frozen=True, slots=True)
class DirichletUrn(PartitionUrn):
    """The urn with a number of cells, named by its own parameters."""

    cells: float = 0.0

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """γ and K."""
        return {"gamma": -self.alpha, "cells": self.cells}


@dataclass(frozen=True, slots=True)
class PoissonGammaFamily(PartitionFamily):
    """The distributions of all γ and K, in the coordinates of their logarithms."""

    least_cells: float
    most_cells: float
    n_parameters: int

    along = along_dirichlet
    no_maximum: ClassVar[str] = TOO_EVEN

    @classmethod
    def of_table(cls, totals: Totals, *, fit_cells: bool) -> "PoissonGammaFamily":
        """Those for the size indices of a sample; K is that of the table unless it is fitted."""
        most = min(totals.n_table_cells, MOST_CELLS)
        least = totals.size_indices.n_cells if fit_cells else most
        return cls(
            totals,
            PartitionLikelihood.of(totals.size_indices, least),
            LogUniqueProbability.of(totals.sample_size, totals.population_size),
            float(least),
            float(most),
            1 + fit_cells,
        )

    @property
    def lower(self) -> FloatArray:
        """Kγ = e^−100 in the largest table, and K the occupied cells."""
        return np.array([-100.0 - math.log(self.most_cells), math.log(self.least_cells)])

    @property
    def upper(self) -> FloatArray:
        """γ = 10⁴, where all cells are as good as equal, and K all possible cells."""
        return np.array([math.log(LARGEST_GAMMA), math.log(self.most_cells)])

    def starts(self) -> list[FloatArray]:
        """Kγ = u in all of the table and in a part of it, and a few cells of like probability.

        The likelihood may have a maximum in each of these corners.
        """
        least, most = math.log(self.least_cells), math.log(self.most_cells)
        occupied = math.log(self.totals.size_indices.n_cells)
        middle = least + min(most - least, 2.0)
        return [np.array([occupied - k, k]) for k in (middle, most)] + [np.array([2.0, middle])]

    def no_estimate_at(self, point: FloatArray) -> str | None:
        """Where γ is at its upper edge, as if all cells were equally probable."""
        return TOO_EVEN if point[0] >= self.upper[0] else None

    def distribution(self, point: FloatArray) -> DirichletUrn:
        """The urn at a point."""
        gamma, cells, totals = math.exp(point[0]), math.exp(point[1]), self.totals
        return DirichletUrn(
            -gamma, math.exp(point[0] + point[1]), totals.sample_size, totals.population_size, cells
        )
