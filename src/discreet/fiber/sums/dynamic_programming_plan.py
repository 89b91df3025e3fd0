"""How the columns of a block are passed one after another: order, packing of states, tail."""

from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from discreet.clock import work
from discreet.errors import DiscreetError
from discreet.fiber.sums import dynamic_programming_kernels as kernels
from discreet.fiber.sums.ordering_kernels import (
    echelon,
    greedy_order,
    predicted_states,
    prefix_ranks,
)
from discreet.fiber.system.blocks import Block
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import above, first_largest, order_of

WORD_BITS = 62
MAX_ENTRIES = 4_000_000  # of a block's matrix, dense
MANY = 200  # columns
MAX_STARTS = 6  # columns from which an order is tried
PREDICTING_SECONDS = 1.5e-7  # of an order, for each entry of the matrix
SECONDS_A_LOOK = 2.5e-8  # at an entry of the matrix, for each column of a greedy order
NARROW, VERY_NARROW = 2**24, 2**16  # limits with which lines and planes add up in floats
FEW_ORDERS, DIVES = 3, 150
LARGE, MORE_DIVES = 18.0, 3000  # for work that is worth a closer look beforehand
STEPS_PER_STATE = 30.0  # values tried in the time that a state takes
SMALL, MOST_COLUMNS = 12.0, 60  # with fewer states and columns plain loops are tried first
DIVE_SECONDS = 2e-9  # of a dive, for each entry of the matrix
PLAIN_STEPS = 4  # of plain Python, for a value or an entry that a kernel looks at
LARGEST_ENTRY = 2**50  # of a lattice basis

NONE, NO_FLOATS = np.empty(0, np.int64), np.empty(0)
ONES = kernels.Weights(NONE, NO_FLOATS, NONE)


class BudgetExceeded(DiscreetError):  # noqa: N818 - read as an answer, not as an accident
    """The work asked for is more than the budget allows; the message says what would help.

    `at_least` is the number of tables found before the work ended, where that is a valid lower
    limit, else zero.
    """

    def __init__(self, message: str, at_least: int = 0) -> None:
        super().__init__(message)
        self.at_least = at_least


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPlan:
    """The columns of a block in order, and the tail that is counted in closed form.

    Position k holds column `order[k]` of the block. A layer k is the set of states before position
    k. `cost` is a rough logarithm (base 2) of the number of states.
    """

    block: Block
    order: IntArray
    columns: kernels.Columns
    tail: kernels.Tail
    done_low: IntArray
    done_high: IntArray
    cost: float

    @property
    def is_small(self) -> bool:
        """Whether few enough states are expected that plain loops take a moment."""
        return self.cost < SMALL and len(self.order) <= MOST_COLUMNS

    def packing(self, k: int) -> kernels.Packing:
        """Fields for the rows that differ between states of layer k, filled word by word."""
        low = np.maximum(self.columns.rest_low[k], self.block.right - self.done_high[k])
        high = np.minimum(self.columns.rest_high[k], self.block.right - self.done_low[k])
        width = np.maximum(high - low, 0)
        bits = np.array([int(w).bit_length() for w in width], dtype=np.int64)
        word, shift = np.zeros_like(bits), np.zeros_like(bits)
        at, used = 0, 0
        for i in np.flatnonzero(bits):
            if used + bits[i] > WORD_BITS:
                at, used = at + 1, 0
            word[i], shift[i] = at, used
            used += int(bits[i])
        return kernels.Packing(low, word, shift, (1 << bits) - 1, np.flatnonzero(bits), at + 1)

    def problem(self, weights: kernels.Weights = ONES) -> kernels.Problem:
        """What the kernels read."""
        return kernels.Problem(self.columns, self.tail, weights)

    def step(self, k: int) -> kernels.Step:
        """Passing the column at position k; from behind the last one there is nowhere to go."""
        here = self.packing(k)
        return kernels.Step(k, here, self.packing(k + 1) if k < len(self.order) else here)

    def in_block_order(self, points: IntArray) -> IntArray:
        """Values by position turned into values by column of the block, lower limits added."""
        found = np.empty_like(points)
        found[..., self.order] = points
        return found + self.block.lower


