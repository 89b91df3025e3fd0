"""Which further figures to hide so that sensitive ones cannot be worked out.

One method at every size, in steps that each leave a better pattern behind:

1. Elimination gives a pattern in which no sensitive figure follows by adding and subtracting.
2. Each sensitive figure that its moves do not yet show to be safe is given the cheapest further
   move, with what is hidden already free of charge.
3. Hidden figures are shown again, dearest first, where others of less cost can do their part; then
   parts of the pattern are taken back and made anew in another order.
4. In small tables the integer program proves that nothing less is safe, or finds it.

Hiding more never makes a figure less safe, so that a pattern is safe from the end of step 2 on.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from discreet.masks.contract import Guarantee
from discreet.masks.linked_figures import LinkedFigures
from discreet.masks.linked_moves import LinkedBoxes
from discreet.masks.suppression_elimination import pattern_by_elimination
from discreet.masks.suppression_moves import Boxes
from discreet.masks.suppression_pattern import Move, Pattern, Problem, move_of
from discreet.masks.suppression_programs import CheapestMoves, Program, program_seconds
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.progress import Progress, silent

AT_ONCE = 4  # sensitive figures that join the integer program in one round
QUICK_SHARE = 0.8  # of the work, after which what is still open is protected by boxes where it can
PROOF_SHARE = 0.5  # of the work left, for one round of the integer program
ROUNDS = 40  # parts of a pattern that are made anew without a gain before the search ends
SEED = 1


class Unprotectable(Exception):  # noqa: N818 - a finding, no error of anyone's
    """Sensitive figures that no pattern keeps safe, or none that was found in time."""

    def __init__(self, figures: Iterable[int], *, proved: bool) -> None:
        super().__init__()
        self.figures, self.proved = tuple(figures), proved


class Protector:
    """Hides what it takes to make one more figure safe."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        is_linked = isinstance(problem.figures, LinkedFigures)
        self._boxes = LinkedBoxes(problem) if is_linked else Boxes(problem)
        self._moves = CheapestMoves(problem)

    def protect(
        self,
        pattern: Pattern,
        figure: int,
        without: BoolArray | None = None,
        *,
        quick: bool = False,
    ) -> list[int] | None:
        """Hides figures so that one more is safe, by moves that change no figure `without`.

        Returns what is newly hidden, or None, and the pattern is as before, where no such moves
        were found. `quick` takes the cheapest box where there is one.
        """
        best: tuple[int, list[int]] | None = None
        for split in self._splits(figure):
            new = self._by_moves(pattern, figure, split, without, quick)
            if new is not None:
                cost = int(self._problem.costs[new].sum())
                pattern.show(new)
                best = (cost, new) if best is None or cost < best[0] else best
                if cost == 0:
                    break
        if best is None:
            return None
        pattern.hide(best[1])
        return best[1]

    def _splits(self, figure: int) -> list[tuple[int, int]]:
        """How far a figure goes up and down so that its interval is all that it must be: as little
        down as can be, or as far as the rule lets it."""
        needs, count = self._problem.needs(figure), int(self._problem.figures.counts[figure])
        least = max(0, count - needs.low)
        most = max(least, min(needs.width, count - self._problem.rule.least))
        ways = [(max(needs.high - count, needs.width - down, 0), down) for down in (least, most)]
        return list(dict.fromkeys(ways))

    def _by_moves(
        self,
        pattern: Pattern,
        figure: int,
        split: tuple[int, int],
        without: BoolArray | None,
        quick: bool,
    ) -> list[int] | None:
        new: list[int] = []
        count = int(self._problem.figures.counts[figure])
        for steps in (split[0], -split[1]):
            low, high = pattern.interval(figure)
            if low <= count + steps <= high:
                continue
            box = self._boxes.cheapest(pattern, figure, steps, without)
            is_free = box is not None and bool(np.all(pattern.hidden[box.figures]))
            move = box
            if box is None or not (quick or is_free):
                move = self._moves.cheapest(pattern, figure, steps, without) or box
            if move is None:
                pattern.show(new)
                return None
            new += pattern.make(move)
        return new

    def by_two_tables(self, pattern: Pattern, figure: int) -> None:
        """Hides what makes a figure safe by any two tables, or proves that nothing does.

        Raises Unprotectable where none are found.
        """
        problem = self._problem
        program = Program(problem, problem.may_hide, pattern.hidden)
        program.protect(figure)
        solved, _, changes = program.solve(problem.budget.units_left)
        for move in _moves(problem, changes):
            pattern.make(move)
        if not pattern.is_safe(figure):
            # Without such tables in whole numbers a lesser guarantee may still hold.
            is_proved = solved.impossible and problem.guarantee is Guarantee.WHOLE
            raise Unprotectable([figure], proved=is_proved)


