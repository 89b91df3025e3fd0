"""Drawing a partition record by record."""

import numpy as np
from numba import njit

from discreet.numerics.arrays import IntArray


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def draw_counts(records: int, alpha: float, theta: float, seed: int) -> IntArray:
    """Sample counts of the cells of so many records under Pitman's partition.

    The first record of a cell weighs 1 − α, every other one 1: a record to come joins the cell of
    one that is drawn with these weights, or opens a new one with the weight θ + uα. A table of the
    cells of all records that are not first in theirs makes each step a matter of one look-up.
    """
    np.random.seed(seed % 4294967296)  # noqa: NPY002 - the generator that compiled code has
    later = np.empty(records, dtype=np.int64)
    counts = np.zeros(records, dtype=np.int64)
    n_cells = n_later = 0
    for seen in range(records):
        place = np.random.random() * (theta + seen) if seen else -1.0  # noqa: NPY002
        new = theta + n_cells * alpha
        if seen == 0 or place < new:
            counts[n_cells] = 1
            n_cells += 1
            continue
        place -= new
        firsts = n_cells * (1 - alpha)
        if place < firsts:
            cell = min(int(place / (1 - alpha)), n_cells - 1)
        else:
            cell = later[min(int(place - firsts), n_later - 1)]
        counts[cell] += 1
        later[n_later] = cell
        n_later += 1
    return counts[:n_cells]
