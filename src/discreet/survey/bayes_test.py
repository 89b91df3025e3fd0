"""The Bayes test of uniqueness over a grid of losses (cohen-sackrowitz section 2).

To miss a population unique costs b, to call a record unique that is not costs c. A sample unique
with unique probability Q is called unique when b Q ≥ c (1 − Q), so when Q ≥ 1 / (1 + b/c).
"""

from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.numerics.rounding import ALIKE

LOSS_RATIOS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


@dataclass(frozen=True, slots=True)
class CalledUnique:
    """Records that the test calls population uniques for each ratio b/c of the losses."""

    loss_ratios: tuple[float, ...]
    records: IntArray

    @classmethod
    def none_yet(cls, more_ratios: tuple[float, ...] = ()) -> "CalledUnique":
        """No record yet, over the usual ratios and any more that are asked for."""
        for ratio in more_ratios:
            if not 0 < ratio < float("inf"):
                raise InputError(must_be("loss ratio", "a positive number", ratio))
        ratios = tuple(sorted({*LOSS_RATIOS, *more_ratios}))
        return cls(ratios, np.zeros(len(ratios), dtype=np.int64))

    def add(self, unique_probability: FloatArray, records: IntArray) -> "CalledUnique":
        """With the sample uniques of more cells in it."""
        called = [
            int(records[called_unique(unique_probability, ratio)].sum())
            for ratio in self.loss_ratios
        ]
        return CalledUnique(self.loss_ratios, self.records + np.array(called))

    def joined(self, other: "CalledUnique") -> "CalledUnique":
        """With the sample uniques of both."""
        return CalledUnique(self.loss_ratios, self.records + other.records)


def called_unique(unique_probability: FloatArray, loss_ratio: float) -> BoolArray:
    """Whether the test calls each record a population unique; at a tie it does."""
    q = unique_probability
    return (q > 0) & (loss_ratio * q >= (1 - q) * (1 - ALIKE))
