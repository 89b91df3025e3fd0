"""What count statistics give away, as JSON with stable names."""

import math
from typing import Any

from discreet.belief.count_belief import TableDistribution
from discreet.count_tables.advice import CountAdvice, Trial
from discreet.count_tables.assessment import DISTRIBUTIONS, CountAssessment
from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
from discreet.count_tables.com_poisson.estimation import Fit, NoMaximum
from discreet.count_tables.decimals import TruncatedReconstruction
from discreet.count_tables.measures import CountRisk
from discreet.count_tables.notation import write_factorisation
from discreet.count_tables.release import Attack, CountRelease
from discreet.count_tables.statistics import DecimalLog
from discreet.figures import How, Outcome, Unavailable
from discreet.report.counts.fit import dispersion_limits, rate_words
from discreet.report.counts.words import (
    ZEROS_UNKNOWN,
    Bound,
    bounds_of,
    equations_of,
    is_truth,
    warnings,
    zeros_unknown,
)
from discreet.report.render_json import count_json, fields_json, known, of_kind

MOST_TABLES = 100
CONFIDENCE = 0.95  # of the limits of the dispersion


@of_kind("counts")
def counts_json(
    a: CountAssessment, *, bayes: BayesianAnalysis | Unavailable | None = None
) -> dict[str, Any]:
    """One object; the truth is in it for the holder only."""
    return known(
        side="intruder" if a.table is None else "holder",
        statistics=_statistics(a),
        released=released_json(a.release)
        | known(decimals=_decimals(a.release), truncated=_truncated(a.release))
        | {"words": a.release.words},
        n_solutions=_solutions(a.found),
        equations=list(equations_of(a.found)) or None,
        bounds=_bounds(a),
        priors={name: _prior(a.found, name, risk) for name, risk in a.risks.items()},
        solutions=_tables(a),
        assumptions=list(a.assumptions),
        fit=_fit(a),
        warnings=warnings(a),
        unknown_counts={"0": ZEROS_UNKNOWN} if zeros_unknown(a.found) else None,
        interval_policy=_intervals(a),
        bayes=None if bayes is None else bayes_json(bayes),
        knowledge=_knowledge(a),
        verdict=None if a.verdict is None else a.verdict.to_json(),
        advice=None if a.advice is None else _advice(a.advice),
        findings=None if a.findings is None else a.findings.to_json(),
    )


def _statistics(a: CountAssessment) -> dict[str, Any]:
    """n, S1, S2 and the factorisation of e^S2, as far as this side knows them."""
    given = a.release.log_factorial_total
    exponents = a.statistics.factorisation if a.statistics is not None else given
    n = a.statistics.n if a.statistics is not None else a.release.n
    if isinstance(exponents, DecimalLog):
        return known(n=n, s1=a.release.total, s2=float(exponents.value))
    return known(
        n=n,
        s1=a.release.total,
        s2=math.fsum(e * math.log(p) for p, e in exponents.items()),
        factorisation=write_factorisation(exponents),
        exponents={str(p): e for p, e in exponents.items()},
    )


def released_json(release: CountRelease) -> dict[str, Any]:
    """What goes out: S2 as its decimals, or exactly as the factorisation of e^S2."""
    given = release.log_factorial_total
    if isinstance(given, DecimalLog):
        return known(n=release.n, s1=release.total, s2=str(given.value), exact=False)
    factors = write_factorisation(given)
    return known(n=release.n, s1=release.total, factorisation=factors, exact=True)


def _decimals(release: CountRelease) -> int | None:
    given = release.log_factorial_total
    return given.decimals if isinstance(given, DecimalLog) else None


def _truncated(release: CountRelease) -> bool | None:
    given = release.log_factorial_total
    return given.truncated if isinstance(given, DecimalLog) else None


def _solutions(found: Attack) -> dict[str, Any]:
    if isinstance(found, Unavailable):
        return found.to_json()
    if isinstance(found, TruncatedReconstruction) and found.how is How.EXACT:
        return {"value": found.count, "how": "exact", "factorisations": len(found.sets)}
    number = found.number if isinstance(found, TruncatedReconstruction) else found.count
    return count_json(number)


