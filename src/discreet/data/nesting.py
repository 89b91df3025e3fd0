"""Variables that determine others: a district lies in one region, an age in one age band.

What one variable determines of another is known to everybody, so that combinations which never
occur are impossible, not merely empty. Found in the data alone: every level of the determining
variable occurs with one level of the determined one, in so many records that this is no accident.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from scipy.special import logsumexp

from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

ACCIDENT = 1e-6  # chance under independence from which on nesting may be one


@dataclass(frozen=True, slots=True)
class Nested:
    """Two variables by position: each level of `determining` lies in one level of `determined`."""

    determining: int
    determined: int


def nested_pairs(levels: IntArray, counts: IntArray, sizes: Sequence[int]) -> tuple[Nested, ...]:
    """All pairs of which one variable determines the other, by position in ascending order.

    `levels` has a row for each cell (rows may repeat) with the level of each variable, `counts` its
    records, `sizes` the number of levels of each variable. Were the two independent, with shares
    p_b of the determined levels, the n_a records of each determining level would lie in one level
    with the chance Π_a Σ_b p_b^{n_a}; the pair counts where that is below 1e-6. So levels of one
    record each prove nothing, and a variable of one level neither determines nor is determined.
    """
    occupied = counts > 0
    cells, held = levels[occupied], counts[occupied]
    totals = [
        np.bincount(cells[:, v], weights=held, minlength=size) for v, size in enumerate(sizes)
    ]
    found = []
    for a in range(len(sizes)):
        for b in range(len(sizes)):
            if a == b or min(np.count_nonzero(totals[a]), np.count_nonzero(totals[b])) < 2:
                continue
            if _determines(cells[:, a], cells[:, b]) and not _may_be_accident(totals[a], totals[b]):
                found.append(Nested(a, b))
    return tuple(found)


def _determines(first: IntArray, second: IntArray) -> bool:
    """Whether each level of the first occurs with one level of the second."""
    pairs = np.unique(np.stack([first, second], axis=1), axis=0)
    return len(np.unique(pairs[:, 0])) == len(pairs)


def _may_be_accident(first: FloatArray, second: FloatArray) -> bool:
    """Whether independence would bring it about with a chance of at least 1e-6."""
    shares = np.log(second[second > 0] / second.sum())
    sizes, times = np.unique(first[first > 0], return_counts=True)
    logs = logsumexp(sizes[:, None] * shares[None, :], axis=1)
    return bool(np.dot(times, logs) >= log(ACCIDENT))


def possible_pairs(first: IntArray, second: IntArray, shape: tuple[int, int]) -> BoolArray:
    """Which levels of two variables can go together, by the levels of the occupied cells.

    Of a level that never occurs it is not known where it lies, so that all its pairs are possible.
    """
    together: BoolArray = np.zeros(shape, dtype=np.bool_)
    together[first, second] = True
    together[~together.any(axis=1), :] = True
    together[:, ~together.any(axis=0)] = True
    return together
