"""Ewens' sampling formula as a model of the population's cells.

The partition of the records has one parameter θ: P(sizes) = n!/θ^(n) ∏ (θ/j)^{s_j}/s_j! with
θ^(n) = θ(θ + 1)…(θ + n − 1) (Ewens 1972). The number of cells u is sufficient. Maximum likelihood
solves Σ θ/(θ + m) over m < n = u; the moment estimate makes the expected number of sample uniques,
nθ/(n − 1 + θ), equal to the observed one (takemura's figure). Both lead to
P(F = 1 given f = 1) = (θ + n − 1)/(θ + N − 1).
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.data.summary import SizeIndices
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.fitted import (
    ByDelta,
    FittedSuperpopulation,
    Totals,
)
from discreet.survey.models.superpopulation.model import (
    ALL_UNIQUE,
    LikelihoodModel,
    check_two_kinds,
)
from discreet.survey.models.superpopulation.partition_family import PartitionFamily
from discreet.survey.models.superpopulation.partition_likelihood import along_ewens
from discreet.survey.models.superpopulation.partition_urn import PartitionUrn

ESTIMATORS = ("maximum_likelihood", "moments")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ewens(LikelihoodModel):
    """One parameter θ; `estimator` is 'maximum_likelihood' or 'moments'."""

    name: str = "ewens"
    assumption: str = (
        "The cells of the population arise as in Ewens' sampling formula, with few small cells "
        "for each large one, the sample is drawn at random, and all sample uniques are alike."
    )
    estimator: str = "maximum_likelihood"

    def check(self) -> None:
        """Raises InputError for an estimator that there is not."""
        LikelihoodModel.check(self)
        if self.estimator not in ESTIMATORS:
            raise InputError(must_be("estimator", "among " + ", ".join(ESTIMATORS), self.estimator))

    def family(self, totals: Totals) -> "EwensFamily":
        """All θ."""
        check_two_kinds(totals.size_indices)
        return EwensFamily.of(totals)

    def fit_part(self, totals: Totals) -> FittedSuperpopulation:
        """By maximum likelihood or by moments."""
        moments = self.estimator == "moments"
        fitted = self._by_moments(totals) if moments else LikelihoodModel.fit_part(self, totals)
        return replace(fitted, details={"estimator": self.estimator})

    def _by_moments(self, totals: Totals) -> FittedSuperpopulation:
        """θ from the sample uniques, and the delta method for its error."""
        family = self.family(totals)
        theta = moment_estimate(totals.size_indices)
        point = np.array([math.log(theta)])
        log_q = family.log_unique_probability(point)
        error = abs(float(log_q.gradient[0])) * _log_theta_error(theta, totals.sample_size)
        return FittedSuperpopulation(
            name=self.name,
            totals=totals,
            distribution=PartitionUrn(0.0, theta, totals.sample_size, totals.population_size),
            uncertainty=ByDelta(log_q.value, error),
            log_likelihood=family.log_likelihood(point).value + family.log_constant(point),
            n_parameters=family.n_parameters,
            confidence=self.confidence,
        )


def moment_estimate(sizes: SizeIndices) -> float:
    """θ = s(n − 1)/(n − s), at which s sample uniques are expected.

    Raises ModelUnavailable where there are none, or nothing else.
    """
    n, s = sizes.sample_size, sizes.sample_uniques
    if s == 0:
        raise ModelUnavailable("without sample uniques the moment equation has no solution above 0")
    if s == n:
        raise ModelUnavailable(ALL_UNIQUE)
    return s * (n - 1) / (n - s)


def _log_theta_error(theta: float, n: int) -> float:
    """Standard error of log θ of the moment estimate, from the variance of the sample uniques.

    E(s) = nθ/(θ + n − 1) and E(s(s − 1)) = n(n − 1)θ²/((θ + n − 1)(θ + n − 2)).
    """
    mean = n * theta / (theta + n - 1)
    pairs = mean * (n - 1) * theta / (theta + n - 2)
    variance = max(0.0, pairs + mean - mean * mean)
    return math.sqrt(variance) / (mean * (n - 1) / (theta + n - 1))


@dataclass(frozen=True, slots=True)
class EwensFamily(PartitionFamily):
    """The distributions of all θ, in the coordinate log θ."""

    along = along_ewens
    n_parameters: ClassVar[int] = 1
    no_maximum: ClassVar[str] = ALL_UNIQUE

    @property
    def lower(self) -> FloatArray:
        """θ = e^−200."""
        return np.array([-200.0])

    @property
    def upper(self) -> FloatArray:
        """θ = e^60, a thousand billion times the people there are."""
        return np.array([60.0])

    def starts(self) -> list[FloatArray]:
        """θ = u − 1."""
        return [np.array([math.log(max(self.totals.size_indices.n_cells - 1, 1))])]

    def distribution(self, point: FloatArray) -> PartitionUrn:
        """The urn at a point."""
        totals = self.totals
        return PartitionUrn(0.0, math.exp(point[0]), totals.sample_size, totals.population_size)
