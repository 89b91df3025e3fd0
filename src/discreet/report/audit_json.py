"""An audit as JSON, with the names that are promised to users."""

from collections.abc import Iterator, Sequence
from typing import Any

from discreet.fiber.sums.counting import Count
from discreet.figures import Outcome, Unavailable
from discreet.report.audit_words import OUTSIDE, UNITS, figures, verdict_words, warnings_of
from discreet.tables.audit import Audit, CellAudit, main_view
from discreet.tables.groups import Learned
from discreet.tables.population_cells import PopulationCell
from discreet.tables.posteriors import View
from discreet.tables.refused_margin import RefusalView


def audit_json(audits: Sequence[Audit]) -> dict[str, Any]:
    """The last audit in full; `sequence` holds what each release changed, if there was one."""
    audit = audits[-1]
    found = one_json(audit)
    if len(audits) > 1:
        found["sequence"] = [_step_json(step) for step in audits]
    return found


def one_json(audit: Audit) -> dict[str, Any]:
    """One audit."""
    table, name = audit.release.table, main_view(audit)
    return {
        "variables": list(table.names),
        "total": table.total,
        "n_table_cells": table.n_cells,
        "released": _sets(audit),
        "known": [known.text for known in audit.release.known],
        "decomposable": audit.decomposable,
        "small": audit.options.small,
        "n_tables": _count(audit.n_tables),
        "n_small_cells": audit.n_small,
        "n_small_cells_measured": audit.n_measured,
        "verdict": _verdict(audit),
        "cells": list(_cells(audit, name)),
        "view": name,
        "risk": _risk(audit, name),
        "models": {
            model: _weight(view) for model, view in audit.views.items() if model != "average"
        },
        "weights": audit.options.weight_kind.value,
        "views": {model: _view(audit, model) for model in audit.views},
        "learned": [_learned(audit, one) for one in audit.learned],
        "probably_learned": [_learned(audit, one) for one in audit.believed]
        if isinstance(audit.believed, tuple)
        else {"value": None, "reason": audit.believed.reason},
        "refusal": _refusal(audit),
        "population": _population(audit, name),
        "search": _search(audit),
        "notes": list(audit.notes),
        "seed": audit.options.seed,
    }


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """A figure; where there is none `value` is null and `reason` says why."""
    if isinstance(outcome, Unavailable):
        return {"value": None, "reason": outcome.reason}
    found = outcome.to_json()
    if outcome.value is None and "reason" not in found:
        found["reason"] = outcome.note or "only limits are known"
    return found


def _sets(audit: Audit) -> list[list[str]]:
    names = audit.release.table.names
    return [[names[axis] for axis in axes] for axes in audit.release.sets]


def _count(count: Count) -> dict[str, Any]:
    found: dict[str, Any] = {
        "value": count.value,
        "how": None if count.how is None else count.how.value,
        "at_least": count.at_least,
    }
    if count.standard_error is not None:
        found["standard_error"] = count.standard_error
    if count.value is None:
        found["reason"] = count.note
    elif count.note:
        found["note"] = count.note
    return found


def _risk(audit: Audit, name: str) -> dict[str, Any]:
    """Every measure under one view with its unit, and what to mistrust of it."""
    found = {}
    for key, outcome in figures(audit, name).items():
        found[key] = outcome_json(outcome) | {"unit": UNITS[key]}
        if key not in ("bounds", "one_over_tables") and warnings_of(audit, name):
            found[key]["warning"] = "; ".join(warnings_of(audit, name))
    tightness = audit.tightness
    if not isinstance(tightness, Unavailable) and tightness.value is not None:
        found["bounds"]["width"] = -tightness.value
    return found


def _verdict(audit: Audit) -> dict[str, Any] | None:
    found = audit.verdict
    if found is None:
        return None
    return {
        "decision": found.decision.value,
        "allows": found.allows,
        "policy": found.rule.policy.value,
        "max_risk": found.rule.max_risk,
        "risk": outcome_json(found.risk),
        "view": found.view,
        "sentence": verdict_words(audit, found),
    }


def _cells(audit: Audit, name: str) -> Iterator[dict[str, Any]]:
    view = audit.views[name]
    places = {cell.levels: i for i, cell in enumerate(audit.small_cells)}
    warning = "; ".join(warnings_of(audit, name))
    for cell in audit.cells:
        found: dict[str, Any] = {
            "cell": audit.release.table.labels(cell.levels),
            "lower": cell.lower,
            "upper": cell.upper,
            "how": cell.how,
        }
        if isinstance(view, View) and cell.levels in places:
            found |= _small_cell(cell, view, places[cell.levels])
            found |= {"warning": warning} if warning else {}
        yield found


