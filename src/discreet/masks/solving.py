"""One way to run CP-SAT for masks: the same answer each time, and an interruption is heard."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

from discreet.clock import standing_still, watch_left
from discreet.clock import work as worked
from discreet.errors import InputError, must_be
from discreet.fiber.system.programs import FOREVER, UNIT_SECONDS, solved_heeding_interrupts

WORK = 4.0  # units of work, each some seconds on an ordinary machine
MODEL_SECONDS = 4e-5  # nominal, a variable or constraint of a model that is built and read
LEAST_UNITS = 1e-6


class OutOfTime(Exception):  # noqa: N818 - a finding, no error of anyone's
    """The clock ended a search; what it has found so far depends on the machine."""


class Budget:
    """Seconds of work that a search may take, counted by what it does, not by the clock.

    Each step says what it has done in *nominal* seconds: numbers of operations times a constant,
    about what they take on an ordinary machine. So a search ends at the same point wherever it
    runs. Where the watch on the whole work stops it, OutOfTime is raised.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.spent = seconds, 0.0

    def spend(self, seconds: float) -> None:
        """So much more was done."""
        self.spent += seconds
        worked(seconds)
        if watch_left() <= 0:
            raise OutOfTime

    @property
    def left(self) -> float:
        """Nominal seconds that are left."""
        return max(0.0, self.seconds - self.spent)

    @property
    def units_left(self) -> float:
        """What is left in units of a solver's work, never quite nothing."""
        return max(self.left / UNIT_SECONDS, LEAST_UNITS)

    @property
    def is_over(self) -> bool:
        """Whether all of it is spent."""
        return self.spent >= self.seconds


@dataclass(frozen=True, slots=True)
class Solved:
    """What a search came to: `values` reads variables where it has a solution.

    `optimal` says that nothing better exists, `impossible` that nothing exists at all. `objective`
    is that of the solution, `limit` what no solution can beat.
    """

    solver: Any
    has_solution: bool
    optimal: bool
    impossible: bool

    def value(self, expression: Any) -> int:
        """What a variable or a sum of variables is in the solution."""
        return int(self.solver.value(expression))

    @property
    def objective(self) -> int:
        """The solution's objective."""
        return round(float(self.solver.objective_value))

    @property
    def limit(self) -> int:
        """The proved limit of all solutions' objectives."""
        return round(float(self.solver.best_objective_bound))

    @property
    def work(self) -> float:
        """Units of work that the search took."""
        return float(self.solver.response_proto.deterministic_time)


def checked_work(work: float) -> float:
    """The units of work, if a search can be limited by them."""
    number = isinstance(work, int | float) and not isinstance(work, bool)
    if not number or not isfinite(work) or work <= 0:
        raise InputError(must_be("work", "a number above 0", work))
    return float(work)


def solve(model: Any, *, work: float, budget: Budget | None = None, lean: bool = False) -> Solved:
    """The best solution found within some units of work, which do not depend on the machine.

    One worker and a fixed seed: the same model always has the same answer. A `budget` is charged
    with the work; where its guard comes first, OutOfTime is raised. `lean` is for the many small
    models that are solved by their linear relaxation, where looking into the model first takes
    longer than solving it. An interruption stops the search at once and is raised again.
    """
    with standing_still():
        from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.catch_sigint_signal = False
    solver.parameters.max_deterministic_time = work
    if lean:
        solver.parameters.cp_model_probing_level = 0
        solver.parameters.symmetry_level = 0
        solver.parameters.max_presolve_iterations = 1
        solver.parameters.linearization_level = 2
    solver.parameters.max_time_in_seconds = min(max(watch_left(), 1e-3), FOREVER)
    status = solved_heeding_interrupts(solver, model)
    solved = Solved(
        solver=solver,
        has_solution=status in (cp_model.OPTIMAL, cp_model.FEASIBLE),
        optimal=status == cp_model.OPTIMAL,
        impossible=status == cp_model.INFEASIBLE,
    )
    spent = UNIT_SECONDS * solved.work + MODEL_SECONDS * _size(model)
    (worked if budget is None else budget.spend)(spent)
    return solved


def _size(model: Any) -> int:
    """How many variables and constraints a model has."""
    return len(model.proto.variables) + len(model.proto.constraints)
