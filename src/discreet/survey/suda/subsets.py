"""Where uniqueness begins: the sample uniques under every set of up to s keys.

Uniques never decrease when a key is added, so a set under which every record is unique need not be
extended: all its supersets are the same. Cost: one sort of the cells for each set looked at.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from discreet.errors import InputError, must_be
from discreet.progress import Progress, silent
from discreet.survey.projection import AllCells
from discreet.survey.suda.scores import up_to_keys

MOST_WORK = 2_000_000_000  # cells times sets of keys: minutes


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
    cells: AllCells, max_size: int, *, shown: int = 5, progress: Progress = silent
) -> tuple[SubsetSize, ...]:
    """For each size up to `max_size`, the sets of keys that make most records unique. Exact."""
    n_keys = len(cells.keys)
    if not 1 <= max_size <= n_keys:
        raise InputError(must_be("subsets", up_to_keys(n_keys), max_size))
    total = sum(math.comb(n_keys, size) for size in range(1, max_size + 1))
    if total * len(cells.records) > MOST_WORK:
        got = f"{total:,} sets of keys over {len(cells.records):,} cells"
        rule = "few enough to go through"
        raise InputError(must_be("subsets", rule, got, remedy="take a smaller size"))
    everyone = int(cells.records.sum())
    saturated: list[frozenset[int]] = []
    found: list[SubsetSize] = []
    done = 0
    for size in range(1, max_size + 1):
        sets: list[KeySet] = []
        for keys in combinations(range(n_keys), size):
            uniques = everyone
            if not any(known <= set(keys) for known in saturated):
                uniques = cells.project(keys).size_indices().sample_uniques
            if uniques == everyone:
                saturated.append(frozenset(keys))
            sets.append(KeySet(keys=_names(cells, keys), sample_uniques=uniques))
            done += 1
            progress("looking at sets of keys", done / total)
        found.append(_summary(size, sets, shown))
    return tuple(found)


def _names(cells: AllCells, keys: Sequence[int]) -> tuple[str, ...]:
    return tuple(cells.names[key] for key in keys)


def _summary(size: int, sets: Sequence[KeySet], shown: int) -> SubsetSize:
    ranked = sorted(sets, key=lambda s: -s.sample_uniques)
    return SubsetSize(
        size=size,
        n_sets=len(sets),
        n_with_uniques=sum(s.sample_uniques > 0 for s in sets),
        worst=tuple(s for s in ranked[:shown] if s.sample_uniques),
    )