def safe_pattern(problem: Problem, *, progress: Progress = silent) -> Pattern:
    """A safe pattern, one sensitive figure after another, largest first.

    Raises Unprotectable where a figure cannot be kept safe though all others were hidden, or where
    the work was spent before all were.
    """
    eliminated = pattern_by_elimination(problem)
    pattern = Pattern(problem, problem.is_sensitive)
    if eliminated is not None:
        kernel = (move_of(problem, one.cells, one.by) for one in eliminated.changes)
        pattern = Pattern(problem, eliminated.hidden, [move for move in kernel if move])
    protect_open(problem, pattern, progress=progress)
    return pattern


def protect_open(problem: Problem, pattern: Pattern, *, progress: Progress = silent) -> None:
    """Hides what it takes until every sensitive figure is shown to be safe.

    Raises Unprotectable as `safe_pattern` does.
    """
    protector = Protector(problem)
    is_large = _is_large(problem, len(pattern.open()))
    order = np.argsort(-problem.figures.counts[problem.sensitive], kind="stable")
    for done, figure in enumerate(problem.sensitive[order].tolist()):
        progress("choosing figures to hide", done / len(problem.sensitive))
        if problem.budget.is_over and len(left := pattern.open()):
            raise Unprotectable(left, proved=False)
        if pattern.is_safe(figure):
            continue
        quick = is_large or problem.budget.spent > QUICK_SHARE * problem.budget.seconds
        if protector.protect(pattern, figure, quick=quick) is None:
            protector.by_two_tables(pattern, figure)


def _is_large(problem: Problem, n_open: int) -> bool:
    """Whether linked tables are too many for a linear program for every open figure; boxes, which
    are found at once, then come first."""
    if not isinstance(problem.figures, LinkedFigures):
        return False
    return 2 * n_open * program_seconds(problem.figures) > problem.budget.left


def as_it_is(problem: Problem) -> Pattern | None:
    """The pattern that hides the sensitive figures alone, if that is safe."""
    eliminated = pattern_by_elimination(problem)
    if eliminated is None or np.any(eliminated.hidden & ~problem.is_sensitive):
        return None
    kernel = (move_of(problem, one.cells, one.by) for one in eliminated.changes)
    pattern = Pattern(problem, eliminated.hidden, [move for move in kernel if move])
    return None if _attacked(problem, pattern) or pattern.open() else pattern


def thin(problem: Problem, pattern: Pattern, *, progress: Progress = silent) -> None:
    """Shows hidden figures of a safe pattern, dearest first, where others of less cost can do their
    part, as long as there are any and work is left."""
    protector = Protector(problem)
    cost = pattern.cost + 1
    while pattern.cost < cost:
        cost = pattern.cost
        progress("hiding less", None)
        for figure in _extra(problem, pattern):
            if problem.budget.is_over:
                return
            _without(protector, pattern, [figure])


def make_parts_anew(problem: Problem, pattern: Pattern, *, progress: Progress = silent) -> None:
    """Takes parts of a safe pattern back and makes them in another order, where that costs less.

    A part is a hidden figure with all others in moves that need it. Ends with the work, or when
    nothing was gained for a while.
    """
    protector, rng, stale = Protector(problem), np.random.default_rng(SEED), 0
    while stale < ROUNDS and not problem.budget.is_over:
        extra = _extra(problem, pattern)
        if not extra:
            return
        progress("hiding less", None)
        figure = extra[int(rng.integers(len(extra)))]
        touched = pattern.touched(figure)
        part = [other for other in extra if other in touched]
        stale = 0 if _without(protector, pattern, [figure], part, rng) else stale + 1


