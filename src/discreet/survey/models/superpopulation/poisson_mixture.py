"""Cells with independent Poisson counts: likelihood of size indices, 1/F by a transform, drawing.

The population holds K cells whose counts F are drawn independently from one distribution with mean
N/K, and each person is in the sample with probability π = n/N. If p_j is then the probability of f
= j, the numbers s_j of sample cells of size j ≥ 1 are about Poisson with means K p_j (K is large),
so that

    ℓ = Σ s_j log(K p_j) − K(1 − p_0).

The sample size is right on average by the choice of K. To compare such a model with a distribution
of partitions of n records, ℓ is taken given n: less log P(Σ j s_j = n), about −½ log(2π K E(f²)).

E(1/F) = ∫₀^∞ E(e^(−Fx)) dx and E(1/F²) = ∫₀^∞ x E(e^(−Fx)) dx. With x = e^v both integrands are
analytic within π/2 of the real line and vanish at both ends, so equal steps in v give all digits.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from discreet.data.summary import SizeIndices
from discreet.numerics.arrays import FloatArray

STEP = 0.2  # exp(−π²/STEP) is below 1e-21
LEAST = 1e-17  # share of the integral that may be left out at small x
LARGEST_DRAWN = 10**6  # records of a cell; nothing larger is drawn

Transform = Callable[[FloatArray, FloatArray], FloatArray]


def mixture_log_likelihood(
    sizes: SizeIndices, log_probability: FloatArray, cells: float, occupied: float
) -> float:
    """Σ log Poisson(s_j; K p_j) over all sizes.

    `log_probability` is log p_j at each size that occurs, `occupied` the share 1 − p_0 of the
    `cells` K that the sample is expected to touch.
    """
    seen = sizes.cells.astype(np.float64)
    each = seen @ (log_probability + math.log(cells)) - float(gammaln(seen + 1).sum())
    return float(each) - cells * occupied


def log_chance_of_size(cells: float, second_moment: float) -> float:
    """log P(Σ j s_j = n) when n is its mean, by the normal distribution of variance K E(f²)."""
    return -0.5 * math.log(2 * math.pi * max(cells * second_moment, 1 / (2 * math.pi)))


def inverse_moments(
    sample_count: FloatArray, mean: FloatArray, log_transform: Transform
) -> tuple[FloatArray, FloatArray]:
    """E(1/F given f) and E(1/F² given f) for each sample count, from log E(e^(−(F − f)x)).

    `mean` is about E(F given f); it only sets where the integral may begin.
    """
    f = np.asarray(sample_count, dtype=np.float64)
    if not len(f):
        return np.empty(0), np.empty(0)
    start = math.log(LEAST / float(mean.max()))
    v = np.arange(start, math.log(50.0 / float(f.min())), STEP)
    x = np.exp(v)
    value = np.exp(log_transform(f, x) - f[:, None] * x) * (x * STEP)
    return value.sum(axis=1), (value * x).sum(axis=1)


def draw_from_expected(
    expected_cells: Callable[[FloatArray], FloatArray],
    sample_size: int,
    rng: np.random.Generator,
) -> SizeIndices:
    """Size indices whose entries are independent Poisson numbers with the expected means.

    Sizes are drawn up to where all but a billionth of the expected records lie below.
    """
    most, sizes = 1024, np.arange(1.0, 1025.0)
    while most < LARGEST_DRAWN and _short(expected_cells(sizes), sizes, sample_size):
        most *= 4
        sizes = np.arange(1.0, most + 1)
    cells = rng.poisson(expected_cells(sizes))
    occurs = cells > 0
    return SizeIndices(sizes[occurs].astype(np.int64), cells[occurs].astype(np.int64))


def _short(cells: FloatArray, sizes: FloatArray, sample_size: int) -> bool:
    """Whether these sizes miss more than a billionth of the records."""
    return bool(cells @ sizes < sample_size * (1 - 1e-9))
