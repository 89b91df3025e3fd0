"""Parquet and Arrow files keep their types, their packing and what they say of themselves."""

import datetime
import decimal
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.records import open_records
from discreet.errors import OutputError

DAY = datetime.date(2020, 1, 31)
TABLE = pa.table(
    {
        "id": pa.array([2**62, 2, 3], pa.int64()),
        "small": pa.array([1, None, 3], pa.uint8()),
        "åge": pa.array([30, 40, 50], pa.int16()),
        "f": pa.array([0.1, None, 2.5], pa.float32()),
        "ok": pa.array([True, None, False]),
        "day": pa.array([DAY, None, DAY]),
        "at": pa.array([datetime.datetime(2020, 1, 1, 3)] * 3, pa.timestamp("ms", "Europe/Rome")),
        "money": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.00")]),
        "text": pa.array(["", 'a"b\nc', None], pa.large_string()),
        "none": pa.nulls(3, pa.string()),
        "nothing": pa.nulls(3),
        "list": pa.array([[1], [], None], pa.list_(pa.int32())),
        "kind": pa.DictionaryArray.from_arrays(
            pa.array([1, 0, None], pa.int8()), ["low", "high", "never"], ordered=True
        ),
    },
).replace_schema_metadata({"office": "Statistics"})
ENDINGS = ["parquet", "feather", "arrow"]


def written(table, path, **options):
    if path.suffix == ".parquet":
        pq.write_table(table, path, **options)
        return path
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    return path


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)
    return pa.ipc.open_file(path).read_all()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("batch", [1, 2, 100])
def test_an_unchanged_file_has_the_same_schema_and_values(tmp_path, copies, ending, batch):
    source = written(TABLE, tmp_path / f"in.{ending}")
    found = read(copies.write(source, tmp_path / f"out.{ending}", batch=batch))
    assert found.schema.equals(read(source).schema, check_metadata=True)
    assert found.to_pylist() == TABLE.to_pylist()
    coded = found.column("kind").unify_dictionaries().chunk(0)
    assert coded.dictionary.to_pylist() == ["low", "high", "never"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_rows_columns_and_values_that_changed(tmp_path, copies, ending):
    field = pa.field("åge", pa.int16(), metadata={"unit": "years"})
    table = TABLE.set_column(2, field, TABLE["åge"])
    source = written(table, tmp_path / f"in.{ending}")
    found = read(
        copies.write(
            source,
            tmp_path / f"out.{ending}",
            rows=[2, 0],
            names=["åge", "kind", "small", "f", "id"],
            changed={
                "åge": ["50+", None],
                "kind": [None, "low or high"],
                "small": [3, None],
                "f": [1.5, 2.5],
            },
            recoded={"åge": ("30", "50+"), "kind": ("low or high", "never")},
            numbers=("f",),
            batch=1,
        )
    )
    assert found.to_pylist() == [
        {"åge": "50+", "kind": None, "small": 3, "f": 1.5, "id": 3},
        {"åge": None, "kind": "low or high", "small": None, "f": 2.5, "id": 2**62},
    ]
    types = dict(zip(found.column_names, found.schema.types, strict=True))
    assert types == {
        "åge": pa.string(),
        "kind": pa.dictionary(pa.int32(), pa.string(), ordered=True),
        "small": pa.uint8(),
        "f": pa.float64(),
        "id": pa.int64(),
    }
    assert found.schema.field("åge").metadata[b"unit"] == b"years"
    assert found.column("kind").unify_dictionaries().chunk(0).dictionary.to_pylist() == [
        "low or high",
        "never",
    ]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_coded_key_that_is_only_suppressed_keeps_its_codes(tmp_path, copies, ending):
    source = written(TABLE, tmp_path / f"in.{ending}")
    changed = {"kind": ["high", None, None]}
    found = read(copies.write(source, tmp_path / f"out.{ending}", changed=changed))
    assert found.schema.field("kind").type == TABLE.schema.field("kind").type
    assert found.column("kind").to_pylist() == ["high", None, None]
    coded = found.column("kind").unify_dictionaries().chunk(0)
    assert coded.dictionary.to_pylist() == ["low", "high", "never"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_rows_leave_the_schema(tmp_path, copies, ending):
    source = written(TABLE, tmp_path / f"in.{ending}")
    path = copies.write(source, tmp_path / f"out.{ending}", rows=[])
    found = read(path)
    assert found.num_rows == 0
    assert found.schema.equals(read(source).schema)
    assert open_records(path).column_names == tuple(TABLE.column_names)


@pytest.mark.parametrize("codec", ["zstd", "gzip", "none", "snappy"])
def test_the_packing_is_that_of_the_source(tmp_path, copies, codec):
    source = written(TABLE, tmp_path / "in.parquet", compression=codec)
    path = copies.write(source, tmp_path / "out.parquet")
    about = pq.ParquetFile(path).metadata.row_group(0)
    found = {about.column(i).compression for i in range(about.num_columns)}
    assert found == {"UNCOMPRESSED" if codec == "none" else codec.upper()}


def test_columns_may_be_packed_unlike_each_other(tmp_path, copies):
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    source = written(table, tmp_path / "in.parquet", compression={"a": "zstd", "b": "gzip"})
    about = pq.ParquetFile(copies.write(source, tmp_path / "out.parquet")).metadata.row_group(0)
    assert [about.column(i).compression for i in range(2)] == ["ZSTD", "GZIP"]


def test_pandas_finds_its_index_and_categories_again(tmp_path, copies):
    frame = pd.DataFrame(
        {
            "k": pd.Categorical(["lo", "hi", None], ["lo", "hi", "no"], ordered=True),
            "n": pd.array([1, None, 3], "Int16"),
            "at": pd.to_datetime(["2020-01-01"] * 3).tz_localize("Europe/Rome"),
            "s": ["a", "b", None],
        },
        index=pd.Index(["p", "q", "r"], name="person"),
    )
    source = tmp_path / "in.parquet"
    frame.to_parquet(source)
    found = pd.read_parquet(copies.write(source, tmp_path / "out.parquet"))
    pd.testing.assert_frame_equal(found, frame)
    options = {"changed": {"k": ["lo/hi", "lo/hi", None], "n": ["few", None, "few"]}}
    options["recoded"] = {"k": ("lo/hi", "no"), "n": ("few",)}
    found = pd.read_parquet(copies.write(source, tmp_path / "out.parquet", **options))
    assert found.index.equals(frame.index)
    assert list(found["k"].cat.categories) == ["lo/hi", "no"]
    assert found["k"].cat.ordered
    assert found["n"].tolist()[:1] == ["few"]
    said = json.loads(pq.read_schema(tmp_path / "out.parquet").metadata[b"pandas"])
    kinds = {column["name"]: column["pandas_type"] for column in said["columns"]}
    assert (kinds["k"], kinds["n"]) == ("categorical", "unicode")


def test_pandas_is_not_told_of_columns_that_stay_inside(tmp_path, copies):
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]}, index=pd.Index([8, 9], name="person"))
    source = tmp_path / "in.parquet"
    frame.to_parquet(source)
    path = copies.write(source, tmp_path / "out.parquet", names=["a"])
    assert b"person" not in path.read_bytes()
    assert pd.read_parquet(path).columns.tolist() == ["a"]


