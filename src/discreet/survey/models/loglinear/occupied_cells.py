"""All occupied cells of a sample in memory, and their margins as combinations that occur."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.coding import WORD_LIMIT
from discreet.numerics.arrays import CountArray, FloatArray, IntArray, read_only

Keys = tuple[int, ...]
LevelArray = NDArray[np.integer[Any]]  # keys × cells, in as few bytes as the levels need
DENSE_FACTOR = 4  # codes are counted in a plain array up to this many times the cells
KEPT_ENTRIES = 1 << 26  # places of cells in margins that are kept, some 256 MB


@dataclass(frozen=True, slots=True)
class Margin:
    """Counts of the combinations of some keys that occur: `total[i]` records have `code[i]`.

    `code` ascends; `group[k]` is the place of occupied cell k in it, `member[i]` some cell of i.
    """

    keys: Keys
    code: IntArray
    total: FloatArray
    group: NDArray[np.int32]
    member: IntArray


@dataclass(frozen=True)
class OccupiedCells:
    """All occupied cells of a sample: `levels[a]` are the levels of key a, one for each cell.

    Margins are worked out when first asked for; the latest are kept.
    """

    sizes: tuple[int, ...]
    levels: LevelArray
    sample_count: IntArray
    weight_total: FloatArray | None = None
    _margins: dict[Keys, Margin] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        read_only(self.levels)
        read_only(self.sample_count)

    def __len__(self) -> int:
        return len(self.sample_count)

    @property
    def sample_size(self) -> int:
        """Records in all cells."""
        return int(self.sample_count.sum())

    @property
    def sample_uniques(self) -> int:
        """Cells of one record."""
        return int(np.count_nonzero(self.sample_count == 1))

    def n_combinations(self, keys: Keys) -> int:
        """Product of the numbers of levels of some keys, as an exact integer."""
        return math.prod(self.sizes[key] for key in keys)

    def has_code(self, keys: Keys) -> bool:
        """Whether a combination of these keys has a 64-bit code; no margin of others is given."""
        return self.n_combinations(keys) <= WORD_LIMIT

    def margin(self, keys: Keys) -> Margin:
        """The margin of some keys, ascending."""
        found = self._margins.get(keys)
        if found is None:
            found = self._counted(keys)
            while self._margins and (len(self._margins) + 1) * len(self) > KEPT_ENTRIES:
                self._margins.pop(next(iter(self._margins)))
            self._margins[keys] = found
        return found

    def _counted(self, keys: Keys) -> Margin:
        code = combination_code(self.levels, keys, self.sizes)
        largest = self.n_combinations(keys)
        if largest <= DENSE_FACTOR * len(self) + 1024:
            return self._counted_densely(keys, code, largest)
        codes, group = np.unique(code, return_inverse=True)
        total = np.bincount(group, self.sample_count, len(codes)).astype(np.float64)
        return Margin(keys, codes, total, group.astype(np.int32), _members(group, len(codes)))

    def _counted_densely(self, keys: Keys, code: IntArray, n_codes: int) -> Margin:
        every = np.bincount(code, self.sample_count, n_codes).astype(np.float64)
        codes = np.flatnonzero(every)
        place = (np.cumsum(every > 0) - 1).astype(np.int32)
        group = place[code]
        return Margin(keys, codes, every[codes], group, _members(group, len(codes)))


def _members(group: NDArray[np.integer[Any]], n_groups: int) -> IntArray:
    """A cell of each group."""
    member = np.empty(n_groups, dtype=np.int64)
    member[group] = np.arange(len(group))
    return member


def combination_code(levels: LevelArray, keys: Keys, sizes: Sequence[int]) -> IntArray:
    """One number for the levels of some keys in each cell; trusted: they fit in 62 bits."""
    code = np.zeros(levels.shape[1], dtype=np.int64)
    for key in keys:
        code *= sizes[key]
        code += levels[key]
    return code


def gathered_cells(
    sizes: Sequence[int],
    parts: Iterable[tuple[IntArray, CountArray, FloatArray | None]],
) -> OccupiedCells:
    """Occupied cells from batches of (levels as cells × keys, counts, weight totals)."""
    levels, counts, weights = [], [], []
    small = np.min_scalar_type(max(sizes, default=1) - 1)
    for part_levels, part_counts, part_weights in parts:
        levels.append(part_levels.T.astype(small))
        counts.append(part_counts.astype(np.int64))
        weights.append(part_weights)
    known = [w for w in weights if w is not None]
    return OccupiedCells(
        tuple(sizes),
        np.concatenate(levels, axis=1),
        np.concatenate(counts),
        np.concatenate(known) if len(known) == len(weights) else None,
    )
