"""Distributions of cells from counts seen along several chains, with standard errors that cost
little.

Pr(F = q) is the share of draws with q. Its error is √(p(1 − p) / n), n being the effective draws of
that share; n is found for the most probable values, and the least of theirs stands for the others,
so that a cell of thousands of values costs no more than one of a few."""

from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.chain_diagnostics import Diagnostics, diagnose

MOST_DIAGNOSED = 6  # values of a cell
FEW = 10.0  # independent draws with a value, below which their own error says little


@dataclass(frozen=True, slots=True)
class CountedDistribution:
    """Pr(F = q) by value, its standard errors, what the chains say of themselves, and the
    effective draws of the count and of its most probable values, at the least."""

    distribution: dict[int, float]
    errors: dict[int, float]
    told: Diagnostics | None
    effective_draws: float

    @property
    def worst(self) -> float:
        """The largest R̂ of a value's share, 0 for independent draws."""
        return 0.0 if self.told is None else float(self.told.r_hat.max(initial=0.0))


def independent_distribution(counts: IntArray) -> CountedDistribution:
    """The distribution of one cell from independent counts: errors are those of shares."""
    values, seen = np.unique(counts, return_counts=True)
    n, p = counts.size, seen / counts.size
    wider = np.where(seen < FEW, (seen + 1) / (n + 2), p)
    errors = np.sqrt(wider * (1 - wider) / n)
    if len(values) == 1:
        errors = np.array([1.0 / (n + 2)])
    return CountedDistribution(_by_value(values, p), _by_value(values, errors), None, float(n))


def counted_distribution(counts: IntArray, *, room: bool = True) -> CountedDistribution:
    """The distribution of one cell from its counts (chains × draws).

    `room` says whether the cell may have other values than those seen: one that all draws have is
    then given the error that the rule of succession allows, a tenth of the draws being independent.
    """
    values, seen = np.unique(counts, return_counts=True)
    p: FloatArray = seen / counts.size
    most_probable = np.sort(np.argsort(-p, kind="stable")[:MOST_DIAGNOSED])
    looked_at = (counts[:, :, None] == values[most_probable]).astype(np.float64)
    told = diagnose(np.concatenate([looked_at, counts[:, :, None]], axis=2))
    if len(values) == 1:
        n_effective = float(counts.size)
        errors = np.full(1, 1.0 / (counts.size / 10 + 2) if room else 0.0)
    else:
        deviation = np.sqrt(p[most_probable] * (1 - p[most_probable]))
        effective = (deviation / np.maximum(told.standard_error[:-1], 1e-300)) ** 2
        effective = np.clip(effective, 1.0, counts.size)
        n = float(effective.min())
        of_count = counts.std() ** 2 / max(told.standard_error[-1], 1e-300) ** 2
        n_effective = float(min(n, of_count))
        wider = (p * n + 1) / (n + 2)  # so that a value seen once or twice is not taken as settled
        errors = np.sqrt(np.where(p * n < FEW, wider * (1 - wider), p * (1 - p)) / n)
        settled = p[most_probable] * n >= FEW
        errors[most_probable[settled]] = (deviation / np.sqrt(effective))[settled]
    return CountedDistribution(_by_value(values, p), _by_value(values, errors), told, n_effective)


def _by_value(values: IntArray, numbers: FloatArray) -> dict[int, float]:
    return dict(zip(values.tolist(), numbers.tolist(), strict=True))


def warning_of(distributions: list[CountedDistribution]) -> str:
    """What the least settled cell has to say against its chains, or nothing."""
    worst = max(distributions, key=lambda one: one.worst).told if distributions else None
    return "" if worst is None else worst.warning
