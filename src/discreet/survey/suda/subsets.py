"""Where uniqueness begins: the sample uniques under every set of up to s keys.

Uniques never decrease when a key is added, so a set under which every record is unique need not be
extended: all its supersets are the same. Sets of few combinations are counted in dense tables, many
in one pass over the cells; others cost one sort of the cells each, wherever these lie.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.contract import Cells
from discreet.engines.key_space import View
from discreet.engines.local.grouping import small_groups
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray
from discreet.progress import Progress, silent
from discreet.survey.projection import MOST_HELD
from discreet.survey.suda.key_sets import (
    Keys,
    brought_together,
    check_sets,
    dense_passes,
    some_at_a_time,
)
from discreet.survey.suda.scores import up_to_keys

MOST_WORK = 100_000_000_000  # sets of keys times cells: an hour or so
MOST_MATCHED = 2_000_000_000  # the same where missing values match, which takes far longer
SET_WORK = 20_000  # cells that a set of keys costs however few there are
AT_ONCE = 256  # sets that are looked at together
STEP = "looking at sets of keys"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySet:
    """A set of keys and the records that are alone under it."""

    keys: tuple[str, ...]
    sample_uniques: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetSize:
    """All sets of one size: how many make some record unique, and those that make most unique."""

    size: int
    n_sets: int
    n_with_uniques: int
    worst: tuple[KeySet, ...]


def subset_uniques(
    cells: Cells, max_size: int, *, shown: int = 5, progress: Progress = silent
) -> tuple[SubsetSize, ...]:
    """For each size up to `max_size`, the sets of keys that make most records unique. Exact."""
    n_keys = len(cells.space.keys)
    if not 1 <= max_size <= n_keys:
        raise InputError(must_be("subsets", up_to_keys(n_keys), max_size))
    work = MOST_MATCHED if cells.space.overlap else MOST_WORK
    most = work // (cells.n_cells + SET_WORK)
    check_sets("subsets", n_keys, max_size, cells.n_cells, most)
    everyone = cells.n_records
    saturated: list[frozenset[int]] = []
    found: list[SubsetSize] = []
    for size in range(1, max_size + 1):
        progress(STEP, (size - 1) / max_size)
        sets = list(combinations(range(n_keys), size))
        open_sets = [s for s in sets if not any(known <= set(s) for known in saturated)]
        uniques = _uniques(cells, open_sets)
        saturated += [frozenset(keys) for keys, n in uniques.items() if n == everyone]
        found.append(_summary(cells, size, [(s, uniques.get(s, everyone)) for s in sets], shown))
    return tuple(found)


def _uniques(cells: Cells, sets: Sequence[Keys]) -> dict[Keys, int]:
    """The sample uniques under each set of keys."""
    whole = cells.space.itself()
    if cells.space.overlap:  # each set has its own matches
        return {s: cells.seen_through(whole.of_keys(s)).size_indices().sample_uniques for s in sets}
    passes, others = dense_passes(sets, cells.space.coding.sizes, cells.n_cells)
    found: dict[Keys, int] = {}
    for dense in passes:
        tables = cells.margins(dense)
        found |= {keys: int(np.count_nonzero(table == 1)) for keys, table in tables.items()}
    if cells.n_cells > MOST_HELD:
        return found | _uniques_together(cells, others)
    for some in some_at_a_time(others, AT_ONCE):
        small = cells.small([whole.of_keys(keys) for keys in some], 2)
        found |= {keys: own.uniques for keys, own in zip(some, small, strict=True)}
    return found


def _uniques_together(cells: Cells, sets: Sequence[Keys]) -> dict[Keys, int]:
    """The same of cells that lie in many parts: they move once for each key that many sets hold."""
    found: dict[Keys, int] = {}
    for by, some in brought_together(cells, sets):
        views = tuple(cells.space.itself().of_keys(keys) for keys in some)
        uniques = cells.add_together(_CountUniques(views), by)
        found |= dict(zip(some, uniques, strict=True))
    return found


@dataclass(frozen=True)
class _CountUniques:
    """The sample uniques under each view, of cells whose like are with them."""

    views: tuple[View, ...]
    reads: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> tuple[dict[str, FloatArray], list[int]]:
        records = batch.n_records
        return {}, [
            small_groups(view.words(batch.words), records, 2).uniques for view in self.views
        ]

    def joined(self, one: list[int], other: list[int]) -> list[int]:
        return [a + b for a, b in zip(one, other, strict=True)]


def _summary(cells: Cells, size: int, sets: Sequence[tuple[Keys, int]], shown: int) -> SubsetSize:
    ranked = sorted(sets, key=lambda one: -one[1])[:shown]
    names = cells.space.names
    return SubsetSize(
        size=size,
        n_sets=len(sets),
        n_with_uniques=sum(n > 0 for _, n in sets),
        worst=tuple(
            KeySet(keys=tuple(names[key] for key in keys), sample_uniques=n)
            for keys, n in ranked
            if n
        ),
    )
