"""Orders of the columns of a block, and the ranks that tell how good they are."""

import numpy as np
from numba import njit

from discreet.data.arrays import IntArray


@njit(cache=True, nogil=True, error_model="numpy")
def prefix_ranks(matrix: IntArray, order: IntArray) -> IntArray:
    """Rank, modulo a prime, of the first 0, 1, … columns in the given order.

    A rank modulo a prime is never above the true one; it only steers the choice of an order.
    """
    p = np.int64(2147483629)
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