def _bounds(a: CountAssessment) -> list[dict[str, Any]] | dict[str, Any]:
    lacking = a.found if isinstance(a.found, Unavailable) else a.found.bounds
    if isinstance(lacking, Unavailable):
        return lacking.to_json()
    return [_bound(a, bound) for bound in bounds_of(a)]


def _bound(a: CountAssessment, bound: Bound) -> dict[str, Any]:
    limits, cell = bound.interval, bound.cell
    found: dict[str, Any] = {
        "value": bound.value,
        "lower": limits.lower,
        "upper": limits.upper,
        "how": bound.how,
        "dr_printed": limits.printed.to_json(),
        "dr": limits.bounded,
        "blind_guess": limits.blind_guess,
    }
    if cell is not None:
        names = ("possible_counts", "best_guess", "best_guess_probability", "entropy")
        found |= {"dr_possible": cell.bounded_possible} | fields_json(cell, *names)
    if a.table is not None:
        found["count"] = a.table.get(bound.value, 0)
        found |= known(true_count_probability=None if cell is None else cell.truth_probability)
    return found


def outcomes_json(**outcomes: Outcome | None) -> dict[str, Any]:
    """Outcomes under their names; what this side cannot have is left out."""
    return {name: one.to_json() for name, one in outcomes.items() if one is not None}


def _prior(found: Attack, name: str, risk: CountRisk | Unavailable) -> dict[str, Any]:
    """One prior; `global_dr` is 1 / H, which under `uniform` is (15) as printed."""
    if isinstance(risk, Unavailable):
        return risk.to_json()
    told = outcomes_json(
        global_dr=risk.reciprocal_entropy,
        true_table_probability=risk.truth_probability,
        global_dr_bounded=risk.bounded,
        effective_tables=risk.effective_tables,
        best_guess_probability=risk.best_guess_probability,
    )
    distribution = _distribution(found, name)
    if distribution is None:
        return told
    guess = distribution.best_counts
    return (
        told
        | outcomes_json(
            entropy=distribution.entropy, true_table_surprisal=distribution.truth_surprisal
        )
        | known(
            best_guess=guess and {str(j): c for j, c in guess.items() if c is not None},
            how=distribution.how.value,
            note=distribution.note or None,
        )
    )


def _distribution(found: Attack, name: str) -> TableDistribution | None:
    if isinstance(found, Unavailable):
        return None
    own = DISTRIBUTIONS[name][isinstance(found, TruncatedReconstruction)]
    distribution = found.distributions[own] if own else None
    return distribution if isinstance(distribution, TableDistribution) else None


def _tables(a: CountAssessment) -> dict[str, Any]:
    """The most probable tables, each as counts of the values 0, 1, 2, …; "?" is not known.

    `is_true` is there where all counts are known; `matches_truth` compares those that are.
    """
    if isinstance(a.likely, Unavailable):
        return a.likely.to_json()
    listed = []
    for row, probability in enumerate(a.likely.probability.tolist()[:MOST_TABLES]):
        counts = a.likely.counts(row)
        shown = ["?" if count is None else count for count in counts]
        one: dict[str, Any] = {"counts": shown, "probability": probability}
        if a.table is not None:
            same = is_truth(a, counts)
            one |= known(is_true=None if None in counts else same, matches_truth=same)
        listed.append(one)
    complete = a.likely.complete and len(listed) == len(a.likely.tables)
    return {"tables": listed, "complete": complete}


def _fit(a: CountAssessment) -> dict[str, Any]:
    """What a user of the release gets; the holder's own fit stands under `from_table`."""
    told = _estimate(a.fit) | known(
        based_on=a.fit_words or None,
        by_n={str(n): _estimate(fit) for n, fit in a.fits_by_n} or None,
        poisson_test=a.poisson and fields_json(a.poisson, "statistic", "p_value"),
    )
    if a.table is None:
        return told
    own = None if a.holder_fit is None else _estimate(a.holder_fit)
    return told | known(from_table=own, goodness=_goodness(a), comparison=_comparison(a))


def _estimate(fit: Fit | NoMaximum | Unavailable) -> dict[str, Any]:
    if isinstance(fit, NoMaximum):
        return {"unavailable": fit.reason, "log_likelihood_limit": fit.log_likelihood_limit}
    if isinstance(fit, Unavailable):
        return fit.to_json()
    return {
        "rate": _rate(fit),
        "log_rate": fit.log_rate,
        "dispersion": _dispersion(fit),
        "log_likelihood": fit.log_likelihood,
        "at_boundary": fit.at_boundary,
    }


