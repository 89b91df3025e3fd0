"""The sum over what the rows of a two-way table give to the first pair of its columns.

With four columns, or three, a table is split into its first two columns and the others. `s` is what
the rows give to the first pair, walked like an odometer over all rows but the last two; these two
share the rest, s_{r−1} = low … high, and are summed in one go. For given s, the first pair can be
filled in N(s, c) ways, c being the total of its first column: the points 0 ≤ x ≤ s with Σ x = c, by
inclusion and exclusion over the upper limits

    N(s, c) = Σ_I (−1)^|I| C(c − Σ_I (s_i + 1) + r − 1, r − 1),

and likewise the second pair for rows − s. Both are whole numbers below 2⁵³ as far as the caller
lets them be, so that floats hold them exactly; their products are added as residues.
"""

from typing import Any

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.kernels import kernel

FAST = {"nnan", "nsz", "reassoc", "contract"}  # sums of exact whole numbers, in any order


@kernel(error_model="numpy")
def _fill(s: IntArray, n_fixed: int, total: int, sums: FloatArray, signs: FloatArray) -> None:
    """total − Σ_I (s_i + 1) and (−1)^|I| for all sets I of the first rows."""
    sums[0], signs[0] = total, 1.0
    for i in range(n_fixed):
        for j in range(1 << i):
            sums[j + (1 << i)] = sums[j] - (s[i] + 1)
            signs[j + (1 << i)] = -signs[j]


@kernel(error_model="numpy", fastmath=FAST)
def _add_powers(
    low: int, n: int, rest: int, r: int, sums: FloatArray, signs: FloatArray, out: FloatArray
) -> None:
    """(r − 1)! · N(s, c) for s_{r−1} = low, low + 1, … and s_r = rest − s_{r−1}, into `out`."""
    # Sets I without either of the last two rows, and with both: they do not depend on s_{r−1}. A
    # number of ways below zero is cut at −1, where the first factor of the product vanishes.
    constant = 0.0
    for j in range(len(sums)):
        a, b = max(sums[j], -1.0), max(sums[j] - rest - 2.0, -1.0)
        p, q = a + 1.0, b + 1.0
        for i in range(2, r):
            p, q = p * (a + i), q * (b + i)
        constant += signs[j] * (p + q)
    for v in range(n):
        out[v] = constant
    # Sets with one of the two. Four rows are the common case, and vectorise when written out.
    for j in range(len(sums)):
        first, second, sign = sums[j] - 1.0 - low, sums[j] - 1.0 - rest + low, signs[j]
        if r == 4:
            for v in range(n):
                a, b = max(first - v, -1.0), max(second + v, -1.0)
                p = (a + 1.0) * (a + 2.0) * (a + 3.0)
                out[v] -= sign * (p + (b + 1.0) * (b + 2.0) * (b + 3.0))
        else:
            for v in range(n):
                a, b = max(first - v, -1.0), max(second + v, -1.0)
                p, q = a + 1.0, b + 1.0
                for i in range(2, r):
                    p, q = p * (a + i), q * (b + i)
                out[v] -= sign * (p + q)


@kernel(error_model="numpy")
def _multiplied(
    one: FloatArray, other: FloatArray, n: int, scale: float, modulus: Any
) -> tuple[Any, float]:
    """Σ of products of the rounded numbers: the residue, and the size as a float."""
    total, size = np.uint64(0), 0.0
    for v in range(n):
        a, b = (
            np.uint64(np.int64(one[v] * scale + 0.5)),
            np.uint64(np.int64(other[v] * scale + 0.5)),
        )
        size += np.float64(a) * np.float64(b)
        if modulus == np.uint64(0):
            total += a * b
        else:
            total = (total + (a % modulus) * (b % modulus)) % modulus
    return total, size


@kernel(error_model="numpy")
def sum_over_pairs(
    rows: IntArray, total: int, one: int, other: int, modulus: Any
) -> tuple[Any, float]:
    """Σ_s N(s, one) N(rows − s, other) over 0 ≤ s ≤ rows with Σ s = total, r ≥ 3 rows.

    `one` of −1 stands for a single column, N = 1. A remainder, modulo 2⁶⁴ where `modulus` is zero,
    and the size as a float.
    """
    r = len(rows)
    s, complement = np.zeros(r, np.int64), np.empty(r, np.int64)
    width = 1 << (r - 2)
    sums, signs = np.empty(width), np.empty(width)
    longest = rows[r - 2] + 1
    left, right = np.empty(longest), np.empty(longest)
    factorial = 1.0
    for i in range(2, r):
        factorial *= i
    residue, size, taken = np.uint64(0), 0.0, 0
    while True:
        rest = total - taken
        low, high = max(0, rest - rows[r - 1]), min(rows[r - 2], rest)
        n = high - low + 1
        if n > 0:
            if one >= 0:
                _fill(s, r - 2, one, sums, signs)
                _add_powers(low, n, rest, r, sums, signs, left)
            else:
                left[:n] = factorial  # N = 1, times the factorial that `_multiplied` takes out
            for i in range(r - 2):
                complement[i] = rows[i] - s[i]
            _fill(complement, r - 2, other, sums, signs)
            away = rows[r - 2] + rows[r - 1] - rest
            _add_powers(rows[r - 2] - high, n, away, r, sums, signs, right)
            part, part_size = _multiplied(left[:n], right[:n][::-1], n, 1.0 / factorial, modulus)
            residue, size = residue + part, size + part_size
            if modulus != np.uint64(0):
                residue %= modulus
        # The next s of the rows but two, as an odometer that never counts beyond the total.
        i = r - 3
        while i >= 0 and (s[i] == rows[i] or taken == total):
            taken -= s[i]
            s[i] = 0
            i -= 1
        if i < 0:
            return residue, size
        s[i] += 1
        taken += 1
