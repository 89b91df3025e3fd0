"""The figures that are computed on request, as JSON."""

from collections.abc import Mapping
from typing import Any

from discreet.engines.contract import HouseholdTotals
from discreet.figures import Unavailable
from discreet.report.assess.requested import missing_in_suda
from discreet.report.assess.words import expected_persons, risk_name
from discreet.report.render_json import fields_json, known
from discreet.survey.assessment import Assessment
from discreet.survey.attributes.sensitive import SensitiveFigures
from discreet.survey.known_population import AttackFigures, KnownPopulation
from discreet.survey.models.lancaster import ShrinkageRow
from discreet.survey.scenarios import Scenarios
from discreet.survey.suda.special import SpecialFigures
from discreet.survey.suda.subsets import SubsetSize


def requested_json(assessment: Assessment) -> dict[str, Any]:
    """Only what was asked for, each under its name."""
    found: dict[str, Any] = {}
    if assessment.sensitive:
        found["sensitive"] = {f.name: _sensitive(f) for f in assessment.sensitive}
    if assessment.households is not None:
        found["households"] = _households(assessment.households, expected_persons(assessment))
    if assessment.special is not None:
        found["suda"] = _special(assessment.special) | known(
            missing=assessment.settings.missing.name,
            missing_note=" ".join(missing_in_suda(assessment)) or None,
        )
    if assessment.scenarios is not None:
        found["scenarios"] = _scenarios(assessment.scenarios)
    if assessment.subsets:
        found["subsets"] = [_subset(size) for size in assessment.subsets]
    if assessment.shrinkages != ():
        found["shrinkage_table"] = _shrinkages(assessment.shrinkages)
    if assessment.population is not None:
        found["population"] = _population(assessment.population)
    return found


def _sensitive(figures: SensitiveFigures) -> dict[str, Any]:
    return {
        "n_values": figures.n_values,
        "records_without_value": figures.n_without_value,
        "measures": [
            fields_json(f, "name", "rule", "worst", "records", "cells") for f in figures.figures
        ],
    }


def _households(totals: HouseholdTotals, persons: Mapping[str, float]) -> dict[str, Any]:
    sizes = totals.pattern_sizes
    names = [risk_name(column) for column in totals.expected_found]
    return {
        "n_households": totals.n_households,
        "unique_patterns": sizes.sample_uniques,
        "pattern_size_indices": sizes.to_json(),
        "expected_found": {
            risk_name(column): value for column, value in totals.expected_found.items()
        },
        "expected_persons": {name: persons[name] for name in names if name in persons},
    }


def _special(special: SpecialFigures) -> dict[str, Any]:
    return {
        "max_size": special.max_size,
        "records_with_score": special.n_scored,
        "records_without_msu_so_far": special.n_unscored,
        "dis": special.dis,
        "dis_estimate": special.dis_estimate.to_json(),
        "keys": [fields_json(s, "key", "shared", "involved") for s in special.keys],
        **known(example=special.example_text),
    }


def _scenarios(scenarios: Scenarios) -> dict[str, Any]:
    return {
        s.name: {
            "keys": list(s.keys),
            "n_cells": s.size_indices.n_cells,
            "sample_uniques": s.size_indices.sample_uniques,
            "anonymity": {str(a.k): a.records for a in s.anonymity},
            "correct_matches": s.correct_matches,
            "recommended": {
                "expected_population_uniques": s.recommended.expected_population_uniques.to_json(),
                "expected_correct_matches": s.recommended.expected_correct_matches.to_json(),
            },
        }
        for s in scenarios.each
    }


def _subset(size: SubsetSize) -> dict[str, Any]:
    worst = [fields_json(one, "keys", "sample_uniques") for one in size.worst]
    return fields_json(size, "size", "n_sets", "n_with_uniques") | {"worst": worst}


def _shrinkages(rows: tuple[ShrinkageRow, ...] | Unavailable) -> Any:
    if isinstance(rows, Unavailable):
        return rows.to_json()
    return [
        {
            "shrinkage": row.shrinkage,
            "no_renormalisation": row.plain_uniques,
            "renormalisation": row.renormalised_uniques,
            "sum_of_negatives": row.negative_sum,
            "normaliser": row.normaliser.figure().to_json(),
            "clipped_uniques": row.clipped_uniques,
        }
        for row in rows
    ]


def _population(truth: KnownPopulation) -> dict[str, Any]:
    return {
        "population_size": truth.population_size,
        "left_out": truth.n_left_out,
        "population_uniques": truth.population_uniques,
        "correct_matches": truth.correct_matches,
        "prosecutor": _attack(truth.prosecutor),
        "journalist": _attack(truth.journalist),
        "marketer": truth.marketer,
        "delta_min": truth.delta_min,
        "delta_max": truth.delta_max,
    }


def _attack(risk: AttackFigures) -> dict[str, Any]:
    names = ("highest", "average", "success_rate", "threshold", "records_at_risk")
    return fields_json(risk, *names)
