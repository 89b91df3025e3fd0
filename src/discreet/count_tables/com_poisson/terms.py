"""The terms λ^x / (x!)^ν of the COM-Poisson series, relative to one near the largest.

Far from the origin the terms and their logarithms are huge and all but equal, so a term is never
computed by itself: `log_term` is the logarithm of its ratio to the term at the `centre`, as a
function of the offset k = x − centre, which may be any real number (factorials are Γ(x + 1)).
Two ways, one contract:

- `PlainTerms`: kθ − ν l with θ = log λ, l = log Γ(x + 1) − log Γ(centre + 1), by log-gamma.
  Good while θ · μ is at most `LARGEST_PLAIN`.
- `SaddleTerms`: with μ = λ^(1/ν) the term is e^(νμ) times the ν-th power of a Poisson(μ)
  probability, and those have Loader's form without cancellation, the deviance
  x log(x/μ) − (x − μ) and Stirling's remainders. μ is carried to 40 digits, so that x − μ is exact.

The logarithm of a term is concave in x, which every bound in `normaliser` rests on.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Protocol

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray
from discreet.numerics.special import digamma, log_gamma

LARGEST_PLAIN = 1e3  # θ · centre up to which log-gamma loses less than 1e-12 of a term
LARGEST_POWER = 1e5  # ν / μ up to which a saddle-point ratio keeps ten digits
LARGEST_LOG_MODE = 200.0  # far beyond, sums of squares of counts leave the range of floats
DIGITS = 40
STIRLING_FROM = 16.0  # from here five terms of Stirling's series reach 1e-16
SERIES_DEGREE = 5


class Terms(Protocol):
    """Terms of one COM-Poisson series relative to the one at `centre`."""

    @property
    def centre(self) -> float:
        """Where the ratio is one, next to the largest term."""

    @property
    def log_reference(self) -> float:
        """log of the term at the centre."""

    @property
    def log_centre(self) -> float:
        """log μ = θ/ν, or 0 where the centre is below 2."""

    @property
    def log_rate(self) -> float:
        """θ = log λ."""

    @property
    def dispersion(self) -> float:
        """ν."""

    def offset(self, values: FloatArray) -> FloatArray:
        """x − centre."""

    def log_poisson_ratio(self, offset: FloatArray) -> FloatArray:
        """r = k log μ − l: the logarithm of the ratio of two Poisson(μ) probabilities."""

    def log_term(self, offset: FloatArray) -> FloatArray:
        """log of the ratio of the term at x to that at the centre."""

    def log_term_at(self, offset: float) -> float:
        """`log_term` of a single offset."""

    def slope(self, offset: float) -> float:
        """Derivative of `log_term`: θ − ν ψ(x + 1)."""


@dataclass(frozen=True, slots=True)
class PlainTerms:
    """Terms by log-gamma, about a whole number."""

    log_rate: float
    dispersion: float
    centre: float

    @property
    def log_centre_factorial(self) -> float:
        """log of the centre's factorial."""
        return math.lgamma(self.centre + 1)

    @property
    def log_centre(self) -> float:
        """θ/ν, or 0 where the centre is below 2."""
        return self.log_rate / self.dispersion if self.centre >= 2 else 0.0

    @property
    def log_reference(self) -> float:
        """θ c − ν log c!."""
        return self.log_rate * self.centre - self.dispersion * self.log_centre_factorial

    def offset(self, values: FloatArray) -> FloatArray:
        """x − centre, exact for whole numbers."""
        return values - self.centre

    def log_poisson_ratio(self, offset: FloatArray) -> FloatArray:
        """k log μ − l."""
        return offset * self.log_centre - self._log_factorial(offset)

    def log_term(self, offset: FloatArray) -> FloatArray:
        """kθ − ν l."""
        return offset * self.log_rate - self.dispersion * self._log_factorial(offset)

    def _log_factorial(self, offset: FloatArray) -> FloatArray:
        factorial: FloatArray = log_gamma(offset + (self.centre + 1)) - self.log_centre_factorial
        return factorial

    def log_term_at(self, offset: float) -> float:
        """kθ − ν l, of one offset."""
        factorial = math.lgamma(offset + self.centre + 1) - self.log_centre_factorial
        return offset * self.log_rate - self.dispersion * factorial

    def slope(self, offset: float) -> float:
        """θ − ν ψ(x + 1)."""
        return self.log_rate - self.dispersion * (digamma(self.centre + offset + 1))


