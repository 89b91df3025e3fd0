"""Discreet: disclosure risk for discrete data.

`assess` takes records to risk figures, `audit` released margins, `assess_counts` the statistics of
counts; `recommend` says what to release. Names are loaded when first used, so that a plain
`import discreet` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.data.csv_dialect import CsvOptions
    from discreet.data.table import Table
    from discreet.engines.duckdb import DuckDBEngine
    from discreet.engines.table_reading import read_table
    from discreet.errors import DiscreetError, InputError
    from discreet.figures import Figure, How, Unavailable
    from discreet.release.best_set.best_margins import BestMargins, best_margins
    from discreet.release.recommendation import recommend
    from discreet.release.risk_utility import ChooseOptions, RiskUtility
    from discreet.report.html import write_report
    from discreet.risk.assessment import Assessment, assess
    from discreet.risk.audit import Audit, AuditOptions, audit, audit_sequence
    from discreet.risk.backtest import Backtest, backtest
    from discreet.risk.count_assessment import (
        CountAssessment,
        CountOptions,
        assess_counts,
        assess_statistics,
    )
    from discreet.risk.count_categories import assess_categories

_HOME = {
    "Assessment": "discreet.risk.assessment",
    "Audit": "discreet.risk.audit",
    "AuditOptions": "discreet.risk.audit",
    "Backtest": "discreet.risk.backtest",
    "BestMargins": "discreet.release.best_set.best_margins",
    "ChooseOptions": "discreet.release.risk_utility",
    "CountAssessment": "discreet.risk.count_assessment",
    "CountOptions": "discreet.risk.count_assessment",
    "CsvOptions": "discreet.data.csv_dialect",
    "DiscreetError": "discreet.errors",
    "DuckDBEngine": "discreet.engines.duckdb",
    "Figure": "discreet.figures",
    "How": "discreet.figures",
    "InputError": "discreet.errors",
    "RiskUtility": "discreet.release.risk_utility",
    "Table": "discreet.data.table",
    "Unavailable": "discreet.figures",
    "assess": "discreet.risk.assessment",
    "assess_categories": "discreet.risk.count_categories",
    "assess_counts": "discreet.risk.count_assessment",
    "assess_statistics": "discreet.risk.count_assessment",
    "audit": "discreet.risk.audit",
    "audit_sequence": "discreet.risk.audit",
    "backtest": "discreet.risk.backtest",
    "best_margins": "discreet.release.best_set.best_margins",
    "read_table": "discreet.engines.table_reading",
    "recommend": "discreet.release.recommendation",
    "write_report": "discreet.report.html",
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
