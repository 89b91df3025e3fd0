"""Sums within ranges as a system: low ≤ A x ≤ high for whole numbers x from 0."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array, hstack

from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import LARGEST, UNLIMITED, System
from discreet.numerics.arrays import IntArray


def system_of_ranges(
    matrix: csr_array, low: IntArray, high: IntArray, name: Callable[[int], str]
) -> System:
    """The system of all rows; a row about one cell becomes a limit, one with a range gets a slack.

    `high` is UNLIMITED where a row has no upper limit; such a row must not hold a cell that no
    other row limits from above. `name` gives the name of a row.

    Checked: sums stay below 2**53. Trusted: coefficients are above zero, low ≤ high.
    """
    n_cells = int(matrix.shape[1])
    number = np.diff(matrix.indptr)
    alone = (number == 1) & (abs(matrix).sum(axis=1) == 1)
    lower = np.zeros(n_cells, dtype=np.int64)
    upper = _upper(matrix, high, n_cells)
    single = np.flatnonzero(alone)
    cells = matrix.indices[matrix.indptr[single]]
    np.maximum.at(lower, cells, low[single])
    rows = np.flatnonzero(~alone)
    own = csr_array(matrix[rows])
    most = own.astype(np.float64) @ upper.astype(np.float64)
    if np.any(np.minimum(most, high[rows].astype(np.float64)) >= LARGEST):
        raise InputError(must_be("sums of figures", "below 2**53", "a larger one"))
    right = np.where(high[rows] == UNLIMITED, own @ upper, high[rows])
    # A range that starts below what is possible anyway must not widen the slack for nothing.
    slack = np.flatnonzero(right != low[rows])
    ones = np.ones(len(slack), dtype=np.int64)
    slacks = csr_array((ones, (slack, np.arange(len(slack)))), shape=(len(rows), len(slack)))
    names: dict[int, tuple[str, ...]] = {}
    for row, cell in zip(single.tolist(), cells.tolist(), strict=True):
        names[cell] = (*names.get(cell, ()), name(row))
    return System(
        matrix=csr_array(hstack([own, slacks], format="csr", dtype=np.int64)),
        right=right.astype(np.int64),
        lower=np.concatenate([lower, np.zeros(len(slack), dtype=np.int64)]),
        upper=np.concatenate([upper, (right - low[rows])[slack]]).astype(np.int64),
        n_named=n_cells,
        row_names=tuple(name(int(row)) for row in rows),
        limit_names=names,
    )


def _upper(matrix: csr_array, high: IntArray, n_cells: int) -> IntArray:
    """What each row leaves to each of its cells."""
    upper = np.full(n_cells, UNLIMITED, dtype=np.int64)
    entries = matrix.tocoo()
    limited = high[entries.row] != UNLIMITED
    most = np.maximum(high[entries.row[limited]], 0) // entries.data[limited]
    np.minimum.at(upper, entries.col[limited], most)
    if np.any(upper == UNLIMITED):
        raise InputError(must_be("cells", "limited from above", "one without a limit"))
    return upper
