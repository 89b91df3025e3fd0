"""The search for moves and patterns as programs: linear in fractions, and in whole numbers.

A sensitive figure is safe if there are two tables, both consistent with all that is shown, in which
it differs by as much as asked. So one integer program says everything: choose the hidden figures
and, for each sensitive one, two tables that differ from the true one only where figures are hidden,

    minimise  Σ cost · hidden    over    hidden ∈ {0, 1},  tables x in whole numbers,
    figure(x) = figure(true) wherever not hidden,    x far enough apart at the sensitive figure.

For one sensitive figure and one table, with every change of a shown figure charged by its size, it
is a linear program, which is quick in large tables too. What that finds is only a hint: where its
table has fractions, whole numbers are sought among the figures that it would hide.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.clock import standing_still, watch_left
from discreet.fiber.system.programs import FOREVER
from discreet.masks.linked_figures import LinkedFigures
from discreet.masks.solving import Solved, solve
from discreet.masks.suppression_figures import Figures
from discreet.masks.suppression_pattern import FAR, Move, Pattern, Problem, move_of
from discreet.masks.suppression_unions import parts_of
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

REACH = 4  # times what a figure must change, as far as any figure may in a linear program
FIGURE_SECONDS = 2e-6  # nominal, for each figure of a linear program that is solved
ITERATION_SECONDS = 6e-8  # nominal, for each figure and iteration
LEAST_ITERATIONS, ITERATIONS_A_FIGURE = 1_000, 50  # after which a linear program is given up
USUAL_ITERATIONS = 200
CELLS_A_FIGURE, LARGE = 16, 4_000  # of linked tables, by which their programs are measured
STEP_WORK = 0.5  # units for whole numbers where a linear program found fractions
HIDDEN_COST = 0.02  # of changing a hidden figure, as a part of the least cost of hiding one
SEEN = 1e-6  # a smaller change is none


def program_size(figures: Figures) -> int:
    """The figures of a linear program, as far as they tell what an iteration takes.

    Linked tables have many cells that are no figures, and a large basis: measured on tables of
    2,100, 4,125 and 15,568 figures, one iteration takes about as long as with so many plain ones.
    """
    if not isinstance(figures, LinkedFigures):
        return figures.n
    longer = figures.n + len(figures.members) // CELLS_A_FIGURE
    return int(longer * max(1.0, (figures.n / LARGE) ** 0.5))


def program_seconds(figures: Figures) -> float:
    """About how many nominal seconds one linear program takes that starts from the last."""
    return program_size(figures) * (FIGURE_SECONDS + ITERATION_SECONDS * USUAL_ITERATIONS)


class Relaxation:
    """The linear program of one table near the true one; each solve starts from the last."""

    def __init__(self, problem: Problem) -> None:
        with standing_still():
            from ortools.linear_solver import pywraplp

        self._problem = problem
        self._size = program_size(problem.figures)
        self._solver = pywraplp.Solver.CreateSolver("GLOP")
        self._parameters = pywraplp.MPSolverParameters()
        self._parameters.SetIntegerParam(self._parameters.PRESOLVE, self._parameters.PRESOLVE_OFF)
        self._optimal = pywraplp.Solver.OPTIMAL
        self._objective = self._solver.Objective()
        self._objective.SetMinimization()
        self._may = np.flatnonzero(problem.may_hide)
        self._prices = np.full(problem.figures.n, -1.0)
        self._falls = np.minimum(problem.figures.counts - problem.rule.least, FAR)
        self._up: dict[int, Any] = {}
        self._down: dict[int, Any] = {}
        for figure in self._may.tolist():
            self._up[figure] = self._solver.NumVar(0.0, float(FAR), "")
            self._down[figure] = self._solver.NumVar(0.0, float(self._falls[figure]), "")
        self._cells = self._add_cells()
        self._add_rows()

    def _add_cells(self) -> list[tuple[Any, Any]]:
        """Each cell as what it rises and what it falls, shared with the figure that is the cell."""
        figures, counts = self._problem.figures, self._problem.counts.tolist()
        own: dict[int, int] = {}
        for figure in np.flatnonzero(figures.n_summed == 1).tolist():
            own.setdefault(int(figures.cells(figure)[0]), figure)
        found = []
        for cell, count in enumerate(counts):
            if cell in own:
                pair = (self._up.get(own[cell]), self._down.get(own[cell]))
            else:
                pair = (
                    self._solver.NumVar(0.0, float(FAR), ""),
                    self._solver.NumVar(0.0, count, ""),
                )
            found.append(pair)
        self._own = set(own.values())
        return found

    def _add_rows(self) -> None:
        figures = self._problem.figures
        rest = [f for f in range(figures.n) if f not in self._own]
        # A subtotal is the sum of a few figures as well as of many cells: short rows are quicker.
        parts = parts_of(figures) if isinstance(figures, LinkedFigures) else {}
        for figure in [-1, *rest]:
            row = self._solver.Constraint(0.0, 0.0)
            for up, down in self._terms(figure, parts):
                if up is not None:
                    row.SetCoefficient(up, 1.0)
                    row.SetCoefficient(down, -1.0)
            if figure in self._up:
                row.SetCoefficient(self._up[figure], -1.0)
                row.SetCoefficient(self._down[figure], 1.0)

    def _terms(self, figure: int, parts: dict[int, tuple[int, ...]]) -> Iterator[tuple[Any, Any]]:
        """What a figure is the sum of; −1 is the number of persons."""
        if figure in parts:
            return ((self._up.get(part), self._down.get(part)) for part in parts[figure])
        if figure < 0:
            return iter(self._cells)
        cells: list[int] = self._problem.figures.cells(figure).tolist()
        return (self._cells[cell] for cell in cells)

    def changed(
        self, pattern: Pattern, figure: int, steps: int, without: BoolArray | None
    ) -> FloatArray | None:
        """The change of every cell in the table that raises a figure by so many (lowers it, where
        they are negative) at the least charge, or None where there is none."""
        # What is hidden already costs next to nothing, but not nothing: else the program wanders
        # through all of it, and fractions abound.
        costs = self._problem.costs
        least = costs[costs > 0].min()  # unions, which are never printed, cost nothing
        self._charge(np.where(pattern.hidden, HIDDEN_COST * least, costs))
        shut = [] if without is None else np.flatnonzero(without[self._may]).tolist()
        fixed = [int(self._may[place]) for place in shut]
        for one in fixed:
            self._up[one].SetBounds(0.0, 0.0)
            self._down[one].SetBounds(0.0, 0.0)
        forth, back = (self._up, self._down) if steps > 0 else (self._down, self._up)
        forth[figure].SetBounds(float(abs(steps)), float(abs(steps)))
        back[figure].SetBounds(0.0, 0.0)
        n = self._size
        self._limit(n)
        status = self._solver.Solve(self._parameters)
        self._problem.budget.spend(
            n * (FIGURE_SECONDS + ITERATION_SECONDS * self._solver.iterations())
        )
        found = self._read() if status == self._optimal else None
        for one in [figure, *fixed]:
            self._up[one].SetBounds(0.0, float(FAR))
            self._down[one].SetBounds(0.0, float(self._falls[one]))
        return found

    def _limit(self, n: int) -> None:
        """No more iterations than there is work left for, nor than a program of this size needs:
        huge counts beside small ones can make the method turn in circles."""
        left = int(self._problem.budget.left / (ITERATION_SECONDS * n)) + 1
        most = min(left, LEAST_ITERATIONS + ITERATIONS_A_FIGURE * n)
        self._solver.SetSolverSpecificParametersAsString(
            f"use_dual_simplex: true max_number_of_iterations: {most}"
        )
        self._solver.SetTimeLimit(int(1000 * min(max(watch_left(), 1e-3), FOREVER)))

    def _charge(self, prices: FloatArray) -> None:
        for figure in self._may[prices[self._may] != self._prices[self._may]].tolist():
            self._objective.SetCoefficient(self._up[figure], float(prices[figure]))
            self._objective.SetCoefficient(self._down[figure], float(prices[figure]))
        self._prices = prices

    def _read(self) -> FloatArray:
        return np.array(
            [
                0.0 if up is None else up.solution_value() - down.solution_value()
                for up, down in self._cells
            ]
        )


class Program:
    """The integer program of a pattern; `free` figures are hidden already, at no cost."""

    def __init__(
        self,
        problem: Problem,
        may_hide: BoolArray,
        free: BoolArray,
        *,
        reach: int | None = None,
        by_change: bool = False,
    ) -> None:
        with standing_still():
            from ortools.sat.python import cp_model

        most = min(FAR, problem.figures.table.total)
        self._reach = most if reach is None else min(most, reach)

        self._cp, self._model, self.problem = cp_model, cp_model.CpModel(), problem
        self._free, self._may = free, may_hide | free
        self._by_change = by_change
        self._hides: dict[int, Any] = {}
        self._tables: list[dict[int, Any]] = []
        self._cells = self._changeable()
        self._parts: dict[int, list[int]] = {}
        for homes in problem.figures.homes[:, self._cells].tolist():
            for place, figure in enumerate(homes):
                if figure < problem.figures.n:  # what fills up a cell's figures is none
                    self._parts.setdefault(figure, []).append(place)

    def _changeable(self) -> IntArray:
        """Cells that no figure which must be shown gives away by itself."""
        figures = self.problem.figures
        shown = np.append((figures.n_summed == 1) & ~self._may, False)
        return np.flatnonzero(~np.any(shown[figures.homes], axis=0))

    def hide(self, figure: int) -> Any:
        """The variable that says whether a figure is hidden."""
        if figure not in self._hides:
            self._hides[figure] = self._model.new_bool_var("")
        return self._hides[figure]

    def protect(self, figure: int) -> None:
        """Asks for two tables that show the figure to be safe."""
        needs, count = self.problem.needs(figure), int(self.problem.figures.counts[figure])
        down, up = self._table(), self._table()
        low, high = self._change(down, figure), self._change(up, figure)
        self._model.add(low <= needs.low - count)
        self._model.add(high >= needs.high - count)
        self._model.add(high - low >= needs.width)

    def change(self, figure: int, steps: int) -> None:
        """Asks for one table in which the figure is larger by so many, or smaller by as many."""
        change = self._change(self._table(), figure)
        self._model.add(change >= steps if steps > 0 else change <= steps)

    def _table(self) -> dict[int, Any]:
        """A table that differs from the true one only where figures are hidden."""
        counts = self.problem.counts
        table = {
            place: self._model.new_int_var(-min(int(counts[cell]), self._reach), self._reach, "")
            for place, cell in enumerate(self._cells.tolist())
        }
        self._model.add(self._cp.LinearExpr.sum(list(table.values())) == 0)
        for figure in self._parts:
            self._tie(table, figure)
        self._tables.append(table)
        return table

    def _tie(self, table: dict[int, Any], figure: int) -> None:
        change = self._change(table, figure)
        if not self._may[figure]:
            self._model.add(change == 0)
            return
        if not self._free[figure]:
            self._charge(change, figure)
        least = self.problem.rule.least
        if least:
            self._model.add(change >= least - int(self.problem.figures.counts[figure]))

    def _charge(self, change: Any, figure: int) -> None:
        """A figure that changes is hidden, or, charged by its change, costs as much the farther."""
        if not self._by_change:
            self._model.add(change == 0).only_enforce_if(~self.hide(figure))
            return
        if figure not in self._hides:
            self._hides[figure] = self._model.new_int_var(0, self._reach, "")
        self._model.add(change <= self._hides[figure])
        self._model.add(-change <= self._hides[figure])

    def _change(self, table: dict[int, Any], figure: int) -> Any:
        return self._cp.LinearExpr.sum([table[place] for place in self._parts.get(figure, ())])

    def suggest(self, hidden: BoolArray) -> None:
        """A pattern to start the search from."""
        for figure, variable in self._hides.items():
            self._model.add_hint(variable, bool(hidden[figure]))

    def solve(self, work: float) -> tuple[Solved, BoolArray, list[IntArray]]:
        """The cheapest pattern, as the search ended, with all its witnesses."""
        costs = self._costs()
        expression = self._cp.LinearExpr.weighted_sum(list(self._hides.values()), costs)
        self._model.minimize(expression)
        solved = solve(self._model, work=work, budget=self.problem.budget, lean=self._by_change)
        hidden = self._free.copy()
        if not solved.has_solution:
            return solved, hidden, []
        for figure, variable in self._hides.items():
            hidden[figure] |= bool(solved.value(variable))
        return solved, hidden, [self._read(solved, table) for table in self._tables]

    def _costs(self) -> list[int]:
        """What each variable costs, brought down where the whole could exceed a solver's range."""
        costs = [int(self.problem.costs[figure]) for figure in self._hides]
        most = sum(costs) * (self._reach if self._by_change else 1)
        return [max(1, cost >> max(0, most.bit_length() - 60)) for cost in costs]

    def _read(self, solved: Solved, table: dict[int, Any]) -> IntArray:
        change = np.zeros(len(self.problem.counts), dtype=np.int64)
        for place, variable in table.items():
            change[self._cells[place]] = solved.value(variable)
        return change


