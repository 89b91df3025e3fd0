"""The same tests for every engine, with its cells in one part and in many."""

import os
import shutil
import sys
import warnings

import pytest

from discreet.engines.duckdb import DuckDBEngine

ENGINES = {
    "duckdb": DuckDBEngine,
    "duckdb in parts": lambda: DuckDBEngine(cells_held=2, cells_at_once=40),
}


@pytest.fixture(params=ENGINES)
def engine(request):
    """Each engine in turn, as the tests of this folder that count records ask for it."""
    return ENGINES[request.param]()


@pytest.fixture(scope="session")
def spark():
    """One Spark for all tests, where there is one."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            pytest.skip("pyspark is not installed")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
