"""The inner loops of the walk over consistent tables: random numbers, lines, loops, swaps.

The state of a chain is one consistent table x, changed in place. A move adds t times an integer
vector m that leaves every released sum as it is, so that each table met is consistent; which m is
tried next does not depend on x (`walk_listed`, `walk_loops`) or enters the draw of t with its
probability (`walk_occupied`), so that the distribution ∏ w_c(x_c) is kept. That the moves connect
all consistent tables is for the caller to show: see `moves`.

Every kernel makes `thin` moves for each row of `kept`, into which it then copies the chosen cells,
and returns how many moves changed the table. `state` is the state of xoshiro256** (Blackman and
Vigna 2021), one for each chain. Log weights are looked up: log w_c(x) = values[start[c] + x] +
slope[c] · x; where `flat` is true they are all alike and nothing is looked up.

A *line* is the set of points x + t m within the limits; t is drawn from its exact distribution
given the line (a Gibbs step, so that nothing is rejected). On a line of more than WINDOW points the
draw is from a window of WINDOW points, spaced by a random power of two and laid at random over
the present point: given spacing and position the window is as probable from each of its points, so
that the step stays reversible.

The kernels stand in this one file (Numba does not compile a kernel again when a function of another
file changes), are compiled when first called, and release the interpreter lock. The innermost
`…_burst` loops are written out, with their arrays as single arguments and the generator's state in
four numbers: as soon as arrays are handed to functions inside a loop, references are counted there,
which costs several times the move itself. Only what happens on few moves is in functions. They
trust their caller: the table holds and lies within its limits, and indices are valid.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.numerics.kernels import kernel

Array = NDArray[Any]
WINDOW = 64  # points of a line that are weighed at most; a longer one is drawn from in parts
FAR = 4611686018427387904  # 2**62: beyond every count, with room for sums
TO_UNIT = 1.0 / 9007199254740992.0  # 2**-53
# Constants of xoshiro256** as uint64: mixed with int64 the words would become floats or signed.
FIVE, SEVEN, NINE = np.uint64(5), np.uint64(7), np.uint64(9)
ELEVEN, SEVENTEEN = np.uint64(11), np.uint64(17)
TURN_7, TURN_45, REST_45 = np.uint64(57), np.uint64(45), np.uint64(19)


class CellLimits(NamedTuple):
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


@kernel(error_model="numpy", forceinline=True)
def _scrambled(s1: int) -> Any:
    """64 random bits of the present state of xoshiro256**."""
    middle = s1 * FIVE
    return ((middle << SEVEN) | (middle >> TURN_7)) * NINE


@kernel(error_model="numpy", forceinline=True)
def _advanced(s0: int, s1: int, s2: int, s3: int) -> Any:
    """The next state of xoshiro256**."""
    t2, t3 = s2 ^ s0, s3 ^ s1
    return s0 ^ t3, s1 ^ t2, t2 ^ (s1 << SEVENTEEN), (t3 << TURN_45) | (t3 >> REST_45)


@kernel(error_model="numpy", forceinline=True)
def _scaled(bits: int, n: int) -> Any:
    """Uniform on 0 … n − 1 from 64 random bits, to within n / 2**53."""
    return min(np.int64(np.float64(bits >> ELEVEN) * TO_UNIT * n), n - 1)


@kernel(error_model="numpy", forceinline=True)
def _bits(state: Array) -> Any:
    """64 random bits from a state in an array."""
    answer = _scrambled(state[1])
    state[0], state[1], state[2], state[3] = _advanced(state[0], state[1], state[2], state[3])
    return answer


@kernel(error_model="numpy", forceinline=True)
def _unit(state: Array) -> Any:
    """Uniform on [0, 1), 53 bits."""
    return np.float64(_bits(state) >> ELEVEN) * TO_UNIT


@kernel(error_model="numpy", forceinline=True)
def _below(state: Array, n: int) -> Any:
    """Uniform on 0 … n − 1."""
    return _scaled(_bits(state), n)


@kernel(error_model="numpy", forceinline=True)
def _reach(
    x: Array, lower: Array, upper: Array, cells: Array, steps: Array, first: int, last: int
) -> Any:
    """The least and the greatest t for which x + t (the move from first to last) keeps limits."""
    low, high = -FAR, FAR
    for k in range(first, last):
        cell, step = cells[k], steps[k]
        up, down = upper[cell] - x[cell], x[cell] - lower[cell]
        if step < 0:
            up, down, step = down, up, -step
        if step > 1:
            up, down = up // step, down // step
        high, low = min(high, up), max(low, -down)
        if high == low:  # t = 0 alone: neither side can open again
            break
    return low, high


@kernel(error_model="numpy", forceinline=True)
def _window(low: int, high: int, bits: int, more_bits: int) -> Any:
    """Spacing, first and last point of a random window over the point 0 of the line low … high."""
    # Spacings up to about the line's length over WINDOW, each as likely: fine windows find the peak
    # of the distribution, coarse ones cross the line in one move.
    doublings, points = 0, WINDOW
    while points <= high - low:
        doublings += 1
        points *= 2
    if doublings == 0:
        return 1, low, high
    spacing = 1 << _scaled(bits, doublings + 1)
    # The present point has each place in the window with the same chance, and is cut off with it
    # at the ends of the line: from any of its points the same window is as probable.
    back = _scaled(more_bits, WINDOW)
    ahead = WINDOW - 1 - back
    return spacing, -min(back, -low // spacing) * spacing, min(ahead, high // spacing) * spacing


@kernel(error_model="numpy")
def _drawn(
    x: Array,
    cells: Array,
    steps: Array,
    first: int,
    last: int,
    low: int,
    high: int,
    values: Array,
    start: Array,
    slope: Array,
    masses: Array,
    state: Array,
) -> Any:
    """t in low … high with probability ∝ ∏ w(x + t m), over the whole line or a random window."""
    spacing, low, high = _window(low, high, _bits(state), _bits(state))
    n = (high - low) // spacing + 1
    most = -np.inf
    for i in range(n):
        t = low + i * spacing
        total = 0.0
        for k in range(first, last):
            cell = cells[k]
            count = x[cell] + t * steps[k]
            total += values[start[cell] + count] + slope[cell] * count
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


@kernel(error_model="numpy")
def _listed_burst(
    x: Array,
    lower: Array,
    upper: Array,
    begin: Array,
    cells: Array,
    steps: Array,
    flat: bool,
    values: Array,
    start: Array,
    slope: Array,
    masses: Array,
    state: Array,
    n: int,
) -> int:
    """Makes n moves from the list; how many changed the table."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    changed = 0
    for _ in range(n):
        i = _scaled(_scrambled(s1), len(begin) - 1)
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        first, last = begin[i], begin[i + 1]
        # How far the move may go either way: `_reach`, written out.
        low, high = -FAR, FAR
        for k in range(first, last):
            cell, step = cells[k], steps[k]
            up, down = upper[cell] - x[cell], x[cell] - lower[cell]
            if step < 0:
                up, down, step = down, up, -step
            if step > 1:
                up, down = up // step, down // step
            high, low = min(high, up), max(low, -down)
            if high == low:
                break
        if low == high:
            continue
        # t in low … high: `_drawn`, written out. Point i of the line is low + i · spacing.
        spacing, i = 1, 0
        if flat:
            i = _scaled(_scrambled(s1), high - low + 1)
        else:
            bits = _scrambled(s1)
            if high - low >= WINDOW:
                s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
                spacing, low, high = _window(low, high, bits, _scrambled(s1))
                s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
                bits = _scrambled(s1)
            n_points, most = (high - low) // spacing + 1, -np.inf
            for p in range(n_points):
                t, total = low + p * spacing, 0.0
                for k in range(first, last):
                    count = x[cells[k]] + t * steps[k]
                    total += values[start[cells[k]] + count] + slope[cells[k]] * count
                masses[p] = total
                most = max(most, total)
            total = 0.0
            for p in range(n_points):  # sums up to each point, so that a mark on them finds one
                total += np.exp(masses[p] - most)
                masses[p] = total
            mark = np.float64(bits >> ELEVEN) * TO_UNIT * total
            while i < n_points - 1 and masses[i] <= mark:
                i += 1
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        t = low + i * spacing
        if t != 0:
            changed += 1
            for k in range(first, last):
                x[cells[k]] += t * steps[k]
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return changed


