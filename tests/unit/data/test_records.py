"""Opening a source reads its names and nothing else, and says clearly what it cannot open."""

import datetime
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from discreet.data.records import ArrowScan, CsvScan, ParquetScan, open_records
from discreet.errors import ColumnError, FileError, InputError

TABLE = pa.table({"a": [1, 2, 2], "b": ["x", "y", None]})


def values(source, *columns):
    """The named columns as lists, for a source that is scanned as Arrow."""
    records = open_records(source)
    scan = records.scan(records.find("keys", columns))
    assert isinstance(scan, ArrowScan)
    return [column.to_pylist() for column in scan.table.columns]


@pytest.mark.parametrize(
    "frame",
    [
        TABLE,
        TABLE.to_batches()[0],
        pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]),
        TABLE.to_pandas(),
        TABLE.to_pandas().set_index("a", drop=False),
        pl.DataFrame(TABLE.to_pydict()),
    ],
    ids=["table", "batch", "chunks", "pandas", "index", "polars"],
)
def test_frames_are_read_in_the_order_asked(frame):
    assert open_records(frame).column_names == ("a", "b")
    assert values(frame, "b", "a") == [["x", "y", None], [1, 2, 2]]


def test_a_relation_is_read_in_the_order_asked():
    with duckdb.connect() as con:
        relation = con.sql("SELECT * FROM (VALUES (1, 'x'), (2, 'y'), (2, NULL)) AS t(a, b)")
        assert open_records(relation).column_names == ("a", "b")
        assert values(relation, "b", "a") == [["x", "y", None], [1, 2, 2]]


def test_records_are_passed_through():
    records = open_records(TABLE)
    assert open_records(records) is records


@pytest.mark.parametrize("name", ["column_names", "columns", "iloc", "to_arrow_table", "schema"])
def test_a_pandas_column_named_like_an_attribute(name):
    frame = pd.DataFrame({name: ["secret", "x", "x"], "b": [1, 2, 3]})
    assert open_records(frame).column_names == (name, "b")
    assert values(frame, name) == [["secret", "x", "x"]]


def test_pandas_columns_that_are_no_text_are_called_by_their_text():
    frame = pd.DataFrame({0: [1, 2], 1: [3, 4], ("x", "y"): [5, 6]})
    assert open_records(frame).column_names == ("0", "1", "('x', 'y')")
    assert values(frame, "1") == [[3, 4]]


def test_only_the_wanted_columns_of_pandas_are_converted():
    frame = pd.DataFrame({"a": [1, 2], "mixed": pd.Series([1, "x"], dtype=object)})
    assert values(frame, "a") == [[1, 2]]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, "secret"], dtype=object),
        pd.Series([2**70, 1], dtype=object),
        pd.Series(["\udcff", "x"], dtype=object),
        pd.Series([1j, 2j]),
        pd.Series([object(), object()]),
    ],
    ids=["mixed", "huge", "surrogate", "complex", "objects"],
)
def test_pandas_columns_without_a_single_type_are_refused(column):
    records = open_records(pd.DataFrame({"a": column}))
    with pytest.raises(ColumnError) as caught:
        records.scan([0])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("source", [5, None, [1, 2], {"a": [1]}, b"s.csv"])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(InputError, match="source must be a path, a pandas or polars frame"):
        open_records(source)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nowhere.csv", "file must be one that exists, got 'nowhere.csv'"),
        ("nowhere*.parquet", "file must be one that exists, got 'nowhere*.parquet'"),
        ("", "file must be"),
        ("a\x00b.csv", "file must be one that exists"),
        ("x" * 5000 + ".csv", "must be"),
        ("x/" * 3000 + "s.csv", "must be"),
        ("s.csv/x.csv", "file must be one that exists"),
        (
            "s.doc",
            "file must be CSV, Parquet, Arrow/Feather, Excel, Stata, SPSS or SAS, by its ending",
        ),
        ("plain", "by its ending, got 'plain'"),
        ("fifo", "file must be a regular file"),
        ("empty", "got the folder 'empty' without any"),
        (".", "got the folder '.' without any; name one of its files, such as 's.csv'"),
    ],
)
def test_paths_that_cannot_be_opened(tmp_path, monkeypatch, given, message):
    import os

    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text("a\n1\n")
    (tmp_path / "s.doc").write_text("a\n1\n")
    (tmp_path / "plain").write_text("a\n1\n")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(FileError) as caught:
        open_records(given)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 12_000


