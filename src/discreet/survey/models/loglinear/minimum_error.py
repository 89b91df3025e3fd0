"""Is a log-linear model too simple or too rich for τ? The criterion of Skinner and Shlomo.

For sampling fraction π let h(μ) be the risk of a sample unique whose cell has the fitted sample
mean μ: h = e^(−cμ) for τ₁ and (1 − e^(−cμ)) / (cμ) for τ₂, with c = (1 − π)/π, so that cμ is the
mean number of unseen people. A wrong μ̂ moves τ̂ by B = Σ P(f_k = 1)·{h(μ̂_k) − h(μ_k)}. A Taylor
expansion to second order in μ_k − μ̂_k, and the unbiased estimates f − μ̂ of μ − μ̂ and
(f − μ̂)² − f of its square, give

    B̂ = Σ_k  a(μ̂)·(f − μ̂) + b(μ̂)·{(f − μ̂)² − f},      v = Σ_k a²μ̂ + 2b²μ̂²

over all cells, empty ones too; v is the variance of B̂ if the model is true (f Poisson: its third
central moment is μ, so the two parts are uncorrelated). The form of Skinner and Shlomo (2008),
derived again here, expands around the truth and then puts μ̂ for μ:

    a = −μ·e^(−μ)·h′,       b = μ·e^(−μ)·h″ / 2.

B̂ well above 0 says that the model is too simple and τ̂ too high, B̂ well below 0 that it is too
rich and τ̂ too low; |B̂| / √v beyond 2 is more than chance.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import factorial

import numpy as np

from discreet.numerics.arrays import CountArray, FloatArray

Function = Callable[[FloatArray], FloatArray]
BLOCK = 1 << 13  # cells worked on at once: their arrays stay in the processor's cache
SERIES = [1 / factorial(k) for k in range(20, 2, -1)]  # of P(3, x), the last term first


@dataclass(frozen=True, slots=True)
class MinimumError:
    """B̂ and its standard error √v under the model."""

    bias: float
    standard_error: float

    @property
    def standardised(self) -> float:
        """B̂ / √v; 0 where both are 0, as in a sample that is the whole population."""
        return self.bias / self.standard_error if self.standard_error > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Criterion:
    """The functions a and b of μ for one risk measure at one sampling fraction."""

    linear: Function
    square: Function

    def per_mean(self) -> tuple[Function, Function]:
        """What an empty cell adds to B̂, and any cell to v, each divided by μ."""
        return self._empty, self._variance

    def _empty(self, mean: FloatArray) -> FloatArray:
        return mean * self.square(mean) - self.linear(mean)

    def _variance(self, mean: FloatArray) -> FloatArray:
        linear, square = self.linear(mean), self.square(mean)
        variance: FloatArray = linear**2 + 2 * mean * square**2
        return variance

    def of_sums(
        self, count: CountArray, mean: FloatArray, empty: float, variance: float
    ) -> MinimumError:
        """From the occupied cells, and Σ μ·ψ over all cells of the two functions `per_mean`."""
        f = count.astype(np.float64)
        held = self.linear(mean) * f + self.square(mean) * (f * f - 2 * f * mean - f)
        return MinimumError(empty + float(held.sum()), _standard_error(variance))


def _standard_error(variance: float) -> float:
    return float(np.sqrt(max(variance, 0.0)))


def criterion_for_uniques(sampling_fraction: float) -> Criterion:
    """a = c·μ·e^(−μ/π), b = c²·μ·e^(−μ/π) / 2: the criterion for τ₁."""
    c = (1 - sampling_fraction) / sampling_fraction
    return Criterion(
        partial(_unique_part, factor=c, rate=1 / sampling_fraction),
        partial(_unique_part, factor=c * c / 2, rate=1 / sampling_fraction),
    )


def _unique_part(mean: FloatArray, factor: float, rate: float) -> FloatArray:
    part: FloatArray = factor * mean * np.exp(-rate * mean)
    return part


def criterion_for_matches(sampling_fraction: float) -> Criterion:
    """The criterion for τ₂ over sample uniques.

    With x = cμ and P the incomplete gamma function h′ = −c·P(2, x)/x², h″ = 2c²·P(3, x)/x³.
    """
    c = (1 - sampling_fraction) / sampling_fraction
    return Criterion(partial(_match_part, c=c, order=1), partial(_match_part, c=c, order=2))


def _match_part(mean: FloatArray, c: float, order: int) -> FloatArray:
    """μ·e^(−μ)·c^m·P(m+1, x) / x^(m+1) for m = 1, 2, the limit at x = 0 being 1/(m+1)!."""
    x = c * mean
    ratio = _gamma_ratios(x, np.exp(-x))[order - 1]
    part: FloatArray = mean * np.exp(-mean) * c**order * ratio
    return part


def _gamma_ratios(x: FloatArray, decay: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P(2, x)/x² and P(3, x)/x³, with `decay` = e^(−x).

    P(3, x) = P(2, x) − e^(−x)x²/2 and P(2, x) = 1 − e^(−x)(1 + x); below 1, where that loses
    digits, P(3, x)/x³ = e^(−x) Σ x^k/(k + 3)!.
    """
    large = np.maximum(x, 1.0)
    second = (1 - decay * (1 + x)) / (large * large)
    third = (second - decay / 2) / large
    small = np.flatnonzero(x < 1)
    if len(small):
        near, faded = x.take(small), decay.take(small)
        series = np.full(len(near), SERIES[0])
        for term in SERIES[1:]:
            series *= near
            series += term
        third[small] = faded * series
        second[small] = faded * (0.5 + near * series)
    return second, third


