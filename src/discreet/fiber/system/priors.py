"""How probable each consistent table is before anything is known: products over cells."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.gamma_ratio import log_factorial_ratio, log_gamma_ratio
from discreet.numerics.special import log_gamma


class Prior(Protocol):
    """A weight ∏ w_i(x_i) over the cells of a table; its scale is of no account."""

    @property
    def name(self) -> str:
        """What it is called."""

    def log_weight(self, cells: IntArray, values: IntArray) -> FloatArray:
        """log w_i(x) of each value in its cell; both of one shape."""


@dataclass(frozen=True, slots=True)
class Uniform:
    """Every consistent table is as probable as any other."""

    name: str = "uniform"

    def log_weight(self, cells: IntArray, values: IntArray) -> FloatArray:
        """Zero: all weights are one."""
        return np.zeros(np.shape(values))

    def log_ratio(self, cells: IntArray, start: IntArray, values: IntArray) -> FloatArray:
        """Zero."""
        return np.zeros(np.shape(values))


@dataclass(frozen=True, slots=True)
class Multinomial:
    """1 / ∏ x!: a table counts as often as there are orderings of records that give it."""

    name: str = "multinomial"

    def log_weight(self, cells: IntArray, values: IntArray) -> FloatArray:
        """−log x!."""
        return -log_gamma(np.asarray(values) + 1.0)

    def log_ratio(self, cells: IntArray, start: IntArray, values: IntArray) -> FloatArray:
        """−log x! / start!."""
        return -log_factorial_ratio(start, values)


@dataclass(frozen=True, slots=True)
class ProductForm:
    """∏ θ^x / x!: independent Poisson counts, or a multinomial, with cell probabilities θ."""

    theta: FloatArray
    name: str = "product_form"

    def __post_init__(self) -> None:
        _check_positive("theta", self.theta)

    def log_weight(self, cells: IntArray, values: IntArray) -> FloatArray:
        """x log θ − log x!."""
        log_theta: FloatArray = np.log(self.theta[cells])
        return values * log_theta - log_gamma(np.asarray(values) + 1.0)

    def log_ratio(self, cells: IntArray, start: IntArray, values: IntArray) -> FloatArray:
        """(x − start) log θ − log x! / start!."""
        log_theta: FloatArray = np.log(self.theta[cells])
        return (np.asarray(values) - start) * log_theta - log_factorial_ratio(start, values)


@dataclass(frozen=True, slots=True)
class DirichletMultinomial:
    """∏ Γ(x + α) / x!: cell probabilities unknown, Dirichlet(α) before the table was seen."""

    alpha: FloatArray
    name: str = "dirichlet_multinomial"

    def __post_init__(self) -> None:
        _check_positive("alpha", self.alpha)

    def log_weight(self, cells: IntArray, values: IntArray) -> FloatArray:
        """log Γ(x + α) − log Γ(α) − log x!."""
        return log_gamma_ratio(self.alpha[cells], values) - log_gamma(np.asarray(values) + 1.0)

    def log_ratio(self, cells: IntArray, start: IntArray, values: IntArray) -> FloatArray:
        """log Γ(x + α) / Γ(start + α) − log x! / start!."""
        gammas = log_gamma_ratio(self.alpha[cells] + start, np.asarray(values) - start)
        return gammas - log_factorial_ratio(start, values)


def log_ratio(prior: Prior, cells: IntArray, start: IntArray, values: IntArray) -> FloatArray:
    """log w_i(x) / w_i(start), where the prior can without the loss of digits of two logarithms.

    Trusted: `start` has a weight above zero.
    """
    own: Callable[..., FloatArray] | None = getattr(prior, "log_ratio", None)
    if own is None:
        return prior.log_weight(cells, values) - prior.log_weight(cells, start)
    return own(cells, start, values)


def _check_positive(name: str, array: FloatArray) -> None:
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        raise InputError(must_be(name, "an array of one number a cell", "something else"))
    if not np.all(np.isfinite(array)) or np.any(array <= 0):
        raise InputError(must_be(name, "positive in every cell", "another"))
    read_only(array)


def check_length(prior: Prior, n_cells: int) -> None:
    """A prior with a parameter for each cell has as many as there are cells."""
    for name in ("theta", "alpha"):
        parameters = getattr(prior, name, None)
        if parameters is not None and len(parameters) != n_cells:
            rule = f"one number for each of the {n_cells} cells"
            raise InputError(must_be(name, rule, len(parameters)))
