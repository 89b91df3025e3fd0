"""Assessments of cells in many parts, in any order, against those of cells in one."""

import json
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.oracles.scattered_engine import ScatteredEngine

from discreet.engines.duckdb import DuckDBEngine
from discreet.flows.assess import assess
from discreet.flows.backtest import backtest

N = 240
SIZES = {"sex": 2, "age": 30, "job": 9, "home": 12}
KEYS = tuple(SIZES)


def people(n=N, seed=1):
    """Records of four keys, one of which determines another, and what else is asked of them."""
    rng = np.random.default_rng(seed)
    columns = {
        name: rng.choice(size, n, p=rng.dirichlet(np.full(size, 0.7)))
        for name, size in SIZES.items()
    }
    columns["region"] = columns["home"] // 3
    columns["weight"] = np.round(rng.uniform(1, 40, n), 2)
    columns["illness"] = rng.choice(5, n, p=[0.6, 0.2, 0.1, 0.05, 0.05])
    columns["house"] = rng.integers(0, n // 2, n)
    return pa.table(columns)


def with_gaps(table, seed=3):
    rng = np.random.default_rng(seed)
    gaps = {
        name: pa.array(table[name].to_pylist(), mask=rng.random(table.num_rows) < 0.06)
        for name in KEYS
    }
    return pa.table({name: gaps.get(name, table[name]) for name in table.column_names})


EVERYTHING = {
    "keys": [*KEYS, "region"], "population": 30_000, "models": "auto", "suda": 3,
    "sensitive": ["illness"], "min_k": 3, "max_risk": 0.1, "subsets": 2, "shrinkage_table": True,
    "household": "house", "all_pairs": True,
}  # fmt: skip
SCENARIOS = {"a": ["sex", "age", "home"], "b": ["age", "job"]}
PUBLISHED = pa.table({"age": range(30), "persons": [1_000 + 10 * n for n in range(30)]})
CASES = {
    "everything": (people, EVERYTHING),
    "weights and scenarios": (
        people,
        {"keys": KEYS, "weight": "weight", "scenarios": SCENARIOS, "min_k": 2, "all_pairs": True},
    ),
    "a population file": (
        lambda: people().slice(0, 160),
        {"keys": KEYS, "population_file": people(), "min_k": 3, "max_risk": 0.2},
    ),
    "a population file and gaps": (
        lambda: with_gaps(people()).slice(0, 160),
        {"keys": KEYS, "population_file": people(), "missing": "drop"},
    ),
    "wildcard": (
        lambda: with_gaps(people()),
        {
            "keys": ["sex", "age", "home"], "weight": "weight", "missing": "wildcard",
            "sensitive": ["illness"], "suda": 2, "scenarios": {"a": ["sex", "age"], "b": ["home"]},
        },
    ),
    "drop": (
        lambda: with_gaps(people()),
        {
            "keys": KEYS, "weight": "weight", "missing": "drop", "sensitive": ["illness"],
            "headline": "benedetti_franconi", "max_risk": 0.05,
        },
    ),
    "clusters and strata": (
        people,
        {
            "keys": KEYS, "weight": "weight", "stratum": "illness", "cluster": "region",
            "clusters": 4, "max_risk": 0.2, "scenarios": SCENARIOS,
        },
    ),
    "published tables": (
        people,
        {"keys": KEYS, "known_margins": [PUBLISHED], "max_risk": 0.2, "scenarios": SCENARIOS},
    ),
    "one key": (people, {"keys": ["age"], "population": 30_000}),
    "two keys": (people, {"keys": ["age", "job"], "population": 30_000, "all_pairs": True}),
}  # fmt: skip
FEWER = {"wildcard": 1, "one key": 2, "two keys": 5, "a population file and gaps": 5}  # parts
ENGINES = {
    "parts": lambda: DuckDBEngine(cells_held=5, cells_at_once=30),
    "scattered": lambda: ScatteredEngine(seed=7, cells_at_once=15),
}


def assessed(case, folder, engine=None):
    """The JSON of an assessment, and what it says of each record."""
    make, options = CASES[case]
    path = folder / "risks.parquet"
    found = assess(make(), engine=engine, risks=path, **options)
    told = json.loads(json.dumps(found.to_json()))
    told.pop("settings", None)
    return told, pq.read_table(path)


@cache
def of_one_part(case, folder):
    return assessed(case, folder)


def check(one, other, path=""):
    """Whole numbers and words are equal, and others but for 1e-9 of their size."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for name in one:
            check(one[name], other[name], f"{path}/{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), path
        for number, pair in enumerate(zip(one, other, strict=True)):
            check(*pair, f"{path}[{number}]")
    elif isinstance(one, float) and isinstance(other, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12), path
    else:
        assert one == other, path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("one part")


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("case", CASES)
def test_parts_change_no_figure(case, kind, folder, tmp_path):
    told, records = of_one_part(case, folder)
    engine: Any = ENGINES[kind]()
    found, other = assessed(case, tmp_path, engine)
    if kind == "scattered":  # of few keys there are few cells, and those that match stay together
        assert engine.n_parts[0] >= FEWER.get(case, 9)
    check(told, found)
    assert records.column_names == other.column_names
    for name in records.column_names:
        mine, theirs = (table[name].to_pandas() for table in (records, other))
        if mine.dtype.kind == "f":
            assert np.allclose(mine, theirs, rtol=1e-9, atol=1e-12, equal_nan=True), name
        else:
            assert mine.equals(theirs), name


@pytest.mark.parametrize("seed", range(3))
def test_another_order_changes_no_figure(seed, folder, tmp_path):
    told, _ = of_one_part("two keys", folder)
    check(told, assessed("two keys", tmp_path, ScatteredEngine(seed, cells_at_once=30))[0])


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("stratum", [None, "sex"])
def test_the_same_backtest(kind, stratum):
    def of(engine):
        found = backtest(
            people(), list(KEYS), engine=engine, fractions=(0.2,), repeats=2, seed=3,
            models=["cohen_sackrowitz_uniform", "lancaster"], stratum=stratum,
        )  # fmt: skip
        told = json.loads(json.dumps(found.to_json()))
        told.pop("settings", None)
        return told

    check(of(None), of(ENGINES[kind]()))


def test_a_record_that_is_left_out_has_no_count(tmp_path):
    _, records = assessed("a population file and gaps", tmp_path)
    frame = records.to_pandas()
    left_out = frame["sample_count"].isna()
    assert left_out.any()
    assert frame.loc[left_out].drop(columns="row").isna().all(axis=None)
    assert frame.loc[~left_out, "population_count"].notna().all()
