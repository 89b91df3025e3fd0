"""Loops of the exact engine: layers of states, and what is left of each in closed form.

A *state* is the vector of right-hand sides that the columns passed so far leave to the others. Two
ways of filling those columns that leave the same are completed by the same tables: so a layer holds
each state once, with the sum over all ways that lead to it, and the sum over all tables is exact
however many there are. Layers are made forwards (`expand`); for marginals, draws and the best
table they are gone through backwards (`pull`, `descend`), with what lies behind each state. The
last columns, the *tail*, have at most two degrees of freedom once the rest is known, and are summed
in closed form (`finish_…`). A row whose columns are all passed is zero in every state: `_limits`
lets no column take a value after which some row could not be met.

A state is packed into 64-bit words, one field a row, and found again by hashing. Numbers that add
up over tables are carried twice: as a residue (modulo 2⁶⁴ by plain wrapping, or modulo a prime),
which is exact, and as a float with an exponent of its own, f · 2^(512 e) with 2⁻²⁵⁶ ≤ f < 2²⁵⁶,
which cannot underflow.

Everything a kernel calls stands in this file: the compiled cache does not notice a change in
another one. Constants are handed to functions as np.int64: a bare 1 is a type of its own to Numba,
for which it compiles the function again.
"""

from typing import Any, NamedTuple

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.kernels import kernel

Whole = Any  # a 64-bit integer of a kernel

BIG, SMALL = 2.0**256, 2.0**-256
GROW, SHRINK = 2.0**512, 2.0**-512
WIDE = 2**30  # widths whose products, summed a few times, no longer fit in 63 bits
FAST = {"nnan", "nsz", "reassoc", "contract"}  # whole numbers below 2⁵²: any order is exact
ADD, BEST = 0, 1  # how weights of several tables are joined
WIDE_LINE, NARROW_LINE, UNIT_LINE = 0, 1, 2  # any numbers, short ones, short ones in steps of one
CHUNK = 64  # values of a line that are worked on at once
TIE = 1e-9  # share of a weight by which another must be larger to be preferred to it
LINE_STEPS = 40  # values that could be tried in the time that beginning a line takes
STEPS, STOPPED, FOUND, N_NOTES = 0, 1, 2, 3  # what `notes` holds


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
    live: IntArray  # the other rows
    n_words: int


class Step(NamedTuple):
    """Passing column k: from states packed one way to states packed another way."""

    k: int
    here: Packing
    there: Packing


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
    settled_start: IntArray  # tail columns settled by each position: settled[start[k]:start[k+1]]
    settled: IntArray
    slot: IntArray  # 3 direction + 1 + movement of each tail column along the last column before
    line: int  # how a line of points is added up: WIDE_LINE, NARROW_LINE or UNIT_LINE


class Weights(NamedTuple):
    """Weight of value x in the column at position k: entry start[k] + x. Empty where all are 1."""

    start: IntArray
    mantissa: FloatArray
    exponent: IntArray


class Problem(NamedTuple):
    """The columns of a block in order, their tail, and the weights of their values."""

    columns: Columns
    tail: Tail
    weights: Weights


class Layer(NamedTuple):
    """States, the hash table that finds them, and a number for each (residue, float, exponent)."""

    keys: IntArray
    table: IntArray
    residue: Any
    mantissa: FloatArray
    exponent: IntArray


@kernel(error_model="numpy")
def _times(f: float, e: Whole, g: float, d: Whole) -> tuple[float, Whole]:
    """The product of two floats with exponents, scaled back into range."""
    f, e = f * g, e + d
    if f >= BIG:
        return f * SHRINK, e + 1
    if 0.0 < f < SMALL:
        return f * GROW, e - 1
    return f, e


@kernel(error_model="numpy")
def _plus(f: float, e: Whole, g: float, d: Whole) -> tuple[float, Whole]:
    """The sum of two floats with exponents; one 2^512 times smaller or more is lost in rounding."""
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


@kernel(error_model="numpy")
def _larger(f: float, e: Whole, g: float, d: Whole) -> Any:
    """Whether f · 2^(512 e) > g · 2^(512 d)."""
    if g == 0.0 or f == 0.0:
        return f > 0.0
    return e > d or (e == d and f > g)


@kernel(error_model="numpy")
def _clearly_larger(f: float, e: Whole, g: float, d: Whole) -> Any:
    """Whether f · 2^(512 e) > g · 2^(512 d) by more than rounding can make.

    Tables that are equally probable are products of the same weights in another order: the last bit
    of these must not say which of them has the largest weight.
    """
    if e == d + 1:  # f next above 2⁻²⁵⁶ and g next below 2²⁵⁶ may be neighbours
        f, e = f * GROW, d
    return _larger(f, e, g * (1.0 + TIE), d)


