"""Does the COM-Poisson distribution fit the table? Only then are (n, S1, S2) enough for a user.

Pearson's chi-square over values, pooled until each group expects at least five observations. Its
p-value is had by drawing tables from the fitted distribution and fitting each of them again, where
draws are asked for. Else it is approximate, by the statistic of Rao, Robson and Nikulin: Pearson's
is no chi-square where parameters were fitted to the single values and not to the groups (Chernoff
and Lehmann 1954), and with V the scaled differences, B their derivatives and I the information of
one observation

    Y = VᵀV + VᵀB (I − BᵀB)⁻¹ BᵀV

is one in large tables, with one degree of freedom less than there are groups.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.count_tables.com_poisson.estimation import (
    Fit,
    NoMaximum,
    maximum_likelihood,
    maximum_likelihood_from,
)
from discreet.count_tables.statistics import CountStatistics, check_counts
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import above
from discreet.numerics.special import chi_square_above, log_gamma

SMALLEST_EXPECTED = 5.0
BAD_FIT = 0.05
LARGEST_VALUES = 100_000
LEAST_LOST = 1e-3  # of the information on a parameter, below which grouping loses nothing of it


@dataclass(frozen=True, slots=True)
class Group:
    """Values from `low` to `high` (None: without end), how many have them and how many should."""

    low: int
    high: int | None
    observed: int
    expected: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Goodness:
    """Pearson's test of the fit.

    With `draws`, `p_value` is the share of drawn tables (the observed among them) that fit no
    better, with its `p_value_standard_error`. Without, it is that of Rao, Robson and Nikulin, which
    is approximate; `how` says which. `chi_square_p_value` is the textbook one, None without degrees
    of freedom.
    """

    groups: tuple[Group, ...]
    statistic: float
    degrees_of_freedom: int
    p_value: float
    p_value_standard_error: float | None
    chi_square_p_value: float | None
    draws: int

    @property
    def how(self) -> str:
        """How the p-value was got."""
        if self.draws:
            return f"{self.draws:,} tables drawn from the fit and fitted again"
        return "approximation for large tables (Rao, Robson and Nikulin)"

    @property
    def fits_badly(self) -> bool:
        """Is the fit rejected at 5 %?"""
        return self.p_value < BAD_FIT

    def sentence_for(self, *, has_n: bool, exact: bool) -> str:
        """What it means for a user of a release with n or without, and S2 exact or rounded."""
        if (has_n and exact) or (self.fits_badly and has_n):
            return self.sentence
        if not has_n:
            return (
                "n is withheld, so that a user can fit nothing: two figures do not determine rate, "
                "dispersion and n (the holder's own test of COM-Poisson has "
                f"p = {self.p_value:.2g})."
            )
        return (
            f"COM-Poisson is not contradicted by these counts (p = {self.p_value:.2g}); a user who "
            "accepts it loses only the digits of S2 that are rounded away."
        )

    @property
    def sentence(self) -> str:
        """What a holder should make of it."""
        if self.fits_badly:
            return (
                f"COM-Poisson fits these counts badly (p = {self.p_value:.2g}): n, S1 and S2 do "
                "not hold all that a user needs, and conclusions drawn from them may be wrong."
            )
        return (
            f"COM-Poisson is not contradicted by these counts (p = {self.p_value:.2g}), so a user "
            "who accepts it loses nothing by having n, S1 and S2 alone."
        )


def goodness_of_fit(
    counts: Mapping[int, int], *, rng: np.random.Generator, draws: int = 0
) -> Goodness | Unavailable:
    """Pearson's test of the maximum-likelihood fit to a table: by draws, or without by a formula
    for large tables."""
    if draws < 0:
        raise InputError(must_be("draws", "zero or more", draws))
    table = check_counts(counts)
    if not any(table):
        return Unavailable("all observations are zero, so there is nothing to test")
    fit = maximum_likelihood(CountStatistics.of_counts(table))
    if isinstance(fit, NoMaximum):
        return Unavailable(f"{fit.reason}; the limit fits without any difference")
    mass = _masses(fit)
    if mass is None:
        return Unavailable(f"more than {LARGEST_VALUES:,} values are likely, too many to test")
    return _test(table, fit, mass, draws, rng)


def _test(
    table: Mapping[int, int], fit: Fit, mass: FloatArray, draws: int, rng: np.random.Generator
) -> Goodness | Unavailable:
    n = sum(table.values())
    starts = pool(n * mass)
    observed = np.zeros(max(len(mass), max(table) + 1), dtype=np.int64)
    observed[list(table)] = list(table.values())
    statistic = _pearson(observed, n * mass, starts)
    if draws:
        drawn = (_replicate(n, mass, starts, rng) for _ in range(draws))
        # a table drawn that is the observed one fits as badly, however its own fit is rounded
        worse = sum(not above(statistic, one, scale=1.0) for one in drawn)
        p_value = (1 + worse) / (1 + draws)
    else:
        approximate = _rao_robson_nikulin(observed, n, mass, starts, fit)
        if approximate is None:
            return Unavailable(
                "too few values are frequent enough for a test by formula; ask for simulated tables"
            )
        p_value = approximate
    degrees = len(starts) - 1 - (1 if fit.at_boundary else 2)
    return Goodness(
        groups=_groups(observed, n * mass, starts),
        statistic=statistic,
        degrees_of_freedom=max(0, degrees),
        p_value=p_value,
        p_value_standard_error=(
            math.sqrt(p_value * (1 - p_value) / (1 + draws)) if draws else None
        ),
        chi_square_p_value=chi_square_above(degrees, statistic) if degrees > 0 else None,
        draws=draws,
    )


def _masses(fit: Fit) -> FloatArray | None:
    """P(X = x) from 0 on, up to where less than 1e-14 is left; None where that is too far."""
    distribution = fit.distribution
    if distribution.mean + 60 * math.sqrt(distribution.variance) > LARGEST_VALUES:
        return None
    last = distribution.quantile(1 - 1e-14) + 1
    return distribution.mass(np.arange(last + 1))


def pool(expected: FloatArray) -> IntArray:
    """Where groups of neighbouring values begin, each expecting enough; the last has no end."""
    starts, gathered = [0], 0.0
    for value, amount in enumerate(expected):
        if not above(SMALLEST_EXPECTED, gathered):
            starts.append(value)
            gathered = 0.0
        gathered += amount
    if above(SMALLEST_EXPECTED, gathered) and len(starts) > 1:
        starts.pop()
    return np.array(starts, dtype=np.int64)


def _pearson(observed: IntArray, expected: FloatArray, starts: IntArray) -> float:
    """Σ (observed − expected)² / expected over groups, the last taking all that is above."""
    seen = np.add.reduceat(observed, starts)
    wanted = np.add.reduceat(expected, starts)
    wanted[-1] = max(observed.sum() - wanted[:-1].sum(), wanted[-1])
    return float(((seen - wanted) ** 2 / wanted).sum())


def _rao_robson_nikulin(
    observed: IntArray, n: int, mass: FloatArray, starts: IntArray, fit: Fit
) -> float | None:
    """P(χ² > Y), None where one group is all there is.

    Where grouping loses next to nothing of what a parameter is told by, V has no part along it: the
    direction is left out, and takes a degree of freedom with it.
    """
    if len(starts) < 2:
        return None
    values = np.arange(len(mass))
    log_factorials = log_gamma(values + 1.0)
    own = mass / mass.sum()
    scores = [values - own @ values]
    if not fit.at_boundary:
        scores.append(-(log_factorials - own @ log_factorials))
    slopes = np.stack([np.add.reduceat(own * score, starts) for score in scores], axis=1)
    expected = np.add.reduceat(own, starts)
    differences = np.add.reduceat(observed, starts) - n * expected
    scaled = differences / np.sqrt(n * expected)
    by_root = slopes / np.sqrt(expected)[:, None]
    information = np.array([[(own * a) @ b for b in scores] for a in scores])
    # in a basis in which one observation tells as much of each parameter
    root = np.linalg.inv(np.linalg.cholesky(information))
    by_root = by_root @ root.T
    kept, basis = np.linalg.eigh(by_root.T @ by_root)
    along = basis.T @ (by_root.T @ scaled)
    lost = 1 - kept
    told = lost > LEAST_LOST
    statistic = float(scaled @ scaled + (along[told] ** 2 / lost[told]).sum())
    degrees = len(starts) - 1 - int((~told).sum())
    return chi_square_above(degrees, statistic) if degrees > 0 else None


def _replicate(n: int, mass: FloatArray, starts: IntArray, rng: np.random.Generator) -> float:
    """The statistic of a drawn table, fitted again; 0 where the limit fits without difference."""
    drawn = rng.multinomial(n, mass / mass.sum())
    values = np.arange(len(drawn))
    total = int(drawn @ values)
    if total == 0:
        return 0.0
    fit = maximum_likelihood_from(n, total, float(drawn @ log_gamma(values + 1.0)))
    if isinstance(fit, NoMaximum):
        return 0.0
    return _pearson(drawn, n * fit.distribution.mass(values), starts)


def _groups(observed: IntArray, expected: FloatArray, starts: IntArray) -> tuple[Group, ...]:
    seen, wanted = np.add.reduceat(observed, starts), np.add.reduceat(expected, starts)
    ends: list[int | None] = [int(start) - 1 for start in starts[1:]]
    return tuple(
        Group(int(low), high, int(count), float(amount))
        for low, high, count, amount in zip(starts, [*ends, None], seen, wanted, strict=True)
    )
