"""E(1/F) and E(1/F²) when F − f is negative binomial: how likely a record of a cell is matched.

A cell of which f people are in the sample, each with probability p, holds F people in the
population. Benedetti and Franconi take F − f as negative binomial with f successes, so that

    r = E(1/F) = ∫₀¹ u^(f−1) / (1 + x u) du = (p/f) ₂F₁(1, 1; f+1; q),    q = 1 − p, x = q/p

(polettini eq. 5 and 6, with u = pt / (1 − tq)). The integral gives r(f+1) = (1/f − r(f)) / x, which
climbs from f = 1, r = −(p/q) log p, without loss while p < 1/2. Elsewhere the continued fraction

    r = p / (f − f q/(f+1 − f q/(f+2 − 2(f+1) q/(f+3 − 2(f+1) q/(f+4 − …)))))

of the same function (Gauss) settles within a few terms. Between them they reach every f ≥ 1 and
every p in (0, 1] to within 1e-14 of the value.

Nothing is checked here: callers give f in [1, 1e15] and p in (0, 1], as floats of one shape.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import spence, zeta

from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

BLOCK = 1 << 14  # cells worked on at once: their arrays stay in the processor's cache
LARGEST_CLIMB = 20  # above this count the continued fraction is as quick for every p
SMALL_PROBABILITY = 0.2  # below this the series in p/q settles within SERIES_TERMS
SERIES_TERMS = 28  # odds of at most 1/4 to this power are below 1e-16
SQUARE_TERMS = 60
SUM_TERMS = 150

Method = Callable[[FloatArray, FloatArray], FloatArray]


def inverse_mean(sample_count: FloatArray, inclusion_probability: FloatArray) -> FloatArray:
    """E(1/F) for each cell, in (0, 1]; exactly 1/f where p = 1."""
    return _in_blocks(_inverse_mean_block, sample_count, inclusion_probability)


def inverse_square_mean(sample_count: FloatArray, inclusion_probability: FloatArray) -> FloatArray:
    """E(1/F²) for each cell, in (0, 1]; trusted: every f is a whole number.

    The integral of r with the factor log((p + qu)/u) gives s(f+1) = (r(f)/f − s(f)) / x, from
    s(1) = (p/q) Li₂(q), and a series of positive terms elsewhere.
    """
    return _in_blocks(_inverse_square_mean_block, sample_count, inclusion_probability)


def _in_blocks(method: Method, f: FloatArray, p: FloatArray) -> FloatArray:
    """The method applied to all cells, a cacheful at a time."""
    flat_f, flat_p = f.ravel(), p.ravel()
    result = np.empty(flat_f.shape)
    for start in range(0, len(flat_f), BLOCK):
        part = slice(start, start + BLOCK)
        result[part] = method(flat_f[part], flat_p[part])
    return result.reshape(f.shape)


def _inverse_mean_block(f: FloatArray, p: FloatArray) -> FloatArray:
    """E(1/F), each cell by the method that suits its f and p."""
    one = f == 1
    if one.all():
        return inverse_mean_of_one(p)
    low = (p < 0.5) & (f <= LARGEST_CLIMB)
    whole = f == np.floor(f)
    by_climb = one | (low & (whole | (p < SMALL_PROBABILITY)))
    by_long_fraction = low & ~by_climb
    return _by_methods(
        f,
        p,
        (by_climb, _by_climb),
        (by_long_fraction, _by_long_fraction),
        (~(by_climb | by_long_fraction), _by_fraction),
    )


def _by_methods(f: FloatArray, p: FloatArray, *methods: tuple[BoolArray, Method]) -> FloatArray:
    """Each method's answer in the cells chosen for it; the choices cover every cell once."""
    result = np.empty(f.shape)
    for chosen, method in methods:
        if chosen.any():
            result[chosen] = method(f[chosen], p[chosen])
    return result


def inverse_mean_of_one(p: FloatArray) -> FloatArray:
    """E(1/F) of a sample unique: (p/q) log(1/p), and 1 at p = 1 (polettini section 2)."""
    q = 1 - p
    return np.divide(-p * np.log(p), q, out=np.ones(p.shape), where=q > 0)


def _by_fraction(f: FloatArray, p: FloatArray, pairs: int = 10) -> FloatArray:
    """The continued fraction cut after so many pairs of equal numerators.

    What is cut off is replaced by the fixed point of its first step, which is positive. Ten pairs
    leave less than 1e-15 where p ≥ 1/2 or f > 20, and eighteen where p ≥ 0.2.
    """
    q = 1 - p
    rest: FloatArray = 0.5 * (
        f + 2 * pairs + np.sqrt(f * f + 4 * pairs * (1 + (f + pairs - 1) * p))
    )
    for pair in range(pairs, 0, -1):
        numerator = (f + (pair - 1)) * q
        numerator *= pair
        for level in (2 * pair - 1, 2 * pair - 2):
            np.divide(numerator, rest, out=rest)
            np.subtract(f + level, rest, out=rest)
    return p / rest


def _by_long_fraction(f: FloatArray, p: FloatArray) -> FloatArray:
    """The continued fraction for fractional f and p from 0.2, where it settles more slowly."""
    return _by_fraction(f, p, pairs=18)


def _by_climb(f: FloatArray, p: FloatArray) -> FloatArray:
    """From a base of f within (1/2, 3/2] up to f by r(f+1) = (p/q)(1/f − r(f))."""
    steps = np.ceil(f - 1.5)
    base = f - steps
    fractional = base != 1
    result = inverse_mean_of_one(p)
    if fractional.any():
        result[fractional] = _near_one(base[fractional], p[fractional])
    if steps.any():
        upward = steps > 0
        result[upward] = _climb(result[upward], base[upward], steps[upward], p[upward])
    return result


