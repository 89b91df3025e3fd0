"""Exact numbers of two-way tables with given row and column totals.

With four columns, cut into two pairs, a table is a choice of what each row gives to the first pair,
s, and a choice within each pair. Two columns with row totals s and column totals c, c' are as many
as there are ways to write c as a sum of r parts of which none is larger than s_i,

    N(s, c) = Σ over sets I of rows of (−1)^|I| C(c − Σ_I (s_i + 1) + r − 1, r − 1),

so that the number of tables is Σ_s N(s, c₁) N(R − s, c₃): one term for each s in place of a table.
"""

from itertools import combinations
from math import ceil, comb, log2, prod
from threading import Thread
from typing import Any

import numpy as np

from discreet.clock import watch_left, work
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.two_way_kernels import sum_over_pairs
from discreet.fiber.system.blocks import Block
from discreet.numerics.arrays import IntArray
from discreet.numerics.remainders import PRIMES, joined
from discreet.progress import heed

MAX_ROWS = 8  # 2^rows terms for each s
LARGEST = 2.0**52
STEPS_A_SECOND = 1e8  # sets of rows gone through, at least
PYTHON_STEP = 20.0  # steps that take as long as adding up one whole number of Python
MAX_PARTS = 2**21  # of them kept at one time
LOOK_EVERY = 0.05  # seconds between looks at the clock


def as_two_way(block: Block) -> tuple[IntArray, IntArray] | None:
    """Row and column totals where the block is a full two-way table without further limits."""
    matrix = block.matrix.tocsc()
    m, n = matrix.shape
    if matrix.nnz != 2 * n or not np.all(matrix.data == 1) or np.any(np.diff(matrix.indptr) != 2):
        return None
    first, second = matrix.indices.astype(np.int64).reshape(n, 2).T
    sides = _sides(m, first, second)
    if sides is None:
        return None
    rows, columns = np.flatnonzero(sides == 0), np.flatnonzero(sides == 1)
    full = (
        len(rows) * len(columns) == n == len({*zip(first.tolist(), second.tolist(), strict=True)})
    )
    free = np.all(block.upper >= np.minimum(block.right[first], block.right[second]))
    return (block.right[rows], block.right[columns]) if full and free else None


def _sides(n: int, first: IntArray, second: IntArray) -> IntArray | None:
    """The two sides of a bipartite graph in one piece, or None."""
    side = np.full(n, -1, dtype=np.int64)
    side[0] = 0
    for _ in range(4):
        for a, b in ((first, second), (second, first)):
            known = side[a] >= 0
            side[b[known]] = 1 - side[a[known]]
    return side if np.all(side >= 0) and np.all(side[first] != side[second]) else None


def count_two_way(rows: IntArray, columns: IntArray, *, budget: Budget) -> int | None:
    """How many two-way tables of whole numbers have these totals; None where that takes too long.

    Exact for one side of at most four: two by `bounded_parts`, three and four by the sum over s
    above. What it will take is known beforehand, terms · 2^rows, and is held against the steps and
    the seconds left. Raises BudgetExceeded where time runs out all the same.
    """
    if rows.sum() != columns.sum() or min(rows.min(), columns.min()) < 0:
        return 0
    sides = sorted((np.sort(rows), np.sort(columns)), key=len)
    if len(sides[0]) == 1:
        return 1
    if len(sides[0]) == 2:
        return bounded_parts(int(sides[0][0]), sides[1], budget=budget)
    found = [_plan(one, other) for one, other in (sides, sides[::-1]) if len(one) <= 4]
    plans = [(_n_sets(plan), plan) for plan in found if plan is not None]
    needed, plan = min(plans, key=lambda pair: pair[0], default=(0.0, None))
    if plan is None or not _fits(needed, budget):
        return None
    work(needed / STEPS_A_SECOND)
    return _summed(*plan[1:], budget)


def _n_sets(plan: tuple[float, IntArray, int, int, int]) -> float:
    """Sets of rows that are gone through for all s together."""
    return float(plan[0] * 2.0 ** len(plan[1]))


def _fits(steps: float, budget: Budget) -> bool:
    left = budget.seconds_left
    return steps <= budget.steps and (left is None or steps <= left * STEPS_A_SECOND)