def test_several_files_become_one_in_the_wider_type(tmp_path, copies):
    folder = tmp_path / "in"
    for year, kind in ((2020, pa.int32()), (2021, pa.int64())):
        (folder / f"year={year}").mkdir(parents=True)
        table = pa.table({"a": pa.array([year, 1], kind)})
        pq.write_table(table, folder / f"year={year}" / "part.parquet")
    found = pq.read_table(copies.write(folder, tmp_path / "out.parquet"))
    assert found.schema.field("a").type == pa.int64()
    assert sorted(found.to_pydict()["a"]) == [1, 1, 2020, 2021]
    assert sorted(map(int, found.to_pydict()["year"])) == [2020, 2020, 2021, 2021]


def test_groups_are_bounded_however_rows_come(tmp_path, copies):
    table = pa.table({"a": np.arange(300_000)})
    source = written(table, tmp_path / "in.parquet")
    path = copies.write(source, tmp_path / "out.parquet", batch=50_000)
    about = pq.ParquetFile(path).metadata
    assert max(about.row_group(i).num_rows for i in range(about.num_row_groups)) <= 1 << 17
    assert pq.read_table(path).column("a").to_pylist() == list(range(300_000))


def test_the_text_of_a_csv_file_stays_text(tmp_path, copies):
    source = tmp_path / "in.csv"
    source.write_text("code,n\n01,5\n,6\n")
    found = pq.read_table(copies.write(source, tmp_path / "out.parquet"))
    assert found.to_pydict() == {"code": ["01", None], "n": ["5", "6"]}


def test_from_one_to_the_other(tmp_path, copies):
    source = written(TABLE, tmp_path / "in.parquet")
    for ending in ("feather", "arrow"):
        found = read(copies.write(source, tmp_path / f"out.{ending}"))
        assert found.to_pylist() == TABLE.to_pylist()
        back = read(copies.write(tmp_path / f"out.{ending}", tmp_path / "back.parquet"))
        assert back.schema.equals(TABLE.schema)


def test_an_arrow_stream_can_be_the_source(tmp_path, copies):
    source = tmp_path / "in.arrow"
    with pa.ipc.new_stream(source, TABLE.schema) as stream:
        stream.write_table(TABLE)
    assert read(copies.write(source, tmp_path / "out.arrow")).equals(TABLE)


def test_values_of_another_kind_are_refused(tmp_path, copies):
    source = written(pa.table({"a": [1, 2]}), tmp_path / "in.parquet")
    with pytest.raises(OutputError, match="column 'a' must be of int64 in every file"):
        copies.write(source, tmp_path / "out.parquet", changed={"a": ["confidential", None]})
