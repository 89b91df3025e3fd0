"""The points of a block that has few, listed one by one.

Most blocks of a small question have a handful of points. To list them takes milliseconds, while the
kernels of dynamic programming take half a minute to compile where they were never used.
"""

from itertools import pairwise

import numpy as np
from scipy.sparse import csc_array, csr_array

from discreet.clock import work
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.system.blocks import Block
from discreet.numerics.arrays import IntArray

MOST_COLUMNS = 40
MOST_STEPS = 20_000  # values tried: some 40 ms, less than it takes to load what is compiled
STEP_SECONDS = 5e-6


def listed_points(block: Block, budget: Budget) -> IntArray | None:
    """All points of a block in any order, lower limits not added; None where there are many.

    Column by column, within the values after which every row can still be met. Asks for no more
    than the budget allows, and says None rather than that it does not.
    """
    left = budget.seconds_left
    if left is not None and left <= 0:
        return None
    steps = min(budget.steps, budget.states)
    return small_points(block.matrix, block.right, block.upper, most_steps=steps)


def small_points(
    matrix: csr_array, right: IntArray, upper: IntArray, *, most_steps: int = MOST_STEPS
) -> IntArray | None:
    """All y with A y = right and 0 ≤ y ≤ upper, in any order; None where there are many."""
    n = matrix.shape[1]
    if n > MOST_COLUMNS:
        return None
    by_column = matrix.tocsc()
    # Columns in many rows, and of few values, first: they leave the others the least choice.
    order = np.lexsort([upper, -np.diff(by_column.indptr)])
    steps = min(MOST_STEPS, most_steps)
    search = _Search(by_column[:, order], right, upper[order], steps)
    done = search.go(0)
    work(STEP_SECONDS * (steps - max(search.steps, 0)))
    if not done:
        return None
    points = np.empty((len(search.found), n), dtype=np.int64)
    points[:, order] = np.array(search.found, dtype=np.int64).reshape(-1, n)
    return points


class _Search:
    """Where the search stands: what is left of each row, and the values of the columns so far."""

    def __init__(self, by_column: csc_array, right: IntArray, tops: IntArray, steps: int) -> None:
        upper, ends = tops.tolist(), by_column.indptr.tolist()
        rows, factors = by_column.indices.tolist(), by_column.data.tolist()
        self.entries = [list(zip(rows[a:b], factors[a:b], strict=True)) for a, b in pairwise(ends)]
        self.upper, self.left, self.steps = upper, right.tolist(), steps
        self.point = [0] * len(upper)
        self.found: list[tuple[int, ...]] = []
        # What the columns from j on add to each row at least and at most.
        least, most = [0] * len(self.left), [0] * len(self.left)
        self.least, self.most = [least], [most]
        for entries, top in zip(reversed(self.entries), reversed(upper), strict=True):
            least, most = list(least), list(most)
            for row, factor in entries:
                least[row] += min(factor * top, 0)
                most[row] += max(factor * top, 0)
            self.least.insert(0, least)
            self.most.insert(0, most)

    def go(self, j: int) -> bool:
        """Enters all points with the values of the columns before j; False where steps ran out."""
        if j == len(self.upper):
            if not any(self.left):
                self.found.append(tuple(self.point))
            return True
        low, high = self._limits(j)
        self.steps -= max(high - low + 1, 0)
        if self.steps < 0:
            return False
        before = [self.left[row] for row, _ in self.entries[j]]
        for value in range(low, high + 1):
            self.point[j] = value
            for (row, factor), had in zip(self.entries[j], before, strict=True):
                self.left[row] = had - factor * value
            if not self.go(j + 1):
                return False
        for (row, _), had in zip(self.entries[j], before, strict=True):
            self.left[row] = had
        return True

    def _limits(self, j: int) -> tuple[int, int]:
        """Values of column j after which every row can still be met by the columns behind it."""
        low, high = 0, self.upper[j]
        least, most = self.least[j + 1], self.most[j + 1]
        for row, factor in self.entries[j]:
            above, below = self.left[row] - least[row], self.left[row] - most[row]
            if factor > 0:
                high, low = min(high, above // factor), max(low, -(-below // factor))
            else:
                high, low = min(high, -below // -factor), max(low, -(above // -factor))
        return low, high
