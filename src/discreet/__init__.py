"""Discreet: disclosure risk for discrete data.

`assess` is the way in: records to risk figures. Names are loaded when first used, so that a plain
`import discreet` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.data.csv_dialect import CsvOptions
    from discreet.engines.duckdb import DuckDBEngine
    from discreet.errors import DiscreetError, InputError
    from discreet.figures import Figure, How, Unavailable
    from discreet.report.html import write_report
    from discreet.risk.assessment import Assessment, assess
    from discreet.risk.backtest import Backtest, backtest

_HOME = {
    "Assessment": "discreet.risk.assessment",
    "Backtest": "discreet.risk.backtest",
    "CsvOptions": "discreet.data.csv_dialect",
    "DiscreetError": "discreet.errors",
    "DuckDBEngine": "discreet.engines.duckdb",
    "Figure": "discreet.figures",
    "How": "discreet.figures",
    "InputError": "discreet.errors",
    "Unavailable": "discreet.figures",
    "assess": "discreet.risk.assessment",
    "backtest": "discreet.risk.backtest",
    "write_report": "discreet.report.html",
}

__all__ = [
    "Assessment",
    "Backtest",
    "CsvOptions",
    "DiscreetError",
    "DuckDBEngine",
    "Figure",
    "How",
    "InputError",
    "Unavailable",
    "assess",
    "backtest",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
