"""Variables that determine others: a district lies in one region, an age in one age band.

Where one variable determines another, combinations which never occur are taken as impossible, not
merely empty. Found in the data alone: every level of the determining variable occurs with one level
of the determined one, in so many records that this is no accident.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import log

import numpy as np

from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

FEW = 1000  # rows that are looked at first
ACCIDENT = 1e-6  # chance under independence from which on nesting may be one


@dataclass(frozen=True, slots=True, order=True)
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
    columns, held = np.ascontiguousarray(levels[occupied].T), counts[occupied]
    totals: list[FloatArray] = [
        np.bincount(columns[v], weights=held, minlength=size).astype(np.float64)
        for v, size in enumerate(sizes)
    ]
    several = [v for v, own in enumerate(totals) if np.count_nonzero(own) > 1]
    return tuple(
        Nested(a, b)
        for a, b in permutations(several, 2)
        if _determines(columns[a], columns[b], sizes[a])
        and not _may_be_accident(totals[a], totals[b])
    )


def _determines(first: IntArray, second: IntArray, n_levels: int) -> bool:
    """Whether each level of the first occurs with one level of the second.

    Each level of the first is given one level that it occurs with; all others must be the same. A
    few rows speak first, since they already contradict most pairs.
    """
    for rows in (slice(FEW), slice(None)):
        one = np.zeros(n_levels, dtype=np.int64)
        one[first[rows]] = second[rows]
        if not np.array_equal(one[first[rows]], second[rows]):
            return False
    return True


def _may_be_accident(first: FloatArray, second: FloatArray) -> bool:
    """Whether independence would bring it about with a chance of at least 1e-6."""
    shares = np.log(second[second > 0] / second.sum())
    sizes, times = np.unique(first[first > 0], return_counts=True)
    logs = np.logaddexp.reduce(sizes[:, None] * shares[None, :], axis=1)
    return bool(np.dot(times, logs) >= log(ACCIDENT))


def possible_pairs(
    first: IntArray,
    second: IntArray,
    shape: tuple[int, int],
    empty: tuple[IntArray, IntArray] | None = None,
) -> BoolArray:
    """Which levels of a determining and a determined variable can go together.

    A level of the first with persons lies where they are. One without lies where its rows of 0,
    `empty`, are; where it has none either, that is not known, and all its pairs are possible.
    """
    together: BoolArray = np.zeros(shape, dtype=np.bool_)
    together[first, second] = True
    if empty is not None:
        held: BoolArray = np.isin(empty[0], first)
        placed = ~held
        together[empty[0][placed], empty[1][placed]] = True
    together[~together.any(axis=1), :] = True
    return together
