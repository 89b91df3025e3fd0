"""Conjugate Bayesian analysis of the COM-Poisson distribution (Kadane and others 2006).

The density h(λ, ν) = κ λ^(a−1) e^(−bν) Z(λ, ν)^(−c) on λ > 0, ν ≥ 0 is that of a prior worth c
observations with total a and log-factorial total b. Observations add to it: a + S1, b + S2, c + n.
So a user of the release can do the whole analysis.

With θ = log λ the density e^(aθ − bν) Z^(−c) is log-concave in (θ, ν). Integrals are over θ for
each of a set of ν, both by Gauss–Legendre panels about the peak; what a coarser rule changes is
the error that is told.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from discreet.count_tables.com_poisson.estimation import (
    Fit,
    SampleSums,
    fit_sums,
    inverse_information,
)
from discreet.count_tables.com_poisson.normaliser import log_normaliser, log_normalisers, moments
from discreet.count_tables.com_poisson.solving import (
    dispersion_for_log_factorial_mean,
    log_rate_for_mean,
)
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import DiscreetError, InputError, must_be
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import FloatArray
from discreet.numerics.quadrature import Panels, panels_around
from discreet.numerics.rounding import EPSILON
from discreet.numerics.special import log_gamma, log_sum

ORDER, COARSE_ORDER = 10, 7
OUTER, INNER = 5, 4  # panels on each side of a peak, split while a coarser rule changes too much
SPLITS = (1, 2)
TOLERANCE = 1e-8


def lower_limit(a: float, c: float) -> float:
    """b must exceed this for (a, b, c) to have a density: c (log k! + (a/c − k) log(k + 1)).

    k is the whole part of a/c: the point (a/c, b/c) must lie above the polygon through the points
    (x, log x!) (Kadane and others 2006, theorem 1).
    """
    mean = a / c
    k = math.floor(mean)
    return c * (math.lgamma(k + 1) + (mean - k) * math.log(k + 1))


def _is_above(b: float, least: float, c: float) -> bool:
    """Whether b exceeds its limit by more than the rounding of both, sums over c observations.

    That is far less than the b of a single observation, however many there are.
    """
    return b - least > 64 * EPSILON * (abs(b) + abs(least) + c)


@dataclass(frozen=True, slots=True)
class Conjugate:
    """The density with parameters a, b, c: a prior, or a posterior. Checked: it has an integral."""

    a: float
    b: float
    c: float

    def __post_init__(self) -> None:
        for name in ("a", "c"):
            if not (math.isfinite(value := getattr(self, name)) and value > 0):
                raise InputError(must_be(name, "a finite number above zero", value))
        least = lower_limit(self.a, self.c)
        if not (math.isfinite(self.b) and _is_above(self.b, least, self.c)):
            rule = f"above {least:.6g} for the density with a = {self.a:g}, c = {self.c:g} to exist"
            raise InputError(must_be("b", rule, self.b))

    def updated(self, statistics: CountStatistics | SampleSums) -> "Conjugate":
        """The posterior after observations with these statistics."""
        return Conjugate(
            self.a + statistics.total,
            self.b + statistics.log_factorial_total,
            self.c + statistics.n,
        )

    def log_density(self, log_rate: float, dispersion: float) -> float:
        """aθ − bν − c log Z: the density of (θ, ν) without its constant."""
        return (
            self.a * log_rate - self.b * dispersion - self.c * log_normaliser(log_rate, dispersion)
        )

    @property
    def mode(self) -> Fit:
        """Where the density of (θ, ν) is largest: the fit to the prior's own observations."""
        return fit_sums(SampleSums(self.c, self.a, self.b))

    def integrated(self) -> "Integrated":
        """The density on a grid, from which all summaries are had."""
        for split in SPLITS:
            fine, coarse = _Grid.of(self, ORDER, split), _Grid.of(self, COARSE_ORDER, split)
            error = abs(fine.log_integral - coarse.log_integral)
            if error < TOLERANCE:
                break
        return Integrated(self, fine, error, coarse)


@dataclass(frozen=True, slots=True)
class _Slice:
    """All θ for one ν."""

    dispersion: float
    panels: Panels
    log_normaliser: FloatArray
    log_density: FloatArray

    @property
    def log_integral(self) -> float:
        return log_sum(self.log_density + np.log(self.panels.weights))


