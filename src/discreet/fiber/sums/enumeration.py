"""All consistent tables one after another, in lexicographic order of their cells."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csc_array, csr_array

from discreet.clock import work
from discreet.fiber.sums import enumeration_kernels as kernels
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.small_blocks import MOST_COLUMNS, small_points
from discreet.fiber.system.linear_system import System
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, heed, silent

MAX_ENTRIES = 64_000_000  # levels × columns
MAX_BATCH = 1024
NODES_AT_ONCE = 20_000  # between two chances to interrupt
PAIRS_AT_ONCE = 500_000  # of a cell and a cell in one of its rows, likewise
NODE_SECONDS, PAIR_SECONDS = 1e-6, 5e-8  # a branching, and each pair that limits pass along after


def tables(
    system: System, *, limit: int | None = None, progress: Progress = silent
) -> Iterator[IntArray]:
    """The tables of the fiber, smallest first cell first, found as they are asked for.

    Depth first over cells in their order; after each choice limits pass along all rows until
    nothing changes, so that hopeless choices are mostly seen at once. Stops after `limit` tables.
    Can be left or interrupted at any moment. Raises BudgetExceeded where the system is too large
    for the search to keep its limits at each level.
    """
    if np.any(system.lower > system.upper):
        return
    few = few_tables(system)
    if few is not None:
        yield from few[:limit]
        return
    search = _search(system)
    rows = _rows(system)
    if not kernels.begin(rows, search):
        return
    left, batch = (2**62 if limit is None else limit), 1
    pairs = _pairs(rows)
    nodes = _nodes_at_once(pairs)
    while left > 0 and not search.notes[kernels.DONE]:
        out = np.empty((min(batch, left), system.n_columns), np.int64)
        before = int(search.notes[kernels.NODES])
        found = kernels.proceed(rows, search, out, nodes)
        made = int(search.notes[kernels.NODES]) - before
        work(made * (NODE_SECONDS + PAIR_SECONDS * pairs))
        progress("tables", None)
        heed()
        yield from out[:found, : system.n_named]
        left, batch = left - found, min(2 * batch, MAX_BATCH)


def few_tables(system: System) -> IntArray | None:
    """All tables of a system that has few, in their order; None where there are many."""
    if system.n_columns > MOST_COLUMNS:
        return None
    right = system.right - system.matrix @ system.lower
    points = small_points(system.matrix, right, system.upper - system.lower)
    if points is None:
        return None
    points = points + system.lower
    return points[np.lexsort(points.T[::-1]), : system.n_named]


def _pairs(rows: kernels.Rows) -> int:
    """Cells that limits pass along after a branching: those of all rows of a cell, on average."""
    lengths = np.diff(rows.start)
    return int(lengths @ lengths) // max(len(rows.column_start) - 1, 1)


def _nodes_at_once(pairs: int) -> int:
    """Branchings between two looks at the clock: fewer where each goes through many cells."""
    return int(np.clip(PAIRS_AT_ONCE // max(pairs, 1), 1, NODES_AT_ONCE))


def _search(system: System) -> kernels.Search:
    n = system.n_columns
    free = int(np.count_nonzero(system.lower < system.upper))
    levels = min(n, free) + 2
    if levels * n > MAX_ENTRIES:
        message = f"a search through {n} cells needs more memory than it may take"
        raise BudgetExceeded(message + "; fix cells first or count blocks by themselves")
    search = kernels.Search(
        lower=np.zeros((levels, n), np.int64),
        upper=np.zeros((levels, n), np.int64),
        column=np.zeros(levels, np.int64),
        value=np.zeros(levels, np.int64),
        queue=np.zeros(system.n_rows + 1, np.int64),
        queued=np.zeros(system.n_rows + 1, np.bool_),
        notes=np.zeros(kernels.N_NOTES, np.int64),
    )
    search.lower[0], search.upper[0] = system.lower, system.upper
    search.notes[kernels.ENTER] = 1
    return search


def _rows(system: System) -> kernels.Rows:
    matrix = csr_array(system.matrix).copy()
    matrix.eliminate_zeros()
    by_column = csc_array(matrix)
    return kernels.Rows(
        start=matrix.indptr.astype(np.int64),
        column=matrix.indices.astype(np.int64),
        coefficient=matrix.data.astype(np.int64),
        right=system.right.astype(np.int64),
        column_start=by_column.indptr.astype(np.int64),
        column_row=by_column.indices.astype(np.int64),
    )
