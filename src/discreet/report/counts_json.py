"""What count statistics give away, as JSON with stable names."""

import math
from typing import Any

from discreet.belief.count_belief import TableDistribution
from discreet.count_tables.assessment import DISTRIBUTIONS, CountAssessment
from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
from discreet.count_tables.com_poisson.estimation import Fit, NoMaximum
from discreet.count_tables.decimals import TruncatedReconstruction
from discreet.count_tables.measures import CountRisk
from discreet.count_tables.notation import write_factorisation
from discreet.count_tables.release import Attack, Release
from discreet.count_tables.statistics import DecimalLog
from discreet.count_tables.verdict import Trial, Verdict
from discreet.fiber.sums.counting import Count
from discreet.figures import How, Outcome, Unavailable
from discreet.report.counts_fit import bayes_json, dispersion_limits, rate_words
from discreet.report.counts_words import (
    ZEROS_UNKNOWN,
    Bound,
    bounds_of,
    equations_of,
    is_truth,
    warnings,
    zeros_unknown,
)

MOST_TABLES = 100


def counts_json(
    a: CountAssessment, *, bayes: BayesianAnalysis | Unavailable | None = None
) -> dict[str, Any]:
    """One object; figures that are not known are null, with the reason under `reasons`."""
    found: dict[str, Any] = {
        "side": "intruder" if a.table is None else "holder",
        "statistics": _statistics(a),
        "released": _released(a.release),
        "n_solutions": _solutions(a.found),
        "equations": list(equations_of(a.found)) or None,
        "bounds": [_bound(a, bound) for bound in bounds_of(a)],
        **_no_bounds(a.found),
        "priors": {name: _prior(a.found, name, risk) for name, risk in a.risks.items()},
        "solutions": _tables(a),
        "assumptions": list(a.assumptions),
        "fit": _fit(a),
        "warnings": warnings(a),
    }
    if zeros_unknown(a.found):
        found["unknown_counts"] = {"0": ZEROS_UNKNOWN}
    if a.table is not None:
        found["interval_policy"] = _intervals(a)
    if bayes is not None:
        found["bayes"] = bayes_json(bayes)
    if a.options.knowledge:
        found["knowledge"] = _knowledge(a)
    if a.verdict is not None:
        found["verdict"] = _verdict(a.verdict)
    return found


def _statistics(a: CountAssessment) -> dict[str, Any]:
    """n, S1, S2 and the factorisation of e^S2, as far as this side knows them."""
    given = a.release.log_factorial_total
    exponents = a.statistics.factorisation if a.statistics is not None else given
    if isinstance(exponents, DecimalLog):
        s2, written, table = float(exponents.value), None, None
    else:
        s2 = math.fsum(e * math.log(p) for p, e in exponents.items())
        written = write_factorisation(exponents)
        table = {str(p): e for p, e in exponents.items()}
    n = a.statistics.n if a.statistics is not None else a.release.n
    total = a.release.total
    return {"n": n, "s1": total, "s2": s2, "factorisation": written, "exponents": table}


def _released(release: Release) -> dict[str, Any]:
    given = release.log_factorial_total
    decimal = isinstance(given, DecimalLog)
    return {
        "n": release.n,
        "s1": release.total,
        "s2": str(given.value) if isinstance(given, DecimalLog) else None,
        "factorisation": None if isinstance(given, DecimalLog) else write_factorisation(given),
        "decimals": given.decimals if isinstance(given, DecimalLog) else None,
        "truncated": given.truncated if isinstance(given, DecimalLog) else None,
        "exact": not decimal,
        "words": release.words,
    }


def _solutions(found: Attack) -> dict[str, Any]:
    if isinstance(found, Unavailable):
        return {"value": None, "how": None, "reason": found.reason}
    if isinstance(found, TruncatedReconstruction) and found.how is not How.EXACT:
        return count_json(found.number)
    if isinstance(found, TruncatedReconstruction):
        return {"value": found.count, "how": "exact", "factorisations": len(found.sets)}
    return count_json(found.count)


def count_json(count: Count) -> dict[str, Any]:
    """A number of tables, or why it is not known."""
    found: dict[str, Any] = {
        "value": count.value,
        "how": None if count.how is None else count.how.value,
    }
    if count.value is None:
        return found | {"at_least": count.at_least, "reason": count.note}
    if count.standard_error is not None:
        found |= {"standard_error": count.standard_error, "note": count.note}
    return found


