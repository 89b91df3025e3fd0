"""What the cells of one component of a release can be: valid limits, and counts that are attained.

A component is a set of variables of which some margins are out, but not the component itself. Its
limits come from the shuttle; counts are seen by a walk from the true table by moves that change no
released margin. A cell's range is at most its limits and at least what was seen.
"""

from itertools import combinations
from math import prod

import numpy as np

from discreet.choice.best_set.block_kernels import reach_by_blocks
from discreet.clock import work
from discreet.data.table import Table
from discreet.fiber.bounds.by_shuttle import shuttle
from discreet.fiber.bounds.kernels import push_cells
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.programs import Deadline
from discreet.numerics.arrays import IntArray
from discreet.numerics.bit_sets import axes_of, lies_within, maximal_sets, members

MOST_WALKED = 2**18  # cells of a component that is built in full to be walked in
MOST_SHUTTLED = 2**20  # cells of all its sums, for the shuttle
LARGEST_CUBE = 6  # variables of a move
MOST_BITS = 62  # variables of a component, as bits of one number
MOVE_SECONDS = 3e-8  # a move tried
RECORD_SECONDS, TRY_SECONDS = 1e-8, 2e-6  # a record compared, and what is tried with a near one
PART = 256  # cells pushed before the clock is looked at


class ComponentRange:
    """The limits and the counts seen of each small cell's entry in one component."""

    def __init__(
        self, table: Table, levels: IntArray, component: int, sets: tuple[int, ...]
    ) -> None:
        self.axes = axes_of(component)
        self.sizes = tuple(table.sizes[axis] for axis in self.axes)
        inside = maximal_sets(one & component for one in sets)
        place = {axis: i for i, axis in enumerate(self.axes)}
        self.sets = tuple(sum(1 << place[axis] for axis in members(one)) for one in inside)
        truth = table.margin(self.axes)
        self.margins = Margins(
            sizes=self.sizes,
            names=tuple(table.names[axis] for axis in self.axes),
            tables={axes_of(one): _summed(truth, one) for one in self.sets},
        )
        here = tuple(levels[:, axis] for axis in self.axes)
        self.cells = np.ravel_multi_index(here, self.sizes).astype(np.int64)
        self._truth = truth.ravel().copy()
        self._now = self._truth.copy()
        self.least, self.most = self._now.copy(), self._now.copy()
        self._state = np.array([0x9E3779B97F4A7C15], dtype=np.uint64)
        self._moves = _moves(self.sets, self.sizes)
        self._records: tuple[IntArray, IntArray] | None = None
        self._limits: tuple[IntArray, IntArray] | None = None

    @staticmethod
    def fits(table: Table, component: int) -> bool:
        """Whether a component is small enough to be built."""
        return prod(table.sizes[axis] for axis in members(component)) <= MOST_WALKED

    def limits(self, deadline: Deadline) -> tuple[IntArray, IntArray]:
        """Valid limits of all cells of the component."""
        if self._limits is None:
            self._limits = self._found_limits(deadline)
        return self._limits

    def _found_limits(self, deadline: Deadline) -> tuple[IntArray, IntArray]:
        if prod(size + 1 for size in self.sizes) <= MOST_SHUTTLED:
            lower, upper = shuttle(self.margins, deadline)
            return lower.ravel(), upper.ravel()
        upper = np.full(self.sizes, self.margins.total, dtype=np.int64)
        for axes, table in self.margins.tables.items():
            shape = [size if i in axes else 1 for i, size in enumerate(self.sizes)]
            np.minimum(upper, table.reshape(shape), out=upper)
        return np.zeros(upper.size, dtype=np.int64), upper.ravel()

    def push(self, rows: IntArray, steps: int, deadline: Deadline) -> None:
        """Pushes the entries of some small cells up and down, `steps` moves each way."""
        if self._moves is None:
            return
        lower, upper = self.limits(deadline)
        wanted = np.unique(self.cells[rows])
        for start in range(0, len(wanted), PART):
            if deadline.passed:
                return
            part = wanted[start : start + PART]
            work(2 * MOVE_SECONDS * steps * len(part))
            push_cells(
                self._now, self.least, self.most, lower, upper, part, *self._moves, steps,
                self._state,
            )  # fmt: skip

    def push_by_blocks(self, rows: IntArray, near: int, width: int, deadline: Deadline) -> None:
        """Pushes the entries of some small cells from the true table, by exchanging four records
        among the `near` nearest ones, until an entry spans `width` or no exchange is left."""
        if len(self.sizes) > MOST_BITS:
            return
        levels, places = self._occupied()
        lower, _ = self.limits(deadline)
        wide = [one for one in self.sets if one.bit_count() > 2]
        sets = np.array(wide, dtype=np.int64)
        sizes = np.array(self.sizes, dtype=np.int64)
        strides = _strides(self.sizes)
        wanted = np.unique(self.cells[rows])
        for start in range(0, len(wanted), PART):
            if deadline.passed:
                return
            part = wanted[start : start + PART]
            work(len(part) * (RECORD_SECONDS * len(places) + TRY_SECONDS * near))
            reach_by_blocks(
                self._truth, levels, places, part, sizes, strides, sets, self.least, self.most,
                lower, near, width,
            )  # fmt: skip

    def _occupied(self) -> tuple[IntArray, IntArray]:
        """The occupied cells of the component, by levels and by number."""
        if self._records is None:
            places = np.flatnonzero(self._truth)
            levels = np.stack(np.unravel_index(places, self.sizes), axis=1).astype(np.int64)
            self._records = levels, places
        return self._records