def _climb(first: FloatArray, base: FloatArray, steps: FloatArray, p: FloatArray) -> FloatArray:
    """The recurrence, cells in order of their steps so that each step is one stretch of them."""
    order = np.argsort(steps.astype(np.uint8), kind="stable")
    value, base, odds = first[order], base[order], (p / (1 - p))[order]
    for done, start in enumerate(_starts(steps)):
        still = 1 / (base[start:] + done)
        still -= value[start:]
        np.multiply(still, odds[start:], out=value[start:])
    result = np.empty(first.shape)
    result[order] = value
    return result


def _starts(steps: FloatArray) -> IntArray:
    """Where, among cells in order of steps, those begin that need more than 0, 1, 2, … steps."""
    starts: IntArray = np.cumsum(np.bincount(steps.astype(np.int64)))[:-1]
    return starts


def _near_one(f: FloatArray, p: FloatArray) -> FloatArray:
    """E(1/F) for f = 1 + δ, |δ| ≤ 1/2, and p < 0.2, by its expansion at p = 0.

    With y = p/q, r = π y^f / sin(πf) + Σ (−y)^k / (k − f). The poles at f = 1 of the first term and
    of k = 1 cancel: together they are −y [(π/sin πδ)(y^δ − 1) + π/sin πδ − 1/δ].
    """
    delta, odds = f - 1, p / (1 - p)
    stretch = 1 / np.sinc(delta)  # πδ / sin πδ
    logarithm = np.log(odds)
    growth = _relative_growth(delta * logarithm) * logarithm  # (y^δ − 1) / δ
    result: FloatArray = -odds * (stretch * growth + _pole_remainder(delta))
    power = -odds
    for k in range(2, SERIES_TERMS):
        power = power * -odds
        result += power / (k - f)
    return result


def _relative_growth(exponent: FloatArray) -> FloatArray:
    """(e^z − 1) / z, and 1 at z = 0."""
    return np.divide(np.expm1(exponent), exponent, out=np.ones(exponent.shape), where=exponent != 0)


def _pole_remainder(delta: FloatArray) -> FloatArray:
    """π/sin(πδ) − 1/δ for |δ| ≤ 1/2, by its series 2 Σ η(2j) δ^(2j−1), η the alternating zeta."""
    square = delta * delta
    total = np.zeros(delta.shape)
    for j in range(SERIES_TERMS, 0, -1):
        total = total * square + (1 - 0.5 ** (2 * j - 1)) * zeta(2 * j)
    return 2 * delta * total


def _inverse_square_mean_block(f: FloatArray, p: FloatArray) -> FloatArray:
    """E(1/F²), each cell by the method that suits its f and p."""
    large = f > LARGEST_CLIMB
    by_climb = (f == 1) | ((p < 0.5) & ~large)
    return _by_methods(
        f,
        p,
        (by_climb, _square_by_climb),
        (large, _square_by_series),
        (~(by_climb | large), _square_by_sum),
    )


def _square_by_climb(f: FloatArray, p: FloatArray) -> FloatArray:
    """From f = 1 up by s(f+1) = (p/q)(r(f)/f − s(f)), along with r."""
    odds = np.divide(p, 1 - p, out=np.ones(p.shape), where=p < 1)
    mean = inverse_mean_of_one(p)
    square: FloatArray = np.where(p < 1, odds * spence(p), 1.0)
    for step in range(1, int(f.max())):
        on = f > step
        square[on] = odds[on] * (mean[on] / step - square[on])
        mean[on] = odds[on] * (1 / step - mean[on])
    return square


def _square_by_series(f: FloatArray, p: FloatArray) -> FloatArray:
    """p Σ c(n) n! / (f (f+1) … (f+n)), where c(n) = q c(n−1) + (1 − q^n)/n and c(0) = 0.

    The terms are positive and come from expanding the integrand in powers of 1 − u. As many as
    SQUARE_TERMS leave less than 1e-15 where f > 20.
    """
    q = 1 - p
    total, coefficient, lost = np.zeros(p.shape), np.zeros(p.shape), np.zeros(p.shape)
    beta = 1 / f
    for n in range(1, SQUARE_TERMS):
        lost = q * lost + p  # 1 − q^n
        coefficient = q * coefficient + lost / n
        beta = beta * (n / (f + n))
        total += coefficient * beta
    return p * total


def _square_by_sum(f: FloatArray, p: FloatArray) -> FloatArray:
    """Σ P(F = h) / h² term by term, for f ≤ 20 and p ≥ 1/2."""
    q = 1 - p
    mass = p**f
    total = mass / f**2
    for unseen in range(1, SUM_TERMS):
        mass = mass * (q * (f + unseen - 1) / unseen)
        total += mass / (f + unseen) ** 2
    return total


def printed_form_of_three(p: FloatArray) -> FloatArray:
    """The last form printed for f = 3 in polettini section 2, too small by the factor q."""
    q = 1 - p
    return p / (2 * q**2) * (q * (3 * q - 2) - 2 * p**2 * np.log(p))


def three_term_approximation(f: FloatArray, p: FloatArray) -> FloatArray:
    """polettini eq. 9: the first three terms of the series in q, so always too low."""
    q = 1 - p
    return p / f * (1 + q / (f + 1) + 2 * q**2 / ((f + 1) * (f + 2)))


def two_term_approximation(f: FloatArray, p: FloatArray) -> FloatArray:
    """polettini eq. 10: the first two terms of the series in q, so always too low."""
    return p / f * (1 + (1 - p) / (f + 1))


def approximation_error(approximation: Method, f: FloatArray, p: FloatArray) -> FloatArray:
    """What an approximation of E(1/F) is off by, as a share of the truth; negative if too low."""
    return approximation(f, p) / inverse_mean(f, p) - 1
