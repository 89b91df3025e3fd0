"""One set of count statistics for each category, as JSON with stable names."""

from typing import Any

from discreet.belief.count_belief import TableDistribution
from discreet.count_tables.category_assessment import CategoryRisk
from discreet.count_tables.measures import CellRisk
from discreet.count_tables.notation import write_factorisation
from discreet.count_tables.release import Release
from discreet.count_tables.statistics import DecimalLog
from discreet.figures import How, Outcome, Unavailable
from discreet.report.counts_categories import (
    CategoriesView,
    alone_jointly,
    verdict_lines,
    warning_lines,
)
from discreet.report.counts_fit import bayes_json, regression_json
from discreet.report.counts_json import count_json, outcome_value


def categories_json(view: CategoriesView) -> dict[str, Any]:
    """One object; figures that are not known are null, with the reason beside."""
    found: dict[str, Any] = {
        "side": "holder" if view.is_holder else "intruder",
        "by": list(view.variables),
        "beside": list(view.beside),
        "known": list(view.known),
        "categories": [_category(view, name) for name in _names(view)],
        "sets_alone": _independent(view),
        "joint": _risk(view.found.joint),
        "assumptions": list(view.found.assumptions),
        "warnings": warning_lines(view),
    }
    if view.regression is not None:
        found["regression"] = regression_json(view.regression)
    if view.bayes:
        found["bayes"] = {name: bayes_json(one) for name, one in view.bayes.items()}
    if view.found.verdict_sentence is not None:
        sentence = " ".join(verdict_lines(view))
        found["verdict"] = {"allows": view.allows, "max_risk": view.max_risk, "sentence": sentence}
    return found


def _names(view: CategoriesView) -> list[str]:
    return list(dict.fromkeys([*view.releases, *view.found.names]))


def _category(view: CategoriesView, name: str) -> dict[str, Any]:
    released = view.releases.get(name)
    told: dict[str, Any] = {
        "category": name,
        "statistics": None if released is None else _statistics(released),
        "derived": name in view.found.derived,
        "all_zero": name in view.zeros,
    }
    if name not in view.found.alone:
        return told | {"alone": None, "joint_cells": []}
    cells = view.found.joint_cells.get(name, ())
    told["alone"] = _risk(view.found.alone[name])
    told["joint_cells"] = [_cell(view, name, cell) for cell in cells]
    return told


def _statistics(released: Release) -> dict[str, Any]:
    given = released.log_factorial_total
    decimal = isinstance(given, DecimalLog)
    return {
        "n": released.n,
        "s1": released.total,
        "s2": str(given.value) if isinstance(given, DecimalLog) else None,
        "factorisation": None if isinstance(given, DecimalLog) else write_factorisation(given),
        "exact": not decimal,
    }


def _risk(risk: CategoryRisk | Unavailable) -> dict[str, Any]:
    """A category's figures, or those of all jointly, under multinomial."""
    if isinstance(risk, Unavailable):
        return risk.to_json()
    told: dict[str, Any] = {
        "n_solutions": count_json(risk.count),
        "entropy": outcome_value(risk.entropy),
        "effective_tables": outcome_value(risk.effective_tables),
        "best_guess_probability": outcome_value(risk.best_guess_probability),
        "true_table_probability": outcome_value(risk.truth_probability),
    }
    distribution = risk.distributions["multinomial"]
    told["how"] = distribution.how.value if isinstance(distribution, TableDistribution) else None
    if isinstance(risk.entropy, Unavailable):
        told["reason"] = risk.entropy.reason
    told |= _reasons(
        effective_tables=risk.effective_tables,
        best_guess_probability=risk.best_guess_probability,
        true_table_probability=risk.truth_probability,
    )
    if risk.worst_cell is not None:
        worst = risk.worst_cell
        told["surest_count"] = {
            "category": worst.category,
            "value": worst.value,
            "probability": worst.probability,
            "standard_error": worst.standard_error,
        }
    return told


def _reasons(**outcomes: Outcome | None) -> dict[str, Any]:
    """Why figures are null, under `reasons`."""
    found = {name: one.reason for name, one in outcomes.items() if isinstance(one, Unavailable)}
    return {"reasons": found} if found else {}


def _independent(view: CategoriesView) -> dict[str, Any]:
    """All tables jointly from the sets alone."""
    figures = alone_jointly(view)
    if figures is None:
        return {"unavailable": "not known exactly for every category"}
    return {
        "entropy": outcome_value(figures.entropy),
        "effective_tables": outcome_value(figures.effective),
        "best_guess_probability": outcome_value(figures.best_guess),
        "true_tables_probability": outcome_value(figures.truth) if view.is_holder else None,
    } | _reasons(
        entropy=figures.entropy,
        effective_tables=figures.effective,
        best_guess_probability=figures.best_guess,
        true_tables_probability=figures.truth if view.is_holder else None,
    )


def _cell(view: CategoriesView, name: str, cell: CellRisk) -> dict[str, Any]:
    limits = cell.interval if _shows_every_table(view) else None
    told: dict[str, Any] = {
        "value": cell.value,
        "lower": None if limits is None else limits.lower,
        "upper": None if limits is None else limits.upper,
        "best_guess": cell.best_guess,
        "best_guess_probability": cell.best_guess_probability,
    }
    if view.tables is not None:
        told["count"] = view.tables[name].get(cell.value, 0)
        told["true_count_probability"] = cell.truth_probability
    return told


def _shows_every_table(view: CategoriesView) -> bool:
    """Do the joint distributions come from all tables? Of those that were drawn limits are none."""
    joint = view.found.joint
    if isinstance(joint, Unavailable):
        return False
    distributions = (joint.distributions[prior] for prior in ("uniform", "multinomial"))
    found = next(
        (
            distribution
            for distribution in distributions
            if isinstance(distribution, TableDistribution)
        ),
        None,
    )
    return found is not None and found.how is How.EXACT
