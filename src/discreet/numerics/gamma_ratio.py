"""log Γ(x + d) − log Γ(x) without the loss of digits that two large logarithms would bring.

And ψ′, the second derivative of log Γ, for arrays: five times as fast as the Hurwitz zeta function.
"""

from decimal import Decimal, localcontext
from math import fsum

import numpy as np

from discreet.numerics.arrays import CountArray, FloatArray, IntArray
from discreet.numerics.rounding import EPSILON
from discreet.numerics.special import log_gamma

STIRLING_FROM = 16.0  # seven terms of Stirling's series leave less than 1e-17 from here on
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


LOG_TWO_PI = Decimal("1.83787706640934548356065947281123527972279494727556682563")
DIGITS = 50  # of decimal arithmetic: a population of 10¹⁵ leaves more than thirty behind the point
TOLERATED = 1e-13  # error of a sum of logarithms of factorials that needs no more digits
SHIFTS = np.arange(10.0)
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)


def log_gamma_ratio(x: FloatArray | float, d: CountArray | float) -> FloatArray:
    """log Γ(x + d) / Γ(x) for x > 0 and x + d > 0; the arguments are broadcast.

    Above STIRLING_FROM it is (x + d − ½) log(1 + d/x) + d log x − d and the difference of what is
    left of Stirling's series.
    """
    wide = (np.asarray(part, dtype=np.float64) for part in (x, d))
    first, more = np.broadcast_arrays(*wide)
    large = np.minimum(first, first + more) >= STIRLING_FROM
    result = np.empty(first.shape)
    result[~large] = log_gamma(first[~large] + more[~large]) - log_gamma(first[~large])
    result[large] = _by_stirling(first[large], more[large])
    return result


def log_factorial_ratio(start: CountArray, values: CountArray) -> FloatArray:
    """log x! / start! of each pair of counts."""
    first = np.asarray(start, dtype=np.float64)
    return log_gamma_ratio(first + 1.0, np.asarray(values, dtype=np.float64) - first)


def _by_stirling(x: FloatArray, d: FloatArray) -> FloatArray:
    """The same for large x and x + d."""
    growth: FloatArray = (x + d - 0.5) * np.log1p(d / x) + d * (np.log(x) - 1)
    return growth + (stirling_remainder(x + d) - stirling_remainder(x))


def stirling_remainder(x: FloatArray) -> FloatArray:
    """What Stirling's formula for log Γ(x) leaves out."""
    square = x**-2.0
    total = np.zeros(x.shape)
    for coefficient in reversed(STIRLING):
        total = total * square + coefficient
    return total / x


def log_factorial_difference(above: IntArray, below: IntArray) -> float:
    """Σ log n! over `above` less Σ log n! over `below`, to about 1e-12 whatever the counts.

    The logarithm of a probability is such a sum: numbers of size n log n that all but cancel. Where
    floats would lose too much, it is worked out with DIGITS digits, once for each different count.
    """
    upper, lower = (np.ravel(np.asarray(part, dtype=np.int64)) for part in (above, below))
    logs = np.concatenate([log_gamma(upper + 1.0), -log_gamma(lower + 1.0)])
    if EPSILON * float(np.abs(logs).sum()) <= TOLERATED:
        return fsum(logs)
    counts = np.concatenate([upper, lower])
    signs = np.repeat([1, -1], [len(upper), len(lower)])
    values, place = np.unique(counts, return_inverse=True)
    times = np.bincount(place, weights=signs)
    small = values < STIRLING_FROM
    rest = fsum(times[small] * log_gamma(values[small] + 1.0))
    rest += fsum(times[~small] * stirling_remainder(values[~small].astype(np.float64)))
    with localcontext() as context:
        context.prec = DIGITS
        whole = Decimal(0)
        for n, k in zip(values[~small].tolist(), times[~small].tolist(), strict=True):
            if k:  # log n! = n log n − n + ½ log 2πn + the remainder of Stirling's series
                log_n = Decimal(n).ln()
                whole += int(k) * (n * log_n - n + (log_n + LOG_TWO_PI) / 2)
        return float(whole) + rest


def trigamma(x: FloatArray) -> FloatArray:
    """ψ′(x) for x > 0: ten terms Σ (x + k)⁻², and the asymptotic series for the rest."""
    z = x + len(SHIFTS)
    square = z**-2.0
    series = np.zeros(x.shape)
    for number in reversed(BERNOULLI):
        series = series * square + number
    first: FloatArray = ((x[:, None] + SHIFTS) ** -2.0).sum(axis=1)
    return first + (1 + (0.5 + series / z) / z) / z
