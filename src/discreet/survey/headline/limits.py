"""Limits of an estimate: what models leave open, and the chance of the draw.

A number of uniques among so many is judged on the logit scale, any other on the log scale. There
the spread of the weighted models is joined, as root of a sum of squares, with the models' common
misfit and with the chance that the realised number differs from its expectation.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from discreet.figures import Figure, How
from discreet.numerics.arrays import FloatArray

CONFIDENCE = 0.9
NORMAL_QUANTILE = 1.6448536269514722  # of 0.95
SMALLEST_MEAN = 1e-12  # records; an estimate that underflows
NEAREST_END = 1e-9  # of a share, which has no logit at 0 and 1


@dataclass(frozen=True, slots=True)
class Scale:
    """The log of a number or, with a `total`, the logit of its share of that."""

    total: float | None = None

    def of(self, number: FloatArray | float) -> FloatArray:
        """Where numbers are on it."""
        found: FloatArray
        if self.total is None:
            found = np.log(np.maximum(number, SMALLEST_MEAN))
        else:
            share = np.clip(np.asarray(number) / self.total, NEAREST_END, 1 - NEAREST_END)
            found = np.log(share) - np.log1p(-share)
        return found

    def back(self, place: float) -> float:
        """The number at a place."""
        if self.total is None:
            return math.exp(place)
        return self.total * 0.5 * (1 + math.tanh(place / 2))


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
    weight: FloatArray,
    value: FloatArray,
    *,
    misfit: float,
    counts: float = 1.0,
    scale: Scale,
    least: float = 0.0,
    most: float,
) -> Doubt:
    """Posterior mean, from `least` to `most`, and 90 % limits by the spread of the models and by
    their misfit, a standard deviation on the scale, of both of which so much `counts`."""
    mean = min(max(float(weight @ value), least, SMALLEST_MEAN), max(most, SMALLEST_MEAN))
    places = scale.of(value)
    spread = math.sqrt(float(weight @ (places - weight @ places) ** 2))
    reach = NORMAL_QUANTILE * counts * math.hypot(spread, misfit)
    centre = float(scale.of(mean))
    return Doubt(mean, min(scale.back(centre - reach), mean), max(scale.back(centre + reach), mean))


def figure_of(doubt: Doubt, *, chance: float, scale: Scale, most: float, note: str = "") -> Figure:
    """The estimate with its 90 % limits, none above `most`; `chance` is the standard deviation, on
    the scale, of the realised number around its expectation."""
    mean = max(doubt.mean, SMALLEST_MEAN)
    reach = NORMAL_QUANTILE * chance
    centre, low, high = (float(scale.of(x)) for x in (mean, doubt.low, doubt.high))
    return Figure(
        value=mean,
        how=How.ESTIMATE,
        low=min(scale.back(centre - math.hypot(centre - low, reach)), mean),
        high=max(min(most, scale.back(centre + math.hypot(high - centre, reach))), mean),
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
