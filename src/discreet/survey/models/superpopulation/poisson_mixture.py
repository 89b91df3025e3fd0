"""Cells with independent Poisson counts: likelihood of size indices, 1/F by a transform.

The population holds K cells whose counts F are drawn independently from one distribution with mean
N/K, and each person is in the sample with probability π = n/N. If p_j is then the probability of f
= j, the numbers s_j of sample cells of size j ≥ 1 are about Poisson with means K p_j (K is large),
so that

    ℓ = Σ s_j log(K p_j) − K(1 − p_0).

The sample size is right on average by the choice of K. To compare such a model with a distribution
of partitions of n records, ℓ is taken given n: less log P(Σ j s_j = n), about −½ log(2π K E(f²)).

E(1/F) = ∫₀^∞ E(e^(−Fx)) dx and E(1/F²) = ∫₀^∞ x E(e^(−Fx)) dx. With x = e^v both integrands are
analytic within π/2 of the real line and vanish at both ends, so equal steps in v give all digits.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import gammaln

from discreet.data.summary import SizeIndices
from discreet.numerics.arrays import FloatArray
from discreet.survey.models.superpopulation.fitted import Distribution, Totals
from discreet.survey.models.superpopulation.size_index_fit import Evaluation, numerical

STEP = 0.2  # exp(−π²/STEP) is below 1e-21
LEAST = 1e-17  # share of the integral that may be left out at small x

TOO_EVEN = (
    "the cells are no more uneven than Poisson numbers of one mean, so the likelihood rises "
    "without end"
)
Transform = Callable[[FloatArray, FloatArray], FloatArray]


class MixtureDistribution(Distribution, Protocol):
    """The population given the sample, its cells independent."""

    @property
    def cells(self) -> float:
        """K."""

    @property
    def occupied(self) -> float:
        """1 − p_0, the share of cells in the sample."""

    @property
    def second_moment(self) -> float:
        """E(f²) of a sample count."""

    @property
    def log_unique_probability(self) -> float:
        """log P(F = 1 given f = 1)."""

    def log_probability(self, sizes: FloatArray) -> FloatArray:
        """log p_j for j ≥ 1."""


@dataclass(frozen=True, slots=True)
class MixtureFamily:
    """What such models share once `distribution` says what they are at a point."""

    totals: Totals

    n_parameters: ClassVar[int] = 2
    no_maximum: ClassVar[str] = TOO_EVEN

    def distribution(self, point: FloatArray) -> MixtureDistribution:
        """The distribution at a point."""
        raise NotImplementedError  # every model has its own

    def value(self, point: FloatArray) -> float:
        """The log-likelihood of the size indices."""
        distribution, sizes = self.distribution(point), self.totals.size_indices
        log_p = distribution.log_probability(sizes.sizes.astype(np.float64))
        return mixture_log_likelihood(sizes, log_p, distribution.cells, distribution.occupied)

    def log_likelihood(self, point: FloatArray) -> Evaluation:
        """The same with its derivatives."""
        return numerical(self.value)(point)

    def log_unique_probability(self, point: FloatArray) -> Evaluation:
        """Of a sample unique."""
        return numerical(lambda p: self.distribution(p).log_unique_probability)(point)

    def log_constant(self, point: FloatArray) -> float:
        """−log P(n): the sample size is random here, and is taken as given."""
        distribution = self.distribution(point)
        return -log_chance_of_size(distribution.cells, distribution.second_moment)

    def remark(self, point: FloatArray) -> str | None:
        """None."""
        return None


def mixture_log_likelihood(
    sizes: SizeIndices, log_probability: FloatArray, cells: float, occupied: float
) -> float:
    """Σ log Poisson(s_j; K p_j) over all sizes.

    `log_probability` is log p_j at each size that occurs, `occupied` the share 1 − p_0 of the
    `cells` K that the sample is expected to touch.
    """
    seen = sizes.cells.astype(np.float64)
    each = seen @ (log_probability + math.log(cells)) - float(gammaln(seen + 1).sum())
    return float(each) - cells * occupied


def log_chance_of_size(cells: float, second_moment: float) -> float:
    """log P(Σ j s_j = n) when n is its mean, by the normal distribution of variance K E(f²)."""
    return -0.5 * math.log(2 * math.pi * max(cells * second_moment, 1 / (2 * math.pi)))


def inverse_moments(
    sample_count: FloatArray, mean: FloatArray, log_transform: Transform
) -> tuple[FloatArray, FloatArray]:
    """E(1/F given f) and E(1/F² given f) for each sample count, from log E(e^(−(F − f)x)).

    `mean` is about E(F given f); it only sets where the integral may begin.
    """
    f = np.asarray(sample_count, dtype=np.float64)
    if not len(f):
        return np.empty(0), np.empty(0)
    start = math.log(LEAST / float(mean.max()))
    v = np.arange(start, math.log(50.0 / float(f.min())), STEP)
    x = np.exp(v)
    value = np.exp(log_transform(f, x) - f[:, None] * x) * (x * STEP)
    return value.sum(axis=1), (value * x).sum(axis=1)
