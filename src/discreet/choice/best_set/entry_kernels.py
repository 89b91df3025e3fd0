"""The loop behind entries of margins: counts of occupied cells summed by some of their levels.

The margin is summed into one dense array that the caller keeps between calls. Only the entries that
were touched are set back to zero, as there are far fewer occupied cells than entries.
"""

from typing import Any

import numpy as np

from discreet.numerics.kernels import kernel


@kernel()
def sum_entries(
    columns: Any, axes: Any, sizes: Any, counts: Any, rows: Any, totals: Any, places: Any
) -> Any:
    """The entry of each row's cell in the margin over `axes`.

    `columns` has the levels of each variable, a row a variable. `totals` is all zero, large enough
    for the margin, and is left all zero; `places` has room for a number a cell.
    """
    n = len(counts)
    for i in range(n):
        places[i] = 0
    for axis in axes:
        size, column = sizes[axis], columns[axis]
        for i in range(n):
            places[i] = places[i] * size + column[i]
    for i in range(n):
        totals[places[i]] += counts[i]
    found = np.empty(len(rows), dtype=np.int64)
    for k in range(len(rows)):
        found[k] = totals[places[rows[k]]]
    for i in range(n):
        totals[places[i]] = 0
    return found
