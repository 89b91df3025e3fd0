"""A system as a linear program (GLOP, warm from one cell to the next) and as a search (CP-SAT).

Both are built once and asked about many linear forms. What they return is checked by the caller: a
point counts as a table only if it satisfies every row exactly.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from discreet.clock import standing_still, watch_left, work, working_seconds
from discreet.fiber.system.linear_system import System
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.progress import heed

CALM = 0.05  # seconds between looks for an interruption while a search runs
PIVOT_SECONDS = 8e-5  # of the simplex method, and for each pair of rows and entry of the matrix:
PAIR_SECONDS, ENTRY_SECONDS = 1.5e-9, 5e-9
READ_SECONDS = 2e-6  # a column set up and read, in each program
UNIT_SECONDS = 2.0  # a unit of what CP-SAT calls deterministic time
MOST_PIVOTS, FOREVER = 10**8, 1e6
BEGIN_SECONDS, TERM_SECONDS = 3e-3, 1e-5  # before it counts: a search, and each term of its rows


class Deadline:
    """When to stop; a limit of None never comes."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else working_seconds() + seconds
        self.why = "time limit reached"

    def interrupt(self) -> None:
        """The user wants no more work: the time is over now."""
        self._end = working_seconds()
        self.why = "interrupted"

    def left(self, most: float) -> float:
        """Seconds left, at most `most`."""
        return most if self._end is None else max(0.0, min(most, self._end - working_seconds()))

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return self._end is not None and working_seconds() >= self._end


@dataclass(frozen=True, slots=True)
class Vertex:
    """An optimum of a linear program: the point and the weights of the rows."""

    point: FloatArray
    weights: FloatArray


class LinearProgram:
    """The fractional points of a system; each solve starts from the last basis."""

    def __init__(self, system: System) -> None:
        with standing_still():
            from ortools.linear_solver import pywraplp

        self._solver = pywraplp.Solver.CreateSolver("GLOP")
        self._parameters = pywraplp.MPSolverParameters()
        self._parameters.SetIntegerParam(self._parameters.PRESOLVE, self._parameters.PRESOLVE_OFF)
        self._optimal = pywraplp.Solver.OPTIMAL
        limits = zip(system.lower.tolist(), system.upper.tolist(), strict=True)
        self._columns = [self._solver.NumVar(low, high, "") for low, high in limits]
        self._rows = [self._row(system, i) for i in range(system.n_rows)]
        self._pivot = (
            PIVOT_SECONDS + PAIR_SECONDS * system.n_rows**2 + ENTRY_SECONDS * system.matrix.nnz
        )

    def _row(self, system: System, i: int) -> Any:
        right = float(system.right[i])
        row = self._solver.Constraint(right, right)
        for j, value in _row_entries(system, i):
            row.SetCoefficient(self._columns[j], float(value))
        return row

    def narrow(self, column: int, low: int, high: int) -> None:
        """New limits of a column."""
        self._columns[column].SetBounds(low, high)

    def maximise(
        self,
        columns: Sequence[int],
        sign: int,
        seconds: float,
        *,
        weights: Sequence[float] | None = None,
    ) -> Vertex | None:
        """The optimum of sign · Σ x[columns], or None when it was not reached in time.

        `weights` are those of the columns in the sum, ones where left out.
        """
        objective = self._solver.Objective()
        objective.Clear()
        for column, weight in zip(columns, weights or [1.0] * len(columns), strict=True):
            objective.SetCoefficient(self._columns[column], sign * float(weight))
        objective.SetMaximization()
        pivots = int(min(max(seconds, 0.0) / self._pivot, MOST_PIVOTS)) + 1
        limit = f"use_dual_simplex: false max_number_of_iterations: {pivots}"
        self._solver.SetSolverSpecificParametersAsString(limit)
        self._solver.SetTimeLimit(int(1000 * min(max(watch_left(), 1e-3), FOREVER)))
        ended = self._solver.Solve(self._parameters)
        work(self._pivot * (1 + self._solver.iterations()) + READ_SECONDS * len(self._columns))
        if ended != self._optimal:
            return None
        point = np.array([column.solution_value() for column in self._columns])
        return Vertex(point, np.array([row.dual_value() for row in self._rows]))


