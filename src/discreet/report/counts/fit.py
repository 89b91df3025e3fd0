"""What a user of the release can fit: estimates, Bayesian analyses and regressions."""

import math
from collections.abc import Iterator, Mapping, Sequence

from discreet.count_tables.assessment import CountAssessment
from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
from discreet.count_tables.com_poisson.estimation import Fit, NoMaximum
from discreet.count_tables.com_poisson.goodness import Goodness
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
from discreet.report.document import Block, Section, Table, Text

FIT_HEADER = ("", "rate", "dispersion")
BAYES_HEADER = ("", "mean", "± deviation", "95 % between", "median")
MOST_ROWS = 40  # on the terminal
EFFECT_HEADER = ("", "estimate", "± standard error", "rate times")
MEAN_HEADER = ("category", "mean observed", "mean fitted")
USER = "maximum likelihood, what a user gets"
OWN = "maximum likelihood, from the table"
_TRY_DRAWS = "; on tables drawn from it: --fit-draws 499"


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
    if isinstance(a.goodness, Goodness):
        yield f"The test of the fit: {a.goodness.how}{_TRY_DRAWS if not a.goodness.draws else ''}."
    if a.table is None:
        yield (
            "Whether COM-Poisson fits cannot be told from the statistics; only the holder of the "
            "table can."
        )


def _table_notes(a: CountAssessment) -> Iterator[str]:
    """Why the table itself gives no estimate, where it does not."""
    if _differs(a) and isinstance(a.holder_fit, NoMaximum):
        yield f"{words.full(OWN)[:-1]}: nothing to fit, {words.sentence(a.holder_fit.reason)}."
    for name, estimate in a.comparison.items():
        if isinstance(estimate, Unavailable):
            said = f"{name}, from the table: not available, {words.sentence(estimate.reason)}"
            yield words.full(said)


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
        yield words.full(a.fit_words)
    if fit.at_boundary:
        yield "The counts are more dispersed than geometric ones: dispersion is at its limit, 0."
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


def tested_sentence(sentence: str) -> str:
    """What a test says, without powers of ten in its p-value."""
    return words.sentence(sentence).replace("= below", "below").replace("p = 0)", "p below 0.001)")


def bayes_section(analyses: Mapping[str, BayesianAnalysis | Unavailable]) -> Section:
    """Bayesian analyses by category, or the only one, of which more is told."""
    return Section(
        "Rate and dispersion by Bayes' rule, from what goes out", tuple(_bayes(analyses))
    )


def _bayes(analyses: Mapping[str, BayesianAnalysis | Unavailable]) -> Iterator[Block]:
    found = {n: one for n, one in analyses.items() if isinstance(one, BayesianAnalysis)}
    rows = tuple(row for name, one in found.items() for row in bayes_rows(one, name))
    if rows:
        yield Table(header=BAYES_HEADER, rows=rows, most=MOST_ROWS)
    yield from (Text(note, "soft") for note in _all_bayes_notes(found))
    if len(found) > 1:
        yield from (
            Text(f"{name}: {note}", "soft", "page")
            for name, one in found.items()
            for note in (_posterior_words(one), *_predictive_words(one))
        )
    for name, one in analyses.items():
        if isinstance(one, Unavailable):
            what = f"Not available for {name}" if name else "Not available"
            yield Text(f"{what}: {words.sentence(one.reason)}.")


def _all_bayes_notes(found: Mapping[str, BayesianAnalysis]) -> Iterator[str]:
    if len(found) == 1:
        yield from bayes_notes(next(iter(found.values())))
    elif found:
        yield f"Prior: {words.sentence(next(iter(found.values())).prior_words)}."
        shares = (f"{n} {less_dispersed_words(one)}" for n, one in found.items())
        yield f"Less dispersed than Poisson with probability: {', '.join(shares)}."
        gaps = ((name, why) for name, one in found.items() for why in bayes_gaps(one))
        reasons = words.by_reason(gaps)
        yield from (f"{words.listed(names)}: {why}" for why, names in reasons.items())


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
    yield _posterior_words(found)
    yield from bayes_gaps(found)
    share = less_dispersed_words(found)
    yield f"Less dispersed than Poisson (dispersion above 1) with probability {share}."
    yield from _predictive_words(found)


def _posterior_words(found: BayesianAnalysis) -> str:
    own = found.posterior
    return (
        f"The posterior has a = {own.a:,.6g}, b = {own.b:,.6g}, c = {own.c:,.6g} (Kadane and "
        "others 2006); figures are integrals, exact to the digits shown."
    )


def _predictive_words(found: BayesianAnalysis) -> Iterator[str]:
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
