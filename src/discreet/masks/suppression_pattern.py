"""A pattern of suppression in the making: what is hidden, and the moves that show it to be safe.

A *move* is a change of the table that keeps the number of persons. Made as often as counts allow,
forwards or backwards, it leads to other tables. If every figure that it changes is hidden, these
tables are consistent with all that is shown: they are *witnesses* that the figures which change can
have other values. A sensitive figure is safe once its witnesses lie as far apart as the rule asks.

Everything here is in whole numbers and checked as a move is made, so that a pattern is never called
safe on the word of a solver.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import gcd

import numpy as np

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

    def needs(self, figure: int) -> Needs:
        """What the interval of a sensitive figure must reach."""
        return self.rule.needs(int(self.figures.counts[figure]))

    @property
    def may_hide(self) -> BoolArray:
        """Which figures can be hidden at all."""
        return self.rule.may_hide(self.figures.counts) & ~self.figures.is_total

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

    Every table from −`back` to `ahead` steps has no cell below 0 and no hidden figure below the
    least that the rule leaves to it.
    """

    cells: IntArray
    by: IntArray
    figures: IntArray
    change: IntArray
    back: int
    ahead: int

    def table(self, counts: IntArray, steps: int) -> IntArray:
        """The cells after some steps."""
        found = counts.copy()
        found[self.cells] += steps * self.by
        return found


def move_of(problem: Problem, cells: IntArray, by: IntArray) -> Move | None:
    """The move along a change of cells, or None where it cannot be made one step either way.

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
    if ahead <= 0 and back <= 0:
        return None
    return Move(cells, by, figures, change, max(back, 0), max(ahead, 0))


def _steps(room: IntArray, lowered: IntArray) -> int:
    """How many steps can be made where each takes so much of the room."""
    falls = lowered > 0
    if not np.any(falls):
        return FAR
    return min(FAR, int((room[falls] // lowered[falls]).min()))


class Pattern:
    """Hidden figures and moves; those moves count whose figures are all hidden."""

    def __init__(self, problem: Problem, hidden: BoolArray) -> None:
        self.problem = problem
        self.hidden = hidden.copy()
        self.moves: list[Move] = []
        self._n_shown: list[int] = []  # of the figures that each move changes
        self._known: set[tuple[bytes, bytes]] = set()
        self._at: dict[int, list[tuple[int, int]]] = {}  # figure: (move, its change in one step)

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

    def interval(self, figure: int) -> tuple[int, int]:
        """The least and the greatest value of a figure in the tables found so far."""
        count = low = high = int(self.problem.figures.counts[figure])
        for number, change in self._at.get(figure, ()):
            if self._is(number):
                move = self.moves[number]
                ends = (count - move.back * change, count + move.ahead * change)
                low, high = min(low, *ends), max(high, *ends)
        return low, high

    def is_safe(self, figure: int) -> bool:
        """Whether the tables found so far show a sensitive figure to be safe."""
        return bool(self.hidden[figure]) and self.problem.needs(figure).met(*self.interval(figure))

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
                move = self.moves[number]
                reached += [(s * change, number, s) for s in (-move.back, move.ahead) if s]
        for _, number, steps in {min(reached), max(reached)}:
            if steps:
                yield number, steps