@dataclass(frozen=True, slots=True)
class _Grid:
    """All ν, and for each all θ."""

    panels: Panels
    slices: tuple[_Slice, ...]
    log_marginal: FloatArray
    log_integral: float

    @classmethod
    def of(cls, density: Conjugate, order: int, split: int) -> "_Grid":
        mode = density.mode
        spread = inverse_information(moments(mode.log_rate, mode.dispersion), density.c)
        panels = panels_around(
            lambda nu: _profile(density, nu),
            mode.dispersion,
            math.sqrt(spread[2]),
            low=0.0,
            order=order,
            each_side=split * OUTER,
        )
        slices = tuple(_slices(density, panels.nodes, order, split))
        marginal = np.array([one.log_integral for one in slices])
        whole = log_sum(marginal + np.log(panels.weights))
        return cls(panels, slices, marginal, whole)

    @property
    def weights(self) -> FloatArray:
        """Posterior probability of each ν of the rule."""
        return self.panels.weights * np.exp(self.log_marginal - self.log_integral)


def _profile(density: Conjugate, dispersion: float) -> float:
    return density.log_density(log_rate_for_mean(density.a / density.c, dispersion), dispersion)


def _slices(
    density: Conjugate, dispersions: FloatArray, order: int, split: int
) -> Iterator[_Slice]:
    """One for each ν, each with the last one's peak and reach as first guesses."""
    peak: float | None = None
    reach = (9.0, 9.0)
    for dispersion in dispersions.tolist():
        peak = log_rate_for_mean(density.a / density.c, dispersion, start=peak)
        width = 1 / math.sqrt(density.c * moments(peak, dispersion).variance)
        panels = panels_around(
            lambda theta, nu=dispersion: density.log_density(theta, nu),  # type: ignore[misc]
            peak,
            width,
            order=order,
            each_side=split * INNER,
            reach=reach,
        )
        reach = (peak - panels.cuts[0]) / width, (panels.cuts[-1] - peak) / width
        normaliser = log_normalisers(panels.nodes, np.full(len(panels.nodes), dispersion))
        values = density.a * panels.nodes - density.b * dispersion - density.c * normaliser
        yield _Slice(dispersion, panels, normaliser, values)


@dataclass(frozen=True, slots=True)
class Integrated:
    """Summaries of a conjugate density; `error` is that of the integral, relative."""

    density: Conjugate
    _grid: _Grid
    error: float
    _coarse: _Grid

    @property
    def log_integral(self) -> float:
        """−log κ(a, b, c)."""
        return self._grid.log_integral

    @property
    def dispersion_mean(self) -> Figure:
        """E ν."""
        fine, coarse = (float(g.weights @ g.panels.nodes) for g in (self._grid, self._coarse))
        return _figure(fine, coarse)

    @property
    def dispersion_deviation(self) -> Figure:
        """The standard deviation of ν."""
        return _figure(*(_deviation(g.weights, g.panels.nodes) for g in (self._grid, self._coarse)))

    def dispersion_quantile(self, probability: float) -> float:
        """The point below which ν lies with this probability."""
        log_density = self._grid.log_marginal - self._grid.log_integral
        return self._grid.panels.quantile(log_density, _inside(probability))

    def probability_above(self, dispersion: float) -> float:
        """Pr(ν > a value); above 1 counts are less dispersed than Poisson ones."""
        log_density = self._grid.log_marginal - self._grid.log_integral
        return min(1.0, max(0.0, 1 - self._grid.panels.cumulative(log_density, dispersion)))

    @property
    def rate_mean(self) -> Outcome:
        """E λ = κ(a, b, c) / κ(a + 1, b, c), where that is finite."""
        return self._rate_moment(1)

    @property
    def rate_deviation(self) -> Outcome:
        """The standard deviation of λ, where it is finite."""
        first, second = self._rate_moment(1), self._rate_moment(2)
        if isinstance(first, Unavailable) or isinstance(second, Unavailable):
            return Unavailable("the second moment of the rate is infinite")
        assert first.value is not None
        assert second.value is not None
        variance = second.value - first.value**2
        if variance <= 1e-9 * second.value:
            return Unavailable("the deviation of the rate is lost in rounding")
        error = 4 * max(self.error, 1e-12) * second.value / variance
        return _figure(math.sqrt(variance), math.sqrt(variance) * (1 + error))

    def rate_quantile(self, probability: float) -> float:
        """The point below which λ lies with this probability."""
        panels, log_marginal = _rate_marginal(self.density)
        return math.exp(panels.quantile(log_marginal, _inside(probability)))

    def predictive(self, values: ArrayLike) -> FloatArray:
        """P(X = x) for a new observation, λ and ν being unknown."""
        counts = np.asarray(values, dtype=np.float64)
        if not np.all((counts >= 0) & (counts == np.floor(counts))):
            raise InputError(must_be("values", "whole numbers of zero or more", values))
        return sum(
            (w * _predicted(one, counts) for w, one in self._weighted()), np.zeros(counts.shape)
        )

    def _weighted(self) -> list[tuple[float, _Slice]]:
        return list(zip(self._grid.weights.tolist(), self._grid.slices, strict=True))

    def _rate_moment(self, power: int) -> Outcome:
        density = self.density
        if not _is_above(density.b, lower_limit(density.a + power, density.c), density.c):
            return Unavailable(f"the mean of rate^{power} is infinite under this density")
        raised = _raised(density, power)
        change = raised.log_integral - self.log_integral
        return _figure(math.exp(change), math.exp(change + self.error + raised.error))


