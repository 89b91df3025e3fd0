"""Search for the points of a system in lexicographic order, each narrowing passed along rows.

The state is a stack of limits. At each level one column, the first whose limits have not met, takes
one value after another; the level above holds what the rows then imply for all columns. Narrowing
never removes a point, and where all limits have met and no row objects, they are one: so that every
point is found, once, and in order. The stack lives in arrays of the caller, so that the search can
be left after any number of nodes and go on later.

`queue` is a stack of rows still to be looked at, each at most once (`queued`): their order changes
how soon the limits settle, never where.
"""

from typing import Any, NamedTuple

import numpy as np

from discreet.numerics.arrays import BoolArray, IntArray
from discreet.numerics.kernels import kernel

# What `notes` holds: the level, whether it was just entered, whether all is done, nodes so far.
LEVEL, ENTER, DONE, NODES, N_NOTES = 0, 1, 2, 3, 4


class Rows(NamedTuple):
    """A matrix by rows and the rows of each column, both end to end, with the right-hand side."""

    start: IntArray
    column: IntArray
    coefficient: IntArray
    right: IntArray
    column_start: IntArray
    column_row: IntArray


class Search(NamedTuple):
    """Where the search stands: limits at each level, the column branched on and its value."""

    lower: IntArray  # level × column
    upper: IntArray
    column: IntArray
    value: IntArray
    queue: IntArray
    queued: BoolArray
    notes: IntArray


@kernel(error_model="numpy")
def _narrow(rows: Rows, lower: IntArray, upper: IntArray, i: int, search: Search, end: int) -> int:
    """Limits that row i implies for its columns; the new end of the queue, or −1 where none fit."""
    least, most = np.int64(0), np.int64(0)
    for entry in range(rows.start[i], rows.start[i + 1]):
        a, j = rows.coefficient[entry], rows.column[entry]
        least += a * (lower[j] if a > 0 else upper[j])
        most += a * (upper[j] if a > 0 else lower[j])
    if least > rows.right[i] or most < rows.right[i]:
        return -1
    for entry in range(rows.start[i], rows.start[i + 1]):
        a, j = rows.coefficient[entry], rows.column[entry]
        if lower[j] == upper[j]:
            continue
        if a > 0:
            high = lower[j] + (rows.right[i] - least) // a
            low = upper[j] - (most - rows.right[i]) // a
        else:
            low = upper[j] - (rows.right[i] - least) // -a
            high = lower[j] + (most - rows.right[i]) // -a
        if low <= lower[j] and high >= upper[j]:
            continue
        lower[j], upper[j] = max(lower[j], low), min(upper[j], high)
        if lower[j] > upper[j]:
            return -1
        end = _wake(rows, j, search, end)
    return end


@kernel(error_model="numpy")
def _wake(rows: Rows, j: int, search: Search, end: Any) -> Any:
    """Queues the rows of a column that are not waiting yet; the new end of the queue."""
    for entry in range(rows.column_start[j], rows.column_start[j + 1]):
        i = rows.column_row[entry]
        if not search.queued[i]:
            search.queued[i] = True
            search.queue[end] = i
            end += 1
    return end


@kernel(error_model="numpy")
def _settle(rows: Rows, lower: IntArray, upper: IntArray, search: Search, end: int) -> bool:
    """Narrows until no queued row changes anything; False where some row cannot be met."""
    while end > 0:
        end -= 1
        i = search.queue[end]
        search.queued[i] = False
        after = _narrow(rows, lower, upper, i, search, end)
        if after < 0:  # leave no row marked: the next value starts with an empty queue
            for left in range(len(search.queued)):
                search.queued[left] = False
            return False
        end = after
    return True


@kernel(error_model="numpy")
def begin(rows: Rows, search: Search) -> bool:
    """Narrows the limits at level 0 by all rows; False where that proves that there is no point."""
    n = len(rows.right)
    for i in range(n):
        search.queue[i], search.queued[i] = i, True
    return _settle(rows, search.lower[0], search.upper[0], search, n)


@kernel(error_model="numpy")
def proceed(rows: Rows, search: Search, out: IntArray, max_nodes: int) -> int:
    """Fills `out` with the next points, as many as it holds or are left; how many there are.

    Ends early after `max_nodes` branchings; the search goes on from there when called again.
    """
    notes, n = search.notes, search.lower.shape[1]
    found, nodes = 0, 0
    while found < len(out) and nodes < max_nodes:
        level = notes[LEVEL]
        if level < 0:
            notes[DONE] = 1
            break
        if notes[ENTER]:
            # Columns before that of the level below have met limits: it was the first without.
            j = 0 if level == 0 else search.column[level - 1] + 1
            while j < n and search.lower[level, j] == search.upper[level, j]:
                j += 1
            notes[ENTER] = 0
            if j == n:
                for i in range(n):
                    out[found, i] = search.lower[level, i]
                found += 1
                notes[LEVEL] -= 1
                continue
            search.column[level], search.value[level] = j, search.lower[level, j] - 1
        j = search.column[level]
        search.value[level] += 1
        if search.value[level] > search.upper[level, j]:
            notes[LEVEL] -= 1
            continue
        nodes += 1
        for i in range(n):
            search.lower[level + 1, i] = search.lower[level, i]
            search.upper[level + 1, i] = search.upper[level, i]
        search.lower[level + 1, j] = search.upper[level + 1, j] = search.value[level]
        end = _wake(rows, j, search, np.int64(0))
        if _settle(rows, search.lower[level + 1], search.upper[level + 1], search, end):
            notes[LEVEL], notes[ENTER] = level + 1, 1
    notes[NODES] += nodes
    return found
