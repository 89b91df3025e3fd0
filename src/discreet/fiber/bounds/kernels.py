"""The loops behind cheap bounds: limits passed along rows, cells pushed.

`tighten` walks the limits of all columns: a row's sum is given, so that the least of its other
columns limits each of them from above and their most from below. Limits only ever narrow, and every
table that was within them stays so, wherever it stops. `push_cells` walks one consistent table
towards the limits of a cell: each move adds and takes away at the corners of a cube, which leaves
all released margins as they are, and what it attains proves nothing but that the bound is no
tighter.

They trust their caller for shapes and for limits below 2**53 in size. Sums are kept at ±2**62 when
they would leave it, and nothing is concluded from a sum so kept. Everything a kernel calls stands
in this file: the compiled cache does not notice a change in another one.
"""

from typing import Any

import numpy as np

from discreet.numerics.arrays import IntArray
from discreet.numerics.kernels import FEW, kernel

STABLE, UNSTABLE, CONTRADICTION = 0, 1, 2
CAP = 2**62
USUAL_ROUNDS = 10  # until limits stay as they are


@kernel()
def _clipped_term(coefficient: int, value: int) -> Any:
    """The product, kept within ±CAP."""
    term = float(coefficient) * float(value)
    if term >= CAP:
        return CAP
    if term <= -CAP:
        return -CAP
    return coefficient * value


@kernel()
def _clipped_sum(a: Any, b: int) -> Any:
    """The sum of two numbers within ±CAP, kept there; a clipped number stays what it is."""
    if a in {CAP, -CAP}:
        return a
    total = float(a) + float(b)
    if total >= CAP:
        return CAP
    if total <= -CAP:
        return -CAP
    return a + b


@kernel()
def _row_activity(
    start: int, stop: int, indices: Any, data: Any, lower: Any, upper: Any
) -> tuple[Any, Any]:
    """The least and the greatest value of a row within the limits of its columns."""
    least = most = np.int64(0)  # a bare 0 would be a type of its own, compiled for apart
    for k in range(start, stop):
        a, j = data[k], indices[k]
        low, high = (lower[j], upper[j]) if a > 0 else (upper[j], lower[j])
        least = _clipped_sum(least, _clipped_term(a, low))
        most = _clipped_sum(most, _clipped_term(a, high))
    return least, most


