"""Estimates from the whole count table, to set beside maximum likelihood.

They need more than (n, S1, S2), so a user of the release cannot have them. The paper's figures for
the disaster declarations (section 4.1) are weighted least squares with the full covariance.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.count_tables.com_poisson.normaliser import moments
from discreet.count_tables.com_poisson.solving import crossing, log_rate_for_mean
from discreet.count_tables.statistics import check_counts
from discreet.figures import Unavailable
from discreet.numerics.arrays import FloatArray
from discreet.numerics.rounding import ALIKE

SOLVED = 1e-12  # relative accuracy of two coefficients by normal equations


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonEstimate:
    """Rate and dispersion by another method, with standard errors where the method has them."""

    log_rate: float
    dispersion: float
    log_rate_standard_error: float | None = None
    dispersion_standard_error: float | None = None

    @property
    def rate(self) -> float:
        """λ."""
        return math.exp(self.log_rate)


def weighted_least_squares(
    counts: Mapping[int, int], *, full_covariance: bool = True
) -> ComparisonEstimate | Unavailable:
    """The line log(p[x−1] / p[x]) = −log λ + ν log x through observed shares (kadane eq. 3).

    Weighted by the inverse covariance of the logarithms under the multinomial distribution,
    var = 1/f[x−1] + 1/f[x] and cov = −1/f[x] between neighbours, or by its diagonal alone. Values
    nobody has are left out.
    """
    table = check_counts(counts)
    x = np.array([value for value in table if value and value - 1 in table], dtype=np.float64)
    if len(x) < 2:
        return Unavailable("least squares need three values in a row, or two pairs, of the table")
    response = np.array([math.log(table[int(v) - 1] / table[int(v)]) for v in x])
    covariance = _covariance(x, table)
    if not full_covariance:
        covariance = np.diag(np.diag(covariance))
    design = np.column_stack([-np.ones(len(x)), np.log(x)])
    weighted = np.linalg.solve(covariance, np.column_stack([design, response]))
    spread = np.linalg.inv(design.T @ weighted[:, :2])
    errors = np.sqrt(np.diag(spread))
    fitted = spread @ (design.T @ weighted[:, 2])
    # Counts such as 8, 4, 2, 1 lie on a line without slope: what is left of it is rounding, of the
    # solution as well as of a slope beside its error, which shrinks as the counts grow.
    solved = SOLVED * max(1.0, float(np.abs(response).max()))
    log_rate, dispersion = np.where(
        np.abs(fitted) <= np.maximum(ALIKE * errors, solved), 0.0, fitted
    )
    if dispersion < 0 or (dispersion == 0 and log_rate >= 0):
        return Unavailable(f"least squares give a dispersion of {dispersion:.4g}, which none has")
    return ComparisonEstimate(
        log_rate=float(log_rate),
        dispersion=float(dispersion),
        log_rate_standard_error=float(errors[0]),
        dispersion_standard_error=float(errors[1]),
    )


def _covariance(x: FloatArray, table: Mapping[int, int]) -> FloatArray:
    """Of log(p[x−1] / p[x]) at the values x."""
    inverse = {value: 1 / count for value, count in table.items()}
    diagonal = np.diag([inverse[int(v) - 1] + inverse[int(v)] for v in x])
    shared = [-inverse[int(a)] if b == a + 1 else 0.0 for a, b in itertools.pairwise(x)]
    return diagonal + np.diag(shared, 1) + np.diag(shared, -1)


def moment_estimate(counts: Mapping[int, int]) -> ComparisonEstimate | Unavailable:
    """The distribution with the mean and variance (divisor n) of the table."""
    table = check_counts(counts)
    n = sum(table.values())
    mean = Fraction(sum(value * count for value, count in table.items()), n)
    variance = Fraction(sum(value**2 * count for value, count in table.items()), n) - mean**2
    if mean == 0:
        return Unavailable("all observations are zero, and no rate above 0 has a mean of 0")
    return _with_moments(mean, variance)


def _with_moments(mean: Fraction, variance: Fraction) -> ComparisonEstimate | Unavailable:
    share = mean - math.floor(mean)
    if variance <= share * (1 - share):
        return Unavailable("the variance is the least that whole numbers with this mean can have")
    if variance >= mean * (1 + mean):
        return Unavailable(
            f"the variance is {float(variance):.4g}, above the {float(mean * (1 + mean)):.4g} of "
            "geometric counts with the same mean"
        )
    return _solved(float(mean), float(variance))


def _solved(mean: float, variance: float) -> ComparisonEstimate:
    def gap(dispersion: float) -> float:
        return math.log(_variance(mean, dispersion) / variance)

    high = 1.0
    while gap(high) > 0:
        high *= 2
    dispersion = crossing(gap, 0.0, high)
    log_rate = log_rate_for_mean(mean, dispersion)
    return ComparisonEstimate(log_rate=log_rate, dispersion=dispersion)


def _variance(mean: float, dispersion: float) -> float:
    return moments(log_rate_for_mean(mean, dispersion), dispersion).variance
