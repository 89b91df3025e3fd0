"""The distribution of a hidden table from a list of all tables, where they are few."""

import math

import numpy as np
from scipy.special import logsumexp

from discreet.belief.count_belief import (
    CellDistribution,
    TableDistribution,
    exact,
    power_of_two,
    reciprocal,
    score,
)
from discreet.figures import How
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import first_largest


def listed_distribution(
    tables: IntArray, log_weights: FloatArray, prior: str, truth: IntArray | None = None
) -> TableDistribution:
    """The distribution of the table and its cells, from all `tables` (tables × cells), no two
    alike.

    The weights need no scale.
    """
    logs = log_weights - logsumexp(log_weights)
    shares = np.exp(logs)
    bits = max(0.0, -math.fsum(shares * np.maximum(logs, -1e6)) / math.log(2))
    best = first_largest(logs, scale=1.0)
    scored = None if truth is None else score(_log_of(tables, logs, truth))
    return TableDistribution(
        prior=prior,
        how=How.EXACT,
        cells=tuple(_cell(cell, tables[:, cell], shares) for cell in range(tables.shape[1])),
        entropy=exact(bits),
        effective_tables=power_of_two(exact(bits)),
        reciprocal_entropy=reciprocal(exact(bits)),
        best_guess=tuple(tables[best].tolist()),
        best_guess_probability=score(float(logs[best]))[0],
        truth_probability=None if scored is None else scored[0],
        truth_surprisal=None if scored is None else scored[1],
    )


def _log_of(tables: IntArray, logs: FloatArray, truth: IntArray) -> float | None:
    found = np.flatnonzero((tables == truth).all(axis=1))
    return float(logs[found[0]]) if len(found) else None


def _cell(cell: int, counts: IntArray, shares: FloatArray) -> CellDistribution:
    support, where = np.unique(counts, return_inverse=True)
    probabilities = np.bincount(where.ravel(), weights=shares).astype(np.float64)
    return CellDistribution(
        cell=cell,
        support=support,
        probabilities=probabilities,
        mean=math.fsum(shares * counts),
    )