@dataclass(frozen=True, slots=True, kw_only=True)
class BayesianAnalysis:
    """What a user believes of rate and dispersion after the released statistics.

    Quantiles belong to `probabilities`; `less_dispersed` is Pr(ν > 1), that counts vary less than
    Poisson ones; `predictive` are pairs (value, probability that a new observation has it).
    """

    prior: Conjugate | None
    prior_words: str
    posterior: Conjugate
    rate_mean: Outcome
    rate_deviation: Outcome
    dispersion_mean: Outcome
    dispersion_deviation: Outcome
    probabilities: tuple[float, ...]
    rate_quantiles: tuple[float, ...] | Unavailable
    dispersion_quantiles: tuple[float, ...]
    less_dispersed: float
    predictive: tuple[tuple[int, float], ...]


FLAT = (
    "flat in log rate and dispersion: no observations other than the released ones, so that the "
    "posterior is the likelihood"
)


def bayes_from_statistics(
    statistics: CountStatistics | SampleSums,
    prior: Conjugate | None = None,
    *,
    probabilities: Sequence[float] = (0.025, 0.5, 0.975),
    values: Sequence[int] = (),
) -> BayesianAnalysis | Unavailable:
    """The conjugate analysis of released statistics in one call, or why there is none.

    Without a prior the density is flat in (log λ, ν): a = S1, b = S2, c = n. That has no integral
    where all observations are one value or two neighbouring ones; a prior mends it.
    """
    for probability in probabilities:
        _inside(probability)
    try:
        posterior = _posterior(statistics, prior)
    except InputError as problem:
        return Unavailable(f"the posterior has no integral without a prior: {problem}")
    try:
        return _analysis(prior, posterior, probabilities, values)
    except (DiscreetError, OverflowError) as problem:
        return Unavailable(f"the integrals were not found: {problem}")


def _posterior(statistics: CountStatistics | SampleSums, prior: Conjugate | None) -> Conjugate:
    if prior is not None:
        return prior.updated(statistics)
    return Conjugate(statistics.total, statistics.log_factorial_total, statistics.n)


def _analysis(
    prior: Conjugate | None,
    posterior: Conjugate,
    probabilities: Sequence[float],
    values: Sequence[int],
) -> BayesianAnalysis:
    found = posterior.integrated()
    predicted = found.predictive(list(values)) if values else np.zeros(0)
    words = (
        FLAT
        if prior is None
        else (
            f"worth {prior.c:g} observations with a total of {prior.a:g} and an S2 of {prior.b:g}"
        )
    )
    return BayesianAnalysis(
        prior=prior,
        prior_words=words,
        posterior=posterior,
        rate_mean=_or_reason(lambda: found.rate_mean),
        rate_deviation=_or_reason(lambda: found.rate_deviation),
        dispersion_mean=found.dispersion_mean,
        dispersion_deviation=found.dispersion_deviation,
        probabilities=tuple(probabilities),
        rate_quantiles=_rate_quantiles(found, probabilities),
        dispersion_quantiles=tuple(found.dispersion_quantile(p) for p in probabilities),
        less_dispersed=found.probability_above(1.0),
        predictive=tuple(zip(map(int, values), predicted.tolist(), strict=True)),
    )


