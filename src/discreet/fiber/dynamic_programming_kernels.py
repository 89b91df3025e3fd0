"""Loops of the exact engine: layers of states, and what is left of each in closed form.

A *state* is the vector of right-hand sides that the columns passed so far leave to the others. It
is packed into 64-bit words, one field a row, and found again by hashing. Numbers that add up over
tables are carried twice: as a residue (modulo 2⁶⁴ by plain wrapping, or modulo a prime), which is
exact, and as a float with an exponent of its own, f · 2^(512 e) with 2⁻²⁵⁶ ≤ f < 2²⁵⁶, which cannot
underflow. Everything a kernel calls stands in this file: the compiled cache does not notice a
change in another one.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from discreet.data.arrays import FloatArray, IntArray

BIG, SMALL = 2.0**256, 2.0**-256
GROW, SHRINK = 2.0**512, 2.0**-512
WIDE = 2**30  # widths whose squares no longer fit
ADD, BEST = 0, 1  # how weights of several tables are joined
STEPS, STOPPED, FOUND, N_NOTES = 0, 1, 2, 3


class Columns(NamedTuple):
    """The columns of a block in the order in which they are passed; entries end to end."""

    start: IntArray
    row: IntArray
    coefficient: IntArray
    upper: IntArray  # lower limits are zero
    rest_low: IntArray  # position × row: least that the columns from there on add to the row
    rest_high: IntArray


class Packing(NamedTuple):
    """Where each row of a state stands in its words: (residual − low) << shift, cut by mask."""

    low: IntArray
    word: IntArray
    shift: IntArray
    mask: IntArray  # zero where all states of the layer agree
    n_words: int


class Tail(NamedTuple):
    """The last columns, which leave at most two degrees of freedom s, t once the rest is known.

    With A U = [H 0], U unimodular and H in echelon form, every solution is U₁ H⁻¹ r + K (s, t).
    Column i of the tail moves by multiplier · v, v being nothing, s, t or s + t by its direction.
    """

    start: int
    pivot: IntArray
    echelon: IntArray  # rows × rank
    basis: IntArray  # tail columns × rank: U₁
    direction: IntArray
    multiplier: IntArray
    n_free: int
    slopes: IntArray  # position × tail column: fall of the solution as a column grows by one
    affine_from: int  # from here up to the tail those falls are whole numbers
    is_unit: bool  # all multipliers, and falls along the last column before the tail, 0 or ±1


class Weights(NamedTuple):
    """Weight of value x in the column at position k: entry start[k] + x. Empty where all are 1."""

    start: IntArray
    mantissa: FloatArray
    exponent: IntArray


class Layer(NamedTuple):
    """States, the hash table that finds them, and a number for each (residue, float, exponent)."""

    keys: IntArray
    table: IntArray
    residue: Any
    mantissa: FloatArray
    exponent: IntArray


@njit(cache=True, nogil=True, error_model="numpy")
def _times(f: float, e: int, g: float, d: int) -> tuple[float, int]:
    f, e = f * g, e + d
    if f >= BIG:
        return f * SHRINK, e + 1
    if 0.0 < f < SMALL:
        return f * GROW, e - 1
    return f, e


@njit(cache=True, nogil=True, error_model="numpy")
def _plus(f: float, e: int, g: float, d: int) -> tuple[float, int]:
    if f == 0.0:
        return g, d
    if g == 0.0 or e > d + 1:
        return f, e
    if d > e + 1:
        return g, d
    if e > d:
        f += g * SHRINK
    elif d > e:
        f, e = g + f * SHRINK, d
    else:
        f += g
    if f >= BIG:
        return f * SHRINK, e + 1
    return f, e


@njit(cache=True, nogil=True, error_model="numpy")
def _larger(f: float, e: int, g: float, d: int) -> bool:
    """Whether f · 2^(512 e) > g · 2^(512 d)."""
    if g == 0.0 or f == 0.0:
        return f > 0.0
    return e > d or (e == d and f > g)


@njit(cache=True, nogil=True, error_model="numpy")
def _sum_residues(a: Any, b: Any, modulus: Any) -> Any:
    c = np.uint64(a + b)
    return c if modulus == np.uint64(0) else c % modulus


@njit(cache=True, nogil=True, error_model="numpy")
def _multiply_residues(a: Any, b: Any, modulus: Any) -> Any:
    c = np.uint64(a * b)
    return c if modulus == np.uint64(0) else c % modulus


@njit(cache=True, nogil=True, error_model="numpy")
def _limits(columns: Columns, k: int, residual: IntArray) -> tuple[int, int]:
    """Values of column k after which every row can still be met by the columns behind it."""
    low, high = np.int64(0), columns.upper[k]
    for entry in range(columns.start[k], columns.start[k + 1]):
        i, a = columns.row[entry], columns.coefficient[entry]
        most = residual[i] - columns.rest_low[k + 1, i]
        least = residual[i] - columns.rest_high[k + 1, i]
        if a == 1:
            high, low = min(high, most), max(low, least)
        elif a > 0:
            high, low = min(high, most // a), max(low, -(-least // a))
        else:
            high, low = min(high, -least // -a), max(low, -(most // -a))
    return low, high


@njit(cache=True, nogil=True, error_model="numpy")
def _take(columns: Columns, k: int, amount: int, residual: IntArray) -> None:
    for entry in range(columns.start[k], columns.start[k + 1]):
        residual[columns.row[entry]] -= amount * columns.coefficient[entry]


@njit(cache=True, nogil=True, error_model="numpy")
def _unpack(packing: Packing, key: IntArray, residual: IntArray) -> None:
    for i in range(len(residual)):
        field = (key[packing.word[i]] >> packing.shift[i]) & packing.mask[i]
        residual[i] = packing.low[i] + field


@njit(cache=True, nogil=True, error_model="numpy")
def _pack(packing: Packing, residual: IntArray, key: IntArray) -> None:
    key[:] = 0
    for i in range(len(residual)):
        if packing.mask[i] != 0:
            key[packing.word[i]] += (residual[i] - packing.low[i]) << packing.shift[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _stride(columns: Columns, k: int, packing: Packing, stride: IntArray) -> None:
    """What one more in column k takes from the words of a state."""
    stride[:] = 0
    for entry in range(columns.start[k], columns.start[k + 1]):
        i = columns.row[entry]
        if packing.mask[i] != 0:
            stride[packing.word[i]] += columns.coefficient[entry] << packing.shift[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _find(keys: IntArray, table: IntArray, key: IntArray) -> int:
    """The slot of the table that holds the key, or the free one where it belongs."""
    h = np.uint64(0)
    for w in range(len(key)):
        h = (h ^ np.uint64(key[w])) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    cut = np.uint64(len(table) - 1)
    slot = np.int64((h * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(20)) & cut)
    while table[slot] >= 0:
        same = True
        for w in range(len(key)):
            if keys[table[slot], w] != key[w]:
                same = False
                break
        if same:
            return slot
        slot = (slot + 1) & np.int64(cut)
    return slot


@njit(cache=True, nogil=True, error_model="numpy")
def _rehashed(keys: IntArray, n: int, size: int) -> IntArray:
    table = np.full(size, -1, np.int64)
    for i in range(n):
        table[_find(keys, table, keys[i])] = i
    return table


@njit(cache=True, nogil=True, error_model="numpy")
def expand(
    columns: Columns,
    k: int,
    here: Packing,
    there: Packing,
    weights: Weights,
    modulus: Any,
    layer: Layer,
    max_states: int,
    notes: IntArray,
) -> Layer:
    """The states after column k, with the sums over all ways that lead to them.

    `notes` counts steps; it says STOPPED where there would be more than `max_states`.
    """
    size = 64
    keys = np.empty((size, there.n_words), np.int64)
    residue, mantissa = np.empty(size, np.uint64), np.empty(size)
    exponent, table = np.empty(size, np.int64), np.full(2 * size, -1, np.int64)
    residual = np.empty(len(here.low), np.int64)
    key, stride = np.empty(there.n_words, np.int64), np.empty(there.n_words, np.int64)
    _stride(columns, k, there, stride)
    n, weighted = 0, len(weights.mantissa) > 0
    for state in range(len(layer.keys)):
        _unpack(here, layer.keys[state], residual)
        low, high = _limits(columns, k, residual)
        if low > high:
            continue
        _take(columns, k, low, residual)
        _pack(there, residual, key)
        for x in range(low, high + 1):
            f, e = layer.mantissa[state], layer.exponent[state]
            if weighted:
                at = weights.start[k] + x
                f, e = _times(f, e, weights.mantissa[at], weights.exponent[at])
            slot = _find(keys, table, key)
            found = table[slot]
            if found >= 0:
                residue[found] = _sum_residues(residue[found], layer.residue[state], modulus)
                mantissa[found], exponent[found] = _plus(mantissa[found], exponent[found], f, e)
            else:
                if n == size:
                    if 2 * size > max_states:
                        notes[STOPPED] = 1
                        return Layer(keys[:0], table[:0], residue[:0], mantissa[:0], exponent[:0])
                    keys = np.concatenate((keys, np.empty_like(keys)))
                    residue = np.concatenate((residue, residue))
                    mantissa = np.concatenate((mantissa, mantissa))
                    exponent = np.concatenate((exponent, exponent))
                    size *= 2
                    table = _rehashed(keys, n, 2 * size)
                    slot = _find(keys, table, key)
                keys[n] = key
                table[slot] = n
                residue[n], mantissa[n], exponent[n] = layer.residue[state], f, e
                n += 1
            key -= stride
        notes[STEPS] += high - low + 1
    return Layer(keys[:n], table, residue[:n], mantissa[:n], exponent[:n])


@njit(cache=True, nogil=True, error_model="numpy")
def pull(
    columns: Columns,
    k: int,
    here: Packing,
    there: Packing,
    weights: Weights,
    layer: Layer,
    after: Layer,
    mode: int,
    marginal: FloatArray,
    marginal_exponent: IntArray,
) -> tuple[FloatArray, IntArray]:
    """What lies behind each state of the layer: the sum (or the largest) of weights of completions.

    `layer` carries sums over the ways that lead to its states, `after` what lies behind the states
    of the next one. Where `marginal` is given, the weight of each value of column k is added there.
    """
    n, weighted = len(layer.keys), len(weights.mantissa) > 0
    mantissa, exponent = np.zeros(n), np.zeros(n, np.int64)
    residual = np.empty(len(here.low), np.int64)
    key, stride = np.empty(there.n_words, np.int64), np.empty(there.n_words, np.int64)
    _stride(columns, k, there, stride)
    for state in range(n):
        _unpack(here, layer.keys[state], residual)
        low, high = _limits(columns, k, residual)
        if low > high:
            continue
        _take(columns, k, low, residual)
        _pack(there, residual, key)
        for x in range(low, high + 1):
            found = after.table[_find(after.keys, after.table, key)]
            key -= stride
            f, e = after.mantissa[found], after.exponent[found]
            if weighted:
                at = weights.start[k] + x
                f, e = _times(f, e, weights.mantissa[at], weights.exponent[at])
            if mode == ADD:
                mantissa[state], exponent[state] = _plus(mantissa[state], exponent[state], f, e)
            elif _larger(f, e, mantissa[state], exponent[state]):
                mantissa[state], exponent[state] = f, e
            if len(marginal) > 0:
                f, e = _times(f, e, layer.mantissa[state], layer.exponent[state])
                marginal[x], marginal_exponent[x] = _plus(
                    marginal[x], marginal_exponent[x], f, e
                )
    return mantissa, exponent


@njit(cache=True, nogil=True, error_model="numpy")
def descend(
    columns: Columns,
    k: int,
    here: Packing,
    there: Packing,
    weights: Weights,
    layer: Layer,
    after: Layer,
    at_state: IntArray,
    uniform: FloatArray,
    values: IntArray,
    mode: int,
) -> None:
    """Moves draws from their states in the layer to states of the next one, in place.

    A value of column k is drawn with probability weight · what lies behind; `layer` and `after`
    carry what lies behind. Mode BEST takes the likeliest instead.
    """
    residual = np.empty(len(here.low), np.int64)
    key, stride = np.empty(there.n_words, np.int64), np.empty(there.n_words, np.int64)
    _stride(columns, k, there, stride)
    weighted = len(weights.mantissa) > 0
    for draw in range(len(at_state)):
        state = at_state[draw]
        _unpack(here, layer.keys[state], residual)
        low, high = _limits(columns, k, residual)
        _take(columns, k, low, residual)
        _pack(there, residual, key)
        target, target_e = _times(
            layer.mantissa[state], layer.exponent[state], uniform[draw], np.int64(0)
        )
        sum_f, sum_e = 0.0, np.int64(0)
        for x in range(low, high + 1):
            found = after.table[_find(after.keys, after.table, key)]
            key -= stride
            f, e = after.mantissa[found], after.exponent[found]
            if weighted:
                at = weights.start[k] + x
                f, e = _times(f, e, weights.mantissa[at], weights.exponent[at])
            if f == 0.0:
                continue
            if mode == BEST:
                if _larger(f, e, sum_f, sum_e):
                    sum_f, sum_e = f, e
                    values[draw], at_state[draw] = x, found
                continue
            values[draw], at_state[draw] = x, found
            sum_f, sum_e = _plus(sum_f, sum_e, f, e)
            if _larger(sum_f, sum_e, target, target_e):
                break


@njit(cache=True, nogil=True, error_model="numpy")
def solve(tail: Tail, residual: IntArray, y: IntArray, point: IntArray) -> bool:
    """A whole-number solution of the tail, limits apart; False where there is none."""
    rank = len(tail.pivot)
    for j in range(rank):
        i = tail.pivot[j]
        v = residual[i]
        for a in range(j):
            v -= tail.echelon[i, a] * y[a]
        h = tail.echelon[i, j]
        if h != 1:
            if v % h != 0:
                return False
            v //= h
        y[j] = v
    for i in range(len(residual)):
        v = residual[i]
        for a in range(rank):
            v -= tail.echelon[i, a] * y[a]
        if v != 0:
            return False
    for i in range(len(point)):
        v = np.int64(0)
        for a in range(rank):
            v += tail.basis[i, a] * y[a]
        point[i] = v
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _spans(tail: Tail, columns: Columns, point: IntArray, spans: IntArray) -> bool:
    """Least and largest s, t and s + t that keep every column of the tail within its limits."""
    for d in range(1, 4):
        spans[2 * d], spans[2 * d + 1] = -(2**61), 2**61
    for i in range(len(point)):
        d, m = 2 * tail.direction[i], tail.multiplier[i]
        least, most = -point[i], columns.upper[tail.start + i] - point[i]
        if d == 0:
            if least > 0 or most < 0:
                return False
            continue
        if m == -1:
            least, most = -most, -least
        elif m > 1:
            least, most = -(-least // m), most // m
        elif m < -1:
            least, most = -(most // -m), -least // -m
        spans[d], spans[d + 1] = max(spans[d], least), min(spans[d + 1], most)
    return (
        spans[2] <= spans[3] and (tail.n_free < 2 or spans[4] <= spans[5]) and spans[6] <= spans[7]
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _triangle(z: int) -> int:
    """Pairs of whole numbers from zero with a sum of at most z, for z below 2³¹."""
    z = max(z, -1)
    return (z + 1) * (z + 2) // 2


@njit(cache=True, nogil=True, error_model="numpy")
def _triangle_residue(z: int, modulus: Any) -> Any:
    if z < 0:
        return np.uint64(0)
    a, b = np.uint64(z + 1), np.uint64(z + 2)
    if z % 2 == 1:
        a = a // np.uint64(2)
    else:
        b = b // np.uint64(2)
    if modulus != np.uint64(0):
        a, b = a % modulus, b % modulus
    return _multiply_residues(a, b, modulus)


@njit(cache=True, nogil=True, error_model="numpy")
def _pairs(a: int, b: int, low: int, high: int, modulus: Any) -> tuple[Any, float]:
    """How many 0 ≤ s ≤ a, 0 ≤ t ≤ b have low ≤ s + t ≤ high: a residue, and a float not below it.

    Inclusion and exclusion over the two upper limits: N(z) = T(z) − T(z−a−1) − T(z−b−1) +
    T(z−a−b−2), T(z) = (z+1)(z+2)/2.
    """
    low, high = max(low, 0), min(high, a + b)
    if low > high:
        return np.uint64(0), 0.0
    if a < WIDE and b < WIDE:
        n = _triangle(high) - _triangle(high - a - 1) - _triangle(high - b - 1)
        n -= _triangle(low - 1) - _triangle(low - a - 2) - _triangle(low - b - 2)
        n += _triangle(high - a - b - 2) - _triangle(low - a - b - 3)
        r = np.uint64(n)
        return (r if modulus == np.uint64(0) else r % modulus), np.float64(n)
    r = np.uint64(0)
    for z, sign in ((high, 1), (low - 1, -1)):
        for cut, part in ((0, 1), (a + 1, -1), (b + 1, -1), (a + b + 2, 1)):
            v = _triangle_residue(z - cut, modulus)
            if sign * part < 0:
                v = np.uint64(modulus - v)
            r = _sum_residues(r, v, modulus)
    return r, (np.float64(a) + 1.0) * (np.float64(b) + 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _points(tail: Tail, spans: IntArray, modulus: Any) -> tuple[Any, float]:
    """Whole-number points of the tail: one, a segment's, or those of a box cut by two diagonals."""
    if tail.n_free == 0:
        return np.uint64(1), 1.0
    a = spans[3] - spans[2]
    if tail.n_free == 1:
        n = np.uint64(a + 1)
        return (n if modulus == np.uint64(0) else n % modulus), a + 1.0
    base = spans[2] + spans[4]
    return _pairs(a, spans[5] - spans[4], spans[6] - base, spans[7] - base, modulus)


