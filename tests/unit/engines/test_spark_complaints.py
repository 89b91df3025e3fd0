"""What Spark refuses, it refuses as DuckDB does."""

import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.engines.spark_agreement import assert_alike, parquet, request_of

from discreet.engines.spark.engine import SparkEngine
from discreet.engines.spark.sessions import opened
from discreet.engines.spark.tables import file_elsewhere
from discreet.errors import ColumnError, FileError, InputError, OutputError

INFINITE = float("inf")


@pytest.mark.parametrize(
    "weights",
    [
        [1.0, 0.0, -2.0],
        [1.0, None, float("nan")],
        [-INFINITE, 1.0, INFINITE],
        ["1", "x", "1,5"],
        ["1", "+2.5e1", ".5"],
        [1e14, 1e15, 3.0],
        [1e-200, 1e200, 1.0],
        [True, False, True],
        [pa.scalar(1), 2, 3],
    ],
    ids=str,
)
def test_weights(spark, tmp_path, weights):
    column = pa.array([w.as_py() if isinstance(w, pa.Scalar) else w for w in weights])
    path = parquet(tmp_path, {"a": ["x", "y", "x"], "w": column})
    assert_alike(spark, path, "a", weight="w")


def test_weights_are_summed_to_the_last_bit(spark, tmp_path):
    rng = np.random.default_rng(5)
    columns = {"a": rng.integers(0, 9, 3000), "w": rng.lognormal(0, 4, 3000) * 1e-3}
    found = assert_alike(spark, parquet(tmp_path, columns), "a", weight="w")
    assert "cells" in found


def test_no_record_at_all(spark, tmp_path):
    path = parquet(tmp_path, {"a": pa.array([], pa.string())})
    assert_alike(spark, path, "a")


def test_no_record_that_has_every_key(spark, tmp_path):
    path = parquet(tmp_path, {"a": ["x", None], "b": [None, 1]})
    assert_alike(spark, path, "ab", missing="drop")


def test_a_record_without_a_household(spark, tmp_path):
    path = parquet(tmp_path, {"a": ["x", "y", "z"], "h": ["1", "", None]})
    assert_alike(spark, path, "a", household="h")


@pytest.mark.parametrize("column", [[[1], [2]], [{"x": 1}, None], [b"1", b"2"]], ids=str)
def test_columns_that_cannot_be_keys(spark, tmp_path, column):
    path = parquet(tmp_path, {"a": column})
    assert "complaint" in assert_alike(spark, path, "a")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (pa.timestamp("ns"), "timestamps with nanoseconds"),
        (pa.time64("us"), "times of day"),
        (pa.decimal256(50, 0), "decimals of more than 38 digits"),
    ],
    ids=str,
)
def test_types_that_spark_does_not_read(spark, tmp_path, kind, said):
    path = parquet(tmp_path, {"a": pa.array([None, None], kind)})
    request = request_of(path, "a")
    expected = f"column 'a' must be of a type that Spark reads, got {said}; write it in another"
    with pytest.raises(ColumnError, match=expected), SparkEngine(session=spark).count(request):
        pass


def test_a_column_that_is_not_asked_for_may_be_of_any_type(spark, tmp_path):
    moments = pa.array([0, 1, 2], pa.timestamp("ns"))
    times = pa.array([1, 2, 3], pa.time64("us"))
    path = parquet(tmp_path, {"a": ["x", "y", "x"], "moment": moments, "time": times})
    assert "cells" in assert_alike(spark, path, "a")


def test_timestamps_as_spark_writes_them(spark, tmp_path):
    table = pa.table({"a": pa.array([0, 3600, 0], pa.timestamp("s"))})
    pq.write_table(table, tmp_path / "s.parquet", use_deprecated_int96_timestamps=True)
    assert "cells" in assert_alike(spark, tmp_path / "s.parquet", "a")


def test_files_that_differ_in_their_numbers(spark, tmp_path):
    pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1.5, 2.0]}), tmp_path / "2.parquet")
    assert "cells" in assert_alike(spark, tmp_path, "a")


