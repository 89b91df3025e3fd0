"""What count statistics give away, as JSON with stable names."""

import math
from typing import Any

from discreet.compoisson.estimation import Fit, NoMaximum
from discreet.compoisson.laws import TableLaw
from discreet.compoisson.notation import write_factorisation
from discreet.compoisson.release import Attack, Release
from discreet.compoisson.snooper import Reconstruction
from discreet.compoisson.statistics import DecimalLog
from discreet.compoisson.truncation import TruncatedReconstruction
from discreet.fiber.counting import Count
from discreet.figures import Outcome, Unavailable
from discreet.report.counts_words import Bound, bounds_of, is_truth, rate_words, warnings
from discreet.risk.count_assessment import LAWS, CountAssessment
from discreet.risk.count_risk import CountRisk
from discreet.risk.count_verdict import Verdict

MOST_TABLES = 100


def counts_json(a: CountAssessment) -> dict[str, Any]:
    """One object; figures that are not known are null, with the reason under `reasons`."""
    found: dict[str, Any] = {
        "side": "snooper" if a.table is None else "holder",
        "statistics": _statistics(a),
        "released": _released(a.release),
        "n_solutions": _solutions(a.found),
        "equations": list(a.found.equations) if isinstance(a.found, Reconstruction) else None,
        "bounds": [_bound(a, bound) for bound in bounds_of(a)],
        "priors": {name: _prior(a.found, name, risk) for name, risk in a.risks.items()},
        "solutions": _tables(a),
        "fit": _fit(a),
        "warnings": warnings(a),
    }
    if a.table is not None:
        found["interval_policy"] = _intervals(a)
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
    if isinstance(found, TruncatedReconstruction):
        return {"value": found.count, "how": "exact", "factorisations": len(found.sets)}
    return _count(found.count)


def _count(count: Count) -> dict[str, Any]:
    found: dict[str, Any] = {
        "value": count.value,
        "how": None if count.how is None else count.how.value,
    }
    if count.value is None:
        return found | {"at_least": count.at_least, "reason": count.note}
    if count.standard_error is not None:
        found |= {"standard_error": count.standard_error, "note": count.note}
    return found


def _bound(a: CountAssessment, bound: Bound) -> dict[str, Any]:
    limits, cell = bound.interval, bound.cell
    found: dict[str, Any] = {
        "value": bound.value,
        "lower": limits.lower,
        "upper": limits.upper,
        "how": bound.how,
        "dr_printed": _value(limits.printed),
        "dr": limits.bounded,
        "blind_guess": limits.blind_guess,
    }
    if isinstance(limits.printed, Unavailable):
        found["dr_printed_reason"] = limits.printed.reason
    if cell is not None:
        found["best_guess"] = cell.best_guess
        found["best_guess_probability"] = cell.best_guess_probability
        found["entropy"] = cell.entropy
    if a.table is not None:
        found["count"] = a.table.get(bound.value, 0)
        found["true_count_probability"] = None if cell is None else cell.truth_probability
    return found


def _value(outcome: Outcome | None) -> float | None:
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
    law = _law(found, name)
    if law is not None:
        outcomes["entropy"] = law.entropy
        outcomes["true_table_surprisal"] = law.truth_surprisal
    told: dict[str, Any] = {key: _value(outcome) for key, outcome in outcomes.items()}
    if law is not None:
        guess = law.best_guess
        told["best_guess"] = None if guess is None else {str(j): c for j, c in enumerate(guess)}
        told["how"] = law.how.value
        if law.note:
            told["note"] = law.note
    return told | _errors(outcomes) | _reasons(outcomes)


def _law(found: Attack, name: str) -> TableLaw | None:
    if isinstance(found, Unavailable):
        return None
    own = LAWS[name][isinstance(found, TruncatedReconstruction)]
    law = found.laws[own] if own else None
    return law if isinstance(law, TableLaw) else None


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
    """The most probable tables, each as counts of the values 0, 1, 2, …"""
    if isinstance(a.likely, Unavailable):
        return {"tables": [], "complete": False, "reason": a.likely.reason}
    listed = []
    pairs = zip(a.likely.tables.tolist(), a.likely.probability.tolist(), strict=True)
    for table, probability in list(pairs)[:MOST_TABLES]:
        one = {"counts": table, "probability": probability}
        listed.append(one if a.table is None else one | {"is_true": is_truth(a, table)})
    complete = a.likely.complete and len(listed) == len(a.likely.tables)
    return {"tables": listed, "complete": complete}


def _fit(a: CountAssessment) -> dict[str, Any]:
    told: dict[str, Any] = {"rate": None, "dispersion": None, "log_likelihood": None}
    if isinstance(a.fit, Fit):
        told["rate"], told["rate_standard_error"] = rate_words(a.fit)
        told["log_rate"] = a.fit.log_rate
        told["dispersion"] = a.fit.dispersion
        told["dispersion_standard_error"] = a.fit.dispersion_standard_error
        told["dispersion_interval"] = list(a.fit.dispersion_interval())
        told["log_likelihood"] = a.fit.log_likelihood
        told["at_boundary"] = a.fit.at_boundary
    else:
        told["unavailable"] = a.fit.reason
    if isinstance(a.fit, NoMaximum):
        told["log_likelihood_limit"] = a.fit.log_likelihood_limit
    if a.poisson is not None:
        test = a.poisson
        told["poisson_test"] = {"statistic": test.statistic, "p_value": test.p_value}
    if a.table is not None:
        told |= {"goodness": _goodness(a), "comparison": _comparison(a)}
    return told


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
        else {"log_rate": estimate.log_rate, "dispersion": estimate.dispersion}
        | ({"rate": estimate.rate} if estimate.log_rate <= 700 else {})
        for name, estimate in a.comparison.items()
    }


def _intervals(a: CountAssessment) -> dict[str, Any] | None:
    if a.intervals is None:
        return None
    laws = {
        name: law.to_json() if isinstance(law, Unavailable) else {"entropy": _value(law.entropy)}
        for name, law in a.intervals.laws.items()
    }
    return {"n_tables": _count(a.intervals.count), "priors": laws}


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
        "warnings": list(verdict.warnings),
        "trials": [
            {"release": t.release.words, "measure": t.measure.value, "risk": t.risk.to_json()}
            for t in verdict.trials
        ],
    }