FAST = {"nnan", "nsz", "reassoc", "contract"}


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _line_sum(most: FloatArray, n: int, two: bool) -> float:
    """Points of the tail behind n values of the column before it, in closed form for each.

    most[d, 0, 1 + g] and most[d, 1, 1 + g] are the limits of direction d that move by g with each
    value. All numbers are whole and below 2⁵², so that floats are exact.
    """
    total = 0.0
    for j in range(n):
        x = np.float64(j)
        low = max(max(most[1, 0, 0] - x, most[1, 0, 1]), most[1, 0, 2] + x)
        a = min(min(most[1, 1, 0] - x, most[1, 1, 1]), most[1, 1, 2] + x) - low + 1.0
        if two:
            low_t = max(max(most[2, 0, 0] - x, most[2, 0, 1]), most[2, 0, 2] + x)
            b = min(min(most[2, 1, 0] - x, most[2, 1, 1]), most[2, 1, 2] + x) - low_t + 1.0
            g = max(max(most[3, 0, 0] - x, most[3, 0, 1]), most[3, 0, 2] + x) - low - low_t
            h = min(min(most[3, 1, 0] - x, most[3, 1, 1]), most[3, 1, 2] + x) - low - low_t
            g, h = max(g, 0.0), min(h + 1.0, a + b - 1.0)
            ha, hb, ga, gb = max(h - a, 0.0), max(h - b, 0.0), max(g - a, 0.0), max(g - b, 0.0)
            n_points = h * (h + 1.0) - ha * (ha + 1.0) - hb * (hb + 1.0)
            n_points -= g * (g + 1.0) - ga * (ga + 1.0) - gb * (gb + 1.0)
            total += 0.5 * n_points if min(min(a, b), h - g) > 0.0 else 0.0
        else:
            total += max(a, 0.0)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _line_limits(
    tail: Tail, columns: Columns, point: IntArray, n: int, most: FloatArray
) -> tuple[int, int]:
    """Fills what `_line_sum` reads; the first and the end of the values that still can do."""
    last, first, end = tail.start - 1, np.int64(0), np.int64(n)
    most[:, 0, :], most[:, 1, :] = -(2.0**40), 2.0**40
    for i in range(len(point)):
        d, m, fall = tail.direction[i], tail.multiplier[i], tail.slopes[last, i]
        least, top = -point[i], columns.upper[tail.start + i] - point[i]
        if d == 0:
            if fall == 0:
                if least > 0 or top < 0:
                    return 0, 0
            elif fall > 0:
                first, end = max(first, -top), min(end, -least + 1)
            else:
                first, end = max(first, least), min(end, top + 1)
            continue
        if m < 0:
            least, top, fall = -top, -least, -fall
        g = 1 + fall
        most[d, 0, g], most[d, 1, g] = max(most[d, 0, g], least), min(most[d, 1, g], top)
    return first, end


