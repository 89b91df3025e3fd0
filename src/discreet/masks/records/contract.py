"""What every method for records is: an object with a name, parameters and an effect.

A method is a frozen dataclass whose fields are its parameters, so that a recipe can write it down
and read it back. *Recodings* turn the levels of a key into fewer, *suppression* takes single values
out, and *randomised* methods change records by chance; all but the last have no need of a seed.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from discreet.engines.key_space import KeyLevels
from discreet.numerics.arrays import FloatArray, IntArray


class RecordMethod(Protocol):
    """One thing that can be done to a file of records."""

    name: ClassVar[str]

    @property
    def in_words(self) -> str:
        """What it does, as an instruction: put age into bands of 5 (15-19, …)."""

    @property
    def still_possible(self) -> str:
        """What an intruder can still do, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedRecords:
    """Records in memory, by the places of their values among the levels of each key.

    `levels` is records × keys. `rows` says which row of the source each is, from 0, in the order of
    the output. `household` numbers the households, `weight` holds the survey weights, where there
    are any.
    """

    keys: tuple[KeyLevels, ...]
    levels: IntArray
    rows: IntArray
    household: IntArray | None = None
    weight: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def place(self, key: str) -> int:
        """Where a key stands."""
        return [one.name for one in self.keys].index(key)

    def with_levels(self, key: str, values: IntArray) -> "CodedRecords":
        """The records with other values of one key."""
        levels = self.levels.copy()
        levels[:, self.place(key)] = values
        return replace(self, levels=levels)

    def part(self, records: IntArray) -> "CodedRecords":
        """Some of the records, in this order."""
        return replace(
            self,
            levels=self.levels[records],
            rows=self.rows[records],
            household=None if self.household is None else self.household[records],
            weight=None if self.weight is None else self.weight[records],
        )


class Randomised(RecordMethod, Protocol):
    """A method that changes records by chance; what it leaves to an intruder is worked out from the
    chances, which he knows, and never read off the changed file as if it were true."""

    def applied(self, records: CodedRecords, rng: np.random.Generator) -> CodedRecords:
        """The changed records; the records given stay as they are."""
