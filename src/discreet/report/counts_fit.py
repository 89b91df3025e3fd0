"""What a user of the release can fit: estimates, Bayesian analyses and regressions, in words."""

import math
from collections.abc import Iterator, Sequence

from discreet.count_tables.assessment import CountAssessment
from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
from discreet.count_tables.com_poisson.estimation import Fit, NoMaximum
from discreet.count_tables.com_poisson.regression import (
    Coefficient,
    RatioTest,
    Regression,
    SetsRegression,
)
from discreet.errors import DiscreetError, InputError
from discreet.figures import Outcome, Unavailable
from discreet.numerics.rounding import ALIKE
from discreet.report import words

FIT_HEADER = ("", "rate", "dispersion")
BAYES_HEADER = ("", "mean", "± deviation", "95 % between", "median")
EFFECT_HEADER = ("", "estimate", "± standard error", "rate times")
MEAN_HEADER = ("category", "mean observed", "mean fitted")
USER = "maximum likelihood, what a user gets"
OWN = "maximum likelihood, from the table"


def fit_rows(a: CountAssessment) -> list[tuple[str, str, str]]:
    """Rate and dispersion by each method; the holder's own rows are not for users."""
    rows = [] if not isinstance(a.fit, Fit) else [_row(_first_name(a), a.fit)]
    if _differs(a) and isinstance(a.holder_fit, Fit):
        rows.append(_row(OWN, a.holder_fit))
    for name, estimate in a.comparison.items():
        if not isinstance(estimate, Unavailable):
            error = estimate.log_rate_standard_error
            rate = estimate.rate if estimate.log_rate <= 700 else None
            own = None if error is None or rate is None else error * rate
            spread = estimate.dispersion_standard_error
            label = f"{name}, from the table"
            rows.append((label, with_error(rate, own), with_error(estimate.dispersion, spread)))
    return rows


def _first_name(a: CountAssessment) -> str:
    return USER if a.table is not None else "maximum likelihood"


def _differs(a: CountAssessment) -> bool:
    """Does a user of the release get another fit than the holder has, or none?"""
    return a.release.n is None or not a.release.is_exact


def _row(name: str, fit: Fit) -> tuple[str, str, str]:
    rate, error = rate_words(fit)
    spread = fit.dispersion_standard_error
    return name, with_error(rate, error), with_error(fit.dispersion, spread)


def rate_words(fit: Fit) -> tuple[float | None, float | None]:
    """λ and its standard error, None where λ exceeds every float."""
    try:
        return fit.rate, fit.rate_standard_error
    except InputError:
        return None, None


def with_error(value: float | None, error: float | None) -> str:
    """An estimate ± its standard error."""
    if value is None:
        return "beyond every number"
    return f"{value:,.4g}" + ("" if error is None else f" ± {error:,.2g}")


def fit_notes(a: CountAssessment) -> Iterator[str]:
    """What the fit says in sentences; the warning of a bad fit is told apart."""
    if isinstance(a.fit, Fit):
        yield from _fitted_notes(a, a.fit)
    elif isinstance(a.fit, NoMaximum):
        yield f"Nothing to fit: {a.fit.reason}."
    else:
        yield f"Not available: {words.sentence(a.fit.reason)}."
    yield from _table_notes(a)
    yield from _notes_by_n(a)
    if isinstance(a.goodness, Unavailable):
        yield f"Fit not tested: {words.sentence(a.goodness.reason)}."
    elif a.goodness is not None and not a.goodness.fits_badly and a.user_sentence:
        yield tested_sentence(a.user_sentence)
    if a.table is None:
        yield (
            "Whether COM-Poisson fits cannot be told from the statistics; only the holder of the "
            "table can."
        )


def _table_notes(a: CountAssessment) -> Iterator[str]:
    """Why the table itself gives no estimate, where it does not."""
    if _differs(a) and isinstance(a.holder_fit, NoMaximum):
        yield f"{_capital(OWN)[:-1]}: nothing to fit, {words.sentence(a.holder_fit.reason)}."
    for name, estimate in a.comparison.items():
        if isinstance(estimate, Unavailable):
            said = f"{name}, from the table: not available, {words.sentence(estimate.reason)}"
            yield _capital(said)


def _fitted_notes(a: CountAssessment, fit: Fit) -> Iterator[str]:
    limits = dispersion_limits(fit)
    if isinstance(limits, Unavailable):
        between = f"limits of the dispersion not available, {words.sentence(limits.reason)}"
    else:
        between = f"dispersion with 95 % limits {limits[0]:.3g} to {limits[1]:.3g}"
    yield (
        f"Log-likelihood {fit.log_likelihood:,.4f}; {between} (1 is Poisson, more is less "
        "dispersed)."
    )
    if a.fit_words and _differs(a):
        yield words.sentence(_capital(a.fit_words))
    if fit.at_boundary:
        yield "The counts are more dispersed than geometric ones; dispersion is at its limit 0."
    if a.poisson is not None:
        yield tested_sentence(a.poisson.sentence)


