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
    apart = np.arange(values[0] - marked.max(), values[-1] - marked.min() + 1)
    by_value = _log(drawn - values + 1) - _log(values)
    by_distance = _log(1 - apart) - _log(total - drawn + apart)  # from x to the number marked
    ratio = by_distance[x - held - apart[0]] + by_value  # log p(x) / p(x − 1)
    ratio[(x <= least) | (x > most)] = 0.0  # where there is no value below to take it to
    above = x > centre
    logs = np.cumsum(np.where(above, ratio, 0.0), axis=1)
    ratio[above] = 0.0
    falling = np.cumsum(ratio[:, :0:-1], axis=1)[:, ::-1]
    logs[:, :-1] -= falling
    weights = np.exp(logs)
    weights[(x < least) | (x > most)] = 0.0
    found: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return found


def _log(counts: IntArray) -> FloatArray:
    """Logarithms, of what is below one as of one."""
    return np.log(np.maximum(counts, 1))


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
