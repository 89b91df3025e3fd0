"""All tables of a system laid out on lines: their number, bounds and sums from one search.

Columns are passed from the last named one down, and equal right-hand sides that are left are joined
(a *state*), until the columns that remain leave one direction free: A x = r then has the solutions
x₀ + k d, a *line*. The number of tables and the bounds of cells follow from the ends of the lines
alone, whatever the counts are; so do probabilities where all tables are alike. Other weights are
added up point by point.

Made for count tables, whose equations are triangular: the statistics of n, S1 and of each prime fix
one cell each, and twelve values leave some thousand states. A system is refused where no cell of
the last columns moves by one along the line, since whole points are then not told by one division.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import fsum, gcd, lcm, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.clock import work
from discreet.fiber.bounds.contract import Bounds, Proof, proofs
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.marginals import NEGLIGIBLE, Posterior
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.priors import Prior, log_ratio
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.kernels import kernel
from discreet.numerics.rounding import ALIKE, EPSILON

MOST_STATES = 500_000
MOST_POINTS = 300_000_000  # added up one by one
MOST_VALUES = 20_000_000  # weights of all cells
MOST_COLUMNS, MOST_ROWS = 300, 60
ROUNDS = 60  # in which limits are passed along rows
LARGEST = 2**61  # numbers that products of whole numbers stay below
STATE_SECONDS = 1.5e-6  # a state reached, joined with others and gone back over
POINT_SECONDS = 2.5e-8  # a point of a line, weighed twice
LEAST_LOG = -740.0  # e^−740 of the heaviest table is next to nothing that a float can be
NEGLIGIBLE_LOG = -140.0  # 1e-61, below which weights are left out where points are many
MANY = 5_000_000

Whole = NDArray[Any]  # whole numbers: 64 bits where they do, else Python's


@dataclass(frozen=True, slots=True)
class _Layer:
    """Ways from the states before a column to those behind it, by the value of the column."""

    column: int
    parent: IntArray
    value: IntArray
    child: IntArray
    n_children: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Lines:
    """The tables of a system: `layers` lead to the states, each with a line of so many points.

    Column `tail[t]` has the value `first[s, t]` + k `direction[t]` at point k of line s. All values
    are counted from `lower`; `width` is the range of each column.
    """

    system: System
    lower: IntArray
    width: IntArray
    layers: tuple[_Layer, ...]
    tail: IntArray
    first: IntArray
    direction: IntArray
    length: IntArray

    @property
    def n_points(self) -> int:
        """Points of all lines; a line that is reached in several ways is counted once."""
        return int(self.length.sum())

    @property
    def n_states(self) -> int:
        """The most ways that had to be looked at for one column."""
        return max((len(layer.parent) for layer in self.layers), default=1)

    @property
    def _room(self) -> FloatArray:
        """For the points of the longest line."""
        return np.empty(int(self.length.max(initial=0)))

    @cached_property
    def _ways(self) -> tuple[Whole, ...]:
        """In how many ways each state is reached, layer by layer."""
        rough = np.ones(1)
        for layer in self.layers:
            reached = np.bincount(layer.child, rough[layer.parent], layer.n_children)
            rough = np.asarray(reached, np.float64)
        small = float(rough @ self.length) < LARGEST
        ways: list[Whole] = [np.ones(1, np.int64 if small else object)]
        for layer in self.layers:
            ways.append(_added(layer.child, ways[-1][layer.parent], layer.n_children))
        return tuple(ways)

    @cached_property
    def _completions(self) -> tuple[Whole, ...]:
        """How many tables each state leads to, layer by layer."""
        found: list[Whole] = [self.length.astype(self._ways[-1].dtype)]
        for layer, before in zip(self.layers[::-1], self._ways[-2::-1], strict=True):
            found.append(_added(layer.parent, found[-1][layer.child], len(before)))
        return tuple(found[::-1])

    @cached_property
    def n_tables(self) -> int:
        """How many tables there are, exact."""
        return int(self._completions[0][0])

    @cached_property
    def bounds(self) -> Bounds:
        """The least and the greatest count of each named cell; trusted: there is a table."""
        low, high = self.lower.copy(), self.lower.copy()
        for layer, behind in zip(self.layers, self._completions[1:], strict=True):
            values = layer.value[behind[layer.child] > 0]
            low[layer.column] += values.min()
            high[layer.column] += values.max()
        full = self.length > 0
        last = self.first[full] + (self.length[full] - 1)[:, None] * self.direction
        if len(self.tail):
            low[self.tail] += np.minimum(self.first[full], last).min(axis=0)
            high[self.tail] += np.maximum(self.first[full], last).max(axis=0)
        n = self.system.n_named
        found = proofs(n, Proof.SEARCH)
        return Bounds(
            lower=low[:n].copy(), upper=high[:n].copy(),
            lower_proof=found, upper_proof=found.copy(),
        )  # fmt: skip

    def tables(self, limit: int | None = None) -> IntArray:
        """Tables (rows × cells) in order of the last cell, then of the one before, and so on.

        Trusted where there is no limit: they are few.
        """
        state = np.repeat(np.arange(len(self.length)), self.length)
        points = np.tile(self.lower, (len(state), 1))
        along = np.arange(len(state)) - np.repeat(np.cumsum(self.length) - self.length, self.length)
        points[:, self.tail] += self.first[state] + along[:, None] * self.direction
        for layer in self.layers[::-1]:
            order = np.argsort(layer.child, kind="stable")
            ways = np.bincount(layer.child, minlength=layer.n_children)
            begin = np.cumsum(ways) - ways
            times = ways[state]
            within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
            way = order[np.repeat(begin[state], times) + within]
            points = np.repeat(points, times, axis=0)
            points[:, layer.column] += layer.value[way]
            state = layer.parent[way]
        named = points[:, : self.system.n_named]
        return named[np.lexsort(named.T)][:limit]

    def posterior(self, prior: Prior) -> tuple[Posterior, IntArray]:
        """The distribution of the table under the prior, and its most probable table.

        Raises BudgetExceeded where points or values are too many. Trusted: there is a table, and
        log weights are concave in each cell, as those of `multinomial` are.
        """
        if prior.name == "uniform":
            return self._alike(prior), self._first_table()
        if self.n_points > MOST_POINTS or float(self.width.sum()) > MOST_VALUES:
            raise BudgetExceeded(f"{self.n_points:,} tables would have to be weighed one by one")
        work(POINT_SECONDS * self.n_points)
        heaviest = self._heaviest(prior)
        best = self._best(self._weights(prior, heaviest))
        return self._weighed(prior, best), best[: self.system.n_named]

    def _alike(self, prior: Prior) -> Posterior:
        """Where all tables have one weight: whole numbers of tables, from the ends of lines."""
        shares: list[FloatArray] = [np.ones(1) for _ in range(self.system.n_columns)]
        levels = zip(self.layers, self._ways[:-1], self._completions[1:], strict=True)
        for layer, ways, behind in levels:
            mass = ways[layer.parent] * behind[layer.child]
            found = _added(layer.value, mass, int(self.width[layer.column]) + 1)
            shares[layer.column] = _share(found, self.n_tables)
        full = self.length > 0
        ways, length = self._ways[-1][full], self.length[full]
        for t, column in enumerate(self.tail):
            begin, step = self.first[full, t], int(self.direction[t])
            end = begin + (length - 1) * step
            found = _runs(np.minimum(begin, end), np.maximum(begin, end), abs(step), ways,
                          length, int(self.width[column]) + 1)  # fmt: skip
            shares[int(column)] = _share(found, self.n_tables)
        n, whole = self.system.n_named, log(self.n_tables)
        return Posterior(
            system=self.system, prior=prior, lower=self.lower[:n].copy(),
            probabilities=shares[:n], start=self.lower[:n].copy(), log_relative=whole,
            log_normaliser=whole, entropy=whole / log(2.0), relative_error=4.0 * EPSILON,
        )  # fmt: skip

    def _first_table(self) -> IntArray:
        """The table with the least last cell, then the least one before it, and so on."""
        state, point = 0, self.lower.copy()
        for layer, behind in zip(self.layers, self._completions[1:], strict=True):
            ways = np.flatnonzero((layer.parent == state) & (behind[layer.child] > 0))
            way = ways[np.argmin(layer.value[ways])]
            point[layer.column] += layer.value[way]
            state = int(layer.child[way])
        ends = self.first[state] + np.outer([0, self.length[state] - 1], self.direction)
        named = np.flatnonzero(self.tail < self.system.n_named)
        order = named[np.argsort(self.tail[named])]
        least = np.lexsort(ends[:, order].T)[0] if len(order) else 0
        point[self.tail] += ends[least]
        return point[: self.system.n_named]

    def _heaviest(self, prior: Prior) -> IntArray:
        """The value of the largest weight of each column for its own sake."""
        start = self.lower.copy()
        for cell in range(self.system.n_named):
            values = self.lower[cell] + np.arange(self.width[cell] + 1)
            start[cell] = values[np.argmax(prior.log_weight(np.full(len(values), cell), values))]
        return start

    def _weights(self, prior: Prior, start: IntArray) -> list[FloatArray]:
        """Log weights of the values of each column, relative to that of one of them."""
        found = []
        for column in range(self.system.n_columns):
            values = self.lower[column] + np.arange(self.width[column] + 1)
            if column < self.system.n_named:
                cells = np.full(len(values), column)
                found.append(log_ratio(prior, cells, start[column], values))
            else:
                found.append(np.zeros(len(values)))
        return found

    def _flat(self, weights: list[FloatArray]) -> tuple[FloatArray, IntArray]:
        """Weights of the tail's columns one after another, and where each begins."""
        own = [weights[column] for column in self.tail]
        begin = np.cumsum([0, *map(len, own)]).astype(np.int64)
        return (np.concatenate(own) if own else np.zeros(0)), begin

    def _best(self, weights: list[FloatArray]) -> IntArray:
        """A point of the largest weight, the first of several that are alike."""
        logs, from_way = np.zeros(1), []
        for layer in self.layers:
            own = logs[layer.parent] + weights[layer.column][layer.value]
            logs = np.full(layer.n_children, -np.inf)
            np.maximum.at(logs, layer.child, own)
            close = np.flatnonzero(own >= logs[layer.child] - ALIKE)[::-1]
            way = np.zeros(layer.n_children, np.int64)
            way[layer.child[close]] = close  # the first way that is not below the best
            from_way.append(way)
        flat, begin = self._flat(weights)
        state, along = _heaviest_point.suited(self.n_points)(
            logs, self.first, self.direction, self.length, flat, begin
        )
        point = self.lower.copy()
        point[self.tail] += self.first[state] + along * self.direction
        for layer, way in zip(self.layers[::-1], from_way[::-1], strict=True):
            taken = way[state]
            point[layer.column] += layer.value[taken]
            state = layer.parent[taken]
        return point

    def _weighed(self, prior: Prior, start: IntArray) -> Posterior:
        """Sums by weights relative to those of the table `start`, whose log weight is zero."""
        weights = self._weights(prior, start)
        logs = [np.zeros(1)]
        for layer in self.layers:
            own = logs[-1][layer.parent] + weights[layer.column][layer.value]
            top = np.full(layer.n_children, -np.inf)
            np.maximum.at(top, layer.child, own)
            scaled = np.exp(own - top[layer.child])
            logs.append(top + np.log(np.bincount(layer.child, scaled, layer.n_children)))
        flat, begin = self._flat(weights)
        sums, mass = np.zeros(len(flat)), np.zeros(len(self.length))
        _add_lines.suited(self.n_points)(
            logs[-1],
            self.first,
            self.direction,
            self.length,
            flat,
            begin,
            self._room,
            sums,
            mass,
            LEAST_LOG if self.n_points <= MANY else NEGLIGIBLE_LOG,
        )
        total = fsum(mass)
        shares: list[FloatArray] = [np.ones(1) for _ in range(self.system.n_columns)]
        for t, column in enumerate(self.tail):
            shares[int(column)] = sums[begin[t] : begin[t + 1]]
        for layer, before, after in zip(self.layers[::-1], logs[-2::-1], logs[:0:-1], strict=True):
            own = before[layer.parent] + weights[layer.column][layer.value] - after[layer.child]
            along = mass[layer.child] * np.exp(own)
            size = int(self.width[layer.column]) + 1
            shares[layer.column] = np.asarray(np.bincount(layer.value, along, size), np.float64)
            mass = np.asarray(np.bincount(layer.parent, along, len(before)), np.float64)
        n, log_z = self.system.n_named, log(total)
        probabilities = [p / p.sum() for p in shares[:n]]
        pairs = list(zip(probabilities, weights, strict=False))
        inside = fsum(float(np.dot(p[p > 0], w[p > 0])) for p, w in pairs)
        largest = fsum(float(np.abs(w[p > NEGLIGIBLE]).max()) for p, w in pairs)
        return Posterior(
            system=self.system, prior=prior, lower=self.lower[:n].copy(),
            probabilities=probabilities, start=start[:n].copy(), log_relative=log_z,
            log_normaliser=fsum([*prior.log_weight(np.arange(n), start[:n]), log_z]),
            entropy=max(0.0, (log_z - inside) / log(2.0)),
            relative_error=EPSILON * (4.0 * largest + 4.0 * self.n_points + 16.0 * n),
        )  # fmt: skip


