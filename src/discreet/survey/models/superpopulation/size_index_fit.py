"""Fitting one or two parameters: boxed Newton steps, profile limits, and how limits combine.

The profile likelihood limits of a figure g are its extremes where the log-likelihood ℓ is within
χ²/2 of its maximum. A point that maximises ℓ − ½ρ(g − t)² for some target t maximises ℓ among all
points of its g, so it lies on the profile; the target is moved away until ℓ has dropped by χ²/2,
every maximum starting from the one before. The pull ρ is stiff against the curvature of ℓ along g,
so that bends of the profile do no harm, and the sum is bounded even where g is not.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from discreet.numerics.arrays import BoolArray, FloatArray
from discreet.numerics.rounding import whole_below
from discreet.survey.models.benedetti_franconi import poisson_limits

LARGEST_STEP = 2.0  # of a coordinate in one go; coordinates are logarithms or shares
SETTLED = 1e-8  # of a log-likelihood
MOST_STEPS = 80
MOST_TARGETS = 30
STIFFNESS = 9.0  # of the pull to a target, against the curvature of the likelihood
LEAST_VARIANCE = 1e-12
FLAT = 20.0**-2  # information of a direction in which nothing is known
FITTED = 100.0  # times the usual tolerance: figures of a fit differ by up to 10⁻⁷ of themselves
DIFFERENCE = 1e-3  # of numerical derivatives: their error is about 1e-7 of the next two


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A function at a point, with its gradient and its matrix of second derivatives."""

    value: float
    gradient: FloatArray
    curvature: FloatArray

    def pulled(self, stiffness: float, figure: "Evaluation", target: float) -> "Evaluation":
        """This function less half the stiffness times the squared distance of g from a target."""
        away, slope = figure.value - target, figure.gradient
        bend = np.outer(slope, slope) + away * figure.curvature
        return Evaluation(
            self.value - stiffness * away**2 / 2,
            self.gradient - stiffness * away * slope,
            self.curvature - stiffness * bend,
        )


Function = Callable[[FloatArray], Evaluation]


class Family(Protocol):
    """A model with its parameters open, as functions of one or two coordinates in a box."""

    @property
    def lower(self) -> FloatArray:
        """The least coordinates."""

    @property
    def upper(self) -> FloatArray:
        """The greatest coordinates."""

    def log_likelihood(self, point: FloatArray) -> Evaluation:
        """Log-likelihood of the size indices, up to a constant."""

    def log_unique_probability(self, point: FloatArray) -> Evaluation:
        """log P(F = 1 given f = 1)."""


class NotSettled(ArithmeticError):  # noqa: N818 - an outcome, not an accident
    """Newton's steps did not come to rest: the function has no maximum, or a flat one."""


def maximise(
    function: Function, start: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, Evaluation]:
    """A local maximum within the box, and the function there.

    Newton's steps where the function is concave, steps up the gradient elsewhere, shortened until
    they climb. A coordinate at a limit stays there while the gradient pushes it outward. The last
    step is the one that promises to gain less than SETTLED: it leaves the point within a tiny part
    of the standard error of what is fitted. Raises NotSettled where no step is the last.
    """
    point = np.clip(start, lower, upper)
    here = function(point)
    for _ in range(MOST_STEPS):
        step = _step(here, point, lower, upper)
        last = float(here.gradient @ step) < SETTLED
        reach = _reach(point, step, lower, upper)
        while True:
            ahead = np.clip(point + reach * step, lower, upper)
            there = function(ahead)
            if there.value >= here.value - abs(here.value) * 1e-13:
                break
            reach /= 4
            if reach < 1e-12:
                return point, here
        point, here = ahead, there
        if last:
            return point, here
    raise NotSettled("no maximum was reached")


