"""Special uniques where a missing value matches other values: SUDA by the policy of the file.

A set of keys is a *minimal sample unique* of a record when no other record counts as a match on
these keys, while on every smaller part of them one does. What counts as a match is what the policy
says of any set of keys (see `AllCells.project`):

- `wildcard`: another record is excluded by a key that both have and on which they differ; if a
  match through a missing value counts nothing, also by a key that either lacks.
- `conservative`: by a key that the other record lacks, or that both have and on which they differ.

So each other record has a set of keys that exclude it, whoever is alone on a set is alone on all
larger ones, and minimal sets are as well defined as without missing values. Records of one cell may
each be alone, for they need not match each other; they have the same minimal sample uniques.

Cost: each set of keys is one projection of all cells and a matching of the coarser cells that it
leaves, at most as many as its levels allow, with the patterns of what they lack. The work is
estimated beforehand and refused above MOST_WORK. One bit for a cell that is alone on all keys is
kept for each set below the largest.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from discreet.errors import MissingError, must_be
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.progress import Progress
from discreet.survey.projection import AllCells
from discreet.survey.suda.derivation import Derivation, derivation
from discreet.survey.suda.scores import SpecialUniques

MOST_WORK = 2_000_000_000  # steps, of which a core takes some twenty million a second
SET_WORK = 20_000  # steps that a set of keys takes however few the cells are
STEP = "searching for minimal sample uniques"


class MatchingTooLongError(MissingError):
    """Minimal sample uniques that would take too long to find under the missing policy."""


def special_uniques_by_matching(
    cells: AllCells, max_size: int, progress: Progress
) -> SpecialUniques:
    """All minimal sample uniques of at most `max_size` keys under the policy of the cells. Exact.

    Checked: the work stays within MOST_WORK. Trusted: `max_size`.
    """
    n_keys, n_cells = len(cells.keys), len(cells.records)
    n_sets = sum(math.comb(n_keys, size) for size in range(1, max_size + 1))
    if matching_work(cells.coding.sizes, n_cells, max_size) > MOST_WORK:
        raise _too_much(cells, max_size, n_sets)
    rows = np.flatnonzero(cells.sample_count <= 1)
    levels = cells.coding.decode(cells.words)
    tally = _Tally(levels[rows], cells.records[rows], cells.coding.sizes, max_size)
    done = 0
    for size in range(1, max_size + 1):
        for keys in combinations(range(n_keys), size):
            projection = cells.project(keys)
            tally.add(keys, (projection.sample_count <= 1)[projection.place[rows]])
            done += 1
            progress(STEP, done / n_sets)
    occurring = [np.unique(levels[:, key]) for key in range(n_keys)]
    return SpecialUniques(
        n_rows=n_cells,
        max_size=max_size,
        rows=rows,
        n_msus=tally.n_msus,
        levels=tuple(occurring),
        level_msus=tuple(of[codes] for of, codes in zip(tally.by_level, occurring, strict=True)),
        key_msus=None,
        records=cells.records[rows],
    )


def matching_work(sizes: Sequence[int], n_cells: int, max_size: int) -> int:
    """Steps that it takes at most to match all sets of up to `max_size` keys with these levels.

    A set S of s keys takes SET_WORK, a step for each cell to project it, and 2^s for each of the
    coarser cells, at most min(cells, ∏ levels), to match it. Where the first two alone exceed
    MOST_WORK the sets are not gone through.
    """
    n_sets = sum(math.comb(len(sizes), size) for size in range(1, max_size + 1))
    work = n_sets * (SET_WORK + n_cells)
    if work > MOST_WORK:
        return work
    sets = (keys for size in range(1, max_size + 1) for keys in combinations(sizes, size))
    return work + sum(min(n_cells, math.prod(keys)) << len(keys) for keys in sets)


def _too_much(cells: AllCells, max_size: int, n_sets: int) -> MatchingTooLongError:
    sizes, n_cells = cells.coding.sizes, len(cells.records)
    smaller = range(1, max_size)
    possible = [size for size in smaller if matching_work(sizes, n_cells, size) <= MOST_WORK]
    rule = f"at most {max(possible)} here" if possible else "left out here"
    got = f"{max_size}, which takes {n_sets:,} sets of keys to match over {n_cells:,} cells"
    remedy = "take that, or fewer keys, or category for missing values, which needs no matching"
    return MatchingTooLongError(must_be("suda", rule, got, remedy=remedy))


class _Tally:
    """Minimal sample uniques found so far, sets of keys coming smallest first."""

    def __init__(
        self, levels: IntArray, records: IntArray, sizes: tuple[int, ...], max_size: int
    ) -> None:
        self.levels, self.records, self.max_size = levels, records, max_size
        self.n_msus = np.zeros((len(levels), max_size), dtype=np.int32)
        self.by_level = [np.zeros((size, max_size), dtype=np.int64) for size in sizes]
        self.alone: dict[tuple[int, ...], np.ndarray] = {}

    def add(self, keys: tuple[int, ...], alone: BoolArray) -> None:
        """Put down who is alone on these keys and on no part of them."""
        minimal = alone.copy()
        for part in combinations(keys, len(keys) - 1) if len(keys) > 1 else ():
            minimal &= ~np.unpackbits(self.alone[part], count=len(alone)).astype(np.bool_)
        if len(keys) < self.max_size:
            self.alone[keys] = np.packbits(alone)
        size = len(keys) - 1
        self.n_msus[minimal, size] += 1
        for key in keys:
            levels = self.levels[minimal, key]
            np.add.at(self.by_level[key][:, size], levels, self.records[minimal])


def derive_by_matching(cells: AllCells, row: int, max_size: int) -> Derivation:
    """The minimal sample uniques of one cell, from the keys that exclude each other record."""
    levels = cells.coding.decode(cells.words)
    absent = levels == cells.missing_levels
    excludes = (levels != levels[row]) & ~absent & ~absent[row]
    if cells.policy.matching == "conservative":
        excludes |= absent
    elif cells.missing_weight == 0:
        excludes |= absent | absent[row]
    others = np.ones(len(levels), dtype=np.bool_)
    others[row] = cells.records[row] > 1
    return derivation(levels, row, excludes[others], max_size=max_size)