@kernel(error_model="numpy")
def _sum_residues(a: Any, b: Any, modulus: Any) -> Any:
    """a + b modulo 2⁶⁴ where `modulus` is zero, else modulo a prime below 2³¹: no sum wraps."""
    c = np.uint64(a + b)
    return c if modulus == np.uint64(0) else c % modulus


@kernel(error_model="numpy")
def _multiply_residues(a: Any, b: Any, modulus: Any) -> Any:
    """a · b likewise."""
    c = np.uint64(a * b)
    return c if modulus == np.uint64(0) else c % modulus


@kernel(error_model="numpy")
def _limits(columns: Columns, k: Whole, residual: IntArray) -> tuple[Whole, Whole]:
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


@kernel(error_model="numpy")
def _take(columns: Columns, k: Whole, amount: Whole, residual: IntArray) -> None:
    """Lets column k grow by `amount`: its rows have that much less left."""
    for entry in range(columns.start[k], columns.start[k + 1]):
        residual[columns.row[entry]] -= amount * columns.coefficient[entry]


@kernel(error_model="numpy")
def _unpack(packing: Packing, key: IntArray, residual: IntArray) -> None:
    """The right-hand sides of a state."""
    for i in range(len(residual)):
        residual[i] = packing.low[i]
    for i in packing.live:
        residual[i] += (key[packing.word[i]] >> packing.shift[i]) & packing.mask[i]


@kernel(error_model="numpy")
def _pack(packing: Packing, residual: IntArray, key: IntArray) -> None:
    """The words of a state. Trusted: each field is wide enough for its row in this layer."""
    key[:] = 0
    for i in packing.live:
        key[packing.word[i]] += (residual[i] - packing.low[i]) << packing.shift[i]


@kernel(error_model="numpy")
def _stride(columns: Columns, k: Whole, packing: Packing, stride: IntArray) -> None:
    """What one more in column k takes from the words of a state.

    Fields never borrow from each other while the state is one of the layer, so that the next value
    of the column is one subtraction a word instead of packing anew.
    """
    stride[:] = 0
    for entry in range(columns.start[k], columns.start[k + 1]):
        i = columns.row[entry]
        if packing.mask[i] != 0:
            stride[packing.word[i]] += columns.coefficient[entry] << packing.shift[i]


@kernel(error_model="numpy")
def _find(keys: IntArray, table: IntArray, key: IntArray) -> Whole:
    """The slot of the table that holds the key, or the free one where it belongs.

    The table is a power of two and at most half full, so that looking on from slot to slot ends.
    """
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


@kernel(error_model="numpy")
def _rehashed(keys: IntArray, n: Whole, size: Whole) -> IntArray:
    """A larger hash table of the same states."""
    table = np.full(size, -1, np.int64)
    for i in range(n):
        table[_find(keys, table, keys[i])] = i
    return table


@kernel(error_model="numpy")
def _resized(numbers: Any, size: Whole) -> Any:
    """The numbers with room for more behind them."""
    larger = np.empty(size, numbers.dtype)
    for i in range(len(numbers)):
        larger[i] = numbers[i]
    return larger


@kernel(error_model="numpy")
def _resized_rows(rows: Any, size: Whole) -> Any:
    """The rows with room for more behind them."""
    larger = np.empty((size, rows.shape[1]), rows.dtype)
    for i in range(len(rows)):
        for w in range(rows.shape[1]):
            larger[i, w] = rows[i, w]
    return larger


