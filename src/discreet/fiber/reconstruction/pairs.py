"""Two tables of one system at once: a system whose points are such pairs.

With m = min(x, y) in each cell that counts, x = m + p and y = m + q, so that Σ p is the number of
persons that x has and y has not. Then

    A m + A p = b,   A m + A q = b,   m + p + q ≤ u,   p ≤ u z,   q ≤ u (1 − z),   z in {0, 1}

for lower limits of zero. The third kind of row keeps p and q from being above zero together where
u = 1, and there no z is needed; it is also what makes the linear program close to the truth, which
limits on x and y by themselves do not (measured: 54 against 120 for 200 persons).
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import block_array, csr_array, diags_array, eye_array

from discreet.fiber.system.linear_system import System
from discreet.numerics.arrays import BoolArray, IntArray

Pair = tuple[IntArray, IntArray]


@dataclass(frozen=True, slots=True)
class PairSystem:
    """Pairs of points of `block`: as `system`, in which Σ over `surplus` is to be maximised."""

    block: System
    counted: IntArray  # columns of the block whose persons count
    others: IntArray
    system: System

    @property
    def surplus(self) -> IntArray:
        """The columns p."""
        n = len(self.counted)
        return np.arange(n, 2 * n)

    def read(self, point: IntArray) -> Pair:
        """The two points of the block behind a point of the pair system."""
        n, rest = len(self.counted), len(self.others)
        least, more, less = point[:n], point[n : 2 * n], point[2 * n : 3 * n]
        first, second = self.block.lower.copy(), self.block.lower.copy()
        first[self.counted] += least + more
        second[self.counted] += least + less
        first[self.others] += point[3 * n : 3 * n + rest]
        second[self.others] += point[3 * n + rest : 3 * n + 2 * rest]
        return first, second

    def point(self, pair: Pair) -> IntArray:
        """The point of the pair system that stands for two points of the block."""
        first, second = pair[0] - self.block.lower, pair[1] - self.block.lower
        x, y = first[self.counted], second[self.counted]
        most = (self.block.upper - self.block.lower)[self.counted]
        least = np.minimum(x, y)
        more, less = x - least, y - least
        room = most - least - more - less
        large = most > 1
        up = (more > 0)[large]
        over, under = (most[large] * up - more[large]), (most[large] * ~up - less[large])
        parts = (least, more, less, first[self.others], second[self.others], room, up, over, under)
        return np.concatenate(parts).astype(np.int64)


def pair_system(block: System, counted: BoolArray) -> PairSystem:
    """The pairs of points of a block; `counted` says of which columns the persons count."""
    inside, others = np.flatnonzero(counted), np.flatnonzero(~counted)
    most = block.upper - block.lower
    right = block.right - block.matrix @ block.lower
    here, rest = block.matrix[:, inside], block.matrix[:, others]
    own, spare = most[inside], most[others]
    large = np.flatnonzero(own > 1)
    unit = eye_array(len(inside), dtype=np.int64, format="csr")
    pick = csr_array(unit[large])
    top, one = diags_array(own[large], dtype=np.int64), eye_array(len(large), dtype=np.int64)
    matrix = block_array(
        [
            [here, here, None, rest, None, None, None, None, None],
            [here, None, here, None, rest, None, None, None, None],
            [unit, unit, unit, None, None, unit, None, None, None],
            [None, pick, None, None, None, None, -top, one, None],
            [None, None, pick, None, None, None, top, None, one],
        ],
        format="csr",
        dtype=np.int64,
    )
    zeros = np.zeros(len(large), dtype=np.int64)
    upper = (own, own, own, spare, spare, own, zeros + 1, own[large], own[large])
    return PairSystem(
        block=block,
        counted=inside,
        others=others,
        system=System(
            matrix=csr_array(matrix),
            right=np.concatenate([right, right, own, zeros, own[large]]),
            lower=np.zeros(matrix.shape[1], dtype=np.int64),
            upper=np.concatenate(upper),
            n_named=3 * len(inside),
            row_names=("two tables",) * matrix.shape[0],
        ),
    )


def surplus(first: IntArray, second: IntArray) -> int:
    """Persons that the first table has and the second has not: Σ (x − y)⁺."""
    return int(np.maximum(first - second, 0).sum())