@njit(cache=True, nogil=True, error_model="numpy")
def _along(
    tail: Tail,
    columns: Columns,
    point: IntArray,
    n: int,
    modulus: Any,
    spans: IntArray,
    most: FloatArray,
) -> tuple[Any, float]:
    """Points of the tail as the column before it takes n values, the first of which gives `point`.

    Leaves `point` as it was.
    """
    last = tail.start - 1
    if tail.is_unit:
        first, end = _line_limits(tail, columns, point, n, most)
        if first >= end:
            return np.uint64(0), 0.0
        for d in range(1, 4):
            most[d, :, 0] -= first
            most[d, :, 2] += first
        f = _line_sum(most, end - first, tail.n_free == 2)
        r = np.uint64(np.int64(f))
        return (r if modulus == np.uint64(0) else r % modulus), f
    total, total_f = np.uint64(0), 0.0
    for _ in range(n):
        if _spans(tail, columns, point, spans):
            r, f = _points(tail, spans, modulus)
            total, total_f = _sum_residues(total, r, modulus), total_f + f
        point -= tail.slopes[last]
    point += n * tail.slopes[last]
    return total, total_f


@njit(cache=True, nogil=True, error_model="numpy")
def finish_count(
    columns: Columns,
    tail: Tail,
    packing: Packing,
    first: int,
    modulus: Any,
    layer: Layer,
    notes: IntArray,
    stop: IntArray,
) -> tuple[Any, float, int]:
    """Tables through the states of a layer before column `first`: residue, float, exponent.

    Columns up to the tail are tried one value after another, the last of them along a line. Ends
    early, and says STOPPED, once stop[0] is set or more than stop[1] steps were made.
    """
    m, q, last = len(packing.low), len(columns.upper) - tail.start, tail.start - 1
    residual, y = np.empty(m, np.int64), np.empty(m, np.int64)
    point, spans, most = np.empty(q, np.int64), np.empty(8, np.int64), np.empty((4, 2, 3))
    x, top = np.zeros(tail.start + 1, np.int64), np.zeros(tail.start + 1, np.int64)
    total, total_f, total_e = np.uint64(0), 0.0, np.int64(0)
    affine = tail.affine_from <= first < tail.start
    for state in range(len(layer.keys)):
        _unpack(packing, layer.keys[state], residual)
        if affine and not solve(tail, residual, y, point):
            continue
        inside, inside_f = np.uint64(0), 0.0
        depth, enter = first, True
        while depth >= first:
            notes[STEPS] += 1
            if stop[0] != 0 or notes[STEPS] > stop[1]:
                notes[STOPPED] = 1
                return total, total_f, total_e
            if enter and depth == tail.start:
                if solve(tail, residual, y, point) and _spans(tail, columns, point, spans):
                    n, f = _points(tail, spans, modulus)
                    inside, inside_f = _sum_residues(inside, n, modulus), inside_f + f
                depth, enter = depth - 1, False
                continue
            if enter:
                low, high = _limits(columns, depth, residual)
                if low <= high and depth == last and affine:
                    point -= low * tail.slopes[last]
                    n, f = _along(tail, columns, point, high - low + 1, modulus, spans, most)
                    point += low * tail.slopes[last]
                    inside, inside_f = _sum_residues(inside, n, modulus), inside_f + f
                    notes[STEPS] += high - low
                    low = high + 1
                if low > high:
                    depth, enter = depth - 1, False
                    continue
                x[depth], top[depth], step = low, high, low
            elif x[depth] < top[depth]:
                x[depth] += 1
                step, enter = np.int64(1), True
            else:
                _take(columns, depth, -x[depth], residual)
                if affine:
                    point += x[depth] * tail.slopes[depth]
                depth -= 1
                continue
            _take(columns, depth, step, residual)
            if affine:
                point -= step * tail.slopes[depth]
            depth += 1
        inside = _multiply_residues(inside, layer.residue[state], modulus)
        total = _sum_residues(total, inside, modulus)
        f, e = _times(layer.mantissa[state], layer.exponent[state], inside_f, np.int64(0))
        total_f, total_e = _plus(total_f, total_e, f, e)
    return total, total_f, total_e