def plan_for(
    block: Block, *, natural: bool = False, closed: bool = True, seconds: float | None = None
) -> ColumnPlan:
    """The cheapest of several orders by an estimate of the states they need.

    Every order gives the same answers. `natural` keeps the columns as they stand. Where the tail is
    counted in closed form (`closed`), columns that the others force may all stand in it, so that
    free ones come first. Of `seconds` that the whole work may take, a quarter goes to looking for
    orders: fewer are tried where one takes long.
    """
    m, n = block.matrix.shape
    if m * n > MAX_ENTRIES:
        message = f"a block of {m} equations in {n} cells is more than dynamic programming can hold"
        raise BudgetExceeded(message + "; release fewer margins at once or estimate instead")
    matrix = np.asarray(block.matrix.todense(), dtype=np.int64).reshape(m, n)
    orders = [np.arange(n)] if natural else _orders(matrix, block, seconds)
    costs = [_cost(matrix, block, order) for order in orders]
    order = orders[_cheapest(costs)]
    best = _assembled(matrix[:, order], block, order, min(costs))
    if natural or not closed or best.tail.start == 0:
        return best
    large = above(best.cost, LARGE)
    others = {tuple(_free_first(matrix, order)) for order in _likely(orders, costs, large)}
    plans = [_assembled(matrix[:, order], block, np.array(order), 0.0) for order in sorted(others)]
    dives = MORE_DIVES if large else DIVES
    found = [best, *(_dived(plan, dives) for plan in plans)]
    return found[_cheapest([plan.cost for plan in found])]


def _cheapest(costs: list[float]) -> int:
    """The first order of the least cost but for rounding.

    Orders of a symmetric table cost the same. The order decides which tables a seed draws and what
    fits the budget, so the last bit of a logarithm must not choose it.
    """
    return first_largest([-cost for cost in costs], scale=1.0)


def _likely(orders: list[IntArray], costs: list[float], large: bool) -> list[IntArray]:
    """The orders that look best, and the columns as they stand, forwards and backwards."""
    ranked = order_of([-cost for cost in costs], scale=1.0)[: None if large else FEW_ORDERS]
    return [orders[i] for i in sorted({0, 1, *ranked.tolist()})]


def _dived(plan: ColumnPlan, dives: int) -> ColumnPlan:
    """The plan with what trying its free columns one by one would take, in states."""
    if plan.tail.affine_from > 0 or not plan.tail.start:
        return replace(plan, cost=float("inf"))
    size = dives * len(plan.order) * len(plan.block.right)
    steps = kernels.dive.suited(size)(plan.problem(), plan.block.right, dives)
    work(DIVE_SECONDS * size)
    return replace(plan, cost=float(np.log2(1.0 + steps / STEPS_PER_STATE)))


def _orders(matrix: IntArray, block: Block, seconds: float | None) -> list[IntArray]:
    n = matrix.shape[1]
    mixed = (matrix < 0).any(axis=1)
    most = np.where(mixed, 2**61, block.right)
    n_starts = min(MAX_STARTS if n <= MANY else 2, _affordable(matrix, seconds))
    starts = np.unique(np.linspace(0, n - 1, n_starts).astype(np.int64))
    looks = len(starts) * np.count_nonzero(matrix) * n
    ordered = greedy_order.suited(looks)
    greedy = [ordered(matrix, most, block.upper, first) for first in starts]
    work(SECONDS_A_LOOK * looks)
    natural = np.arange(n)
    return [natural, natural[::-1].copy(), *greedy, *(order[::-1].copy() for order in greedy)]


def _affordable(matrix: IntArray, seconds: float | None) -> int:
    """How many greedy orders a quarter of the time is enough for."""
    if seconds is None:
        return MAX_STARTS
    each = SECONDS_A_LOOK * np.count_nonzero(matrix) * matrix.shape[1] + 1e-9
    return int(min(max(seconds, 0.0) / 4 / each, MAX_STARTS))


def _free_first(matrix: IntArray, order: IntArray) -> IntArray:
    """The same order with the columns that those behind them do not force put first."""
    backwards = order[::-1].copy()
    forced = np.diff(prefix_ranks.suited(matrix.size * len(matrix))(matrix, backwards))[::-1] > 0
    return np.concatenate([order[~forced], order[forced]])


