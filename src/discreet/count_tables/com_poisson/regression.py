"""COM-Poisson regression on categorical predictors, from (n, S1, S2) of each category.

In category i the counts have log λ_i = x_i β and dispersion ν, common or one for each category.
The log-likelihood Σ S1_i log λ_i − S2_i ν_i − n_i log Z(λ_i, ν_i) is concave in (β, ν), with
gradient and Hessian from each category's moments, so a release of statistics by category lets a
user estimate all of this without the table (kadane section 5 leaves it as future work).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.count_tables.com_poisson.estimation import SampleSums
from discreet.count_tables.com_poisson.normaliser import Moments, moments
from discreet.count_tables.com_poisson.regression_design import (
    Category,
    Design,
    check_categories,
    effects_design,
)
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import DiscreetError, InputError, must_be
from discreet.figures import Unavailable
from discreet.numerics.arrays import BoolArray, FloatArray, read_only
from discreet.numerics.special import chi_square_above

ITERATIONS = 200
LARGEST_DISPERSION = 200.0  # a larger estimate is a likelihood that grows without end
SMALLEST_LOG_RATE = -25.0
LARGEST_CONDITION = 1e15  # of the information matrix


@dataclass(frozen=True, slots=True)
class Coefficient:
    """An estimate with its standard error, which is None on the boundary."""

    name: str
    estimate: float
    standard_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """The maximum-likelihood fit.

    `coefficients` act on log rate; `dispersions` is one, or one for each category in order.
    `at_boundary` says that some dispersion is 0 (geometric).
    """

    coefficients: tuple[Coefficient, ...]
    dispersions: tuple[Coefficient, ...]
    log_rates: FloatArray
    log_likelihood: float
    at_boundary: bool

    @property
    def n_parameters(self) -> int:
        """How many numbers were fitted."""
        return len(self.coefficients) + len(self.dispersions)


@dataclass(frozen=True, slots=True)
class RatioTest:
    """Twice a gain in log-likelihood against chi-square; `caution` where that is doubtful."""

    statistic: float
    degrees_of_freedom: int
    p_value: float
    caution: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetsRegression:
    """All that a user learns from one set (n, S1, S2) a category.

    `common` has one dispersion for all categories, `separate` one for each. `effect_test` asks
    whether the rate differs at all between categories, `dispersion_test` whether dispersion does.
    `fitted_means` are the means of each category under `common`.
    """

    names: tuple[str, ...]
    common: Regression | Unavailable
    separate: Regression | Unavailable
    effect_test: RatioTest | Unavailable
    dispersion_test: RatioTest | Unavailable
    fitted_means: tuple[float, ...] | Unavailable
    observed_means: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Problem:
    """All that the likelihood needs: designs of log rate and dispersion, and the sums."""

    rate_design: FloatArray
    dispersion_design: FloatArray
    sums: tuple[SampleSums, ...]

    def parameters(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """θ and ν of each category."""
        split = self.rate_design.shape[1]
        return self.rate_design @ at[:split], self.dispersion_design @ at[split:]

    @property
    def rounding(self) -> float:
        """A gain in log-likelihood that is no more than rounding."""
        return 1e-18 + 1e-29 * sum(s.n * (1 + s.log_factorial_mean**2) for s in self.sums)

    def runs_off(self, at: FloatArray) -> bool:
        """Does the rate of a category of zeros fall to nothing?"""
        pairs = zip(self.sums, self.parameters(at)[0], strict=True)
        return any(one.total == 0 and theta < SMALLEST_LOG_RATE for one, theta in pairs)

    def moments(self, at: FloatArray) -> list[Moments]:
        """The moments of each category; raises where they cannot be had."""
        pairs = zip(*self.parameters(at), strict=True)
        return [moments(float(theta), float(nu)) for theta, nu in pairs]

    def log_likelihood(self, at: FloatArray) -> float:
        """Σ S1 θ − S2 ν − n log Z."""
        thetas, nus = self.parameters(at)
        parts = zip(self.sums, thetas, nus, strict=True)
        return math.fsum(one.log_likelihood(float(t), float(v)) for one, t, v in parts)

    def gradient(self, found: Sequence[Moments]) -> FloatArray:
        """Observed less expected totals, through the designs."""
        pairs = list(zip(self.sums, found, strict=True))
        rate = np.array([s.n * (s.mean - m.mean) for s, m in pairs])
        dispersion = [s.n * (m.log_factorial_mean - s.log_factorial_mean) for s, m in pairs]
        return np.concatenate(
            [self.rate_design.T @ rate, self.dispersion_design.T @ np.array(dispersion)]
        )

    def information(self, found: Sequence[Moments]) -> FloatArray:
        """Minus the Hessian: n times the covariance of (X, −log X!), through the designs."""
        n = np.array([s.n for s in self.sums])
        v, c, f = (
            n * np.array([getattr(m, name) for m in found])
            for name in ("variance", "covariance", "log_factorial_variance")
        )
        x, w = self.rate_design, self.dispersion_design
        cross = -(x.T * c) @ w
        return np.block([[(x.T * v) @ x, cross], [cross.T, (w.T * f) @ w]])


def regress(
    categories: Sequence[Category],
    effects: Sequence[Sequence[str]] | None = None,
    *,
    separate_dispersion: bool = False,
) -> Regression | Unavailable:
    """The fit with these effects on log rate (all main effects when None), or why there is none.

    Effects are variables of the categories' levels; an effect of several is their interaction.
    """
    check_categories(categories)
    chosen = [[name] for name in categories[0].levels] if effects is None else effects
    design = effects_design(categories, chosen)
    count = len(categories)
    over = np.eye(count) if separate_dispersion else np.ones((count, 1))
    problem = _Problem(design.matrix, over, tuple(one.sums for one in categories))
    reason = _without_maximum(problem)
    if reason:
        return Unavailable(reason)
    found = _maximise(problem)
    return found if isinstance(found, Unavailable) else _result(problem, design, found)


def regress_sets(
    sets: Sequence[tuple[Mapping[str, str], CountStatistics | SampleSums]],
    effects: Sequence[Sequence[str]] | None = None,
) -> SetsRegression:
    """The regression and its tests from released statistics: pairs of levels and their set.

    `[({"sex": "F"}, set_f), ({"sex": "M"}, set_m)]`. Effects as in `regress`. What cannot be
    fitted is Unavailable with the reason; input that cannot be meant raises InputError.
    """
    categories = [_category(levels, one) for levels, one in sets]
    check_categories(categories)
    common = _tried(categories, effects, separate=False)
    separate = _tried(categories, effects, separate=True)
    constant = _tried(categories, [], separate=False)
    no_levels = Unavailable("there is no effect to test: the categories have one level each")
    return SetsRegression(
        names=tuple(_category_name(one) for one in categories),
        common=common,
        separate=separate,
        effect_test=_compared(constant, common) if _has_more(constant, common) else no_levels,
        dispersion_test=_compared(common, separate) if len(categories) > 1 else no_levels,
        fitted_means=_fitted_means(common),
        observed_means=tuple(one.sums.mean for one in categories),
    )


def likelihood_ratio(smaller: Regression, larger: Regression) -> RatioTest:
    """Test of a model against one that contains it; trusted: it does, on the same categories."""
    degrees = larger.n_parameters - smaller.n_parameters
    if degrees < 1:
        raise InputError(must_be("the larger model", "one with more parameters", degrees))
    statistic = max(0.0, 2 * (larger.log_likelihood - smaller.log_likelihood))
    caution = None
    if smaller.at_boundary or larger.at_boundary:
        caution = "a dispersion of 0 lies on the boundary, where the p-value is only approximate"
    return RatioTest(statistic, degrees, chi_square_above(degrees, statistic), caution)


def dispersion_test(
    categories: Sequence[Category], effects: Sequence[Sequence[str]] | None = None
) -> RatioTest | Unavailable:
    """Test of one common dispersion against one for each category."""
    common = regress(categories, effects)
    separate = regress(categories, effects, separate_dispersion=True)
    return _compared(common, separate)


def effect_test(
    categories: Sequence[Category], effects: Sequence[Sequence[str]] | None = None
) -> RatioTest | Unavailable:
    """Test of no effect at all on the rate, with a common dispersion."""
    return _compared(regress(categories, []), regress(categories, effects))


def _category(levels: Mapping[str, str], one: CountStatistics | SampleSums) -> Category:
    return Category.of(levels, one) if isinstance(one, CountStatistics) else Category(levels, one)


def _category_name(one: Category) -> str:
    return ", ".join(f"{name}={level}" for name, level in one.levels.items()) or "all"


def _tried(
    categories: Sequence[Category], effects: Sequence[Sequence[str]] | None, *, separate: bool
) -> Regression | Unavailable:
    """The fit; statistics that Newton's method cannot handle are a reason, not an error."""
    chosen = [[name] for name in categories[0].levels] if effects is None else effects
    effects_design(categories, chosen)
    try:
        return regress(categories, chosen, separate_dispersion=separate)
    except DiscreetError as problem:
        return Unavailable(str(problem))


