"""The inner loops of the walk over consistent tables: random numbers, lines, loops, swaps.

Every kernel makes `thin` moves for each row of `kept`, into which it then copies the chosen cells,
and returns how many moves changed the table. `state` is the state of xoshiro256** (Blackman and
Vigna 2021), one for each chain. Log weights are looked up: log w_c(x) = values[start[c] + x] +
slope[c] · x; where `flat` is true they are all alike and nothing is looked up.

A *line* is the set of points x + t m within the limits; t is drawn from its exact distribution
given the line (a Gibbs step, so that nothing is rejected). On a line of more than WINDOW points the
draw is from a window of WINDOW points, spaced by a random power of two and laid at random over
the present point: given spacing and position the window is as probable from each of its points, so
that the step stays reversible.

The kernels stand in this one file, are compiled when first called, and release the interpreter
lock. They trust their caller: the table holds and lies within its limits, and indices are valid.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]
WINDOW = 64
TO_UNIT = 1.0 / 9007199254740992.0  # 2**-53
LOW_HALF = np.uint64(0xFFFFFFFF)
FIVE, SEVEN, NINE = np.uint64(5), np.uint64(7), np.uint64(9)
ELEVEN, SEVENTEEN = np.uint64(11), np.uint64(17)
TURN_7, TURN_45, REST_45 = np.uint64(57), np.uint64(45), np.uint64(19)
HALF = np.uint64(32)


class Limits(NamedTuple):
    """The least and the most that each column may be."""

    lower: Array
    upper: Array


class Weights(NamedTuple):
    """log w_c(x) = values[start[c] + x] + slope[c] · x, or all alike where `flat`."""

    flat: bool
    values: Array
    start: Array
    slope: Array


class Listed(NamedTuple):
    """Move i adds `steps` to `cells`, both from begin[i] to begin[i + 1]."""

    begin: Array
    cells: Array
    steps: Array


class Loops(NamedTuple):
    """Cuts of the variables and the cell offsets of their sides; see `_loop`."""

    cuts: Array
    offsets: Array


class Occupied(NamedTuple):
    """The occupied cells of a table, in any order, and which of their variables swap.

    Cell `cell_of[slot]` is in slot position[cell] (−1 if empty); `size[0]` slots are in use.
    parts[slot, variable] is what the cell's level adds to its number, free variables together in
    the last column. For each cut, variables of the separator stand in `same`, those to swap in
    `swapped`, both ended by −1, with a row of −1 last. `free` are the offsets of free variables.
    """

    cell_of: Array
    parts: Array
    position: Array
    size: Array
    same: Array
    swapped: Array
    free: Array


class Keep(NamedTuple):
    """Which cells to copy into the rows of `kept`, one row after every `thin` moves."""

    thin: int
    chosen: Array
    kept: Array


@njit(cache=True, nogil=True, forceinline=True)
def _bits(state: Array) -> Any:
    """64 random bits; xoshiro256**."""
    s1 = state[1]
    middle = s1 * FIVE
    answer = ((middle << SEVEN) | (middle >> TURN_7)) * NINE
    s2 = state[2] ^ state[0]
    s3 = state[3] ^ s1
    state[1] = s1 ^ s2
    state[0] ^= s3
    state[2] = s2 ^ (s1 << SEVENTEEN)
    state[3] = (s3 << TURN_45) | (s3 >> REST_45)
    return answer


@njit(cache=True, nogil=True, forceinline=True)
def _unit(state: Array) -> Any:
    """Uniform on [0, 1), 53 bits."""
    return np.float64(_bits(state) >> ELEVEN) * TO_UNIT


@njit(cache=True, nogil=True, forceinline=True)
def _below(state: Array, n: int) -> Any:
    """Uniform on 0 … n − 1: without bias below 2**32 (Lemire 2019), else to within n / 2**53."""
    if n >= 4294967296:
        return min(np.int64(_unit(state) * n), n - 1)
    size = np.uint64(n)
    product = (_bits(state) >> HALF) * size
    if (product & LOW_HALF) < size:
        least = (np.uint64(4294967296) - size) % size
        while (product & LOW_HALF) < least:
            product = (_bits(state) >> HALF) * size
    return np.int64(product >> HALF)


@njit(cache=True, nogil=True)
def draw_below(state: Array, sizes: Array, drawn: Array) -> None:
    """Fills `drawn` with numbers uniform below each of `sizes`; for tests of the generator."""
    for i in range(len(sizes)):
        drawn[i] = _below(state, sizes[i])


@njit(cache=True, nogil=True)
def draw_bits(state: Array, drawn: Array) -> None:
    """Fills `drawn` with 64 random bits each; for tests of the generator."""
    for i in range(len(drawn)):
        drawn[i] = _bits(state)


@njit(cache=True, nogil=True, forceinline=True)
def _line(
    x: Array,
    limits: Limits,
    cells: Array,
    steps: Array,
    first: int,
    last: int,
    weights: Weights,
    masses: Array,
    state: Array,
) -> Any:
    """Moves x along the move cells[first:last], steps[first:last]; whether it changed."""
    low, high = -4611686018427387904, 4611686018427387904
    for k in range(first, last):
        cell, step = cells[k], steps[k]
        up, down = limits.upper[cell] - x[cell], x[cell] - limits.lower[cell]
        if step == 1:
            high, low = min(high, up), max(low, -down)
        elif step == -1:
            high, low = min(high, down), max(low, -up)
        elif step > 0:
            high, low = min(high, up // step), max(low, -(down // step))
        else:
            high, low = min(high, down // -step), max(low, -(up // -step))
        if high == low:
            return False
    n = high - low + 1
    if weights.flat:
        t = low + _below(state, n)
    else:
        t = _drawn(x, cells, steps, first, last, low, high, weights, masses, state)
    if t == 0:
        return False
    for k in range(first, last):
        x[cells[k]] += t * steps[k]
    return True


@njit(cache=True, nogil=True, forceinline=True)
def _window(low: int, high: int, state: Array) -> Any:
    """Spacing, first and last point of a random window over the point 0 of the line low … high."""
    if high - low < WINDOW:
        return 1, low, high
    doublings, points = 1, WINDOW
    while points <= high - low:
        doublings += 1
        points *= 2
    spacing = 1 << _below(state, doublings)
    back = _below(state, WINDOW)
    ahead = WINDOW - 1 - back
    return spacing, -min(back, -low // spacing) * spacing, min(ahead, high // spacing) * spacing


@njit(cache=True, nogil=True, forceinline=True)
def _drawn(
    x: Array,
    cells: Array,
    steps: Array,
    first: int,
    last: int,
    low: int,
    high: int,
    weights: Weights,
    masses: Array,
    state: Array,
) -> Any:
    """t in low … high with probability ∝ ∏ w(x + t m), over the whole line or a random window."""
    spacing, low, high = _window(low, high, state)
    n = (high - low) // spacing + 1
    most = -np.inf
    for i in range(n):
        t = low + i * spacing
        total = 0.0
        for k in range(first, last):
            cell = cells[k]
            count = x[cell] + t * steps[k]
            total += weights.values[weights.start[cell] + count] + weights.slope[cell] * count
        masses[i] = total
        most = max(most, total)
    total = 0.0
    for i in range(n):
        total += np.exp(masses[i] - most)
        masses[i] = total
    mark = _unit(state) * total
    i = 0
    while i < n - 1 and masses[i] <= mark:
        i += 1
    return low + i * spacing


@njit(cache=True, nogil=True)
def walk_listed(
    x: Array,
    limits: Limits,
    moves: Listed,
    weights: Weights,
    state: Array,
    keep: Keep,
) -> int:
    """Moves from a list: move i is cells[begin[i]:begin[i + 1]] with the steps beside them."""
    masses = np.empty(WINDOW)
    begin, cells, steps = moves.begin, moves.cells, moves.steps
    n_moves, changed = len(begin) - 1, 0
    for row in range(len(keep.kept)):
        for _ in range(keep.thin):
            i = _below(state, n_moves)
            first, last = begin[i], begin[i + 1]
            if _line(x, limits, cells, steps, first, last, weights, masses, state):
                changed += 1
        for j in range(len(keep.chosen)):
            keep.kept[row, j] = x[keep.chosen[j]]
    return changed


@njit(cache=True, nogil=True, forceinline=True)
def _distinct(state: Array, n: int, size: int, drawn: Array) -> None:
    """Fills drawn[:n] with different numbers below `size`."""
    for k in range(n):
        again = True
        while again:
            drawn[k] = _below(state, size)
            again = False
            for j in range(k):
                if drawn[j] == drawn[k]:
                    again = True


@njit(cache=True, nogil=True, forceinline=True)
def _loop(
    state: Array, cut: Array, offsets: Array, rows: Array, columns: Array, cells: Array
) -> Any:
    """Writes the cells of a random loop, plus and minus by turns, and returns how many there are.

    `cut` holds where the offsets of separator, left side, right side and free variables begin and
    how many there are of each, and the longest loop: 1 stands for a pair of cells that differ in
    the free variables alone.
    """
    base = offsets[cut[0] + _below(state, cut[1])]
    longest = cut[8]
    if longest == 1:
        _distinct(state, 2, cut[7], columns)
        cells[0] = base + offsets[cut[6] + columns[0]]
        cells[1] = base + offsets[cut[6] + columns[1]]
        return 2
    length = 2
    while length < longest and (_bits(state) >> np.uint64(63)) == np.uint64(1):
        length += 1
    _distinct(state, length, cut[3], rows)
    _distinct(state, length, cut[5], columns)
    for k in range(length):
        row = base + offsets[cut[2] + rows[k]]
        cells[2 * k] = row + offsets[cut[4] + columns[k]]
        cells[2 * k + 1] = row + offsets[cut[4] + columns[(k + 1) % length]]
    if cut[7] > 1:
        for k in range(2 * length):
            cells[k] += offsets[cut[6] + _below(state, cut[7])]
    return 2 * length


@njit(cache=True, nogil=True)
def walk_loops(
    x: Array,
    limits: Limits,
    moves: Loops,
    weights: Weights,
    state: Array,
    keep: Keep,
) -> int:
    """Loops made at random inside a slice of a random cut of the variables; see `_loop`."""
    cuts, offsets = moves.cuts, moves.offsets
    longest = 2
    for i in range(len(cuts)):
        longest = max(longest, cuts[i, 8])
    masses, changed = np.empty(WINDOW), 0
    rows, columns = np.empty(longest, np.int64), np.empty(longest, np.int64)
    cells, steps = np.empty(2 * longest, np.int64), np.empty(2 * longest, np.int64)
    for k in range(2 * longest):
        steps[k] = 1 - 2 * (k % 2)
    for row in range(len(keep.kept)):
        for _ in range(keep.thin):
            cut = cuts[_below(state, len(cuts))]
            n = _loop(state, cut, offsets, rows, columns, cells)
            if _line(x, limits, cells, steps, 0, n, weights, masses, state):
                changed += 1
        for j in range(len(keep.chosen)):
            keep.kept[row, j] = x[keep.chosen[j]]
    return changed


@njit(cache=True, nogil=True)
def _partners(occupied: Occupied, cut: int, one: int, two: int) -> Any:
    """What swapping a cut's side adds to the first cell's number; 0 where the cells do not fit."""
    parts, same, swapped = occupied.parts, occupied.same, occupied.swapped
    k = 0
    while same[cut, k] >= 0:
        if parts[one, same[cut, k]] != parts[two, same[cut, k]]:
            return 0
        k += 1
    shift, k = 0, 0
    while swapped[cut, k] >= 0:
        shift += parts[two, swapped[cut, k]] - parts[one, swapped[cut, k]]
        k += 1
    return shift


@njit(cache=True, nogil=True)
def _swap_drawn(
    x: Array, cells: Array, n: int, n_occupied: int, weights: Weights, masses: Array, state: Array
) -> Any:
    """t for x + t (1, −1, 1, −1), ∏ w times the probability that this line is chosen at x + t.

    The line of four cells is chosen as the first and third or as the second and fourth, out of m²
    pairs of occupied cells; that of two cells out of m occupied ones.
    """
    low, high = -x[cells[0]], x[cells[1]]
    if n == 4:
        low, high = max(low, -x[cells[2]]), min(high, x[cells[3]])
    spacing, low, high = _window(low, high, state)
    for k in range(n):
        n_occupied -= x[cells[k]] > 0
    n_points, most = (high - low) // spacing + 1, -np.inf
    for i in range(n_points):
        t = low + i * spacing
        plus, minus, here, total = True, True, n_occupied, 0.0
        for k in range(n):
            cell = cells[k]
            count = x[cell] + (t if k % 2 == 0 else -t)
            here += count > 0
            if k % 2 == 0:
                plus = plus and count > 0
            else:
                minus = minus and count > 0
            if not weights.flat:
                total += weights.values[weights.start[cell] + count] + weights.slope[cell] * count
        chosen = np.float64(plus) + np.float64(minus)
        masses[i] = total
        masses[WINDOW + i] = chosen / here if n == 2 else chosen / (np.float64(here) * here)
        if chosen > 0:
            most = max(most, total)
    total = 0.0
    for i in range(n_points):
        factor = masses[WINDOW + i]
        if factor > 0:
            total += factor * (1.0 if weights.flat else np.exp(masses[i] - most))
        masses[i] = total
    mark, i = _unit(state) * total, 0
    while i < n_points - 1 and masses[i] <= mark:
        i += 1
    return low + i * spacing


@njit(cache=True, nogil=True)
def _enter(occupied: Occupied, cell: int, like: int, other: int, cut: int) -> None:
    """Adds a cell to the list: as `like`, with the swapped side of `other`."""
    slot = occupied.size[0]
    occupied.size[0] += 1
    occupied.cell_of[slot] = cell
    occupied.position[cell] = slot
    occupied.parts[slot] = occupied.parts[like]
    k = 0
    while occupied.swapped[cut, k] >= 0:
        variable = occupied.swapped[cut, k]
        occupied.parts[slot, variable] = occupied.parts[other, variable]
        k += 1


@njit(cache=True, nogil=True)
def _leave(occupied: Occupied, cell: int) -> None:
    """Takes a cell off the list; the last one moves to its place."""
    slot = occupied.position[cell]
    occupied.size[0] -= 1
    last = occupied.size[0]
    occupied.position[occupied.cell_of[last]] = slot
    occupied.position[cell] = -1
    occupied.cell_of[slot] = occupied.cell_of[last]
    occupied.parts[slot] = occupied.parts[last]


@njit(cache=True, nogil=True)
def walk_occupied(x: Array, occupied: Occupied, weights: Weights, state: Array, keep: Keep) -> int:
    """Lines through pairs of occupied cells that agree on a separator, for sparse tables.

    As the choice of the line depends on the table, its probability is part of what t is drawn by:
    ν(t) ∝ w(x + t m) · P(line | x + t m), with which w(x) P(line | x) ν(x') is symmetric.
    """
    masses, cells, changed = np.empty(2 * WINDOW), np.empty(4, np.int64), 0
    free, n_cuts, last = occupied.free, len(occupied.same) - 1, occupied.parts.shape[1] - 1
    n_kinds = n_cuts + (1 if len(free) > 1 else 0)
    for row in range(len(keep.kept)):
        for _ in range(keep.thin):
            cut = _below(state, n_kinds)
            one = _below(state, occupied.size[0])
            cells[0] = occupied.cell_of[one]
            two, n, to = one, 2, 0
            if cut == n_cuts:
                to = free[_below(state, len(free))]
                shift = to - occupied.parts[one, last]
            else:
                two, n = _below(state, occupied.size[0]), 4
                shift = _partners(occupied, cut, one, two)
                cells[2] = occupied.cell_of[two]
                cells[3] = cells[2] - shift
            cells[1] = cells[0] + shift
            if shift == 0 or (n == 4 and cells[1] == cells[2]):
                continue
            t = _swap_drawn(x, cells, n, occupied.size[0], weights, masses, state)
            if t == 0:
                continue
            changed += 1
            if x[cells[1]] == 0:
                _enter(occupied, cells[1], one, two, cut)
                if n == 2:
                    occupied.parts[occupied.size[0] - 1, last] = to
            if n == 4 and x[cells[3]] == 0:
                _enter(occupied, cells[3], two, one, cut)
            for k in range(n):
                x[cells[k]] += t if k % 2 == 0 else -t
                if x[cells[k]] == 0:
                    _leave(occupied, cells[k])
        for j in range(len(keep.chosen)):
            keep.kept[row, j] = x[keep.chosen[j]]
    return changed
