"""Which document and which JSON belong to a result, whatever function it came from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from discreet.errors import InputError, must_be
from discreet.report.document import Document

TABLE, COUNTS = "the table", "the counts"  # what a result that does not know its source speaks of
Build = Callable[..., Any]


def _as_it_is(build: Build, result: Any) -> Any:
    return build(result)


def _alone(build: Build, result: Any) -> Any:
    return build([result])


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How a result is told: where its document and its JSON are built, and from what."""

    document: str
    json: str
    documented: Callable[[Build, Any], Any] = _as_it_is
    data: Callable[[Build, Any], Any] = _as_it_is


def _viewed(build: Build, result: Any) -> Any:
    from discreet.report.counts.categories import categories_view

    return build(categories_view(COUNTS, result))


TOLD: Mapping[str, Told] = {  # by the name of the result's class, so that only its flow is loaded
    "Assessment": Told(
        document="assess.document.assess_document", json="assess.json.assessment_json"
    ),
    "Attack": Told(document="attack.document.attack_document", json="attack.json.attack_json"),
    "Audit": Told(
        document="audit.document.audit_document",
        json="audit.json.audit_json",
        documented=lambda build, result: build(TABLE, [result]),
        data=_alone,
    ),
    "AuditSequence": Told(
        document="audit.document.audit_document",
        json="audit.json.audit_json",
        documented=lambda build, result: build(TABLE, result, sequence=True),
        data=lambda build, result: build(result, sequence=True),
    ),
    "Backtest": Told(document="backtest.backtest_document", json="backtest.backtest_json"),
    "BestMargins": Told(
        document="choose.document.lattice_document", json="choose.json.best_margins_json"
    ),
    "CategoriesAssessment": Told(
        document="counts.categories.categories_document",
        json="counts.categories_json.categories_json",
        documented=_viewed,
        data=_viewed,
    ),
    "Comparison": Told(document="comparing.comparison_document", json="comparing.comparison_json"),
    "CountAssessment": Told(
        document="counts.document.counts_document",
        json="counts.json.counts_json",
        documented=lambda build, result: build(result, COUNTS, bayes=result.bayes),
        data=lambda build, result: build(result, bayes=result.bayes),
    ),
    "Plan": Told(
        document="plan.plan_document", json="plan.plan_json", documented=_alone, data=_alone
    ),
    "Plans": Told(document="plan.plan_document", json="plan.plan_json"),
    "PolicyComparison": Told(
        document="assess.comparison.comparison_document",
        json="assess.comparison.comparison_json",
    ),
    "Protected": Told(
        document="protect.document.protect_document", json="protect.json.protect_json"
    ),
    "PublishedAudit": Told(
        document="attack.audit_document.published_audit_document",
        json="attack.audit_json.published_audit_json",
    ),
    "ReadResult": Told(document="reading.read_document", json="reading.read_json"),
    "RiskUtility": Told(
        document="choose.document.choose_document",
        json="choose.json.choose_json",
        documented=lambda build, result: build(TABLE, result),
    ),
}


def document_of(result: Any) -> Document | None:
    """The document of a result; None where there is none. Only its own flow is loaded."""
    told = TOLD.get(type(result).__name__)
    if told is None:
        return None
    document: Document = told.documented(_builder(told.document), result)
    return document


def json_of(result: Any) -> dict[str, Any]:
    """The result as JSON; raises InputError for what is none."""
    told = TOLD.get(type(result).__name__)
    if told is None:
        rule = f"one of {', '.join(sorted(TOLD))}"
        raise InputError(must_be("result", rule, type(result).__name__))
    data: dict[str, Any] = told.data(_builder(told.json), result)
    return data


def _builder(place: str) -> Build:
    module, _, function = place.rpartition(".")
    build: Build = getattr(import_module(f"discreet.report.{module}"), function)
    return build