def _or_reason(asked: Callable[[], Outcome]) -> Outcome:
    try:
        return asked()
    except (DiscreetError, OverflowError) as problem:
        return Unavailable(f"beyond every number: {problem}")


def _rate_quantiles(
    found: Integrated, probabilities: Sequence[float]
) -> tuple[float, ...] | Unavailable:
    try:
        return tuple(found.rate_quantile(p) for p in probabilities)
    except (DiscreetError, OverflowError) as problem:
        return Unavailable(f"beyond every number: {problem}")


@lru_cache(maxsize=16)
def _raised(density: Conjugate, power: int) -> Integrated:
    """The density times rate^power, integrated once however often it is asked for."""
    return Conjugate(density.a + power, density.b, density.c).integrated()


def _predicted(one: _Slice, counts: FloatArray) -> FloatArray:
    """P(X = x) for one ν, averaged over its θ."""
    share = one.panels.weights * np.exp(one.log_density - one.log_integral)
    log_mass = np.multiply.outer(counts, one.panels.nodes) - one.log_normaliser
    masses: FloatArray = (
        np.exp(log_mass - one.dispersion * log_gamma(counts + 1)[..., None]) @ share
    )
    return masses


@lru_cache(maxsize=16)
def _rate_marginal(density: Conjugate) -> tuple[Panels, FloatArray]:
    """The density of θ by panels: for each θ an integral over ν, relative to the largest.

    θ and ν are so correlated that sums over ν of what is known for each ν would miss it.
    """
    mode = density.mode
    spread = inverse_information(moments(mode.log_rate, mode.dispersion), density.c)
    panels = panels_around(
        lambda theta: _rate_profile(density, theta),
        mode.log_rate,
        math.sqrt(spread[0]),
        order=ORDER,
        each_side=2 * OUTER,
    )
    logs = np.array(list(_over_dispersions(density, panels.nodes)))
    return panels, logs - logs.max()


def _rate_profile(density: Conjugate, log_rate: float) -> float:
    dispersion = dispersion_for_log_factorial_mean(density.b / density.c, log_rate)
    return density.log_density(log_rate, dispersion)


def _over_dispersions(density: Conjugate, log_rates: FloatArray) -> Iterator[float]:
    """log ∫ over ν for each θ, with the last one's peak and reach as first guesses."""
    peak: float | None = None
    reach = (9.0, 9.0)
    for theta in log_rates.tolist():
        peak = dispersion_for_log_factorial_mean(density.b / density.c, theta, start=peak)
        width = 1 / math.sqrt(density.c * moments(theta, peak).log_factorial_variance)
        panels = panels_around(
            lambda nu, theta=theta: density.log_density(theta, nu),  # type: ignore[misc]
            peak,
            width,
            low=0.0,
            order=ORDER,
            each_side=INNER,
            reach=reach,
        )
        reach = (peak - panels.cuts[0]) / width, (panels.cuts[-1] - peak) / width
        normaliser = log_normalisers(np.full(len(panels.nodes), theta), panels.nodes)
        values = density.a * theta - density.b * panels.nodes - density.c * normaliser
        yield log_sum(values + np.log(panels.weights))


def _deviation(weights: FloatArray, nodes: FloatArray) -> float:
    mean = float(weights @ nodes)
    return math.sqrt(float(weights @ (nodes - mean) ** 2))


def _figure(fine: float, coarse: float) -> Figure:
    """A figure by quadrature, exact to what the coarser rule changes."""
    change = abs(fine - coarse)
    return Figure(value=fine, how=How.EXACT, note=f"quadrature, error below {change + 1e-15:.1e}")


def _inside(probability: float) -> float:
    if not 0 < probability < 1:
        raise InputError(must_be("probability", "between 0 and 1", probability))
    return probability