@kernel(error_model="numpy")
def expand(
    problem: Problem, step: Step, modulus: Any, layer: Layer, max_states: Whole, notes: IntArray
) -> Layer:
    """The states after column k, with the sums over all ways that lead to them.

    `notes` counts steps; it says STOPPED where there would be more than `max_states`.
    """
    columns, weights = problem.columns, problem.weights
    k, here, there = step
    size = 64
    while size < len(layer.keys) and 2 * size <= max_states:
        size *= 2
    keys = np.empty((size, there.n_words), np.int64)
    residue, mantissa = np.empty(size, np.uint64), np.empty(size)
    exponent, table = np.empty(size, np.int64), np.full(2 * size, -1, np.int64)
    residual = np.empty(len(here.low), np.int64)
    key, stride = np.empty(there.n_words, np.int64), np.empty(there.n_words, np.int64)
    _stride(columns, k, there, stride)
    n, weighted = np.int64(0), len(weights.mantissa) > 0
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
                    size *= 2
                    keys = _resized_rows(keys, size)
                    residue, mantissa = _resized(residue, size), _resized(mantissa, size)
                    exponent = _resized(exponent, size)
                    table = _rehashed(keys, n, 2 * size)
                    slot = _find(keys, table, key)
                for w in range(len(key)):
                    keys[n, w] = key[w]
                table[slot] = n
                residue[n], mantissa[n], exponent[n] = layer.residue[state], f, e
                n += 1
            for w in range(len(key)):
                key[w] -= stride[w]
        notes[STEPS] += high - low + 1
    return Layer(keys[:n], table, residue[:n], mantissa[:n], exponent[:n])


@kernel(error_model="numpy")
def pull(
    problem: Problem,
    step: Step,
    layer: Layer,
    after: Layer,
    mode: Whole,
    marginal: FloatArray,
    marginal_exponent: IntArray,
) -> tuple[FloatArray, IntArray]:
    """What lies behind each state of the layer: the sum (or the largest) of weights of completions.

    `layer` carries sums over the ways that lead to its states, `after` what lies behind the states
    of the next one. Where `marginal` is given, the weight of each value of column k is added there.
    """
    columns, weights = problem.columns, problem.weights
    k, here, there = step
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
            for w in range(len(key)):
                key[w] -= stride[w]
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
                marginal[x], marginal_exponent[x] = _plus(marginal[x], marginal_exponent[x], f, e)
    return mantissa, exponent


@kernel(error_model="numpy")
def descend(
    problem: Problem,
    step: Step,
    layer: Layer,
    after: Layer,
    at_state: IntArray,
    uniform: FloatArray,
    values: IntArray,
    mode: Whole,
) -> None:
    """Moves draws from their states in the layer to states of the next one, in place.

    A value of column k is drawn with probability weight · what lies behind; `layer` and `after`
    carry what lies behind. Mode BEST takes the value of the largest weight instead.
    """
    columns, weights = problem.columns, problem.weights
    k, here, there = step
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
            for w in range(len(key)):
                key[w] -= stride[w]
            f, e = after.mantissa[found], after.exponent[found]
            if weighted:
                at = weights.start[k] + x
                f, e = _times(f, e, weights.mantissa[at], weights.exponent[at])
            if f == 0.0:
                continue
            if mode == BEST:
                if _clearly_larger(f, e, sum_f, sum_e):
                    sum_f, sum_e = f, e
                    values[draw], at_state[draw] = x, found
                continue
            values[draw], at_state[draw] = x, found
            sum_f, sum_e = _plus(sum_f, sum_e, f, e)
            if _larger(sum_f, sum_e, target, target_e):
                break


@kernel(error_model="numpy")
def solve(tail: Tail, residual: IntArray, y: IntArray, point: IntArray) -> Any:
    """A whole-number solution of the tail, limits apart; False where there is none."""
    # H y = r downwards along the pivots; a remainder says that no whole number solves it.
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
    # The other rows must agree with the solution.
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


@kernel(error_model="numpy")
def _spans(tail: Tail, columns: Columns, point: IntArray, spans: IntArray) -> Any:
    """Least and largest s, t and s + t that keep every column of the tail within its limits.

    spans[2 d], spans[2 d + 1] for the directions d = 1, 2, 3; False where none does.
    """
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


@kernel(error_model="numpy")
def _triangle(z: Whole) -> Whole:
    """Pairs of whole numbers from zero with a sum of at most z, for z below 2³¹."""
    z = max(z, -1)
    return (z + 1) * (z + 2) // 2


@kernel(error_model="numpy")
def _triangle_residue(z: Whole, modulus: Any) -> Any:
    """The same for any z; halved before it is multiplied, as residues cannot be halved."""
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


@kernel(error_model="numpy")
def _pairs(a: Whole, b: Whole, low: Whole, high: Whole, modulus: Any) -> tuple[Any, float]:
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


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
def _settled(tail: Tail, columns: Columns, k: Whole, point: IntArray) -> Any:
    """Whether the tail columns that nothing behind column k can move are within their limits."""
    for entry in range(tail.settled_start[k], tail.settled_start[k + 1]):
        i = tail.settled[entry]
        if point[i] < 0 or point[i] > columns.upper[tail.start + i]:
            return False
    return True