def _cost(matrix: IntArray, block: Block, order: IntArray) -> float:
    freedom = 2 if np.isin(matrix, (0, 1)).all() else 1  # that a tail most likely has
    predicted = predicted_states.suited(PLAIN_STEPS * matrix.size)
    work(PREDICTING_SECONDS * matrix.size)
    return float(predicted(matrix, block.right, block.upper, order, freedom))


def _ranges(
    matrix: IntArray, upper: IntArray
) -> tuple[tuple[IntArray, IntArray], tuple[IntArray, IntArray]]:
    """Least and most that the columns before, and from, each position add to each row."""
    m, n = matrix.shape
    low, high = np.zeros((n + 1, m), np.int64), np.zeros((n + 1, m), np.int64)
    np.cumsum(np.minimum(matrix * upper, 0).T, axis=0, out=low[1:])
    np.cumsum(np.maximum(matrix * upper, 0).T, axis=0, out=high[1:])
    return (low, high), (low[-1] - low, high[-1] - high)


def _assembled(matrix: IntArray, block: Block, order: IntArray, cost: float) -> ColumnPlan:
    upper = block.upper[order].copy()
    (done_low, done_high), (rest_low, rest_high) = _ranges(matrix, upper)
    column, row = np.nonzero(matrix.T)
    start = np.searchsorted(column, np.arange(matrix.shape[1] + 1)).astype(np.int64)
    columns = kernels.Columns(
        start=start,
        row=row.astype(np.int64),
        coefficient=matrix.T[column, row].copy(),
        upper=upper,
        rest_low=rest_low,
        rest_high=rest_high,
    )
    return ColumnPlan(
        block=block,
        order=order.astype(np.int64),
        columns=columns,
        tail=_tail(matrix, upper, block.right),
        done_low=done_low,
        done_high=done_high,
        cost=cost,
    )


def _tail(matrix: IntArray, upper: IntArray, right: IntArray) -> kernels.Tail:
    """The longest tail whose points can be counted in closed form; an empty one always can."""
    n = matrix.shape[1]
    backwards = np.arange(n)[::-1].copy()
    # In C order, as everywhere: for another order of the memory it would be compiled once more.
    behind = prefix_ranks.suited(matrix.size * len(matrix))(
        np.ascontiguousarray(matrix), backwards
    )[::-1]
    free = n - np.arange(n + 1) - behind
    reach = np.abs(matrix).astype(np.float64) @ upper + np.abs(right)
    for start in (*(int(np.argmax(free <= most)) for most in (2, 1, 0)), n):
        found = _tail_from(matrix, upper, reach, start)
        if found is not None:
            return found
    raise AssertionError("an empty tail has one point")


def _tail_from(
    matrix: IntArray, upper: IntArray, reach: FloatArray, start: int
) -> kernels.Tail | None:
    found = _echelon(matrix[:, start:])
    if found is None or not _fits(found, reach):
        return None
    pivot, lower, basis, kernel = found
    moves = _directions(kernel)
    if moves is None:
        return None
    direction, multiplier = moves
    tail = kernels.Tail(
        start=start,
        pivot=pivot,
        echelon=lower,
        basis=basis,
        direction=direction,
        multiplier=multiplier,
        n_free=kernel.shape[1],
        slopes=np.zeros((start, len(basis)), np.int64),
        affine_from=start,
        settled_start=np.zeros(start + 1, np.int64),
        settled=np.zeros(0, np.int64),
        slot=np.zeros(len(basis), np.int64),
        line=kernels.WIDE_LINE,
    )
    return _with_slopes(tail, matrix, upper)


def _with_slopes(tail: kernels.Tail, matrix: IntArray, upper: IntArray) -> kernels.Tail:
    """The tail with what each column before it takes away, as far up as that is whole."""
    slopes = tail.slopes.copy()
    first = tail.start
    y = np.zeros(len(matrix), np.int64)
    while first > 0 and kernels.solve.suited(matrix.size)(
        tail, matrix[:, first - 1].copy(), y, slopes[first - 1]
    ):
        first -= 1
    tail = tail._replace(affine_from=first)
    still = (tail.direction == 0) & (np.cumsum(slopes[::-1] != 0, axis=0)[::-1] == 1)
    position, column = np.nonzero(still & (slopes != 0))
    return tail._replace(
        slopes=slopes,
        settled_start=np.searchsorted(position, np.arange(tail.start + 1)).astype(np.int64),
        settled=column.astype(np.int64),
        slot=3 * tail.direction + 1 + _movement(tail, slopes),
        line=_line(tail, slopes, upper),
    )


