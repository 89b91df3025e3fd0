"""A scientist with a belief of his own, who acts on the loss that he expects."""

from dataclasses import dataclass

import numpy as np

from discreet.belief.belief import ListedBelief
from discreet.choice.actors import Reading
from discreet.choice.utility import Error
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import ALIKE
from discreet.tables.disclosure import Guess


@dataclass(frozen=True, slots=True, kw_only=True)
class PosteriorCounts:
    """After the counts of the full table, with a belief: posterior means or medians.

    The mean has the least expected squared error, Σ variances; the median the least absolute one.
    Needs a belief that lists its tables; without one (he gave up) the blank estimate stands.
    """

    error: Error = "squared"

    def answer(self, reading: Reading) -> Guess:
        """The best estimate of each cell, and the loss expected of it."""
        belief = reading.belief
        if belief is None:
            return Guess(np.ravel(reading.estimate), 0.0)
        if not isinstance(belief, ListedBelief):
            rule = "one that lists its tables, for a scientist who reckons with it"
            raise InputError(must_be("belief", rule, type(belief).__name__))
        best = _means(belief) if self.error == "squared" else _medians(belief)
        off = np.abs(belief.tables - best)
        losses = (off**2 if self.error == "squared" else off).sum(axis=1)
        return Guess(best, float(belief.probabilities @ losses))

    def loss(self, guess: Guess, truth: IntArray) -> float:
        """Squared or absolute errors summed."""
        off = np.abs(guess.estimate - np.ravel(truth))
        return float((off**2 if self.error == "squared" else off).sum())


def _means(belief: ListedBelief) -> FloatArray:
    mean: FloatArray = belief.probabilities @ belief.tables
    return mean


def _medians(belief: ListedBelief) -> FloatArray:
    return np.array([_median(belief.cell(i)) for i in range(belief.tables.shape[1])])


def _median(distribution: dict[int, float]) -> float:
    values = np.array(sorted(distribution))
    below = np.cumsum([distribution[int(q)] for q in values])
    half = 0.5 * (1 - ALIKE) * below[-1]  # of an even chance always the lower value
    return float(values[np.searchsorted(below, half)])