@kernel(error_model="numpy")
def walk_listed(
    x: Array, limits: CellLimits, moves: Listed, weights: Weights, state: Array, keep: Keep
) -> int:
    """Moves from a list: move i is cells[begin[i]:begin[i + 1]] with the steps beside them."""
    masses, changed = np.empty(WINDOW), 0
    for row in range(len(keep.kept)):
        changed += _listed_burst(
            x,
            limits.lower,
            limits.upper,
            moves.begin,
            moves.cells,
            moves.steps,
            weights.flat,
            weights.values,
            weights.start,
            weights.slope,
            masses,
            state,
            keep.thin,
        )
        for j in range(len(keep.chosen)):
            keep.kept[row, j] = x[keep.chosen[j]]
    return changed


@kernel(error_model="numpy", forceinline=True)
def _distinct(state: Array, n: int, size: int, drawn: Array) -> None:
    """Fills drawn[:n] with different numbers below `size`. Trusted: n ≤ `size`."""
    for k in range(n):
        again = True
        while again:
            drawn[k] = _below(state, size)
            again = False
            for j in range(k):
                if drawn[j] == drawn[k]:
                    again = True


@kernel(error_model="numpy", forceinline=True)
def _loop(
    state: Array, cuts: Array, which: int, offsets: Array, rows: Array, columns: Array, cells: Array
) -> Any:
    """Writes the cells of a random loop, plus and minus by turns, and returns how many there are.

    Row `which` of `cuts` holds where the offsets of separator, left side, right side and free
    variables begin and how many there are of each, and the longest loop: 1 stands for a pair of
    cells that differ in the free variables alone.

    Within one level of the separator, the left and the right side are the rows and columns of a
    two-way table. A loop visits different rows and different columns, so that each row and each
    column gets one plus and one minus and no released sum changes. Free variables stand in no
    margin, so that each cell of the loop may have any level of theirs.
    """
    base = offsets[cuts[which, 0] + _below(state, cuts[which, 1])]
    longest = cuts[which, 8]
    if longest == 1:
        _distinct(state, 2, cuts[which, 7], columns)
        cells[0] = base + offsets[cuts[which, 6] + columns[0]]
        cells[1] = base + offsets[cuts[which, 6] + columns[1]]
        return 2
    # Four cells mostly, longer loops with halving chances: where limits forbid the four, only a
    # longer loop may lead on.
    length = 2
    while length < longest and (_bits(state) >> np.uint64(63)) == np.uint64(1):
        length += 1
    _distinct(state, length, cuts[which, 3], rows)
    _distinct(state, length, cuts[which, 5], columns)
    for k in range(length):
        row = base + offsets[cuts[which, 2] + rows[k]]
        cells[2 * k] = row + offsets[cuts[which, 4] + columns[k]]
        cells[2 * k + 1] = row + offsets[cuts[which, 4] + columns[(k + 1) % length]]
    if cuts[which, 7] > 1:
        for k in range(2 * length):
            cells[k] += offsets[cuts[which, 6] + _below(state, cuts[which, 7])]
    return 2 * length