def _movement(tail: kernels.Tail, slopes: IntArray) -> IntArray:
    """How the limits of each tail column's direction move with the last column before the tail.

    A column that moves with s, t or s + t has limits on that; one that stays put limits the last
    column itself, which the sign of its fall says.
    """
    if not len(slopes):
        return np.zeros(len(tail.direction), np.int64)
    moved: IntArray = np.sign(tail.multiplier) * slopes[-1]
    return np.where(tail.direction > 0, moved, slopes[-1])


def _line(tail: kernels.Tail, slopes: IntArray, upper: IntArray) -> int:
    """How points along the last column before the tail can be added up exactly."""
    falls = slopes[-1] if len(slopes) else tail.multiplier
    largest = np.abs(np.concatenate([tail.multiplier, falls])).max(initial=0)
    if largest > NARROW or upper.max(initial=0) > (NARROW if tail.n_free < 2 else VERY_NARROW):
        return kernels.WIDE_LINE
    if largest > 1 or tail.n_free == 0 or tail.affine_from > tail.start - 2:
        return kernels.NARROW_LINE
    return kernels.UNIT_LINE


def _echelon(matrix: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray] | None:
    """A U = [H 0] with U unimodular: pivot rows, H, and the two parts of U; None if too large."""
    m, q = matrix.shape
    both = np.vstack([matrix, np.eye(q, dtype=np.int64)])
    pivot = echelon.suited(both.size * q)(both, m, LARGEST_ENTRY)
    if len(pivot) and pivot[0] < 0:
        return None
    rank = len(pivot)
    return pivot, both[:m, :rank].copy(), both[m:, :rank].copy(), both[m:, rank:].copy()


def _fits(found: tuple[IntArray, ...], reach: FloatArray) -> bool:
    """Whether no solution for rows within `reach` can leave 64 bits on the way."""
    pivot, lower, basis, _ = (np.abs(array).astype(np.float64) for array in found)
    y = np.zeros(len(pivot))
    for j, i in enumerate(found[0]):
        y[j] = reach[i] + lower[i, :j] @ y[:j]
    sums = [reach.max(initial=0.0), (lower @ y).max(initial=0.0), (basis @ y).max(initial=0.0)]
    return bool(max(sums) < 2.0**61)


def _directions(kernel: IntArray) -> tuple[IntArray, IntArray] | None:
    """Each column's move as a multiple of s, t or s + t (1, 2, 3; 0 where it stays put)."""
    q, freedom = kernel.shape
    if freedom == 0:
        return np.zeros(q, np.int64), np.zeros(q, np.int64)
    if freedom == 1:
        return (kernel[:, 0] != 0).astype(np.int64), kernel[:, 0].copy()
    size = np.gcd.reduce(kernel, axis=1)
    moving = np.flatnonzero(size)
    primitive = kernel[moving] // size[moving, None]
    different = {max(tuple(v), tuple(-v)) for v in primitive.tolist() for v in [np.array(v)]}
    if freedom > 2 or len(different) > 3:
        return None
    for one, two in permutations(sorted(different), 2):
        found = _in_terms_of(kernel, np.array(one), np.array(two))
        if found is not None:
            return found
    return None


def _in_terms_of(
    kernel: IntArray, one: IntArray, two: IntArray
) -> tuple[IntArray, IntArray] | None:
    determinant = int(one[0] * two[1] - one[1] * two[0])
    if abs(determinant) != 1:
        return None
    inverse = determinant * np.array([[two[1], -two[0]], [-one[1], one[0]]])
    for sign in (1, -1):
        parts = kernel @ inverse.T * np.array([1, sign])
        along_s, along_t = parts[:, 0], parts[:, 1]
        if np.all((along_s == 0) | (along_t == 0) | (along_s == along_t)):
            direction = (along_s != 0) + 2 * (along_t != 0)
            return direction.astype(np.int64), np.where(along_s != 0, along_s, along_t)
    return None
