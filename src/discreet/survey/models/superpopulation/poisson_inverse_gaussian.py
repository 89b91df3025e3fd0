"""The Poisson–inverse Gaussian model of Carlson (2002).

Each of K cells of the population has a Poisson number of people whose mean λ is drawn from one
inverse Gaussian distribution with E(λ) = N/K and a squared coefficient of variation 1/ω, heavier in
its tail than the gamma distribution of `poisson_gamma`. Each person is in the sample with
probability π. With μ = N/K and y = √(ω² + 2πωμ),

    p_0 = e^(ω − y),    p_j = p_0 (πμω/y)^j K_(j−½)(y) / (j! K_½(y)),

and given f the mean λ is generalised inverse Gaussian of order f − ½, so that the transform of F
is a ratio of the same Bessel functions and P(F = 1 given f = 1) a closed form.

K is fitted too, up to the number of possible cells: how many of those can be occupied at all is
seldom known. So the model has two parameters, K and ω.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import FloatArray
from discreet.numerics.bessel import log_scaled_bessel
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.model import (
    LikelihoodModel,
    check_room,
    check_two_kinds,
)
from discreet.survey.models.superpopulation.poisson_mixture import (
    TOO_EVEN,
    MixtureFamily,
    inverse_moments,
)

MOST_CELLS = 1e100
LARGEST_EVENNESS = 1e4  # no sample tells such means from equal ones


@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonInverseGaussian(LikelihoodModel):
    """Two parameters: the number of cells and the evenness ω of their means."""

    name: str = "poisson_inverse_gaussian"
    assumption: str = (
        "The people of each cell are a Poisson number whose mean is drawn from one inverse "
        "Gaussian distribution for all cells, the sample is drawn at random, and all sample "
        "uniques are alike."
    )

    def family(self, totals: Totals) -> "InverseGaussianFamily":
        """All K and ω."""
        check_two_kinds(totals.size_indices)
        check_room(totals)
        return InverseGaussianFamily(totals)


@dataclass(frozen=True, slots=True)
class InverseGaussianDistribution:
    """The population given the sample, with K and ω known. Trusted: both positive, 0 < π < 1."""

    cells: float
    evenness: float
    totals: Totals

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """K and ω."""
        return {"cells": self.cells, "evenness": self.evenness}

    @property
    def mean(self) -> float:
        """μ = N/K."""
        return self.totals.population_size / self.cells

    @property
    def fraction(self) -> float:
        """π = n/N."""
        return self.totals.sampling_fraction

    @property
    def second_moment(self) -> float:
        """E(f²) of a sample count."""
        mean = self.fraction * self.mean
        return mean + mean * mean * (1 + 1 / self.evenness)

    def _argument(self, weight: FloatArray | float) -> FloatArray:
        """√(ω² + 2·weight·ωμ), the argument of the Bessel functions."""
        return np.sqrt(self.evenness * (self.evenness + 2 * np.asarray(weight) * self.mean))

    @property
    def log_missed(self) -> float:
        """log p_0 = ω − y, without cancellation."""
        y = float(self._argument(self.fraction))
        return -2 * self.fraction * self.evenness * self.mean / (self.evenness + y)

    @property
    def occupied(self) -> float:
        """1 − p_0, the share of cells in the sample."""
        return -math.expm1(self.log_missed)

    def log_probability(self, sizes: FloatArray) -> FloatArray:
        """log p_j for j ≥ 1."""
        j = np.asarray(sizes, dtype=np.float64)
        y = float(self._argument(self.fraction))
        bessel = log_scaled_bessel(j, np.array([y]))[:, 0]
        fall = math.log1p(self.evenness / (2 * self.fraction * self.mean))
        start = self.log_missed + y + math.log(y) - 0.5 * math.log(math.pi)
        log_p: FloatArray = bessel - j * fall + start
        return log_p

    @property
    def log_unique_probability(self) -> float:
        """log y/y₁ + y − y₁ with y₁ the argument at weight 1."""
        seen, all_ = float(self._argument(self.fraction)), float(self._argument(1.0))
        unseen = 2 * (1 - self.fraction) * self.evenness * self.mean
        return math.log(seen / all_) - unseen / (seen + all_)

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
        return inverse_moments(f, f / self.fraction + self.mean, self._log_transform)

    def _log_transform(self, f: FloatArray, x: FloatArray) -> FloatArray:
        """log E(e^(−(F − f)x) given f): (y/y′)^(f−½) K_(f−½)(y′)/K_(f−½)(y).

        y′² = y² + 2ωμ(1 − π)(1 − e^(−x)).
        """
        unseen = -(1 - self.fraction) * np.expm1(-x)
        arguments = self._argument(np.append(self.fraction + unseen, self.fraction))
        values = log_scaled_bessel(f, arguments)
        growth = np.log1p(2 * self.evenness * self.mean * unseen / arguments[-1] ** 2)
        ratio: FloatArray = values[:, :-1] - values[:, -1:] - (f - 0.5)[:, None] * growth
        return ratio

    def expected_cells(self, sizes: FloatArray) -> FloatArray:
        """K p_j."""
        expected: FloatArray = np.exp(math.log(self.cells) + self.log_probability(sizes))
        return expected


@dataclass(frozen=True, slots=True)
class InverseGaussianFamily(MixtureFamily):
    """The distributions of all K and ω, in the coordinates of their logarithms."""

    @property
    def lower(self) -> FloatArray:
        """K the occupied cells of the sample, and ω = e^−230."""
        return np.array([math.log(self.totals.size_indices.n_cells), -230.0])

    @property
    def upper(self) -> FloatArray:
        """K all possible cells, and ω = 10⁴, where all means are as good as equal."""
        cells = float(min(self.totals.n_table_cells, int(MOST_CELLS)))
        return np.array([math.log(cells), math.log(LARGEST_EVENNESS)])

    def starts(self) -> list[FloatArray]:
        """The best of a few pairs."""
        low, high = float(self.lower[0]), float(self.upper[0])
        numbers = [low + share * min(high - low, 10.0) for share in (0.1, 0.4, 1.0)] + [high]
        pairs = [np.array([k, w]) for k in numbers for w in np.arange(-12.0, 3.0, 2.0)]
        return [max(pairs, key=self.value)]

    def no_estimate_at(self, point: FloatArray) -> str | None:
        """Where all means are as good as equal."""
        return TOO_EVEN if point[1] >= self.upper[1] else None

    def distribution(self, point: FloatArray) -> InverseGaussianDistribution:
        """The distribution at a point."""
        return InverseGaussianDistribution(math.exp(point[0]), math.exp(point[1]), self.totals)
