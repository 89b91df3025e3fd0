"""The slide negative binomial model of Chen and Keller-McNulty (1998).

Every one of K occupied cells of the population holds F = 1 + Y people, Y negative binomial with
shape `shape` and mean `excess`. K is not the number of possible cells: K (1 + excess) = N. Each
person is in the sample with probability π, so f = B + T with B Bernoulli (π) and T negative
binomial of the same shape with mean π·excess, and

    p_j = (1 − π) g_j + π g_(j−1),   g the distribution of T.

Given f, the sample holds the one person that the slide adds with probability w = π g_(f−1)/p_f; the
rest of Y is then negative binomial with shape `shape` + f − 1, else with shape `shape` + f and one
person more. Fitted by maximum likelihood on all size indices; Chen and Keller-McNulty solved for
two of them and took K from elsewhere.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from discreet.numerics.arrays import FloatArray
from discreet.numerics.gamma_ratio import log_gamma_ratio
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.model import (
    ALL_UNIQUE,
    LikelihoodModel,
    check_two_kinds,
)
from discreet.survey.models.superpopulation.poisson_mixture import (
    TOO_EVEN,
    MixtureFamily,
    inverse_moments,
)

LARGEST_SHAPE = 1e4  # no sample tells such cells from Poisson ones
LARGE_SHAPE = 64.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NegativeBinomial(LikelihoodModel):
    """The slide negative binomial model: two parameters."""

    name: str = "negative_binomial"
    assumption: str = (
        "Every occupied cell of the population holds one person and a negative binomial number of "
        "others, the same for all cells, the sample is drawn at random, and all sample uniques are "
        "alike."
    )

    def family(self, totals: Totals) -> "SlideFamily":
        """All shapes and excesses."""
        check_two_kinds(totals.size_indices)
        return SlideFamily(totals)


@dataclass(frozen=True, slots=True)
class SlideDistribution:
    """The population given the sample, with `shape` and `excess` known.

    Trusted: both positive, 0 < π < 1.
    """

    shape: float
    excess: float
    totals: Totals

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """Shape, mean excess over one, and the number of occupied cells they imply."""
        return {"shape": self.shape, "excess": self.excess, "population_cells": self.cells}

    @property
    def cells(self) -> float:
        """K = N / (1 + excess)."""
        return self.totals.population_size / (1 + self.excess)

    @property
    def fraction(self) -> float:
        """π = n/N."""
        return self.totals.sampling_fraction

    @property
    def unseen_odds(self) -> float:
        """z/(1 − z), the mean of the unseen part of Y for each unit of its shape."""
        return (1 - self.fraction) * self.excess / (self.shape + self.fraction * self.excess)

    @property
    def log_missed(self) -> float:
        """log g_0."""
        return -self.shape * math.log1p(self.fraction * self.excess / self.shape)

    @property
    def second_moment(self) -> float:
        """E(f²) of a sample count."""
        mean = self.fraction * self.excess
        variance = mean + mean * mean / self.shape + self.fraction * (1 - self.fraction)
        return variance + (self.fraction * (1 + self.excess)) ** 2

    def _log_parts(self, j: FloatArray) -> tuple[FloatArray, FloatArray]:
        """log (1 − π) g_j and log π g_(j−1) for j ≥ 1; g_j/g_(j−1) = odds (shape + j − 1)/j."""
        mean, fraction = self.fraction * self.excess, self.fraction
        log_odds = -math.log1p(self.shape / mean)
        log_g = _log_choices(self.shape, j) + (j * log_odds + self.log_missed)
        before = log_g + (np.log(j / (self.shape + (j - 1))) - log_odds)
        return log_g + math.log1p(-fraction), before + math.log(fraction)

    def log_probability(self, sizes: FloatArray) -> FloatArray:
        """log p_j for j ≥ 1."""
        return np.logaddexp(*self._log_parts(np.asarray(sizes, dtype=np.float64)))

    @property
    def occupied(self) -> float:
        """1 − p_0, the share of cells in the sample."""
        return -math.expm1(math.log1p(-self.fraction) + self.log_missed)

    def slide_seen(self, sample_count: FloatArray) -> FloatArray:
        """w, the probability that the person the slide adds is in the sample."""
        without, added = self._log_parts(sample_count)
        seen: FloatArray = 1 / (1 + np.exp(without - added))
        return seen

    @property
    def log_unique_probability(self) -> float:
        """log w(1 − z)^shape: the slide's person is the one in the sample, and Y is 0.

        With o the unseen odds, w = 1/(1 + shape·o) at f = 1 and 1 − z = 1/(1 + o).
        """
        odds = self.unseen_odds
        return -math.log1p(self.shape * odds) - self.shape * math.log1p(odds)

    @property
    def unique_probability(self) -> float:
        """P(F = 1 given f = 1)."""
        return math.exp(self.log_unique_probability)

    def uniques_variance(self, sample_uniques: int) -> float:
        """Cells are independent."""
        q = self.unique_probability
        return sample_uniques * q * (1 - q)

    def inverse_moments(self, sample_count: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E(1/F given f) and E(1/F² given f), by the transform of F."""
        f = np.asarray(sample_count, dtype=np.float64)
        mean = 1 + f + (self.shape + f) * self.unseen_odds
        return inverse_moments(f, mean, self._log_transform)

    def _log_transform(self, f: FloatArray, x: FloatArray) -> FloatArray:
        """log E(e^(−(F − f)x) given f), rows cells, columns x."""
        seen = self.slide_seen(f)[:, None]
        base = np.log1p(self.unseen_odds * -np.expm1(-x))  # −log E of a unit of shape
        with_it = -(self.shape + f[:, None] - 1) * base
        without = -(self.shape + f[:, None]) * base - x
        return np.logaddexp(np.log(seen) + with_it, np.log1p(-seen) + without)

    def expected_cells(self, sizes: FloatArray) -> FloatArray:
        """K p_j."""
        expected: FloatArray = self.cells * np.exp(self.log_probability(sizes))
        return expected


