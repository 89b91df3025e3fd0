"""How far the tables of one key and of two keys moved.

The tables before are of the values recoded as those after, so that coarsening alone moves nothing:
what it costs is information, which is measured on the values as they were.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.numerics.rounding import ALIKE
from discreet.protection.key_change import MOST_CELLS, entropy_of
from discreet.protection.transition import Transition

Keys = tuple[int, ...]
Levels = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMoves:
    """By key or pair of keys: the share of persons in another cell (weighted too, empty without
    weights), the share of information kept of pairs that have some and the bits that these had, and
    what was too large."""

    distances: dict[Keys, float]
    weighted: dict[Keys, float]
    information: dict[Keys, float] = field(default_factory=dict)
    bits_before: dict[Keys, float] = field(default_factory=dict)
    too_large: tuple[Keys, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyColumn:
    """Levels of one key: as they were, as they would be by the recoding alone, and as they are.

    The last of `n_after` is kept free for a value that is recoded into the missing level: it is
    not placed, while a value that was missing before is where it belongs.
    """

    before: Levels
    recoded: Levels
    after: Levels
    n_before: int
    n_after: int
    missing_before: bool
    missing_after: bool

    @property
    def known_before(self) -> BoolArray:
        """Which rows had a value."""
        return np.asarray(self.before != (self.n_before - 1 if self.missing_before else -1))

    @property
    def known_after(self) -> BoolArray:
        """Which rows have a value."""
        return np.asarray(self.after != (self.n_after - 2 if self.missing_after else -1))


def key_columns(transition: Transition) -> list[KeyColumn]:
    """The columns of each key, one after the other in memory."""
    return [_column(transition, key) for key in range(len(transition.keys_before))]


def _column(transition: Transition, key: int) -> KeyColumn:
    old, new = transition.keys_before[key], transition.keys_after[key]
    missing_before, missing_after = None in old.values, None in new.values
    to = transition.recoded[key].astype(np.int32)
    if missing_after:
        known = np.array([value is not None for value in old.values], dtype=np.bool_)
        to[known & (to == len(new.values) - 1)] = len(new.values)
    before = transition.before[:, key].astype(np.int32)
    return KeyColumn(
        before=before,
        recoded=to[before],
        after=transition.after[:, key].astype(np.int32),
        n_before=len(old.values),
        n_after=len(new.values) + 1,
        missing_before=missing_before,
        missing_after=missing_after,
    )


def one_way_moves(transition: Transition, columns: Sequence[KeyColumn]) -> TableMoves:
    """The distance of the table of each key."""
    keys = [(j,) for j in range(len(columns))]
    return TableMoves(
        distances=_distances(columns, keys, transition.records),
        weighted=_weighted(columns, keys, transition.weight),
    )


def two_way_moves(transition: Transition, columns: Sequence[KeyColumn]) -> TableMoves:
    """The distance of the table of each pair of keys, and the information that it keeps.

    Pairs whose table before or after has more than 2²² cells are left out, and named.
    """
    pairs = list(combinations(range(len(columns)), 2))
    small = [pair for pair in pairs if _n_cells(columns, pair) <= MOST_CELLS]
    kept = {pair: _kept([columns[j] for j in pair], transition.records) for pair in small}
    return TableMoves(
        distances=_distances(columns, small, transition.records),
        weighted=_weighted(columns, small, transition.weight),
        information={pair: after / before for pair, (before, after) in kept.items() if before},
        bits_before={pair: before for pair, (before, _) in kept.items()},
        too_large=tuple(pair for pair in pairs if pair not in kept),
    )


def _n_cells(columns: Sequence[KeyColumn], pair: Keys) -> int:
    one, other = (columns[j] for j in pair)
    return max(one.n_before * other.n_before, one.n_after * other.n_after)


def _distances(
    columns: Sequence[KeyColumn], tables: Sequence[Keys], mass: IntArray | FloatArray
) -> dict[Keys, float]:
    return {keys: _distance([columns[j] for j in keys], mass) for keys in tables}


def _weighted(
    columns: Sequence[KeyColumn], tables: Sequence[Keys], weight: FloatArray | None
) -> dict[Keys, float]:
    return {} if weight is None else _distances(columns, tables, weight)


def _distance(columns: Sequence[KeyColumn], mass: IntArray | FloatArray) -> float:
    """½ Σ |p − q|, the total variation distance: the share of persons to move for equal tables."""
    sizes = [column.n_after for column in columns]
    before = _table([column.recoded for column in columns], sizes, mass)
    after = _table([column.after for column in columns], sizes, mass)
    return float(np.abs(before - after).sum() / 2.0) / (float(mass.sum()) or 1.0)


def _table(
    levels: Sequence[Levels], sizes: Sequence[int], mass: IntArray | FloatArray
) -> FloatArray:
    """The table of these levels, flat."""
    codes = levels[0].astype(np.int64)
    for level, size in zip(levels[1:], sizes[1:], strict=True):
        codes *= size
        codes += level
    n_cells = int(np.prod(sizes))
    return np.bincount(codes, weights=mass, minlength=n_cells).astype(np.float64)


def _kept(columns: Sequence[KeyColumn], records: IntArray) -> tuple[float, float]:
    """The bits that two keys have of each other before and after, in all records together.

    What chance changes add to them is no information kept, so there are never more after.
    """
    one, other = columns
    sizes = (one.n_before, other.n_before)
    known = one.known_before & other.known_before
    before = _information((one.before, other.before), sizes, np.where(known, records, 0))
    # Bits of all records; what rounding makes of independent keys is no information.
    if before <= ALIKE * float(records.sum()):
        return 0.0, 0.0
    known = one.known_after & other.known_after
    sizes = (one.n_after, other.n_after)
    after = _information((one.after, other.after), sizes, np.where(known, records, 0))
    return before, min(after, before)


def _information(levels: Sequence[Levels], sizes: tuple[int, int], records: IntArray) -> float:
    """The mutual information of two keys in bits, times the records that have a value of both."""
    table = _table(levels, sizes, records).reshape(sizes)
    one, other = entropy_of(table.sum(axis=1)), entropy_of(table.sum(axis=0))
    return max(one + other - entropy_of(table.ravel()), 0.0) * float(table.sum())
