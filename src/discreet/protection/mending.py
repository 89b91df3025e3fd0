"""What is done at a node of the lattice with the records that still stand out."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.figures import How
from discreet.masks.records.candidate_suppression import suppressed_to_candidates
from discreet.masks.records.strict_suppression import MOST_SETS, suppressed_strictly
from discreet.masks.records.suppression import Guarantee, Problem, Suppression
from discreet.masks.records.wildcard_suppression import suppressed_to_wildcards
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.progress import Progress, silent
from discreet.protection.lattice import CellsAt
from discreet.protection.search import Mended

Method = Callable[[Problem, Progress], Suppression]
METHODS: dict[Guarantee, Method] = {
    Guarantee.STRICT: suppressed_strictly,
    Guarantee.CANDIDATES: suppressed_to_candidates,
    Guarantee.WILDCARD: suppressed_to_wildcards,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressValues:
    """Single values are taken out, so that the guarantee holds.

    `cost` is the price of a value of each key, `never` are keys of which none is taken out, `most`
    how many of each key may be (−1: any number).
    """

    k: int
    guarantee: Guarantee
    cost: FloatArray
    never: frozenset[int] = frozenset()
    most: IntArray | None = None
    whole: bool = False

    def allows(self, standing_out: int) -> bool:
        """However many they are."""
        return True

    def problem(self, cells: CellsAt) -> Problem:
        """The cells of a node as a problem of suppression."""
        few = cells.records < self.k
        for values in cells.values:
            distinct = np.bincount(values.cell, minlength=len(cells.records))
            few |= distinct < values.least
        return Problem(
            coding=cells.coding,
            words=cells.words,
            records=cells.records,
            k=self.k,
            cost=self.cost,
            never=self.never,
            most=self.most,
            open=few,
            values=cells.values,
            most_sets=MOST_SETS,
        )

    def mended(self, cells: CellsAt) -> Mended:
        """The values that are taken out, by key and level."""
        return with_levels(cells, METHODS[self.guarantee](self.problem(cells), silent))


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressRecords:
    """Whole records lose all their keys, at most `most` of them; as ARX does, these records are not
    asked to be k themselves."""

    k: int
    most: float
    whole: bool = True

    def allows(self, standing_out: int) -> bool:
        """Up to the limit."""
        return standing_out <= self.most

    def mended(self, cells: CellsAt) -> Mended:
        """All values of the records that stand out."""
        few = cells.records < self.k
        every = (1 << len(cells.coding.digits)) - 1
        places = np.arange(len(cells.records))
        return with_levels(
            cells,
            Suppression(
                cell=places,
                without=np.where(few, every, 0),
                records=cells.records,
                how=How.EXACT,
                least=0.0,
            ),
        )


def with_levels(cells: CellsAt, found: Suppression) -> Mended:
    """A suppression with how many values of each level of each key it takes out."""
    gone = found.without != 0
    levels = cells.coding.decode(cells.words[found.cell[gone]])
    without, records = found.without[gone], found.records[gone]
    suppressed = []
    for key, size in enumerate(cells.coding.sizes):
        out = (without >> key & 1) == 1
        held = np.bincount(levels[out, key], weights=records[out], minlength=size)
        suppressed.append(held.astype(np.int64))
    return Mended(
        suppressed=tuple(suppressed),
        records=int(records.sum()),
        left=found.left,
        suppression=found,
    )