@dataclass(frozen=True, slots=True)
class BothCriteria:
    """The criteria for τ₁ and τ₂ at one sampling fraction, from one look at each cell.

    The search over models asks for nothing else, and both need the same two exponentials. An empty
    cell adds −cμ²e^(−μ/π)/2 to the second B̂: in μ²b − μa the terms with P(2, x) cancel.
    """

    sampling_fraction: float

    def functions(self) -> tuple[Function, ...]:
        """What is summed over all cells, as `Criterion.per_mean` of each has it."""
        first = criterion_for_uniques(self.sampling_fraction)
        second = criterion_for_matches(self.sampling_fraction)
        return (*first.per_mean(), *second.per_mean())

    def totals(self, mean: FloatArray) -> list[float]:
        """Σ μ·ψ(μ) over some cells for each of the `functions`."""
        c = (1 - self.sampling_fraction) / self.sampling_fraction
        x = c * mean
        decay, alone = np.exp(-x), np.exp(-mean)
        linear = x * decay * alone
        square = linear * x
        second, third = _gamma_ratios(x, decay)
        second *= alone
        second *= x
        third *= alone
        third *= x * x
        return [
            float(mean @ square) / 2 - float(mean @ linear),
            float(mean @ (linear * linear)) + float(square @ square) / 2,
            -float(mean @ linear) / 2,
            float(mean @ (second * second)) + 2 * float(third @ third),
        ]

    def of_occupied(self, count: CountArray, mean: FloatArray) -> tuple[float, float]:
        """What the records of the occupied cells add to each B̂, a cacheful of cells at a time."""
        starts = range(0, len(mean), BLOCK)
        parts = [self._held(count[i : i + BLOCK], mean[i : i + BLOCK]) for i in starts]
        return sum(one for one, _ in parts), sum(two for _, two in parts)

    def _held(self, count: CountArray, mean: FloatArray) -> tuple[float, float]:
        c = (1 - self.sampling_fraction) / self.sampling_fraction
        f, x = count.astype(np.float64), c * mean
        decay, chance = np.exp(-x), c * mean * np.exp(-mean)
        second, third = _gamma_ratios(x, decay)
        spread = c * chance * f * (f - 2 * mean - 1)
        chance *= f
        return (
            float(chance @ decay) + float(spread @ decay) / 2,
            float(chance @ second) + float(spread @ third),
        )

    def of_sums(
        self, held: tuple[float, float], sums: FloatArray
    ) -> tuple[MinimumError, MinimumError]:
        """Both, from what occupied cells hold and the sums of the `functions` over all cells."""
        return (
            MinimumError(float(sums[0]) + held[0], _standard_error(float(sums[1]))),
            MinimumError(float(sums[2]) + held[1], _standard_error(float(sums[3]))),
        )


def size_index_functions(most: int) -> tuple[Function, ...]:
    """μ^(j−1)·e^(−μ) / j! for j = 1, …, most: the expected number of cells with f = j, over μ."""
    return tuple(partial(_size_index, j=j) for j in range(1, most + 1))


def _size_index(mean: FloatArray, j: int) -> FloatArray:
    factorial = float(np.prod(np.arange(1, j + 1, dtype=np.float64)))
    index: FloatArray = mean ** (j - 1) * np.exp(-mean) / factorial
    return index
