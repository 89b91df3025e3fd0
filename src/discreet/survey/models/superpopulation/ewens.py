"""Ewens' sampling formula as a model of the population's cells.

The partition of the records has one parameter θ: P(sizes) = n!/θ^(n) ∏ (θ/j)^{s_j}/s_j! with
θ^(n) = θ(θ + 1)…(θ + n − 1) (Ewens 1972). The number of cells u is sufficient. Maximum likelihood
solves Σ θ/(θ + m) over m < n = u; the moment estimate makes the expected number of sample uniques,
nθ/(n − 1 + θ), equal to the observed one (takemura's figure). Both lead to
P(F = 1 given f = 1) = (θ + n − 1)/(θ + N − 1).
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.data.summary import SizeIndices, Summary
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray
from discreet.survey.models.contract import ModelUnavailable, Need
from discreet.survey.models.superpopulation.fitted import (
    CONFIDENCE,
    ByDelta,
    ByProfile,
    FittedSuperpopulation,
    Totals,
    census,
    check_confidence,
    fitted_point,
    usable,
)
from discreet.survey.models.superpopulation.partition_likelihood import (
    LogUniqueProbability,
    PartitionLikelihood,
    along_ewens,
    log_arrangements,
)
from discreet.survey.models.superpopulation.partition_urn import PartitionUrn
from discreet.survey.models.superpopulation.size_index_fit import Evaluation

ESTIMATORS = ("maximum_likelihood", "moments")
ALL_UNIQUE = (
    "every record of the sample is unique, so the likelihood rises without end as the number of "
    "cells grows; the sample gives no limit on it"
)
ONE_CELL = "all records lie in one cell, so the likelihood rises as the parameters go to their edge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ewens:
    """One parameter θ; `estimator` is 'maximum_likelihood' or 'moments'."""

    name: str = "ewens"
    assumption: str = (
        "The cells of the population arise as in Ewens' sampling formula, with few small cells "
        "for each large one, the sample is drawn at random, and all sample uniques are alike."
    )
    needs: frozenset[Need] = frozenset()
    estimator: str = "maximum_likelihood"
    confidence: float = CONFIDENCE

    def fit(self, summary: Summary) -> FittedSuperpopulation:
        """The fitted model; unavailable where the equation for θ has no solution."""
        return self.fit_totals(usable(summary))

    def fit_totals(self, totals: Totals) -> FittedSuperpopulation:
        """The same from totals already known to be usable."""
        check_confidence(self.confidence)
        if self.estimator not in ESTIMATORS:
            raise InputError(must_be("estimator", "among " + ", ".join(ESTIMATORS), self.estimator))
        if totals.is_population:
            return census(self.name, totals, self.confidence)
        check_two_kinds(totals.size_indices)
        return self._by_likelihood(totals) if self.estimator != "moments" else self._moments(totals)

    def _by_likelihood(self, totals: Totals) -> FittedSuperpopulation:
        family = EwensFamily.of(totals)
        start = np.array([math.log(max(totals.size_indices.n_cells - 1, 1))])
        point, best = fitted_point(family, [start], ALL_UNIQUE)
        return self._fitted(totals, math.exp(point[0]), best, ByProfile(family, point))

    def _moments(self, totals: Totals) -> FittedSuperpopulation:
        """θ from the sample uniques, and the delta method for its error."""
        theta = moment_estimate(totals.size_indices)
        family = EwensFamily.of(totals)
        point = np.array([math.log(theta)])
        log_q = family.log_unique_probability(point)
        error = abs(float(log_q.gradient[0])) * _log_theta_error(theta, totals.sample_size)
        best = family.log_likelihood(point).value
        return self._fitted(totals, theta, best, ByDelta(log_q.value, error))

    def _fitted(
        self, totals: Totals, theta: float, best: float, uncertainty: ByProfile | ByDelta
    ) -> FittedSuperpopulation:
        return FittedSuperpopulation(
            name=self.name,
            totals=totals,
            distribution=PartitionUrn(0.0, theta, totals.sample_size, totals.population_size),
            uncertainty=uncertainty,
            log_likelihood=best + log_arrangements(totals.size_indices),
            n_parameters=1,
            confidence=self.confidence,
            details={"estimator": self.estimator},
        )


def check_two_kinds(sizes: SizeIndices) -> None:
    """Raises ModelUnavailable where all records are unique or all lie in one cell."""
    if sizes.n_cells == sizes.sample_size:
        raise ModelUnavailable(ALL_UNIQUE)
    if sizes.n_cells == 1:
        raise ModelUnavailable(ONE_CELL)


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
class EwensFamily:
    """The distributions of all θ, in the coordinate log θ."""

    totals: Totals
    likelihood: PartitionLikelihood
    uniqueness: LogUniqueProbability

    @classmethod
    def of(cls, totals: Totals) -> "EwensFamily":
        """Those for the size indices of a sample."""
        return cls(
            totals,
            PartitionLikelihood.of(totals.size_indices),
            LogUniqueProbability.of(totals.sample_size, totals.population_size),
        )

    @property
    def lower(self) -> FloatArray:
        """θ = e^−200."""
        return np.array([-200.0])

    @property
    def upper(self) -> FloatArray:
        """θ = e^60, a thousand billion times the people there are."""
        return np.array([60.0])

    def log_likelihood(self, point: FloatArray) -> Evaluation:
        """Of the cell sizes, up to a constant."""
        return along_ewens(self.likelihood, point)

    def log_unique_probability(self, point: FloatArray) -> Evaluation:
        """log (θ + n − 1)/(θ + N − 1)."""
        return along_ewens(self.uniqueness, point)

    def distribution(self, point: FloatArray) -> PartitionUrn:
        """The urn at a point."""
        totals = self.totals
        return PartitionUrn(0.0, math.exp(point[0]), totals.sample_size, totals.population_size)
