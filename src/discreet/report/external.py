"""The report of any result for readers outside; only its own flow is loaded."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from discreet.errors import InputError, must_be
from discreet.report.document import Document

BUILDERS: Mapping[str, tuple[str, str]] = {  # by the name of the result's class
    "Assessment": ("assess.external", "external_document"),
    "Audit": ("audit.external", "external_document"),
    "Backtest": ("backtest", "external_document"),
    "CategoriesAssessment": ("counts.external", "external_categories"),
    "CountAssessment": ("counts.external", "external_document"),
    "Plan": ("plan", "external_document"),
    "Protected": ("protect.external", "external_document"),
    "PublishedAudit": ("attack.external", "external_document"),
    "RiskUtility": ("choose.external", "external_document"),
}


def external_document_of(result: Any, name: str = "") -> Document:
    """What may leave the agency of a result; `name` is that of the data set.

    Of a sequence of audits or plans, as their commands have them, the last audit or all plans.
    Raises InputError for what has no report.
    """
    one = result[-1] if isinstance(result, Sequence) and result else result
    kind = type(one).__name__
    if kind not in BUILDERS:
        rule = f"one of {', '.join(sorted(BUILDERS))} where the report is external"
        raise InputError(must_be("result", rule, kind))
    module, function = BUILDERS[kind]
    build: Callable[..., Document] = getattr(import_module(f"discreet.report.{module}"), function)
    if kind == "Plan":
        return build(result if isinstance(result, Sequence) else [result])
    return build(one, name)
