"""A Spark session: one that is given, or one that is made and stopped again."""

import os
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from discreet.errors import InputError, must_be

OLDEST = 4  # of pyspark and of the server: Spark 3 takes no tables of Arrow
CONNECT_PORT = 15002
REACHED_WITHIN = 10  # seconds; a client of Spark Connect itself tries for ten minutes
PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
CONNECT_PACKAGES = {
    "pandas": "pandas",
    "grpc": "grpcio",
    "grpc_status": "grpcio-status",
    "google.rpc": "googleapis-common-protos",
    "zstandard": "zstandard",
}
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
    _check_pyspark()
    if session is not None:
        _check_version("Spark", session.version)
        yield session
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions of pandas, which is not used here
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        made = _made(SparkSession.builder, master) if active is None else active
    try:
        _check_version("Spark", made.version)
        yield made
    finally:
        if active is None:
            made.stop()


def _check_pyspark() -> None:
    try:
        import pyspark
    except ImportError as error:
        remedy = "pip install 'discreet[spark]'"
        raise InputError(must_be("pyspark", "installed", "none", remedy=remedy)) from error
    _check_version("pyspark", pyspark.__version__)


def _check_version(what: str, version: str) -> None:
    """Raises InputError for a version that is too old."""
    if int(version.partition(".")[0]) < OLDEST:
        remedy = "pip install 'discreet[spark]'" if what == "pyspark" else "use a newer server"
        raise InputError(must_be(what, f"version {OLDEST} or later", version, remedy=remedy))


def _made(builder: Any, master: str | None) -> Any:
    where = master or "local[*]"
    try:
        if where.startswith("sc://"):
            _check_connect(where)
            return builder.remote(where).getOrCreate()
        _check_java()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the one that has discreet
        _start_java(where)
        for name, value in OWN.items():
            builder = builder.config(name, value)
        return builder.master(where).getOrCreate()
    except InputError:
        raise
    except Exception as error:
        raise _unreachable(where) from error


def _unreachable(where: str) -> InputError:
    remedy = "give one such as 'local[2]' or 'spark://host:7077' (master)"
    shown = where.partition(";")[0]  # an address of Spark Connect may go on with a token
    return InputError(must_be("master", "a Spark that can be reached", repr(shown), remedy=remedy))


def _start_java(master: str) -> None:
    """Start Java without a voice: what it prints may hold values of records, and is pages long."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:  # it runs already, of a session that was stopped
        return
    conf = SparkConf().setMaster(master).setAll(list(OWN.items()))
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    launch: Any = launch_gateway  # which has no types
    SparkContext._ensure_initialized(gateway=launch(conf, silent), conf=conf)


def _check_connect(where: str) -> None:
    """Raises InputError where a client of Spark Connect lacks a package, or its server is away."""
    for module, package in CONNECT_PACKAGES.items():
        if not _there(module):
            remedy = "pip install 'pyspark[connect]'"
            raise InputError(must_be(package, f"installed for {where[:5]}", "none", remedy=remedy))
    if any(name in os.environ or name.upper() in os.environ for name in PROXIES):
        return  # the server may be reached through the proxy alone
    address = urlparse(where.partition(";")[0])
    try:
        place = (address.hostname or "", address.port or CONNECT_PORT)
        socket.create_connection(place, REACHED_WITHIN).close()
    except (OSError, ValueError) as error:
        raise _unreachable(where) from error


def _there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:  # not even the package above it
        return False


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if home is None and shutil.which("java") is None:
        got, remedy = "none", "install Java 17, or set JAVA_HOME"
    elif home is not None and not (Path(home) / "bin" / "java").exists():
        got, remedy = f"a JAVA_HOME without it ({home!r})", "set JAVA_HOME to a Java 17"
    else:
        return
    raise InputError(must_be("Java", "installed", got, remedy=remedy))