@kernel(error_model="numpy")
def _slide(tail: Tail, k: Whole, amount: Whole, point: IntArray) -> None:
    """What the tail's solution becomes as column k grows by `amount`.

    From `affine_from` on that is a whole number each time, so that no system is solved anew.
    """
    for i in range(len(point)):
        point[i] -= amount * tail.slopes[k, i]


@kernel(error_model="numpy", fastmath=FAST)
def _line_sum(most: FloatArray, first: Whole, end: Whole, two: bool) -> float:
    """Points of the tail behind some values of the column before it, in closed form for each.

    most[0, 3 d + 1 + g] and most[1, 3 d + 1 + g] are the limits of direction d that move by g with
    each value. All numbers are whole and below 2⁵², so that floats are exact.
    """
    total = 0.0
    for j in range(first, end):
        x = np.float64(j)
        low = max(most[0, 3] - x, most[0, 4], most[0, 5] + x)
        a = min(most[1, 3] - x, most[1, 4], most[1, 5] + x) - low + 1.0
        if two:
            low_t = max(most[0, 6] - x, most[0, 7], most[0, 8] + x)
            b = min(most[1, 6] - x, most[1, 7], most[1, 8] + x) - low_t + 1.0
            g = max(most[0, 9] - x, most[0, 10], most[0, 11] + x) - low - low_t
            h = min(most[1, 9] - x, most[1, 10], most[1, 11] + x) - low - low_t
            total += _cut_box(a, b, g, h)
        else:
            total += max(a, 0.0)
    return total


@kernel(error_model="numpy", fastmath=FAST)
def _line_sum_of_multiples(
    tail: Tail, columns: Columns, point: IntArray, n: Whole, limits: FloatArray
) -> float:
    """The same as `_line_sum` for moves and falls of any size, a chunk of values at a time.

    Quotients of whole numbers below 2⁵² are rounded to the right side of the next whole number.
    """
    last, total = tail.start - 1, 0.0
    for begin in range(0, n, CHUNK):
        length = min(CHUNK, n - begin)
        for d in range(4):
            for j in range(length):
                limits[d, 0, j], limits[d, 1, j] = -(2.0**50), 2.0**50
        for i in range(len(point)):
            d, fall, m = tail.direction[i], -np.float64(tail.slopes[last, i]), 1.0
            if d > 0:
                m = np.float64(tail.multiplier[i])
            base = np.float64(point[i]) + begin * fall
            far = np.float64(columns.upper[tail.start + i])
            near = 0.0
            if m < 0:
                near, far = far, near
            if abs(m) == 1.0:
                for j in range(length):
                    p = base + j * fall
                    limits[d, 0, j] = max(limits[d, 0, j], (near - p) * m)
                    limits[d, 1, j] = min(limits[d, 1, j], (far - p) * m)
            else:
                for j in range(length):
                    p = base + j * fall
                    limits[d, 0, j] = max(limits[d, 0, j], np.ceil((near - p) / m))
                    limits[d, 1, j] = min(limits[d, 1, j], np.floor((far - p) / m))
        for j in range(length):
            low, a = limits[1, 0, j], limits[1, 1, j] - limits[1, 0, j] + 1.0
            inside = limits[0, 0, j] <= 0.0 and limits[0, 1, j] >= 0.0
            if tail.n_free == 2:
                low_t, b = limits[2, 0, j], limits[2, 1, j] - limits[2, 0, j] + 1.0
                g, h = limits[3, 0, j] - low - low_t, limits[3, 1, j] - low - low_t
                a = _cut_box(a, b, g, h)
            elif tail.n_free == 0:
                a = 1.0
            total += max(a, 0.0) if inside else 0.0
    return total


@kernel(error_model="numpy", fastmath=FAST)
def _cut_box(a: float, b: float, g: float, h: float) -> float:
    """Whole-number points s < a, t < b from zero on with g ≤ s + t ≤ h."""
    g, h = max(g, 0.0), min(h + 1.0, a + b - 1.0)
    ha, hb, ga, gb = max(h - a, 0.0), max(h - b, 0.0), max(g - a, 0.0), max(g - b, 0.0)
    n_points = h * (h + 1.0) - ha * (ha + 1.0) - hb * (hb + 1.0)
    n_points -= g * (g + 1.0) - ga * (ga + 1.0) - gb * (gb + 1.0)
    return 0.5 * n_points if min(a, b, h - g) > 0.0 else 0.0


