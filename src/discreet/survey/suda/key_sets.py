"""Sets of keys, and how the records under them are counted: in dense tables, or by putting cells
that agree together.

A table of all combinations of a few keys is small however many cells there are. Many such tables
are made in one pass over the cells, and none of them moves. Only sets with more combinations than a
table should have need cells that agree to be brought together.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

from discreet.errors import InputError, must_be

Keys = tuple[int, ...]

MOST_IN_TABLE = 1 << 20  # combinations of one table: it stays in the cache of the processor
MOST_IN_TABLES = 1 << 22  # of all tables of one pass, of which Spark makes some for each partition
FEW_TO_CELLS = 4  # combinations for each cell up to which a table beats putting cells in order


def dense_passes(
    sets: Sequence[Keys], sizes: Sequence[int], n_cells: int
) -> tuple[list[list[Keys]], list[Keys]]:
    """The sets that are counted in tables, by the pass that makes them, and all others."""
    most = min(MOST_IN_TABLE, FEW_TO_CELLS * n_cells)
    passes: list[list[Keys]] = []
    others: list[Keys] = []
    room = 0
    for keys in sets:
        size = math.prod(sizes[key] for key in keys)
        if size > most:
            others.append(keys)
            continue
        if size > room:
            passes.append([])
            room = MOST_IN_TABLES
        passes[-1].append(keys)
        room -= size
    return passes, others


def some_at_a_time(sets: Sequence[Keys], most: int) -> Iterator[Sequence[Keys]]:
    """The sets in runs of no more than `most`."""
    for first in range(0, len(sets), most):
        yield sets[first : first + most]


def check_sets(name: str, n_keys: int, max_size: int, n_cells: int, most: int) -> None:
    """There are at most so many sets of up to `max_size` keys to go through over the cells; the
    complaint names the largest size for which there are."""
    n_sets = list(accumulate(math.comb(n_keys, size) for size in range(1, max_size + 1)))
    if n_sets[-1] <= most:
        return
    possible = sum(n <= most for n in n_sets)
    rule = f"at most {possible} here" if possible else "left out here"
    got = f"{max_size}, which takes {n_sets[-1]:,} sets of keys over {n_cells:,} cells"
    remedy = "take that, or fewer or coarser keys" if possible else "take fewer or coarser keys"
    raise InputError(must_be(name, rule, got, remedy=remedy))