def _small_cell(cell: CellAudit, view: View, place: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "count": cell.truth,
        "probabilities": _distribution(view.distributions[place]),
    }
    if view.how.value != "exact":
        found["standard_errors"] = _distribution(view.errors[place])
    return found


def _distribution(distribution: Any) -> dict[str, float]:
    return {str(q): float(p) for q, p in sorted(distribution.items())}


def _weight(view: View | Unavailable) -> float | None:
    if isinstance(view, Unavailable) or isinstance(view.weight, Unavailable):
        return None
    return view.weight.value


def _view(audit: Audit, name: str) -> dict[str, Any]:
    view = audit.views[name]
    if isinstance(view, Unavailable):
        return {"value": None, "reason": view.reason}
    evidence = view.evidence
    return {
        "method": view.method,
        "how": view.how.value,
        "weight": outcome_json(view.weight),
        "log_probability_of_release": outcome_json(evidence)
        if isinstance(evidence, Unavailable)
        else {"value": evidence.log_probability, "standard_error": evidence.standard_error},
        "risk": _risk(audit, name),
        "cells": [
            {
                "cell": audit.release.table.labels(cell.levels),
                "probabilities": _distribution(distribution),
            }
            for cell, distribution in zip(audit.small_cells, view.distributions, strict=True)
        ],
        "warning": view.warning or None,
        "complete": view.complete,
    }


def _learned(audit: Audit, learned: Learned) -> dict[str, Any]:
    table = audit.release.table
    pairs = zip(learned.group, learned.group_levels, strict=True)
    return {
        "group": {table.names[a]: table.levels[a][level] for a, level in pairs},
        "target": table.names[learned.target],
        "level": table.levels[learned.target][learned.level],
        "persons": learned.persons,
        "probability": learned.probability,
    }


def _refusal(audit: Audit) -> dict[str, Any] | None:
    found, table = audit.refusal, audit.release.table
    if found is None:
        return None
    if not isinstance(found, RefusalView):
        return {"value": None, "reason": found.reason}
    return {
        "refused": [[table.names[axis] for axis in axes] for axes in found.requests],
        "policy": found.rule.policy.value,
        "max_risk": found.rule.max_risk,
        "probability": outcome_json(found.probability),
        "n_tables": found.n_tables,
        "method": found.method,
        "cells": [
            {
                "cell": table.labels(cell.levels),
                "probabilities": _distribution(distribution),
                "standard_errors": _distribution(errors),
            }
            for cell, distribution, errors in zip(
                audit.small_cells, found.distributions, found.errors, strict=True
            )
        ],
    }


def _population(audit: Audit, name: str) -> dict[str, Any] | None:
    if not audit.population:
        return None
    found = audit.population[name]
    if isinstance(found, Unavailable):
        return {"value": None, "reason": found.reason}
    pairs = zip(audit.small_cells, found, strict=True)
    return {
        "population_size": audit.options.population,
        "sample_size": audit.release.table.total,
        "cells": [_population_cell(audit, cell, own) for cell, own in pairs],
        "note": OUTSIDE,
    }


def _population_cell(audit: Audit, cell: CellAudit, own: PopulationCell) -> dict[str, Any]:
    return {
        "cell": audit.release.table.labels(cell.levels),
        "unique_probability": own.unique,
        "mean": own.mean,
        "probabilities": _distribution(own.probabilities),
    }


def _search(audit: Audit) -> dict[str, Any] | None:
    found = audit.search
    if found is None:
        return None
    return {
        "n_models": len(found.models),
        "found_from_below": found.from_below,
        "found_from_above": found.from_above,
        "n_unweighed": found.n_unweighed,
        "agrees": found.agrees,
    }


def _step_json(audit: Audit) -> dict[str, Any]:
    name = main_view(audit)
    view = audit.views[name]
    distributions = view.distributions if isinstance(view, View) else []
    return {
        "released": _sets(audit),
        "n_tables": _count(audit.n_tables),
        "view": name,
        "risk": _risk(audit, name),
        "cells": [
            {
                "cell": audit.release.table.labels(cell.levels),
                "lower": cell.lower,
                "upper": cell.upper,
                "probabilities": _distribution(distributions[i])
                if i < len(distributions)
                else None,
            }
            for i, cell in enumerate(audit.small_cells)
        ],
    }
