"""Hypergeometric probabilities of very large counts, without the loss of digits of factorials.

log n! of a population is of size n log n, so that probabilities from differences of such numbers
are off by n log n · 2⁻⁵²: more than a hundred-millionth at ten million persons. Ratios of
neighbouring probabilities are small fractions. Their logarithms are added up from the most probable
value outward, where what is added stays small as long as the probability matters.
"""

import numpy as np
from scipy.special import gammaln

from discreet.numerics.arrays import FloatArray, IntArray


def hypergeometric_rows(values: IntArray, total: int, marked: IntArray, drawn: int) -> FloatArray:
    """Pr(x of the marked are among those drawn out of the total): a row for each number marked.

    Trusted: `values` rise by one and hold every possible x of every row. Each row sums to one.
    """
    held, x = marked[:, None], values[None, :]
    least, most = np.maximum(0, held + drawn - total), np.minimum(held, drawn)
    mode = ((held + 1.0) * (drawn + 1.0) / (total + 2.0)).astype(np.int64)
    centre = np.clip(mode, least, most)
    inside = (x > least) & (x <= most)  # where there is a value below to take the ratio to
    parts = (held - x + 1, drawn - x + 1, x, total - held - drawn + x)
    a, b, c, d = (np.log(np.where(inside, part, 1)) for part in parts)
    ratio = (a - c) + (b - d)  # log p(x) / p(x − 1)
    rising = np.cumsum(np.where(x > centre, ratio, 0.0), axis=1)
    falling = np.cumsum(np.where(x > centre, 0.0, ratio)[:, ::-1], axis=1)[:, ::-1]
    below = np.concatenate([falling[:, 1:], np.zeros((len(marked), 1))], axis=1)
    logs = np.where(x > centre, rising, -below)
    weights = np.where((x >= least) & (x <= most), np.exp(logs), 0.0)
    found: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return found


def hypergeometric_chance(
    values: IntArray, total: IntArray, marked: IntArray, drawn: IntArray
) -> FloatArray:
    """Pr(x of the marked are among those drawn out of the total), each by factorials: quick, and
    good to some digits for totals of up to ten million."""
    parts = (values, marked - values, drawn - values, total - marked - drawn + values)
    inside = np.minimum.reduce(parts) >= 0
    logs = sum(gammaln(n + 1.0) for n in (marked, drawn, total - marked, total - drawn))
    logs = logs - gammaln(total + 1.0)
    for part in parts:
        logs = logs - gammaln(np.maximum(part, 0) + 1.0)
    found: FloatArray = np.where(inside, np.exp(np.minimum(logs, 0.0)), 0.0)
    return found