@kernel(error_model="numpy")
def _along(
    problem: Problem, point: IntArray, n: Whole, modulus: Any, spans: IntArray, limits: FloatArray
) -> tuple[Any, float]:
    """Points of the tail as the column before it takes n values, the first of which gives `point`.

    Leaves `point` as it was.
    """
    columns, tail, last = problem.columns, problem.tail, problem.tail.start - 1
    if tail.line != WIDE_LINE:
        f = _line_sum_of_multiples(tail, columns, point, n, limits)
        r = np.uint64(np.int64(f))
        return (r if modulus == np.uint64(0) else r % modulus), f
    total, total_f = np.uint64(0), 0.0
    for _ in range(n):
        if _spans(tail, columns, point, spans):
            r, f = _points(tail, spans, modulus)
            total, total_f = _sum_residues(total, r, modulus), total_f + f
        _slide(tail, last, np.int64(1), point)
    _slide(tail, last, -n, point)
    return total, total_f


@kernel(error_model="numpy")
def _plane(
    problem: Problem,
    low: Whole,
    high: Whole,
    residual: IntArray,
    point: IntArray,
    most: FloatArray,
    notes: IntArray,
) -> tuple[Any, float]:
    """Points behind the values low … high of the column two before the tail, line by line.

    For tails in steps of one. Leaves `residual` and `point` as they were.
    """
    # Along the last column the limits of each direction move by −1, 0 or 1 a value. The columns of
    # the tail are gathered into the nine limits that differ (`most`); those that have no direction
    # of their own cut the line itself: first … end.
    columns, tail, last = problem.columns, problem.tail, problem.tail.start - 1
    slot, sign, base, two = tail.slot, tail.multiplier, tail.start, tail.n_free == 2
    total, total_f = np.uint64(0), 0.0
    _take(columns, last - 1, low, residual)
    _slide(tail, last - 1, low, point)
    for _ in range(low, high + 1):
        if _settled(tail, columns, last - 1, point):
            begin, stop = _limits(columns, last, residual)
            first, end = np.int64(0), stop - begin + 1
            for g in range(3, 12):
                most[0, g], most[1, g] = -(2.0**40), 2.0**40
            for i in range(len(point)):
                p = point[i] - begin * tail.slopes[last, i]
                u, g = columns.upper[base + i], slot[i]
                if g > 2:
                    least = np.float64(-p if sign[i] > 0 else p - u)
                    most[0, g] = max(most[0, g], least)
                    most[1, g] = min(most[1, g], least + u)
                elif g == 2:
                    first, end = max(first, p - u), min(end, p + 1)
                elif g == 0:
                    first, end = max(first, -p), min(end, u - p + 1)
                elif p < 0 or p > u:
                    end = np.int64(0)
            if first < end:
                notes[STEPS] += end - first
                f = _line_sum(most, first, end, two)
                total, total_f = total + np.uint64(np.int64(f)), total_f + f
        _take(columns, last - 1, np.int64(1), residual)
        _slide(tail, last - 1, np.int64(1), point)
    _take(columns, last - 1, -high - 1, residual)
    _slide(tail, last - 1, -high - 1, point)
    return total, total_f