def test_a_folder_that_may_not_be_looked_into(tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "s.parquet").touch()
    plain = Path.is_file

    def refuse(path):
        if path.suffix == ".parquet":
            raise PermissionError(13, "Permission denied")
        return plain(path)

    monkeypatch.setattr(Path, "is_file", refuse)
    with pytest.raises(FileError, match="folder .* must be readable, got Permission denied"):
        open_records(tmp_path)


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "s.csv"
    path.write_text("a\n1\n")

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileError, match="s.csv.* must be .*readable.*, got Permission denied"):
        open_records(path)


@pytest.mark.parametrize("name", ["s.csv", "S.CSV", "s.tsv", "s.tab", "s.txt", "s.csv.gz"])
def test_endings_of_csv(tmp_path, name):
    import gzip

    content = b"a,b\n1,2\n"
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    records = open_records(tmp_path / name)
    assert records.column_names == ("a", "b")
    assert records.files == (tmp_path / name,)
    scan = records.scan([1])
    assert isinstance(scan, CsvScan)
    assert scan.positions == (1,)


class TestArrowFiles:
    @pytest.mark.parametrize("kind", ["file", "stream", "feather"])
    def test_every_kind_is_read(self, tmp_path, kind):
        path = write_arrow(tmp_path, kind)
        assert open_records(path).column_names == ("a", "b")
        assert values(path, "b", "a") == [["x", "y", None], [1, 2, 2]]

    @pytest.mark.parametrize("kind", ["file", "stream", "feather"])
    @pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.5, 0.8, 0.98])
    def test_a_cut_file_is_refused(self, tmp_path, kind, share):
        path = write_arrow(tmp_path, kind)
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(FileError, match=r"s.arrow must be a readable Arrow .* truncated"):
            open_records(path).scan([0])

    def test_another_kind_of_file_is_refused(self, tmp_path):
        (tmp_path / "s.feather").write_text("a,b\nsecret,2\n")
        with pytest.raises(FileError, match="s.feather must be a readable Arrow or Feather file"):
            open_records(tmp_path / "s.feather")