@njit(cache=True, nogil=True, error_model="numpy")
def _visit(
    columns: Columns,
    tail: Tail,
    weights: Weights,
    first: int,
    point: IntArray,
    spans: IntArray,
    x: IntArray,
    reached: FloatArray,
    reached_e: IntArray,
    sums: FloatArray,
    sums_e: IntArray,
    mode: int,
    chosen: IntArray,
    marginal: FloatArray,
    marginal_e: IntArray,
    notes: IntArray,
) -> None:
    """Every point of the tail behind the values x, with its weight.

    `sums` holds the sum (or the largest weight) so far, the target that ends a draw, and the weight
    of the ways that lead to the state; `chosen` the point at the target, or the best.
    """
    n, start, weighted = len(columns.upper), tail.start, len(weights.mantissa) > 0
    low_s, high_s = (spans[2], spans[3]) if tail.n_free > 0 else (0, 0)
    for s in range(low_s, high_s + 1):
        low_t, high_t = np.int64(0), np.int64(0)
        if tail.n_free == 2:
            low_t, high_t = max(spans[4], spans[6] - s), min(spans[5], spans[7] - s)
        for t in range(low_t, high_t + 1):
            f, e = reached[start], reached_e[start]
            for i in range(n - start):
                d = tail.direction[i]
                v = s * (d & 1) + t * (d >> 1)  # directions 1, 2, 3: s, t, s + t
                x[start + i] = point[i] + tail.multiplier[i] * v
                if weighted:
                    at = weights.start[start + i] + x[start + i]
                    f, e = _times(f, e, weights.mantissa[at], weights.exponent[at])
            notes[STEPS] += 1
            if mode == BEST:
                if _larger(f, e, sums[0], sums_e[0]):
                    sums[0], sums_e[0] = f, e
                    chosen[:n] = x[:n]
                continue
            sums[0], sums_e[0] = _plus(sums[0], sums_e[0], f, e)
            if len(chosen) > 0:
                chosen[:n] = x[:n]
                if _larger(sums[0], sums_e[0], sums[1], sums_e[1]):
                    notes[FOUND] = 1
                    return
            if len(marginal) > 0:
                f, e = _times(f, e, sums[2], sums_e[2])
                for k in range(first, n):
                    at = weights.start[k] + x[k]
                    marginal[at], marginal_e[at] = _plus(marginal[at], marginal_e[at], f, e)


