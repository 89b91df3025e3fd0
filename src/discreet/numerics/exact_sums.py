"""Sums of floats that are exact, so that no order of the terms and no split of them changes a bit.

A float is a whole number of 53 bits times a power of two. The whole numbers of one power add up as
integers, and what the powers have together is one long integer.
"""

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray

BITS = 53
HALF = 27  # bits of the lower half of a whole number: sums of either half stay exact as floats
SMALLEST = 1074 + BITS  # a sum is a whole number of units of 2^−SMALLEST
MOST_TERMS = 1 << 15  # that are summed at once: they stay in the cache of the processor
FINE = 16  # bits behind the point of either half of a fixed sum


def exact_sum(values: FloatArray) -> int:
    """The sum of finite floats in units of 2^−SMALLEST; such sums add up as integers do."""
    total = 0
    for first in range(0, len(values), MOST_TERMS):
        total += _sum_of_some(values[first : first + MOST_TERMS])
    return total


def _sum_of_some(values: FloatArray) -> int:
    share, power = np.frexp(values)
    whole = np.ldexp(share, BITS).astype(np.int64)
    if not len(whole):
        return 0
    least = int(power.min())
    place = power - least
    high = np.bincount(place, whole >> HALF)
    low = np.bincount(place, whole & ((1 << HALF) - 1))
    shift = least - BITS + SMALLEST
    return sum(
        ((int(h) << HALF) + int(rest)) << (shift + at)
        for at, (h, rest) in enumerate(zip(high.tolist(), low.tolist(), strict=True))
        if h or rest
    )


def as_float(total: int) -> float:
    """The float nearest to an exact sum."""
    return total / (1 << SMALLEST)


def fixed_sums(place: IntArray, values: FloatArray, n_places: int) -> IntArray:
    """The sums of values at each place, in whole units of 2^−16 and what is left in units of 2^−32:
    two columns, which add up exactly whatever the order.

    Trusted: no value is above 2^20 in size, and there are no more than 2^31 of them in all.
    """
    coarse = np.floor(np.ldexp(values, FINE))
    rest = np.floor(np.ldexp(np.ldexp(values, FINE) - coarse, FINE))
    found: IntArray = np.stack(
        [np.bincount(place, part, n_places).astype(np.int64) for part in (coarse, rest)], axis=1
    )
    return found


def of_fixed(sums: IntArray) -> FloatArray:
    """The sums as floats."""
    found: FloatArray = np.ldexp(sums[:, 0] + np.ldexp(sums[:, 1].astype(np.float64), -FINE), -FINE)
    return found
