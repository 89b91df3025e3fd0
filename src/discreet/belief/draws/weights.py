"""What the weights of draws tell: shares, effective draws, and errors by the delta method.

A draw of probability q stands for a table of weight w with w / q. Averages over draws by their
share of all such weights are right for the distribution, and their mean is Σ w over all tables.
"""

import numpy as np
from scipy.special import logsumexp

from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import EPSILON


def shares_of(log_weights: FloatArray) -> FloatArray:
    """The weights, scaled to a sum of one."""
    found: FloatArray = np.exp(log_weights - logsumexp(log_weights))
    return found


def effective_draws(log_weights: FloatArray) -> float:
    """(Σ weight)² / Σ weight²: as many unweighted draws would tell as much; 0 without weight."""
    if not np.any(log_weights > -np.inf):
        return 0.0
    return float(1.0 / np.sum(shares_of(log_weights) ** 2))


def log_mean(log_weights: FloatArray, n_tried: int) -> float:
    """The logarithm of the mean weight; draws that were tried and left out have weight zero."""
    return float(logsumexp(log_weights)) - float(np.log(n_tried))


def relative_error(logs: FloatArray, n_tried: int) -> float:
    """The standard error of the mean weight of `n_tried` draws, over that mean.

    `logs` are those of each weight over the mean; draws left out have none. Weights that are all
    alike but for rounding leave less than 10⁻¹², not the root of what rounding makes of a
    difference of squares; yet never 0, since draws do not make a sum exact.
    """
    squares = float(np.square(np.expm1(logs)).sum()) + n_tried - len(logs)
    return max(float(np.sqrt(squares)) / n_tried, EPSILON)


def value_shares(
    values: IntArray, shares: FloatArray, *, room: bool
) -> tuple[dict[int, float], dict[int, float]]:
    """The share p of each value, and its standard error √Σ share² (1{x = q} − p)².

    A value that all draws have, where there is `room` for others, is given the error that the rule
    of succession allows, 1 / (effective draws + 2); without room it is certain.
    """
    seen, place = np.unique(values, return_inverse=True)
    p = np.bincount(place.ravel(), weights=shares, minlength=len(seen))
    here = np.bincount(place.ravel(), weights=shares**2, minlength=len(seen))
    every = float((shares**2).sum())
    error = np.sqrt(np.maximum(here * (1 - 2 * p) + p**2 * every, 0.0))
    if len(seen) == 1:  # else rounding of p would say whether it is certain
        error = np.array([1.0 / (1.0 / every + 2.0) if room else 0.0])
    listed = [int(q) for q in seen]
    return dict(zip(listed, p.tolist(), strict=True)), dict(
        zip(listed, error.tolist(), strict=True)
    )