def dispersion_limits(fit: Fit) -> tuple[float, float] | Unavailable:
    """95 % limits of the dispersion, or why there are none."""
    try:
        return fit.dispersion_interval()
    except (DiscreetError, ValueError, ArithmeticError) as problem:
        return Unavailable(f"they are beyond floating-point numbers: {problem}")


def _notes_by_n(a: CountAssessment) -> Iterator[str]:
    """Where n is withheld: what would be fitted at the ends of the range that is known of it."""
    for n, fit in a.fits_by_n:
        if isinstance(fit, Fit):
            rate, error = rate_words(fit)
            spread = with_error(fit.dispersion, fit.dispersion_standard_error)
            yield f"If n were {n:,}: rate {with_error(rate, error)}, dispersion {spread}."
        else:
            yield f"If n were {n:,}: nothing to fit, {words.sentence(fit.reason)}."


def _capital(text: str) -> str:
    said = text[:1].upper() + text[1:]
    return said if said.endswith(".") else f"{said}."


def tested_sentence(sentence: str) -> str:
    """What a test says, without powers of ten in its p-value."""
    return words.sentence(sentence).replace("= below", "below").replace("p = 0)", "p below 0.001)")


def bayes_rows(found: BayesianAnalysis, name: str = "") -> list[tuple[str, ...]]:
    """Rate and dispersion after the release; the name of a category goes before."""
    before = f"{name}: " if name else ""
    rate = _summary(found.rate_mean, found.rate_deviation, found.rate_quantiles)
    dispersion = _summary(
        found.dispersion_mean, found.dispersion_deviation, found.dispersion_quantiles
    )
    return [(f"{before}rate", *rate), (f"{before}dispersion", *dispersion)]


def _summary(
    mean: Outcome, deviation: Outcome, quantiles: tuple[float, ...] | Unavailable
) -> tuple[str, str, str, str]:
    between, median = "–", "–"
    if not isinstance(quantiles, Unavailable):
        low, middle, high = (f"{q:,.4g}" for q in quantiles)
        between, median = f"{low} to {high}", middle
    return _number(mean), _number(deviation), between, median


def _number(outcome: Outcome) -> str:
    if isinstance(outcome, Unavailable) or outcome.value is None:
        return "–"
    return f"{outcome.value:,.4g}"


def bayes_notes(found: BayesianAnalysis) -> Iterator[str]:
    """The prior, what has no figure and why, dispersion against 1, and the next observation."""
    yield f"Prior: {words.sentence(found.prior_words)}."
    posterior = found.posterior
    yield (
        f"The posterior has a = {posterior.a:,.6g}, b = {posterior.b:,.6g}, c = {posterior.c:,.6g}"
        " (Kadane and others 2006); figures are integrals, exact to the digits shown."
    )
    yield from bayes_gaps(found)
    share = less_dispersed_words(found)
    yield f"Less dispersed than Poisson (dispersion above 1) with probability {share}."
    if found.predictive:
        values = ", ".join(f"{value}: {words.probability(p)}" for value, p in found.predictive)
        yield f"Probability that a new observation is {values}."


def bayes_gaps(found: BayesianAnalysis) -> Iterator[str]:
    """What has no figure, and why."""
    for name, outcome in (
        ("mean of the rate", found.rate_mean),
        ("deviation of the rate", found.rate_deviation),
        ("limits of the rate", found.rate_quantiles),
        ("mean of the dispersion", found.dispersion_mean),
        ("deviation of the dispersion", found.dispersion_deviation),
    ):
        if isinstance(outcome, Unavailable):
            yield f"No {name}: {words.sentence(outcome.reason)}."


def less_dispersed_words(found: BayesianAnalysis) -> str:
    """A probability that a density without gaps makes neither 0 nor 1, whatever rounding does."""
    return words.probability(min(max(found.less_dispersed, ALIKE), 1 - ALIKE))


def bayes_json(found: BayesianAnalysis | Unavailable) -> dict[str, object]:
    """One analysis with stable names."""
    if isinstance(found, Unavailable):
        return found.to_json()
    quantiles = found.rate_quantiles
    rates = None if isinstance(quantiles, Unavailable) else list(quantiles)
    return {
        "prior": None if found.prior is None else _abc(found.prior),
        "prior_words": found.prior_words,
        "posterior": _abc(found.posterior),
        "rate": {
            "mean": found.rate_mean.to_json(),
            "deviation": found.rate_deviation.to_json(),
            "quantiles": rates,
        }
        | ({"reason": quantiles.reason} if isinstance(quantiles, Unavailable) else {}),
        "dispersion": {
            "mean": found.dispersion_mean.to_json(),
            "deviation": found.dispersion_deviation.to_json(),
            "quantiles": list(found.dispersion_quantiles),
        },
        "probabilities": list(found.probabilities),
        "less_dispersed_than_poisson": found.less_dispersed,
        "predictive": {str(value): p for value, p in found.predictive},
    }