@dataclass(frozen=True, slots=True)
class SaddleTerms:
    """Terms as powers of Poisson(μ) probabilities, about μ = `centre` + `centre_low`."""

    log_rate: float
    dispersion: float
    centre: float
    centre_low: float
    log_centre: float

    @property
    def log_centre_factorial(self) -> float:
        """log Γ(μ + 1)."""
        return math.lgamma(self.centre + 1)

    @property
    def log_reference(self) -> float:
        """ν (μ − log(2πμ)/2 − Stirling's remainder at μ)."""
        stirling = float(stirling_remainder(np.array(self.centre)))
        return self.dispersion * (
            self.centre - 0.5 * (math.log(2 * math.pi) + self.log_centre) - stirling
        )

    def offset(self, values: FloatArray) -> FloatArray:
        """x − μ, correct to the last bit of x − μ for whole x up to 2⁵³."""
        return (values - self.centre) - self.centre_low

    def log_term(self, offset: FloatArray) -> FloatArray:
        """ν times the logarithm of a ratio of Poisson(μ) probabilities."""
        return self.dispersion * self.log_poisson_ratio(offset)

    def log_term_at(self, offset: float) -> float:
        """The same, of one offset."""
        return float(self.log_term(np.array(offset)))

    def slope(self, offset: float) -> float:
        """−ν (log(x/μ) + ψ(x + 1) − log x)."""
        value = max(self.centre + offset, 0.0)
        if value < STIRLING_FROM:
            return self.log_rate - self.dispersion * (digamma(value + 1))
        inverse = 1 / value
        rest = inverse * (0.5 - inverse * (1 / 12 - inverse * inverse / 120))
        return -self.dispersion * (math.log1p(offset / self.centre) + rest)

    def log_poisson_ratio(self, offset: FloatArray) -> FloatArray:
        """Minus the deviance, log(x/μ)/2 and the difference of Stirling's remainders."""
        value = np.maximum(self.centre + offset, 0.0)
        small = value < STIRLING_FROM
        safe = np.where(small, STIRLING_FROM, value)
        near = np.where(small, STIRLING_FROM - self.centre, offset)
        ratio = -deviance(near, self.centre)
        ratio -= 0.5 * _log_quotient(safe, near, self.centre)
        ratio -= stirling_remainder(safe) - stirling_remainder(np.array(self.centre))
        if not small.any():
            return ratio
        plain = offset * self.log_centre - (log_gamma(value + 1) - self.log_centre_factorial)
        return np.where(small, plain, ratio)


def terms_of(log_rate: float, dispersion: float, *, rate: float | None = None) -> Terms:
    """The terms for θ = log λ and ν, by the way that keeps twelve digits.

    `rate` is λ itself where the caller has it, since log λ in one float falls short of it when
    counts are very large. Raises InputError where the series diverges (ν = 0, λ ≥ 1) or where its
    largest term lies beyond every float.
    """
    _check(log_rate, dispersion)
    if log_rate <= 0:
        return PlainTerms(log_rate, dispersion, 0.0)
    log_mode = log_rate / dispersion if dispersion > log_rate / 1e4 else math.inf
    if log_mode > LARGEST_LOG_MODE:
        raise InputError(_too_large(log_rate, dispersion))
    mode = math.exp(log_mode)
    if mode * log_rate <= LARGEST_PLAIN:
        return PlainTerms(log_rate, dispersion, math.floor(mode))
    if dispersion > LARGEST_POWER * mode:
        raise InputError(
            must_be("dispersion", f"at most {LARGEST_POWER:g} × rate^(1/dispersion)", dispersion)
        )
    return _saddle(log_rate, dispersion, rate)


