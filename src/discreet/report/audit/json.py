"""An audit as JSON, with the names that are promised to users."""

from collections.abc import Iterator, Sequence
from typing import Any

from discreet.figures import Unavailable
from discreet.report.audit.words import OUTSIDE, UNITS, figures, warnings_of
from discreet.report.render_json import count_json, known, of_kind, probabilities_json
from discreet.tables.audit import Audit, CellAudit, main_view
from discreet.tables.groups import Learned
from discreet.tables.population_cells import PopulationCell
from discreet.tables.posteriors import AVERAGE, View


@of_kind("audit")
def audit_json(audits: Sequence[Audit], *, sequence: bool = False) -> dict[str, Any]:
    """The last audit in full; `sequence` holds what each release changed, if that is asked for."""
    steps = [_step_json(step) for step in audits] if sequence and len(audits) > 1 else None
    return _one_json(audits[-1]) | known(sequence=steps)


def _one_json(audit: Audit) -> dict[str, Any]:
    table, name, believed = audit.release.table, main_view(audit), audit.believed
    return known(
        variables=list(table.names),
        total=table.total,
        n_table_cells=table.n_cells,
        released=_sets(audit),
        known=[one.text for one in audit.release.known],
        decomposable=audit.decomposable,
        small=audit.options.most_small,
        n_tables=count_json(audit.n_tables),
        n_small_cells=audit.n_small,
        n_small_cells_measured=audit.n_measured,
        verdict=None if audit.verdict is None else audit.verdict.to_json(),
        findings=audit.findings.to_json(),
        suggestions=[[list(names) for names in audit.instead]] if audit.instead else None,
        published=_published(audit),
        crosses=_crosses(audit),
        left_out=list(audit.release.left_out),
        nested=_nested(audit),
        warnings=[*audit.release.table.notes, *audit.release.table.doubts],
        cells=list(_cells(audit, name)),
        view=name,
        risk=_risk(audit, name),
        models={model: _weight(view) for model, view in audit.views.items() if model != AVERAGE},
        weights=audit.options.weight_kind.value,
        views={model: _view(audit, model) for model in audit.views},
        learned=[_learned(audit, one) for one in audit.learned],
        learned_unless_nested=[_learned(audit, one) for one in audit.shown.unless_nested],
        probably_learned=believed.to_json()
        if isinstance(believed, Unavailable)
        else [_learned(audit, one) for one in believed],
        refusal=_refusal(audit),
        population=_population(audit, name),
        search=_search(audit),
        notes=list(audit.notes),
        seed=audit.options.seed,
    )


def _sets(audit: Audit) -> list[list[str]]:
    names = audit.release.table.names
    return [[names[axis] for axis in axes] for axes in audit.release.asked]


def _risk(audit: Audit, name: str) -> dict[str, Any]:
    """Every measure under one view with its unit, and why it may be off."""
    found = {}
    for key, outcome in figures(audit, name).items():
        found[key] = outcome.to_json() | {"unit": UNITS[key]}
        if key not in ("bounds", "one_over_tables") and warnings_of(audit, name):
            found[key]["warning"] = " ".join(warnings_of(audit, name))
    tightness = audit.tightness
    if not isinstance(tightness, Unavailable) and tightness.value is not None:
        found["bounds"]["width"] = -tightness.value
    return found


def _published(audit: Audit) -> list[dict[str, Any]]:
    """Every table that is printed with small counts, sums of what is released included."""
    names = audit.release.table.names
    return [
        {"margin": [names[axis] for axis in one.axes], "small_counts": one.number}
        for one in audit.printed
    ]


def _crosses(audit: Audit) -> list[dict[str, Any]] | None:
    """The smaller tables that the release is judged by, where a limit was given."""
    if audit.verdict is None:
        return None
    return [
        {
            "variables": list(audit.release.table.names_of(one.axes)),
            "n_small_cells": one.n_small,
            "risk": one.risk.to_json(),
        }
        for one in audit.crosses
    ]