@kernel(error_model="numpy")
def finish_count(
    problem: Problem,
    step: Step,
    modulus: Any,
    layer: Layer,
    notes: IntArray,
    stop: IntArray,
) -> tuple[Any, float, Whole]:
    """Tables through the states of a layer before column `first`: residue, float, exponent.

    Columns up to the tail are tried one value after another, the last of them along a line. Ends
    early, and says STOPPED, once stop[0] is set or more than stop[1] steps were made.
    """
    columns, tail = problem.columns, problem.tail
    first, packing, _ = step
    m, q, last = len(packing.low), len(columns.upper) - tail.start, tail.start - 1
    residual, y = np.empty(m, np.int64), np.empty(m, np.int64)
    point, spans = np.empty(q, np.int64), np.empty(8, np.int64)
    most, limits = np.empty((2, 12)), np.empty((4, 2, CHUNK))
    x, top = np.zeros(tail.start + 1, np.int64), np.zeros(tail.start + 1, np.int64)
    total, total_f, total_e = np.uint64(0), 0.0, np.int64(0)
    affine = tail.affine_from <= first < tail.start
    # Where `affine`, `point` is the tail's solution throughout, slid along with every value.
    for state in range(len(layer.keys)):
        _unpack(packing, layer.keys[state], residual)
        if affine and not solve(tail, residual, y, point):
            continue
        inside, inside_f = np.uint64(0), 0.0
        # Depth first: x[depth] is the value of the column there, taken out of `residual`. `enter`
        # says that the column was just come to, else it goes on to its next value or back.
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
                if low <= high and affine and depth >= last - (tail.line == UNIT_LINE):
                    if notes[STEPS] + (high - low) > stop[1]:  # a line may be as long as a count
                        notes[STOPPED] = 1
                        return total, total_f, total_e
                    if depth == last:
                        _slide(tail, last, low, point)
                        n, f = _along(problem, point, high - low + 1, modulus, spans, limits)
                        _slide(tail, last, -low, point)
                    else:
                        n, f = _plane(problem, low, high, residual, point, most, notes)
                        n = n if modulus == np.uint64(0) else n % modulus
                    inside, inside_f = _sum_residues(inside, n, modulus), inside_f + f
                    notes[STEPS] += high - low
                    low = high + 1  # all of its values are counted
                if low > high:
                    depth, enter = depth - 1, False
                    continue
                x[depth], top[depth], amount = low, high, low
            elif x[depth] < top[depth]:
                x[depth] += 1
                amount, enter = np.int64(1), True
            else:
                _take(columns, depth, -x[depth], residual)
                if affine:
                    _slide(tail, depth, -x[depth], point)
                depth -= 1
                continue
            _take(columns, depth, amount, residual)
            if affine:
                _slide(tail, depth, amount, point)
                if not _settled(tail, columns, depth, point):
                    enter = False
                    continue
            depth += 1
        inside = _multiply_residues(inside, layer.residue[state], modulus)
        total = _sum_residues(total, inside, modulus)
        f, e = _times(layer.mantissa[state], layer.exponent[state], inside_f, np.int64(0))
        total_f, total_e = _plus(total_f, total_e, f, e)
    return total, total_f, total_e


class Visit(NamedTuple):
    """What is known on the way to a point, and what its weight is added to.

    `sums` holds the sum (or the largest weight) so far, the target that ends a draw, and the number
    of the state; `chosen` receives the point at the target, or the best. Empty arrays are not used.
    """

    x: IntArray
    reached: FloatArray  # weight of the values up to each position
    reached_e: IntArray
    sums: FloatArray
    sums_e: IntArray
    chosen: IntArray
    marginal: FloatArray
    marginal_e: IntArray
    notes: IntArray


@kernel(error_model="numpy")
def _weighed(weights: Weights, k: Whole, x: Whole, f: float, e: Whole) -> tuple[float, Whole]:
    """A weight times that of value x in column k."""
    if len(weights.mantissa) == 0:
        return f, e
    at = weights.start[k] + x
    return _times(f, e, weights.mantissa[at], weights.exponent[at])


@kernel(error_model="numpy")
def _range_of_t(tail: Tail, spans: IntArray, s: Whole) -> tuple[Whole, Whole]:
    """The least and the largest t beside an s, by the limits of t and of s + t."""
    if tail.n_free < 2:
        return np.int64(0), np.int64(0)
    return max(spans[4], spans[6] - s), min(spans[5], spans[7] - s)


@kernel(error_model="numpy")
def _add_points(
    problem: Problem, first: Whole, point: IntArray, spans: IntArray, to: Visit, stop: IntArray
) -> None:
    """Every point of the tail behind the values tried: its weight to the sum and the marginals.

    Either span may be as long as a count, so that `stop` is looked at for every value of the first.
    """
    tail, weights, start = problem.tail, problem.weights, problem.tail.start
    marginal, marginal_e, x = to.marginal, to.marginal_e, to.x
    q, total, total_e, points = len(point), 0.0, np.int64(0), 0
    low_s, high_s = (spans[2], spans[3]) if tail.n_free > 0 else (0, 0)
    before, before_e = to.sums[2], to.sums_e[2]
    for s in range(low_s, high_s + 1):
        low_t, high_t = _range_of_t(tail, spans, s)
        if stop[0] != 0 or to.notes[STEPS] + points + (high_t - low_t) > stop[1]:
            to.notes[STOPPED] = 1
            return
        for t in range(low_t, high_t + 1):
            f, e = to.reached[start], to.reached_e[start]
            for i in range(q):
                d = tail.direction[i]
                v = s * (d & 1) + t * (d >> 1)  # directions 1, 2, 3: s, t, s + t
                at = weights.start[start + i] + point[i] + tail.multiplier[i] * v
                x[start + i] = at  # of a tail column the place of its weight, not the value
                f, e = _times(f, e, weights.mantissa[at], weights.exponent[at])
            total, total_e = _plus(total, total_e, f, e)
            points += 1
            if len(marginal) > 0:
                f, e = _times(f, e, before, before_e)
                for k in range(start, start + q):
                    at = x[k]
                    marginal[at], marginal_e[at] = _plus(marginal[at], marginal_e[at], f, e)
    to.notes[STEPS] += points
    to.sums[0], to.sums_e[0] = _plus(to.sums[0], to.sums_e[0], total, total_e)
    if len(marginal) > 0:
        f, e = _times(total, total_e, before, before_e)
        for k in range(first, start):
            at = weights.start[k] + x[k]
            marginal[at], marginal_e[at] = _plus(marginal[at], marginal_e[at], f, e)