@kernel(error_model="numpy")
def _loops_burst(
    x: Array,
    lower: Array,
    upper: Array,
    cuts: Array,
    offsets: Array,
    flat: bool,
    values: Array,
    start: Array,
    slope: Array,
    masses: Array,
    rows: Array,
    columns: Array,
    cells: Array,
    steps: Array,
    state: Array,
    n: int,
) -> int:
    """Makes n moves along random loops; how many changed the table. See `_listed_burst`."""
    changed = 0
    for _ in range(n):
        which = _below(state, len(cuts))
        size = _loop(state, cuts, which, offsets, rows, columns, cells)
        low, high = _reach(x, lower, upper, cells, steps, 0, size)
        if low == high:
            continue
        if flat:
            t = low + _below(state, high - low + 1)
        else:
            t = _drawn(x, cells, steps, 0, size, low, high, values, start, slope, masses, state)
        if t != 0:
            changed += 1
            for k in range(size):
                x[cells[k]] += t * steps[k]
    return changed


@kernel(error_model="numpy")
def _quads_burst(
    x: Array,
    lower: Array,
    upper: Array,
    cuts: Array,
    offsets: Array,
    flat: bool,
    values: Array,
    start: Array,
    slope: Array,
    masses: Array,
    state: Array,
    n: int,
) -> int:
    """Makes n moves along loops of four cells; how many changed the table.

    The common case of `_loops_burst`: no limits of cells and no free variables. A loop
    of two rows i, j and two columns has cells a, b, c, d with steps 1, −1, 1, −1.
    """
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    changed = 0
    for _ in range(n):
        w = _scaled(_scrambled(s1), len(cuts))
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        base = offsets[cuts[w, 0] + _scaled(_scrambled(s1), cuts[w, 1])]
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        i = _scaled(_scrambled(s1), cuts[w, 3])
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        j = _scaled(_scrambled(s1), cuts[w, 3] - 1)  # another row: the numbers from i on move up
        j += j >= i
        row, other_row = base + offsets[cuts[w, 2] + i], base + offsets[cuts[w, 2] + j]
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        i = _scaled(_scrambled(s1), cuts[w, 5])
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        j = _scaled(_scrambled(s1), cuts[w, 5] - 1)
        j += j >= i
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        column, other_column = offsets[cuts[w, 4] + i], offsets[cuts[w, 4] + j]
        a, b, c, d = row + column, row + other_column, other_row + other_column, other_row + column
        xa, xb, xc, xd = x[a], x[b], x[c], x[d]
        high = min(upper[a] - xa, xb - lower[b], upper[c] - xc, xd - lower[d])
        low = -min(xa - lower[a], upper[b] - xb, xc - lower[c], upper[d] - xd)
        if low == high:
            continue
        # t in low … high: `_drawn`, written out. Point i of the line is low + i · spacing.
        spacing, i = 1, 0
        if flat:
            i = _scaled(_scrambled(s1), high - low + 1)
        else:
            bits = _scrambled(s1)
            if high - low >= WINDOW:
                s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
                spacing, low, high = _window(low, high, bits, _scrambled(s1))
                s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
                bits = _scrambled(s1)
            rise = (slope[a] - slope[b]) + (slope[c] - slope[d])
            at_a, at_b, at_c, at_d = start[a] + xa, start[b] + xb, start[c] + xc, start[d] + xd
            n_points, most = (high - low) // spacing + 1, -np.inf
            for p in range(n_points):
                t = low + p * spacing
                mass = (values[at_a + t] + values[at_b - t]) + (values[at_c + t] + values[at_d - t])
                masses[p] = mass + rise * t
                most = max(most, masses[p])
            total = 0.0
            for p in range(n_points):  # sums up to each point, so that a mark on them finds one
                total += np.exp(masses[p] - most)
                masses[p] = total
            mark = np.float64(bits >> ELEVEN) * TO_UNIT * total
            while i < n_points - 1 and masses[i] <= mark:
                i += 1
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        t = low + i * spacing
        if t != 0:
            changed += 1
            x[a], x[b], x[c], x[d] = xa + t, xb - t, xc + t, xd - t
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return changed


