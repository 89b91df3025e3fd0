"""The same tests for every engine."""

import pytest

from discreet.engines.duckdb import DuckDBEngine

ENGINES = {"duckdb": DuckDBEngine}


@pytest.fixture(params=ENGINES)
def engine(request):
    """Each engine in turn, as the tests of this folder that count records ask for it."""
    return ENGINES[request.param]()
