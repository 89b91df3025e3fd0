"""Sets of keys, and how the records under them are counted: in dense tables, or by putting cells
that agree together.

A table of all combinations of a few keys is small however many cells there are. Many such tables
are made in one pass over the cells, and none of them moves. Only sets with more combinations than a
table should have need cells that agree to be brought together.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.contract import Cells
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import IntArray

Keys = tuple[int, ...]

MOST_IN_TABLE = 1 << 20  # combinations of one table: it stays in the cache of the processor
MOST_IN_TABLES = 1 << 22  # of all tables of one pass, of which Spark makes some for each partition
MOST_TOGETHER = 1 << 21  # cells that may agree on a key by which cells are brought together
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


def brought_together(cells: Cells, sets: Sequence[Keys]) -> Iterator[tuple[Keys, list[Keys]]]:
    """Keys that cells are brought together by, and the sets of keys that this serves."""
    yield from served(sets, _fine_keys(cells, sets))


def served(sets: Sequence[Keys], fine: frozenset[int]) -> Iterator[tuple[Keys, list[Keys]]]:
    """First the fine key that most of the sets hold. A set without a fine key is served by all of
    its own keys."""
    left = list(sets)
    while left:
        counts = {key: sum(key in keys for keys in left) for key in sorted(fine)}
        key = max(counts, key=lambda key: counts[key], default=None)
        if key is None or not counts[key]:
            for keys in left:
                yield keys, [keys]
            return
        yield (key,), [keys for keys in left if key in keys]
        left = [keys for keys in left if key not in keys]


def _fine_keys(cells: Cells, sets: Sequence[Keys]) -> frozenset[int]:
    """Keys of the sets on whose commonest level few enough cells agree. Those with more levels than
    a table should have are not asked."""
    sizes = cells.space.coding.sizes
    keys = tuple(sorted({k for s in sets for k in s if sizes[k] <= MOST_IN_TABLE}))
    if not keys:
        return frozenset()
    held = cells.fold(_CellsByLevel(keys))
    return frozenset(k for k, n in zip(keys, held, strict=True) if n.max() <= MOST_TOGETHER)


@dataclass(frozen=True)
class _CellsByLevel:
    """How many cells have each level of some keys."""

    keys: Keys
    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> list[IntArray]:
        return [
            np.bincount(batch.coding.level(batch.words, k), minlength=batch.coding.sizes[k])
            for k in self.keys
        ]

    def joined(self, one: list[IntArray], other: list[IntArray]) -> list[IntArray]:
        return [a + b for a, b in zip(one, other, strict=True)]


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
