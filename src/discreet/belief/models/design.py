"""The free parameters of a hierarchical log-linear model, and cell probabilities from them."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from discreet.belief.models.bayesian_fitting import log_sum
from discreet.belief.models.generators import HierarchicalModel
from discreet.numerics.arrays import FloatArray


def design_matrix(model: HierarchicalModel, sizes: Sequence[int]) -> FloatArray:
    """Cells × free parameters, without the constant, in orthonormal columns.

    log θ = X ψ − log Σ exp X ψ with ψ free. An interaction of variables S gives ∏ (size − 1)
    columns: products of contrasts over the variables of S.
    """
    terms = sorted(
        {
            subset
            for group in model.generators
            for size in range(1, len(group) + 1)
            for subset in combinations(group, size)
        }
    )
    columns = [_term(term, sizes) for term in terms]
    return np.concatenate(columns, axis=1) if columns else np.zeros((int(np.prod(sizes)), 0))


def _term(term: tuple[int, ...], sizes: Sequence[int]) -> FloatArray:
    block: FloatArray = np.ones((1, 1))
    for axis, size in enumerate(sizes):
        part = contrasts(size) if axis in term else np.full((size, 1), size**-0.5)
        block = np.asarray(np.kron(block, part), dtype=np.float64)
    return block


def contrasts(size: int) -> FloatArray:
    """size × (size − 1) orthonormal columns that sum to zero (Helmert)."""
    matrix = np.zeros((size, size - 1))
    for j in range(size - 1):
        matrix[: j + 1, j] = 1.0
        matrix[j + 1, j] = -(j + 1.0)
        matrix[:, j] /= np.sqrt((j + 1.0) * (j + 2.0))
    return matrix


def free_parameters(log_theta: FloatArray, design: FloatArray) -> FloatArray:
    """ψ of each row of log θ (chains × cells), which obeys the model."""
    return log_theta @ design


def log_probabilities(psi: FloatArray, design: FloatArray) -> FloatArray:
    """log θ (chains × cells) of each row of ψ."""
    logs = psi @ design.T
    return logs - log_sum(logs, (1,))
