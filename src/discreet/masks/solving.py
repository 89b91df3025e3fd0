"""One way to run CP-SAT for masks: the same answer each time, and an interruption is heard."""

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from discreet.clock import standing_still, working_seconds
from discreet.errors import InputError, must_be
from discreet.fiber.system.programs import solved_heeding_interrupts

WORK = 4.0  # units of work, each some seconds on an ordinary machine


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


class OutOfTime(Exception):  # noqa: N818 - a finding, no error of anyone's
    """A search went on beyond its last moment; what it has found so far depends on the machine."""


def solve(model: Any, *, work: float, end: float = inf) -> Solved:
    """The best solution found within some units of work, which do not depend on the machine.

    One worker and a fixed seed: the same model always has the same answer, or none by the moment
    `end` (of `working_seconds`), when OutOfTime is raised. An interruption stops the search at
    once and is raised again.
    """
    with standing_still():
        from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.catch_sigint_signal = False
    solver.parameters.max_deterministic_time = work
    if end < inf:
        solver.parameters.max_time_in_seconds = max(0.0, end - working_seconds())
    status = solved_heeding_interrupts(solver, model)
    if working_seconds() > end:
        raise OutOfTime
    return Solved(
        solver=solver,
        has_solution=status in (cp_model.OPTIMAL, cp_model.FEASIBLE),
        optimal=status == cp_model.OPTIMAL,
        impossible=status == cp_model.INFEASIBLE,
    )
