"""Survey weights, which may tell the stratum a person was drawn from, made coarser or taken out."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.errors import InputError, must_be
from discreet.masks.records.contract import CodedRecords
from discreet.numerics.arrays import FloatArray
from discreet.numerics.rounding import ALIKE


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundWeights:
    """Round each weight at random to one of the two multiples of `base` around it.

    Systematic random rounding: with the records in random order, C_i the sum of the remainders
    (w mod base)/base up to the i-th record and one u uniform on [0, 1), the i-th weight is rounded
    up where ⌊C_i + u⌋ > ⌊C_{i−1} + u⌋ (systematic sampling with unequal probabilities, Madow 1949).
    Chosen because it is unbiased for each weight, hence for each total, *and* keeps the total of
    the file within one base; independent rounding is only the first, largest remainders only the
    second. A weight that is a multiple already stays.

    Checked: the file has weights; no weight is below the base, since it might become 0, which no
    design can produce. Trusted: weights are positive and finite.
    """

    name: ClassVar[str] = "round_weights"
    base: float

    def __post_init__(self) -> None:
        number = isinstance(self.base, int | float | np.integer | np.floating)
        if not number or isinstance(self.base, bool) or not 0 < self.base < np.inf:
            raise InputError(must_be("base", "a number above 0", repr(self.base)))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        return f"round the weights at random to multiples of {self.base:g}"

    @property
    def still_possible(self) -> str:
        """What an intruder can still do, in a sentence."""
        return (
            f"A weight is still known to within {self.base:g}, so strata whose weights differ by "
            "more can still be told apart, and records that share a weight may share a stratum."
        )

    def applied(self, records: CodedRecords, rng: np.random.Generator) -> CodedRecords:
        """The records with rounded weights; the records given stay as they are."""
        if records.weight is None:
            raise InputError(
                must_be("a file whose weights are rounded", "one with weights", "none")
            )
        if len(records) and self.base > records.weight.min() * (1 + ALIKE):
            remedy = "a smaller base keeps every weight above 0"
            rule = "at most the smallest weight"
            raise InputError(must_be("base", rule, f"{self.base:g}", remedy=remedy))
        return replace(records, weight=_rounded(records.weight / self.base, rng) * self.base)


def _rounded(units: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Whole numbers next to these, by one systematic draw over a random order."""
    nearest = np.rint(units)
    # 0.3 / 0.1 is not quite 3: a multiple must stay one.
    units = np.where(np.abs(units - nearest) <= ALIKE * nearest, nearest, units)
    below = np.floor(units)
    order = rng.permutation(len(units))
    steps = np.floor(np.cumsum((units - below)[order]) + rng.random())
    up = np.empty(len(units))
    up[order] = np.diff(steps, prepend=0.0)
    rounded: FloatArray = below + up
    return rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveWeights:
    """Leave the weights out of the file that goes out; the writer does it."""

    name: ClassVar[str] = "remove_weights"

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        return "leave out the weights"

    @property
    def still_possible(self) -> str:
        """What an intruder can still do, in a sentence."""
        return (
            "Without weights nobody can read a stratum or a size of the population off them; all "
            "other columns tell what they told before."
        )
