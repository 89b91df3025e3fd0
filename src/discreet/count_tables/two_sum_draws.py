"""Independent draws of count tables with a given n and S1, whose weight is a product over cells.

B_j(m, s) is the weight of all tables of values 0 … j with m observations and total s:

    B_1(m, s) = w_1(s) w_0(m − s),    B_j(m, s) = Σ_f w_j(f) B_{j−1}(m − f, s − j f)

Draws go from the largest value down, f_j with the probability of its term in that sum. Weights are
scaled to probabilities of cells whose means meet n and S1, so that floats hold them.
"""

from dataclasses import dataclass

import numpy as np

from discreet.clock import work
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.progress import heed

MOST_ENTRIES = 30_000_000  # of all layers, eight bytes each
TERM_SECONDS = 1.5e-9  # a term of a sum, multiplied and added
CHOICE_SECONDS = 2.5e-8  # a value that a draw may take, weighed


@dataclass(frozen=True, slots=True)
class TwoSumDistribution:
    """Layers B_1, B_2, …, from which tables are drawn; `log_total` is log B_J(n, S1)."""

    n: int
    total: int
    weights: FloatArray
    layers: tuple[FloatArray, ...]

    @property
    def log_total(self) -> float:
        """The logarithm of the weight of all tables, −∞ where there is none."""
        with np.errstate(divide="ignore"):
            return float(np.log(self.layers[-1][self.n, self.total]))

    def draw(self, n_draws: int, *, rng: np.random.Generator) -> IntArray:
        """Independent tables (draws × cells); trusted: there is one."""
        largest = len(self.weights) - 1
        tables = np.zeros((n_draws, largest + 1), dtype=np.int64)
        m, s = np.full(n_draws, self.n), np.full(n_draws, self.total)
        for j in range(largest, 1, -1):
            heed()
            f = self._drawn(j, m, s, rng)
            tables[:, j] = f
            m, s = m - f, s - j * f
        tables[:, 1], tables[:, 0] = s, m - s
        return tables

    def _drawn(self, j: int, m: IntArray, s: IntArray, rng: np.random.Generator) -> IntArray:
        """f_j of each draw, from the states before it."""
        before = self.layers[j - 2]
        f = np.arange(int(np.minimum(m, s // j).max()) + 1)
        left_m, left_s = m[:, None] - f, s[:, None] - j * f
        work(CHOICE_SECONDS * left_m.size)
        allowed = (left_m >= 0) & (left_s >= 0)
        mass = before[np.where(allowed, left_m, 0), np.where(allowed, left_s, 0)]
        summed = np.cumsum(np.where(allowed, mass * self.weights[j, f], 0.0), axis=1)
        point = rng.random(len(m)) * summed[:, -1]
        found: IntArray = np.minimum((summed <= point[:, None]).sum(axis=1), len(f) - 1)
        return found


def two_sum_distribution(n: int, total: int, weights: FloatArray) -> TwoSumDistribution:
    """The distribution of tables with these two sums; weights[j, f] is w_j(f), for f = 0 … n.

    Raises BudgetExceeded where the layers do not fit.
    """
    largest = len(weights) - 1
    if (n + 1) * (total + 1) * max(1, largest) > MOST_ENTRIES:
        raise BudgetExceeded(
            f"tables of {n:,} counts with a total of {total:,} are too many to draw"
        )
    layers = [_first(n, total, weights)]
    for j in range(2, largest + 1):
        heed()
        layers.append(_next(layers[-1], weights[j], j))
    return TwoSumDistribution(n, total, weights, tuple(layers))


def _first(n: int, total: int, weights: FloatArray) -> FloatArray:
    """B_1: as many ones as the total, and zeros for the rest."""
    m, s = np.arange(n + 1)[:, None], np.arange(total + 1)[None, :]
    zeros, ones = m - s, np.minimum(s, n)
    found: FloatArray = weights[1, ones] * weights[0, np.maximum(zeros, 0)]
    return np.where(zeros >= 0, found, 0.0)


def _next(before: FloatArray, weights: FloatArray, j: int) -> FloatArray:
    n, total = before.shape[0] - 1, before.shape[1] - 1
    found = np.zeros_like(before)
    work(TERM_SECONDS * before.size * (min(n, total // j) + 1))
    for f in range(min(n, total // j) + 1):
        if weights[f] > 0:
            found[f:, j * f :] += weights[f] * before[: n + 1 - f, : total + 1 - j * f]
    return found