def _no_bounds(found: Attack) -> dict[str, str]:
    """Why the list of bounds is empty, where it is."""
    lacking = found if isinstance(found, Unavailable) else found.bounds
    return {"bounds_reason": lacking.reason} if isinstance(lacking, Unavailable) else {}


def _bound(a: CountAssessment, bound: Bound) -> dict[str, Any]:
    limits, cell = bound.interval, bound.cell
    found: dict[str, Any] = {
        "value": bound.value,
        "lower": limits.lower,
        "upper": limits.upper,
        "how": bound.how,
        "dr_printed": outcome_value(limits.printed),
        "dr": limits.bounded,
        "blind_guess": limits.blind_guess,
    }
    if isinstance(limits.printed, Unavailable):
        found["dr_printed_reason"] = limits.printed.reason
    if cell is not None:
        found["possible_counts"] = cell.possible_counts
        found["dr_possible"] = cell.bounded_possible
        found["best_guess"] = cell.best_guess
        found["best_guess_probability"] = cell.best_guess_probability
        found["entropy"] = cell.entropy
    if a.table is not None:
        found["count"] = a.table.get(bound.value, 0)
        found["true_count_probability"] = None if cell is None else cell.truth_probability
    return found


def outcome_value(outcome: Outcome | None) -> float | None:
    """The figure; None where there is none."""
    return None if outcome is None or isinstance(outcome, Unavailable) else outcome.value


def _prior(found: Attack, name: str, risk: CountRisk | Unavailable) -> dict[str, Any]:
    """One prior; `global_dr` is 1 / H, which under `uniform` is (15) as printed."""
    if isinstance(risk, Unavailable):
        empty = {"global_dr": None, "true_table_probability": None}
        return {**empty, "how": None, "unavailable": risk.reason}
    outcomes: dict[str, Outcome | None] = {
        "global_dr": risk.reciprocal_entropy,
        "true_table_probability": risk.truth_probability,
        "global_dr_bounded": risk.bounded,
        "effective_tables": risk.effective_tables,
        "best_guess_probability": risk.best_guess_probability,
    }
    distribution = _distribution(found, name)
    if distribution is not None:
        outcomes["entropy"] = distribution.entropy
        outcomes["true_table_surprisal"] = distribution.truth_surprisal
    told: dict[str, Any] = {key: outcome_value(outcome) for key, outcome in outcomes.items()}
    if distribution is not None:
        guess = distribution.best_counts
        told["best_guess"] = None if guess is None else {str(j): c for j, c in guess.items()}
        told["how"] = distribution.how.value
        if distribution.note:
            told["note"] = distribution.note
    return told | _errors(outcomes) | _reasons(outcomes)


def _distribution(found: Attack, name: str) -> TableDistribution | None:
    if isinstance(found, Unavailable):
        return None
    own = DISTRIBUTIONS[name][isinstance(found, TruncatedReconstruction)]
    distribution = found.distributions[own] if own else None
    return distribution if isinstance(distribution, TableDistribution) else None


def _errors(outcomes: dict[str, Outcome | None]) -> dict[str, Any]:
    found = {
        key: outcome.standard_error
        for key, outcome in outcomes.items()
        if outcome is not None
        and not isinstance(outcome, Unavailable)
        and outcome.standard_error is not None
    }
    return {"standard_errors": found} if found else {}


def _reasons(outcomes: dict[str, Outcome | None]) -> dict[str, Any]:
    found = {k: o.reason for k, o in outcomes.items() if isinstance(o, Unavailable)}
    return {"reasons": found} if found else {}


def _tables(a: CountAssessment) -> dict[str, Any]:
    """The most probable tables, each as counts of the values 0, 1, 2, …; null is not identified.

    `is_true` is null where not all counts are identified; `matches_truth` compares those that are.
    """
    if isinstance(a.likely, Unavailable):
        return {"tables": [], "complete": False, "reason": a.likely.reason}
    listed = []
    for row, probability in enumerate(a.likely.probability.tolist()[:MOST_TABLES]):
        counts = a.likely.counts(row)
        one: dict[str, Any] = {"counts": list(counts), "probability": probability}
        if a.table is not None:
            same = is_truth(a, counts)
            one |= {"is_true": None if None in counts else same, "matches_truth": same}
        listed.append(one)
    complete = a.likely.complete and len(listed) == len(a.likely.tables)
    return {"tables": listed, "complete": complete}


