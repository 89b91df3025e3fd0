"""A pattern of suppression in the making: what is hidden, and the moves that show it to be safe.

A *move* is a change of the table that keeps the number of persons. Made as often as counts allow,
forwards or backwards, it leads to other tables. If every figure that it changes is hidden, these
tables are consistent with all that is shown: they are *witnesses* that the figures which change can
have other values. A sensitive figure is safe once its witnesses lie as far apart as the rule asks.

Everything here is in whole numbers and checked as a move is made, so that a pattern is never called
safe on the word of a solver.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import gcd

import numpy as np

from discreet.masks.contract import Guarantee
from discreet.masks.solving import Budget
from discreet.masks.suppression_figures import Figures, Needs, Rule
from discreet.numerics.arrays import BoolArray, IntArray

FAR = 2**31  # a witness differs from the table by less than this in every cell


@dataclass(frozen=True, slots=True)
class Problem:
    """Figures, the rule, the sensitive ones among them, what it costs to hide each, and how much
    work the search may take."""

    figures: Figures
    rule: Rule
    counts: IntArray  # of the cells
    sensitive: IntArray
    costs: IntArray
    budget: Budget
    guarantee: Guarantee = Guarantee.WHOLE
    always_shown: frozenset[int] = frozenset()  # beside those that the rule never hides

    def needs(self, figure: int) -> Needs:
        """What the interval of a sensitive figure must reach."""
        count = int(self.figures.counts[figure])
        if self.guarantee is Guarantee.NOT_DERIVABLE:
            return Needs(low=count, high=count, width=1)
        return self.rule.needs(count)

    @property
    def may_hide(self) -> BoolArray:
        """Which figures can be hidden at all."""
        figures = self.figures
        may = self.rule.may_hide(figures.counts) & ~figures.is_total & ~figures.is_out
        may[list(self.always_shown)] = False
        return np.asarray(may)

    @property
    def is_sensitive(self) -> BoolArray:
        """Which figures must be hidden."""
        flags = np.zeros(self.figures.n, dtype=np.bool_)
        flags[self.sensitive] = True
        return flags

    def cost(self, hidden: BoolArray) -> int:
        """What it costs to hide some figures."""
        return int(self.costs[hidden].sum())


@dataclass(frozen=True, slots=True)
class Move:
    """Cells and figures that change, by how much in one step, and how many steps can be made.

    Every table from −`back` to `ahead` steps, fractions of them too, has no cell below 0 and no
    hidden figure below the least that the rule leaves to it.
    """

    cells: IntArray
    by: IntArray
    figures: IntArray
    change: IntArray
    back: Fraction
    ahead: Fraction

    def steps(self, *, whole: bool) -> tuple[Fraction | int, Fraction | int]:
        """The most steps backwards, as a negative number, and forwards."""
        return (-int(self.back), int(self.ahead)) if whole else (-self.back, self.ahead)

    def table(self, counts: IntArray, steps: int) -> IntArray:
        """The cells after some steps."""
        found = counts.copy()
        found[self.cells] += steps * self.by
        return found


def move_of(problem: Problem, cells: IntArray, by: IntArray) -> Move | None:
    """The move along a change of cells, None where there is no change.

    Checked: the number of persons stays. A multiple is brought down to its shortest step.
    """
    step = gcd(*by.tolist())
    if step == 0 or int(by.sum()) != 0:
        return None
    by = by // step
    figures, change = problem.figures.changes(cells, by)
    rooms = (
        (problem.counts[cells], by),
        (problem.figures.counts[figures] - problem.rule.least, change),
    )
    ahead = min(_steps(room, -one) for room, one in rooms)
    back = min(_steps(room, one) for room, one in rooms)
    return Move(cells, by, figures, change, back, ahead)


def _steps(room: IntArray, lowered: IntArray) -> Fraction:
    """How many steps can be made where each takes so much of the room."""
    falls = lowered > 0
    pairs = zip(room[falls].tolist(), lowered[falls].tolist(), strict=True)
    return max(Fraction(0), min((Fraction(a, b) for a, b in pairs), default=Fraction(FAR)))


class Pattern:
    """Hidden figures and moves; those moves count whose figures are all hidden."""

    def __init__(self, problem: Problem, hidden: BoolArray, moves: Iterable[Move] = ()) -> None:
        self.problem = problem
        self.hidden = hidden.copy()
        self.moves: list[Move] = []
        self._n_shown: list[int] = []  # of the figures that each move changes
        self._known: set[tuple[bytes, bytes]] = set()
        self._at: dict[int, list[tuple[int, int]]] = {}  # figure: (move, its change in one step)
        for move in moves:
            self.add(move)

    @property
    def cost(self) -> int:
        """What the pattern costs."""
        return self.problem.cost(self.hidden)

    def add(self, move: Move) -> None:
        """One more move, unless it is there."""
        key = (move.cells.tobytes(), move.by.tobytes())
        if key in self._known:
            return
        self._known.add(key)
        number = len(self.moves)
        self.moves.append(move)
        self._n_shown.append(int(np.count_nonzero(~self.hidden[move.figures])))
        for figure, change in zip(move.figures.tolist(), move.change.tolist(), strict=True):
            self._at.setdefault(figure, []).append((number, change))

    def hide(self, figures: Iterable[int]) -> None:
        """Hides figures that are shown."""
        for figure in figures:
            self._turn(figure, True)

    def show(self, figures: Iterable[int]) -> None:
        """Shows figures that are hidden."""
        for figure in figures:
            self._turn(figure, False)

    def restore(self, hidden: BoolArray) -> None:
        """Hides and shows figures so that these are hidden."""
        self.show(np.flatnonzero(self.hidden & ~hidden).tolist())
        self.hide(np.flatnonzero(hidden & ~self.hidden).tolist())

    def _turn(self, figure: int, hidden: bool) -> None:
        if bool(self.hidden[figure]) is hidden:
            return
        self.hidden[figure] = hidden
        step = -1 if hidden else 1
        for number, _ in self._at.get(figure, ()):
            self._n_shown[number] += step

    def make(self, move: Move) -> list[int]:
        """Adds a move and hides all that it changes; returns what was shown before."""
        new: list[int] = move.figures[~self.hidden[move.figures]].tolist()
        self.hide(new)
        self.add(move)
        return new

    def touched(self, figure: int) -> set[int]:
        """Figures that change in moves which count and change this one."""
        live = (self.moves[n].figures.tolist() for n, _ in self._at.get(figure, ()) if self._is(n))
        return set(chain.from_iterable(live))

    def _is(self, number: int) -> bool:
        return self._n_shown[number] == 0

    def interval(
        self, figure: int, *, whole: bool | None = None
    ) -> tuple[int | Fraction, int | Fraction]:
        """The least and the greatest value of a figure in the tables found so far.

        `whole` counts tables in whole numbers only; left out, as the guarantee says.
        """
        if whole is None:
            whole = self.problem.guarantee is Guarantee.WHOLE
        count = int(self.problem.figures.counts[figure])
        low: int | Fraction = count
        high: int | Fraction = count
        for number, change in self._at.get(figure, ()):
            if self._is(number):
                ends = [count + s * change for s in self.moves[number].steps(whole=whole)]
                low, high = min(low, *ends), max(high, *ends)
        return low, high

    def reach(self, figures: Sequence[int]) -> tuple[int | Fraction, int | Fraction]:
        """The least and the greatest sum of some figures in the tables found so far."""
        changes: dict[int, int] = {}
        for figure in figures:
            for number, change in self._at.get(figure, ()):
                if self._is(number):
                    changes[number] = changes.get(number, 0) + change
        sums = [int(self.problem.figures.counts[figure]) for figure in figures]
        whole = self.problem.guarantee is Guarantee.WHOLE
        reached: list[int | Fraction] = [sum(sums)]
        for number, change in changes.items():
            reached += [sum(sums) + s * change for s in self.moves[number].steps(whole=whole)]
        return min(reached), max(reached)

    def is_safe(self, figure: int) -> bool:
        """Whether the moves found so far show a sensitive figure to be as safe as asked."""
        return self.holds(self.problem.guarantee, figure)

    def holds(self, guarantee: Guarantee, figure: int) -> bool:
        """Whether the moves found so far prove so much of a sensitive figure."""
        if not self.hidden[figure]:
            return False
        if guarantee is Guarantee.NOT_DERIVABLE:
            return any(self._is(number) for number, _ in self._at.get(figure, ()))
        found = self.interval(figure, whole=guarantee is Guarantee.WHOLE)
        return self.problem.rule.needs(int(self.problem.figures.counts[figure])).met(*found)

    def guarantee(self) -> Guarantee | None:
        """The most that is proved of all sensitive figures, None if it is nothing."""
        sensitive = self.problem.sensitive.tolist()
        for one in reversed(Guarantee):
            if all(self.holds(one, figure) for figure in sensitive):
                return one
        return None

    def open(self, figures: Iterable[int] | None = None) -> list[int]:
        """The sensitive figures, among some or all, that are not shown to be safe."""
        every = self.problem.sensitive.tolist() if figures is None else figures
        return [figure for figure in every if not self.is_safe(figure)]

    def witnesses(self) -> Iterator[IntArray]:
        """Tables that fit what is shown and hold both ends of every sensitive figure's interval."""
        told: set[tuple[int, int]] = set()
        for figure in self.problem.sensitive.tolist():
            told |= set(self._ends(figure))
        for number, steps in sorted(told):
            yield self.moves[number].table(self.problem.counts, steps)

    def _ends(self, figure: int) -> Iterator[tuple[int, int]]:
        """The moves and steps that lead to the least and to the greatest value."""
        reached = [(0, 0, 0)]
        for number, change in self._at.get(figure, ()):
            if self._is(number):
                both = self.moves[number].steps(whole=True)
                reached += [(int(s) * change, number, int(s)) for s in both if s]
        for _, number, steps in {min(reached), max(reached)}:
            if steps:
                yield number, steps
