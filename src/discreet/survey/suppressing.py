"""What local suppression would take: single values taken out, so that k records belong together."""

from dataclasses import dataclass

import numpy as np

from discreet.engines.contract import Cells
from discreet.engines.key_space import KeySpace
from discreet.engines.local.cells import LocalCells
from discreet.masks.records.strict_suppression import suppressed_strictly
from discreet.masks.records.suppression import MOST_KEYS, Problem, after_suppression
from discreet.numerics.arrays import IntArray

MOST_CELLS = 60_000  # of which it is worked out, a second or so


@dataclass(frozen=True, slots=True)
class SuppressedCells:
    """The cells after a suppression, and how many values of each key it took out."""

    cells: LocalCells
    values: IntArray

    @property
    def n_values(self) -> int:
        """Values that are taken out."""
        return int(self.values.sum())


def suppressed_cells(cells: Cells, k: int) -> SuppressedCells | None:
    """The cells once values are suppressed with the keys as they are; None where that would take
    long, cannot be, or where missing values match others."""
    space = cells.space
    if cells.n_cells > MOST_CELLS or space.overlap or len(space.keys) > min(MOST_KEYS, 16):
        return None
    batch = cells.held(MOST_CELLS)
    if batch is None:
        return None
    problem = Problem(
        coding=space.coding,
        words=batch.words,
        records=batch.n_records,
        k=k,
        cost=np.ones(len(space.keys)),
    )
    found = suppressed_strictly(problem)
    if found.left:
        return None
    after = after_suppression(space.keys, problem, found)
    weight = None
    if batch.weight_total is not None:
        share = after.n / problem.records[after.cell]
        held = batch.weight_total[after.cell] * share
        weight = np.bincount(after.place, weights=held).astype(np.float64)
    own = KeySpace(keys=after.keys, coding=after.coding, policy=space.policy)
    made = LocalCells.of_arrays(after.words, after.records, own, weight)
    return SuppressedCells(made, found.values(len(space.keys)))