def test_an_address_that_spark_cannot_reach(spark):
    with pytest.raises(FileError, match="got what it cannot reach; give Spark what such an"):
        file_elsewhere(spark, "s3a://bucket/census")


def test_a_damaged_file(spark, tmp_path):
    path = parquet(tmp_path, {"a": [str(i * 7919 % 1000) for i in range(20_000)]})
    content = bytearray(path.read_bytes())
    content[100:4000] = bytes(3900)
    path.write_bytes(content)
    request = request_of(path, "a")
    with (
        pytest.raises(FileError, match=r"s\.parquet must be a readable file, got one that is dam"),
        SparkEngine(session=spark).count(request),
    ):
        pass


def test_a_temporary_folder_that_goes_away(spark, tmp_path):
    path, folder = parquet(tmp_path, {"a": ["x", "y"]}), tmp_path / "work"
    folder.mkdir()
    engine = SparkEngine(session=spark, temporary=folder, most_near=0)
    said = "temporary folder '.*work' must be there and writable until the work is done, got one"
    with pytest.raises(OutputError, match=said), engine.count(request_of(path, "a")) as store:
        shutil.rmtree(next(folder.iterdir()))
        store.cells.size_indices()


def test_what_spark_cannot_read(spark):
    request = request_of(pa.table({"a": [1]}), "a")
    with (
        pytest.raises(InputError, match="write it as Parquet first"),
        SparkEngine(session=spark).count(request),
    ):
        pass


def test_matching_needs_cells_in_the_driver(spark, tmp_path):
    path = parquet(tmp_path, {"a": [1, 2, None]})
    request = request_of(path, "a", "wildcard")
    with (
        pytest.raises(InputError, match="missing must be category, drop or error"),
        SparkEngine(session=spark, most_near=1).count(request),
    ):
        pass


def test_without_pyspark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(InputError, match=r"pip install 'discreet\[spark\]'"), opened(None, None):
        pass


def test_without_java(monkeypatch):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    from discreet.engines.spark import sessions

    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(InputError, match="Java must be installed"):
        sessions._check_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="install Java 17, or set JAVA_HOME"):
        sessions._check_java()


def test_a_version_that_is_too_old(monkeypatch):
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
    old = SimpleNamespace(version="3.5.9")
    said = "Spark must be version 4 or later, got 3.5.9; use a newer server"
    with pytest.raises(InputError, match=said), opened(old, None):
        pass
    monkeypatch.setattr(pyspark, "__version__", "3.5.9")
    said = r"pyspark must be version 4 or later, got 3.5.9; pip install 'discreet\[spark\]'"
    with pytest.raises(InputError, match=said), opened(None, None):
        pass


def test_spark_connect_without_its_packages(monkeypatch):
    from discreet.engines.spark import sessions

    monkeypatch.setattr(sessions, "CONNECT_PACKAGES", {"no_such.module": "grpcio"})
    with pytest.raises(InputError, match="grpcio must be installed for sc://, got none; pip inst"):
        sessions._made(None, "sc://localhost")


def test_spark_connect_where_there_is_no_server(monkeypatch):
    from discreet.engines.spark import sessions

    monkeypatch.setattr(sessions, "CONNECT_PACKAGES", {})
    for name in sessions.PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with pytest.raises(InputError, match="a Spark that can be reached, got 'sc://127") as found:
        sessions._made(None, "sc://127.0.0.1:1/;token=secret")
    assert "secret" not in str(found.value)


def test_a_master_that_is_none(tmp_path):
    """In a process of its own: nothing of Java's is printed, which goes to the terminal itself."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed")
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    path = parquet(tmp_path, {"a": [1, 2, 2]})
    asked = ["assess", str(path), "--keys", "a", "--engine", "spark", "--master", "foo://bar"]
    command = "from discreet.cli import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", command, *asked],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.count("\n") == 1
    assert "--master must be a Spark that can be reached, got 'foo://bar'" in run.stderr
