"""The records of an assessment as a frame."""

import pickle

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import InputError

RNG = np.random.default_rng(3)
KEYS = ["sex", "age"]


@pytest.fixture
def people():
    found = pd.DataFrame({"sex": RNG.choice(["m", "f"], 200), "age": RNG.integers(1, 30, 200)})
    found.index = pd.Index([f"p{i}" for i in range(200)], name="person")
    return found.sample(frac=1.0, random_state=1)


def assessed(source, **options):
    return discreet.assess(source, KEYS, population=20_000, models="sample_frequency", **options)


def test_a_pandas_frame_comes_back_with_its_index(people, tmp_path):
    found = assessed(people, risks=tmp_path / "risks.parquet")
    records = found.records()
    assert isinstance(records, pd.DataFrame)
    assert records.index.equals(people.index)
    assert records["row"].tolist() == list(range(1, 201))
    written = pq.read_table(tmp_path / "risks.parquet")
    assert records.reset_index(drop=True).equals(written.to_pandas())
    sizes = people.groupby(KEYS)["age"].transform("size")
    assert records["sample_count"].tolist() == sizes.tolist()


def test_each_kind_of_frame_comes_back(people, tmp_path):
    plain = people.reset_index(drop=True)
    table = pa.Table.from_pandas(plain)
    con = duckdb.connect()
    con.register("people", table)
    for source, kind in (
        (pl.from_pandas(plain), pl.DataFrame),
        (table, pa.Table),
        (con.sql("FROM people"), pa.Table),
    ):
        assert isinstance(assessed(source).records(), kind)
    plain.to_csv(tmp_path / "people.csv", index=False)
    from_file = assessed(tmp_path / "people.csv")
    assert isinstance(from_file.records(), pa.Table)
    assert isinstance(from_file.records("pandas"), pd.DataFrame)
    assert isinstance(assessed(people).records("polars"), pl.DataFrame)
    with pytest.raises(InputError, match="kind must be one of pandas, polars, arrow"):
        from_file.records("excel")


def test_records_that_were_left_out_have_their_row(people):
    people["age"] = people["age"].astype("Int64")
    people.iloc[[3, 5], 1] = pd.NA
    records = assessed(people, missing="drop").records()
    assert len(records) == len(people)
    assert records["sample_count"].isna().tolist() == people["age"].isna().tolist()


def test_a_frame_that_has_changed_is_refused(people):
    found = assessed(people)
    people.iloc[0, 1] = 99
    with pytest.raises(InputError, match="source must be what it was when it was assessed"):
        found.records()


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("weight", lambda old: old * 2, "other weights 'weight'"),
        ("weight", lambda old: old[::-1], "other weights 'weight'"),
        ("home", lambda old: np.roll(old, 1), "other .*households 'home'"),
        ("pay", lambda old: np.roll(old, 1), "other sensitive variables"),
        ("age", lambda old: old[::-1], "other keys"),
    ],
)
def test_what_has_changed_is_named(people, column, values, says):
    people["weight"] = RNG.uniform(5, 90, 200)
    people["home"] = RNG.integers(0, 80, 200)
    people["pay"] = RNG.integers(0, 9, 200)
    found = discreet.assess(people, KEYS, weight="weight", household="home", sensitive=["pay"])
    assert len(found.records()) == 200
    people[column] = values(people[column].to_numpy())
    with pytest.raises(InputError, match=says):
        found.records()


def test_records_that_came_or_went_are_noticed(people, tmp_path):
    people.to_csv(tmp_path / "people.csv", index=False)
    found = assessed(tmp_path / "people.csv")
    people.iloc[1:].to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(InputError, match="got other numbers of records; assess it again"):
        found.records()


def test_a_pickled_result_has_no_records(people):
    found = pickle.loads(pickle.dumps(assessed(people)))
    with pytest.raises(InputError, match="got one without them, since it was pickled; assess"):
        found.records()
    assert found.to_frame("riskiest")["age"].dtype == np.int64
    lone = discreet.Assessment(**{
        name: getattr(found, name) for name in found.__dataclass_fields__ if name != "held"
    })  # fmt: skip
    with pytest.raises(InputError, match="got one without them; assess the records"):
        lone.records()


def test_a_result_holds_nothing_of_the_size_of_the_records(people):
    small, large = assessed(people), assessed(pd.concat([people] * 50))
    assert len(pickle.dumps(large)) < len(pickle.dumps(small)) + 2000
