"""The engine that counts the records."""

from typing import Any

from discreet.engines.contract import Engine
from discreet.errors import InputError, must_be
from discreet.option_types import a_kind
from discreet.progress import Progress


def engine_or_default(given: Any, progress: Progress) -> Engine:
    """The engine that was given, else DuckDB."""
    from discreet.engines.duckdb import DuckDBEngine

    if given is None:
        return DuckDBEngine(progress=progress)
    if isinstance(given, str) or not hasattr(given, "count"):
        remedy = "leave it out for the usual one"
        rule = "an engine such as discreet.DuckDBEngine()"
        raise InputError(must_be("engine", rule, a_kind(given), remedy=remedy))
    found: Engine = given
    return found
