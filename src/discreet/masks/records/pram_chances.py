"""The chances with which the values of a key become others.

Two kinds, which answer the same questions. `DrawnAgain` keeps a value with probability θ, and else
draws one from the values that occur, so that its matrix

    P = θ I + (1 − θ) 1 pᵀ,    p the shares of the levels in the stratum,

is *invariant*: pᵀP = pᵀ, expected margins stay (Gouweleeuw, Kooiman, Willenborg and de Wolf 1998,
section 4). Of the invariant matrices it is chosen since its mean retention has a closed form,

    Σ_k p_k P_kk = θ + (1 − θ) c,    c = Σ_k p_k²,

since a rare value changes as often as the method allows, which is where protection is needed, since
it takes room for the levels and not for their squares, and since an analyst inverts it by hand,
P⁻¹ = (I − (1 − θ) 1 pᵀ)/θ. Less than c no θ ≥ 0 can keep: a stratum whose values are that much
alike has its values drawn anew, θ = 0, and one of a single level stays as it is. `GivenMatrix` is
one that somebody wrote.
"""

from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray, read_only


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCounts:
    """How many records have each known value of a key in each stratum.

    `codes` are stratum · n_levels + level of those that occur, in order; `records` their numbers;
    `totals` the records of each stratum that have a value.
    """

    codes: IntArray
    records: IntArray
    totals: IntArray
    n_levels: int

    def __post_init__(self) -> None:
        for array in (self.codes, self.records, self.totals):
            read_only(array)

    @classmethod
    def of(
        cls, stratum: IntArray, level: IntArray, *, n_strata: int, n_levels: int
    ) -> "LevelCounts":
        """The counts of records with these strata and known levels."""
        codes, records = np.unique(stratum * n_levels + level, return_counts=True)
        totals = np.bincount(stratum, minlength=n_strata).astype(np.int64)
        return cls(codes=codes, records=records.astype(np.int64), totals=totals, n_levels=n_levels)

    @property
    def strata(self) -> IntArray:
        """The stratum of each code."""
        return self.codes // self.n_levels

    @property
    def levels(self) -> IntArray:
        """The level of each code."""
        return self.codes % self.n_levels

    def shares(self, stratum: IntArray, level: IntArray) -> FloatArray:
        """p: the share that each level has of the values of the stratum beside it."""
        if not len(self.codes):
            return np.zeros(len(level))
        sought = stratum * self.n_levels + level
        at = np.minimum(np.searchsorted(self.codes, sought), len(self.codes) - 1)
        found = np.where(self.codes[at] == sought, self.records[at], 0)
        shares: FloatArray = found / np.maximum(self.totals[stratum], 1)
        return shares

    def alikeness(self) -> FloatArray:
        """c = Σ p² of each stratum, 1 for one without a value."""
        # Below 2^53 all of it is exact, so that every processor says the same.
        squares = np.bincount(self.strata, self.records.astype(np.float64) ** 2, len(self.totals))
        totals = self.totals.astype(np.float64)
        return np.where(totals > 0, squares / np.maximum(totals, 1) ** 2, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnAgain:
    """A value stays with the probability `keeps[stratum]` = θ, else it is drawn from those that
    occur in the stratum, which may give the same one."""

    keeps: FloatArray
    counts: LevelCounts

    def __post_init__(self) -> None:
        read_only(self.keeps)

    @classmethod
    def with_retention(cls, retention: float, counts: LevelCounts) -> "DrawnAgain":
        """The chances that keep this share of the values of each stratum on average, or that of
        values drawn anew where it is higher: θ = (retention − c)/(1 − c), at least 0."""
        alike = counts.alikeness()
        varied = alike < 1
        room = np.where(varied, 1 - alike, 1.0)
        keeps = np.where(varied, np.maximum((retention - alike) / room, 0.0), 1.0)
        return cls(keeps=keeps, counts=counts)

    def agreeing(self, stratum: IntArray, level: IntArray) -> FloatArray:
        """P(k, k): the probability that a level is shown as itself."""
        kept: FloatArray = self.keeps[stratum] + self.differing(stratum, level)
        return np.minimum(kept, 1.0)

    def differing(self, stratum: IntArray, level: IntArray) -> FloatArray:
        """P(j, k) for every other level j: the probability that it is shown as level k."""
        found: FloatArray = (1 - self.keeps[stratum]) * self.counts.shares(stratum, level)
        return found

    def between(self, stratum: IntArray, before: IntArray, after: IntArray) -> FloatArray:
        """P(before, after) of each row."""
        same, other = self.agreeing(stratum, after), self.differing(stratum, after)
        return np.where(before == after, same, other)

    def drawn(self, stratum: IntArray, level: IntArray, rng: np.random.Generator) -> IntArray:
        """What each known value becomes. A value is drawn anew as that of a record picked from the
        stratum, in whole numbers, so that no rounding of p can favour a level."""
        kept = rng.random(len(level)) < self.keeps[stratum]
        up_to = np.cumsum(self.counts.records)
        before = np.cumsum(self.counts.totals) - self.counts.totals
        picked = before[stratum] + rng.integers(0, self.counts.totals[stratum])
        anew = self.counts.levels[np.searchsorted(up_to, picked, side="right")]
        return np.where(kept, level, anew)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMatrix:
    """The same chances in every stratum: `rows` of the levels that have one, over all levels;
    `row_of` says which row a level has, −1 for one that always stays."""

    rows: FloatArray
    row_of: IntArray

    def __post_init__(self) -> None:
        read_only(self.rows)
        read_only(self.row_of)

    def between(self, stratum: IntArray, before: IntArray, after: IntArray) -> FloatArray:
        """P(before, after) of each row; the stratum does not matter."""
        row = self.row_of[before]
        stays = (before == after).astype(np.float64)
        return np.where(row < 0, stays, self.rows[row, after]) if len(self.rows) else stays

    def drawn(self, stratum: IntArray, level: IntArray, rng: np.random.Generator) -> IntArray:
        """What each known value becomes, by the inverse of the distribution of its row."""
        uniform = rng.random(len(level))
        drawn = level.copy()
        order = np.argsort(level, kind="stable")
        ends = np.searchsorted(level[order], np.arange(len(self.row_of) + 1))
        for one in np.flatnonzero(self.row_of >= 0):
            here = order[ends[one] : ends[one + 1]]
            # Only levels of positive probability, so that rounding of the sum reaches no other.
            open_to = np.flatnonzero(self.rows[self.row_of[one]] > 0)
            up_to = np.cumsum(self.rows[self.row_of[one]][open_to])[:-1]
            drawn[here] = open_to[np.searchsorted(up_to, uniform[here], side="right")]
        return drawn


Chances = DrawnAgain | GivenMatrix