def _summed(table: IntArray, kept: int) -> IntArray:
    others = tuple(axis for axis in range(table.ndim) if not kept >> axis & 1)
    return np.asarray(table.sum(axis=others), dtype=np.int64)


def _moves(
    sets: tuple[int, ...], sizes: tuple[int, ...]
) -> tuple[IntArray, IntArray, IntArray, IntArray] | None:
    """The cubes of the moves end to end, with the sizes and strides of the component."""
    cubes = [axes_of(one) for one in smallest_outside(sets, sizes)]
    if not cubes:
        return None
    starts = np.cumsum([0, *(len(cube) for cube in cubes)]).astype(np.int64)
    ends = np.array([axis for cube in cubes for axis in cube], dtype=np.int64)
    return starts, ends, np.array(sizes, dtype=np.int64), _strides(sizes)


def _strides(sizes: tuple[int, ...]) -> IntArray:
    """How far apart neighbours along each axis are, in cells."""
    return np.array([prod(sizes[i + 1 :]) for i in range(len(sizes))], dtype=np.int64)


def smallest_outside(sets: tuple[int, ...], sizes: tuple[int, ...]) -> list[int]:
    """Sets of up to 6 variables that lie in none of the given, though all their parts do."""
    found: list[int] = []
    inside: set[int] = set()
    for axis, size in enumerate(sizes):
        if size > 1:
            (inside.add if lies_within(1 << axis, sets) else found.append)(1 << axis)
    for _ in range(2, LARGEST_CUBE + 1):
        larger: set[int] = set()
        for one in _one_larger(inside):
            if lies_within(one, sets):
                larger.add(one)
            else:
                found.append(one)
        inside = larger
    return found


def _one_larger(sets: set[int]) -> list[int]:
    """Sets of one more variable all of whose parts are given, ascending."""
    by_head: dict[int, list[int]] = {}
    for one in sets:
        last = 1 << one.bit_length() - 1
        by_head.setdefault(one ^ last, []).append(last)
    joined = (head | a | b for head, lasts in by_head.items() for a, b in combinations(lasts, 2))
    return sorted(one for one in joined if all(one ^ 1 << axis in sets for axis in members(one)))


def compile_kernels() -> None:
    """Compiles the walks on a tiny table, so that it does not count as time of a search.

    Takes seconds the first time on a machine; then the compiled kernels are found again.
    """
    table = Table.of_dense(np.ones((2, 2, 2), dtype=np.int64))
    never = Deadline(None)
    walked = ComponentRange(table, table.cells, 0b111, (0b011, 0b101, 0b110))
    walked.push(np.arange(1), 1, never)
    walked.push_by_blocks(np.arange(1), 8, 1, never)
