"""What scientists may want of a table, as studies with a loss (dobra section 3, by analogy with 4).

Every loss is 0 for the true table. Those of a reader who takes a publication at its word use its
`estimate` of the full table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from discreet.choice.actors import Reading
from discreet.errors import InputError, must_be
from discreet.masks.contract import Axes, PublishedTable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.tables.disclosure import Guess

HALF = 0.5  # added to every cell where a logarithm is taken (Haldane, Anscombe)
Error = Literal["absolute", "squared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCounts:
    """After the counts of the full table, or of chosen margins (sets of axes).

    The loss is Σ |estimate − count| or Σ (estimate − count)², over all entries [persons].
    """

    margins: tuple[Axes, ...] | None = None
    error: Error = "absolute"

    def answer(self, reading: Reading) -> Guess:
        """The estimated table; the reader reckons with no error."""
        return Guess(reading.estimate, 0.0)

    def loss(self, guess: Guess, truth: IntArray) -> float:
        """Absolute or squared errors summed."""
        sets = (tuple(range(truth.ndim)),) if self.margins is None else self.margins
        return float(sum(self._of(guess.estimate, truth, axes) for axes in sets))

    def _of(self, estimate: FloatArray, truth: IntArray, axes: Axes) -> float:
        off = np.abs(summed(estimate, axes) - summed(truth, axes))
        return float((off if self.error == "absolute" else off**2).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """After the association of pairs of variables, all unless named.

    The loss is the mean absolute difference, over all entries of the pairs' two-way margins, of
    the log-linear association terms (entries of log(count + ½) less the means of their row and
    column, plus the mean of all). Every log odds ratio is a sum of four of them with signs, and
    the order of levels does not matter; in a 2 × 2 table a term is a quarter of the log odds
    ratio. A table of one variable has none.
    """

    pairs: tuple[Axes, ...] | None = None

    def answer(self, reading: Reading) -> Guess:
        """The estimated table."""
        return Guess(reading.estimate, 0.0)

    def loss(self, guess: Guess, truth: IntArray) -> float:
        """The mean absolute difference of association terms."""
        pairs = combinations(range(truth.ndim), 2) if self.pairs is None else self.pairs
        off = [np.abs(_terms(guess.estimate, pair) - _terms(truth, pair)).ravel() for pair in pairs]
        every = np.concatenate(off) if off else np.empty(0)
        return float(every.mean()) if every.size else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviance:
    """After a log-linear model of the table: how badly the estimate would fit the true counts.

    The loss is 2 Σ [y log(y / e) − (y − e)] with y = count + ½ and e = estimate + ½, which is
    never below 0 and finite whatever cells are empty.
    """

    def answer(self, reading: Reading) -> Guess:
        """The estimated table."""
        return Guess(reading.estimate, 0.0)

    def loss(self, guess: Guess, truth: IntArray) -> float:
        """The deviance of the true counts from the estimate."""
        y, e = truth + HALF, np.maximum(guess.estimate, 0.0) + HALF
        return max(float(2 * (y * np.log(y / e) - (y - e)).sum()), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hellinger:
    """After the distribution of the table: √(1 − Σ √(p q)), from 0 (equal) to 1 (disjoint)."""

    def answer(self, reading: Reading) -> Guess:
        """The estimated table."""
        return Guess(reading.estimate, 0.0)

    def loss(self, guess: Guess, truth: IntArray) -> float:
        """The Hellinger distance of the two distributions."""
        estimate = np.maximum(guess.estimate, 0.0)
        if estimate.sum() == 0 or truth.sum() == 0:
            return 0.0 if estimate.sum() == truth.sum() else 1.0
        p, q = estimate / estimate.sum(), truth / truth.sum()
        return float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """After margins that users asked for, each with a weight: the weighted share not to be had.

    A margin is to be had if it can be summed from a published table that shows every figure and
    comes out as it is in the data.
    """

    margins: tuple[tuple[Axes, float], ...]

    def __post_init__(self) -> None:
        if not self.margins or any(not 0 < w < float("inf") for _, w in self.margins):
            rule = "at least one margin, with weights above 0"
            raise InputError(must_be("request", rule, [w for _, w in self.margins]))

    def answer(self, reading: Reading) -> Guess:
        """The published tables."""
        return Guess(reading.published, 0.0)

    def loss(self, guess: Guess, truth: IntArray) -> float:
        """The weight of requests that are not to be had, as a share."""
        missing = sum(w for axes, w in self.margins if not is_had(axes, guess.estimate, truth))
        return float(missing / sum(w for _, w in self.margins))


def summed(table: FloatArray | IntArray, axes: Sequence[int]) -> FloatArray:
    """The margin of a table over some axes, in ascending order."""
    others = tuple(axis for axis in range(table.ndim) if axis not in set(axes))
    return np.asarray(table.sum(axis=others), dtype=np.float64)


def is_had(axes: Axes, published: Sequence[PublishedTable], truth: IntArray) -> bool:
    """Whether some published table tells the true margin over the axes, with nothing hidden."""
    for one in published:
        if set(axes) <= set(one.axes) and (one.shown is None or one.shown.all()):
            places = [one.axes.index(axis) for axis in sorted(axes)]
            if np.array_equal(summed(one.counts, places), summed(truth, axes)):
                return True
    return False


def _terms(table: FloatArray | IntArray, pair: Axes) -> FloatArray:
    """The log-linear association terms of a two-way margin."""
    logs = np.log(np.maximum(summed(table, pair), 0.0) + HALF)
    rows, columns = logs.mean(axis=1, keepdims=True), logs.mean(axis=0, keepdims=True)
    found: FloatArray = logs - rows - columns + logs.mean()
    return found
