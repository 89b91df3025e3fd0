"""What records get back from their cells, on Spark as on DuckDB."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.unit.engines.spark_agreement import Column, parquet, request_of, send_with_its_module

from discreet.data.records import open_records
from discreet.engines.contract import ClassLimits
from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.spark.engine import SparkEngine
from discreet.engines.steps import NothingKept
from discreet.errors import MissingError, OutputError

LIMITS = ClassLimits(some=0.2, high=0.4)


class Risk(NothingKept):
    """A risk that is the same wherever it is computed; none for cells of one record."""

    gives = ("risk", "other, so named")

    def of(self, batch):
        n = batch.sample_count.astype(float)
        return {"risk": np.where(n == 1, np.nan, 1 / n), "other, so named": n + 0.5}, None


class Double:
    """Twice the records of each cell, and their sum."""

    reads = ()
    gives = ("n",)

    def of(self, batch):
        return {"n": 2.0 * batch.records}, int(batch.records.sum())

    def joined(self, one, other):
        return one + other


class Sum:
    """The sum of an added column and the number of cells."""

    reads = ("n",)

    def of(self, batch):
        return int(batch.extra["n"].sum()), len(batch)

    def joined(self, one, other):
        return one[0] + other[0], one[1] + other[1]


class Spread:
    """The records of each cell by value, and how many values it has."""

    gives = ("n values",)

    def of(self, batch, values):
        found = {}
        codes = [tuple(code) for code in batch.words.tolist()]
        for cell, value, n in zip(values.cell, values.value, values.records, strict=True):
            found.setdefault(codes[cell], {})[int(value)] = int(n)
        number = np.array([len(found.get(code, ())) for code in codes], dtype=float)
        return {"n values": number}, found

    def joined(self, one, other):
        assert not set(one) & set(other)
        return one | other


@pytest.fixture
def survey(tmp_path):
    """Several files of records with households, weights and columns to carry."""
    rng = np.random.default_rng(7)
    folder = tmp_path / "survey"
    folder.mkdir()
    for i, n in enumerate([150, 0, 90, 60]):
        columns = {
            "a": rng.choice(["x", "y", "z", "é"], n),
            "b": pa.array(rng.integers(0, 6, n), mask=rng.random(n) < 0.1),
            "s": pa.array([None if v == "n" else v for v in rng.choice(list("pqrn"), n)]),
            "h": pa.array(rng.integers(0, 120, n)),
            "w": pa.array(rng.lognormal(1, 1, n)),
            "id, or so": pa.array([f"{i}-{j}" for j in range(n)], pa.string()),
            "on": pa.array([dt.date(2020, 1, 1 + j % 28) for j in range(n)], pa.date32()),
            "at": pa.array(rng.integers(0, 10**15, n), pa.timestamp("us", "UTC")),
        }
        parquet(folder, columns, f"part-{i}.parquet")
    return folder


def both(spark, source, missing="drop", most_near=0, **more):
    request = request_of(source, "ab", missing, **more)
    engine = SparkEngine(session=spark, most_near=most_near)
    return engine.count(request), DuckDBEngine().count(request)


def read(path):
    return duckdb.sql(f"FROM '{path}'").to_arrow_table()


@pytest.mark.parametrize(
    ("kind", "missing", "near"), [("csv", "drop", 0), ("parquet", "category", 10**6)]
)
def test_the_file_of_records(spark, survey, tmp_path, kind, missing, near):
    send_with_its_module(Risk)
    options = {"weight": "w", "carry": ("id, or so", "on", "at", "h"), "household": "h"}
    on_spark, on_duckdb = both(spark, survey, missing, near, **options)
    totals = []
    with on_spark as theirs, on_duckdb as ours:
        for store, name in ((theirs, "theirs"), (ours, "ours")):
            store.cells.add(Risk())
            totals.append(store.household_totals(["risk"]))
            path = tmp_path / f"{name}.{kind}"
            store.write_records(path, Risk.gives, ["risk"], LIMITS)
    found, expected = totals
    assert found.n_households == expected.n_households
    assert found.pattern_sizes.to_json() == expected.pattern_sizes.to_json()
    assert found.several.to_json() == expected.several.to_json()
    assert found.expected_found == pytest.approx(expected.expected_found, rel=1e-12)
    written, wanted = read(tmp_path / f"theirs.{kind}"), read(tmp_path / f"ours.{kind}")
    assert written.schema == wanted.schema
    assert written["row"].to_pylist() == list(range(1, 301))
    pd.testing.assert_frame_equal(written.to_pandas(), wanted.to_pandas(), rtol=1e-12)


def test_a_folder_is_written_by_spark_and_not_over_another(spark, survey, tmp_path):
    on_spark, _ = both(spark, survey)
    with on_spark as store:
        store.write_records(f"{tmp_path}/risks/", ())
        with pytest.raises(OutputError, match="a folder that is empty or not there yet"):
            store.write_records(tmp_path / "risks", ())
    found = read(tmp_path / "risks/*.parquet")
    assert sorted(found["row"].to_pylist()) == list(range(1, 301))


def test_rows_of_cells_and_what_they_hold(spark, survey):
    on_spark, on_duckdb = both(spark, survey, "category", carry=("id, or so", "at", "b"))
    with on_spark as theirs, on_duckdb as ours:
        words = ours.cells.held(1000).words[[0, 5, -1]]
        rows = theirs.rows_in(words, 2)
        assert rows == ours.rows_in(words, 2)
        listed = [row for found in rows for row in found]
        assert theirs.carried(listed) == ours.carried(listed)
        assert theirs.rows_in(words[:0], 2) == []


def test_columns_are_added_and_folded(spark, survey):
    for step in (Sum, Double):
        send_with_its_module(step)
    on_spark, _ = both(spark, survey, "category")
    with on_spark as store:
        assert store.cells.add(Double()) == 300
        assert store.cells.fold(Sum()) == (600, store.cells.n_cells)
        store.cells.add(Double())
        assert list(store.cells.added) == ["n"]


@pytest.mark.parametrize(("missing", "near"), [("drop", 0), ("category", 10**6), ("error", 0)])
def test_a_population_file(spark, survey, tmp_path, missing, near):
    send_with_its_module(Column)
    rng = np.random.default_rng(3)
    values = rng.choice(["x", "y", "é", "elsewhere", ""], 500)
    more = {"b": pa.array(rng.integers(0, 9, 500).astype(str)), "a": pa.array(values)}
    population = open_records(parquet(tmp_path, more))
    sample = parquet(tmp_path, {"a": ["x", "y", "é"] * 2, "b": range(6)}, "sample.parquet")
    source = sample if missing == "error" else survey
    on_spark, on_duckdb = both(spark, source, missing, near)
    with on_spark as theirs, on_duckdb as ours:
        if missing == "error":
            for store in (theirs, ours):
                with pytest.raises(MissingError, match="keys of s.parquet must be known in every"):
                    store.count_population(population)
            return
        assert theirs.count_population(population) == ours.count_population(population)
        step = Column("population_count")
        assert theirs.cells.fold(step) == ours.cells.fold(step)
        found, expected = (s.population_cells(population, 1000) for s in (theirs, ours))
        assert _listed(found) == _listed(expected)
        assert theirs.population_cells(population, 3) is None


def _listed(cells):
    values = [(*own, None) for own in cells.values]
    rows = ([own[i] for own, i in zip(values, row, strict=True)] for row in cells.levels.tolist())
    return sorted(zip(map(str, rows), cells.counts.tolist(), strict=True))


@pytest.mark.parametrize("near", [0, 10**6])
def test_sensitive_values(spark, survey, monkeypatch, near):
    for step in (Spread, Column):
        send_with_its_module(step)
    monkeypatch.setattr("discreet.engines.spark.cells.PART_CELLS", 5)
    on_spark, on_duckdb = both(spark, survey, "category", near, sensitive=("s",))
    with on_spark as theirs, on_duckdb as ours:
        labels, counts = theirs.sensitive_totals("s")
        assert (labels, counts.tolist()) == (labels, ours.sensitive_totals("s")[1].tolist())
        found = theirs.measure_values("s", Spread())
        assert found == ours.measure_values("s", Spread())
        step = Column("n values")
        assert theirs.cells.fold(step) == ours.cells.fold(step)
        view = theirs.cells.space.itself().of_keys([1])
        coarser = [(s.cells.seen_through(view), view) for s in (theirs, ours)]
        assert theirs.measure_values("s", Spread(), coarser[0]) == ours.measure_values(
            "s", Spread(), coarser[1]
        )