@kernel()
def _limit_column(
    a: int, low: int, high: int, right: int, least: int, most: int
) -> tuple[int, int]:
    """The limits of a column with coefficient `a`, given the least and most of its row.

    a·x = right − (the rest of the row), and the rest lies between least − min(a·x) and
    most − max(a·x).
    """
    at_least, at_most = (low, high) if a > 0 else (high, low)
    if least > -CAP:
        room = right - (least - a * at_least)  # a·x ≤ room
        if a > 0:
            high = min(high, room // a)
        else:
            low = max(low, -(room // -a))
    if most < CAP:
        need = right - (most - a * at_most)  # a·x ≥ need
        if a > 0:
            low = max(low, -(-need // a))
        else:
            high = min(high, -need // -a)
    return low, high


@kernel()
def tighten(
    indptr: Any, indices: Any, data: Any, right: Any, lower: Any, upper: Any, max_rounds: int
) -> tuple[int, int]:
    """Narrows `lower` and `upper` in place by each row in turn until nothing changes.

    Returns STABLE, UNSTABLE when the rounds ran out first, or CONTRADICTION with the row at which
    no point was left. Limits are valid at any moment.
    """
    for _ in range(max_rounds):
        changed = False
        for i in range(len(right)):
            start, stop = indptr[i], indptr[i + 1]
            least, most = _row_activity(start, stop, indices, data, lower, upper)
            if least > right[i] or most < right[i]:
                return CONTRADICTION, i
            if least == most:
                continue
            for k in range(start, stop):
                j = indices[k]
                low, high = _limit_column(data[k], lower[j], upper[j], right[i], least, most)
                if low > lower[j] or high < upper[j]:
                    changed = True
                    lower[j], upper[j] = low, high
                    if low > high:
                        return CONTRADICTION, i
                    # the row's own sums moved with the limits of this column
                    least, most = _row_activity(start, stop, indices, data, lower, upper)
        if not changed:
            return STABLE, -1
    return UNSTABLE, -1


@kernel()
def leading_rows(gram: Any, tolerance: float) -> tuple[Any, Any]:
    """Rows that do not depend on rows before them, and each other row as a combination of them.

    `gram` holds the inner products of the rows. A Cholesky factor that passes over dependent rows,
    in floating point: a proposal to be proved.
    """
    n = len(gram)
    factor, weights = np.zeros((n, n)), np.zeros((n, n))
    kept = np.empty(n, dtype=np.int64)
    rank = 0
    for i in range(n):
        left = gram[i, i]
        for k in range(rank):
            total = gram[i, kept[k]]
            for m in range(k):
                total -= factor[rank, m] * factor[k, m]
            factor[rank, k] = total / factor[k, k]
            left -= factor[rank, k] ** 2
        if left > tolerance:
            factor[rank, rank] = np.sqrt(left)
            kept[rank] = i
            rank += 1
            continue
        for k in range(rank - 1, -1, -1):  # solve factorᵀ · weights = the new row of the factor
            weights[i, k] = factor[rank, k] / factor[k, k]
            for m in range(k):
                factor[rank, m] -= factor[k, m] * weights[i, k]
    return kept[:rank].copy(), weights[:, :rank].copy()


@kernel()
def _random(state: Any, below: int) -> Any:
    """A whole number from 0 to below − 1 (xorshift; evenly enough for a search)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64((x >> np.uint64(33)) % np.uint64(below))


@kernel()
def _cube(base: int, axes: Any, sizes: Any, strides: Any, state: Any, corners: Any) -> int:
    """Fills the corners of a cube over some axes, from a cell to random other levels.

    A corner stands at even position parity (number of axes changed) with sign +, at odd with −.
    """
    corners[0] = base
    n = 1
    for axis in axes:
        level = (base // strides[axis]) % sizes[axis]
        other = (level + 1 + _random(state, sizes[axis] - 1)) % sizes[axis]
        for k in range(n):
            corners[n + k] = corners[k] + (other - level) * strides[axis]
        n *= 2
    return n


@kernel()
def _odd(k: int) -> bool:
    """Whether a corner differs from the first in an odd number of axes."""
    parity = False
    while k:
        parity = not parity
        k &= k - 1
    return parity


@kernel()
def _rooms(table: Any, corners: Any, n: int) -> tuple[int, int]:
    """How far a move can go forward (even corners gain) and back, no cell below zero."""
    forward = back = np.iinfo(np.int64).max
    for k in range(n):
        if _odd(k):
            forward = min(forward, table[corners[k]])
        else:
            back = min(back, table[corners[k]])
    return forward, back


@kernel()
def _apply(table: Any, least: Any, most: Any, corners: Any, n: int, step: int) -> None:
    for k in range(n):
        cell = corners[k]
        table[cell] += -step if _odd(k) else step
        least[cell] = min(least[cell], table[cell])
        most[cell] = max(most[cell], table[cell])


@kernel()
def push_cells(
    table: Any,
    least: Any,
    most: Any,
    lower: Any,
    upper: Any,
    wanted: Any,
    first_axis: Any,
    axes: Any,
    sizes: Any,
    strides: Any,
    steps: int,
    state: Any,
) -> None:
    """Pushes each wanted cell up, then down, until its limit is seen or `steps` moves are made.

    Every second move starts at the cell and goes as far as it can; the others start anywhere, go
    any length, and are passed over where they would push the cell the wrong way. Cube i has axes
    axes[first_axis[i]:first_axis[i + 1]]. Keeps `least` and `most` of all cells up to date.
    """
    corners = np.empty(64, dtype=np.int64)  # cubes over up to six axes
    for cell in wanted:
        for up in (True, False):
            for step in range(steps):
                if most[cell] == upper[cell] if up else least[cell] == lower[cell]:
                    break
                cube = _random(state, len(first_axis) - 1)
                chosen = axes[first_axis[cube] : first_axis[cube + 1]]
                base = cell if step % 2 == 0 else _random(state, len(table))
                n = _cube(base, chosen, sizes, strides, state, corners)
                forward, back = _rooms(table, corners, n)
                if step % 2 == 0:
                    _apply(table, least, most, corners, n, forward if up else -back)
                    continue
                if forward + back == 0:
                    continue
                far = _random(state, forward + back + 1) - back
                before = table[cell]
                _apply_if_not_wrong(table, least, most, corners, n, far, cell, before, up)


@kernel()
def _apply_if_not_wrong(
    table: Any,
    least: Any,
    most: Any,
    corners: Any,
    n: int,
    step: int,
    cell: int,
    before: int,
    up: bool,
) -> None:
    """Makes a move unless it pushes the cell down when it is to go up, or the reverse."""
    for k in range(n):
        if corners[k] == cell:
            after = before + (-step if _odd(k) else step)
            if (after < before) if up else (after > before):
                return
    _apply(table, least, most, corners, n, step)


def tightened(
    matrix: Any, right: IntArray, lower: IntArray, upper: IntArray, max_rounds: int = 1000
) -> tuple[IntArray, IntArray, int, int]:
    """New limits of all columns, how it ended, and the row of a contradiction."""
    layout = (matrix.indptr, matrix.indices, matrix.data, right, lower, upper)
    lengths = np.diff(matrix.indptr).astype(np.int64)  # a row is added up anew after each change
    rounds = min(max_rounds, FEW // max(int(lengths @ lengths), 1))
    low, high, ended, row = lower, upper, UNSTABLE, -1
    usual = min(rounds, USUAL_ROUNDS) * lengths @ lengths
    if tighten.is_loaded or tighten.suited(usual) is not tighten.plain:
        rounds = 0
    if rounds:  # a small system: lists are faster than arrays read one by one
        lists: list[Any] = [array.tolist() for array in layout]
        plain: Any = tighten.plain
        ended, row = plain(*lists, rounds)
        low, high = (np.array(limits, dtype=np.int64) for limits in lists[-2:])
    if ended == UNSTABLE and rounds < max_rounds:
        arrays = [array.astype(np.int64) for array in (*layout[:4], low, high)]
        compiled: Any = tighten.compiled
        ended, row = compiled(*arrays, max_rounds - rounds)
        low, high = arrays[-2:]
    return low, high, int(ended), int(row)