@kernel(error_model="numpy")
def walk_loops(
    x: Array, limits: CellLimits, moves: Loops, weights: Weights, state: Array, keep: Keep
) -> int:
    """Loops made at random inside a slice of a random cut of the variables; see `_loop`."""
    longest, plain = 2, True
    for i in range(len(moves.cuts)):
        longest = max(longest, moves.cuts[i, 8])
        plain = plain and moves.cuts[i, 8] == 2 and moves.cuts[i, 7] == 1
    rows, columns = np.empty(longest, np.int64), np.empty(longest, np.int64)
    cells, steps = np.empty(2 * longest, np.int64), np.ones(2 * longest, np.int64)
    steps[1::2] = -1
    masses, changed = np.empty(WINDOW), 0
    for row in range(len(keep.kept)):
        if plain:
            changed += _quads_burst(
                x,
                limits.lower,
                limits.upper,
                moves.cuts,
                moves.offsets,
                weights.flat,
                weights.values,
                weights.start,
                weights.slope,
                masses,
                state,
                keep.thin,
            )
        else:
            changed += _loops_burst(
                x,
                limits.lower,
                limits.upper,
                moves.cuts,
                moves.offsets,
                weights.flat,
                weights.values,
                weights.start,
                weights.slope,
                masses,
                rows,
                columns,
                cells,
                steps,
                state,
                keep.thin,
            )
        for j in range(len(keep.chosen)):
            keep.kept[row, j] = x[keep.chosen[j]]
    return changed