def _has_more(smaller: Regression | Unavailable, larger: Regression | Unavailable) -> bool:
    both = isinstance(smaller, Regression) and isinstance(larger, Regression)
    return not both or larger.n_parameters > smaller.n_parameters  # type: ignore[union-attr]


def _fitted_means(fit: Regression | Unavailable) -> tuple[float, ...] | Unavailable:
    if isinstance(fit, Unavailable):
        return fit
    dispersion = fit.dispersions[0].estimate
    return tuple(float(moments(float(theta), dispersion).mean) for theta in fit.log_rates)


def _compared(
    smaller: Regression | Unavailable, larger: Regression | Unavailable
) -> RatioTest | Unavailable:
    for fit in (smaller, larger):
        if isinstance(fit, Unavailable):
            return fit
    assert isinstance(smaller, Regression)
    assert isinstance(larger, Regression)
    return likelihood_ratio(smaller, larger)


def _without_maximum(problem: _Problem) -> str | None:
    """Why a likelihood certainly grows without end, where the sums show it at once."""
    own = problem.dispersion_design.shape[1] > 1
    for place, one in enumerate(problem.sums):
        if own and _is_least(one):
            return (
                f"category {place + 1} holds one value or two neighbouring ones, so the "
                "likelihood grows with its dispersion"
            )
    if all(_is_least(one) for one in problem.sums):
        return (
            "every category holds one value or two neighbouring ones, so the likelihood grows "
            "with the dispersion"
        )
    return None


