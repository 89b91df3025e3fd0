"""An assessment as JSON, with stable names."""

from collections.abc import Sequence
from typing import Any

from discreet.figures import Unavailable
from discreet.report.assess.requested_json import requested_json
from discreet.report.render_json import fields_json, known, of_kind, without_nulls
from discreet.survey.assessment import Assessment
from discreet.survey.bayes_test import CalledUnique
from discreet.survey.contributions import Contribution
from discreet.survey.headline.recommendation import Recommended
from discreet.survey.leading import RiskOverview
from discreet.survey.risk_histogram import EDGES, RiskDistribution
from discreet.survey.riskiest import RiskyCell
from discreet.survey.scoring import ModelResult
from discreet.survey.suggestions import Suggestion

UNKNOWN = Unavailable(
    "not known: give --whole-population if the file is everybody, --population, or --weight"
)


@of_kind("assess")
def assessment_json(assessment: Assessment) -> dict[str, Any]:
    """The internal figures; it names risky combinations, so it is as confidential as the data."""
    summary, settings = assessment.summary, assessment.settings
    pairs = assessment.contributions.pairs
    return {
        "sample_size": summary.sample_size,
        "population_size": _population(assessment),
        **known(weight_total=summary.weight_total),
        "n_cells": summary.size_indices.n_cells,
        "n_incomplete_cells": assessment.n_incomplete_cells,
        "n_table_cells": summary.n_table_cells,
        "sample_uniques": assessment.sample_uniques,
        "size_indices": summary.size_indices.to_json(),
        "anonymity": {str(a.k): a.records for a in assessment.anonymity},
        "anonymity_cells": {str(a.k): a.cells for a in assessment.anonymity},
        "missing": {
            "policy": settings.missing.name,
            "incomplete_records": assessment.n_incomplete,
            "dropped_records": assessment.n_dropped,
            "missing_weight": settings.missing_weight,
            "by_key": {key.name: key.n_missing for key in assessment.keys},
            "suppressed_by_key": {key.name: key.n_suppressed for key in assessment.keys},
            "not_applicable_by_key": {key.name: key.n_not_applicable for key in assessment.keys},
        },
        "contributions": {
            "keys": [_contribution(c) for c in assessment.contributions.single],
            "pairs": pairs.to_json()
            if isinstance(pairs, Unavailable)
            else [_contribution(c) for c in pairs],
        },
        "riskiest": [
            {"cell": dict(zip(settings.keys, cell.levels, strict=True))}
            | fields_json(
                cell,
                "rows",
                "risk",
                "population_unique",
                "sample_count",
                "records",
                "weight_total",
                "expected_count",
            )
            | _carried(settings.options.carry, cell)
            for cell in assessment.riskiest
        ],
        "models": {name: model_json(result) for name, result in assessment.models.items()},
        "recommended": recommended_json(assessment.recommended) | _risk_json(assessment.risk),
        **known(verdict=None if assessment.verdict is None else assessment.verdict.to_json()),
        "findings": assessment.findings.to_json(),
        "suggestions": [_suggestion(one) for one in assessment.suggestions],
        **({"tried": [_suggestion(one) for one in assessment.tried]} if assessment.tried else {}),
        "nested_keys": [
            {"determining": one, "determined": other} for one, other in assessment.nested
        ],
        "warnings": list(assessment.warnings),
        "settings": known(
            source=settings.source,
            keys={key.name: len(key.values) for key in assessment.keys},
            weight=settings.weight,
            household=settings.options.household,
            cluster=settings.options.cluster,
            clusters=settings.options.clusters,
            stratum=settings.options.stratum,
            known_margins=list(settings.options.known_margins) or None,
            structural_zeros=settings.structural_zeros,
            codes=[
                {"kind": kind, "column": column, "code": code}
                for kind, column, code in settings.codes.given()
            ],
            versions=dict(settings.versions),
        ),
    } | requested_json(assessment)


def _carried(names: Sequence[str], cell: RiskyCell) -> dict[str, Any]:
    """What the rows of a combination hold in the columns to carry."""
    if not names:
        return {}
    columns = zip(*cell.carried, strict=True)
    return {"carried": {name: list(held) for name, held in zip(names, columns, strict=True)}}


def model_json(result: ModelResult | Unavailable) -> dict[str, Any]:
    """What one model says, or why it says nothing."""
    if isinstance(result, Unavailable):
        return result.to_json()
    return known(
        expected_population_uniques=result.expected_population_uniques.to_json(),
        expected_correct_matches=result.expected_correct_matches.to_json(),
        fit=without_nulls(dict(result.parameters)),
        caution=result.caution or None,
        assumption=result.assumption,
        risk_distribution=_distribution(result.distribution),
        called_unique=_called(result.called_unique),
    )


def recommended_json(recommended: Recommended) -> dict[str, Any]:
    """The headline: its interval, why it leads, and how far other models are from it."""
    return known(
        model=recommended.model,
        why=recommended.why,
        expected_population_uniques=recommended.expected_population_uniques.to_json(),
        expected_correct_matches=recommended.expected_correct_matches.to_json(),
        others=dict(recommended.others),
        contradicted=list(recommended.contradicted),
        disagreement=recommended.disagreement or None,
    )


def _risk_json(risk: RiskOverview | Unavailable) -> dict[str, Any]:
    """How the recommended risk is spread over the records, or why that is not known."""
    if isinstance(risk, Unavailable):
        return {"risk": risk.to_json()}
    return known(
        risk=known(
            largest=risk.largest,
            classes={"high": risk.high, "some": risk.some, "low": risk.low},
            unknown=risk.unknown or None,
            limits={"high": risk.limits.high, "some": risk.limits.some},
        ),
        risk_distribution=_distribution(risk.distribution),
        called_unique=_called(risk.called_unique),
    )


def _suggestion(one: Suggestion) -> dict[str, Any]:
    """A change of one key, with what it does."""
    counts = fields_json(
        one, "key", "change", "k", "sample_uniques_before", "sample_uniques_after",
        "breaking_before", "breaking_after", "largest_risk_after", "keeps_limits",
        "information_kept", "suppressed",
    )  # fmt: skip
    names = [
        f"expected_{figure}_{when}"
        for figure in ("population_uniques", "correct_matches")
        for when in ("before", "after")
    ]
    return counts | {name: getattr(one, name).to_json() for name in names}


def _called(called: CalledUnique | None) -> list[dict[str, float]] | None:
    if called is None:
        return None
    pairs = zip(called.loss_ratios, called.records, strict=True)
    return [{"loss_ratio": ratio, "records": int(n)} for ratio, n in pairs]


def _population(assessment: Assessment) -> float | dict[str, Any]:
    size = assessment.summary.population_size
    if size is None:
        return UNKNOWN.to_json()
    return int(size) if size == int(size) else size


def _contribution(contribution: Contribution) -> dict[str, Any]:
    return fields_json(contribution, "keys", "uniques_removed", "uniques_left")


def _distribution(distribution: RiskDistribution | None) -> dict[str, Any] | None:
    if distribution is None:
        return None
    return {
        "edges": EDGES.tolist(),
        "closed": "upper",
        "records": distribution.records.tolist(),
    }
