"""A prior's log weights in the form that the walk's inner loops look them up in."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.arrays import FloatArray, IntArray, read_only
from discreet.errors import InputError, must_be
from discreet.fiber.priors import DirichletMultinomial, Multinomial, Prior, ProductForm, Uniform
from discreet.fiber.system import System

if TYPE_CHECKING:
    from discreet.fiber.walk_kernels import Weights

MOST_ENTRIES = 2**26


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
        from discreet.fiber.walk_kernels import Weights

        return Weights(self.flat, self.values, self.start, self.slope)

    def log_weight(self, point: IntArray) -> float:
        """log ∏ w_c(x_c) of a point."""
        return float(np.sum(self.values[self.start + point] + self.slope * point))


def weight_table(prior: Prior, system: System) -> WeightTable:
    """The prior's weights for every value that a column can have; slacks weigh nothing.

    Cells with the same weights share their entries. Checked: every weight is positive and finite,
    and there are at most 2**26 entries.
    """
    cells, slacks = system.upper[: system.n_named], system.upper[system.n_named :]
    slope = np.zeros(system.n_columns)
    if isinstance(prior, ProductForm):
        _check_cells("theta", prior.theta, system)
        slope[: system.n_named] = np.log(prior.theta[: system.n_named])
    group, rows = _shared_rows(prior, cells)
    lengths = np.array([len(row) for row in rows] + [int(slacks.max(initial=-1)) + 1])
    begins = np.concatenate([[0], np.cumsum(lengths)])
    if begins[-1] > MOST_ENTRIES:
        remedy = "use one weight for many cells, or narrower limits"
        rule = f"of at most {MOST_ENTRIES} weights in all"
        raise InputError(must_be("prior", rule, int(begins[-1]), remedy=remedy))
    values = np.concatenate([*rows, np.zeros(lengths[-1])])
    if not np.all(np.isfinite(values)):
        raise InputError(must_be("prior", "positive and finite on every table", "another weight"))
    start = np.concatenate([begins[group], np.full(len(slacks), begins[-2])]).astype(np.int64)
    flat = not np.any(values) and not np.any(slope)
    return WeightTable(values=values, start=start, slope=slope, flat=flat)


def _shared_rows(prior: Prior, upper: IntArray) -> tuple[IntArray, list[FloatArray]]:
    """Which row of weights each cell has, and the rows, without a product form's slope."""
    longest = np.arange(int(upper.max(initial=0)) + 1, dtype=np.int64)
    if isinstance(prior, Uniform | Multinomial | ProductForm):
        plain = Uniform() if isinstance(prior, Uniform) else Multinomial()
        alone = plain.log_weight(np.zeros_like(longest), longest)
        return np.zeros(len(upper), dtype=np.int64), [alone]
    if isinstance(prior, DirichletMultinomial):
        different, first, group = np.unique(
            prior.alpha[: len(upper)], return_index=True, return_inverse=True
        )
        tops = np.zeros(len(different), dtype=np.int64)
        np.maximum.at(tops, group, upper)
    else:
        first = group = np.arange(len(upper))
        tops = upper
    if int(tops.sum()) + len(tops) > MOST_ENTRIES:
        remedy = "use one weight for many cells, or narrower limits"
        raise InputError(
            must_be("prior", f"of at most {MOST_ENTRIES} weights in all", "more", remedy=remedy)
        )
    rows = [
        prior.log_weight(np.full(top + 1, cell), longest[: top + 1])
        for cell, top in zip(first, tops, strict=True)
    ]
    return group, rows


def _check_cells(name: str, array: FloatArray, system: System) -> None:
    if len(array) < system.n_named:
        rule = f"of {system.n_named} cells"
        raise InputError(must_be(name, rule, len(array)))