def _log_choices(shape: float, j: FloatArray) -> FloatArray:
    """log Γ(shape + j) / (Γ(shape) j!), as a ratio of large numbers or of small steps."""
    if shape > LARGE_SHAPE:
        return log_gamma_ratio(shape, j) - gammaln(j + 1)
    return log_gamma_ratio(j + 1, shape - 1) - math.lgamma(shape)


@dataclass(frozen=True, slots=True)
class SlideFamily(MixtureFamily):
    """The distributions of all shapes and excesses, in the coordinates of their logarithms."""

    @property
    def lower(self) -> FloatArray:
        """Both 10⁻¹⁰."""
        return np.log([1e-10, 1e-10])

    @property
    def upper(self) -> FloatArray:
        """A shape of 10⁴, where Y is as good as Poisson, and all people in one cell."""
        return np.array([math.log(LARGEST_SHAPE), math.log(float(self.totals.population_size))])

    def starts(self) -> list[FloatArray]:
        """The best of a few pairs."""
        shapes = np.log([0.01, 0.1, 0.5, 2.0])
        excesses = np.log(np.array([0.1, 1.0, 10.0, 100.0]))
        pairs = [np.array([a, b]) for a in shapes for b in excesses]
        return [max(pairs, key=self.value)]

    def no_estimate_at(self, point: FloatArray) -> str | None:
        """Where Y is as good as Poisson, or no cell holds a second person."""
        if point[0] >= self.upper[0]:
            return TOO_EVEN
        return ALL_UNIQUE if point[1] <= self.lower[1] else None

    def distribution(self, point: FloatArray) -> SlideDistribution:
        """The distribution at a point."""
        return SlideDistribution(math.exp(point[0]), math.exp(point[1]), self.totals)
