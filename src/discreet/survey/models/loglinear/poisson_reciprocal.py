"""E(1/F) and Var(1/F) when F − f is Poisson: how likely a record of a cell is matched.

A cell with f sample records whose unseen people number X ~ Poisson(m) holds F = f + X in the
population. Since 1/F = ∫₀^∞ e^(−F·v) dv and 1/F² = ∫₀^∞ v·e^(−F·v) dv,

    E(1/F)  = ∫₀^∞ exp(−f·v − m·(1 − e^(−v))) dv          E(1/F²) = the same with a factor v,

of which the first is (1 − e^(−m)) / m for f = 1 (skinner-holmes 1998). All other cells go by the
double-exponential rule v·(f + m) = exp(y − e^(−y)) with equal steps in y: 48 nodes leave an error
below 1e-14 of E(1/F), and below 1e-12 of E(1/F²), for every f ≥ 1 and m ≥ 0.

Nothing is checked here: callers give f ≥ 1 and finite m ≥ 0, arrays of one length.
"""

import numpy as np

from discreet.numerics.arrays import CountArray, FloatArray

BLOCK = 1 << 14  # cells worked on at once: their arrays stay in the processor's cache
STEP, FIRST, LAST = 0.2, -3.6, 6.0  # of y; beyond both ends the integrand is below 1e-16


def _nodes() -> tuple[FloatArray, FloatArray]:
    """Nodes v·(f + m) of the double-exponential rule and their weights."""
    y = np.arange(FIRST, LAST, STEP)
    node = np.exp(y - np.exp(-y))
    return node, STEP * node * (1 + np.exp(-y))


NODES, WEIGHTS = _nodes()


def chance_alone(unseen_mean: FloatArray) -> FloatArray:
    """P(F = 1 | f = 1) = e^(−m), in [0, 1]."""
    return np.asarray(np.exp(-unseen_mean))


def reciprocal_mean(sample_count: CountArray, unseen_mean: FloatArray) -> FloatArray:
    """E(1/F) for each cell, in (0, 1/f]."""
    single = sample_count == 1
    mean = np.empty(len(sample_count))
    mean[single] = _of_one(unseen_mean[single])
    mean[~single] = _by_quadrature(sample_count[~single], unseen_mean[~single])[0]
    return np.minimum(mean, 1.0 / sample_count)


def reciprocal_mean_and_variance(
    sample_count: CountArray, unseen_mean: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """E(1/F) and Var(1/F) for each cell."""
    mean, square = _by_quadrature(sample_count, unseen_mean)
    single = sample_count == 1
    mean[single] = _of_one(unseen_mean[single])
    return np.minimum(mean, 1.0 / sample_count), np.maximum(square - mean**2, 0.0)


def reciprocal_slope(sample_count: CountArray, unseen_mean: FloatArray) -> FloatArray:
    """The derivative of E(1/F) by m, E(1/(F + 1)) − E(1/F): negative."""
    more = reciprocal_mean(sample_count + 1, unseen_mean)
    return more - reciprocal_mean(sample_count, unseen_mean)


def _of_one(m: FloatArray) -> FloatArray:
    """(1 − e^(−m)) / m, and 1 at m = 0."""
    return np.divide(-np.expm1(-m), m, out=np.ones(m.shape), where=m > 0)


def _by_quadrature(f: CountArray, m: FloatArray) -> tuple[FloatArray, FloatArray]:
    """E(1/F) and E(1/F²), a cacheful of cells at a time."""
    mean, square = np.empty(len(f)), np.empty(len(f))
    for start in range(0, len(f), BLOCK):
        part = slice(start, start + BLOCK)
        mean[part], square[part] = _quadrature_block(f[part], m[part])
    return mean, square


def _quadrature_block(f: CountArray, m: FloatArray) -> tuple[FloatArray, FloatArray]:
    scale = 1.0 / (f + m)
    mean, square = np.zeros(len(f)), np.zeros(len(f))
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        v = node * scale
        term = weight * np.exp(m * np.expm1(-v) - f * v)
        mean += term
        square += term * v
    return mean * scale, square * scale
