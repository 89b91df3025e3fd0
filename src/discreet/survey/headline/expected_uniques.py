"""How many sample uniques stay unique, as they did in populations that were known in full.

Whether a sample unique is alone in the population depends on how many people share its keys on
average, N times the probability of its combination, in much the same way wherever it was looked at.
With the typical rate u (log of the records expected in the sample, see `rate_index`), the inclusion
probability π and D, the log of how many second, third … records the cells have to how many the
typical rates make of it,

    y = u − log π,   l = log π + 2.5,   s(x) = log(1 + e^x),
    logit P(F = 1 | f = 1) = a0 + a1·y + a2·s(y) + a3·s(y − 2) + a4·s(−y − 3)
                             + l·(a5 + a6·y + a7·s(y)) + D·(a8 + a9·l).

The sum over the sample uniques is where the average over shapes of the rates is drawn to, loosely:
it tells most where the sample tells least. The numbers were fitted to 498 samples of 20 kinds of
population (docs/methods/recommended.md).
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.data.cells import CellBatch
from discreet.numerics.arrays import FloatArray
from discreet.numerics.exact_sums import exact_sum
from discreet.survey.headline.inclusion import Inclusion
from discreet.survey.headline.rate_index import TYPICAL_RATE

LEVEL = (-1.351, -1.024, -0.138, -1.081, -0.738)  # a0 … a4
BY_FRACTION = (0.454, 0.033, 0.338)  # a5 … a7
BY_SURPLUS = (-0.408, -0.003)  # a8, a9
USUAL_FRACTION = math.exp(-2.5)


@dataclass(frozen=True, slots=True)
class ExpectedUniques:
    """The exact sum over sample uniques of the probability to be alone in the population."""

    inclusion: Inclusion
    log_ratio: float
    reads: tuple[str, ...] = (TYPICAL_RATE,)

    def of(self, batch: CellBatch) -> int:
        """Of some cells."""
        alone = np.flatnonzero(batch.n_records == 1)
        typical = batch.extra[TYPICAL_RATE][alone]
        probability = self.inclusion.of(batch)[alone]
        return exact_sum(staying_unique(typical, probability, self.log_ratio))

    def joined(self, one: int, other: int) -> int:
        """Of the cells of both."""
        return one + other


def staying_unique(typical: FloatArray, probability: FloatArray, log_ratio: float) -> FloatArray:
    """P(F = 1 | f = 1) from typical rates, inclusion probabilities and D."""
    y = typical - np.log(probability)
    far = np.log(probability / USUAL_FRACTION)
    a0, *others = LEVEL
    odds = np.full(len(y), a0)
    for a, term in zip(others, (y, _soft(y), _soft(y - 2), _soft(-y - 3)), strict=True):
        odds += a * term
    a5, a6, a7 = BY_FRACTION
    a8, a9 = BY_SURPLUS
    odds += far * (a5 + a6 * y + a7 * _soft(y)) + log_ratio * (a8 + a9 * far)
    found: FloatArray = 0.5 * (1 + np.tanh(odds / 2))
    return found


def _soft(value: FloatArray) -> FloatArray:
    return np.logaddexp(0.0, value)
