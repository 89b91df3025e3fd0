"""Discreet: disclosure risk for discrete data.

`assess` takes records to risk figures, `audit` released margins of a table, `assess_counts` the
statistics of counts; `choose` says what to release, `plan` how large a sample may be, `backtest`
which model to trust. Names are loaded when first used, so that a plain `import discreet` stays
light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.choice.best_set.best_margins import BestMargins, best_margins
    from discreet.choice.options import ChooseOptions
    from discreet.choice.risk_utility import RiskUtility
    from discreet.count_tables.assessment import CountAssessment
    from discreet.count_tables.category_assessment import CategoriesAssessment
    from discreet.count_tables.options import CategoryOptions, CountOptions
    from discreet.data.csv_dialect import CsvOptions
    from discreet.data.table import Table
    from discreet.engines.duckdb import DuckDBEngine
    from discreet.engines.table_reading import read_table
    from discreet.errors import DiscreetError, InputError
    from discreet.figures import Figure, How, Unavailable
    from discreet.flows.assess import assess, compare_policies
    from discreet.flows.audit import audit, audit_sequence
    from discreet.flows.backtest import backtest
    from discreet.flows.choose import choose, recommend
    from discreet.flows.counts import assess_categories, assess_counts, assess_statistics
    from discreet.flows.plan import plan
    from discreet.report.reading import read_result
    from discreet.report.writing import write_report
    from discreet.survey.assessment import Assessment
    from discreet.survey.backtest.league import Backtest
    from discreet.survey.backtest.options import BacktestOptions
    from discreet.survey.missing_policies import PolicyComparison
    from discreet.survey.models.sample_size import Plan
    from discreet.survey.options import AssessOptions
    from discreet.tables.audit import Audit
    from discreet.tables.audit_options import AuditOptions

_HOME = {
    "Assessment": "discreet.survey.assessment",
    "AssessOptions": "discreet.survey.options",
    "Audit": "discreet.tables.audit",
    "AuditOptions": "discreet.tables.audit_options",
    "Backtest": "discreet.survey.backtest.league",
    "BacktestOptions": "discreet.survey.backtest.options",
    "BestMargins": "discreet.choice.best_set.best_margins",
    "CategoriesAssessment": "discreet.count_tables.category_assessment",
    "CategoryOptions": "discreet.count_tables.options",
    "ChooseOptions": "discreet.choice.options",
    "CountAssessment": "discreet.count_tables.assessment",
    "CountOptions": "discreet.count_tables.options",
    "CsvOptions": "discreet.data.csv_dialect",
    "DiscreetError": "discreet.errors",
    "DuckDBEngine": "discreet.engines.duckdb",
    "Figure": "discreet.figures",
    "How": "discreet.figures",
    "InputError": "discreet.errors",
    "Plan": "discreet.survey.models.sample_size",
    "PolicyComparison": "discreet.survey.missing_policies",
    "RiskUtility": "discreet.choice.risk_utility",
    "Table": "discreet.data.table",
    "Unavailable": "discreet.figures",
    "assess": "discreet.flows.assess",
    "assess_categories": "discreet.flows.counts",
    "assess_counts": "discreet.flows.counts",
    "assess_statistics": "discreet.flows.counts",
    "audit": "discreet.flows.audit",
    "audit_sequence": "discreet.flows.audit",
    "backtest": "discreet.flows.backtest",
    "best_margins": "discreet.choice.best_set.best_margins",
    "choose": "discreet.flows.choose",
    "compare_policies": "discreet.flows.assess",
    "counts": "discreet.flows.counts",
    "plan": "discreet.flows.plan",
    "read_result": "discreet.report.reading",
    "read_table": "discreet.engines.table_reading",
    "recommend": "discreet.flows.choose",
    "write_report": "discreet.report.writing",
}

__all__ = [
    "AssessOptions",
    "Assessment",
    "Audit",
    "AuditOptions",
    "Backtest",
    "BacktestOptions",
    "BestMargins",
    "CategoriesAssessment",
    "CategoryOptions",
    "ChooseOptions",
    "CountAssessment",
    "CountOptions",
    "CsvOptions",
    "DiscreetError",
    "DuckDBEngine",
    "Figure",
    "How",
    "InputError",
    "Plan",
    "PolicyComparison",
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
    "choose",
    "compare_policies",
    "plan",
    "read_result",
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
