"""Bounds that pass to and fro between a table and all its sums (generalised shuttle).

Every cell of every sum of the table over some variables has limits; released margins fix theirs.
A sum lies between the sums of its parts' limits, a part between the sum less the other parts'
limits (Buzzigoli and Giusti; Dobra 2002). Repeated until nothing changes. Always valid; attained
for 2ᵏ tables with all (k−1)-way margins, and often elsewhere.
"""

import numpy as np

from discreet.clock import work
from discreet.fiber.bounds.contract import Bounds, outer_bounds
from discreet.fiber.system.consistency import check_margins
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.programs import Deadline
from discreet.numerics.arrays import IntArray

MAX_SUMS = 2**24  # cells of all sums together, at two 64-bit numbers each
MAX_ROUNDS = 1000
PASS_SECONDS, SUM_SECONDS = 5e-5, 2e-8  # limits passed along one axis, and for each sum
SAFE = 2**62  # sums along an axis stay below this, or none are made


def bounds_by_shuttle(margins: Margins, *, time_limit: float | None = None) -> Bounds:
    """Valid bounds of all cells in C order, exact only where lower and upper meet."""
    check_margins(margins)
    lower, upper = shuttle(margins, Deadline(time_limit))
    return outer_bounds(lower.ravel(), upper.ravel())


def shuttle(margins: Margins, deadline: Deadline) -> tuple[IntArray, IntArray]:
    """Limits of all cells, in the table's shape. Contradictory margins may cross them."""
    lower, upper = _released_limits(margins)
    rounds = MAX_ROUNDS if margins.total * max(margins.sizes, default=1) < SAFE else 0
    for _ in range(rounds):
        before = (lower.copy(), upper.copy())
        work((PASS_SECONDS + SUM_SECONDS * lower.size) * lower.ndim)
        for axis in range(lower.ndim):
            _pass_along(np.moveaxis(lower, axis, 0), np.moveaxis(upper, axis, 0))
        same = np.array_equal(before[0], lower) and np.array_equal(before[1], upper)
        if same or deadline.passed or np.any(lower > upper):
            break
    cells = tuple(slice(size) for size in margins.sizes)
    return lower[cells].copy(), upper[cells].copy()


def n_sums(margins: Margins) -> int:
    """Cells of the table and of all its sums."""
    return int(np.prod([size + 1.0 for size in margins.sizes]))


def _released_limits(margins: Margins) -> tuple[IntArray, IntArray]:
    """Limits of all sums, position `size` of an axis standing for the sum over it."""
    shape = tuple(size + 1 for size in margins.sizes)
    lower = np.zeros(shape, dtype=np.int64)
    upper = np.full(shape, margins.total, dtype=np.int64)
    for axes, table in margins.tables.items():
        for axis in range(table.ndim):
            table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
        place = tuple(slice(None) if a in axes else size for a, size in enumerate(margins.sizes))
        lower[place] = upper[place] = table
    return lower, upper


def _pass_along(lower: IntArray, upper: IntArray) -> None:
    """Tightens parts (all but the last) and their sum (the last) along the first axis."""
    least, most = lower[:-1].sum(axis=0), upper[:-1].sum(axis=0)
    np.maximum(lower[-1], least, out=lower[-1])
    np.minimum(upper[-1], most, out=upper[-1])
    high = np.minimum(upper[:-1], upper[-1] - least + lower[:-1])
    low = np.maximum(lower[:-1], lower[-1] - most + upper[:-1])
    upper[:-1], lower[:-1] = high, low
