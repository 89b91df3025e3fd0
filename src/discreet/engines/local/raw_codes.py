"""The codes that records were given before it was known which levels occur, and those of cells."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.coding import Coding
from discreet.numerics.arrays import IntArray


@dataclass(frozen=True, slots=True)
class RawCodes:
    """`occurring` are the raw digits of each key that became its levels, in their order."""

    raw: Coding
    coding: Coding
    occurring: tuple[IntArray, ...]

    @classmethod
    def of_margins(cls, raw: Coding, occurring: Sequence[Sequence[int]]) -> "RawCodes":
        """Levels are the digits that occur."""
        kept = tuple(np.array(digits, dtype=np.int64) for digits in occurring)
        return cls(raw, Coding.of_sizes([len(digits) for digits in kept]), kept)

    @property
    def names(self) -> list[str]:
        """Columns that hold the words of a raw code."""
        return [f"r{i}" for i in range(self.raw.n_words)]

    @property
    def same(self) -> bool:
        """Whether every digit occurs, so that both codes are one."""
        return self.raw == self.coding

    def of_cells(self, words: IntArray) -> IntArray:
        """The raw codes of cells."""
        if self.same:
            return words
        levels = (self.coding.level(words, key) for key in range(len(self.occurring)))
        digits = (own[level] for own, level in zip(self.occurring, levels, strict=True))
        return self.raw.encode(np.stack(list(digits), axis=1))

    def to_cells(self, raw: IntArray) -> IntArray:
        """The codes of cells from raw ones, of which every digit occurs."""
        if self.same:
            return raw
        found = np.zeros((len(raw), self.coding.n_words), dtype=np.int64)
        for key, own in enumerate(self.occurring):
            level = np.zeros(self.raw.sizes[key], dtype=np.int64)
            level[own] = np.arange(len(own))
            digit = self.coding.digits[key]
            found[:, digit.word] += level[self.raw.level(raw, key)] * digit.stride
        return found
