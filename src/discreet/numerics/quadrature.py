"""Integrals of log-concave densities on a line by Gauss–Legendre panels, with their quantiles."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import legendre

from discreet.clock import standing_still
from discreet.errors import DiscreetError
from discreet.numerics.arrays import FloatArray, read_only

DROP = 40.0  # a density below e^−40 of its peak is left out
LEAST_GUESS = 0.5  # widths; a guess of none, from a peak at a limit, would never leave the peak
GRADED = 9  # panels towards a limit, each a quarter of the next


@cache
def gauss_rule(order: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [−1, 1]; an eigenvalue problem, so that each is solved once."""
    nodes, weights = legendre.leggauss(order)
    return read_only(nodes), read_only(weights)


@dataclass(frozen=True, slots=True)
class Panels:
    """Nodes and weights of a composite rule between `cuts`."""

    cuts: FloatArray
    nodes: FloatArray
    weights: FloatArray

    def cumulative(self, log_density: FloatArray, at: float) -> float:
        """∫ up to a point of a density whose logarithm is given at the nodes.

        Within a panel the logarithm, being smooth, is taken as the polynomial through its nodes.
        """
        per_panel = log_density.reshape(len(self.cuts) - 1, -1)
        done = (self.weights * np.exp(log_density)).reshape(per_panel.shape).sum(axis=1)
        panel = int(np.clip(np.searchsorted(self.cuts, at) - 1, 0, len(done) - 1))
        low, high = self.cuts[panel : panel + 2]
        place = min(max((2 * at - low - high) / (high - low), -1.0), 1.0)
        nodes, weights = gauss_rule(20)
        inner = -1 + 0.5 * (place + 1) * (nodes + 1)
        logs = legendre.legval(inner, _polynomial(per_panel[panel]))
        part = 0.25 * (high - low) * (place + 1) * (weights @ np.exp(logs))
        return float(done[:panel].sum() + part)

    def quantile(self, log_density: FloatArray, probability: float) -> float:
        """Where the integral of a density reaches a share of its whole."""
        with standing_still():
            from scipy.optimize import brentq  # here: few who load this module need it

        wanted = probability * float(self.weights @ np.exp(log_density))

        def gap(at: float) -> float:
            return self.cumulative(log_density, at) - wanted

        return float(brentq(gap, float(self.cuts[0]), float(self.cuts[-1]), xtol=1e-12))


def _polynomial(values: FloatArray) -> FloatArray:
    """Legendre coefficients of the polynomial through values at the Gauss nodes."""
    nodes, weights = gauss_rule(len(values))
    basis = legendre.legvander(nodes, len(values) - 1)
    coefficients: FloatArray = (np.arange(len(values)) + 0.5) * (basis.T @ (weights * values))
    return coefficients


def panels_around(
    log_density: Callable[[float], float],
    peak: float,
    scale: float,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    order: int,
    each_side: int,
    reach: tuple[float, float] | None = None,
) -> Panels:
    """Panels over all that matters of a log-concave density with a known peak and width.

    `reach` is a guess, in widths, of how far it matters to the left and to the right. Towards a
    lower limit that matters panels shrink, since densities bend there.
    """
    top = log_density(peak)
    steps = (-scale, scale)
    left, right = (
        _edge(log_density, peak, step, limit, top, guess)
        for step, limit, guess in zip(steps, (low, high), reach or (2.0, 2.0), strict=True)
    )
    sides = [np.linspace(left, peak, each_side + 1), np.linspace(peak, right, each_side + 1)]
    if left == low:
        sides.append(left + (right - left) * 0.25 ** np.arange(1.0, GRADED))
    return panels_between(np.unique(np.concatenate(sides)), order)


def panels_between(cuts: FloatArray, order: int) -> Panels:
    """The rule of a given order on each panel."""
    nodes, weights = gauss_rule(order)
    half = 0.5 * np.diff(cuts)[:, None]
    middle = 0.5 * (cuts[1:] + cuts[:-1])[:, None]
    return Panels(cuts, (middle + half * nodes).ravel(), (half * weights).ravel())


def _edge(
    log_density: Callable[[float], float],
    peak: float,
    step: float,
    limit: float,
    top: float,
    guess: float,
) -> float:
    """A point between the peak and the limit where the density has all but vanished.

    Steps grow from the guess until it has; then the gap is halved until the point is not far
    beyond, where the density could not even be computed.
    """
    inside, outside = peak, peak + max(guess, LEAST_GUESS) * step
    while not _beyond(outside, limit, step):
        depth = top - _value(log_density, outside)
        if DROP <= depth < 2 * DROP:
            return outside
        if depth >= DROP:
            break
        inside, outside = outside, outside + 2 * (outside - inside)
    if _beyond(outside, limit, step):
        outside = limit
        if _value(log_density, limit) > top - DROP:
            return limit
    for _ in range(80):
        middle = 0.5 * (inside + outside)
        depth = top - _value(log_density, middle)
        inside, outside = (inside, middle) if depth >= DROP else (middle, outside)
        if DROP <= depth < 2 * DROP:
            break
    return outside


def _beyond(at: float, limit: float, step: float) -> bool:
    return at <= limit if step < 0 else at >= limit


def _value(log_density: Callable[[float], float], at: float) -> float:
    """The density, −∞ where it is too small to be computed."""
    try:
        return log_density(at)
    except DiscreetError:
        return -math.inf
