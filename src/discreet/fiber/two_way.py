"""Exact numbers of two-way tables with given row and column totals.

With four columns, cut into two pairs, a table is a choice of what each row gives to the first pair,
s, and a choice within each pair. Two columns with row totals s and column totals c, c' are as many
as there are ways to write c as a sum of r parts of which none is larger than s_i,

    N(s, c) = Σ over sets I of rows of (−1)^|I| C(c − Σ_I (s_i + 1) + r − 1, r − 1),

so that the number of tables is Σ_s N(s, c₁) N(R − s, c₃): one term for each s in place of a table.
"""

from itertools import combinations
from math import ceil, log2, prod

import numpy as np

from discreet.data.arrays import IntArray
from discreet.fiber.remainders import PRIMES, joined
from discreet.fiber.splitting import Block
from discreet.fiber.two_way_kernels import sum_over_pairs

MAX_ROWS = 8  # 2^rows terms for each s
LARGEST = 2.0**52


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


def count_two_way(rows: IntArray, columns: IntArray, *, max_terms: int) -> int | None:
    """How many two-way tables of whole numbers have these totals; None where that takes too long.

    Exact for one side of at most four: two by a running sum over the other side, three and four by
    the sum over s above, if it has at most `max_terms`.
    """
    if rows.sum() != columns.sum() or min(rows.min(), columns.min()) < 0:
        return 0
    sides = sorted((np.sort(rows), np.sort(columns)), key=len)
    if len(sides[0]) == 1:
        return 1
    if len(sides[0]) == 2:
        return bounded_parts(int(sides[0][0]), sides[1]) if sides[0][0] <= max_terms else None
    found = [_plan(one, other) for one, other in (sides, sides[::-1]) if len(one) <= 4]
    plans = [plan for plan in found if plan is not None and plan[0] <= max_terms]
    return _summed(*min(plans, key=lambda plan: plan[0])[1:]) if plans else None


def bounded_parts(total: int, limits: IntArray) -> int:
    """Ways to write `total` as an ordered sum of whole numbers none of which exceeds its limit."""
    ways = [1] + [0] * total
    for limit in limits.tolist():
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


def _summed(rows: IntArray, total: int, one: int, other: int) -> int:
    residue, size = sum_over_pairs(rows, total, one, other, np.uint64(0))
    if size < 2.0**62:
        return int(residue)
    moduli = list(PRIMES[: ceil((log2(size) - 62) / 30.9)])
    others = [int(sum_over_pairs(rows, total, one, other, np.uint64(p))[0]) for p in moduli]
    return joined([int(residue), *others], [2**64, *moduli])
