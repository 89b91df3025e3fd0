"""The most weight of requests that avoids all known conflicts: a bound on any safe release.

A conflict is a set of margins that are unsafe together. A safe release leaves out at least one of
each conflict, so the best choice that does so for the conflicts known is worth at least as much as
the best safe release. Solved by CP-SAT in whole numbers.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.choice.best_set.margin_requests import Requests
from discreet.clock import standing_still, watch_left, work
from discreet.fiber.system.programs import (
    BEGIN_SECONDS,
    FOREVER,
    UNIT_SECONDS,
    Deadline,
    solved_heeding_interrupts,
)

FINENESS = 1_000_000  # parts of the greatest weight that fractional weights are rounded up to
REQUEST_SECONDS = 1e-5  # to hand over a request
MOST_WHOLE = 2**40  # weights that are whole up to this are taken as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestChoice:
    """The requests chosen, and a bound on the weight of any choice without a known conflict."""

    chosen: tuple[int, ...]
    bound: float
    optimal: bool


class ConflictProgram:
    """Requests of which no known conflict may be taken whole, and parts come with wholes.

    Weights that are not whole are rounded up to a millionth of the greatest; a bound is too high by
    at most `slack` for that.
    """

    def __init__(self, requests: Requests) -> None:
        with standing_still():
            from ortools.sat.python import cp_model

        self._cp = cp_model
        self._model: Any = cp_model.CpModel()
        self._requests = requests
        self._taken = {one: self._model.new_bool_var("") for one in requests}
        self.conflicts: list[tuple[int, ...]] = []
        self._scale = _scale(requests.values())
        self.slack = 0.0 if self._scale == 1.0 else len(requests) / self._scale
        for inner, outer in _covers(list(requests)):
            self._model.add_implication(self._taken[outer], self._taken[inner])
        whole = [math.ceil(weight * self._scale - 1e-9) for weight in requests.values()]
        terms = [v * w for v, w in zip(self._taken.values(), whole, strict=True)]
        self._model.maximize(cp_model.LinearExpr.sum(terms))

    def forbid(self, conflict: Sequence[int]) -> None:
        """No choice may hold all of these requests."""
        self.conflicts.append(tuple(conflict))
        self._model.add_bool_or([~self._taken[one] for one in conflict])

    def solve(self, deadline: Deadline, seconds: float, hint: Iterable[int] = ()) -> RequestChoice:
        """The best choice found, with a bound that holds however the search ended."""
        solver = self._solver(deadline.left(seconds))
        self._model.clear_hints()
        near = set(hint)
        for one, variable in self._taken.items():
            self._model.add_hint(variable, one in near)
        status = solved_heeding_interrupts(solver, self._model)
        used = UNIT_SECONDS * solver.response_proto.deterministic_time
        work(used + BEGIN_SECONDS + REQUEST_SECONDS * len(self._taken))
        everything = math.fsum(self._requests.values())
        if status not in (self._cp.OPTIMAL, self._cp.FEASIBLE):
            return RequestChoice(chosen=(), bound=everything, optimal=False)
        chosen = tuple(one for one, v in self._taken.items() if solver.boolean_value(v))
        bound = math.floor(solver.best_objective_bound + 1e-6) / self._scale
        optimal = status == self._cp.OPTIMAL
        return RequestChoice(chosen=chosen, bound=min(bound, everything), optimal=optimal)

    def _solver(self, seconds: float) -> Any:
        solver = self._cp.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        solver.parameters.catch_sigint_signal = False
        solver.parameters.max_deterministic_time = max(seconds, 1e-3) / UNIT_SECONDS
        solver.parameters.max_time_in_seconds = min(max(watch_left(), 1e-3), FOREVER)
        return solver


def _scale(weights: Iterable[float]) -> float:
    """What makes all weights whole: nothing where they are, else fine parts of the greatest."""
    given = list(weights)
    if all(weight == int(weight) and weight <= MOST_WHOLE for weight in given):
        return 1.0
    return FINENESS / max(given)


def _covers(sets: list[int]) -> list[tuple[int, int]]:
    """Pairs of sets, the one part of the other with none of the sets in between."""
    ordered = sorted(sets, key=int.bit_count)
    found: list[tuple[int, int]] = []
    for i, outer in enumerate(ordered):
        below: list[int] = []
        for inner in reversed(ordered[:i]):
            if inner & ~outer == 0 and inner != outer:
                if not any(inner & ~other == 0 for other in below):
                    found.append((inner, outer))
                below.append(inner)
    return found
