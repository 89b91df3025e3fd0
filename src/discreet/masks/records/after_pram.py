"""What an intruder who knows the chances of a post-randomisation can say of a released record.

Worst case: he knows the chances M and the true keys of everybody in the file. M(s, x) is the
probability that a record whose true keys are s shows x, the product over the keys that were
randomised of their chances in its stratum; keys that were not randomised agree, or it is 0. Since
records change independently, by Bayes' rule a record that shows x belongs to a given person whose
true keys are x with probability

    M(x, x) / Σ_s n_s M(s, x),    n_s the persons whose true keys are s.

Whoever sees that *no other* record shows x knows more. Given that exactly one of the independent
events "record i shows x" happened, it is that of person i with the probability of its odds,

    O(x, x) / Σ_s n_s O(s, x),    O = M/(1 − M),

and persons with M = 1 are certainly it. Both are exact given what they condition on: the values of
the record, and that it is alone. What else the released file shows is not used, as that would take
the permanent of a matrix; averaged over the files that could be released both stay exact.

The sums are over few records. Where all keys are drawn again (`DrawnAgain`), M(s, x) depends only
on which randomised keys s and x agree in; the records that agree in exactly the set A follow from
the 2^k marginal counts at x by inclusion and exclusion, in whole numbers. With a given matrix each
x is compared with the true cells that agree with it in all other keys, pair by pair.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.local.grouping import grouped, places_among, recoded_words
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Unavailable
from discreet.masks.records.combinations import coding_of, combinations_of, missing_level
from discreet.masks.records.contract import CodedRecords
from discreet.masks.records.pram import FittedPram
from discreet.masks.records.pram_chances import DrawnAgain
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only

MOST_LOOKUPS = 1 << 26  # sets of keys × combinations: half a minute, and half a gigabyte
MOST_PAIRS = 1 << 28  # of combinations that are compared one by one: about a minute
PAIRS_AT_HAND = 1 << 21

Sources = Iterator[tuple[IntArray, IntArray, FloatArray]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterPram:
    """What each released combination of keys tells.

    Row i: `released[i]` records show `levels[i]`, `truly[i]` have these keys in truth, and
    `chance[i]` is the probability that one of those that show it belongs to a given person who has
    it (0 where nobody has). `chance_alone` is the same for the combinations that one record shows,
    in their order, given that it is alone. `cell` says which combination each record shows.
    """

    levels: IntArray
    released: IntArray
    truly: IntArray
    chance: FloatArray
    chance_alone: FloatArray
    cell: IntArray

    def __post_init__(self) -> None:
        for array in (self.levels, self.released, self.truly, self.cell):
            read_only(array)
        for chances in (self.chance, self.chance_alone):
            read_only(chances)

    @property
    def looks_alone(self) -> BoolArray:
        """Which combinations one record shows."""
        return np.asarray(self.released == 1)

    @property
    def as_if_true(self) -> int:
        """Correct links to records that look unique, if what they show were true: all of them."""
        return int(self.looks_alone.sum())

    @property
    def correct_links(self) -> Figure:
        """The links that are right on average if each record that looks unique is taken for a
        person who has what it shows."""
        note = "for an intruder who knows the chances and the true keys of all in the file"
        return Figure(value=float(self.chance_alone.sum()), how=How.EXACT, note=note)


def after_pram(
    before: CodedRecords, released: CodedRecords, fitted: Sequence[FittedPram]
) -> AfterPram | Unavailable:
    """What an intruder can say of the released records, which `fitted` made of those before.

    Checked: each key is randomised once, and no stratum is of a randomised key. Trusted: the
    records changed in no other way, and have the same keys.
    """
    _check(fitted)
    levels, cell = combinations_of(released, range(len(released.keys)))
    work = _Truth.of(before, fitted)
    sources = work.sources(levels)
    if isinstance(sources, Unavailable):
        return sources
    sums = _Sums.of(sources, len(levels))
    own, truly = work.own(levels), work.persons_with(levels)
    shown = np.bincount(cell, minlength=len(levels)).astype(np.int64)
    single = shown == 1
    there = truly > 0
    chance = np.where(there, own / np.where(sums.expected > 0, sums.expected, 1.0), 0.0)
    chance_alone = np.where(there, sums.chance_alone(own), 0.0)[single]
    return AfterPram(
        levels=levels,
        released=shown,
        truly=truly,
        chance=chance,
        chance_alone=chance_alone,
        cell=cell,
    )


def expected_links(before: CodedRecords, fitted: Sequence[FittedPram]) -> Figure | Unavailable:
    """The correct links to records that look unique which are expected before anything is drawn:

        Σ_x M(x, x) ∏ (1 − M(s_i, x)) over all others i,

    over the combinations x that somebody has: the record of a given person shows them, alone.
    """
    _check(fitted)
    work = _Truth.of(before, fitted)
    sources = work.sources(work.levels)
    if isinstance(sources, Unavailable):
        return sources
    sums = _Sums.of(sources, len(work.levels))
    expected = float(sums.alone_and_own(work.own(work.levels)).sum())
    return Figure(value=expected, how=How.EXACT, note="before anything is drawn")


def _check(fitted: Sequence[FittedPram]) -> None:
    """Nothing is changed twice, and chances do not depend on what was changed."""
    names = [one.key.name for one in fitted]
    for name in names:
        if names.count(name) > 1:
            raise InputError(must_be("keys that are randomised", "named once each", name))
    for one in fitted:
        for stratum in one.strata:
            if stratum.name in names:
                rule = "keys that are not randomised themselves"
                raise InputError(must_be(f"strata of {one.key.name}", rule, stratum.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """Over all true records, at each combination x: Σ n M; Σ n O and Σ n log(1 − M) where M < 1;
    and the number with M = 1."""

    expected: FloatArray
    odds: FloatArray
    log_absent: FloatArray
    certain: IntArray

    @classmethod
    def of(cls, sources: Sources, n: int) -> "_Sums":
        """The sums over what the sources say."""
        expected, odds, log_absent = (np.zeros(n) for _ in range(3))
        certain = np.zeros(n, dtype=np.int64)
        for at, records, chance in sources:
            sure = chance >= 1
            open_chance = np.where(sure, 0.0, chance)
            expected += np.bincount(at, records * chance, n)
            odds += np.bincount(at, records * (open_chance / (1 - open_chance)), n)
            log_absent += np.bincount(at, records * np.log1p(-open_chance), n)
            certain += np.bincount(at[sure], records[sure], n).astype(np.int64)
        return cls(expected=expected, odds=odds, log_absent=log_absent, certain=certain)

    def chance_alone(self, own: FloatArray) -> FloatArray:
        """The probability that the one record that shows x is that of a given person, who shows it
        with the probability `own`."""
        sure = own >= 1
        odds = np.where(sure, 0.0, own) / np.where(sure, 1.0, 1 - own)
        free = odds / np.where(self.odds > 0, self.odds, 1.0)
        return np.where(self.certain > 0, sure / np.maximum(self.certain, 1), np.minimum(free, 1.0))

    def alone_and_own(self, own: FloatArray) -> FloatArray:
        """The probability that exactly one record shows x and is that of a given person."""
        sure = own >= 1
        others = self.log_absent - np.log1p(-np.where(sure, 0.0, own))
        nobody_sure = self.certain == sure.astype(np.int64)
        return np.where(nobody_sure, own * np.exp(others), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Truth:
    """The true combinations, how many persons have each, and the chances of the keys that were
    randomised, which stand at `places`."""

    coding: Coding
    levels: IntArray
    persons: IntArray
    fitted: tuple[FittedPram, ...]
    places: tuple[int, ...]
    strata: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, before: CodedRecords, fitted: Sequence[FittedPram]) -> "_Truth":
        """The combinations of the records before."""
        levels, cell = combinations_of(before, range(len(before.keys)))
        return cls(
            coding=coding_of(before.keys),
            levels=levels,
            persons=np.bincount(cell, minlength=len(levels)).astype(np.int64),
            fitted=tuple(fitted),
            places=tuple(before.place(one.key.name) for one in fitted),
            strata=tuple(tuple(before.place(key.name) for key in one.strata) for one in fitted),
        )

    def persons_with(self, levels: IntArray) -> IntArray:
        """How many persons have each combination."""
        return _looked_up(self.coding.encode(self.levels), self.persons, self.coding.encode(levels))

    def own(self, levels: IntArray) -> FloatArray:
        """M(x, x) of each combination."""
        found = np.ones(len(levels))
        for one, place, strata in zip(self.fitted, self.places, self.strata, strict=True):
            stratum = one.stratum_of(levels[:, list(strata)])
            found *= one.between(stratum, levels[:, place], levels[:, place])
        return found

    def sources(self, levels: IntArray) -> Sources | Unavailable:
        """For combinations x: numbers of persons n, and the chance M with which they show x, as
        (places of the x, n, M), such that all who can show it are there."""
        lookups = (len(self.levels) + len(levels)) << len(self.fitted)
        drawn_again = all(isinstance(one.chances, DrawnAgain) for one in self.fitted)
        if drawn_again and lookups <= MOST_LOOKUPS:
            return self._by_agreement(levels)
        pairs = _Pairs.of(self, levels)
        if pairs.n_pairs <= MOST_PAIRS:
            return pairs.sources()
        return Unavailable(
            "too many combinations could have become each other; they are compared for at most "
            f"{MOST_PAIRS:,} pairs, so change fewer keys by chance"
        )

    def words(self, levels: IntArray, apart: Sequence[int]) -> IntArray:
        """The codes of combinations in which of each randomised key only this is told: whether it
        is missing, and its value if it is one of those `apart` (numbers among the fitted)."""
        words = self.coding.encode(levels)
        for number, (one, place) in enumerate(zip(self.fitted, self.places, strict=True)):
            if number not in apart:
                level = np.arange(self.coding.sizes[place])
                to = np.where(level == missing_level(one.key), level, 0)
                words = recoded_words(words, self.coding, place, to)
        return words

    def _by_agreement(self, levels: IntArray) -> Sources:
        """The sources by the set of randomised keys in which they agree with x."""
        k = len(self.fitted)
        agreeing = np.stack([self._marginal(levels, of) for of in range(1 << k)])
        for bit in (1 << i for i in range(k)):
            for of in range(1 << k):
                if not of & bit:
                    agreeing[of] -= agreeing[of | bit]
        same, other = self._chances_at(levels)
        every = np.arange(len(levels))
        for of in range(1 << k):
            chance = np.ones(len(levels))
            for i in range(k):
                chance *= same[i] if of >> i & 1 else other[i]
            yield every, agreeing[of], chance

    def _marginal(self, levels: IntArray, of: int) -> IntArray:
        """The persons who agree with x in the randomised keys of this set, and all others."""
        apart = [i for i in range(len(self.fitted)) if of >> i & 1]
        return _looked_up(self.words(self.levels, apart), self.persons, self.words(levels, apart))

    def _chances_at(self, levels: IntArray) -> tuple[list[FloatArray], list[FloatArray]]:
        """For each randomised key the chance to show that of x for a value that is the same, and
        for one that is another."""
        same, other = [], []
        for one, place, strata in zip(self.fitted, self.places, self.strata, strict=True):
            level = levels[:, place]
            stratum = one.stratum_of(levels[:, list(strata)])
            same.append(one.between(stratum, level, level))
            known = level != missing_level(one.key)
            differing = np.zeros(len(level))
            if isinstance(one.chances, DrawnAgain):
                differing[known] = one.chances.differing(stratum[known], level[known])
            other.append(differing)
        return same, other


def _looked_up(words: IntArray, persons: IntArray, sought: IntArray) -> IntArray:
    """The persons of all cells that have the code, for each code that is sought."""
    order, starts = grouped(words)
    sums = np.add.reduceat(persons[order], starts) if len(order) else persons
    distinct = words[order[starts]]
    at = places_among(distinct, sought, ordered=distinct.shape[1] == 1)
    found: IntArray = np.append(sums, 0)[at]  # the last is of no cell
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """Combinations x, and the true cells that could show each of them: a run of `order`."""

    truth: _Truth
    levels: IntArray
    order: IntArray
    first: IntArray
    length: IntArray

    @classmethod
    def of(cls, truth: _Truth, levels: IntArray) -> "_Pairs":
        """The true cells that agree with each x in the keys that were not randomised."""
        words = truth.words(truth.levels, ())
        order, starts = grouped(words)
        lengths = np.append(np.diff(starts, append=len(order)), 0)  # the last is of no group
        group = places_among(words[order[starts]], truth.words(levels, ()))
        first = np.append(starts, 0)[group]
        return cls(truth=truth, levels=levels, order=order, first=first, length=lengths[group])

    @property
    def n_pairs(self) -> int:
        """Pairs that have to be compared."""
        return int(self.length.sum())

    def sources(self) -> Sources:
        """The sources pair by pair, some combinations at a time, none of which is split."""
        ends = np.cumsum(self.length)
        at = 0
        while at < len(self.levels):
            done = int(ends[at] - self.length[at])
            end = max(int(np.searchsorted(ends, done + PAIRS_AT_HAND, side="right")), at + 1)
            yield self._of(np.arange(at, end))
            at = end

    def _of(self, some: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        truth, length = self.truth, self.length[some]
        x = np.repeat(some, length)
        within = np.arange(len(x)) - np.repeat(np.cumsum(length) - length, length)
        cell = self.order[np.repeat(self.first[some], length) + within]
        chance = np.ones(len(x))
        for one, place, strata in zip(truth.fitted, truth.places, truth.strata, strict=True):
            stratum = one.stratum_of(self.levels[some][:, list(strata)])
            before, after = truth.levels[cell, place], self.levels[x, place]
            chance *= one.between(np.repeat(stratum, length), before, after)
        return x, truth.persons[cell], chance