def _extra(problem: Problem, pattern: Pattern) -> list[int]:
    """Hidden figures that are not sensitive, dearest first."""
    extra = np.flatnonzero(pattern.hidden & ~problem.is_sensitive)
    found: list[int] = extra[np.argsort(-problem.costs[extra], kind="stable")].tolist()
    return found


def _without(
    protector: Protector,
    pattern: Pattern,
    shut: list[int],
    ruined: Iterable[int] = (),
    rng: np.random.Generator | None = None,
) -> bool:
    """Shows some figures, and whether what is hidden for them instead costs less; else all stays.

    Figures that are `ruined` are shown too, but may be hidden again.
    """
    problem, before = pattern.problem, pattern.hidden.copy()
    taken = list(dict.fromkeys([*shut, *ruined]))
    sensitive = problem.is_sensitive
    at_risk = sorted({f for one in taken for f in pattern.touched(one) if sensitive[f]})
    pattern.show(taken)
    left = pattern.open(at_risk)
    if rng is not None:
        left = [left[int(i)] for i in rng.permutation(len(left))]
    without = np.zeros(problem.figures.n, dtype=np.bool_)
    without[shut] = True
    is_better = False
    try:
        is_better = _protected(protector, pattern, left, without, problem.cost(before))
    finally:
        if not is_better:
            pattern.restore(before)
    return is_better


def _protected(
    protector: Protector, pattern: Pattern, figures: list[int], without: BoolArray, limit: int
) -> bool:
    """Whether some figures can be made safe again with the whole pattern below a cost."""
    for figure in figures:
        if pattern.is_safe(figure):
            continue
        if pattern.problem.budget.is_over or protector.protect(pattern, figure, without) is None:
            return False
        if pattern.cost >= limit:
            return False
    return True


@dataclass(frozen=True, slots=True)
class Limit:
    """What is known of the cheapest safe pattern: a cost that none can beat, None where it was not
    sought, and whether the pattern at hand has it."""

    cost: int | None = None
    is_proved: bool = False


def least_pattern(
    problem: Problem, start: Pattern, *, progress: Progress = silent
) -> tuple[Pattern, Limit]:
    """The cheapest safe pattern, or the best found within the work, with what no pattern can beat.

    Each round solves the program for the figures that were open to attack so far; its optimum is a
    lower limit of every safe pattern's cost, and the answer once it leaves no figure open.
    """
    must = problem.is_sensitive
    base = problem.cost(must)
    asked: list[int] = []
    limit, best = base, start
    pattern, settled = Pattern(problem, must, start.moves), True
    while True:
        progress("seeking the least pattern", None)
        unsafe = _attacked(problem, pattern)
        if not unsafe and pattern.cost < best.cost and not pattern.open():
            best = pattern
        if not unsafe or not settled or problem.budget.is_over:
            break
        asked += unsafe
        program = Program(problem, problem.may_hide, must)
        for figure in asked:
            program.protect(figure)
        program.suggest(best.hidden)
        solved, hidden, changes = program.solve(PROOF_SHARE * problem.budget.units_left)
        if not solved.has_solution:
            break
        limit, settled = max(limit, solved.limit + base), solved.optimal
        pattern = Pattern(problem, hidden, [*pattern.moves, *_moves(problem, changes)])
    return best, Limit(min(limit, best.cost), is_proved=limit >= best.cost)


def _moves(problem: Problem, changes: Iterable[IntArray]) -> Iterator[Move]:
    """The moves along some changes of all cells."""
    for change in changes:
        cells = np.flatnonzero(change)
        if (move := move_of(problem, cells, change[cells])) is not None:
            yield move


def _attacked(problem: Problem, pattern: Pattern) -> list[int]:
    """Some of the sensitive figures that the pattern truly leaves open, where there are any."""
    nothing, found = np.zeros_like(pattern.hidden), []
    for figure in pattern.open():
        if pattern.is_safe(figure):
            continue
        program = Program(problem, nothing, pattern.hidden)
        program.protect(figure)
        _, _, changes = program.solve(problem.budget.units_left)
        for move in _moves(problem, changes):
            pattern.add(move)
        found += [] if pattern.is_safe(figure) else [figure]
        if len(found) == AT_ONCE:
            break
    return found
