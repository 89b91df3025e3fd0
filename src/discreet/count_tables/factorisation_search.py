"""Every factorisation of e^S2 that a rounded S2 allows, by a search from the largest prime down.

S2 = Σ exponent · log p. Logarithms are taken as whole numbers of 10^−(d + 30), so that whether a
factorisation lies in the interval is decided beyond doubt. Exponents are searched for within limits
that linear programming sets from n, S1 and the interval, and such that e^S2 can be a product of
factorials.
"""

import math
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from itertools import combinations

import numpy as np

from discreet.clock import work
from discreet.count_tables.contradictions import contradiction, is_below
from discreet.count_tables.factorials import (
    factorial_exponent,
    least_table,
    log_of_factorisation,
    primes_to,
)
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.statistics import DecimalLog
from discreet.errors import InputError, must_be
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.progress import heed

MOST_NODES = 1_000_000
LOOKED = 256  # choices between looks at the clock
NODE_SECONDS = 4e-5  # a choice of an exponent, with the range of the next
MOST_BY_VERTICES = 40  # values up to which all corners of a linear program are looked at
LARGEST_SEARCHED = 200  # value up to which tables are looked for behind a rounded S2
GUARD = 30  # decimals beyond those released


def factorisations(
    n: int | None,
    total: int,
    released: DecimalLog,
    knowledge: Knowledge | None = None,
    *,
    max_nodes: int = MOST_NODES,
    tick: Callable[[], None] = lambda: None,
) -> Iterator[dict[int, int]]:
    """Every factorisation that n counts with this total and an S2 in the interval may have.

    Where n is None, that of any number of counts that is not known to be wrong. Those that
    contradict themselves at sight are left out; whether a table has one is not asked. `tick` is
    called now and then and may raise. Raises BudgetExceeded after `max_nodes` steps.
    """
    knowledge = knowledge or Knowledge()
    numbers = number_range(n, total, knowledge)
    largest = largest_value(numbers[1], total, released, knowledge)
    if largest < 0:
        return
    search = _Search.of(numbers, total, released, knowledge, largest, max_nodes, tick)
    most = least_table(numbers[1], total)
    for exponents in search.run():
        if contradiction(n, total, exponents) is None and not is_below(exponents, most):
            yield exponents


def number_range(n: int | None, total: int, knowledge: Knowledge) -> tuple[int, int]:
    """n twice, or its known range, or without one that of the counts above zero."""
    if n is not None:
        return n, n
    return knowledge.n or (1, max(1, total))


