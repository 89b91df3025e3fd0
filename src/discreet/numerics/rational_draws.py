"""Draws whose probabilities are exact: of whole numbers alone, without a float in between.

After Canonne, Kamath and Steinke (2020), algorithms 1 and 2. A sampler that goes through floats has
gaps and steps in its distribution, which tell of the number that noise was added to (Mironov 2012).
The generator is asked for uniform whole numbers below a bound, which it gives without bias.
"""

from fractions import Fraction

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray, IntArray

LARGEST = 2**40  # numerator and denominator: products with a few rounds stay below 2**63


def bernoulli_exp(numerator: IntArray, denominator: int, *, rng: np.random.Generator) -> BoolArray:
    """True with probability exp(−numerator / denominator), for each numerator from 0 to it.

    With γ the ratio, A_k is true with probability γ/k, and K the first k where it is false. K is
    more than k with probability γ^k/k!, so that it is odd with probability Σ (−γ)^k/k! = exp(−γ).

    Trusted: 0 ≤ numerator ≤ denominator ≤ 2**40.
    """
    tops = np.asarray(numerator)
    found = np.zeros(tops.shape, dtype=np.bool_)
    left, k = np.arange(tops.size), 1
    flat = tops.ravel()
    while len(left):
        goes_on = rng.integers(0, denominator * k, size=len(left)) < flat[left]
        found.ravel()[left[~goes_on]] = k % 2 == 1
        left, k = left[goes_on], k + 1
    return found


def geometric_exp(n: int, *, rng: np.random.Generator) -> IntArray:
    """`n` numbers of successes, each of probability 1/e, before the first failure."""
    found = np.zeros(n, dtype=np.int64)
    left = np.arange(n)
    while len(left):
        left = left[bernoulli_exp(np.ones(len(left), dtype=np.int64), 1, rng=rng)]
        found[left] += 1
    return found


def discrete_laplace(n: int, rate: Fraction, *, rng: np.random.Generator) -> IntArray:
    """`n` whole numbers z, each with probability proportional to exp(−rate · |z|), exactly.

    With rate = s/t, U uniform below t that is kept with probability exp(−U/t), and V successes of
    probability 1/e, X = U + t V has probability proportional to exp(−X/t), and its quotient by s
    to exp(−(s/t) y). A fair coin gives the sign; minus zero is drawn again.

    Checked: the rate is above 0, with numerator and denominator of at most 2**40.
    """
    s, t = rate.numerator, rate.denominator
    if not (0 < s <= LARGEST and t <= LARGEST):
        raise InputError(must_be("rate", "a ratio of whole numbers from 1 to 2**40", "another"))
    found = np.zeros(n, dtype=np.int64)
    left = np.arange(n)
    while len(left):
        uniform = rng.integers(0, t, size=len(left))
        kept = bernoulli_exp(uniform, t, rng=rng)
        rest, uniform = left[kept], uniform[kept]
        size = (uniform + t * geometric_exp(len(rest), rng=rng)) // s
        negative = rng.integers(0, 2, size=len(rest)) == 1
        settled = ~(negative & (size == 0))
        found[rest[settled]] = np.where(negative, -size, size)[settled]
        left = np.sort(np.concatenate([left[~kept], rest[~settled]]))
    return found
