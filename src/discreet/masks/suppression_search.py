"""Which further figures to hide so that sensitive ones cannot be worked out.

A sensitive figure is safe if there are two tables, both consistent with all that is shown, in which
it differs by as much as asked: its *witnesses*. So one integer program says everything: choose the
hidden figures and, for each sensitive one, two tables that differ from the true one only where
figures are hidden,

    minimise  Σ cost · hidden    over    hidden ∈ {0, 1},  tables x in whole numbers,
    figure(x) = figure(true) wherever not hidden,    x far enough apart at the sensitive figure.

Witnesses are added to the program only for sensitive figures that the pattern so far leaves open to
attack. Taken one sensitive figure at a time, with what is already hidden free of charge, the same
program is the heuristic for large tables. Hiding more never makes a figure less safe.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from discreet.clock import standing_still, working_seconds
from discreet.masks.solving import OutOfTime, Solved, solve
from discreet.masks.suppression_figures import Figures, Needs, Rule
from discreet.masks.suppression_moves import Steps, cheapest_box
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.progress import Progress, silent

LARGE = 1000  # figures from which the simplest witnesses are tried first
STEP_WORK = 0.5  # units for one sensitive figure, first try
FAR = 2**31  # a witness differs from the table by less than this in every cell
AT_ONCE = 4  # sensitive figures that join the program in one round


@dataclass(frozen=True, slots=True)
class Problem:
    """Figures, the rule, the sensitive ones among them, and what it costs to hide each.

    `work` limits each search, `end` is the moment at which all searching is given up.
    """

    figures: Figures
    rule: Rule
    counts: IntArray  # of the cells
    sensitive: IntArray
    costs: IntArray
    work: float
    end: float = inf

    def needs(self, figure: int) -> Needs:
        """What the interval of a sensitive figure must reach."""
        return self.rule.needs(int(self.figures.counts[figure]))

    @property
    def may_hide(self) -> BoolArray:
        """Which figures can be hidden at all."""
        return self.rule.may_hide(self.figures.counts) & ~self.figures.is_total


@dataclass(slots=True)
class Pattern:
    """Hidden figures, and the tables found so far (as differences from the true one)."""

    hidden: BoolArray
    witnesses: list[IntArray] = field(default_factory=list)
    proved_least: bool = False
    least_cost: int | None = None

    def seen(self, problem: Problem) -> tuple[IntArray, IntArray]:
        """The least and the greatest value of each figure in the tables that fit the pattern."""
        n = problem.figures.n
        low, high = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for witness in self.witnesses:
            change = problem.figures.sums @ witness
            if not np.any(change[~self.hidden]):
                np.minimum(low, change, out=low)
                np.maximum(high, change, out=high)
        return problem.figures.counts + low, problem.figures.counts + high


def open_figures(problem: Problem, pattern: Pattern) -> IntArray:
    """The sensitive figures that the tables found so far do not show to be safe."""
    low, high = pattern.seen(problem)
    unsafe = [
        figure
        for figure in problem.sensitive.tolist()
        if not problem.needs(figure).met(int(low[figure]), int(high[figure]))
    ]
    return np.array(unsafe, dtype=np.int64)


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
        matrix = problem.figures.sums[:, self._cells].tocsr()
        self._parts = [
            matrix.indices[a:b] for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)
        ]

    def _changeable(self) -> IntArray:
        """Cells that no figure which must be shown gives away by itself."""
        sums = self.problem.figures.sums
        alone = np.diff(sums.indptr) == 1
        fixed = csc_array(sums[alone & ~self._may]).indptr
        return np.flatnonzero(np.diff(fixed) == 0)

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

    def raise_figure(self, figure: int) -> None:
        """Asks for one table in which the figure is larger by all that it needs."""
        needs, count = self.problem.needs(figure), int(self.problem.figures.counts[figure])
        table = self._table()
        self._model.add(self._change(table, figure) >= max(needs.width, needs.high - count))

    def _table(self) -> dict[int, Any]:
        """A table that differs from the true one only where figures are hidden."""
        counts = self.problem.counts
        table = {
            place: self._model.new_int_var(-min(int(counts[cell]), self._reach), self._reach, "")
            for place, cell in enumerate(self._cells.tolist())
        }
        self._model.add(self._cp.LinearExpr.sum(list(table.values())) == 0)
        for figure in range(self.problem.figures.n):
            if len(self._parts[figure]):
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
        return self._cp.LinearExpr.sum([table[int(p)] for p in self._parts[figure]])

    def suggest(self, hidden: BoolArray) -> None:
        """A pattern to start the search from."""
        for figure, variable in self._hides.items():
            self._model.add_hint(variable, bool(hidden[figure]))

    def solve(self, work: float) -> tuple[Solved, BoolArray, list[IntArray]]:
        """The cheapest pattern, as the search ended, with all its witnesses."""
        costs = self._costs()
        expression = self._cp.LinearExpr.weighted_sum(list(self._hides.values()), costs)
        self._model.minimize(expression)
        solved = solve(self._model, work=work, end=self.problem.end)
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


class Unprotectable(Exception):  # noqa: N818 - a finding, no error of anyone's
    """Sensitive figures that no pattern keeps safe, or none that was found in time."""

    def __init__(self, figures: Iterable[int], *, proved: bool) -> None:
        super().__init__()
        self.figures, self.proved = tuple(figures), proved


def pattern_by_steps(problem: Problem, *, progress: Progress = silent) -> Pattern:
    """A safe pattern, found one sensitive figure at a time, largest first, and then thinned out.

    Raises Unprotectable where a figure cannot be kept safe though all others were hidden.
    """
    hidden = np.zeros(problem.figures.n, dtype=np.bool_)
    hidden[problem.sensitive] = True
    pattern = Pattern(hidden)
    order = np.argsort(-problem.figures.counts[problem.sensitive], kind="stable")
    low, high = pattern.seen(problem)
    for done, figure in enumerate(problem.sensitive[order].tolist()):
        progress("choosing figures to hide", done / len(problem.sensitive))
        if not problem.needs(figure).met(int(low[figure]), int(high[figure])):
            before = len(pattern.witnesses)
            _protect(problem, pattern, figure)
            for witness in pattern.witnesses[before:]:
                values = problem.figures.counts + problem.figures.sums @ witness
                np.minimum(low, values, out=low)
                np.maximum(high, values, out=high)
    return thinned(problem, pattern)


def _is_safe(problem: Problem, pattern: Pattern, figure: int) -> bool:
    low, high = pattern.seen(problem)
    return problem.needs(figure).met(int(low[figure]), int(high[figure]))


def _protect(problem: Problem, pattern: Pattern, figure: int) -> None:
    """Hides what it takes to make one more figure safe.

    In large tables first by the cheapest box. Else by a single table near the true one in which the
    figure is larger, every change of a shown figure being charged by its size, which is quick to
    find; else by the cheapest box; else by any two tables.
    """
    needs = problem.needs(figure)
    if problem.figures.n > LARGE and _boxed(problem, pattern, figure):
        return
    if needs.low >= int(problem.figures.counts[figure]):
        reach = 2 * max(needs.width, needs.high)
        program = Program(problem, problem.may_hide, pattern.hidden, reach=reach, by_change=True)
        program.raise_figure(figure)
        solved, hidden, witnesses = program.solve(min(problem.work, STEP_WORK))
        if solved.has_solution:
            pattern.hidden, pattern.witnesses = hidden, pattern.witnesses + witnesses
            return
        if not solved.impossible and _boxed(problem, pattern, figure):
            return
    program = Program(problem, problem.may_hide, pattern.hidden)
    program.protect(figure)
    solved, hidden, witnesses = program.solve(problem.work)
    if not solved.has_solution:
        raise Unprotectable([figure], proved=solved.impossible)
    pattern.hidden = hidden
    pattern.witnesses += witnesses


def _boxed(problem: Problem, pattern: Pattern, figure: int) -> bool:
    """Makes the figure safe by the cheapest box; whether there is one."""
    if working_seconds() > problem.end:
        raise OutOfTime
    figures, count = problem.figures, int(problem.figures.counts[figure])
    steps = Steps.for_needs(problem.needs(figure), count)
    box = cheapest_box(figures, problem.rule, problem.costs, pattern.hidden, figure, steps)
    if box is None:
        return False
    pattern.hidden = pattern.hidden | (figures.sums @ box != 0)
    pattern.witnesses = [*pattern.witnesses, steps.up * box, -steps.down * box]
    return True


def thinned(problem: Problem, pattern: Pattern) -> Pattern:
    """The pattern without figures that, dearest first, the witnesses do not need hidden."""
    sums, hidden = problem.figures.sums, pattern.hidden.copy()
    if len(open_figures(problem, pattern)) or not pattern.witnesses:
        return pattern
    all_changes = (sums @ witness for witness in pattern.witnesses)
    changes = np.stack([one[hidden] for one in all_changes if not np.any(one[~hidden])])
    place = np.cumsum(hidden) - 1
    extra = np.flatnonzero(hidden & ~_flags(problem))
    for figure in extra[np.argsort(-problem.costs[extra], kind="stable")].tolist():
        fewer = changes[changes[:, place[figure]] == 0]
        if _all_safe(problem, fewer[:, place[problem.sensitive]]):
            changes, hidden[figure] = fewer, False
    return Pattern(hidden, pattern.witnesses)


def _all_safe(problem: Problem, changes: IntArray) -> bool:
    """Whether tables with these changes (a column a sensitive figure) show all to be safe."""
    counts = problem.figures.counts[problem.sensitive]
    low = (counts + changes.min(axis=0, initial=0)).tolist()
    high = (counts + changes.max(axis=0, initial=0)).tolist()
    needs = map(problem.needs, problem.sensitive.tolist())
    return all(one.met(a, b) for one, a, b in zip(needs, low, high, strict=True))


def _flags(problem: Problem) -> BoolArray:
    flags = np.zeros(problem.figures.n, dtype=np.bool_)
    flags[problem.sensitive] = True
    return flags


def least_pattern(problem: Problem, start: Pattern, *, progress: Progress = silent) -> Pattern:
    """The cheapest safe pattern, or the best found within the work, with what no pattern can beat.

    Each round solves the program for the figures that were open to attack so far; its optimum is a
    lower limit of every safe pattern's cost, and the answer once it leaves no figure open.
    """
    must = _flags(problem)
    base = int(problem.costs[must].sum())
    asked: list[int] = []
    limit, left, best = base, problem.work, start
    pattern, settled = Pattern(must, start.witnesses), True
    while True:
        progress("seeking the least pattern", None)
        unsafe = _attacked(problem, pattern)
        if not unsafe:
            best = pattern if cost(problem, pattern) < cost(problem, best) else best
        if not unsafe or not settled or left <= 0:
            break
        asked += unsafe
        program = Program(problem, problem.may_hide, must)
        for figure in asked:
            program.protect(figure)
        program.suggest(best.hidden)
        solved, hidden, witnesses = program.solve(left)
        left -= solved.work
        if not solved.has_solution:
            break
        limit, settled = max(limit, solved.limit + base), solved.optimal
        pattern = Pattern(hidden, best.witnesses + witnesses)
    least = cost(problem, best)
    return Pattern(best.hidden, best.witnesses, limit >= least, min(limit, least))


def _attacked(problem: Problem, pattern: Pattern) -> list[int]:
    """Some of the sensitive figures that the pattern truly leaves open, where there are any."""
    nothing, found = np.zeros_like(pattern.hidden), []
    for figure in open_figures(problem, pattern).tolist():
        if _is_safe(problem, pattern, figure):
            continue
        program = Program(problem, nothing, pattern.hidden)
        program.protect(figure)
        solved, _, witnesses = program.solve(problem.work)
        pattern.witnesses = pattern.witnesses + witnesses
        found += [] if solved.has_solution else [figure]
        if len(found) == AT_ONCE:
            break
    return found


def cost(problem: Problem, pattern: Pattern) -> int:
    """What a pattern costs."""
    return int(problem.costs[pattern.hidden].sum())