class Ending(Enum):
    """How a search ended."""

    OPTIMAL = "optimal"
    FEASIBLE = "stopped with a point"
    INFEASIBLE = "no point"
    UNKNOWN = "stopped without a point"
    REFUSED = "numbers too large to search"


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: its best point and a bound on the objective."""

    ending: Ending
    point: IntArray | None = None
    bound: int | None = None  # no point has a greater objective


class Search:
    """The whole-number points of a system, searched exhaustively.

    `linear` is for systems whose linear program is close to the truth: all rows then go into it.
    """

    def __init__(self, system: System, *, linear: bool = False) -> None:
        with standing_still():
            from ortools.sat.python import cp_model

        self._cp, self._linear = cp_model, linear
        self._model: Any = cp_model.CpModel()
        limits = zip(system.lower.tolist(), system.upper.tolist(), strict=True)
        self._columns = [self._model.new_int_var(low, high, "") for low, high in limits]
        for i in range(system.n_rows):
            terms = [self._columns[j] * value for j, value in _row_entries(system, i)]
            self._model.add(cp_model.LinearExpr.sum(terms) == int(system.right[i]))
        self._begin = BEGIN_SECONDS + TERM_SECONDS * system.matrix.nnz
        work(self._begin)

    def narrow(self, column: int, low: int, high: int) -> None:
        """New limits of a column."""
        domain = self._columns[column].proto.domain
        domain[0], domain[1] = low, high

    def hint(self, point: IntArray) -> None:
        """Where to begin."""
        self._model.clear_hints()
        for column, value in zip(self._columns, point.tolist(), strict=True):
            self._model.add_hint(column, value)

    def maximise(self, columns: Sequence[int], sign: int, seconds: float) -> Found:
        """The best point of sign · Σ x[columns], searched for at most so long.

        An interruption stops the search at once and is raised again.
        """
        self._model.clear_objective()
        if len(columns):
            self._model.maximize(
                sign * self._cp.LinearExpr.sum([self._columns[j] for j in columns])
            )
        solver = self._cp.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        solver.parameters.catch_sigint_signal = False
        if self._linear:
            solver.parameters.linearization_level = 2
        solver.parameters.max_deterministic_time = max(seconds - self._begin, 1e-3) / UNIT_SECONDS
        solver.parameters.max_time_in_seconds = min(max(watch_left(), 1e-3), FOREVER)
        status = solved_heeding_interrupts(solver, self._model)
        work(self._begin + UNIT_SECONDS * solver.response_proto.deterministic_time)
        return self._read(solver, status, bool(len(columns)))

    def _read(self, solver: Any, status: Any, has_objective: bool) -> Found:
        names = {
            self._cp.OPTIMAL: Ending.OPTIMAL,
            self._cp.FEASIBLE: Ending.FEASIBLE,
            self._cp.INFEASIBLE: Ending.INFEASIBLE,
            self._cp.MODEL_INVALID: Ending.REFUSED,
        }
        ending = names.get(status, Ending.UNKNOWN)
        if ending not in {Ending.OPTIMAL, Ending.FEASIBLE}:
            return Found(ending)
        point = np.array(solver.response_proto.solution, dtype=np.int64)
        bound = int(np.floor(solver.best_objective_bound + 1e-6)) if has_objective else None
        return Found(ending, point, bound)


def _row_entries(system: System, i: int) -> Iterator[tuple[int, int]]:
    part = slice(system.matrix.indptr[i], system.matrix.indptr[i + 1])
    return zip(system.matrix.indices[part].tolist(), system.matrix.data[part].tolist(), strict=True)


def solved_heeding_interrupts(solver: Any, model: Any) -> Any:
    """The status of a solve that runs in a thread, so that an interruption is heard at once."""
    answer: list[Any] = []
    thread = threading.Thread(target=lambda: answer.append(solver.solve(model)), daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(CALM)
            heed()
    except BaseException:
        solver.stop_search()
        thread.join()
        raise
    return answer[0]
