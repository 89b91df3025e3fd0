"""What an intruder can say of a record that looks unique after a swap.

A record that was not moved is where the file says; one that was moved is not. So the probability
that a record which looks unique in its area is really from there is the share of such records that
were not moved. Two kinds are told apart, as an intruder can: since a swap keeps the counts of each
class in each area, he sees in the released file whose class lies in one area only. Those cannot
have been moved, and are *certain*. Of the others, the *movable* ones,

    Pr(really from there) = records not moved / records,

exactly, for an intruder who knows this rate among the records that look unique and nothing else
that sets one of them apart. The rate is that of the draw that was made; over all draws, which he
has to average over if he knows the method alone, it is estimated by repeating the swap.
"""

from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.masks.records.combinations import alone
from discreet.masks.records.contract import CodedRecords
from discreet.masks.records.swapping import Swap, Swapped
from discreet.numerics.arrays import BoolArray

NOTE = "for an intruder who knows the rate among records that look unique and could be swapped"


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterSwapping:
    """Of `n_alone` records that look unique by all keys `n_certain` could not have been moved; of
    the others, `n_movable`, `n_really` are where the file says."""

    n_alone: int
    n_certain: int
    n_movable: int
    n_really: int

    @property
    def chance(self) -> Outcome:
        """The probability that a record which looks unique, and could have been moved, is really
        from its area."""
        if not self.n_movable:
            return Unavailable("no record that looks unique could have been swapped")
        return Figure(value=self.n_really / self.n_movable, how=How.EXACT, note=NOTE)

    @property
    def chance_of_any(self) -> Outcome:
        """The same of any record that looks unique, for who cannot tell the certain ones."""
        if not self.n_alone:
            return Unavailable("no record looks unique")
        really = (self.n_certain + self.n_really) / self.n_alone
        return Figure(value=really, how=How.EXACT, note="certain ones included")


def after_swapping(swapped: Swapped) -> AfterSwapping:
    """What the swap that was made leaves of the records that look unique."""
    single = alone(swapped.records)
    movable = single & swapped.movable
    return AfterSwapping(
        n_alone=int(single.sum()),
        n_certain=int((single & ~swapped.movable).sum()),
        n_movable=int(movable.sum()),
        n_really=int((movable & ~swapped.moved).sum()),
    )


def expected_after_swapping(
    swap: Swap,
    records: CodedRecords,
    rng: np.random.Generator,
    *,
    repeats: int = 20,
    targets: BoolArray | None = None,
) -> Outcome:
    """The probability of `AfterSwapping.chance` over all draws of the method, estimated.

    The ratio of the sums of `n_really` and `n_movable` over the repeats; its standard error is that
    of a ratio of means, √(Σ (r_i − q m_i)² / (R (R − 1))) / m̄ (Cochran 1977, section 2.11).
    """
    if not isinstance(repeats, int) or isinstance(repeats, bool) or repeats < 2:
        raise InputError(must_be("repeats", "a whole number of at least 2", repr(repeats)))
    found = [after_swapping(swap.swapped(records, rng, targets)) for _ in range(repeats)]
    really = np.array([one.n_really for one in found], dtype=np.float64)
    movable = np.array([one.n_movable for one in found], dtype=np.float64)
    if not movable.any():
        return Unavailable("no record that looks unique could have been swapped")
    ratio = float(really.sum() / movable.sum())
    spread = float(np.sum((really - ratio * movable) ** 2)) / (repeats * (repeats - 1))
    error = float(np.sqrt(spread) / movable.mean())
    return Figure(value=ratio, how=How.ESTIMATE, standard_error=error, note=NOTE)
