"""Linear and logistic regression on cells, with the classical standard errors.

They take records for independent and, of a linear regression, its variance for the same everywhere.
Weights are brought to a mean of 1, so that a file counts as many records as it has: what a survey's
design adds to an error is not in it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.figures import Unavailable
from discreet.numerics.arrays import FloatArray
from discreet.numerics.linear_algebra import in_one_thread
from discreet.protection.model_columns import ModelCells

AT_HAND = 1 << 14  # cells whose row of the design is held at a time
DEPENDENT = 1e-10  # of the eigenvalues of correlations: far above rounding
EXACT_FIT = 1e-20  # of the sum of squares: what rounding leaves of residuals that are 0
STEP, MOST_STEPS = 1e-8, 30
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignColumn:
    """A column of the design: the product of numbers (level None) and of indicators of a level."""

    name: str
    factors: tuple[tuple[str, int | None], ...] = ()

    def of(self, cells: ModelCells, here: slice) -> FloatArray:
        """Its value in these cells."""
        found = np.ones(len(cells.weight[here]))
        for name, level in self.factors:
            own = cells.values[name][here]
            found *= own if level is None else own == level
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFit:
    """Coefficients with their standard errors, and the quantile that makes an interval of them."""

    coefficients: FloatArray
    errors: FloatArray
    quantile: float


Design = Sequence[DesignColumn]


@in_one_thread
def linear_fit(cells: ModelCells, design: Design) -> ModelFit | Unavailable:
    """Weighted least squares; intervals by Student's t with as many degrees as records are left."""
    from scipy.special import stdtrit

    products, moments = _products(cells, design, cells.weight, cells.weight * cells.mean)
    inverse = _inverse(products)
    free = cells.n_records - len(design)
    if inverse is None or free < 1:
        return _singular(cells, design)
    coefficients = inverse @ moments
    rest = cells.mean - _linear(cells, design, coefficients)
    squares = float(cells.within.sum() + cells.weight @ rest**2)
    if squares <= EXACT_FIT * float(cells.weight @ cells.mean**2):
        return Unavailable("the model fits every record without error")
    variance = squares / free
    return ModelFit(
        coefficients=coefficients,
        errors=np.sqrt(variance * np.diag(inverse)),
        quantile=float(stdtrit(free, (1 + CONFIDENCE) / 2)),
    )


@in_one_thread
def logistic_fit(cells: ModelCells, design: Design) -> ModelFit | Unavailable:
    """Maximum likelihood by Newton's steps, halved until they rise; intervals by the normal law."""
    from scipy.special import expit, ndtri

    if _inverse(_products(cells, design, cells.weight, cells.weight)[0]) is None:
        return _singular(cells, design)
    coefficients = np.zeros(len(design))
    for _ in range(MOST_STEPS):
        p = expit(_linear(cells, design, coefficients))
        products, gradient = _products(
            cells, design, cells.weight * p * (1 - p), cells.weight * (cells.mean - p)
        )
        inverse = _inverse(products)
        if inverse is None:
            break
        step = inverse @ gradient
        if np.max(np.abs(_linear(cells, design, step)), initial=0.0) < STEP:
            errors, quantile = np.sqrt(np.diag(inverse)), float(ndtri((1 + CONFIDENCE) / 2))
            return ModelFit(coefficients=coefficients, errors=errors, quantile=quantile)
        coefficients = _raised(cells, design, coefficients, step)
    return Unavailable("some values decide the response, so that no finite estimate fits best")


def _singular(cells: ModelCells, design: Design) -> Unavailable:
    if cells.n_records <= len(design):
        return Unavailable(f"there are no more records than the {len(design)} coefficients")
    return Unavailable("some columns of the model follow from the others")


def _chunks(cells: ModelCells, design: Design) -> Iterator[tuple[slice, FloatArray]]:
    """Rows of the design, few at a time."""
    for first in range(0, len(cells.weight), AT_HAND):
        here = slice(first, first + AT_HAND)
        yield here, np.stack([column.of(cells, here) for column in design], axis=1)


def _products(
    cells: ModelCells, design: Design, weight: FloatArray, response: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """X'WX and X'y."""
    products, moments = np.zeros((len(design), len(design))), np.zeros(len(design))
    for here, x in _chunks(cells, design):
        products += x.T @ (x * weight[here, None])
        moments += x.T @ response[here]
    return products, moments


def _linear(cells: ModelCells, design: Design, coefficients: FloatArray) -> FloatArray:
    parts = [x @ coefficients for _, x in _chunks(cells, design)]
    return np.concatenate(parts) if parts else np.empty(0)


def _inverse(products: FloatArray) -> FloatArray | None:
    """The inverse, by way of correlations; None if columns depend on each other."""
    scale = np.sqrt(np.diag(products))
    if not np.all(scale > 0):
        return None
    values, vectors = np.linalg.eigh(products / np.outer(scale, scale))
    if values[0] < DEPENDENT:
        return None
    return np.asarray((vectors / values) @ vectors.T / np.outer(scale, scale), dtype=np.float64)


def _raised(
    cells: ModelCells, design: Design, coefficients: FloatArray, step: FloatArray
) -> FloatArray:
    """The coefficients after the step, or after the longest half of a half that does not fall."""
    here = _likelihood(cells, design, coefficients)
    slack = 1e-12 * float(cells.weight.sum())  # of rounding, at the end of the steps
    for halved in range(30):
        moved = coefficients + step * 0.5**halved
        if _likelihood(cells, design, moved) >= here - slack:
            return moved
    return coefficients


def _likelihood(cells: ModelCells, design: Design, coefficients: FloatArray) -> float:
    linear = _linear(cells, design, coefficients)
    return float(cells.weight @ (cells.mean * linear - np.logaddexp(0.0, linear)))
