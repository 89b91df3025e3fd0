"""log Γ, ψ and χ² for small questions, without SciPy's special functions, which load slowly."""

import math

import numpy as np
from numpy.typing import ArrayLike

from discreet.numerics.arrays import FloatArray, IntArray

FEW = 2000  # numbers that are taken one by one in less time than a library takes to load
SERIES_FROM = 12.0  # from here eight terms of the series of ψ leave less than 1e-16
DIGAMMA = (
    1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160,
)  # fmt: skip


def log_gamma(x: ArrayLike) -> FloatArray:
    """log Γ(x) of each number, none of them negative; infinite at zero."""
    given = np.asarray(x, dtype=np.float64)
    if given.size > FEW + 1:
        from scipy.special import gammaln

        many: FloatArray = gammaln(given)
        return many
    found = [math.lgamma(one) if one > 0 else math.inf for one in given.ravel().tolist()]
    return np.array(found, dtype=np.float64).reshape(given.shape)


def log_factorials(counts: IntArray) -> FloatArray:
    """log x! of whole numbers, of which each that occurs is taken once."""
    top = int(np.max(counts, initial=0))
    if top > FEW:
        return log_gamma(np.asarray(counts) + 1.0)
    found: FloatArray = log_gamma(np.arange(top + 1) + 1.0)[counts]
    return found


def log_sum(logs: ArrayLike) -> float:
    """log Σ exp of some numbers; −∞ where all are."""
    given = np.asarray(logs, dtype=np.float64)
    top = float(given.max())
    if math.isinf(top):
        return top
    return top + math.log(math.fsum(np.exp(given - top).ravel()))


def digamma(x: float) -> float:
    """ψ(x) for x > 0: ψ(x) = ψ(x + 1) − 1/x up to where its asymptotic series holds."""
    lower = 0.0
    while x < SERIES_FROM:
        lower += 1 / x
        x += 1
    square, series = 1 / (x * x), 0.0
    for coefficient in reversed(DIGAMMA):
        series = (series + coefficient) * square
    return math.log(x) - 0.5 / x - series - lower


def chi_square_above(degrees: int, statistic: float) -> float:
    """P(χ² > statistic) for whole degrees of freedom, by its finite sum.

    Q(a, x) with a = degrees / 2 and x = statistic / 2 grows by x^a e^−x / Γ(a + 1) from a to a + 1;
    it begins at e^−x for a = 1 and at erfc(√x) for a = ½.
    """
    x, odd = max(statistic, 0.0) / 2, degrees % 2
    a, found = (0.5, math.erfc(math.sqrt(x))) if odd else (1.0, math.exp(-x))
    while a < degrees / 2:
        if x > 0:
            found += math.exp(a * math.log(x) - x - math.lgamma(a + 1))
        a += 1
    return min(1.0, found)
