"""Keys that determine other keys, and how many cells are possible beside them.

Where the district tells the region, a district goes with one region only, and the combinations of
it with others are no cells that an estimate should reckon with.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from discreet.data.coding import Coding
from discreet.data.nesting import Nested, nested_pairs
from discreet.numerics.arrays import BoolArray, IntArray

FREE = -1  # what a level determines that never occurs with a known level of the other key
SOME_CELLS = 4096  # that are looked at before all
MOST_JOINED = 4_000_000  # pairs of signatures that are held against each other

Signature = tuple[int, ...]


def nested_keys(
    words: IntArray, coding: Coding, records: IntArray, sizes: Sequence[int]
) -> tuple[Nested, ...]:
    """All pairs of keys of which one determines the other, by position.

    `words` are the codes of the occupied cells, `sizes` how many levels of each key are known ones;
    cells with a level beyond, which stands for a missing value, say nothing of that key. Some cells
    speak first, since they already contradict most pairs; one pass over all for each pair of keys
    that is left.
    """
    some = coding.decode(words[:: max(len(words) // SOME_CELLS, 1)])
    found: list[Nested] = []
    for a, b in combinations(range(len(sizes)), 2):
        here = _of_two(some[:, a], some[:, b], sizes[a], sizes[b])[:2]
        if not _may_determine(*here) and not _may_determine(*here[::-1]):
            continue
        level_a, level_b, known = _of_two(
            coding.level(words, a), coding.level(words, b), sizes[a], sizes[b]
        )
        pairs, counts = _two_way(level_a, level_b, records[known], sizes[b])
        both = nested_pairs(pairs, counts, (sizes[a], sizes[b])) if len(pairs) else ()
        names = (a, b)
        found += [Nested(names[p.determining], names[p.determined]) for p in both]
    return tuple(sorted(found, key=lambda pair: (pair.determining, pair.determined)))


def _of_two(
    level_a: IntArray, level_b: IntArray, size_a: int, size_b: int
) -> tuple[IntArray, IntArray, BoolArray]:
    """The levels of two keys in the cells in which both are known, and which these are."""
    known: BoolArray = (level_a < size_a) & (level_b < size_b)
    return level_a[known], level_b[known], known


def _may_determine(first: IntArray, second: IntArray) -> bool:
    """Whether no level of the first occurs with two of the second."""
    if not len(first):
        return True
    one = np.zeros(int(first.max()) + 1, dtype=np.int64)
    one[first] = second
    return bool(np.array_equal(one[first], second))


def _two_way(
    level_a: IntArray, level_b: IntArray, records: IntArray, size_b: int
) -> tuple[IntArray, IntArray]:
    """The occupied cells of two keys and their records."""
    values, place = np.unique(level_a * size_b + level_b, return_inverse=True)
    counts = np.bincount(place, weights=records, minlength=len(values))
    return np.stack([values // size_b, values % size_b], axis=1), counts.astype(np.int64)


def n_possible(levels: IntArray, sizes: Sequence[int], nested: Sequence[Nested]) -> int:
    """Cells of a table with these levels in which every nested key has the level it must have.

    `levels` are those of occupied cells, from which is read what goes together; a pair that does
    not hold there is left out. Exact, but where two keys that determine a third have too many
    levels to be joined: then one pair is left out, and the number is too high.
    """
    maps = dict(_maps(levels, sizes, nested))
    copies = _copies(maps)
    keys = [key for key in range(len(sizes)) if copies[key] == key]
    kept = {
        (a, b): to for (a, b), to in maps.items() if copies[a] == a and copies[b] == b and a != b
    }
    return math.prod(_n_together(group, sizes, kept) for group in _groups(keys, kept))


def ruled_out(
    levels: IntArray, sizes: Sequence[int], nested: Sequence[Nested]
) -> list[dict[int, int]]:
    """Pairs of levels, by key, that cannot occur together; see `n_possible`."""
    return [
        {a: level, b: other}
        for (a, b), to in _maps(levels, sizes, nested)
        for level, own in enumerate(to.tolist())
        for other in range(sizes[b])
        if own not in (FREE, other)
    ]


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


def _maps(
    levels: IntArray, sizes: Sequence[int], nested: Sequence[Nested]
) -> Iterator[tuple[tuple[int, int], IntArray]]:
    """For each pair that holds, the level that each level of the first key determines."""
    for pair in nested:
        a, b = pair.determining, pair.determined
        known = (levels[:, a] < sizes[a]) & (levels[:, b] < sizes[b])
        to = np.full(sizes[a], FREE)
        to[levels[known, a]] = levels[known, b]
        if (to[levels[known, a]] == levels[known, b]).all():
            yield (a, b), to


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
