"""Orders of the columns of a block, and the ranks that tell how good they are.

The exact engine passes the columns of a block one by one and keeps a state for each vector of
right-hand sides that they can leave (see `dynamic_programming_kernels`). How many states there are
depends on the order alone, and no order changes the answer: so that these kernels may estimate.
`echelon` is the exception, and exact: it solves the last columns in whole numbers.
"""

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.kernels import kernel


@kernel(error_model="numpy")
def prefix_ranks(matrix: IntArray, order: IntArray) -> IntArray:
    """Rank, modulo a prime, of the first 0, 1, … columns in the given order.

    A rank modulo a prime is never above the true one; it only steers the choice of an order.
    """
    p = np.int64(2147483629)  # a prime below 2³¹: products of two remainders fit in 63 bits
    m = len(matrix)
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
                # v[i]^(p − 2) is its inverse modulo p (Fermat)
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


@kernel(error_model="numpy")
def greedy_order(matrix: IntArray, right: IntArray, upper: IntArray, first: int) -> IntArray:
    """Columns from `first` on, always the next that keeps the fields of open rows shortest.

    `right` is the most that a row can hold. A row's field is as long as the smaller of what the
    columns passed may have put into it and what those to come may: log₂ of that is its cost.
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
                after *= left[i] > 1  # the last column of a row closes it, and its field is gone
                # opening a row costs a little, more if it stays open for many columns
                cost += after - before + (0.01 * left[i] if done[i] == 0 else 0.0)
            if cost < best_cost - 1e-9:  # ties to the first column, whatever the last bit says
                best, best_cost = j, cost
        used[best] = True
        order[k] = best
        for i in range(m):
            a = abs(matrix[i, best])
            done[i] += a * np.float64(upper[best])
            rest[i] -= a * np.float64(upper[best])
            left[i] -= a != 0
    return order


@kernel(error_model="numpy")
def _shortest(bits: FloatArray, n: int) -> float:
    """The sum of the n shortest positive ones."""
    total, taken = 0.0, 0
    for b in np.sort(bits):
        if b > 0.0 and taken < n:
            total += b
            taken += 1
    return total


@kernel(error_model="numpy")
def predicted_states(
    matrix: IntArray, right: IntArray, upper: IntArray, order: IntArray, tail_freedom: int
) -> float:
    """Logarithm, base 2, of the states that an order needs up to a tail of the given freedom.

    At the cut between columns S and T the states lie in a space of dimension rank(S) + rank(T) −
    rank(S ∪ T), and |S| − rank(S ∪ T) + rank(T) of the columns passed were free to choose; the size
    is estimated by as many of the shortest fields of rows, or ranges of columns.
    """
    m, n = matrix.shape
    before, behind = prefix_ranks(matrix, order), prefix_ranks(matrix, order[::-1].copy())[::-1]
    done_low, done_high, rest_low, rest_high = np.zeros((4, m))
    for j in range(n):
        for i in range(m):
            change = matrix[i, j] * np.float64(upper[j])
            rest_low[i] += min(change, 0.0)
            rest_high[i] += max(change, 0.0)
    fields, values, total = np.zeros(m), np.zeros(n), 0.0
    for k in range(1, n + 1):
        j = order[k - 1]
        values[k - 1] = np.log2(1.0 + upper[j])
        if n - (k - 1) - behind[k - 1] <= tail_freedom:
            break
        for i in range(m):
            low, high = (
                min(matrix[i, j] * np.float64(upper[j]), 0.0),
                max(matrix[i, j] * np.float64(upper[j]), 0.0),
            )
            done_low[i], done_high[i] = done_low[i] + low, done_high[i] + high
            rest_low[i], rest_high[i] = rest_low[i] - low, rest_high[i] - high
            width = min(rest_high[i], right[i] - done_low[i])
            width -= max(rest_low[i], right[i] - done_high[i])
            fields[i] = np.log2(1.0 + max(width, 0.0))
        size = _shortest(fields, before[k] + behind[k] - before[n])
        total += 2.0 ** min(size, _shortest(values[:k], k - before[n] + behind[k]), 1000.0)
    return float(np.log2(max(total, 1.0)))


@kernel(error_model="numpy")
def echelon(work: IntArray, m: int, largest: int) -> IntArray:
    """Brings the first m rows to echelon form by column operations, in place; the pivot rows.

    Euclid's algorithm row by row: the smallest entry divides the others until it stands alone. A
    first pivot of −1 says that entries grew beyond `largest`.
    """
    pivots, rank = np.empty(m, np.int64), 0
    height, q = work.shape
    for i in range(m):
        while True:
            smallest, alone = -1, True
            for j in range(rank, q):
                if work[i, j] != 0:
                    alone = alone and smallest < 0
                    if smallest < 0 or abs(work[i, j]) < abs(work[i, smallest]):
                        smallest = j
            if smallest < 0:
                break
            sign = 1 if work[i, smallest] > 0 else -1
            for r in range(height):
                v = work[r, smallest] * sign
                work[r, smallest] = work[r, rank]
                work[r, rank] = v
            if alone:
                pivots[rank] = i
                rank += 1
                break
            for j in range(rank + 1, q):
                times = work[i, j] // work[i, rank]
                for r in range(height):
                    # in floats first: the integer product could wrap around unnoticed
                    after = work[r, j] - np.float64(times) * work[r, rank]
                    if abs(after) > largest:
                        pivots[0] = -1
                        return pivots[:1]
                    work[r, j] -= times * work[r, rank]
    return pivots[:rank]