def write_arrow(folder, kind):
    path = folder / "s.arrow"
    if kind == "feather":
        pyarrow.feather.write_feather(TABLE, path)
        return path
    maker = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with maker(path, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return path


class TestParquet:
    def test_columns_that_differ_only_in_case_are_refused_where_they_are_wanted(self, tmp_path):
        path = tmp_path / "s.parquet"
        pq.write_table(pa.table({"a": [1], "A": [2], "b": [3]}), path)
        records = open_records(path)
        assert records.find("keys", ["A", "a"]) == (1, 0)
        assert isinstance(records.scan([2]), ParquetScan)
        with pytest.raises(ColumnError, match="'a' and another that differs only in capitals"):
            records.scan([0])

    @pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
    def test_a_cut_file_is_refused(self, tmp_path, share):
        path = tmp_path / "s.parquet"
        pq.write_table(TABLE, path)
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(FileError, match="s.parquet must be a readable Parquet file, got one"):
            open_records(path)

    def test_a_folder_is_its_files_in_order_without_the_hidden(self, tmp_path):
        (tmp_path / "deep").mkdir()
        (tmp_path / "_delta_log").mkdir()
        names = ["b.parquet", "a.pq", "deep/c.parquet", ".x.parquet", "_delta_log/y.parquet"]
        for name in names:
            pq.write_table(TABLE, tmp_path / name)
        (tmp_path / "_SUCCESS").touch()
        found = open_records(tmp_path)
        assert sorted(p.name for p in found.files) == ["a.pq", "b.parquet", "c.parquet"]
        assert list(found.files) == sorted(found.files)

    def test_folders_named_like_files_are_entered(self, tmp_path):
        (tmp_path / "x.parquet").mkdir()
        pq.write_table(TABLE, tmp_path / "x.parquet" / "part-0.parquet")
        for given in (tmp_path, tmp_path / "x.parquet", str(tmp_path / "*.parquet")):
            records = open_records(given)
            assert [path.name for path in records.files] == ["part-0.parquet"]

    def test_files_must_share_the_wanted_columns(self, tmp_path):
        pq.write_table(TABLE, tmp_path / "a.parquet")
        pq.write_table(TABLE.select(["a"]), tmp_path / "b.parquet")
        records = open_records(tmp_path)
        assert isinstance(records.scan([0]), ParquetScan)
        with pytest.raises(ColumnError, match="alike in their columns, got b.parquet without 'b'"):
            records.scan([1])

    @pytest.mark.parametrize(
        ("column", "levels"),
        [
            ([1.5, 2.0], {"1", "1.5", "2"}),
            (["x", "2"], {"1", "2", "x"}),
            ([True, False], {"1", "2", "true", "false"}),
            ([datetime.date(2020, 1, 1)] * 2, {"1", "2", "2020-01-01"}),
        ],
        ids=["floats", "text", "booleans", "dates"],
    )
    def test_a_column_of_other_type_in_another_file_never_changes_a_value(
        self, tmp_path, column, levels, count
    ):
        pq.write_table(pa.table({"a": [1, 2], "b": [1, 2]}), tmp_path / "a.parquet")
        pq.write_table(pa.table({"a": column, "b": [1, 2]}), tmp_path / "b.parquet")
        assert count(tmp_path, ["b"]).n_records == 4
        try:
            (key,) = count(tmp_path, ["a"]).keys
        except ColumnError as error:
            assert "Parquet files must be alike" in str(error)
        else:
            assert set(key.values) == levels

    def test_a_damaged_file_among_good_ones_is_named(self, tmp_path):
        pq.write_table(TABLE, tmp_path / "a.parquet")
        (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
        with pytest.raises(FileError, match="b.parquet must be a readable Parquet file"):
            open_records(tmp_path).scan([0])

    def test_a_glob_that_matches_other_files_is_refused(self, tmp_path):
        (tmp_path / "s.csv").write_text("a\n1\n")
        with pytest.raises(FileError, match="s.csv must be a readable Parquet file"):
            open_records(str(tmp_path / "*.csv"))


class TestHive:
    def write(self, folder, *partitions, table=TABLE):
        for partition in partitions:
            (folder / partition).mkdir(parents=True)
            pq.write_table(table, folder / partition / "part.parquet")

    def levels(self, cells):
        return {key.name: key.values for key in cells.keys}

    def test_partitions_are_columns(self, tmp_path, count):
        self.write(tmp_path, "year=2020/Region=n s", "year=2020/Region=w", "year=2021/Region=w")
        assert open_records(tmp_path).column_names == ("a", "b", "year", "Region")
        cells = count(tmp_path, ["Region", "year"])
        assert self.levels(cells) == {"Region": ("n s", "w"), "year": ("2020", "2021")}
        assert cells.cells.size_indices().to_json() == {"3": 3}

    @pytest.mark.parametrize("pattern", ["", "*/*.parquet"])
    def test_a_single_file_has_its_partition_too(self, tmp_path, count, pattern):
        self.write(tmp_path, "year=2020")
        source = str(tmp_path / pattern) if pattern else tmp_path
        assert self.levels(count(source, ["year"])) == {"year": ("2020",)}

    def test_values_keep_their_zeros_and_their_escapes(self, tmp_path, count):
        self.write(tmp_path, "p=01", "p=1", "p=a%2Fb")
        assert self.levels(count(tmp_path, ["p"])) == {"p": ("01", "1", "a/b")}
        again = tmp_path / "numbers"
        self.write(again, "p=01", "p=1")
        assert self.levels(count(again, ["p"])) == {"p": ("01", "1")}

    def test_the_default_partition_is_missing(self, tmp_path, count):
        self.write(tmp_path, "p=x", "p=__HIVE_DEFAULT_PARTITION__")
        (key,) = count(tmp_path, ["p"]).keys
        assert (key.values, key.n_missing) == (("x", None), 3)

    def test_a_column_in_the_file_wins_over_its_folder(self, tmp_path, count):
        self.write(tmp_path, "a=7", "a=8")
        assert self.levels(count(tmp_path, ["a"])) == {"a": ("1", "2")}


def test_numpy_numbers_stay_numbers():
    frame = pd.DataFrame({"a": np.array([1, 2], dtype=np.int8)})
    assert values(frame, "a") == [[1, 2]]