def _fit(a: CountAssessment) -> dict[str, Any]:
    """What a user of the release gets; the holder's own fit stands under `from_table`."""
    told: dict[str, Any] = {"rate": None, "dispersion": None, "log_likelihood": None}
    told |= _estimate(a.fit)
    told["based_on"] = a.fit_words
    if a.fits_by_n:
        told["by_n"] = {str(n): _estimate(fit) for n, fit in a.fits_by_n}
    if a.poisson is not None:
        test = a.poisson
        told["poisson_test"] = {"statistic": test.statistic, "p_value": test.p_value}
    if a.table is not None:
        own = None if a.holder_fit is None else _estimate(a.holder_fit)
        told |= {"from_table": own, "goodness": _goodness(a), "comparison": _comparison(a)}
    return told


def _estimate(fit: Fit | NoMaximum | Unavailable) -> dict[str, Any]:
    if isinstance(fit, NoMaximum):
        return {"unavailable": fit.reason, "log_likelihood_limit": fit.log_likelihood_limit}
    if isinstance(fit, Unavailable):
        return fit.to_json()
    rate, error = rate_words(fit)
    limits = dispersion_limits(fit)
    return {
        "rate": rate,
        "rate_standard_error": error,
        "log_rate": fit.log_rate,
        "dispersion": fit.dispersion,
        "dispersion_standard_error": fit.dispersion_standard_error,
        "dispersion_interval": limits.to_json()
        if isinstance(limits, Unavailable)
        else list(limits),
        "log_likelihood": fit.log_likelihood,
        "at_boundary": fit.at_boundary,
    }


def _goodness(a: CountAssessment) -> dict[str, Any]:
    tested = a.goodness
    if tested is None or isinstance(tested, Unavailable):
        return {"unavailable": tested.reason if tested else "no table"}
    return {
        "statistic": tested.statistic,
        "degrees_of_freedom": tested.degrees_of_freedom,
        "p_value": tested.p_value,
        "p_value_standard_error": tested.p_value_standard_error,
        "fits_badly": tested.fits_badly,
    }


def _comparison(a: CountAssessment) -> dict[str, Any]:
    return {
        name.replace(" ", "_"): estimate.to_json()
        if isinstance(estimate, Unavailable)
        else {
            "log_rate": estimate.log_rate,
            "dispersion": estimate.dispersion,
            "rate": estimate.rate if estimate.log_rate <= 700 else None,
        }
        for name, estimate in a.comparison.items()
    }


def _intervals(a: CountAssessment) -> dict[str, Any] | None:
    if a.intervals is None:
        return None
    distributions = {
        name: distribution.to_json()
        if isinstance(distribution, Unavailable)
        else {"entropy": outcome_value(distribution.entropy)}
        for name, distribution in a.intervals.distributions.items()
    }
    return {"n_tables": count_json(a.intervals.count), "priors": distributions}


def _knowledge(a: CountAssessment) -> dict[str, Any]:
    """What is known, and what was found without it."""
    known = list(a.options.knowledge.described()) if a.options.knowledge else []
    if a.before is None:
        return {"known": known}
    before = a.before
    return {
        "known": known,
        "without": {
            "n_solutions": _solutions(before),
            "priors": {name: _prior(before, name, risk) for name, risk in a.risks_before.items()},
        },
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "decision": verdict.decision.value,
        "decimals": verdict.decimals,
        "measure": verdict.measure.value,
        "max_risk": verdict.max_risk,
        "sentence": verdict.sentence,
        "rule": verdict.rule,
        "exposed": [
            {
                "value": one.value,
                "count": one.count,
                "probability": one.probability,
                "standard_error": one.standard_error,
                "upper": one.upper,
            }
            for one in verdict.exposed
        ],
        "warnings": list(verdict.warnings),
        "trials": [_trial(trial) for trial in verdict.trials],
    }


def _trial(trial: Trial) -> dict[str, Any]:
    cell = trial.cell_risk
    return {
        "release": trial.release.words,
        "measure": trial.measure.value,
        "risk": trial.risk.to_json(),
        "table_risk": trial.table_risk.to_json(),
        "cell_risk": None if cell is None else cell.to_json(),
        "worst_value": trial.worst_value,
        "judged": str(trial.judged),
    }