def _nested(audit: Audit) -> list[dict[str, Any]]:
    """What one variable determines of another."""
    names, nested = audit.release.table.names, audit.release.nested
    return [
        {
            "determining": names[pair.determining],
            "determined": names[pair.determined],
            "ruled_out": nested.n_combinations(pair),
            "known_by": nested.grounds[pair].value,
        }
        for pair in nested.pairs
    ]


def _cells(audit: Audit, name: str) -> Iterator[dict[str, Any]]:
    view = audit.views[name]
    places = {cell.levels: i for i, cell in enumerate(audit.small_cells)}
    warning = " ".join(warnings_of(audit, name))
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
        "probabilities": probabilities_json(view.distributions[place]),
    }
    if view.how.value != "exact":
        found["standard_errors"] = probabilities_json(view.errors[place])
    return found


def _weight(view: View | Unavailable) -> dict[str, Any]:
    return (view if isinstance(view, Unavailable) else view.weight).to_json()


def _view(audit: Audit, name: str) -> dict[str, Any]:
    view = audit.views[name]
    if isinstance(view, Unavailable):
        return view.to_json()
    return known(
        method=view.method,
        how=view.how.value,
        weight=view.weight.to_json(),
        log_probability_of_release=_evidence(view),
        risk=_risk(audit, name),
        cells=[
            {
                "cell": audit.release.table.labels(cell.levels),
                "probabilities": probabilities_json(distribution),
            }
            for cell, distribution in zip(audit.small_cells, view.distributions, strict=True)
        ],
        warning=view.warning or None,
        complete=view.complete,
    )


def _evidence(view: View) -> dict[str, Any]:
    found = view.evidence
    if isinstance(found, Unavailable):
        return found.to_json()
    error = found.standard_error or None
    how = "exact" if error is None else "estimate"
    return known(value=found.log_probability, how=how, standard_error=error)


def _learned(audit: Audit, learned: Learned) -> dict[str, Any]:
    table = audit.release.table
    pairs = zip(learned.group, learned.group_levels, strict=True)
    return known(
        group={table.names[a]: table.levels[a][level] for a, level in pairs},
        target=table.names[learned.target],
        level=table.levels[learned.target][learned.level],
        persons=learned.persons,
        probability=learned.probability,
    )


def _refusal(audit: Audit) -> dict[str, Any] | None:
    found, table = audit.refusal, audit.release.table
    if found is None or isinstance(found, Unavailable):
        return None if found is None else found.to_json()
    return known(
        refused=[[table.names[axis] for axis in axes] for axes in found.requests],
        measure=found.rule.measure.value,
        max_risk=found.rule.max_risk,
        probability=found.probability.to_json(),
        n_tables=found.n_tables,
        method=found.method,
        cells=[
            {
                "cell": table.labels(cell.levels),
                "probabilities": probabilities_json(distribution),
                "standard_errors": probabilities_json(errors),
            }
            for cell, distribution, errors in zip(
                audit.small_cells, found.distributions, found.errors, strict=True
            )
        ],
    )


def _population(audit: Audit, name: str) -> dict[str, Any] | None:
    if not audit.population:
        return None
    found = audit.population[name]
    if isinstance(found, Unavailable):
        return found.to_json()
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
        "probabilities": probabilities_json(own.probabilities),
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
    told = view.distributions if isinstance(view, View) else [None] * len(audit.small_cells)
    return {
        "released": _sets(audit),
        **known(verdict=None if audit.verdict is None else audit.verdict.to_json()),
        "n_tables": count_json(audit.n_tables),
        "view": name,
        "risk": _risk(audit, name),
        "cells": [
            known(
                cell=audit.release.table.labels(cell.levels),
                lower=cell.lower,
                upper=cell.upper,
                probabilities=None if own is None else probabilities_json(own),
            )
            for cell, own in zip(audit.small_cells, told, strict=True)
        ],
    }