def _saddle(log_rate: float, dispersion: float, rate: float | None) -> SaddleTerms:
    with localcontext() as context:
        context.prec = DIGITS
        theta = Decimal(log_rate) if rate is None else Decimal(rate).ln()
        log_centre = theta / Decimal(dispersion)
        exact = log_centre.exp()
        centre = float(exact)
        low = float(exact - Decimal(centre))
    return SaddleTerms(log_rate, dispersion, centre, low, float(log_centre))


def _check(log_rate: float, dispersion: float) -> None:
    if not math.isfinite(log_rate):
        raise InputError(must_be("log_rate", "a finite number", log_rate))
    if not (math.isfinite(dispersion) and dispersion >= 0):
        raise InputError(must_be("dispersion", "a finite number, zero or more", dispersion))
    if dispersion == 0 and log_rate >= 0:
        raise InputError(
            must_be("rate", "below 1 when dispersion is 0", f"exp({log_rate:g})")
            + "; the series has no sum"
        )


def _too_large(log_rate: float, dispersion: float) -> str:
    return must_be(
        "rate^(1/dispersion)",
        "at most e^200, since typical counts are of that size",
        f"exp({log_rate:g} / {dispersion:g})",
    )


def deviance(offset: FloatArray, centre: float) -> FloatArray:
    """x log(x/μ) − (x − μ) for x = μ + offset > 0, to all digits also where x is next to μ.

    With v = (x − μ)/(x + μ): (x − μ) v + 2x (v³/3 + v⁵/5 + …) (Loader 2000).
    """
    value = centre + offset
    v = offset / (centre + value)
    close = np.abs(v) <= 0.1
    square = np.where(close, v * v, 0.0)
    series = np.zeros_like(square)
    for power in range(19, 1, -2):
        series = series * square + 1 / power
    near = offset * v + 2 * value * (v * square * series)
    if close.all():
        return near
    from scipy.special import xlogy  # slow to load, and only large counts need it

    far: FloatArray = xlogy(value, value / centre) - offset
    return np.where(close, near, far)


def _log_quotient(value: FloatArray, offset: FloatArray, centre: float) -> FloatArray:
    """log(x/μ), from the offset where x is near μ and from x where it is not."""
    near = np.abs(offset) < 0.5 * centre
    quotient = np.where(near, 1.0, value / centre)
    return np.log(quotient) + np.log1p(np.where(near, offset, 0.0) / centre)


def stirling_remainder(value: FloatArray) -> FloatArray:
    """log Γ(x + 1) − (x + ½) log x + x − ½ log 2π for x > 0; a series from 16 on."""
    safe = np.maximum(value, STIRLING_FROM)
    inverse = 1 / safe
    square = inverse * inverse
    series = 1 / 1260 - square * (1 / 1680 - square / 1188)
    series = inverse * (1 / 12 - square * (1 / 360 - square * series))
    if (value >= STIRLING_FROM).all():
        return np.asarray(series)
    exact = (
        log_gamma(value + 1) - (value + 0.5) * np.log(value) + value - 0.5 * math.log(2 * math.pi)
    )
    return np.where(value >= STIRLING_FROM, series, exact)


def log_ratio_series(terms: Terms, value: float) -> FloatArray:
    """Taylor coefficients of `log_poisson_ratio` about a whole x, up to the fifth power."""
    at_value = terms.log_poisson_ratio(terms.offset(np.array([value])))
    order = np.arange(SERIES_DEGREE)
    from scipy.special import polygamma  # as above

    higher = -polygamma(order, value + 1) / np.cumprod(order + 1.0)
    higher[0] += terms.log_centre
    series: FloatArray = np.concatenate([at_value, higher])
    return series


def log_term_series(terms: Terms, value: float, log_ratio: FloatArray) -> FloatArray:
    """Taylor coefficients of `log_term` about the same x, given those of `log_poisson_ratio`."""
    series = terms.dispersion * log_ratio
    series[0] = terms.log_term(terms.offset(np.array([value])))[0]
    series[1] += terms.log_rate - terms.dispersion * terms.log_centre
    return series