def lines_of(system: System, *, most_states: int = MOST_STATES) -> Lines | None:
    """The lines of a system, or None where its last columns have none.

    Raises BudgetExceeded where more states are reached.
    """
    if system.n_columns > MOST_COLUMNS or system.n_rows > MOST_ROWS:
        return None
    matrix = system.matrix.toarray().astype(np.int64)
    limits = _narrowed(matrix, system)
    if limits is None:
        return _none(system)
    lower, width = limits
    right = system.right - matrix @ lower
    free = np.flatnonzero(width > 0)
    named, slacks = free[free < system.n_named][::-1], free[free >= system.n_named]
    order = np.concatenate([named, slacks])
    if float(np.abs(matrix).max(initial=0)) * float(width.sum() + 1) > LARGEST:
        return None
    own = np.ascontiguousarray(matrix[:, order])
    tail = _tail(own.shape, own.tobytes())
    if tail is None:
        return None
    head, last = order[: tail.start], order[tail.start :]
    states, layers = _reached(matrix, right, width, head, order, most_states)
    first, length = tail.lines(states, width[last])
    return Lines(
        system=system, lower=lower, width=width, layers=tuple(layers), tail=last,
        first=first, direction=tail.direction, length=length,
    )  # fmt: skip


def _none(system: System) -> Lines:
    """No table at all."""
    nothing = np.zeros(0, np.int64)
    return Lines(
        system=system, lower=system.lower.copy(), width=np.zeros(system.n_columns, np.int64),
        layers=(), tail=nothing, first=np.zeros((1, 0), np.int64), direction=nothing,
        length=np.zeros(1, np.int64),
    )  # fmt: skip


