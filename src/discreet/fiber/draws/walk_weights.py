"""A prior's log weights in the form that the walk's inner loops look them up in."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.priors import (
    DirichletMultinomial,
    Multinomial,
    Prior,
    ProductForm,
    Uniform,
)
from discreet.numerics.arrays import FloatArray, IntArray, read_only

if TYPE_CHECKING:
    from discreet.fiber.draws.walk_kernels import Weights

MOST_ENTRIES = 2**26


class TooManyWeights(InputError):  # noqa: N818 - a limit of what can be listed
    """Cells can take more values than weights can be listed for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightTable:
    """log w_c(x) = values[start[c] + x] + slope[c] · x; `flat` where all weights are alike."""

    values: FloatArray
    start: IntArray
    slope: FloatArray
    flat: bool

    def __post_init__(self) -> None:
        for array in (self.values, self.start, self.slope):
            read_only(array)

    def for_kernels(self) -> "Weights":
        """As the inner loops take them."""
        from discreet.fiber.draws.walk_kernels import Weights

        return Weights(self.flat, self.values, self.start, self.slope)

    def log_weight(self, point: IntArray) -> float:
        """log ∏ w_c(x_c) of a point."""
        return float(np.sum(self.values[self.start + point] + self.slope * point))


def weight_table(prior: Prior, system: System) -> WeightTable:
    """The prior's weights for every value that a column can have; slacks weigh nothing.

    Cells with the same weights share their entries. Checked: every weight is positive and finite,
    and there are at most 2**26 entries; raises TooManyWeights before any is listed.
    """
    cells, slacks = system.upper[: system.n_named], system.upper[system.n_named :]
    slope = np.zeros(system.n_columns)
    if isinstance(prior, ProductForm):
        _check_cells("theta", prior.theta, system)
        slope[: system.n_named] = np.log(prior.theta[: system.n_named])
    group, first, tops = _groups(prior, cells)
    lengths = np.append(tops, slacks.max(initial=-1)).astype(np.int64) + 1
    if float(lengths.astype(np.float64).sum()) > MOST_ENTRIES:
        remedy = "use one weight for many cells, or narrower limits"
        rule = f"of at most {MOST_ENTRIES} weights in all"
        raise TooManyWeights(must_be("prior", rule, "more", remedy=remedy))
    begins = np.concatenate([[0], np.cumsum(lengths)])
    rows = _rows(prior, first, tops)
    values = np.concatenate([*rows, np.zeros(lengths[-1])])
    if not np.all(np.isfinite(values)):
        raise InputError(must_be("prior", "positive and finite on every table", "another weight"))
    start = np.concatenate([begins[group], np.full(len(slacks), begins[-2])]).astype(np.int64)
    flat = not np.any(values) and not np.any(slope)
    return WeightTable(values=values, start=start, slope=slope, flat=flat)


def _groups(prior: Prior, upper: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Which row of weights each cell has, a cell of each row, and the largest value in it."""
    if isinstance(prior, Uniform | Multinomial | ProductForm):
        group = np.zeros(len(upper), dtype=np.int64)
        return group, np.zeros(1, dtype=np.int64), np.array([upper.max(initial=0)])
    if not isinstance(prior, DirichletMultinomial):
        return np.arange(len(upper)), np.arange(len(upper)), upper
    different, first, group = np.unique(
        prior.alpha[: len(upper)], return_index=True, return_inverse=True
    )
    tops = np.zeros(len(different), dtype=np.int64)
    np.maximum.at(tops, group, upper)
    return group, first, tops


def _rows(prior: Prior, first: IntArray, tops: IntArray) -> list[FloatArray]:
    """The rows of weights, without a product form's slope."""
    plain = Multinomial() if isinstance(prior, ProductForm) else prior
    return [
        plain.log_weight(np.full(top + 1, cell), np.arange(top + 1, dtype=np.int64))
        for cell, top in zip(first.tolist(), tops.tolist(), strict=True)
    ]


def _check_cells(name: str, array: FloatArray, system: System) -> None:
    if len(array) < system.n_named:
        rule = f"of {system.n_named} cells"
        raise InputError(must_be(name, rule, len(array)))
