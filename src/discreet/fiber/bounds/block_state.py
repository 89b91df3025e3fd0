"""One block while its bounds are being closed: limits, what tables attain, and the programs."""

from dataclasses import dataclass, field, replace

import numpy as np

from discreet.fiber.bounds.contract import Bounds, Proof, ProofArray, proofs
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.programs import Deadline, Ending, Found, LinearProgram, Search, Vertex
from discreet.fiber.system.structure import independent_rows, with_rows
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

LOWER, UPPER = 0, 1
SIGN = (-1, 1)


class NoTable(Exception):  # noqa: N818 - an answer, not a failure
    """A search has shown that no whole-number point exists."""


@dataclass(slots=True)
class Closing:
    """The work on one block: limits so far, what tables attain, and how limits are known.

    `limit[side]` holds bounds on SIGN[side] · x, `attained[side]` the greatest value of it in any
    table found; both as numbers to be maximised, so that the two sides are treated alike.
    """

    system: System
    wanted: BoolArray
    limit: tuple[IntArray, IntArray] = field(init=False)
    attained: tuple[IntArray, IntArray] = field(init=False)
    source: tuple[ProofArray, ProofArray] = field(init=False)
    rows: IntArray | None = None  # of the linear program: those that imply all others
    program: LinearProgram | None = None
    search: Search | None = None
    has_table: bool = False
    refused: bool = False

    def __post_init__(self) -> None:
        n, least = self.system.n_columns, np.iinfo(np.int64).min
        self.limit = (-self.system.lower, self.system.upper.copy())
        self.attained = (np.full(n, least), np.full(n, least))
        self.source = (proofs(n, Proof.PROPAGATION), proofs(n, Proof.PROPAGATION))

    def open(self, side: int) -> IntArray:
        """Wanted columns whose bound no table attains yet, the widest gaps first."""
        gap = self.limit[side] - np.maximum(self.attained[side], -self.limit[1 - side])
        found = np.flatnonzero(self.wanted & (self.attained[side] < self.limit[side]))
        return found[np.argsort(-gap[found], kind="stable")]

    @property
    def n_open(self) -> int:
        """Sides not yet closed."""
        return len(self.open(LOWER)) + len(self.open(UPPER))

    @property
    def is_done(self) -> bool:
        """Whether all sides are closed and a table is known, even if no column is wanted."""
        return self.has_table and self.n_open == 0

    def record(self, point: IntArray) -> bool:
        """Takes note of a point, if it is one."""
        if not self.system.holds(point):
            return False
        self.saw(point, point)
        return True

    def saw(self, least: IntArray, most: IntArray) -> None:
        """Takes note of the least and greatest values seen in some points."""
        self.has_table = True
        np.maximum(self.attained[LOWER], -least, out=self.attained[LOWER])
        np.maximum(self.attained[UPPER], most, out=self.attained[UPPER])

    def bound(self, column: int, side: int, value: int, source: Proof) -> None:
        """Takes note of a proved bound on SIGN[side] · x[column], and tells the programs."""
        if value >= self.limit[side][column]:
            return
        self.limit[side][column], self.source[side][column] = value, source
        low, high = -int(self.limit[LOWER][column]), int(self.limit[UPPER][column])
        if low > high:
            raise NoTable
        for told in (self.program, self.search):
            if told is not None:
                told.narrow(column, low, high)

    def bounds(self) -> Bounds:
        """Bounds of the wanted columns as they stand; exact where attained."""
        lower, upper = -self.limit[LOWER], self.limit[UPPER].copy()
        proof = [
            np.where(self.attained[side] == self.limit[side], self.source[side], Proof.OUTER)
            for side in (LOWER, UPPER)
        ]
        w = self.wanted
        return Bounds(
            lower=lower[w],
            upper=upper[w],
            lower_proof=proof[LOWER][w].astype(np.int8),
            upper_proof=proof[UPPER][w].astype(np.int8),
        )

    def is_over(self, deadline: Deadline) -> bool:
        """Whether searches can lead no further."""
        return self.refused or deadline.passed

    def linear(self) -> LinearProgram:
        """The linear program, built when first needed."""
        if self.program is None:
            self.program = LinearProgram(with_rows(self._narrowed(), self.needed_rows()))
        return self.program

    def needed_rows(self) -> IntArray:
        """Rows that imply all others."""
        if self.rows is None:
            self.rows = independent_rows(self.system)
        return self.rows

    def dual_weights(self, vertex: Vertex) -> FloatArray:
        """The weights of a vertex on all rows of the system."""
        weights = np.zeros(self.system.n_rows)
        weights[self.needed_rows()] = vertex.weights
        return weights

    def searched(self, columns: IntArray, side: int, seconds: float) -> Found:
        """One search; its point is recorded, and a contradiction raised."""
        if self.search is None:
            rows = searched_rows(self.system, self.needed_rows())
            self.search = Search(with_rows(self._narrowed(), rows))
        found = self.search.maximise(columns.tolist(), SIGN[side], seconds)
        if found.ending is Ending.INFEASIBLE:
            raise NoTable
        self.refused |= found.ending is Ending.REFUSED
        if found.point is not None:
            self.record(found.point)
        return found

    def _narrowed(self) -> System:
        return replace(self.system, lower=-self.limit[LOWER], upper=self.limit[UPPER].copy())


def searched_rows(system: System, needed: IntArray) -> IntArray:
    """Rows to search with: a few that others imply help, many hinder (measured)."""
    return needed if 2 * len(needed) <= system.n_rows else np.arange(system.n_rows)
