"""Discreet: disclosure risk for discrete data.

`assess` takes records to risk figures, `audit` released margins, `assess_counts` the statistics of
counts; `recommend` says what to release. Names are loaded when first used, so that a plain
`import discreet` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.choice.best_set.best_margins import BestMargins, best_margins
    from discreet.choice.recommendation import recommend
    from discreet.choice.risk_utility import ChooseOptions, RiskUtility
    from discreet.count_tables.assessment import (
        CountAssessment,
        CountOptions,
        assess_counts,
        assess_statistics,
    )
    from discreet.count_tables.category_assessment import assess_categories
    from discreet.data.csv_dialect import CsvOptions
    from discreet.data.table import Table
    from discreet.engines.duckdb import DuckDBEngine
    from discreet.engines.table_reading import read_table
    from discreet.errors import DiscreetError, InputError
    from discreet.figures import Figure, How, Unavailable
    from discreet.report.assess.document import write_report
    from discreet.survey.assessment import Assessment, assess
    from discreet.survey.backtest.league import Backtest, backtest
    from discreet.tables.audit import Audit, AuditOptions, audit, audit_sequence

_HOME = {
    "Assessment": "discreet.survey.assessment",
    "Audit": "discreet.tables.audit",
    "AuditOptions": "discreet.tables.audit",
    "Backtest": "discreet.survey.backtest.league",
    "BestMargins": "discreet.choice.best_set.best_margins",
    "ChooseOptions": "discreet.choice.risk_utility",
    "CountAssessment": "discreet.count_tables.assessment",
    "CountOptions": "discreet.count_tables.assessment",
    "CsvOptions": "discreet.data.csv_dialect",
    "DiscreetError": "discreet.errors",
    "DuckDBEngine": "discreet.engines.duckdb",
    "Figure": "discreet.figures",
    "How": "discreet.figures",
    "InputError": "discreet.errors",
    "RiskUtility": "discreet.choice.risk_utility",
    "Table": "discreet.data.table",
    "Unavailable": "discreet.figures",
    "assess": "discreet.survey.assessment",
    "assess_categories": "discreet.count_tables.category_assessment",
    "assess_counts": "discreet.count_tables.assessment",
    "assess_statistics": "discreet.count_tables.assessment",
    "audit": "discreet.tables.audit",
    "audit_sequence": "discreet.tables.audit",
    "backtest": "discreet.survey.backtest.league",
    "best_margins": "discreet.choice.best_set.best_margins",
    "read_table": "discreet.engines.table_reading",
    "recommend": "discreet.choice.recommendation",
    "write_report": "discreet.report.assess.document",
}

__all__ = [
    "Assessment",
    "Audit",
    "AuditOptions",
    "Backtest",
    "BestMargins",
    "ChooseOptions",
    "CountAssessment",
    "CountOptions",
    "CsvOptions",
    "DiscreetError",
    "DuckDBEngine",
    "Figure",
    "How",
    "InputError",
    "RiskUtility",
    "Table",
    "Unavailable",
    "assess",
    "assess_categories",
    "assess_counts",
    "assess_statistics",
    "audit",
    "audit_sequence",
    "backtest",
    "best_margins",
    "read_table",
    "recommend",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
