"""A Spark session: one that is given, or one that is made and stopped again."""

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.errors import InputError, must_be

QUIET = Path(__file__).with_name("quiet.properties")
OWN = {  # settings of a session that is made here
    "spark.app.name": "discreet",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={QUIET.as_uri()}",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
}


@contextmanager
def opened(session: Any, master: str | None) -> Iterator[Any]:
    """The given session; else the one that is active; else a new one with this master, by default
    all processors of this machine, which is stopped afterwards."""
    if session is not None:
        yield session
        return
    _check_pyspark()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions of pandas, which is not used here
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        made = _made(SparkSession.builder, master) if active is None else active
    try:
        yield made
    finally:
        if active is None:
            made.stop()


def _check_pyspark() -> None:
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        remedy = "pip install 'discreet[spark]'"
        raise InputError(must_be("pyspark", "installed", "none", remedy=remedy)) from error


def _made(builder: Any, master: str | None) -> Any:
    where = master or "local[*]"
    if where.startswith("sc://"):
        return builder.remote(where).getOrCreate()
    _check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the one that has discreet
    for name, value in OWN.items():
        builder = builder.config(name, value)
    try:
        return builder.master(where).getOrCreate()
    except Exception as error:
        remedy = "give one such as 'local[2]' or 'spark://host:7077' (master)"
        raise InputError(
            must_be("master", "a Spark that can be reached", repr(where), remedy=remedy)
        ) from error


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if home is None and shutil.which("java") is None:
        got, remedy = "none", "install Java 17, or set JAVA_HOME"
    elif home is not None and not (Path(home) / "bin" / "java").exists():
        got, remedy = f"a JAVA_HOME without it ({home!r})", "set JAVA_HOME to a Java 17"
    else:
        return
    raise InputError(must_be("Java", "installed", got, remedy=remedy))