def bounded_parts(total: int, limits: IntArray, *, budget: Budget) -> int | None:
    """Ways to write `total` as an ordered sum of whole numbers none of which exceeds its limit.

    By the sum over sets of limits above, where these are few, whatever the total; else by a running
    sum over all totals up to it. None where neither fits the budget.
    """
    n = len(limits)
    sets, sums = n * 2.0 ** min(n, 1000), n * (total + 1.0)
    if sets <= sums and 2.0**n <= MAX_PARTS and _fits(PYTHON_STEP * sets, budget):
        work(PYTHON_STEP * sets / STEPS_A_SECOND)
        return _parts_by_sets(total, limits)
    if total < MAX_PARTS and _fits(PYTHON_STEP * sums, budget):
        return _parts_by_sums(total, limits, budget)
    return None


def _parts_by_sets(total: int, limits: IntArray) -> int:
    """Σ over sets I of (−1)^|I| C(total − Σ_I (limit + 1) + n − 1, n − 1)."""
    signs = {total: 1}
    for limit in limits.tolist():
        for rest, sign in list(signs.items()):
            if rest > limit:
                signs[rest - limit - 1] = signs.get(rest - limit - 1, 0) - sign
    n = len(limits)
    return sum(sign * comb(rest + n - 1, n - 1) for rest, sign in signs.items())


def _parts_by_sums(total: int, limits: IntArray, budget: Budget) -> int:
    ways = [1] + [0] * total
    for limit in limits.tolist():
        budget.check_time("adding up the ways to fill rows")
        work(PYTHON_STEP * total / STEPS_A_SECOND)
        running, passed = 0, list(ways)
        for i in range(total + 1):
            running += passed[i] - (passed[i - limit - 1] if i > limit else 0)
            ways[i] = running
    return ways[total]


def _plan(columns: IntArray, rows: IntArray) -> tuple[float, IntArray, int, int, int] | None:
    """The pair of columns that leaves fewest s: terms, row limits, pair total, c₁, c₃ (−1: none).

    The largest row moves fastest. None where numbers would outgrow exact floats.
    """
    r, largest = len(rows), float(columns.max() + rows.max() + len(rows))
    if r > MAX_ROWS or 2.0**r * largest ** (r - 1) > LARGEST:
        return None
    pairs = combinations(range(len(columns)), 2) if len(columns) == 4 else ((0,), (1,), (2,))
    found = [_pair(columns, rows, set(pair)) for pair in pairs]
    return min(found, key=lambda plan: plan[0])


def _pair(
    columns: IntArray, rows: IntArray, pair: set[int]
) -> tuple[float, IntArray, int, int, int]:
    inside = [int(c) for i, c in enumerate(columns) if i in pair]
    outside = [int(c) for i, c in enumerate(columns) if i not in pair]
    one = min(inside) if len(inside) == 2 else -1
    total = sum(inside)
    terms = float(prod(min(int(r), total) + 1.0 for r in rows[:-1]))
    return terms, rows, total, one, min(outside)


def _summed(rows: IntArray, total: int, one: int, other: int, budget: Budget) -> int:
    def remainder(modulus: int) -> tuple[int, float]:
        arguments = (rows, total, one, other, np.uint64(modulus))
        residue, size = _watched(arguments, budget)
        return int(residue), float(size)

    residue, size = remainder(0)
    if size < 2.0**62:
        return residue
    moduli = list(PRIMES[: ceil((log2(size) - 62) / 30.9)])
    return joined([residue, *(remainder(p)[0] for p in moduli)], [2**64, *moduli])


def _watched(arguments: Any, budget: Budget) -> Any:
    """The sum over pairs, made beside this thread, which minds the clock and interruptions.

    A sum that is given up runs to its end unheeded: it is no longer than the budget's steps.
    """
    results: list[Any] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(sum_over_pairs(*arguments))
        except BaseException as failure:
            failures.append(failure)

    worker = Thread(target=run, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(LOOK_EVERY)
        if worker.is_alive():
            if watch_left() <= 0:
                raise BudgetExceeded("stopped by the clock while adding up pairs of columns")
            heed()
    if failures:
        raise failures[0]
    return results[0]