@kernel(error_model="numpy")
def _enter(
    cell: int,
    like: int,
    other: int,
    to: int,
    m: int,
    cell_of: Array,
    parts: Array,
    position: Array,
    swapped: Array,
) -> None:
    """Puts a cell that was empty into slot m.

    It has the levels of slot `like`, but those of slot `other` in the swapped variables, and the
    free offset `to` unless that is below 0.
    """
    cell_of[m], position[cell] = cell, m
    last = parts.shape[1] - 1
    for k in range(last + 1):
        parts[m, k] = parts[like, k]
    k = 0
    while swapped[k] >= 0:
        parts[m, swapped[k]] = parts[other, swapped[k]]
        k += 1
    if to >= 0:
        parts[m, last] = to


@kernel(error_model="numpy")
def _leave(cell: int, m: int, cell_of: Array, parts: Array, position: Array) -> None:
    """Takes a cell that became empty off the list; the cell of slot m, the last, moves there.

    The order matters where the cell is itself the last: its position must end as −1.
    """
    slot = position[cell]
    position[cell_of[m]] = slot
    position[cell] = -1
    cell_of[slot] = cell_of[m]
    for k in range(parts.shape[1]):
        parts[slot, k] = parts[m, k]


@kernel(error_model="numpy")
def _occupied_burst(
    x: Array,
    cell_of: Array,
    parts: Array,
    position: Array,
    size: Array,
    same: Array,
    swapped: Array,
    free: Array,
    flat: bool,
    values: Array,
    start: Array,
    slope: Array,
    masses: Array,
    chances: Array,
    state: Array,
    n: int,
) -> int:
    """Makes n moves along lines through occupied cells; how many changed the table.

    Of the m occupied cells two are picked, `one` and `two`. If they agree on the separator of a
    random cut, records of the cells may exchange the variables on one side of it: a line of four
    cells a, b, c, d with steps 1, −1, 1, −1, where a and c were picked and swap to b and d. A line
    of two cells moves records of one cell to another level of the free variables.

    The choice of the line depends on the table: the same line is found by picking a and c, or by
    picking b and d, as long as these hold records. Out of m² ordered pairs that is
    ((a, c occupied) + (b, d occupied)) / m², up to a factor that is the same all along the line;
    of two cells it is ((a occupied) + (b occupied)) / m. m itself changes along the line. Each
    point t is weighed by this chance at x + t m, which makes the step reversible: see
    `walk_occupied`. A pair that does not agree, or whose swap changes nothing, leaves x as it is.
    """
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    m, changed, last = size[0], 0, parts.shape[1] - 1
    n_cuts = len(same) - 1
    n_kinds = n_cuts + (1 if len(free) > 1 else 0)
    for _ in range(n):
        cut = _scaled(_scrambled(s1), n_kinds)  # n_cuts itself stands for a line of two cells
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        one = _scaled(_scrambled(s1), m)
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        two, to, shift, fits, k = one, -1, 0, True, 0
        four = cut < n_cuts
        if four:
            two = _scaled(_scrambled(s1), m)
            while same[cut, k] >= 0 and fits:
                fits = parts[one, same[cut, k]] == parts[two, same[cut, k]]
                k += 1
            k = 0
            while fits and swapped[cut, k] >= 0:  # `shift` stays 0 where the two do not agree
                shift += parts[two, swapped[cut, k]] - parts[one, swapped[cut, k]]
                k += 1
        else:
            to = free[_scaled(_scrambled(s1), len(free))]
            shift = to - parts[one, last]
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        # Cell numbers are sums of parts, so the swap adds to a what it takes from c.
        a, c = cell_of[one], cell_of[two]
        b, d = a + shift, c - shift
        if shift == 0 or (four and b == c):  # b = c: they differ on the swapped side alone
            continue
        xa, xb, xc, xd = x[a], x[b], x[c], x[d] if four else 0
        low, high = -xa, xb
        others = m - (xa > 0) - (xb > 0)  # occupied cells off the line
        if four:
            low, high = max(low, -xc), min(high, xd)
            others -= np.int64(xc > 0) + np.int64(xd > 0)
        spacing = 1
        if high - low >= WINDOW:
            bits = _scrambled(s1)
            s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
            spacing, low, high = _window(low, high, bits, _scrambled(s1))
            s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        n_points, most = (high - low) // spacing + 1, -np.inf
        for p in range(n_points):
            t = low + p * spacing
            here = others + (xa + t > 0) + (xb - t > 0)  # m at this point
            plus, minus, mass = xa + t > 0, xb - t > 0, 0.0
            if four:
                here += np.int64(xc + t > 0) + np.int64(xd - t > 0)
                plus, minus = plus and xc + t > 0, minus and xd - t > 0
            chance = np.float64(plus) + np.float64(minus)
            chances[p] = chance / (np.float64(here) * here) if four else chance / here
            if not flat:
                mass = values[start[a] + xa + t] + values[start[b] + xb - t]
                mass += (slope[a] - slope[b]) * t
                if four:
                    mass += values[start[c] + xc + t] + values[start[d] + xd - t]
                    mass += (slope[c] - slope[d]) * t
            masses[p] = mass
            if chance > 0:
                most = max(most, mass)
        total = 0.0
        for p in range(n_points):
            if chances[p] > 0:
                total += chances[p] * (1.0 if flat else np.exp(masses[p] - most))
            masses[p] = total
        mark, i = np.float64(_scrambled(s1) >> ELEVEN) * TO_UNIT * total, 0
        s0, s1, s2, s3 = _advanced(s0, s1, s2, s3)
        while i < n_points - 1 and masses[i] <= mark:
            i += 1
        t = low + i * spacing
        if t == 0:
            continue
        changed += 1
        # Newcomers first, while the slots of a and c, whose levels they take, are still theirs.
        if xb == 0:
            _enter(b, one, two, to, m, cell_of, parts, position, swapped[cut])
            m += 1
        if four and xd == 0:
            _enter(d, two, one, to, m, cell_of, parts, position, swapped[cut])
            m += 1
        x[a] += t
        x[b] -= t
        if four:
            x[c] += t
            x[d] -= t
        for side in range(4 if four else 2):
            cell = a if side == 0 else (b if side == 1 else (c if side == 2 else d))
            if x[cell] == 0:
                m -= 1
                _leave(cell, m, cell_of, parts, position)
    size[0] = m
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return changed


@kernel(error_model="numpy")
def walk_occupied(x: Array, occupied: Occupied, weights: Weights, state: Array, keep: Keep) -> int:
    """Lines through pairs of occupied cells that agree on a separator, for sparse tables.

    As the choice of the line depends on the table, its probability is part of what t is drawn by:
    ν(t) ∝ w(x + t m) · P(line | x + t m), with which w(x) P(line | x) ν(x') is symmetric.
    """
    masses, chances, changed = np.empty(WINDOW), np.empty(WINDOW), 0
    for row in range(len(keep.kept)):
        changed += _occupied_burst(
            x,
            occupied.cell_of,
            occupied.parts,
            occupied.position,
            occupied.size,
            occupied.same,
            occupied.swapped,
            occupied.free,
            weights.flat,
            weights.values,
            weights.start,
            weights.slope,
            masses,
            chances,
            state,
            keep.thin,
        )
        for j in range(len(keep.chosen)):
            keep.kept[row, j] = x[keep.chosen[j]]
    return changed