@kernel(error_model="numpy")
def _copy(numbers: IntArray, into: IntArray) -> None:
    """Copies one by one: a slice assigned to another costs seconds to compile."""
    for i in range(len(into)):
        into[i] = numbers[i]


@kernel(error_model="numpy")
def _choose_point(
    problem: Problem, point: IntArray, spans: IntArray, mode: Whole, to: Visit, stop: IntArray
) -> None:
    """The points of the tail up to the one at which the sum passes the target, or the best."""
    tail, n, start = problem.tail, len(problem.columns.upper), problem.tail.start
    low_s, high_s = (spans[2], spans[3]) if tail.n_free > 0 else (0, 0)
    for s in range(low_s, high_s + 1):
        low_t, high_t = _range_of_t(tail, spans, s)
        if stop[0] != 0 or to.notes[STEPS] + (high_t - low_t) > stop[1]:
            to.notes[STOPPED] = 1
            return
        for t in range(low_t, high_t + 1):
            f, e = to.reached[start], to.reached_e[start]
            for i in range(n - start):
                d = tail.direction[i]
                to.x[start + i] = point[i] + tail.multiplier[i] * (s * (d & 1) + t * (d >> 1))
                f, e = _weighed(problem.weights, start + i, to.x[start + i], f, e)
            to.notes[STEPS] += 1
            if mode == BEST:
                if _clearly_larger(f, e, to.sums[0], to.sums_e[0]):
                    to.sums[0], to.sums_e[0] = f, e
                    _copy(to.x, to.chosen)
                continue
            _copy(to.x, to.chosen)
            to.sums[0], to.sums_e[0] = _plus(to.sums[0], to.sums_e[0], f, e)
            if _larger(to.sums[0], to.sums_e[0], to.sums[1], to.sums_e[1]):
                to.notes[FOUND] = 1
                return


@kernel(error_model="numpy")
def _complete(
    problem: Problem, step: Step, key: IntArray, mode: Whole, to: Visit, stop: IntArray
) -> None:
    """All completions of a state before column `step.k`, each entered with its weight."""
    columns, tail, first, notes = problem.columns, problem.tail, step.k, to.notes
    m, q = len(step.here.low), len(columns.upper) - tail.start
    residual, y = np.empty(m, np.int64), np.empty(m, np.int64)
    point, spans = np.empty(q, np.int64), np.empty(8, np.int64)
    top = np.zeros(tail.start + 1, np.int64)
    _unpack(step.here, key, residual)
    depth, enter = first, True
    while depth >= first:
        notes[STEPS] += 1
        if stop[0] != 0 or notes[STEPS] > stop[1]:
            notes[STOPPED] = 1
        if notes[STOPPED] != 0 or notes[FOUND] != 0:
            return
        if enter and depth == tail.start:
            if solve(tail, residual, y, point) and _spans(tail, columns, point, spans):
                if len(to.chosen) > 0:
                    _choose_point(problem, point, spans, mode, to, stop)
                else:
                    _add_points(problem, first, point, spans, to, stop)
            depth, enter = depth - 1, False
            continue
        if enter:
            low, high = _limits(columns, depth, residual)
            if low > high:
                depth, enter = depth - 1, False
                continue
            to.x[depth], top[depth] = low, high
            _take(columns, depth, low, residual)
        elif to.x[depth] < top[depth]:
            to.x[depth] += 1
            _take(columns, depth, np.int64(1), residual)
            enter = True
        else:
            _take(columns, depth, -to.x[depth], residual)
            depth -= 1
            continue
        to.reached[depth + 1], to.reached_e[depth + 1] = _weighed(
            problem.weights, depth, to.x[depth], to.reached[depth], to.reached_e[depth]
        )
        depth += 1