def _narrowed(matrix: IntArray, system: System) -> tuple[IntArray, IntArray] | None:
    """Limits after each row was asked what it leaves to each column; None where nothing is left."""
    low, high = system.lower.copy(), system.upper.copy()
    rows = [(np.flatnonzero(row), row[row != 0], int(b))
            for row, b in zip(matrix, system.right, strict=True)]  # fmt: skip
    for _ in range(ROUNDS):
        before = low.copy(), high.copy()
        for columns, times, b in rows:
            if np.any(low > high):
                return None
            a, c = times * low[columns], times * high[columns]
            least, most = np.minimum(a, c), np.maximum(a, c)
            # times · x lies between what the others leave at most and at least
            down, up = b - (most.sum() - most), b - (least.sum() - least)
            ends = np.where(times > 0, down, up), np.where(times > 0, up, down)
            low[columns] = np.maximum(low[columns], -(-ends[0] // times))
            high[columns] = np.minimum(high[columns], ends[1] // times)
            if not len(columns) and b != 0:
                return None
        if np.any(low > high):
            return None
        if np.array_equal(before[0], low) and np.array_equal(before[1], high):
            break
    return low, high - low


@dataclass(frozen=True, slots=True)
class _Tail:
    """Columns from `start` on: a point for each right-hand side r by `solving` r / `divisor`, all
    others along `direction`; `nothing` r must be zero."""

    start: int
    direction: IntArray
    solving: IntArray
    divisor: int
    nothing: IntArray

    def lines(self, states: IntArray, width: IntArray) -> tuple[IntArray, IntArray]:
        """The first point of each state's line within the widths, and its number of points."""
        scaled = states @ self.solving.T
        base, left = scaled // self.divisor, scaled % self.divisor
        meets = ~np.any(left, axis=1) & ~np.any(states @ self.nothing.T, axis=1)
        low, high = np.full(len(states), -LARGEST), np.full(len(states), LARGEST)
        for t, step in enumerate(self.direction.tolist()):
            own, top = base[:, t], int(width[t])
            if step == 0:
                meets &= (own >= 0) & (own <= top)
            elif step > 0:
                low, high = np.maximum(low, -(own // step)), np.minimum(high, (top - own) // step)
            else:
                low = np.maximum(low, -((top - own) // -step))
                high = np.minimum(high, own // -step)
        if not np.any(self.direction):
            low, high = np.zeros_like(low), np.zeros_like(high)
        length = np.where(meets, np.maximum(high - low + 1, 0), 0)
        first = base + np.where(length > 0, low, 0)[:, None] * self.direction
        return first.astype(np.int64), length.astype(np.int64)


@lru_cache(maxsize=256)  # many factorisations of one S2 have the same equations
def _tail(shape: tuple[int, int], entries: bytes) -> _Tail | None:
    """The longest last columns that leave at most one direction free, and how they are solved."""
    matrix = np.frombuffer(entries, dtype=np.int64).reshape(shape)
    n_columns = matrix.shape[1]
    start = n_columns
    while start > 0 and n_columns - start + 1 - _rank(matrix[:, start - 1 :]) <= 1:
        start -= 1
    own = matrix[:, start:]
    free = _free_column(own)
    if free is None:
        return None
    column, direction = free
    kept = [t for t in range(own.shape[1]) if t != column]
    solved, nothing = _inverse(own[:, kept])
    divisor = lcm(*(x.denominator for row in solved for x in row), 1)
    rows = dict(zip(kept, solved, strict=True))
    none = [Fraction(0)] * own.shape[0]
    solving = _whole([rows.get(t, none) for t in range(own.shape[1])], divisor, own.shape[0])
    zero = _whole(
        [[x * lcm(*(y.denominator for y in row), 1) for x in row] for row in nothing],
        1, own.shape[0],
    )  # fmt: skip
    return _Tail(start, np.array(direction, np.int64), solving, divisor, zero)


def _whole(rows: list[list[Fraction]], times: int, width: int) -> IntArray:
    found = [[int(x * times) for x in row] for row in rows]
    return np.array(found, dtype=np.int64).reshape(len(rows), width)


def _rank(matrix: IntArray) -> int:
    solved, _ = _inverse(matrix)
    return sum(1 for row in solved if row)


def _inverse(matrix: IntArray) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """E with E A = 1 for columns that do not depend on those before (no row for one that does),
    and rows N with N A = 0; by exact elimination."""
    n_rows, n_columns = matrix.shape
    rows = [
        [Fraction(int(x)) for x in matrix[i]] + [Fraction(int(i == j)) for j in range(n_rows)]
        for i in range(n_rows)
    ]
    solved: list[list[Fraction]] = []
    pivot_rows: list[int] = []
    done = 0
    for column in range(n_columns):
        at = next((i for i in range(done, n_rows) if rows[i][column]), None)
        if at is None:
            solved.append([])
            pivot_rows.append(-1)
            continue
        rows[done], rows[at] = rows[at], rows[done]
        factor = rows[done][column]
        rows[done] = [x / factor for x in rows[done]]
        for i in range(n_rows):
            if i != done and rows[i][column]:
                times = rows[i][column]
                rows[i] = [x - times * y for x, y in zip(rows[i], rows[done], strict=True)]
        solved.append([])
        pivot_rows.append(done)
        done += 1
    for column, row in enumerate(pivot_rows):
        solved[column] = rows[row][n_columns:] if row >= 0 else []
    return solved, [row[n_columns:] for row in rows[done:]]


def _free_column(matrix: IntArray) -> tuple[int, list[int]] | None:
    """A column that moves by one along the only direction that A leaves free, and the direction;
    (−1, zeros) where none is free, None where no column moves by one."""
    n_columns = matrix.shape[1]
    rows = [[Fraction(int(x)) for x in row] for row in matrix]
    pivots: list[int] = []
    for column in range(n_columns):
        done = len(pivots)
        at = next((i for i in range(done, len(rows)) if rows[i][column]), None)
        if at is None:
            continue
        rows[done], rows[at] = rows[at], rows[done]
        rows[done] = [x / rows[done][column] for x in rows[done]]
        for i in range(len(rows)):
            if i != done and rows[i][column]:
                times = rows[i][column]
                rows[i] = [x - times * y for x, y in zip(rows[i], rows[done], strict=True)]
        pivots.append(column)
    others = [column for column in range(n_columns) if column not in pivots]
    if not others:
        return -1, [0] * n_columns
    direction = [Fraction(0)] * n_columns
    direction[others[0]] = Fraction(1)
    for row, column in zip(rows, pivots, strict=False):
        direction[column] = -row[others[0]]
    scale = lcm(*(x.denominator for x in direction))
    whole = [int(x * scale) for x in direction]
    common = gcd(*whole)
    whole = [x // common for x in whole]
    by_one = [column for column in range(n_columns) if abs(whole[column]) == 1]
    if not by_one:
        return None
    sign = whole[by_one[0]]
    return by_one[0], [sign * x for x in whole]


def _reached(
    matrix: IntArray,
    right: IntArray,
    width: IntArray,
    head: IntArray,
    order: IntArray,
    most_states: int,
) -> tuple[IntArray, list[_Layer]]:
    """The right-hand sides left behind the head's columns, and the ways to them."""
    times = matrix[:, order] * width[order]
    least = np.minimum(times, 0)[:, ::-1].cumsum(axis=1)[:, ::-1]
    most = np.maximum(times, 0)[:, ::-1].cumsum(axis=1)[:, ::-1]
    states, layers = right[None, :].copy(), []
    for k, column in enumerate(head.tolist()):
        after = k + 1 < len(order)
        rest = (least[:, k + 1], most[:, k + 1]) if after else (0 * right, 0 * right)
        low = np.zeros(len(states), np.int64)
        high = np.full(len(states), width[column])
        for row in np.flatnonzero(matrix[:, column]):
            factor = int(matrix[row, column])
            down, up = states[:, row] - rest[1][row], states[:, row] - rest[0][row]
            if factor < 0:
                factor, down, up = -factor, -up, -down
            low, high = np.maximum(low, -(-down // factor)), np.minimum(high, up // factor)
        number = np.maximum(high - low + 1, 0)
        total = int(number.sum())
        work(STATE_SECONDS * min(total, most_states))
        if total > most_states:
            raise BudgetExceeded(f"more than {most_states:,} states after {k + 1} cells")
        parent = np.repeat(np.arange(len(states)), number)
        value = np.arange(total) - np.repeat(np.cumsum(number) - number, number) + low[parent]
        left = states[parent] - value[:, None] * matrix[:, column]
        states, child = _joined(left)
        layers.append(_Layer(column, parent, value, child, len(states)))
    return states, layers


def _joined(left: IntArray) -> tuple[IntArray, IntArray]:
    """Different rows, and the one that each row is."""
    if not len(left):
        return left, np.zeros(0, np.int64)
    low = left.min(axis=0)
    size = (left.max(axis=0) - low + 1).tolist()
    factors, packed = [], 1
    for one in size:
        factors.append(packed)
        packed *= one
    if packed >= LARGEST:
        found, child = np.unique(left, axis=0, return_inverse=True)
        return found, child.ravel()
    keys = (left - low) @ np.array(factors, dtype=np.int64)
    _, at, child = np.unique(keys, return_index=True, return_inverse=True)
    return left[at], child.ravel()


def _added(at: IntArray, amounts: Whole, size: int) -> Whole:
    """Sums of whole numbers by place."""
    found: Whole = np.zeros(size, amounts.dtype)
    np.add.at(found, at, amounts)
    return found


def _share(numbers: Whole, whole: int) -> FloatArray:
    """Each number over the whole, by the division of whole numbers where floats do not hold it."""
    if numbers.dtype != object:
        shares: FloatArray = numbers / whole
        return shares
    return np.array([int(one) / whole for one in numbers])


def _runs(
    low: IntArray, high: IntArray, step: int, ways: Whole, length: IntArray, size: int
) -> Whole:
    """How often each value occurs, in so many ways, on runs low, low + step, … high."""
    if step == 0:
        return _added(low, ways * length, size)
    changes = _added(low, ways, size + step) - _added(high + step, ways, size + step)
    padded = np.concatenate([changes, np.zeros(-len(changes) % step, changes.dtype)])
    found: Whole = padded.reshape(-1, step).cumsum(axis=0).ravel()[:size]
    return found


@kernel()
def _weight_at(
    k: int,
    first: IntArray,
    direction: IntArray,
    weights: FloatArray,
    begin: IntArray,
) -> float:
    """The log weight of point k of a line."""
    found = 0.0
    for t in range(len(direction)):
        found += weights[begin[t] + first[t] + k * direction[t]]
    return found


@kernel()
def _peak(
    n: int,
    first: IntArray,
    direction: IntArray,
    weights: FloatArray,
    begin: IntArray,
) -> int:
    """The first of the heaviest points of a line of n points.

    Log weights are concave along a line, so that its steps only fall: the first step that is not up
    by more than rounding makes is found by halving.
    """
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) // 2
        here = _weight_at(middle, first, direction, weights, begin)
        if _weight_at(middle + 1, first, direction, weights, begin) > here + 1e-9:
            low = middle + 1
        else:
            high = middle
    return low


@kernel()
def _heaviest_point(
    logs: FloatArray,
    first: IntArray,
    direction: IntArray,
    length: IntArray,
    weights: FloatArray,
    begin: IntArray,
) -> tuple[int, int]:
    """The state and the place on its line of the point of the largest log weight.

    A later point must be above by more than rounding makes, so that of several that are alike the
    first is taken on every machine.
    """
    best, state, place = -np.inf, 0, 0
    for s in range(len(length)):
        if length[s] > 0:
            k = _peak(length[s], first[s], direction, weights, begin)
            own = logs[s] + _weight_at(k, first[s], direction, weights, begin)
            if own > best + 1e-9:
                best, state, place = own, s, k
    return state, place


@kernel()
def _add_lines(
    logs: FloatArray,
    first: IntArray,
    direction: IntArray,
    length: IntArray,
    weights: FloatArray,
    begin: IntArray,
    line: FloatArray,
    sums: FloatArray,
    mass: FloatArray,
    least: float,
) -> None:
    """Adds the weight of each point to the values that its columns have (`sums`), and to its state
    (`mass`); from the heaviest point of a line to both sides, until weights are as good as zero.

    `line` has room for the longest line. Column by column, since a loop over the points of one
    column is what processors are fast at.
    """
    for s in range(len(length)):
        if length[s] == 0:
            continue
        peak = _peak(length[s], first[s], direction, weights, begin)
        # the ends, by halving: the first and the last point that is not below `least`
        low, high = 0, peak
        while low < high:
            middle = (low + high) // 2
            if logs[s] + _weight_at(middle, first[s], direction, weights, begin) < least:
                low = middle + 1
            else:
                high = middle
        begins = low
        low, high = peak, length[s] - 1
        while low < high:
            middle = (low + high + 1) // 2
            if logs[s] + _weight_at(middle, first[s], direction, weights, begin) < least:
                high = middle - 1
            else:
                low = middle
        n = low - begins + 1
        line[:n] = logs[s]
        for t in range(len(direction)):
            at, step = begin[t] + first[s, t] + begins * direction[t], direction[t]
            for k in range(n):
                line[k] += weights[at]
                at += step
        inside = 0.0
        for k in range(n):
            line[k] = np.exp(line[k])
            inside += line[k]
        mass[s] = inside
        for t in range(len(direction)):
            at, step = begin[t] + first[s, t] + begins * direction[t], direction[t]
            if step == 0:
                sums[at] += inside
                continue
            for k in range(n):
                sums[at] += line[k]
                at += step
