"""Maximum likelihood of the COM-Poisson distribution from (n, S1, S2) alone.

The log-likelihood S1 θ − S2 ν − n log Z(θ, ν) with θ = log λ (kadane eq. 4) is concave, and its
gradient vanishes where E X = S1/n and E log X! = S2/n. Newton's method finds that point in a basis
in which the two statistics are far from collinear. Where there is no such point the outcome says
so: no maximum at all when all observations are one value or two neighbours (ν → ∞), and a maximum
on the boundary ν = 0 (geometric) when they are more dispersed than geometric counts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

from discreet.count_tables.com_poisson.distribution import ComPoisson
from discreet.count_tables.com_poisson.normaliser import Moments, log_normaliser, moments
from discreet.count_tables.com_poisson.solving import crossing, log_rate_for_mean
from discreet.count_tables.factorials import least_table
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import DiscreetError, InputError, must_be
from discreet.notebooks import ShownInNotebooks
from discreet.numerics.special import chi_square_above

ITERATIONS = 400
GEOMETRIC_EXCESS = 0.4  # times the mean: less than log X! exceeds log Γ(mean + 1) by at ν = 0
PRECISION = 1e-15  # of a mean, below which a gradient is rounding


@dataclass(frozen=True, slots=True)
class SampleSums:
    """n, S1 and S2 as numbers (not whole where a prior is counted as observations)."""

    n: float
    total: float
    log_factorial_total: float

    @property
    def mean(self) -> float:
        """S1 / n."""
        return self.total / self.n

    @property
    def log_factorial_mean(self) -> float:
        """S2 / n."""
        return self.log_factorial_total / self.n

    def log_likelihood(self, log_rate: float, dispersion: float) -> float:
        """S1 θ − S2 ν − n log Z (kadane eq. 4), of the observations in their order."""
        fitted = self.mean * log_rate - self.log_factorial_mean * dispersion
        return self.n * (fitted - log_normaliser(log_rate, dispersion))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit(ShownInNotebooks):
    """The maximum of the likelihood.

    `at_boundary` says that it lies at dispersion 0, the geometric distribution: then the standard
    error is that of the rate alone. `covariance` is the inverse Fisher information in
    (log rate, dispersion), as var, cov, var.
    """

    sums: SampleSums
    log_rate: float
    dispersion: float
    log_likelihood: float
    at_boundary: bool
    covariance: tuple[float, float, float]

    @property
    def distribution(self) -> ComPoisson:
        """The fitted distribution."""
        return ComPoisson.of_log_rate(self.log_rate, self.dispersion)

    @property
    def rate(self) -> float:
        """λ; an InputError where it exceeds every float, when `log_rate` is the figure to use."""
        if self.log_rate > 709:
            raise InputError(must_be("log_rate", "at most 709 to give a rate", self.log_rate))
        return math.exp(self.log_rate)

    @property
    def log_rate_standard_error(self) -> float:
        """From the Fisher information."""
        return math.sqrt(self.covariance[0])

    @property
    def rate_standard_error(self) -> float:
        """λ times that of log λ."""
        return self.rate * self.log_rate_standard_error

    @property
    def dispersion_standard_error(self) -> float | None:
        """From the Fisher information; None at the boundary, where it has no meaning."""
        return None if self.at_boundary else math.sqrt(self.covariance[2])

    def dispersion_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """All ν that a likelihood-ratio test does not reject, the rate being free."""
        sums, drop = self.sums, NormalDist().inv_cdf((1 + _checked(confidence)) / 2) ** 2 / 2

        def gap(dispersion: float) -> float:
            profile = sums.log_likelihood(log_rate_for_mean(sums.mean, dispersion), dispersion)
            return profile - self.log_likelihood + drop

        step = self.dispersion_standard_error or 0.1
        low = 0.0 if self.dispersion == 0 or gap(0.0) >= 0 else crossing(gap, 0.0, self.dispersion)
        return float(low), _crossing(gap, self.dispersion, step)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoMaximum:
    """The likelihood has no maximum: why, and the limit that it approaches."""

    sums: SampleSums
    reason: str
    log_likelihood_limit: float


@dataclass(frozen=True, slots=True)
class PoissonTest:
    """Likelihood-ratio test of dispersion 1 (Poisson) against any other."""

    statistic: float
    p_value: float
    dispersion: float | None

    @property
    def sentence(self) -> str:
        """What the test says, in words."""
        kind = "under-dispersed" if self.dispersion is None or self.dispersion > 1 else "over"
        kind = "over-dispersed" if kind == "over" else kind
        if self.p_value < 0.05:
            return f"The counts are {kind} against Poisson (p = {self.p_value:.2g})."
        return f"The counts do not contradict Poisson (p = {self.p_value:.2g})."


def maximum_likelihood(statistics: CountStatistics) -> Fit | NoMaximum:
    """The fit to exact statistics, or why there is none."""
    sums = SampleSums(statistics.n, statistics.total, statistics.log_factorial_total)
    return _no_maximum(sums) if statistics.is_least else fit_sums(sums)


def maximum_likelihood_from(n: int, total: int, log_factorial_total: float) -> Fit | NoMaximum:
    """The fit to n, S1 and a decimal S2, or why there is none.

    Raises InputError where S2 is too small for n and S1, or too large.
    """
    sums = checked_sums(n, total, log_factorial_total)
    least = sum(c * math.lgamma(x + 1) for x, c in least_table(n, total).items())
    if log_factorial_total - least <= 1e-10 * (1 + least):
        return _no_maximum(sums)
    return fit_sums(sums)


def checked_sums(n: int, total: int, log_factorial_total: float) -> SampleSums:
    """The three as `Sums`, or an InputError where no observations have them."""
    if n < 1:
        raise InputError(must_be("n", "at least 1", n))
    if total < 0:
        raise InputError(must_be("total", "zero or more", total))
    least = sum(c * math.lgamma(x + 1) for x, c in least_table(n, total).items())
    most, slack = math.lgamma(total + 1), 1e-9 * (1 + least)
    if not least - slack <= log_factorial_total <= most + slack:
        rule = f"from {least:.6g} to {most:.6g} for n = {n} and a total of {total}"
        raise InputError(must_be("S2", rule, f"{log_factorial_total:.6g}"))
    return SampleSums(n, total, log_factorial_total)


def poisson_test(outcome: Fit | NoMaximum) -> PoissonTest:
    """Twice the gain in log-likelihood over Poisson, against chi-square with one degree."""
    sums = outcome.sums
    if sums.total == 0:
        return PoissonTest(0.0, 1.0, None)
    limit = outcome.log_likelihood if isinstance(outcome, Fit) else outcome.log_likelihood_limit
    poisson = sums.log_likelihood(math.log(sums.mean), 1.0)
    statistic = max(0.0, 2 * (limit - poisson))
    dispersion = outcome.dispersion if isinstance(outcome, Fit) else None
    return PoissonTest(statistic, chi_square_above(1, statistic), dispersion)


def _no_maximum(sums: SampleSums) -> NoMaximum:
    """Observations of one value or of two neighbours, of which the limit keeps the shares."""
    value, above = divmod(round(sums.total), round(sums.n))
    if sums.total == 0:
        why = "all observations are zero, so the likelihood grows as the rate falls to 0"
    elif above == 0:
        why = f"all observations are {value}, so the likelihood grows with the dispersion"
    else:
        why = f"all observations are {value} or {value + 1}, so the likelihood grows with the"
        why += " dispersion"
    limit = sum(c * math.log(c / sums.n) for c in (above, round(sums.n) - above) if c)
    return NoMaximum(sums=sums, reason=why, log_likelihood_limit=limit)


def fit_sums(sums: SampleSums) -> Fit:
    """The fit to sums that are known to have a maximum, inside or at dispersion 0."""
    if _excess(sums) >= GEOMETRIC_EXCESS * sums.mean:
        at_zero = math.log(sums.mean) - math.log1p(sums.mean)
        geometric = moments(at_zero, 0.0)
        if sums.log_factorial_mean >= geometric.log_factorial_mean:
            return _boundary_fit(sums, at_zero, geometric)
    log_rate, dispersion, found = newton(sums)
    return Fit(
        sums=sums,
        log_rate=log_rate,
        dispersion=dispersion,
        log_likelihood=sums.log_likelihood(log_rate, dispersion),
        at_boundary=False,
        covariance=inverse_information(found, sums.n),
    )


def _boundary_fit(sums: SampleSums, log_rate: float, found: Moments) -> Fit:
    return Fit(
        sums=sums,
        log_rate=log_rate,
        dispersion=0.0,
        log_likelihood=sums.log_likelihood(log_rate, 0.0),
        at_boundary=True,
        covariance=(1 / (sums.n * found.variance), 0.0, 0.0),
    )


def inverse_information(found: Moments, n: float) -> tuple[float, float, float]:
    """Covariance of the estimates of (log rate, dispersion) from n observations: var, cov, var.

    Inverted in the reduced basis, θ = α + ν log c, where the matrix is far from singular.
    """
    v, c, f = found.reduced
    determinant = n * (v * f - c * c)
    first, cross, second = f / determinant, -c / determinant, v / determinant
    a = found.log_centre
    return first + 2 * a * cross + a * a * second, cross + a * second, second


def newton(sums: SampleSums) -> tuple[float, float, Moments]:
    """θ, ν and the moments where E X and E log X! are the observed means.

    Trusted: the maximum exists inside. Each step is shortened until the slope along it has not
    turned to more than a quarter of what it was, which a concave function allows.
    """
    dispersion = _first_dispersion(sums)
    log_rate = log_rate_for_mean(sums.mean, dispersion, tolerance=0.01)
    found = moments(log_rate, dispersion)
    rounding = (PRECISION * (1 + sums.log_factorial_mean)) ** 2
    for _ in range(ITERATIONS):
        step = _newton_step(sums, found)
        gain = step.slope(sums, found)
        if gain <= 1e-22 + rounding * 1e3:
            break
        log_rate, dispersion, found = _shortened(sums, (log_rate, dispersion), step, gain)
    else:
        raise InputError(_not_found(sums))
    return log_rate, dispersion, found


def _first_dispersion(sums: SampleSums) -> float:
    """From E log X! ≈ log Γ(mean + 1) + 1/(2ν), good for large counts that are not too narrow.

    Never so large that the distribution shrinks to a point: from too wide a distribution Newton's
    steps are short and safe, from too narrow a one they have no information to go by.
    """
    return min(1 / (2 * max(_excess(sums), 1e-300)), max(0.5, 0.5 * sums.mean))


def _excess(sums: SampleSums) -> float:
    """How far the mean of log X! lies above log Γ(mean + 1)."""
    return sums.log_factorial_mean - math.lgamma(sums.mean + 1)


@dataclass(frozen=True, slots=True)
class _Step:
    """A step in (α, ν) with θ = α + ν log c, in which the statistics are far from collinear."""

    along: float
    dispersion: float
    log_centre: float

    @property
    def log_rate(self) -> float:
        return self.along + self.log_centre * self.dispersion

    def slope(self, sums: SampleSums, found: Moments) -> float:
        """Derivative of the mean log-likelihood along the step."""
        first = sums.mean - found.mean
        second = found.log_factorial_mean - sums.log_factorial_mean
        return first * self.along + (self.log_centre * first + second) * self.dispersion


def _newton_step(sums: SampleSums, found: Moments) -> _Step:
    v, c, f = found.reduced
    a = found.log_centre
    first = sums.mean - found.mean
    second = a * first + found.log_factorial_mean - sums.log_factorial_mean
    determinant = v * f - c * c
    if determinant <= 0:
        raise InputError(_not_found(sums))
    along = (f * first - c * second) / determinant
    return _Step(along, (v * second - c * first) / determinant, a)


def _shortened(
    sums: SampleSums, at: tuple[float, float], step: _Step, gain: float
) -> tuple[float, float, Moments]:
    """The point after as much of the step as the likelihood bears."""
    share = 1.0 if at[1] + step.dispersion > 0.1 * at[1] else -0.9 * at[1] / step.dispersion
    for _ in range(60):
        log_rate, dispersion = at[0] + share * step.log_rate, at[1] + share * step.dispersion
        try:
            found = moments(log_rate, dispersion)
        except DiscreetError:
            share /= 4
            continue
        if step.slope(sums, found) >= -0.25 * gain - 1e-14:
            return log_rate, dispersion, found
        share /= 2
    raise InputError(_not_found(sums))


def _not_found(sums: SampleSums) -> str:
    return must_be(
        "S2",
        "given with more digits, so that the dispersion can be found",
        f"{sums.log_factorial_total:.17g}",
    )


def _crossing(gap: Callable[[float], float], inside: float, step: float) -> float:
    """Where, going by steps from inside, a likelihood falls through its limit."""
    near, far = inside, inside + step
    while gap(far) > 0:
        near, far, step = far, far + 2 * step, 2 * step
    return crossing(gap, min(near, far), max(near, far))


def _checked(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise InputError(must_be("confidence", "between 0 and 1", confidence))
    return confidence