def _step(here: Evaluation, point: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Where to go next; no coordinate moves by more than LARGEST_STEP, none out of the box."""
    free = ~_outward(here.gradient, point, lower, upper)
    step = np.zeros(len(point))
    while free.any():
        step[free] = _newton(here.gradient[free], here.curvature[np.ix_(free, free)])
        outward = free & _outward(step, point, lower, upper)
        if not outward.any():
            break
        free &= ~outward
        step[~free] = 0.0
    longest = float(np.max(np.abs(step)))
    return step if longest <= LARGEST_STEP else step * (LARGEST_STEP / longest)


def _outward(
    step: FloatArray, point: FloatArray, lower: FloatArray, upper: FloatArray
) -> BoolArray:
    """The coordinates at a limit that the step would take beyond it, or leave there."""
    return ((point <= lower) & (step <= 0)) | ((point >= upper) & (step >= 0))


def _reach(point: FloatArray, step: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    """The part of the step up to the first limit it meets: the direction of a ridge is kept."""
    room = np.where(step > 0, upper - point, np.where(step < 0, point - lower, np.inf))
    part = np.divide(room, np.abs(step), out=np.full(len(step), np.inf), where=step != 0)
    return min(1.0, float(part.min()) * (1 + 1e-12))


def _newton(g: FloatArray, h: FloatArray) -> FloatArray:
    """−h⁻¹ g, with −h made positive definite first where it is not."""
    if len(g) == 1:
        return g / max(abs(float(h[0, 0])), 1e-300)
    a, b, d = -float(h[0, 0]), -float(h[0, 1]), -float(h[1, 1])
    det = a * d - b * b
    if a > 0 and det > 1e-13 * a * d:
        return np.array([(d * g[0] - b * g[1]) / det, (a * g[1] - b * g[0]) / det])
    values, vectors = np.linalg.eigh(-h)
    size = np.maximum(np.abs(values), 1e-9 * float(np.abs(values).max()) + 1e-300)
    result: FloatArray = vectors @ ((vectors.T @ g) / size)
    return result


def numerical(function: Callable[[FloatArray], float]) -> Function:
    """The function with derivatives by central differences."""

    def evaluate(point: FloatArray) -> Evaluation:
        k, value = len(point), function(point)
        unit = DIFFERENCE * np.eye(k)
        up = np.array([function(point + unit[i]) for i in range(k)])
        down = np.array([function(point - unit[i]) for i in range(k)])
        curvature = np.diag((up - 2 * value + down) / DIFFERENCE**2)
        if k == 2:
            both = function(point + unit[0] + unit[1]) + function(point - unit[0] - unit[1])
            mixed = (both - up.sum() - down.sum() + 2 * value) / (2 * DIFFERENCE**2)
            curvature[0, 1] = curvature[1, 0] = mixed
        return Evaluation(value, (up - down) / (2 * DIFFERENCE), curvature)

    return evaluate


def covariance(family: Family, point: FloatArray) -> FloatArray:
    """The inverse of the observed information; zero for a coordinate at a limit of its box.

    On a ridge the information of one direction is next to nothing, above or below zero as rounding
    has it. Such a direction is flat: its parameter is known to a factor of e^±20, which is nothing;
    a negative variance would make limits narrow where least is known.
    """
    free = (point > family.lower) & (point < family.upper)
    result = np.zeros((len(point), len(point)))
    if free.any():
        information = -family.log_likelihood(point).curvature[np.ix_(free, free)]
        values, directions = np.linalg.eigh(information)
        result[np.ix_(free, free)] = (directions / np.maximum(values, FLAT)) @ directions.T
    return result


def profile_limits(family: Family, point: FloatArray, confidence: float) -> tuple[float, float]:
    """Limits on log P(F = 1 given f = 1) by profile likelihood, the point being its maximum.

    Where the likelihood never drops enough within the box, the last figure reached is the limit.
    """
    figure = family.log_unique_probability(point)
    variance = float(figure.gradient @ covariance(family, point) @ figure.gradient)
    drop = NormalDist().inv_cdf((1 + confidence) / 2) ** 2 / 2
    profile = _Profile(family, point, figure.value, max(variance, LEAST_VARIANCE), drop)
    return profile.limit(-1), profile.limit(1)


@dataclass(frozen=True, slots=True)
class _Profile:
    """The profile likelihood of g about its maximum, where g has about this variance."""

    family: Family
    point: FloatArray
    figure: float
    variance: float
    drop: float

    def limit(self, side: int) -> float:
        """g where ℓ has dropped by `drop`, below (−1) or above (1) its estimate.

        The root of the drop is about linear in the distance of the target: secant steps within a
        bracket, at most doubling.
        """
        best = self.family.log_likelihood(self.point).value
        start, low, high = self.point, 0.0, math.inf
        distance = math.sqrt(2 * self.drop * self.variance) * (1 + 1 / STIFFNESS)
        for _ in range(MOST_TARGETS):
            start, reached = self._pulled(start, self.figure + side * distance)
            dropped = best - self.family.log_likelihood(start).value
            if abs(dropped / self.drop - 1) < 1e-3:
                break
            low, high = (distance, high) if dropped < self.drop else (low, distance)
            guess = distance * math.sqrt(self.drop / max(dropped, self.drop / 4))
            inside = low < guess < high
            distance = guess if inside else min((low + high) / 2, 2 * low)
        return reached

    def _pulled(self, start: FloatArray, target: float) -> tuple[FloatArray, float]:
        """The point of the profile that a target pulls to, and g there."""
        stiffness = STIFFNESS / self.variance

        def objective(point: FloatArray) -> Evaluation:
            figure = self.family.log_unique_probability(point)
            return self.family.log_likelihood(point).pulled(stiffness, figure, target)

        point, _ = maximise(objective, start, self.family.lower, self.family.upper)
        return point, self.family.log_unique_probability(point).value


@dataclass(frozen=True, slots=True)
class FigureLimits:
    """Limits on a number that is yet to be known, and its standard error."""

    low: float
    high: float
    standard_error: float


def combined_limits(
    estimate: float, of_mean: tuple[float, float], variance: float, confidence: float
) -> FigureLimits:
    """Limits on a realised number from those on its mean and its variance about that mean.

    The distances of both kinds of limits from the estimate are independent errors and add as
    squares, each side by itself, so that neither has to be symmetric (Zou and Donner 2008). The
    number about its mean has the limits of a shifted Poisson variable (Röllin 2005). Trusted:
    variance ≤ estimate, which holds for sums of negatively correlated yes-or-no variables.
    """
    shift = whole_below(estimate - min(variance, estimate), scale=FITTED * estimate)
    below, above = (shift + k for k in poisson_limits(max(estimate - shift, 0.0), confidence))
    low = estimate - math.hypot(estimate - of_mean[0], max(0.0, estimate - below))
    high = estimate + math.hypot(of_mean[1] - estimate, max(0.0, above - estimate))
    half = (of_mean[1] - of_mean[0]) / 2 / NormalDist().inv_cdf((1 + confidence) / 2)
    return FigureLimits(low, high, math.sqrt(half**2 + variance))
