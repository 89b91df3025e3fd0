"""The measures of the field as attacks on a table (dobra section 4), and one for any finite choice.

Each preset comes with the formula it reduces to; a test proves that the general risk (1) gives it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.belief.belief import Belief, ListedBelief
from discreet.errors import InputError, must_be
from discreet.figures import Outcome, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.numerics.rounding import first_largest
from discreet.tables.disclosure import Always, Fixed, Guess, Scenario
from discreet.tables.measures import best_value

SMALL = 2  # counts from 1 to this are small, unless told otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class TightBounds:
    """After intervals that hold every cell, as short as can be (dobra 4.1).

    The best estimate is the bounds of each cell, the uncertainty the sum of their widths, the harm
    minus the least width among small cells that the bounds hold, −total if he gives up or there are
    none.
    """

    small: int = SMALL

    def guess(self, belief: Belief) -> Guess:
        """The bounds and the sum of their widths."""
        lower, upper = belief.lower, belief.upper
        return Guess((lower, upper), float((upper - lower).sum()))

    def harm(self, guess: Guess | None, truth: IntArray) -> float:
        """Minus the width of the tightest bounds of a small cell."""
        table = np.ravel(truth)
        if guess is None:
            return -float(table.sum())
        lower, upper = guess.estimate
        hit = (lower <= table) & (table <= upper) & (table > 0) & (table <= self.small)
        return -float((upper - lower)[hit].min()) if hit.any() else -float(table.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeTable:
    """After the distribution of the table itself, under logarithmic loss (dobra 4.2).

    The best estimate is his belief, the uncertainty its entropy (in natural units), the harm the
    probability it gives to the true table.
    """

    def guess(self, belief: Belief) -> Guess:
        """The belief and its entropy."""
        return Guess(belief, _value(belief.entropy()) * math.log(2))

    def harm(self, guess: Guess | None, truth: IntArray) -> float:
        """The probability of the true table."""
        return 0.0 if guess is None else _value(guess.estimate.probability(truth))


@dataclass(frozen=True, slots=True, kw_only=True)
class OneCell:
    """After the count of one cell, under 0–1 loss (dobra 4.3).

    The best estimate is the most probable value, the uncertainty the probability that it is wrong.
    The harm is m / n(small) if he is right and the cell is small, so that averaged over all m cells
    it is the share of small cells found.
    """

    cell: int
    small: int = SMALL
    zero_is_small: bool = False

    def guess(self, belief: Belief) -> Guess:
        """The most probable value; of several, the least."""
        distribution = belief.cell(self.cell)
        best = best_value(distribution)
        return Guess(best, 1.0 - distribution[best])

    def harm(self, guess: Guess | None, truth: IntArray) -> float:
        """m / n(small) for a small cell that was found, else nothing."""
        table = np.ravel(truth)
        least = 0 if self.zero_is_small else 1
        small = (table >= least) & (table <= self.small)
        if guess is None or not small[self.cell] or guess.estimate != table[self.cell]:
            return 0.0
        return table.size / float(small.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteChoice:
    """After anything, by one of finitely many actions: the general case, in a dozen lines.

    `loss(action, table)` is the intruder's, `harm_of(action, table)` the agency's, with action None
    for giving up. Needs a belief that lists its tables.
    """

    actions: Sequence[Any]
    loss: Callable[[Any, IntArray], float]
    harm_of: Callable[[Any, IntArray], float]

    def guess(self, belief: Belief) -> Guess:
        """The action with the least expected loss; of several, the first."""
        if not isinstance(belief, ListedBelief):
            rule = "one that lists its tables, for a choice among actions"
            raise InputError(must_be("belief", rule, type(belief).__name__))
        losses = [[self.loss(action, table) for table in belief.tables] for action in self.actions]
        expected = np.array([np.dot(own, belief.probabilities) for own in losses])
        size = max(float(np.dot(np.abs(own), belief.probabilities)) for own in losses)
        best = first_largest(-expected, scale=size)
        return Guess(self.actions[best], float(expected[best]))

    def harm(self, guess: Guess | None, truth: IntArray) -> float:
        """The agency's loss by the action."""
        return self.harm_of(None if guess is None else guess.estimate, np.ravel(truth))


def bounds_scenario(small: int = SMALL) -> Scenario:
    """Risk (3): −min{U − L over small cells}, of an intruder who never gives up."""
    return Scenario(attacks=[(1.0, TightBounds(small=small))], threshold=Always())


def table_scenario() -> Scenario:
    """The probability of the true table; 1 / M(T) under a uniform prior."""
    return Scenario(attacks=[(1.0, WholeTable())], threshold=Always())


def cells_scenario(n_cells: int, *, small: int = SMALL, confidence: float = 0.5) -> Scenario:
    """Risk (5): the share of small cells found with a probability above `confidence`."""
    if not 0 <= confidence < 1:
        raise InputError(must_be("confidence", "from 0 to below 1", confidence))
    attacks = [(1.0 / n_cells, OneCell(cell=cell, small=small)) for cell in range(n_cells)]
    return Scenario(attacks=attacks, threshold=Fixed(1.0 - confidence, strictly=True))


def _value(outcome: Outcome) -> float:
    if isinstance(outcome, Unavailable):
        raise InputError(must_be("belief", "known well enough for this measure", outcome.reason))
    if outcome.value is None:
        raise InputError(must_be("belief", "known well enough for this measure", "limits only"))
    return outcome.value