@kernel(error_model="numpy")
def _visit_of(
    problem: Problem, n_chosen: Whole, marginal: FloatArray, marginal_e: IntArray
) -> Visit:
    """Where nothing was visited yet, with room for a point of so many columns to be chosen."""
    n, depth = len(problem.columns.upper), problem.tail.start + 1
    return Visit(
        np.zeros(n, np.int64),
        np.ones(depth),
        np.zeros(depth, np.int64),
        np.zeros(3),
        np.zeros(3, np.int64),
        np.zeros(n_chosen, np.int64),
        marginal,
        marginal_e,
        np.zeros(N_NOTES, np.int64),
    )


@kernel(error_model="numpy")
def finish_layer(
    problem: Problem,
    step: Step,
    layer: Layer,
    mode: Whole,
    marginal: FloatArray,
    marginal_e: IntArray,
    behind: FloatArray,
    behind_e: IntArray,
    notes: IntArray,
    stop: IntArray,
) -> None:
    """The weight of all completions of each state of a layer (mode BEST: the largest), in `behind`.

    Where `marginal` is given, the weight of each value of each column from `step.k` on is added
    there, times the number of the state. `notes` and `stop` are as for `finish_count`.
    """
    n = len(problem.columns.upper)
    to = _visit_of(problem, n if mode == BEST else 0, marginal, marginal_e)
    for state in range(len(layer.keys)):
        to.sums[0], to.sums_e[0] = 0.0, 0
        to.sums[2], to.sums_e[2] = layer.mantissa[state], layer.exponent[state]
        _complete(problem, step, layer.keys[state], mode, to, stop)
        behind[state], behind_e[state] = to.sums[0], to.sums_e[0]
        _copy(to.notes, notes)
        if notes[STOPPED] != 0:
            return


@kernel(error_model="numpy")
def finish_draws(
    problem: Problem,
    step: Step,
    layer: Layer,
    at_state: IntArray,
    uniform: FloatArray,
    mode: Whole,
    draws: IntArray,
    stop: IntArray,
) -> None:
    """Fills the columns from `step.k` on of each draw, which stands at a state of the layer.

    `layer` carries what lies behind its states; the point is taken at which the sum of weights
    passes that times `uniform`. Mode BEST takes the completion of the largest weight.
    """
    n = len(problem.columns.upper)
    to = _visit_of(problem, n, np.empty(0), np.empty(0, np.int64))
    for draw in range(len(at_state)):
        state = at_state[draw]
        to.notes[:], to.sums[:], to.sums_e[:] = 0, 0.0, 0
        to.sums[1], to.sums_e[1] = _times(
            layer.mantissa[state], layer.exponent[state], uniform[draw], np.int64(0)
        )
        _complete(problem, step, layer.keys[state], mode, to, stop)
        for k in range(step.k, len(to.chosen)):
            draws[draw, k] = to.chosen[k]


@kernel(error_model="numpy")
def add_up(f: FloatArray, e: IntArray, more: FloatArray, more_e: IntArray) -> None:
    """Adds one array of floats with exponents to another, in place."""
    for i in range(len(f)):
        f[i], e[i] = _plus(f[i], e[i], more[i], more_e[i])


@kernel(error_model="numpy")
def dive(problem: Problem, right: IntArray, n_dives: Whole) -> Any:
    """Values that trying all columns up to the tail one by one would take, estimated by dives.

    Each dive takes a value at random in each column; the product of how many there were is an
    unbiased estimate (Knuth 1975). It only steers the choice of an order.
    """
    columns, tail = problem.columns, problem.tail
    residual, y = np.empty(len(right), np.int64), np.empty(len(right), np.int64)
    point = np.empty(len(tail.direction), np.int64)
    random, total = np.uint64(88172645463325252), 0.0  # xorshift64 from Marsaglia's own seed
    for _ in range(n_dives):
        _copy(right, residual)
        if not solve(tail, residual, y, point):
            return 0.0
        product = 1.0
        for k in range(tail.start):
            low, high = _limits(columns, k, residual)
            if low > high:
                break
            if k == tail.start - 1:
                total += product * (high - low + LINE_STEPS)
                break
            random ^= random << np.uint64(13)
            random ^= random >> np.uint64(7)
            random ^= random << np.uint64(17)
            x = low + np.int64(random % np.uint64(high - low + 1))
            product *= high - low + 1
            total += 5.0 * product  # a value tried by itself costs about five of those on a line
            _take(columns, k, x, residual)
            _slide(tail, k, x, point)
            if not _settled(tail, columns, k, point):
                break
    return total / n_dives