@njit(cache=True, nogil=True, error_model="numpy")
def finish_weighted(
    columns: Columns,
    tail: Tail,
    packing: Packing,
    first: int,
    weights: Weights,
    layer: Layer,
    state: int,
    mode: int,
    target: float,
    chosen: IntArray,
    marginal: FloatArray,
    marginal_e: IntArray,
    notes: IntArray,
    stop: IntArray,
) -> tuple[float, int]:
    """The weight of all completions of a state before column `first` (mode BEST: the largest).

    Where `chosen` is given it receives the best point, or the one at which the sum passes `target`
    times the number of the state. Where `marginal` is given, the weight of each value of each
    column from `first` on is added there, times the number of the state.
    """
    m, q = len(packing.low), len(columns.upper) - tail.start
    residual, y = np.empty(m, np.int64), np.empty(m, np.int64)
    point, spans = np.empty(q, np.int64), np.empty(8, np.int64)
    x, top = np.zeros(len(columns.upper) + 1, np.int64), np.zeros(tail.start + 1, np.int64)
    reached, reached_e = np.ones(tail.start + 1), np.zeros(tail.start + 1, np.int64)
    sums, sums_e = np.zeros(3), np.zeros(3, np.int64)
    sums[2], sums_e[2] = layer.mantissa[state], layer.exponent[state]
    sums[1], sums_e[1] = _times(sums[2], sums_e[2], target, np.int64(0))
    weighted = len(weights.mantissa) > 0
    _unpack(packing, layer.keys[state], residual)
    depth, enter = first, True
    while depth >= first:
        notes[STEPS] += 1
        if stop[0] != 0 or notes[STEPS] > stop[1]:
            notes[STOPPED] = 1
            break
        if notes[FOUND] != 0:
            break
        if enter and depth == tail.start:
            if solve(tail, residual, y, point) and _spans(tail, columns, point, spans):
                _visit(
                    columns, tail, weights, first, point, spans, x, reached, reached_e, sums,
                    sums_e, mode, chosen, marginal, marginal_e, notes,
                )
            depth, enter = depth - 1, False
            continue
        if enter:
            low, high = _limits(columns, depth, residual)
            if low > high:
                depth, enter = depth - 1, False
                continue
            x[depth], top[depth] = low, high
            _take(columns, depth, low, residual)
        elif x[depth] < top[depth]:
            x[depth] += 1
            _take(columns, depth, 1, residual)
            enter = True
        else:
            _take(columns, depth, -x[depth], residual)
            depth -= 1
            continue
        reached[depth + 1], reached_e[depth + 1] = reached[depth], reached_e[depth]
        if weighted:
            at = weights.start[depth] + x[depth]
            reached[depth + 1], reached_e[depth + 1] = _times(
                reached[depth], reached_e[depth], weights.mantissa[at], weights.exponent[at]
            )
        depth += 1
    return sums[0], sums_e[0]