def _rate(fit: Fit) -> dict[str, Any]:
    rate, error = rate_words(fit)
    if rate is None:
        return {"unavailable": "too large for a number; see log_rate"}
    return known(value=rate, how="estimate", standard_error=error)


def _dispersion(fit: Fit) -> dict[str, Any]:
    limits, error = dispersion_limits(fit), fit.dispersion_standard_error
    if isinstance(limits, Unavailable):
        note = f"no limits: {limits.reason}"
        return known(value=fit.dispersion, how="estimate", standard_error=error, note=note)
    low, high = limits
    return known(
        value=fit.dispersion,
        low=low,
        high=high,
        how="estimate",
        standard_error=error,
        confidence=CONFIDENCE,
    )


def _goodness(a: CountAssessment) -> dict[str, Any]:
    tested = a.goodness
    if tested is None or isinstance(tested, Unavailable):
        return {"unavailable": tested.reason if tested else "no table"}
    return fields_json(
        tested,
        "statistic",
        "degrees_of_freedom",
        "p_value",
        "p_value_standard_error",
        "how",
        "fits_badly",
    )


def _comparison(a: CountAssessment) -> dict[str, Any]:
    return {
        name.replace(" ", "_"): estimate.to_json()
        if isinstance(estimate, Unavailable)
        else known(
            log_rate=estimate.log_rate,
            dispersion=estimate.dispersion,
            rate=estimate.rate if estimate.log_rate <= 700 else None,
        )
        for name, estimate in a.comparison.items()
    }


def _intervals(a: CountAssessment) -> dict[str, Any] | None:
    """What would be left if n and the bounds went out instead."""
    if a.table is None or a.intervals is None:
        return None
    distributions = {
        name: distribution.to_json()
        if isinstance(distribution, Unavailable)
        else {"entropy": distribution.entropy.to_json()}
        for name, distribution in a.intervals.distributions.items()
    }
    return {"n_tables": count_json(a.intervals.count), "priors": distributions}


def _knowledge(a: CountAssessment) -> dict[str, Any] | None:
    """What is known, and what was found without it."""
    if not a.options.knowledge:
        return None
    told: dict[str, Any] = {"known": list(a.options.knowledge.described())}
    if a.before is not None:
        before = a.before
        priors = {name: _prior(before, name, risk) for name, risk in a.risks_before.items()}
        told["without"] = {"n_solutions": _solutions(before), "priors": priors}
    return told


def _advice(advice: CountAdvice) -> dict[str, Any]:
    names = ("decision", "decimals", "measure", "max_risk", "sentence", "rule", "warnings")
    exposed = ("value", "count", "probability", "standard_error", "upper")
    return fields_json(advice, *names) | {
        "exposed": [fields_json(one, *exposed) for one in advice.exposed],
        "trials": [_trial(trial) for trial in advice.trials],
    }


def _trial(trial: Trial) -> dict[str, Any]:
    names = ("measure", "risk", "table_risk", "cell_risk", "worst_value")
    judged = {"release": trial.release.words, "verdict": str(trial.ruling)}
    return judged | fields_json(trial, *names)


def bayes_json(found: BayesianAnalysis | Unavailable) -> dict[str, Any]:
    """One Bayesian analysis of rate and dispersion."""
    if isinstance(found, Unavailable):
        return found.to_json()
    return known(
        prior=None if found.prior is None else fields_json(found.prior, *"abc"),
        prior_words=found.prior_words,
        posterior=fields_json(found.posterior, *"abc"),
        rate={
            "mean": found.rate_mean.to_json(),
            "deviation": found.rate_deviation.to_json(),
            "quantiles": _quantiles(found.rate_quantiles),
        },
        dispersion={
            "mean": found.dispersion_mean.to_json(),
            "deviation": found.dispersion_deviation.to_json(),
            "quantiles": _quantiles(found.dispersion_quantiles),
        },
        probabilities=list(found.probabilities),
        less_dispersed_than_poisson=found.less_dispersed,
        predictive={str(value): p for value, p in found.predictive},
    )


def _quantiles(found: tuple[float, ...] | Unavailable) -> Any:
    return found.to_json() if isinstance(found, Unavailable) else list(found)
