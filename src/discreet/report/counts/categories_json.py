"""What one set of count statistics for each category gives away, as JSON with stable names."""

from typing import Any

from discreet.belief.count_belief import TableDistribution
from discreet.count_tables.category_assessment import CategoryRisk
from discreet.count_tables.com_poisson.regression import RatioTest, Regression, SetsRegression
from discreet.count_tables.measures import CellRisk
from discreet.figures import How, Unavailable
from discreet.report.counts.categories import (
    UNKNOWN,
    CategoriesView,
    alone_jointly,
    warning_lines,
)
from discreet.report.counts.json import bayes_json, outcomes_json, released_json
from discreet.report.render_json import count_json, fields_json, known, of_kind


@of_kind("counts_by_category")
def categories_json(view: CategoriesView) -> dict[str, Any]:
    """One object; the truth is in it for the holder only."""
    return known(
        side="holder" if view.is_holder else "intruder",
        by=list(view.variables),
        beside=list(view.beside),
        known=list(view.known),
        categories=[_category(view, name) for name in _names(view)],
        sets_alone=_independent(view),
        joint=_risk(view.found.joint),
        assumptions=list(view.found.assumptions),
        warnings=warning_lines(view),
        regression=None if view.regression is None else regression_json(view.regression),
        bayes={name: bayes_json(one) for name, one in view.bayes.items()} or None,
        verdict=None if view.found.verdict is None else view.found.verdict.to_json(),
        findings=None if view.found.findings is None else view.found.findings.to_json(),
    )


def _names(view: CategoriesView) -> list[str]:
    return list(dict.fromkeys([*view.releases, *view.found.names]))


def _category(view: CategoriesView, name: str) -> dict[str, Any]:
    """A category; the set that is not out and figures of one known in full are left out."""
    released = view.releases.get(name)
    told = known(
        category=name,
        statistics=None if released is None else released_json(released),
        derived=name in view.found.derived,
        all_zero=name in view.zeros,
    )
    verdict, advice = view.found.verdicts.get(name), view.found.advice.get(name)
    told |= known(
        verdict=None if verdict is None else verdict.to_json(),
        decision=None if advice is None else advice.decision.value,
        decimals=None if advice is None else advice.decimals,
    )
    cells = view.found.joint_cells.get(name, ())
    if name in view.found.alone:
        told["alone"] = _risk(view.found.alone[name])
    return told | {"joint_cells": [_cell(view, name, cell) for cell in cells]}


def _risk(risk: CategoryRisk | Unavailable) -> dict[str, Any]:
    """A category's figures, or those of all jointly, under multinomial."""
    if isinstance(risk, Unavailable):
        return risk.to_json()
    distribution, worst = risk.distributions["multinomial"], risk.worst_cell
    return (
        {"n_solutions": count_json(risk.count)}
        | outcomes_json(
            entropy=risk.entropy,
            effective_tables=risk.effective_tables,
            best_guess_probability=risk.best_guess_probability,
            true_table_probability=risk.truth_probability,
        )
        | known(
            how=None if isinstance(distribution, Unavailable) else distribution.how.value,
            surest_count=worst
            and fields_json(worst, "category", "value", "probability", "standard_error"),
        )
    )


def _independent(view: CategoriesView) -> dict[str, Any]:
    """All tables jointly from the sets alone."""
    figures = alone_jointly(view)
    if figures is None:
        return UNKNOWN.to_json()
    return outcomes_json(
        entropy=figures.entropy,
        effective_tables=figures.effective,
        best_guess_probability=figures.best_guess,
        true_tables_probability=figures.truth if view.is_holder else None,
    )


def _cell(view: CategoriesView, name: str, cell: CellRisk) -> dict[str, Any]:
    """A count; its limits are known where all tables were seen."""
    limits = cell.interval if _shows_every_table(view) else None
    told = known(
        value=cell.value,
        lower=None if limits is None else limits.lower,
        upper=None if limits is None else limits.upper,
        best_guess=cell.best_guess,
        best_guess_probability=cell.best_guess_probability,
    )
    if view.tables is None:
        return told
    count = view.tables[name].get(cell.value, 0)
    return told | known(count=count, true_count_probability=cell.truth_probability)


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


def regression_json(found: SetsRegression | Unavailable) -> dict[str, Any]:
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


def _fit_json(fit: Regression | Unavailable) -> dict[str, Any]:
    if isinstance(fit, Unavailable):
        return fit.to_json()
    listed = {
        name: [fields_json(c, "name", "estimate", "standard_error") for c in part]
        for name, part in (("coefficients", fit.coefficients), ("dispersions", fit.dispersions))
    }
    return listed | fields_json(fit, "log_likelihood", "n_parameters", "at_boundary")


def _test_json(test: RatioTest | Unavailable) -> dict[str, Any]:
    if isinstance(test, Unavailable):
        return test.to_json()
    told = fields_json(test, "statistic", "degrees_of_freedom", "p_value")
    return told | known(caution=test.caution or None)