@njit(cache=True, nogil=True, error_model="numpy")
def finish_layer(
    columns: Columns,
    tail: Tail,
    packing: Packing,
    first: int,
    weights: Weights,
    layer: Layer,
    mode: int,
    marginal: FloatArray,
    marginal_e: IntArray,
    mantissa: FloatArray,
    exponent: IntArray,
    notes: IntArray,
    stop: IntArray,
) -> None:
    """`finish_weighted` for each state of the layer, into `mantissa` and `exponent`."""
    chosen = np.empty(len(columns.upper) if mode == BEST else 0, np.int64)
    for state in range(len(layer.keys)):
        mantissa[state], exponent[state] = finish_weighted(
            columns, tail, packing, first, weights, layer, state, mode, 0.0, chosen, marginal,
            marginal_e, notes, stop,
        )
        if notes[STOPPED] != 0:
            return


@njit(cache=True, nogil=True, error_model="numpy")
def finish_draws(
    columns: Columns,
    tail: Tail,
    packing: Packing,
    first: int,
    weights: Weights,
    layer: Layer,
    at_state: IntArray,
    uniform: FloatArray,
    mode: int,
    draws: IntArray,
    stop: IntArray,
) -> None:
    """Fills the columns from `first` on of each draw, which stands at a state of the layer.

    `layer` carries what lies behind its states. Mode BEST takes the likeliest completion.
    """
    none, none_e, notes = np.empty(0), np.empty(0, np.int64), np.zeros(N_NOTES, np.int64)
    chosen = np.empty(len(columns.upper), np.int64)
    for draw in range(len(at_state)):
        notes[FOUND] = 0
        finish_weighted(
            columns, tail, packing, first, weights, layer, at_state[draw], mode, uniform[draw],
            chosen, none, none_e, notes, stop,
        )
        draws[draw, first:] = chosen[first:]