class CheapestMoves:
    """The cheapest move that changes a figure, by the linear program and then in whole numbers."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._relaxation: Relaxation | None = None  # made when it is first asked for

    def cheapest(
        self, pattern: Pattern, figure: int, steps: int, without: BoolArray | None
    ) -> Move | None:
        """A move in which a figure rises by so many, or falls, and little more must be hidden."""
        if self._relaxation is None:
            self._relaxation = Relaxation(self._problem)
        change = self._relaxation.changed(pattern, figure, steps, without)
        if change is None:
            return None
        whole = np.rint(change).astype(np.int64)
        if np.abs(change - whole).max() > SEEN:
            return self._in_whole_numbers(pattern, figure, steps, change)
        return self._checked(figure, steps, whole)

    def _in_whole_numbers(
        self, pattern: Pattern, figure: int, steps: int, change: FloatArray
    ) -> Move | None:
        """A move among the figures that change in fractions and all that are hidden."""
        problem = self._problem
        may = problem.may_hide & (np.abs(problem.figures.summed(change)) > SEEN)
        program = Program(problem, may, pattern.hidden, reach=REACH * abs(steps), by_change=True)
        program.change(figure, steps)
        solved, _, found = program.solve(min(STEP_WORK, problem.budget.units_left))
        return self._checked(figure, steps, found[0]) if solved.has_solution else None

    def _checked(self, figure: int, steps: int, change: IntArray) -> Move | None:
        """The move along a change, if it does change the figure by as much."""
        cells = np.flatnonzero(change)
        move = move_of(self._problem, cells, change[cells])
        if move is None:
            return None
        own = move.change[move.figures == figure]
        reached = [int(c) * s for c in own for s in move.steps(whole=True)]
        enough = any(one >= steps if steps > 0 else one <= steps for one in reached)
        return move if enough and bool(np.all(self._problem.may_hide[move.figures])) else None
