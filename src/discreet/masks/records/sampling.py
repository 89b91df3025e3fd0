"""A simple random sample of the records, or of whole households, goes out instead of all of them.

Of N units n are drawn without replacement, each set of n with the same probability. Weights are
multiplied by N/n, so that the expected total is that of the file (Horvitz and Thompson 1952).
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.errors import InputError, must_be
from discreet.masks.records.contract import CodedRecords
from discreet.masks.records.parameters import (
    check_share,
    check_yes_or_no,
    need_households,
    percent,
)
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.numerics.rounding import whole_above


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsample:
    """Keep a random `share` of the records, or `size` of them, or of the `households`.

    A share of N units is rounded up to whole units, so that a file never loses all its records.
    The sample keeps the order of the file.

    Checked: exactly one of share and size is given; the size is not above the number of units.
    Trusted: the household numbers tell households apart.
    """

    name: ClassVar[str] = "subsample"
    share: float | None = None
    size: int | None = None
    households: bool = False

    def __post_init__(self) -> None:
        if (self.share is None) == (self.size is None):
            got = "neither" if self.share is None else "both"
            raise InputError(must_be("a sample", "given by either share or size", got))
        if self.share is not None:
            check_share("share", self.share, zero=False)
        whole = isinstance(self.size, int | np.integer) and not isinstance(self.size, bool)
        if self.size is not None and not (whole and self.size >= 1):
            raise InputError(must_be("size", "a whole number of at least 1", repr(self.size)))
        check_yes_or_no("households", self.households)

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        units = "households" if self.households else "records"
        if self.share is not None:
            return f"keep a random {percent(self.share)} of the {units}"
        return f"keep {self.size:,} {units} drawn at random"

    @property
    def still_possible(self) -> str:
        """What an intruder can still do, in a sentence."""
        chance = "the share drawn" if self.share is None else percent(self.share)
        return (
            f"A person of the file is in the sample with a chance of {chance}, so a match may be "
            "with somebody who was left out; who is known to be in it is as easy to find as before."
        )

    def applied(self, records: CodedRecords, rng: np.random.Generator) -> CodedRecords:
        """The records drawn, with weights · N/n; the records given stay as they are."""
        unit, n_units = self._units(records)
        n_drawn = self.n_drawn(n_units)
        drawn: BoolArray = np.zeros(n_units, dtype=np.bool_)
        drawn[rng.choice(n_units, n_drawn, replace=False, shuffle=False)] = True
        kept = records.part(np.flatnonzero(drawn[unit]))
        if kept.weight is None or not n_drawn:
            return kept
        # Multiplied first: whole weights stay exact until the one division.
        return replace(kept, weight=kept.weight * n_units / n_drawn)

    def n_drawn(self, n_units: int) -> int:
        """How many of so many units are drawn; raises InputError where they are too few."""
        if self.share is not None:
            return min(whole_above(self.share * n_units), n_units)
        if self.size is None or self.size > n_units:
            units = "households" if self.households else "records"
            raise InputError(must_be("size", f"at most the number of {units}", self.size))
        return self.size

    def _units(self, records: CodedRecords) -> tuple[IntArray, int]:
        if not self.households:
            return np.arange(len(records)), len(records)
        found, unit = np.unique(need_households(records), return_inverse=True)
        return unit, len(found)