@njit(cache=True, nogil=True, error_model="numpy")
def add_up(f: FloatArray, e: IntArray, more: FloatArray, more_e: IntArray) -> None:
    """Adds one array of floats with exponents to another, in place."""
    for i in range(len(f)):
        f[i], e[i] = _plus(f[i], e[i], more[i], more_e[i])


@njit(cache=True, nogil=True, error_model="numpy")
def prefix_ranks(matrix: IntArray, order: IntArray) -> IntArray:
    """Rank, modulo a prime, of the first 0, 1, … columns in the given order.

    A rank modulo a prime is never above the true one; it only steers the choice of an order.
    """
    p = np.int64(2147483629)
    m, n = matrix.shape
    basis, pivot = np.zeros((m, m), np.int64), np.full(m, -1, np.int64)
    ranks = np.zeros(len(order) + 1, np.int64)
    rank = 0
    for k in range(len(order)):
        v = matrix[:, order[k]] % p
        for b in range(rank):
            c = v[pivot[b]]
            if c != 0:
                for i in range(m):
                    v[i] = (v[i] - c * basis[b, i]) % p
        for i in range(m):
            if v[i] != 0:
                inverse, power, base = np.int64(1), p - 2, v[i]
                while power > 0:
                    if power & 1:
                        inverse = inverse * base % p
                    base = base * base % p
                    power >>= 1
                for j in range(m):
                    basis[rank, j] = v[j] * inverse % p
                pivot[rank] = i
                rank += 1
                break
        ranks[k + 1] = rank
    return ranks


