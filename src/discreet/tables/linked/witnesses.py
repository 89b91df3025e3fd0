"""Tables that fit all figures and differ wherever they can: what they agree in follows.

Small blocks are listed whole. Of others corners are found, which need not be whole: what differs
between two of them does not follow from the figures by adding and subtracting. Cells that are the
same in all corners so far get random weights, and a corner is sought in which their weighted sum is
greatest, then least. Where neither differs from what was seen, no table differs in any of them: a
direction in which one could move would have to be at right angles to random weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from discreet.clock import Clock
from discreet.fiber.bounds.block_state import searched_rows
from discreet.fiber.sums.small_blocks import small_points
from discreet.fiber.system.consistency import contradiction
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.programs import LinearProgram
from discreet.fiber.system.structure import SystemBlock, independent_rows, with_rows
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.progress import Progress
from discreet.tables.linked.reduced import Reduced

BEGINNING = 4  # corners of each block before agreement is looked at
MOST_CORNERS = 60  # of a block, beyond which it is left open
MOST_LISTED = 5_000  # steps of listing a block
LP_SECONDS = 10.0
STEP = "looking for tables that differ"
SAME = 1e-6  # by which values may differ that are the same but for rounding


@dataclass(slots=True)
class BlockView:
    """A block with the points found of it: all its tables where `is_listed`, else corners.

    `is_settled` says that what all points agree in is the same in every table.
    """

    block: SystemBlock
    points: list[FloatArray] = field(default_factory=list)
    is_listed: bool = False
    is_settled: bool = False
    program: LinearProgram | None = None

    def same(self, forms: csr_array) -> BoolArray:
        """Which forms (rows, over the columns of the block) have one value in all points."""
        values = np.array([forms @ point for point in self.points])
        return np.asarray(values.max(axis=0) - values.min(axis=0) < SAME)

    def settle(self, forms: csr_array, clock: Clock, rng: np.random.Generator) -> bool:
        """Looks for points that differ in the forms on which all agree; whether that is done."""
        while not self.is_listed:
            left = csr_array(forms[np.flatnonzero(self.same(forms))])
            if left.shape[0] == 0:
                return True
            weights = np.asarray(left.T @ (0.5 + rng.random(left.shape[0])))
            moved = [self._moves(weights, sign, clock) for sign in (1, -1)]
            if None in moved or len(self.points) > MOST_CORNERS:
                return False
            if not any(moved):
                return True
        return True

    def _moves(self, weights: FloatArray, sign: int, clock: Clock) -> bool | None:
        """Whether a point has another weighted sum, which is then kept; None where time is over."""
        columns = np.flatnonzero(weights)
        point = self.corner(columns, sign, clock, weights[columns].tolist())
        if point is None:
            return None
        before = float(weights @ self.points[0])
        scale = 1.0 + float(np.abs(weights) @ np.abs(point))
        self.points.append(point)
        return abs(float(weights @ point) - before) > SAME * scale

    def corner(
        self, columns: IntArray, sign: int, clock: Clock, weights: list[float] | None = None
    ) -> FloatArray | None:
        """A corner of the block at which the weighted sum of columns is greatest."""
        if clock.is_over:
            return None
        if self.program is None:
            system = self.block.system
            rows = searched_rows(system, independent_rows(system))
            self.program = LinearProgram(with_rows(system, rows))
        seconds = clock.left() or LP_SECONDS
        vertex = self.program.maximise(columns.tolist(), sign, seconds, weights=weights)
        return None if vertex is None else vertex.point


@dataclass(frozen=True, kw_only=True)
class Witnesses:
    """The blocks with their points, and what is known of every atom from them.

    `low` and `high` are the least and the greatest value of an atom in any point; infinite for one
    that nothing limits. Atoms for which they agree are the same in every table, but for those of
    blocks that are not settled.
    """

    known: Reduced
    views: tuple[BlockView, ...]
    rng: np.random.Generator

    @property
    def is_settled(self) -> bool:
        """Whether every block is."""
        return all(view.is_settled for view in self.views)

    def sums(self, entry: IntArray, n: int) -> tuple[FloatArray, FloatArray]:
        """The least and greatest sum of each of n sets of atoms over the tables that were found.

        `entry` gives the set of each atom. Blocks are independent, so their sums add up.
        """
        known = self.known
        lower, _ = known.limits()
        fixed = np.flatnonzero(known.block_of == -1)
        low = np.bincount(entry[fixed], weights=lower[fixed], minlength=n).astype(np.float64)
        high = low.copy()
        for view, atoms, columns in self._parts():
            own = entry[atoms]
            sets, place = np.unique(own, return_inverse=True)
            sums = np.array(
                [np.bincount(place, weights=p[columns], minlength=len(sets)) for p in view.points]
            )
            low[sets] += sums.min(axis=0)
            high[sets] += sums.max(axis=0)
        free = np.flatnonzero(known.block_of == -2)
        high[entry[free]] = np.inf
        return low, high

    def settle(self, entry: IntArray, wanted: BoolArray, clock: Clock, progress: Progress) -> None:
        """Looks for tables that differ in wanted sets of atoms that are the same in all so far."""
        for number, (view, atoms, columns) in enumerate(self._parts()):
            progress(STEP, number / max(len(self.views), 1))
            own = np.flatnonzero(wanted[entry[atoms]])
            if not len(own):
                continue
            sets, place = np.unique(entry[atoms[own]], return_inverse=True)
            forms = csr_array(
                (np.ones(len(own)), (place, columns[own])),
                shape=(len(sets), view.block.system.n_columns),
            )
            view.is_settled &= view.settle(forms, clock, self.rng)

    def _parts(self) -> Iterator[tuple[BlockView, IntArray, IntArray]]:
        """Each block with its atoms and the columns that these are in it."""
        n = self.known.system.n_named
        for view in self.views:
            columns = np.flatnonzero(view.block.columns < n)
            yield view, self.known.limited[view.block.columns[columns]], columns


def witnesses(known: Reduced, clock: Clock, progress: Progress, *, seed: int = 1) -> Witnesses:
    """Tables that fit; raises InputError where a block has none."""
    rng = np.random.default_rng(seed)
    views: list[BlockView] = []
    for number, block in enumerate(known.structure.blocks):
        progress(STEP, number / len(known.structure.blocks))
        points = _listed(block.system)
        if points is not None:
            if not len(points):
                raise contradiction(known.system)
            views.append(BlockView(block, list(points), is_listed=True, is_settled=True))
            continue
        views.append(_corners(known.system, block, clock, rng))
    return Witnesses(known=known, views=tuple(views), rng=rng)


def _listed(system: System) -> IntArray | None:
    """All points of a block, where there are few."""
    right = system.right - system.matrix @ system.lower
    upper = system.upper - system.lower
    points = small_points(system.matrix, right, upper, most_steps=MOST_LISTED)
    return None if points is None else points + system.lower


def _corners(
    whole: System, block: SystemBlock, clock: Clock, rng: np.random.Generator
) -> BlockView:
    view = BlockView(block)
    n = block.system.n_columns
    for _ in range(BEGINNING):
        point = view.corner(np.flatnonzero(rng.random(n) < 0.5), 1, clock)
        if point is None:
            break
        view.points.append(point)
    if not view.points:  # too little time, or no table at all: limits are all that is known
        system = block.system
        view.points = [system.lower.astype(np.float64), system.upper.astype(np.float64)]
        return view
    view.is_settled = view.settle(csr_array(np.eye(n)), clock, rng)
    return view