def _abc(density: object) -> dict[str, float]:
    return {name: getattr(density, name) for name in ("a", "b", "c")}


def regression_rows(found: Regression) -> list[tuple[str, str, str, str]]:
    """Effects on the log rate, then dispersions, with standard errors."""
    rows = [_effect(one, found) for one in found.coefficients]
    return rows + [
        (one.name, f"{one.estimate:.4g}", _error(one.standard_error), "")
        for one in found.dispersions
    ]


def _effect(one: Coefficient, found: Regression) -> tuple[str, str, str, str]:
    """An effect, 0 where only rounding is left of it, and by what it multiplies the rate."""
    rounding = 1e-9 * (one.standard_error or 0.0)
    estimate = one.estimate if abs(one.estimate) > rounding else 0.0
    factor = "" if one.name == found.coefficients[0].name else words.expected(_exp(estimate))
    return one.name, f"{estimate:.4g}", _error(one.standard_error), factor


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))


def _error(error: float | None) -> str:
    return "at its limit" if error is None else f"{error:.2g}"


def regression_notes(found: SetsRegression) -> Iterator[str]:
    """What the tests say, and what could not be fitted."""
    for name, fit in (
        ("one dispersion for all categories", found.common),
        ("a dispersion for each category", found.separate),
    ):
        if isinstance(fit, Unavailable):
            yield f"With {name} there is no fit: {words.sentence(fit.reason)}."
        else:
            parameters = words.plural(fit.n_parameters, "parameter")
            yield f"With {name}: log-likelihood {fit.log_likelihood:,.4f}, {parameters}."
    yield from _test_words("The rate", found.effect_test)
    yield from _test_words("Dispersion", found.dispersion_test)


def _test_words(what: str, test: RatioTest | Unavailable) -> Iterator[str]:
    if isinstance(test, Unavailable):
        yield f"{what}: no test, {words.sentence(test.reason)}."
        return
    differs = "differs between categories" if test.p_value < 0.05 else "is not shown to differ"
    p = words.probability(test.p_value)
    p = f"p {p}" if p.startswith("<") else f"p = {p}"
    freedom = words.plural(test.degrees_of_freedom, "degree") + " of freedom"
    caution = f"; {test.caution}" if test.caution else ""
    yield f"{what} {differs} ({p}, chi-square {test.statistic:.3g} on {freedom}{caution})."


def mean_rows(found: SetsRegression, names: Sequence[str]) -> list[tuple[str, str, str]]:
    """The mean of each category: observed, and under one common dispersion."""
    fitted = found.fitted_means
    rows = []
    for place, observed in enumerate(found.observed_means):
        shown = "–" if isinstance(fitted, Unavailable) else f"{fitted[place]:,.4g}"
        rows.append((names[place], f"{observed:,.4g}", shown))
    return rows


def regression_json(found: SetsRegression | Unavailable) -> dict[str, object]:
    """Both fits, both tests, and the means."""
    if isinstance(found, Unavailable):
        return found.to_json()
    fitted = found.fitted_means
    return {
        "categories": list(found.names),
        "common_dispersion": _fit_json(found.common),
        "separate_dispersion": _fit_json(found.separate),
        "effect_test": _test_json(found.effect_test),
        "dispersion_test": _test_json(found.dispersion_test),
        "observed_means": list(found.observed_means),
        "fitted_means": fitted.to_json() if isinstance(fitted, Unavailable) else list(fitted),
    }


def _fit_json(fit: Regression | Unavailable) -> dict[str, object]:
    if isinstance(fit, Unavailable):
        return fit.to_json()
    listed = {
        name: [
            {"name": c.name, "estimate": c.estimate, "standard_error": c.standard_error}
            for c in part
        ]
        for name, part in (("coefficients", fit.coefficients), ("dispersions", fit.dispersions))
    }
    return {
        **listed,
        "log_likelihood": fit.log_likelihood,
        "n_parameters": fit.n_parameters,
        "at_boundary": fit.at_boundary,
    }


def _test_json(test: RatioTest | Unavailable) -> dict[str, object]:
    if isinstance(test, Unavailable):
        return test.to_json()
    return {
        "statistic": test.statistic,
        "degrees_of_freedom": test.degrees_of_freedom,
        "p_value": test.p_value,
        "caution": test.caution,
    }
