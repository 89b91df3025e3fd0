"""Structural zeros: combinations that cannot occur, such as married children.

Each is a box: some keys at a given level, the other keys at any level. The number of cells in the
union of the boxes is exact, by branching on one key at a time; boxes that share no key are
independent of each other and are counted apart.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from discreet.numerics.arrays import BoolArray, IntArray

Box = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class StructuralZeros:
    """Impossible boxes of a table with the given numbers of levels."""

    sizes: tuple[int, ...]
    boxes: tuple[tuple[tuple[int, int], ...], ...]

    @classmethod
    def of_boxes(cls, sizes: Sequence[int], boxes: Iterable[Box]) -> "StructuralZeros":
        """From boxes as mappings of key position to level; duplicates count once."""
        distinct = {tuple(sorted(box.items())) for box in boxes}
        return cls(tuple(sizes), tuple(sorted(distinct)))

    def n_possible(self) -> int:
        """Cells outside every box, as an exact integer."""
        possible = math.prod(self.sizes)
        for group in self._independent_groups():
            keys = sorted({key for box in group for key, _ in box})
            cells = math.prod(self.sizes[key] for key in keys)
            possible = possible // cells * (cells - self._n_covered(tuple(group), keys))
        return possible

    def covers(self, levels: IntArray) -> BoolArray:
        """Whether each cell (a row of levels) lies in a box; one lookup for each set of keys."""
        covered = np.zeros(len(levels), dtype=np.bool_)
        by_keys: dict[tuple[int, ...], list[list[int]]] = {}
        for box in self.boxes:
            by_keys.setdefault(tuple(key for key, _ in box), []).append([v for _, v in box])
        for keys, wanted in by_keys.items():
            sizes = [self.sizes[key] + 1 for key in keys]  # a missing level may stand beyond
            if math.prod(sizes) < 2**62:
                strides = np.cumprod([1, *sizes[:-1]], dtype=np.int64)
                covered |= np.isin(levels[:, list(keys)] @ strides, np.array(wanted) @ strides)
            else:
                rows = {tuple(row) for row in wanted}
                covered |= [tuple(row) in rows for row in levels[:, list(keys)].tolist()]
        return covered

    def _independent_groups(self) -> list[list[tuple[tuple[int, int], ...]]]:
        groups: list[tuple[set[int], list[tuple[tuple[int, int], ...]]]] = []
        for box in self.boxes:
            keys, members = {key for key, _ in box}, [box]
            for group in [g for g in groups if g[0] & keys]:
                groups.remove(group)
                keys |= group[0]
                members += group[1]
            groups.append((keys, members))
        return [members for _, members in groups]

    def _n_covered(
        self, boxes: tuple[tuple[tuple[int, int], ...], ...], keys: Sequence[int]
    ) -> int:
        """Cells of the sub-table of `keys` in the union of the boxes."""
        remaining = [math.prod(self.sizes[key] for key in keys[i:]) for i in range(len(keys) + 1)]
        wanted = [dict(box) for box in boxes]

        @cache
        def covered(depth: int, alive: frozenset[int]) -> int:
            if not alive:
                return 0
            if any(all(wanted[b].get(key) is None for key in keys[depth:]) for b in alive):
                return remaining[depth]
            key = keys[depth]
            free = frozenset(b for b in alive if key not in wanted[b])
            named = {wanted[b][key] for b in alive if key in wanted[b]}
            inside = sum(
                covered(depth + 1, free | {b for b in alive if wanted[b].get(key) == level})
                for level in named
            )
            return inside + (self.sizes[key] - len(named)) * covered(depth + 1, free)

        return covered(0, frozenset(range(len(boxes))))
