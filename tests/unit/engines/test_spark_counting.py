"""Spark counts the same cells as DuckDB, or complains in the same words."""

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.engines.spark_agreement import assert_alike, parquet, random_columns

POLICIES = ["category", "drop", "error"]


FEW = 8  # random files of the ordinary tests; the others are long ones
SEEDS = [seed if seed < FEW else pytest.param(seed, marks=pytest.mark.soak) for seed in range(50)]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_files(spark, tmp_path, seed):
    rng = np.random.default_rng(seed)
    table, keys = random_columns(rng)
    policy = POLICIES[seed % 3]
    weight = "w" if seed % 2 else None
    codes = {"missing": {"*": ["9"]}, "suppressed": {keys[0]: ["a", "2"]}} if seed % 5 == 0 else {}
    path = parquet(tmp_path, table)
    near = 10**6 if seed % 4 == 3 else 0
    assert_alike(spark, path, keys, near, missing=policy, weight=weight, codes=codes)


@pytest.mark.parametrize("policy", POLICIES)
def test_codes_that_stand_for_something_else(spark, tmp_path, policy):
    columns = {
        "a": ["x", "-8", "-9", "-7", "y", None, ""],
        "b": [1, 2, -9, 4, -7, 6, 7],
        "s": ["p", "q", "-9", "p", None, "q", "p"],
    }
    codes = {
        "missing": {"*": ["-9", "never"]},
        "suppressed": {"a": ["-8"]},
        "not_applicable": {"*": ["-7"]},
    }
    found = assert_alike(
        spark, parquet(tmp_path, columns), "ab", missing=policy, codes=codes, sensitive=("s",)
    )
    assert policy == "error" or len(found["idle_codes"]) == 1


def test_a_code_of_several_words(spark, tmp_path):
    rng = np.random.default_rng(1)
    columns = {f"k{j}": rng.integers(0, 400, 500) for j in range(12)}
    columns["k3"] = [None if x % 7 == 0 else str(x) for x in columns["k3"]]
    path = parquet(tmp_path, columns)
    for policy in ("category", "drop"):
        found = assert_alike(spark, path, list(columns), missing=policy)
        assert found["coding"].n_words == 2


def test_levels_that_only_records_left_out_have(spark, tmp_path):
    columns = {"a": ["x", "only here", "z", "x"], "b": ["1", None, "3", "1"], "w": [1.0, 2, 3, 4]}
    found = assert_alike(spark, parquet(tmp_path, columns), "ab", missing="drop", weight="w")
    assert found["keys"][0].values == ("x", "z")
    assert found["weights"].total == 8


def test_names_of_any_kind(spark, tmp_path):
    names = ["a.b", "`c`", "d'e", 'f"g', "日本", "back\\slash", "with space", "_metadata"]
    columns = {name: ["1", "2", "2"] for name in names}
    path = parquet(tmp_path, columns, "a b[1]%20é.parquet")
    assert_alike(spark, path, names)


def test_a_folder_of_files_one_of_them_empty(spark, tmp_path):
    folder = tmp_path / "several"
    folder.mkdir()
    for i, n in enumerate([3, 0, 5]):
        numbers = pa.array(range(n), pa.int32() if i < 2 else pa.int64())
        parquet(folder, {"a": numbers, "w": [1.5] * n}, f"part-{i}.parquet")
    assert_alike(spark, folder, "a", weight="w")
    assert_alike(spark, f"{folder}/part-*.parquet", "a")


def test_folders_named_after_values(spark, tmp_path):
    for region, year in (("north", "01"), ("south", "2")):
        folder = tmp_path / "files" / f"region={region}" / f"year={year}"
        folder.mkdir(parents=True)
        parquet(folder, {"a": ["x", "y"]})
    found = assert_alike(spark, tmp_path / "files", ["a", "region", "year"])
    assert len(found["cells"]) == 4


def test_one_record_and_a_level_that_most_records_have(spark, tmp_path):
    assert_alike(spark, parquet(tmp_path, {"a": [None], "b": [1]}), "ab")
    skewed = {"a": ["x"] * 5000 + ["y"], "b": [0] * 4999 + [1, 2]}
    assert_alike(spark, parquet(tmp_path, skewed), "ab")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_key_without_any_value(spark, tmp_path, policy):
    columns = {"a": pa.array([None, None], pa.null()), "b": [1, 2]}
    assert_alike(spark, parquet(tmp_path, columns), "ab", missing=policy)


def test_csv_is_text_as_it_stands(spark, tmp_path):
    path = tmp_path / "s.csv"
    path.write_text('a,b,w\n01,"x\ny",1.5\n1,"say ""so""",2\n,"",0.25\n01,é, 3 \n', "utf-8")
    found = assert_alike(spark, path, "ab", weight="w")
    assert found["keys"][0].values == ("01", "1", None)
    assert found["weights"].total == 6.75


@pytest.mark.parametrize("text", ["a,b\n1,2\n3\n", 'a,b\n1,"2\n', "a,b\n"])
def test_complaints_about_csv_files(spark, tmp_path, text):
    path = tmp_path / "s.csv"
    path.write_text(text, "utf-8")
    assert "complaint" in assert_alike(spark, path, "ab")


def test_a_spark_frame(spark, tmp_path):
    path = parquet(tmp_path, {"a.b": ["x", None, "y"], "n": [1.0, float("nan"), 2.5]})
    frame = spark.read.parquet(f"file://{path}").repartition(3)
    from tests.unit.engines.spark_agreement import cells_of, request_of

    from discreet.engines.spark.engine import SparkEngine

    found = cells_of(SparkEngine(session=spark), request_of(frame, ["a.b", "n"]))
    expected = cells_of(SparkEngine(session=spark), request_of(path, ["a.b", "n"]))
    assert found == expected