class _Search:
    """Exponents prime by prime, from the largest prime down to 2, with limits on each."""

    def __init__(
        self,
        primes: list[int],
        logs: list[int],
        limits: list[tuple[int, int]],
        interval: tuple[int, int],
        max_nodes: int,
        tick: Callable[[], None],
    ) -> None:
        self._tick = tick
        self._primes, self._logs, self._limits = primes, logs, limits
        self._low, self._high = interval
        self._left = max_nodes
        self._max_nodes = max_nodes

    @classmethod
    def of(
        cls,
        numbers: tuple[int, int],
        total: int,
        released: DecimalLog,
        knowledge: Knowledge,
        largest: int,
        max_nodes: int,
        tick: Callable[[], None],
    ) -> "_Search":
        """A search among primes up to the largest value."""
        primes = primes_to(largest)[::-1] or [2]
        scale = released.decimals + GUARD
        limits = _exponent_limits(numbers, total, released, knowledge, largest, primes)
        logs = [_scaled(log_of_factorisation({p: 1}, scale + 2), scale) for p in primes]
        with localcontext() as context:  # limits with all their digits
            context.prec = 60 + scale + len(released.value.as_tuple().digits)
            interval = (_scaled(released.low, scale), _scaled(released.high, scale))
        return cls(primes, logs, limits, interval, max_nodes, tick)

    def run(self) -> Iterator[dict[int, int]]:
        """All choices of exponents whose S2 lies in the interval."""
        if any(low > high for low, high in self._limits):
            return
        yield from self._deeper(0, 0, {})

    def _deeper(self, k: int, log: int, chosen: dict[int, int]) -> Iterator[dict[int, int]]:
        self._left -= 1
        if self._left % LOOKED == 0:
            work(LOOKED * NODE_SECONDS)
            self._tick()
        if self._left < 0:
            message = f"more than {self._max_nodes:,} choices of exponents fit this S2"
            raise BudgetExceeded(f"{message}; state the largest value or more decimals")
        low, high = self._range(k, log, chosen)
        last = k == len(self._primes) - 1
        for exponent in range(low, high + 1):
            p = self._primes[k]
            more = chosen | {p: exponent} if exponent else chosen
            if last:
                yield more
            else:
                yield from self._deeper(k + 1, log + exponent * self._logs[k], more)

    def _range(self, k: int, log: int, chosen: dict[int, int]) -> tuple[int, int]:
        """The exponents of prime k that leave the interval within reach."""
        least = [self._least(i, chosen) for i in range(k, len(self._primes))]
        rest_low = sum(e * self._logs[k + 1 + i] for i, e in enumerate(least[1:]))
        rest_high = sum(self._limits[i][1] * self._logs[i] for i in range(k + 1, len(self._primes)))
        high = min(self._limits[k][1], (self._high - 1 - log - rest_low) // self._logs[k])
        low = max(least[0], -((log + rest_high - self._low) // self._logs[k]))
        return low, high

    def _least(self, i: int, chosen: dict[int, int]) -> int:
        """e_q is at least e_p times the exponent of q in p!, for every larger prime p."""
        q = self._primes[i]
        implied = (e * factorial_exponent(p, q) for p, e in chosen.items())
        return max(self._limits[i][0], max(implied, default=0))


def _scaled(number: Decimal, decimals: int) -> int:
    with localcontext() as context:
        context.prec = 60 + decimals + len(number.as_tuple().digits)
        return int(number.scaleb(decimals).to_integral_value())


def largest_value(n: int, total: int, released: DecimalLog, knowledge: Knowledge) -> int:
    """The largest value that n counts with this total and an S2 not above the interval can have."""
    if n < 1:
        raise InputError(must_be("n", "at least 1", n))
    if total < 1:
        why = "all observations are zero, which S1 = 0 gives away: there is nothing to fit"
        raise InputError(must_be("total", "above zero", total, remedy=why))
    most = total if knowledge.largest_range is None else min(total, knowledge.largest_range[1])
    high = float(released.high) + 1e-6
    found = -1
    for j in range(most + 1):
        heed()
        if _least_log(n, total, j) <= high:
            found = j
        if j > LARGEST_SEARCHED and found == j:
            message = f"values above {LARGEST_SEARCHED} fit this S2"
            raise BudgetExceeded(f"{message}; state the largest value")
        if math.lgamma(j + 1) > high:
            break
    return found


def _least_log(n: int, total: int, value: int) -> float:
    """The least S2 of n counts with this total, one of which has the value."""
    if n == 1:
        return math.lgamma(value + 1) if value == total else math.inf
    rest = least_table(n - 1, total - value) if total > value else {}
    return math.lgamma(value + 1) + sum(c * math.lgamma(x + 1) for x, c in rest.items())


def _exponent_limits(
    numbers: tuple[int, int],
    total: int,
    released: DecimalLog,
    knowledge: Knowledge,
    largest: int,
    primes: list[int],
) -> list[tuple[int, int]]:
    """The least and the greatest exponent of each prime, by linear programming over tables."""
    if numbers[0] == numbers[1] and not knowledge.cells and largest <= MOST_BY_VERTICES:
        return _limits_by_vertices(numbers[0], total, released, largest, primes)
    from scipy.optimize import linprog  # slow to load

    values = np.arange(largest + 1)
    log_factorials = np.array([math.lgamma(j + 1) for j in values])
    bounds = [
        (0, numbers[1]) if j not in knowledge.cells else knowledge.cells[int(j)] for j in values
    ]
    slack = 1e-6
    limits = np.array(
        [float(released.high) + slack, -float(released.low) + slack, numbers[1], -numbers[0]]
    )
    ones = np.ones(largest + 1)

    def optimum(p: int, sign: int) -> int:
        heed()
        times = np.array([factorial_exponent(int(j), p) for j in values], dtype=np.float64)
        solved = linprog(
            sign * times,
            A_ub=np.stack([log_factorials, -log_factorials, ones, -ones]),
            b_ub=limits,
            A_eq=values.astype(np.float64)[None, :],
            b_eq=np.array([total]),
            bounds=bounds,
            method="highs",
        )
        if solved.status == 2:
            return sign
        if solved.status != 0 or solved.fun is None:
            return 0 if sign > 0 else factorial_exponent(total, p)
        margin = 1e-6 * (1 + abs(solved.fun))
        return math.ceil(solved.fun - margin) if sign > 0 else math.floor(-solved.fun + margin)

    return [(max(0, optimum(p, 1)), optimum(p, -1)) for p in primes]


def _limits_by_vertices(
    n: int, total: int, released: DecimalLog, largest: int, primes: list[int]
) -> list[tuple[int, int]]:
    """The same where n is out and nothing is known of cells, from the corners of the program."""
    cells = _corners(n, total, released, largest)
    if not len(cells):
        return [(1, -1) for _ in primes]
    found = []
    for p in primes:
        times = [float(factorial_exponent(j, p)) for j in range(largest + 1)]
        sums = cells @ np.array(times)
        low, high = float(sums.min()), float(sums.max())
        found.append(
            (max(0, math.ceil(low - 1e-6 * (1 + low))), math.floor(high + 1e-6 * (1 + high)))
        )
    return found


def cell_limits(
    n: int, total: int, released: DecimalLog, largest: int
) -> tuple[IntArray, IntArray] | None:
    """The least and the greatest count of each value that n, S1 and S2 leave, by linear programming
    over tables of real numbers: no table lies outside. None where values are too many."""
    if largest > MOST_BY_VERTICES:
        return None
    cells = _corners(n, total, released, largest)
    if not len(cells):
        return None
    margin = 1e-6 * (1 + cells.max())
    low, high = np.ceil(cells.min(axis=0) - margin), np.floor(cells.max(axis=0) + margin)
    return np.maximum(low, 0).astype(np.int64), high.astype(np.int64)


def _corners(n: int, total: int, released: DecimalLog, largest: int) -> FloatArray:
    """The corners of all tables of real numbers with n, S1 and an S2 in the interval.

    Corners of f ≥ 0 with the equations of n, S1 and S2 have at most three cells above zero, those
    of the first two alone at most two. All are looked at, with S2 at either end of its interval;
    pairs whose S2 lies within it are corners too.
    """
    values = np.arange(largest + 1.0)
    logs = np.array([math.lgamma(j + 1) for j in values])
    slack = 1e-6
    ends = float(released.low) - slack, float(released.high) + slack
    points = [_pairs(n, total, values, logs, ends)]
    if largest >= 2:
        points += [_triples(n, total, values, logs, end) for end in ends]
    return np.concatenate(points)


def _pairs(
    n: int, total: int, values: FloatArray, logs: FloatArray, ends: tuple[float, float]
) -> FloatArray:
    """Tables of real numbers with two values that have n, S1 and an S2 between the ends."""
    i, j = np.triu_indices(len(values), 1)
    above = (total - n * values[i]) / (values[j] - values[i])
    below = n - above
    s2 = above * logs[j] + below * logs[i]
    kept = (above >= -1e-9 * n) & (below >= -1e-9 * n) & (s2 >= ends[0]) & (s2 <= ends[1])
    found = np.zeros((int(kept.sum()), len(values)))
    rows = np.arange(len(found))
    found[rows, i[kept]], found[rows, j[kept]] = below[kept], above[kept]
    return found


def _triples(n: int, total: int, values: FloatArray, logs: FloatArray, s2: float) -> FloatArray:
    """Tables of real numbers with three values that have n, S1 and this S2."""
    chosen = np.array(list(combinations(range(len(values)), 3)))
    rows = np.stack([np.ones_like(values), values, logs])[:, chosen].transpose(1, 0, 2)
    usable = np.abs(np.linalg.det(rows)) > 1e-12
    right = np.array([float(n), float(total), s2])
    cells = np.linalg.solve(rows[usable], np.broadcast_to(right, (int(usable.sum()), 3))[..., None])
    kept = (cells[..., 0] >= -1e-9 * n).all(axis=1)
    found = np.zeros((int(kept.sum()), len(values)))
    np.put_along_axis(found, chosen[usable][kept], cells[kept][..., 0], axis=1)
    return found
