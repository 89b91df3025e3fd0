"""The keys of a file with their levels, and the same keys seen coarser."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.data.coding import Coding, Digit
from discreet.data.missing import MissingPolicy
from discreet.numerics.arrays import IntArray

AT_HAND = 1 << 15  # codes changed at a time: they stay in the cache of the processor
FEW_CHANGES = 3  # up to which a code is changed digit by digit; beyond it is made anew


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLevels:
    """One key as it was found: its levels in order, the missing level last if it is one.

    `values` are the levels as the file writes them (None for missing), `labels` as they are shown:
    the same, but for files with value labels. `n_missing`, `n_suppressed` and
    `n_not_applicable` count the records without a value, by the reason.
    """

    name: str
    values: tuple[str | None, ...]
    labels: tuple[str, ...]
    n_missing: int
    n_suppressed: int = 0
    n_not_applicable: int = 0

    @property
    def n_known(self) -> int:
        """Levels other than missing, at least 1."""
        return max(sum(value is not None for value in self.values), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySpace:
    """What makes up the code of a cell: the keys, and what a missing value of one means."""

    keys: tuple[KeyLevels, ...]
    coding: Coding
    policy: MissingPolicy
    missing_weight: float = 1.0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the keys."""
        return tuple(key.name for key in self.keys)

    @property
    def missing_levels(self) -> IntArray:
        """Level that stands for missing in each key, −1 where none does."""
        return np.array([len(k.values) - 1 if k.values[-1] is None else -1 for k in self.keys])

    @property
    def overlap(self) -> bool:
        """Whether records match records of other cells."""
        return self.policy.matching is not None and any(k.values[-1] is None for k in self.keys)

    @property
    def matched_by(self) -> str:
        """Who shares a combination, in a sentence, where that is not who lies in the same cell."""
        if not self.overlap:
            return ""
        meaning = self.policy.in_words(self.missing_weight)
        return f" Records share a combination here if they match: {meaning}."

    @property
    def known_sizes(self) -> tuple[int, ...]:
        """Levels of each key that make a cell: all, but for a missing one that matches others."""
        if self.policy.matching is None:
            return self.coding.sizes
        return tuple(key.n_known for key in self.keys)

    def itself(self) -> "View":
        """All keys as they are."""
        return View(
            before=self.coding,
            space=self,
            of=tuple(range(len(self.keys))),
            to=(None,) * len(self.keys),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Keys seen coarser: key j afterwards is key `of[j]` before, whose level i is now `to[j][i]`,
    or as it was where `to[j]` is None. A key that no other comes from is left out."""

    before: Coding
    space: KeySpace
    of: tuple[int, ...]
    to: tuple[IntArray | None, ...]

    @property
    def untouched(self) -> frozenset[int]:
        """Keys before whose levels stay apart."""
        return frozenset(key for key, to in zip(self.of, self.to, strict=True) if to is None)

    def of_keys(self, keys: Sequence[int]) -> "View":
        """The keys at these places alone, of those that are left."""
        return self._with([self.space.keys[j] for j in keys], keys, [self.to[j] for j in keys])

    def recoded(self, key: int, to: IntArray, levels: KeyLevels) -> "View":
        """One of the keys that are left with level i turned into level to[i] of `levels`."""
        own = self.to[key]
        whole = to if own is None else to[own]
        keys = [levels if j == key else k for j, k in enumerate(self.space.keys)]
        maps = [whole if j == key else t for j, t in enumerate(self.to)]
        return self._with(keys, range(len(keys)), maps)

    def flattened(self, key: int) -> "View":
        """One of the keys with all its levels as one, which is as if it were not there."""
        own = self.space.keys[key]
        one = KeyLevels(name=own.name, values=("",), labels=("",), n_missing=0)
        return self.recoded(key, np.zeros(self.space.coding.sizes[key], dtype=np.int64), one)

    def beside(self, finer: KeySpace) -> "View":
        """The same view of cells that have further keys after these, which stay as they are."""
        n = len(self.before.sizes)
        more = range(n, len(finer.keys))
        keys = (*self.space.keys, *finer.keys[n:])
        coding = Coding.of_sizes([max(len(key.values), 1) for key in keys])
        return View(
            before=finer.coding,
            space=replace(finer, keys=keys, coding=coding),
            of=(*self.of, *more),
            to=(*self.to, *(None for _ in more)),
        )

    def _with(
        self, keys: Sequence[KeyLevels], places: Sequence[int], to: Sequence[IntArray | None]
    ) -> "View":
        sizes = [max(len(key.values), 1) for key in keys]
        space = replace(self.space, keys=tuple(keys), coding=Coding.of_sizes(sizes))
        of = tuple(self.of[j] for j in places)
        return View(before=self.before, space=space, of=of, to=tuple(to))

    def words(self, words: IntArray) -> IntArray:
        """The codes of cells in the view."""
        coding = self.space.coding
        found = np.empty((len(words), coding.n_words), dtype=np.int64)
        changes = self._changes() if self._is_one_word_in_order() else None
        for first in range(0, len(words), AT_HAND):
            here = slice(first, first + AT_HAND)
            if changes is not None and len(changes) <= FEW_CHANGES:
                found[here, 0] = _changed(words[here, 0], changes)
            else:
                found[here] = self._anew(words[here])
        return found

    def _is_one_word_in_order(self) -> bool:
        one = self.before.n_words == self.space.coding.n_words == 1
        return one and list(self.of) == sorted(set(self.of))

    def _anew(self, words: IntArray) -> IntArray:
        """The codes made up of the levels of every key."""
        coding = self.space.coding
        found = np.zeros((len(words), coding.n_words), dtype=np.int64)
        for key, to, digit in zip(self.of, self.to, coding.digits, strict=True):
            level = self.before.level(words, key)
            if to is not None:
                level = to[level]
            found[:, digit.word] += level * digit.stride
        return found

    def _changes(self) -> "list[Change]":
        """The digits that are others afterwards, the highest first."""
        now = {
            key: (to, size)
            for key, to, size in zip(self.of, self.to, self.space.coding.sizes, strict=True)
        }
        found: list[Change] = []
        for key, digit in reversed(list(enumerate(self.before.digits))):
            to, size = now.get(key, (None, 1))
            if key not in now or to is not None:
                found.append((digit, to, size))
        return found


Change = tuple[Digit, IntArray | None, int]


def _changed(word: IntArray, changes: Sequence[Change]) -> IntArray:
    """Codes of one word with some digits recoded, or taken out: those above them move."""
    for digit, to, size in changes:
        upper = word // digit.stride if digit.stride > 1 else word
        above = upper // digit.size
        moved = above * (digit.stride * size)
        if to is not None:
            moved += (to * digit.stride)[upper - above * digit.size]
        if digit.stride > 1:
            moved += word - upper * digit.stride
        word = moved
    return word
