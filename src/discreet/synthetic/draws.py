"""Categorical draws whose probabilities depend on a condition, one array at a time."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.numerics.arrays import FloatArray, IntArray, read_only


class Conditional:
    """A categorical distribution for each condition: P(level | condition) ∝ weights[condition].

    Draws invert the distribution function of each row; all rows lie end to end on one line, row c
    on [c, c + 1), so one binary search serves draws under many conditions at once.
    """

    __slots__ = ("_line", "_possible", "n_levels")

    def __init__(self, weights: ArrayLike) -> None:
        table = np.asarray(weights, dtype=np.float64)
        if table.ndim != 2 or not np.isfinite(table).all() or (table < 0).any():
            raise ValueError("weights must be a table of finite numbers of at least 0")
        sums = table.cumsum(axis=1)
        totals = sums[:, -1:]
        shares = np.divide(sums, totals, out=np.ones_like(sums), where=totals > 0)
        self.n_levels: int = table.shape[1]
        self._possible = read_only(totals[:, 0] > 0)
        self._line: FloatArray = read_only((shares + np.arange(len(table))[:, None]).ravel())

    def draw(self, condition: NDArray[Any], *, rng: np.random.Generator) -> IntArray:
        """One level for each condition; a level of weight 0 is never drawn.

        Checked: every condition asked for has some level of positive weight.
        """
        if not self._possible[condition].all():
            raise ValueError("condition must be one with a possible level")
        below_next = np.nextafter(condition + 1.0, 0.0)  # the sum may round up into the next row
        points = np.minimum(rng.random(len(condition)) + condition, below_next)
        found = np.searchsorted(self._line, points, side="right")
        levels: IntArray = found - condition.astype(np.int64) * self.n_levels
        return levels
