"""Parameters at which the COM-Poisson distribution has given means: one equation at a time."""

import math
from collections.abc import Callable

from discreet.count_tables.com_poisson.normaliser import moments
from discreet.errors import DiscreetError

STEPS = 200


def log_rate_for_mean(
    mean: float, dispersion: float, *, start: float | None = None, tolerance: float = 1e-13
) -> float:
    """θ = log λ at which E X is `mean` > 0, for a fixed ν; `start` is a first guess.

    Newton's method on log E X, whose slope in θ lies between 1 and 1/ν nearly everywhere.
    """
    if dispersion == 0:
        return math.log(mean) - math.log1p(mean)
    first = _start(mean, dispersion) if start is None else start
    return _root(lambda theta: _log_mean_gap(theta, dispersion, mean), first, tolerance)


def _start(mean: float, dispersion: float) -> float:
    """From E X ≈ λ^(1/ν) + 1/(2ν) − 1/2 for large counts, and E X ≈ λ for small ones."""
    typical = mean + 0.5 - 0.5 / dispersion
    if typical > 1:
        return dispersion * math.log(typical)
    return min(math.log(mean) - math.log1p(mean) / 2, 0.0)


def _log_mean_gap(log_rate: float, dispersion: float, mean: float) -> tuple[float, float]:
    found = moments(log_rate, dispersion)
    return math.log(found.mean / mean), found.variance / found.mean


def dispersion_for_log_factorial_mean(
    log_factorial_mean: float, log_rate: float, *, start: float | None = None
) -> float:
    """ν at which E log X! is as given, for a fixed θ; 0 where it is below that at every ν.

    `start` is a first guess of ν.
    """
    target = math.log(log_factorial_mean)
    if log_rate < 0 and _geometric_log_factorial_mean(log_rate) <= log_factorial_mean:
        return 0.0

    def gap(log_dispersion: float) -> tuple[float, float]:
        found = moments(log_rate, math.exp(log_dispersion))
        if found.log_factorial_mean == 0:
            return math.inf, 1.0
        slope = math.exp(log_dispersion) * found.log_factorial_variance / found.log_factorial_mean
        return target - math.log(found.log_factorial_mean), max(slope, 1e-300)

    return math.exp(_root(gap, math.log(start or max(log_rate, 0.5))))


def _geometric_log_factorial_mean(log_rate: float) -> float:
    """E log X! at ν = 0, infinite for counts so large that it cannot be had."""
    try:
        return moments(log_rate, 0.0).log_factorial_mean
    except DiscreetError:
        return math.inf


def _root(
    function: Callable[[float], tuple[float, float]], start: float, tolerance: float = 1e-13
) -> float:
    """Where an increasing function with a given derivative is zero: Newton within a bracket.

    A point at which the function cannot be had is taken as too far in the direction of the step,
    and a start at which it cannot as too high.
    """
    low, high = -math.inf, math.inf
    at, last = start, start
    for _ in range(STEPS):
        try:
            value, slope = function(at)
        except DiscreetError:
            low, high = (low, at) if at >= last else (at, high)
            at = _between(low, high, at, -math.inf)
            continue
        if abs(value) < tolerance:
            return at
        low, high = (at, high) if value < 0 else (low, at)
        step = at - value / slope
        last, at = at, step if low < step < high else _between(low, high, at, step)
        if abs(at - last) <= 1e-15 * max(1.0, abs(at)):
            return at
    return at


def _between(low: float, high: float, at: float, wanted: float) -> float:
    """The middle of the bracket, or a bounded step towards its open side."""
    if math.isfinite(low) and math.isfinite(high):
        return 0.5 * (low + high)
    size = min(max(1.0, abs(at)), abs(wanted - at) / 2 + 1e-3)
    return at - size if math.isinf(low) else at + size


def crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function whose signs at both ends differ is zero, to 1e-13 of the place.

    The line through the ends of the bracket is followed; an end that stays is weighed half, so that
    it moves too, and the bracket is halved wherever three such steps did not (Illinois).
    """
    at_low, at_high, width = function(low), function(high), abs(high - low)
    if at_low == 0 or at_high == 0:
        return low if at_low == 0 else high
    for step in range(STEPS):
        guess = high - at_high * (high - low) / (at_high - at_low)
        if step % 4 == 3 and abs(high - low) > width / 2:
            guess = 0.5 * (low + high)
        if step % 4 == 3:
            width = abs(high - low)
        if abs(high - low) <= 1e-13 * max(1.0, abs(high)) or not math.isfinite(guess):
            break
        value = function(guess)
        if value == 0:
            return guess
        if (value > 0) == (at_high > 0):
            at_low *= 0.5
        else:
            low, at_low = high, at_high
        high, at_high = guess, value
    return high
