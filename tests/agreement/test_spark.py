"""Whole assessments on Spark: the figures of DuckDB, also where an executor dies on the way."""

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.duckdb import DuckDBEngine

JAVA = shutil.which("java") or os.environ.get("JAVA_HOME")
STEPS = ["coding the records", "counting the cells", "counting near neighbours"]
STEPS += ["writing the risks"]


@pytest.fixture(scope="module")
def spark():
    if not JAVA:
        pytest.skip("Java is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = pyspark.SparkSession.builder.master("local[2]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.log.level": "OFF",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def survey(path, n, seed=3):
    rng = np.random.default_rng(seed)
    columns = {
        "a": rng.choice(["x", "y", "z"], n, p=[0.9, 0.08, 0.02]),
        "b": pa.array(rng.integers(0, 40, n), mask=rng.random(n) < 0.02),
        "c": rng.choice([f"district {i}" for i in range(25)], n),
        "d": rng.integers(0, 6, n),
        "s": rng.choice(list("pqr"), n),
        "h": rng.integers(0, n // 2, n),
        "w": rng.gamma(3, 10, n),
    }
    pq.write_table(pa.table(columns), path, row_group_size=max(n // 7, 1))
    return path


def same(found, expected, where=""):
    """Integers and texts equal, floats to 1e-9, but for the settings."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for name in expected.keys() - {"settings"}:
            same(found[name], expected[name], f"{where}/{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            same(one, other, f"{where}[{number}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9), where
    else:
        assert found == expected, where


def told(source, engine, **asked):
    found = discreet.assess(source, list("abcd"), engine=engine, **asked)
    return json.loads(json.dumps(found.to_json()))


def test_few_cells_come_to_the_driver(spark, tmp_path):
    source = survey(tmp_path / "s.parquet", 1500)
    models = ["benedetti_franconi", "loglinear", "pitman"]
    asked = {"weight": "w", "models": models, "sensitive": ["s"], "household": "h", "suda": 2}
    asked |= {"scenarios": {"some": ["a", "b"]}, "min_k": 3}
    asked |= {"cluster": "s"}
    written = [tmp_path / f"{name}.parquet" for name in ("theirs", "ours")]
    theirs = told(source, discreet.SparkEngine(session=spark), risks=written[0], **asked)
    ours = told(source, DuckDBEngine(), risks=written[1], **asked)
    same(theirs, ours)
    tables = [pq.read_table(path) for path in written]
    named = [[(field.name, field.type) for field in table.schema] for table in tables]
    assert named[0] == named[1]
    for name in tables[0].column_names:
        one, other = (table[name].to_pandas() for table in tables)
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=1e-9)
        else:
            assert one.tolist() == other.tolist(), name


def test_many_cells_stay_where_they_lie(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.engines.spark.cells.PART_CELLS", 300)
    source = survey(tmp_path / "s.parquet", 1500)
    asked = {"weight": "w", "max_risk": 1}
    theirs = told(source, discreet.SparkEngine(session=spark, most_near=0), **asked)
    same(theirs, told(source, DuckDBEngine(), **asked))


def test_the_command_line(spark, tmp_path):
    from click.testing import CliRunner

    from discreet.cli import cli

    source = survey(tmp_path / "s.parquet", 400)
    asked = ["assess", str(source), "--keys", "a,b,c,d", "--population", "9000", "--json"]
    runs = [CliRunner().invoke(cli, [*asked, *more]) for more in ((), ("--engine", "spark"))]
    assert [run.exit_code for run in runs] == [0, 0]
    ours, theirs = (json.loads(run.stdout) for run in runs)
    same(theirs, ours)


CONNECT = ("grpc", "grpc_status", "google.rpc", "zstandard")


@pytest.mark.soak
def test_spark_connect(tmp_path):
    """In a process of its own, as one process has either kind of session."""
    if not JAVA:
        pytest.skip("Java is not installed")
    for package in ("pyspark", *CONNECT):
        pytest.importorskip(package, reason=f"{package} is not installed; pip: pyspark[connect]")
    source = survey(tmp_path / "s.parquet", 400)
    script = Path(__file__).with_name("spark_connect.py")
    run = subprocess.run(
        [sys.executable, str(script), str(source)],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    same(json.loads(run.stdout), told(source, DuckDBEngine(), weight="w", max_risk=1))


@pytest.mark.soak
@pytest.mark.parametrize("step", STEPS)
def test_an_executor_that_is_killed(tmp_path, step):
    if not JAVA:
        pytest.skip("Java is not installed")
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    source = survey(tmp_path / "s.parquet", 60_000)
    script = Path(__file__).with_name("spark_killed.py")
    theirs, ours = tmp_path / "theirs.parquet", tmp_path / "ours.parquet"
    run = subprocess.run(
        [sys.executable, str(script), str(source), str(theirs), step],
        capture_output=True, text=True, timeout=1500, check=True,
    )  # fmt: skip
    expected = discreet.assess(source, list("abcd"), population=10**7, risks=ours, max_risk=1)
    assert run.stdout.split() == ["1", str(expected.sample_uniques)]
    found, wanted = pq.read_table(theirs), pq.read_table(ours)
    assert found["row"].to_pylist() == list(range(1, 60_001))
    assert found["sample_count"].to_pylist() == wanted["sample_count"].to_pylist()
    np.testing.assert_allclose(found["risk"].to_numpy(), wanted["risk"].to_numpy(), rtol=1e-9)
