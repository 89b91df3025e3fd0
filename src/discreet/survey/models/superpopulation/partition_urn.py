"""How the cells of a sample grow to those of the population under Pitman's partition, exactly.

Given the sample, a cell of f records takes X of the M = N − n records to come, and X is
beta-binomial (M; f − α, θ + n − f + α). So j given sample uniques all stay alone with probability
∏ (1 − j(1 − α)/(θ + m)) over n ≤ m < N, and the mean and the variance of the number of population
uniques among the sample uniques are closed forms. Nothing here is asymptotic in n or N.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import FloatArray
from discreet.numerics.gamma_ratio import log_gamma_ratio
from discreet.numerics.integer_sums import ORDER, STRIDE, integer_nodes, joined

MANY = 100  # sample count from which Gauss quadrature of the beta-binomial is exact enough
REACH = 40.0  # what lies beyond has a probability of about exp(−REACH)


@dataclass(frozen=True, slots=True)
class PartitionUrn:
    """The distribution of the population given the sample, at given α and θ.

    Trusted: n ≥ 1, N ≥ n, and θ + iα > 0 for every number i of cells below that of the sample.
    """

    alpha: float
    theta: float
    sample_size: int
    population_size: int

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """α and θ."""
        return {"alpha": self.alpha, "theta": self.theta}

    @property
    def unseen(self) -> int:
        """M = N − n."""
        return self.population_size - self.sample_size

    @property
    def unique_probability(self) -> float:
        """P(F = 1 given f = 1) = ∏ (1 − (1 − α)/(θ + m)) over n ≤ m < N."""
        t, w = integer_nodes(self.sample_size, self.population_size)
        return math.exp(float(w @ np.log1p((self.alpha - 1) / (self.theta + t))))

    def uniques_variance(self, sample_uniques: int) -> float:
        """Variance of the number of population uniques among so many sample uniques.

        P(both of two stay alone) / P(one does)² is the product of 1 − ((1 − α)/(θ + m − 1 + α))².
        """
        s, q = sample_uniques, self.unique_probability
        alone = s * q * (1 - q)
        if s < 2 or not self.unseen:
            return alone
        t, w = integer_nodes(self.sample_size, self.population_size)
        share = (1 - self.alpha) / (self.theta + t - 1 + self.alpha)
        with np.errstate(divide="ignore"):  # two of two cells cannot both stay alone: log 0
            joint = math.expm1(float(w @ np.log1p(-(np.minimum(share, 1.0) ** 2))))
        return max(0.0, alone + s * (s - 1) * q * q * joint)

    def inverse_moments(self, sample_count: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E(1/F given f) and E(1/F² given f) for each sample count.

        A sum over the beta-binomial distribution: by blocks of integers up to MANY records, by
        Gauss quadrature for that distribution (Hahn polynomials) above."""
        f = np.asarray(sample_count, dtype=np.float64)
        if not self.unseen:
            return 1 / f, 1 / f**2
        moments = np.empty((2, len(f)))
        many = f >= MANY
        moments[:, many] = self._by_gauss(f[many])
        for place in np.flatnonzero(~many):
            moments[:, place] = self._by_blocks(float(f[place]))
        return moments[0], moments[1]

    def _by_blocks(self, f: float) -> tuple[float, float]:
        """Both moments of 1/F by a sum over blocks of integers, normalised by the same sum."""
        a, b, M = f - self.alpha, self.theta + self.sample_size - f + self.alpha, self.unseen
        x, w = joined(_blocks(a, b, M))
        log_mass = log_gamma_ratio(x + 1, a - 1) + log_gamma_ratio(M - x + 1, b - 1)
        mass = w * np.exp(log_mass - log_mass.max())
        inverse = 1 / (f + x)
        total = float(mass.sum())
        return float(mass @ inverse) / total, float(mass @ inverse**2) / total

    def _by_gauss(self, f: FloatArray) -> FloatArray:
        """Both moments of 1/F from nodes at the zeros of Hahn polynomials, one row a cell."""
        a, M = f - self.alpha, self.unseen
        total = self.theta + self.sample_size
        order = min(ORDER, M + 1)
        k = np.arange(order)[:, None]
        up = (k + total - 1) * (k + a) * (M - k) / ((2 * k + total - 1) * (2 * k + total))
        below = np.maximum(2 * k + total - 2, 1e-300)
        down = k * (k + total - 1 + M) * (k + total - a - 1) / (below * (2 * k + total - 1))
        matrix = np.zeros((len(f), order, order))
        place = np.arange(order)
        matrix[:, place, place] = (up + down).T
        beside = np.sqrt(np.maximum(up[:-1] * down[1:], 0.0)).T
        matrix[:, place[1:], place[:-1]] = matrix[:, place[:-1], place[1:]] = beside
        nodes, vectors = np.linalg.eigh(matrix)
        inverse, weight = 1 / (f[:, None] + nodes), vectors[:, 0, :] ** 2
        return np.stack([(weight * inverse).sum(axis=1), (weight * inverse**2).sum(axis=1)])

    def expected_cells(self, sizes: FloatArray) -> FloatArray:
        """Expected number of sample cells of each size.

        C(n, j) (1 − α)_(j−1) (θ + α)_(n−j) / (θ + 1)_(n−1), with (x)_k = x(x + 1)…(x + k − 1).
        """
        j, n, alpha, theta = np.asarray(sizes, dtype=np.float64), self.sample_size, *self._pair
        choices = log_gamma_ratio(n - j + 1, j) - log_gamma_ratio(1.0, j)
        inside = log_gamma_ratio(1 - alpha, j - 1)
        outside = _log_rising(theta + alpha, n - j) - _log_rising(theta + 1, n - 1.0)
        expected: FloatArray = np.exp(choices + inside + outside)
        return expected

    @property
    def _pair(self) -> tuple[float, float]:
        return self.alpha, self.theta


def _log_rising(x: float, steps: FloatArray | float) -> FloatArray:
    """log x(x + 1)…(x + k − 1), for x ≥ 0; −∞ at x = 0 with k > 0 cannot matter to a sum."""
    return log_gamma_ratio(max(x, 1e-300), steps)


def _blocks(a: float, b: float, unseen: int) -> list[tuple[int, int]]:
    """Blocks of integers from 0 to where the beta-binomial distribution ends, or has next to
    nothing left.

    A block is no longer than its distance from either end, nor than the distribution's own scale.
    """
    mean = unseen * a / (a + b)
    deviation = math.sqrt(mean * b / (a + b) * (a + b + unseen) / (a + b + 1))
    scale = max(1.0, deviation * deviation / mean)
    widest = 1.5 * max(deviation, scale)
    end = int(min(unseen, mean + 10 * deviation + REACH * scale)) + 1
    blocks, here = [], 0
    while here < end:
        free = int(max(STRIDE, min(here, unseen - here, widest)))
        length = min(1 << (free.bit_length() - 1), end - here)
        blocks.append((here, length))
        here += length
    return blocks
