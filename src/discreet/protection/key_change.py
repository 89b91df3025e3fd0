"""What became of the values of one key: which level before is which level after, and how often."""

from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.protection.search_loss import SearchedKey, SearchLoss, leaves_of
from discreet.protection.transition import Transition

MOST_CELLS = 1 << 22  # of a table that is counted densely


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """One key before and after: `records[c]` records had level `before[c]`, and have `after[c]`.

    `to[v]` is the level that value v has by the recoding alone, `n_before` and `n_after` are the
    numbers of levels, the missing one included, which is the last if `missing_before` or
    `missing_after` says that there is one. The domain has `leaves`, of which a level after stands
    for `leaf_shares`.
    """

    name: str
    before: IntArray
    after: IntArray
    records: IntArray
    to: IntArray
    leaf_shares: FloatArray
    leaves: int
    n_before: int
    n_after: int
    missing_before: bool
    missing_after: bool
    dropped: bool

    def __post_init__(self) -> None:
        for array in (self.before, self.after, self.records):
            read_only(array)

    @property
    def known_before(self) -> BoolArray:
        """Which of the cells had a value."""
        return levels_known(self.before, self.n_before, self.missing_before)

    @property
    def known_after(self) -> BoolArray:
        """Which of the cells have a value."""
        return levels_known(self.after, self.n_after, self.missing_after)

    @property
    def suppressed(self) -> BoolArray:
        """Which of the cells had a value, and have none."""
        return self.known_before & ~self.known_after

    @property
    def changed(self) -> BoolArray:
        """Which of the cells have a value that is not the recoding of what they had."""
        return np.asarray(self.known_after & (self.after != self.to[self.before]))

    @property
    def coarsened(self) -> BoolArray:
        """Which of the cells had a value that shares a level with others by the recoding."""
        several = np.bincount(self.to, minlength=self.n_after) > 1
        found: BoolArray = self.known_before & self.known_after & ~self.changed
        return found & several[self.after]

    def count(self, cells: BoolArray) -> int:
        """Records in these cells."""
        return int(self.records[cells].sum())

    def mean_loss(self, loss: SearchLoss) -> float:
        """The mean loss of a record in this key; 0 of no records.

        A changed value costs as one that has its level by the recoding.
        """
        searched = SearchedKey(
            records=self._records_before(), leaves=self.leaves, missing=self.missing_before
        )
        levels = loss.of_key(searched, self.to, self.leaf_shares)
        costs = np.where(
            self.suppressed, levels.suppressed[self.to[self.before]], levels.kept[self.after]
        )
        costs[~self.known_before & ~self.known_after] = 0.0
        mean = float(self.records @ costs) / (int(self.records.sum()) or 1)
        return min(mean, 1.0)

    def entropy_kept(self) -> float | None:
        """I(before; after) / H(before), where a value taken out is one after; None if H is 0."""
        entropy = entropy_of(self._records_before())
        if entropy == 0:
            return None
        after = entropy_of(np.bincount(self.after, weights=self.records, minlength=self.n_after))
        shared = entropy + after - entropy_of(self.records)
        return min(max(shared / entropy, 0.0), 1.0)

    def _records_before(self) -> IntArray:
        found = np.bincount(self.before, weights=self.records, minlength=self.n_before)
        return found.astype(np.int64)


def key_change(transition: Transition, key: int, leaves: int | None = None) -> KeyChange:
    """What became of one key; `leaves` of its domain are guessed from the shares if not given."""
    old, new = transition.keys_before[key], transition.keys_after[key]
    shares = transition.leaf_shares[key]
    before, after, records = counted_pairs(
        transition.before[:, key],
        transition.after[:, key],
        (len(old.values), len(new.values)),
        transition.records,
    )
    values = np.array([value is not None for value in new.values], dtype=np.bool_)
    return KeyChange(
        name=old.name,
        before=before,
        after=after,
        records=records,
        to=transition.recoded[key],
        leaf_shares=shares,
        leaves=leaves or leaves_of(old.n_known, shares[values[: len(shares)]]),
        n_before=len(old.values),
        n_after=len(new.values),
        missing_before=None in old.values,
        missing_after=None in new.values,
        dropped=new.values == ("",) and old.values != ("",),
    )


def counted_pairs(
    one: IntArray, other: IntArray, sizes: tuple[int, int], records: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """The pairs of levels that occur, and their records."""
    codes = one * sizes[1] + other
    if sizes[0] * sizes[1] <= MOST_CELLS:
        counts = np.bincount(codes, weights=records, minlength=1).astype(np.int64)
        occurs = np.flatnonzero(counts)
        return occurs // sizes[1], occurs % sizes[1], counts[occurs]
    distinct, place = np.unique(codes, return_inverse=True)
    counts = np.bincount(place, weights=records).astype(np.int64)
    return distinct // sizes[1], distinct % sizes[1], counts


def levels_known(levels: IntArray, n_levels: int, missing: bool) -> BoolArray:
    """Which levels are values: all but the last one where that is the missing one."""
    return np.asarray(levels != (n_levels - 1 if missing else -1))


def entropy_of(counts: IntArray | FloatArray) -> float:
    """The entropy of the shares, in bits; 0 of nothing."""
    shares = counts[counts > 0] / (float(counts.sum()) or 1.0)
    return max(-float(shares @ np.log2(shares)), 0.0)  # exactly 0 of a single one
