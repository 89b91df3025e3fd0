"""Keys that determine other keys, and how many cells are possible beside them.

Where the district tells the region, a district goes with one region only, and the combinations of
it with others are no cells that an estimate should reckon with.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.nesting import Nested, nested_pairs
from discreet.engines.contract import Cells
from discreet.numerics.arrays import IntArray

FREE = -1  # what a level determines that never occurs with a known level of the other key
SOME_CELLS = 4096  # that are looked at before all
MOST_BOXES = 20_000  # pairs of levels that are held against a list of impossible combinations
MOST_JOINED = 4_000_000  # pairs of signatures that are held against each other

Signature = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Nesting:
    """Keys that determine others: for each pair of them, by position, the level of the second that
    each level of the first goes with, `FREE` for one that never occurs with a known level."""

    maps: Mapping[tuple[int, int], IntArray] = field(default_factory=dict)

    @property
    def pairs(self) -> tuple[Nested, ...]:
        """The determining key of each pair, and the determined one."""
        return tuple(Nested(a, b) for a, b in sorted(self.maps))

    @property
    def repeated(self) -> tuple[int, ...]:
        """Keys that say the same as an earlier one, in other words."""
        return tuple(sorted(key for key, first in _copies(self.maps).items() if key != first))

    def n_possible(self, sizes: Sequence[int]) -> int:
        """Cells of a table with so many levels of each key in which every nested key has the level
        it must have.

        Exact, but where two keys that determine a third have too many levels to be joined: then one
        pair is left out, and the number is too high.
        """
        copies = _copies(self.maps)
        keys = [key for key in range(len(sizes)) if copies[key] == key]
        kept = {
            (a, b): to
            for (a, b), to in self.maps.items()
            if copies[a] == a and copies[b] == b and a != b
        }
        return math.prod(_n_together(group, sizes, kept) for group in _groups(keys, kept))

    def ruled_out(self, sizes: Sequence[int]) -> list[dict[int, int]]:
        """Pairs of levels, by key, that cannot occur together; none where they would be too
        many."""
        found = (
            {a: level, b: other}
            for (a, b), to in sorted(self.maps.items())
            for level, own in enumerate(to.tolist())
            for other in range(sizes[b])
            if own not in (FREE, other)
        )
        boxes = list(islice(found, MOST_BOXES + 1))
        return boxes if len(boxes) <= MOST_BOXES else []


def nesting_of(cells: Cells) -> Nesting:
    """All pairs of keys of which one determines the other.

    Cells with a missing value that matches anything say nothing of that key. Some cells speak
    first, since they already contradict most pairs; one pass over all for those that are left.
    """
    sizes = cells.space.known_sizes
    some = cells.sampled(SOME_CELLS)
    every = tuple(combinations(range(len(sizes)), 2))
    start = PairsOfLevels(every, tuple(sizes))
    left = tuple(pair for pair, found in start.of(some).items() if found is not None)
    if not left:
        return Nesting()
    occupied = cells.fold(PairsOfLevels(left, tuple(sizes)))
    maps: dict[tuple[int, int], IntArray] = {}
    for (a, b), found in occupied.items():
        if found is not None and len(found[0]):
            maps |= _maps((a, b), *found, sizes)
    return Nesting(dict(sorted(maps.items())))


Occupied = tuple[IntArray, IntArray]  # codes of pairs of levels, and their records


@dataclass(frozen=True, slots=True)
class PairsOfLevels:
    """The pairs of known levels that occur of pairs of keys; None for keys neither of which can
    determine the other, so that no more is kept than either has levels."""

    pairs: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]
    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> dict[tuple[int, int], Occupied | None]:
        """Of some cells."""
        found: dict[tuple[int, int], Occupied | None] = {}
        for a, b in self.pairs:
            first = batch.coding.level(batch.words, a)
            second = batch.coding.level(batch.words, b)
            known = (first < self.sizes[a]) & (second < self.sizes[b])
            first, second = first[known], second[known]
            found[a, b] = None
            if _may_determine(first, second) or _may_determine(second, first):
                code = first * self.sizes[b] + second
                found[a, b] = _added_up(code, batch.n_records[known])
        return found

    def joined(
        self,
        one: dict[tuple[int, int], Occupied | None],
        other: dict[tuple[int, int], Occupied | None],
    ) -> dict[tuple[int, int], Occupied | None]:
        """Of the cells of both."""
        return {pair: self._both(pair, one[pair], other[pair]) for pair in self.pairs}

    def _both(
        self, pair: tuple[int, int], one: Occupied | None, other: Occupied | None
    ) -> Occupied | None:
        if one is None or other is None:
            return None
        codes, records = _added_up(*(np.concatenate(both) for both in zip(one, other, strict=True)))
        first, second = np.divmod(codes, self.sizes[pair[1]])
        may = _may_determine(first, second) or _may_determine(second, first)
        return (codes, records) if may else None


def _added_up(code: IntArray, records: IntArray) -> Occupied:
    codes, place = np.unique(code, return_inverse=True)
    return codes, np.bincount(place, records, len(codes)).astype(np.int64)


def _maps(
    keys: tuple[int, int], codes: IntArray, records: IntArray, sizes: Sequence[int]
) -> dict[tuple[int, int], IntArray]:
    """What each of two keys determines of the other, where that is no accident."""
    own = [sizes[key] for key in keys]
    levels = np.stack(np.divmod(codes, own[1]), axis=1)
    found = {}
    for pair in nested_pairs(levels, records, own):
        a, b = pair.determining, pair.determined
        to = np.full(own[a], FREE)
        to[levels[:, a]] = levels[:, b]
        found[keys[a], keys[b]] = to
    return found


def _may_determine(first: IntArray, second: IntArray) -> bool:
    """Whether no level of the first occurs with two of the second."""
    if not len(first):
        return True
    one = np.zeros(int(first.max()) + 1, dtype=np.int64)
    one[first] = second
    return bool(np.array_equal(one[first], second))


def _groups(keys: Sequence[int], maps: Mapping[tuple[int, int], IntArray]) -> list[set[int]]:
    """Keys that have to do with each other, directly or through others."""
    groups = [{key} for key in keys]
    for pair in maps:
        touched = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if group not in touched]
        groups.append(set().union(*touched))
    return groups


def _n_together(
    group: set[int], sizes: Sequence[int], maps: Mapping[tuple[int, int], IntArray]
) -> int:
    """Combinations of the keys of one group: of the levels of keys that nothing determines, those
    that agree on what they determine."""
    here = {pair: to for pair, to in maps.items() if pair[0] in group}
    determined = {b for _, b in here}
    joined: dict[Signature, int] = {(FREE,) * len(sizes): 1}
    for key in sorted(group - determined):
        joined = _joined(joined, _signatures(key, sizes, here))
    return sum(
        n * math.prod(sizes[key] for key in determined if signature[key] == FREE)
        for signature, n in joined.items()
    )


def _copies(maps: Mapping[tuple[int, int], IntArray]) -> dict[int, int]:
    """For each key the first one that determines it and is determined by it, or itself."""
    first: dict[int, int] = _Identity()
    for a, b in sorted(maps):
        if a < b and (b, a) in maps and FREE not in maps[a, b] and FREE not in maps[b, a]:
            first[b] = min(first[b], first[a])
    return first


class _Identity(dict[int, int]):
    """Every key stands for itself unless another was put down for it."""

    def __missing__(self, key: int) -> int:
        return key


def _signatures(
    key: int, sizes: Sequence[int], maps: Mapping[tuple[int, int], IntArray]
) -> dict[Signature, int]:
    """How many levels of a key determine the same levels of the others."""
    columns = [maps.get((key, other), np.full(sizes[key], FREE)) for other in range(len(sizes))]
    rows, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return {tuple(row): int(n) for row, n in zip(rows.tolist(), counts, strict=True)}


def _joined(one: dict[Signature, int], other: dict[Signature, int]) -> dict[Signature, int]:
    """All pairs of signatures that do not contradict each other, and how many levels they have."""
    if len(one) * len(other) > MOST_JOINED:
        n_levels = sum(other.values())
        return {signature: n * n_levels for signature, n in one.items()}
    found: dict[Signature, int] = {}
    for left, n in one.items():
        for right, m in other.items():
            both = _merged(left, right)
            if both is not None:
                found[both] = found.get(both, 0) + n * m
    return found


def _merged(left: Signature, right: Signature) -> Signature | None:
    if any(x != y and FREE not in (x, y) for x, y in zip(left, right, strict=True)):
        return None
    return tuple(max(x, y) for x, y in zip(left, right, strict=True))
