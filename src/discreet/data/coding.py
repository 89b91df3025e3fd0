"""Keys as small integers, and a combination of keys as one or a few 64-bit words.

Each key has levels 0, 1, …, size − 1. A combination is a number in mixed radix: the sum of
level · stride over the keys. While the possible cells fit in 62 bits one word holds all keys;
beyond that the keys are spread over several words, so a table of any size has an exact code.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import IntArray

WORD_LIMIT = 2**62  # leaves a bit for a flag beside the code in a signed 64-bit integer


@dataclass(frozen=True, slots=True)
class Digit:
    """Where one key stands in the code: which word, at which stride, with how many levels."""

    word: int
    stride: int
    size: int


@dataclass(frozen=True, slots=True)
class Coding:
    """The mixed-radix code of a combination of keys."""

    digits: tuple[Digit, ...]

    @classmethod
    def of_sizes(cls, sizes: Sequence[int], limit: int = WORD_LIMIT) -> "Coding":
        """The code for keys with these numbers of levels, with as few words as a greedy fill gives.

        Checked: every size is at least 1 and at most `limit`.
        """
        digits: list[Digit] = []
        word, stride = 0, 1
        for size in sizes:
            if not 1 <= size <= limit:
                raise ValueError(f"size of a key must be from 1 to {limit}, got {size}")
            if stride * size > limit:
                word, stride = word + 1, 1
            digits.append(Digit(word, stride, size))
            stride *= size
        return cls(tuple(digits))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each key."""
        return tuple(digit.size for digit in self.digits)

    @property
    def n_words(self) -> int:
        """How many 64-bit words a combination takes; 1 for all but enormous tables."""
        return self.digits[-1].word + 1

    @property
    def n_combinations(self) -> int:
        """Product of the numbers of levels, as an exact integer."""
        return math.prod(self.sizes)

    def level(self, words: IntArray, key: int) -> IntArray:
        """Level of one key for each row of `words` (rows × n_words)."""
        digit = self.digits[key]
        level: IntArray = words[:, digit.word]
        if digit.stride > 1:
            level = level // digit.stride
        return level - level // digit.size * digit.size  # quicker than %, which has no SIMD

    def decode(self, words: IntArray) -> IntArray:
        """Levels of all keys for each row of `words`: an array rows × keys."""
        return np.stack([self.level(words, key) for key in range(len(self.digits))], axis=1)

    def encode(self, levels: IntArray) -> IntArray:
        """Words of each row of `levels` (rows × keys); the inverse of `decode`."""
        words = np.zeros((levels.shape[0], self.n_words), dtype=np.int64)
        for key, digit in enumerate(self.digits):
            level = levels[:, key].astype(np.int64, copy=False)  # levels may be held in 32 bits
            words[:, digit.word] += level * digit.stride
        return words
