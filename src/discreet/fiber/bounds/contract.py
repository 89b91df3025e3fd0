"""What every method of bounding cells returns: limits, and how each of them is known."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from discreet.notebooks import ShownInNotebooks
from discreet.numerics.arrays import BoolArray, IntArray, read_only

ProofArray = NDArray[np.int8]


class Proof(IntEnum):
    """How a bound is known; all but OUTER are attained by a whole-number table."""

    CLOSED_FORM = 0
    PROPAGATION = 1
    DUAL = 2
    SEARCH = 3
    OUTER = 4

    @property
    def text(self) -> str:
        """The proof in words for a user."""
        return _TEXTS[self]


_TEXTS = {
    Proof.CLOSED_FORM: "exact: closed form",
    Proof.PROPAGATION: "exact: attained by a table, proved by limits passed along rows",
    Proof.DUAL: "exact: attained by a table, proved by a dual in whole numbers",
    Proof.SEARCH: "exact: attained by a table, proved by exhaustive search",
    Proof.OUTER: "valid outer bound: the true one may be tighter",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds(ShownInNotebooks):
    """The least and the greatest count each cell can have in any consistent table.

    One entry for each cell asked for. No consistent table lies outside; where a proof is not OUTER
    some table attains the bound. `note` says why work stopped early, if it did.
    """

    lower: IntArray
    upper: IntArray
    lower_proof: ProofArray
    upper_proof: ProofArray
    note: str = ""

    def __post_init__(self) -> None:
        for array in (self.lower, self.upper, self.lower_proof, self.upper_proof):
            read_only(array)

    @property
    def exact(self) -> BoolArray:
        """Which cells have both bounds attained."""
        worst = np.maximum(self.lower_proof, self.upper_proof)
        return np.asarray(worst != Proof.OUTER)

    @property
    def complete(self) -> bool:
        """Whether every bound is exact."""
        return bool(self.exact.all())

    def how(self, i: int) -> tuple[Proof, Proof]:
        """How the lower and the upper bound of the i-th cell are known."""
        return Proof(int(self.lower_proof[i])), Proof(int(self.upper_proof[i]))


def proofs(shape: int | tuple[int, ...], proof: Proof) -> ProofArray:
    """The same proof for every cell."""
    return np.full(shape, proof, dtype=np.int8)


def outer_bounds(lower: IntArray, upper: IntArray, note: str = "") -> Bounds:
    """Bounds that hold but need not be attained, save where both sides meet."""
    met = np.where(lower == upper, Proof.PROPAGATION, Proof.OUTER).astype(np.int8)
    return Bounds(lower=lower, upper=upper, lower_proof=met, upper_proof=met.copy(), note=note)
