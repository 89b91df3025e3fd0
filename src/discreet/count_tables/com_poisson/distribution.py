"""The COM-Poisson distribution P(X = x) = λ^x / (x!)^ν / Z(λ, ν) (kadane eq. 1 and 2).

`rate` is λ > 0 and `dispersion` ν ≥ 0: geometric at ν = 0 (where λ < 1), Poisson at ν = 1, and
Bernoulli with probability λ / (1 + λ) as ν grows. Figures hold to 1e-10 of their value or are
refused with an `InputError` that says why.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.count_tables.com_poisson.normaliser import (
    DIRECT_TERMS,
    Moments,
    RangeSum,
    moments_of,
    range_sum,
)
from discreet.count_tables.com_poisson.terms import Terms, terms_of
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import above

LARGEST_COUNT = 2**53  # whole numbers up to here are floats
VANISHED = -1000.0  # e to this power is no float, however many terms there are
LARGEST_TYPICAL = 1e15  # rate^(1/dispersion) up to which single counts can be told apart


@dataclass(frozen=True, slots=True, init=False)
class ComPoisson:
    """The distribution with a given `rate` λ > 0 and `dispersion` ν ≥ 0."""

    log_rate: float
    dispersion: float
    _terms: Terms
    _whole: RangeSum

    def __init__(self, rate: float, dispersion: float) -> None:
        if not (math.isfinite(rate) and rate > 0):
            raise InputError(must_be("rate", "a finite number above zero", rate))
        self._set(math.log(rate), dispersion, rate)

    @classmethod
    def of_log_rate(cls, log_rate: float, dispersion: float) -> "ComPoisson":
        """The distribution with λ = e^log_rate, which may exceed every float."""
        made = cls.__new__(cls)
        made._set(log_rate, dispersion, None)
        return made

    def _set(self, log_rate: float, dispersion: float, rate: float | None) -> None:
        terms = terms_of(log_rate, dispersion, rate=rate)
        object.__setattr__(self, "log_rate", float(log_rate))
        object.__setattr__(self, "dispersion", float(dispersion))
        object.__setattr__(self, "_terms", terms)
        object.__setattr__(self, "_whole", range_sum(terms, 0.0, math.inf))

    def __repr__(self) -> str:
        return f"ComPoisson(log_rate={self.log_rate:.6g}, dispersion={self.dispersion:.6g})"

    @property
    def rate(self) -> float:
        """λ; an InputError where it exceeds every float, when `log_rate` is the figure to use."""
        if self.log_rate > math.log(1.7e308):
            raise InputError(must_be("log_rate", "at most 709 to give a rate", self.log_rate))
        return math.exp(self.log_rate)

    @property
    def log_normaliser(self) -> float:
        """log Z(λ, ν) (kadane eq. 2)."""
        return self._terms.log_reference + self._whole.log_total

    @property
    def relative_error(self) -> float:
        """What truncation (a bound) and quadrature (an estimate) may change in Z, relatively."""
        return self._whole.error

    @property
    def moments(self) -> Moments:
        """E X, E log X! and their covariance: gradient and Hessian of log Z."""
        return moments_of(self._terms, self._whole)

    @property
    def mean(self) -> float:
        """E X."""
        return self.moments.mean

    @property
    def variance(self) -> float:
        """Var X."""
        return self.moments.variance

    def log_mass(self, values: ArrayLike) -> FloatArray:
        """log P(X = x) for whole numbers x ≥ 0."""
        counts = self._counts(values).astype(np.float64)
        return self._terms.log_term(self._terms.offset(counts)) - self._whole.log_total

    def mass(self, values: ArrayLike) -> FloatArray:
        """P(X = x)."""
        return np.exp(self.log_mass(values))

    def cumulative(self, values: ArrayLike) -> FloatArray:
        """P(X ≤ x), to 1e-10 of itself also where it is tiny."""
        return self._each(values, self._log_cumulative)

    def survival(self, values: ArrayLike) -> FloatArray:
        """P(X > x), to 1e-10 of itself also where it is tiny."""
        return self._each(values, self._log_survival)

    def quantile(self, probability: float) -> int:
        """The smallest x with P(X ≤ x) ≥ probability, for a probability in [0, 1)."""
        if not 0 <= probability < 1:
            raise InputError(must_be("probability", "at least 0 and below 1", probability))
        self._counts([])
        low, high = -1, 1
        while not self._reaches(high, probability):
            low, high = high, max(2 * high, int(self.mean) + 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._reaches(middle, probability) else (middle, high)
        return high

    def draw(self, size: int, *, rng: np.random.Generator) -> IntArray:
        """Independent draws: by inversion where few values matter, else by exact rejection."""
        if size < 0:
            raise InputError(must_be("size", "zero or more", size))
        values = self._counts([])
        window = 20 * math.sqrt(max(self.variance, 1.0))
        if window <= DIRECT_TERMS and self.mean + window < LARGEST_COUNT:
            return self._draw_by_inversion(size, rng)
        parts = [values]
        while (missing := size - sum(map(len, parts))) > 0:
            parts.append(self._draw_by_rejection(missing, rng)[:missing])
        return np.concatenate(parts)

    def _draw_by_inversion(self, size: int, rng: np.random.Generator) -> IntArray:
        spread = 60 * math.sqrt(max(self.variance, 1.0))
        low = max(0, math.floor(self.mean - spread))
        values = np.arange(low, math.ceil(self.mean + spread) + 60)
        cumulative = np.cumsum(self.mass(values))
        place = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        drawn: IntArray = values[np.minimum(place, len(values) - 1)]
        return drawn

    def _draw_by_rejection(self, size: int, rng: np.random.Generator) -> IntArray:
        """Devroye's method for log-concave masses: p(m + k) ≤ p(m) min(1, e^(1 − p(m)|k|))."""
        mode = int(self._terms.centre)
        largest = float(self.mass([mode])[0])
        width = 1 + largest / 2
        tries = 6 * size + 16
        flat = rng.random(tries) < width / (1 + width)
        tall = np.where(flat, width * rng.random(tries), width + rng.exponential(size=tries))
        step = np.rint(rng.choice([-1.0, 1.0], tries) * tall / largest).astype(np.int64)
        values = mode + step
        inside = (values >= 0) & (values < LARGEST_COUNT)
        ratio = np.exp(self.log_mass(np.where(inside, values, mode))) / largest
        accepted = rng.random(tries) * np.minimum(1.0, np.exp(width - tall)) <= ratio
        return values[accepted & inside]

    def _reaches(self, value: int, probability: float) -> bool:
        if probability <= 0.5:
            return not above(probability, math.exp(min(self._log_cumulative(value), 0.0)))
        return not above(math.exp(min(self._log_survival(value), 0.0)), 1 - probability)

    def _log_cumulative(self, value: int) -> float:
        return self._log_probability(0.0, float(value), nearest=float(value))

    def _log_survival(self, value: int) -> float:
        return self._log_probability(value + 1.0, math.inf, nearest=value + 1.0)

    def _log_probability(self, low: float, high: float, *, nearest: float) -> float:
        """log P(low ≤ X ≤ high), or VANISHED where all terms are too small for a float.

        `nearest` is the end of the range on the side of the other tail.
        """
        offset = float(self._terms.offset(np.array(nearest)))
        beyond_mode = offset > 0 if math.isinf(high) else offset < 0
        if beyond_mode and self._terms.log_term_at(offset) < VANISHED:
            return VANISHED
        return range_sum(self._terms, low, high).log_total - self._whole.log_total

    def _each(self, values: ArrayLike, log_probability: Callable[[int], float]) -> FloatArray:
        counts = self._counts(values)
        flat = [math.exp(min(log_probability(int(value)), 0.0)) for value in counts.ravel()]
        return np.array(flat, dtype=np.float64).reshape(counts.shape)

    def _counts(self, values: ArrayLike) -> IntArray:
        """The values as whole numbers, each told apart from its neighbours in a float."""
        if self._terms.centre > LARGEST_TYPICAL:
            got = f"{self._terms.centre:.3g}"
            raise InputError(
                must_be(
                    "rate^(1/dispersion)", f"at most {LARGEST_TYPICAL:g} for single counts", got
                )
            )
        array = np.asarray(values)
        if array.size == 0:
            return np.zeros(array.shape, dtype=np.int64)
        if not np.all((array >= 0) & (array < LARGEST_COUNT) & (array == np.floor(array))):
            raise InputError(must_be("values", "whole numbers from 0 to 2^53", _first_bad(array)))
        return array.astype(np.int64)


def _first_bad(array: NDArray[Any]) -> float:
    """The first value that is no count."""
    good = (array >= 0) & (array < LARGEST_COUNT) & (array == np.floor(array))
    return float(array[~good].ravel()[0])
