"""Exact bounds by linear and integer programming, spent only where cheap bounds leave a gap.

Every table found, for whatever cell it was sought, shows for all cells a count that is possible.
A side of a cell is *closed* when some table attains its valid bound. So tables are sought that
attain the bounds of many cells at once: a batch of cells no two of which share a row is maximised
or minimised together. What is left is bounded by the linear program, whose dual is proved in whole
numbers (`duals`), tried again in batches, and at last searched cell by cell, with time for each
search that grows from round to round so that easy cells are closed first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.sparse import csc_array

from discreet.errors import InputError, must_be
from discreet.fiber.bounds.block_state import LOWER, SIGN, UPPER, Closing, NoTable, searched_rows
from discreet.fiber.bounds.contract import Bounds, Proof
from discreet.fiber.bounds.duals import rounded_dual
from discreet.fiber.system.consistency import contradiction
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.programs import Deadline, Ending, Found, Search
from discreet.fiber.system.structure import (
    Presolved,
    independent_rows,
    presolve,
    with_rows,
)
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, interruption_ends_all, silent

STEP = "bounding cells"
BATCH_CELLS = 128
BATCH_SECONDS = 1.0
LP_SECONDS = 10.0
FOREVER = 1e9
FIRST_SEARCH_SECONDS = 0.5
Tell = Callable[[int], None]  # how many sides are still open


def bounds_by_programming(
    system: System,
    *,
    cells: IntArray | None = None,
    tables: Sequence[IntArray] = (),
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Bounds:
    """Exact bounds of the cells, or as good as the time allowed: valid in any case.

    `tables` are consistent tables already known, such as the true one: they spare search and change
    no answer. An interruption (KeyboardInterrupt) ends the work like a time limit. Raises
    InputError, naming a smallest set of statements that disagree, where no table is consistent.
    """
    work = Work(system, [*tables], Deadline(time_limit), progress)
    return work.bounds(np.arange(system.n_named) if cells is None else cells)


class Work:
    """A system to be bounded: what is known of it, the time left, and who is told."""

    def __init__(
        self,
        system: System,
        tables: Sequence[IntArray],
        deadline: Deadline,
        progress: Progress,
        limits: tuple[IntArray, IntArray] | None = None,  # proved by other methods, trusted
        structure: Presolved | None = None,  # of this system, where it is known already
    ) -> None:
        self.system, self.deadline, self.progress = system, deadline, progress
        self.structure = structure or presolve(system, drop_redundant=False, limits=limits)
        self.points = [_completed(system, table) for table in tables]
        self.seen: list[tuple[IntArray, IntArray]] = [(point, point) for point in self.points]

    def first_point(self, seconds: float) -> IntArray | None:
        """A point of the system, if one is known or found in time."""
        if not self.points:
            lower, upper = self.structure.lower, self.structure.upper
            limited = replace(self.system, lower=lower, upper=upper)
            rows = searched_rows(self.system, independent_rows(self.system))
            search = Search(with_rows(limited, rows))
            found = search.maximise([], 1, self.deadline.left(seconds))
            if found.ending is Ending.INFEASIBLE:
                raise contradiction(self.system)
            self.points += [found.point] if found.point is not None else []
        return self.points[0] if self.points else None

    def bounds(self, cells: IntArray) -> Bounds:
        """The bounds of the cells, block by block."""
        wanted = np.zeros(self.system.n_columns, dtype=np.bool_)
        wanted[cells] = True
        lower, upper = self.structure.lower.copy(), self.structure.upper.copy()
        proof = [np.where(lower == upper, Proof.PROPAGATION, Proof.OUTER).astype(np.int8)] * 2
        proof = [side.copy() for side in proof]
        done, note = int(wanted[self.structure.forced].sum()), ""
        for block in self.structure.blocks:
            closing = Closing(block.system, wanted[block.columns])
            for least, most in self.seen:
                closing.saw(least[block.columns], most[block.columns])
            share = _Share(self.progress, done, int(closing.wanted.sum()), len(cells))
            note = note or close(self.system, closing, self.deadline, share)
            found, at = closing.bounds(), block.columns[closing.wanted]
            lower[at], upper[at] = found.lower, found.upper
            proof[LOWER][at], proof[UPPER][at] = found.lower_proof, found.upper_proof
            done += len(at)
        return Bounds(
            lower=lower[cells],
            upper=upper[cells],
            lower_proof=proof[LOWER][cells],
            upper_proof=proof[UPPER][cells],
            note=note,
        )


def _completed(system: System, table: IntArray) -> IntArray:
    cells = np.asarray(table, dtype=np.int64).ravel()
    if len(cells) != system.n_named:
        raise InputError(must_be("tables", f"of {system.n_named} cells", len(cells)))
    point = system.completed(cells)
    if not system.holds(point):
        raise InputError(must_be("tables", "consistent with every statement", "one that is not"))
    return point


@dataclass(frozen=True, slots=True)
class _Share:
    """Tells progress on one block as progress on the whole."""

    progress: Progress
    done: int
    here: int
    wanted: int

    def __call__(self, n_open: int) -> None:
        closed = self.done + self.here - n_open / 2
        self.progress(STEP, closed / max(self.wanted, 1))


def close(system: System, work: Closing, deadline: Deadline, tell: Tell) -> str:
    """Works until every wanted side is closed or time is over; says why it stopped early."""
    try:
        for phase in (close_in_batches, bound_by_duals, close_in_batches, close_one_by_one):
            phase(work, deadline, tell)
            tell(work.n_open)
        if not work.is_done and not work.is_over(deadline):
            work.searched(np.empty(0, np.int64), UPPER, deadline.left(FOREVER))
    except NoTable:
        raise contradiction(system) from None
    except KeyboardInterrupt:
        if interruption_ends_all():
            raise
        deadline.interrupt()
    if work.is_done:
        return ""
    why = deadline.why if deadline.passed else "counts too large for the search"
    return f"{why}: bounds are valid, but not all are tight"


def close_in_batches(work: Closing, deadline: Deadline, tell: Tell) -> None:
    """Seeks tables that attain the bounds of many cells at once, each cell tried at most twice.

    Given up where two searches in turn find no table at all: bounds by duals are then worth more.
    """
    tries = np.zeros((2, work.system.n_columns), dtype=np.int64)
    rows_of = _rows_of_columns(work.system)
    fractional = fruitless = 0
    while not work.is_over(deadline) and fruitless < 2:
        side = max((LOWER, UPPER), key=lambda s: len(_untried(work, tries, s)))
        left = _untried(work, tries, side)
        if not len(left):
            return
        batch = independent(rows_of, left)
        tries[side, batch] += 1
        if fractional < 2 and not _vertex_is_table(work, batch, side, deadline):
            fractional += 1
        if np.any(work.attained[side][batch] < work.limit[side][batch]) and fractional:
            found = work.searched(batch, side, deadline.left(BATCH_SECONDS))
            fruitless = 0 if found.point is not None else fruitless + 1
            _use_single(work, batch, side, found)
        tell(work.n_open)


def _untried(work: Closing, tries: IntArray, side: int) -> IntArray:
    found = work.open(side)
    return np.asarray(found[tries[side, found] < 2])


def _vertex_is_table(work: Closing, batch: IntArray, side: int, deadline: Deadline) -> bool:
    vertex = work.linear().maximise(batch.tolist(), SIGN[side], deadline.left(LP_SECONDS))
    return vertex is not None and work.record(np.rint(vertex.point).astype(np.int64))


def _rows_of_columns(system: System) -> list[list[int]]:
    by_column = csc_array(system.matrix)
    ends, rows = by_column.indptr.tolist(), by_column.indices.tolist()
    return [rows[start:end] for start, end in pairwise(ends)]


def independent(rows_of: list[list[int]], columns: IntArray) -> IntArray:
    """Columns, in the order given, of which no two share a row; at most BATCH_CELLS."""
    taken: set[int] = set()
    batch: list[int] = []
    for column in columns.tolist():
        if taken.isdisjoint(rows_of[column]):
            taken.update(rows_of[column])
            batch.append(column)
            if len(batch) == BATCH_CELLS:
                break
    return np.array(batch, dtype=np.int64)


def bound_by_duals(work: Closing, deadline: Deadline, tell: Tell) -> None:
    """Bounds each open side by the linear program; a vertex in whole numbers closes it."""
    for side in (UPPER, LOWER):
        for column in work.open(side).tolist():
            if deadline.passed:
                return
            if work.attained[side][column] == work.limit[side][column]:
                continue
            vertex = work.linear().maximise([column], SIGN[side], deadline.left(LP_SECONDS))
            if vertex is None:
                continue
            work.record(np.rint(vertex.point).astype(np.int64))
            value, _ = rounded_dual(work.system, column, SIGN[side], work.dual_weights(vertex))
            work.bound(column, side, value, Proof.DUAL)
            tell(work.n_open)


def close_one_by_one(work: Closing, deadline: Deadline, tell: Tell) -> None:
    """Searches each open side in turn, in rounds that allow each search four times as long."""
    seconds = FIRST_SEARCH_SECONDS
    while work.n_open and not work.is_over(deadline):
        for side in (LOWER, UPPER):
            for column in work.open(side).tolist():
                if work.is_over(deadline):
                    return
                if work.attained[side][column] < work.limit[side][column]:
                    batch = np.array([column])
                    found = work.searched(batch, side, deadline.left(seconds))
                    _use_single(work, batch, side, found)
                    tell(work.n_open)
        seconds *= 4


def _use_single(work: Closing, batch: IntArray, side: int, found: Found) -> None:
    """The bound that a search on one cell has proved."""
    if len(batch) == 1 and found.bound is not None:
        work.bound(int(batch[0]), side, found.bound, Proof.SEARCH)
