"""Iterative proportional fitting: the maximum-likelihood table of a log-linear model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, read_only

TOLERANCE = 1e-10
MOST_ROUNDS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ProportionalFit:
    """A fitted table of means with the margins that were asked for.

    `deviation` is the largest difference of a margin's entry, relative to the total, after the last
    of `rounds`; `converged` says whether it fell below the tolerance.
    """

    fitted: FloatArray
    rounds: int
    deviation: float
    converged: bool


def fit_margins(
    margins: dict[tuple[int, ...], FloatArray],
    shape: Sequence[int],
    *,
    start: FloatArray | None = None,
    tolerance: float = TOLERANCE,
    most_rounds: int = MOST_ROUNDS,
) -> ProportionalFit:
    """The table with these margins that is nearest to `start` (by default all ones).

    Each round scales the table to each margin in turn (Deming and Stephan 1940); the limit is the
    maximum-likelihood fit of the model that the margins generate, with zeros of `start` kept as
    structural zeros. For a decomposable set one round per margin is enough. Cost: rounds × cells ×
    margins.

    Checked: no entry below zero. Trusted: the margins agree with each other.
    """
    if any(np.any(margin < 0) for margin in margins.values()):
        raise InputError(must_be("margins", "at least 0 in every entry", "a negative one"))
    fitted = np.ones(tuple(shape)) if start is None else np.array(start, dtype=np.float64)
    total = float(next(iter(margins.values())).sum()) or 1.0
    deviation, rounds = np.inf, 0
    while deviation > tolerance and rounds < most_rounds:
        deviation = max(_scale(fitted, axes, margin) for axes, margin in margins.items()) / total
        rounds += 1
    return ProportionalFit(
        fitted=read_only(fitted),
        rounds=rounds,
        deviation=float(deviation),
        converged=bool(deviation <= tolerance),
    )


def _scale(table: FloatArray, axes: tuple[int, ...], margin: FloatArray) -> float:
    """Scale the table in place to one margin; returns how far it was off."""
    others = tuple(i for i in range(table.ndim) if i not in axes)
    now = table.sum(axis=others)
    off = float(np.abs(now - margin).max())
    factor = np.divide(margin, now, out=np.zeros(now.shape), where=now > 0)
    table *= np.expand_dims(factor, others)
    return off
