"""Limits of an estimate: what models leave open, and the chance of the draw.

On the log scale, the distance from the mean to each posterior quantile is joined, as root of a sum
of squares, with the models' common misfit and with the chance that the realised number differs from
its expectation.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from discreet.figures import Figure, How
from discreet.numerics.arrays import FloatArray

CONFIDENCE = 0.9
NORMAL_QUANTILE = 1.6448536269514722  # of 0.95
SMALLEST_MEAN = 1e-12  # records; an estimate that underflows


@dataclass(frozen=True, slots=True)
class Doubt:
    """An expected number and how far it may be off by what models leave open, as limits."""

    mean: float
    low: float
    high: float

    def of_part(self, mean: float) -> "Doubt":
        """The same relative doubt about a part of the number."""
        return Doubt(mean, mean * self.low / self.mean, mean * self.high / self.mean)


def in_all(parts: Iterable[Doubt]) -> Doubt:
    """The doubt about a sum whose parts are off together, as they rest on the same models."""
    listed = list(parts)
    return Doubt(
        sum(part.mean for part in listed),
        sum(part.low for part in listed),
        sum(part.high for part in listed),
    )


def doubt_of(
    weight: FloatArray, value: FloatArray, *, misfit: float, least: float = 0.0, most: float
) -> Doubt:
    """Posterior mean, from `least` to `most`; its 5 % and 95 % points and the misfit joined."""
    mean = min(max(float(weight @ value), least, SMALLEST_MEAN), max(most, SMALLEST_MEAN))
    order = np.argsort(value)
    mass = np.cumsum(weight[order])
    tail = (1 - CONFIDENCE) / 2
    low, high = value[order][np.searchsorted(mass, [tail, (1 - tail) * mass[-1]])]
    spread = NORMAL_QUANTILE * misfit
    below = math.hypot(math.log(mean / min(max(low, mean * 1e-3), mean)), spread)
    above = math.hypot(math.log(max(high, mean) / mean), spread)
    return Doubt(mean, mean * math.exp(-below), mean * math.exp(above))


def figure_of(
    doubt: Doubt, *, chance: Callable[[float], float], most: float, note: str = ""
) -> Figure:
    """The estimate with its 90 % limits, none above `most`; `chance` gives the relative variance
    of the realised number around its expectation."""
    mean = max(doubt.mean, SMALLEST_MEAN)
    spread = NORMAL_QUANTILE * math.sqrt(max(chance(max(mean, 1.0)), 0.0))
    below = math.hypot(math.log(mean / max(min(doubt.low, mean), mean * 1e-9)), spread)
    above = math.hypot(math.log(max(doubt.high, mean) / mean), spread)
    return Figure(
        value=mean,
        how=How.ESTIMATE,
        low=mean * math.exp(-below),
        high=min(most, mean * math.exp(above)),
        confidence=CONFIDENCE,
        note=note,
    )


def whole_limits(figure: Figure) -> Figure:
    """The figure with its limits rounded outward: what is estimated is a whole number."""
    assert figure.low is not None
    assert figure.high is not None
    return replace(figure, low=math.floor(figure.low), high=math.ceil(figure.high))


def exactly(number: float) -> Figure:
    """A figure that needs no estimate."""
    return Figure(value=number, how=How.EXACT, low=number, high=number)