@njit(cache=True, nogil=True, error_model="numpy")
def greedy_order(matrix: IntArray, right: IntArray, upper: IntArray, first: int) -> IntArray:
    """Columns from `first` on, always the next that keeps the fields of open rows shortest.

    `right` is the most that a row can hold.
    """
    m, n = matrix.shape
    order, used = np.empty(n, np.int64), np.zeros(n, np.bool_)
    done, rest = np.zeros(m), np.zeros(m)
    left = np.zeros(m, np.int64)
    for i in range(m):
        for j in range(n):
            rest[i] += abs(matrix[i, j]) * np.float64(upper[j])
            left[i] += matrix[i, j] != 0
    for k in range(n):
        best, best_cost = -1, np.inf
        for j in range(n):
            if used[j] or (k == 0 and j != first):
                continue
            cost = 0.0
            for i in range(m):
                a = abs(matrix[i, j])
                if a == 0:
                    continue
                span = a * np.float64(upper[j])
                most = np.float64(right[i])
                before = np.log2(1.0 + min(done[i], rest[i], most))
                after = np.log2(1.0 + min(done[i] + span, rest[i] - span, most))
                after *= left[i] > 1
                cost += after - before + (0.01 * left[i] if done[i] == 0 else 0.0)
            if cost < best_cost - 1e-9:
                best, best_cost = j, cost
        used[best] = True
        order[k] = best
        for i in range(m):
            a = abs(matrix[i, best])
            done[i] += a * np.float64(upper[best])
            rest[i] -= a * np.float64(upper[best])
            left[i] -= a != 0
    return order
