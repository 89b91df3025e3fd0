"""log (y/2)^ν K_ν(y) / f! at ν = f − ½, K the modified Bessel function of the third kind.

K_½(y) = √(π/2y) e^(−y), and K_(ν+1) = K_(ν−1) + (2ν/y) K_ν climbs without loss, all terms being
positive. From LARGEST_CLIMB on, Debye's expansion for large orders (Olver) has all digits:

    K_ν(νz) = √(π/2ν) e^(−νη) (1 + z²)^(−¼) Σ (−1)^k u_k(t)/ν^k,   t = (1 + z²)^(−½).

The factor (y/2)^ν / f! takes off what grows with f, so that no digits are lost for cells of
millions of records.
"""

import math

import numpy as np
from scipy.special import gammaln

from discreet.numerics.arrays import FloatArray
from discreet.numerics.gamma_ratio import log_gamma_ratio, stirling_remainder

LARGEST_CLIMB = 64


def log_scaled_bessel(sample_count: FloatArray, y: FloatArray) -> FloatArray:
    """log (y/2)^(f−½) K_(f−½)(y) / f!: rows f, columns y.

    Trusted: f whole and not negative, y > 0 and finite.
    """
    result = np.empty((len(sample_count), len(y)))
    low = sample_count <= LARGEST_CLIMB
    if low.any():
        climbed = _climbed(int(sample_count[low].max()), y)
        f = sample_count[low]
        scale = (f - 0.5)[:, None] * np.log(y / 2) - gammaln(f + 1)[:, None]
        result[low] = climbed[f.astype(np.int64)] + scale
    if not low.all():
        result[~low] = _debye(sample_count[~low][:, None] - 0.5, y)
    return result


def _climbed(most: int, y: FloatArray) -> FloatArray:
    """log K_(f−½)(y), rows f = 0, …, `most`, by the ratios of neighbours."""
    if len(y) == 1:
        return _climbed_once(most, float(y[0]))
    rows = np.empty((max(most, 1) + 1, len(y)))
    rows[0] = rows[1] = 0.5 * np.log(math.pi / (2 * y)) - y
    ratio = np.ones(len(y))
    for f in range(2, most + 1):
        ratio = 1 / ratio + (2 * f - 3) / y
        rows[f] = rows[f - 1] + np.log(ratio)
    return rows


def _climbed_once(most: int, y: float) -> FloatArray:
    """The same for one argument, as plain numbers: what a likelihood needs, ten times as fast."""
    rows, ratio = [0.5 * math.log(math.pi / (2 * y)) - y] * 2, 1.0
    for f in range(2, most + 1):
        ratio = 1 / ratio + (2 * f - 3) / y
        rows.append(rows[-1] + math.log(ratio))
    return np.array(rows)[:, None]


def _debye(order: FloatArray, y: FloatArray) -> FloatArray:
    """The scaled function from five terms: the sixth is below 1e-11 from order 64 on.

    −νη + ν log(y/2) = −ν(r − 1) + ν log((1 + r)/2) + ν log ν − ν with r = √(1 + z²), and the last
    two terms go with f! = Γ(ν + 3/2) by Stirling's series.
    """
    z = y / order
    root = np.sqrt(1 + z * z)
    rise = z * z / (1 + root)  # r − 1
    bent = order * (np.log1p(rise / 2) - rise) - 0.5 * np.log(root)
    factorial = log_gamma_ratio(order, 1.5) + stirling_remainder(order)
    result: FloatArray = bent - factorial - math.log(2) + np.log(_debye_series(1 / root, order))
    return result


def _debye_series(t: FloatArray, order: FloatArray) -> FloatArray:
    """1 − u_1/ν + u_2/ν² − u_3/ν³ + u_4/ν⁴ with Debye's polynomials in t."""
    s = t * t
    u1 = t * (3 - 5 * s) / 24
    u2 = s * (81 - 462 * s + 385 * s**2) / 1152
    u3 = t * s * (30375 - 369603 * s + 765765 * s**2 - 425425 * s**3) / 414720
    u4 = (
        s**2
        * (4465125 - 94121676 * s + 349922430 * s**2 - 446185740 * s**3 + 185910725 * s**4)
        / 39813120
    )
    result: FloatArray = 1 - u1 / order + u2 / order**2 - u3 / order**3 + u4 / order**4
    return result