def _is_least(sums: SampleSums) -> bool:
    whole = math.floor(sums.mean)
    least = math.lgamma(whole + 1) + (sums.mean - whole) * math.log(whole + 1)
    return sums.log_factorial_mean - least <= 1e-10 * (1 + least)


def _start(problem: _Problem) -> FloatArray:
    """Dispersion 1 and least squares for log rates of Poisson means."""
    means = np.log([max(one.mean, 0.1 / one.n) for one in problem.sums])
    beta = np.linalg.lstsq(problem.rate_design, means, rcond=None)[0]
    return np.concatenate([beta, np.ones(problem.dispersion_design.shape[1])])


def _maximise(problem: _Problem) -> tuple[FloatArray, list[Moments], BoolArray] | Unavailable:
    """Newton's method with dispersions kept at 0 while the likelihood wants them below."""
    at = _start(problem)
    split = problem.rate_design.shape[1]
    found = problem.moments(at)
    for _ in range(ITERATIONS):
        gradient = problem.gradient(found)
        free = np.ones(len(at), dtype=np.bool_)
        free[split:] = (at[split:] > 0) | (gradient[split:] > 0)
        step = _step(problem, found, gradient, free)
        gain = float(gradient @ step)
        if gain <= problem.rounding:
            return at, found, free
        at, found = _advance(problem, at, step, gain)
        if at[split:].max() > LARGEST_DISPERSION or problem.runs_off(at):
            return Unavailable(
                "the likelihood grows without end: some combination of categories holds only "
                "zeros, or values too much alike"
            )
    return Unavailable("the maximum was not found: the categories hardly determine the effects")


def _step(
    problem: _Problem, found: list[Moments], gradient: FloatArray, free: BoolArray
) -> FloatArray:
    information = problem.information(found)[np.ix_(free, free)]
    if np.linalg.cond(information) > LARGEST_CONDITION:
        raise InputError(
            must_be(
                "the statistics", "such that effects and dispersion can be told apart", "others"
            )
        )
    step = np.zeros(len(gradient))
    step[free] = np.linalg.lstsq(information, gradient[free], rcond=1e-14)[0]
    return step


def _advance(
    problem: _Problem, at: FloatArray, step: FloatArray, gain: float
) -> tuple[FloatArray, list[Moments]]:
    """The point after as much of the step as the likelihood bears, dispersions cut at 0."""
    split = problem.rate_design.shape[1]
    share = 1.0
    for _ in range(60):
        new = at + share * step
        new[split:] = np.maximum(new[split:], 0.0)
        try:
            found = problem.moments(new)
        except DiscreetError:
            share /= 3
            continue
        if float(problem.gradient(found) @ (new - at)) >= -0.25 * share * gain - 1e-12:
            return new, found
        share /= 2
    raise InputError(must_be("the statistics", "such that Newton's method converges", "others"))


def _result(
    problem: _Problem, design: Design, maximum: tuple[FloatArray, list[Moments], BoolArray]
) -> Regression:
    at, found, free = maximum
    errors: list[float | None] = [None] * len(at)
    inverse = np.linalg.inv(problem.information(found)[np.ix_(free, free)])
    for place, variance in zip(np.flatnonzero(free), np.diag(inverse), strict=True):
        errors[place] = math.sqrt(variance)
    names = list(design.names) + _dispersion_names(problem)
    all_of_them = [
        Coefficient(name, float(value), error)
        for name, value, error in zip(names, at, errors, strict=True)
    ]
    split = len(design.names)
    return Regression(
        coefficients=tuple(all_of_them[:split]),
        dispersions=tuple(all_of_them[split:]),
        log_rates=read_only(problem.parameters(at)[0]),
        log_likelihood=problem.log_likelihood(at),
        at_boundary=not free.all(),
    )


def _dispersion_names(problem: _Problem) -> list[str]:
    count = problem.dispersion_design.shape[1]
    return ["dispersion"] if count == 1 else [f"dispersion {i + 1}" for i in range(count)]
