"""The ending of its name says what a protected copy becomes."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.data.output_columns import OutputColumn, rows_of
from discreet.data.record_output import check_can_write, record_output
from discreet.data.records import open_records
from discreet.errors import ColumnError, OutputError

WRITABLE = ["csv", "tsv", "tab", "txt", "csv.gz", "parquet", "pq", "arrow", "feather", "ipc"]
WRITABLE += ["xlsx", "dta", "sav", "zsav", "xpt", "CSV", "Parquet"]


@pytest.mark.parametrize("ending", WRITABLE)
def test_every_kind_that_can_be_written_is_read_back(tmp_path, copies, ending):
    check_can_write(tmp_path / f"out.{ending}")
    path = copies.write(pa.table({"a": [1, None], "t": ["x", "y"]}), tmp_path / f"out.{ending}")
    assert open_records(path).column_names == ("a", "t")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("x.sas7bdat", "; write .xpt, which SAS reads"),
        ("x.por", "; write .sav, which SPSS reads"),
        ("x.xls", "; write .xlsx"),
        ("x.xlsm", "; write .xlsx, which holds no macros"),
        ("x.ods", "; write .xlsx"),
        ("x.json", ""),
        ("x", ""),
        ("x.parquet.gz", ""),
    ],
)
def test_other_kinds_are_refused_with_what_can_be_written(tmp_path, name, remedy):
    with pytest.raises(OutputError) as caught:
        check_can_write(tmp_path / name)
    said = str(caught.value)
    assert said.startswith("output must be CSV, Parquet, Arrow/Feather, Excel (.xlsx), Stata")
    assert said.endswith(remedy)
    records = open_records(pa.table({"a": [1]}))
    with (
        pytest.raises(OutputError),
        record_output(tmp_path / name, records, [OutputColumn(name="a")], []),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "rule"), [(["b"], "columns must be a column of"), ([], "one or more")]
)
def test_columns_are_those_of_the_source(tmp_path, names, rule):
    records = open_records(pa.table({"a": [1]}))
    columns = [OutputColumn(name=name) for name in names]
    with (
        pytest.raises(ColumnError, match=rule),
        record_output(tmp_path / "x.csv", records, columns, []),
    ):
        pass


def test_what_must_be_carried(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("a,b,c\n1,2,3\n")
    columns = [OutputColumn(name=name) for name in "cab"]
    with record_output(tmp_path / "out.csv", open_records(source), columns, ["a"]) as output:
        assert output.carries == ("c", "b")
        output.write(np.arange(1), pa.table({"a": ["1"], "b": ["2"], "c": ["3"]}))
    table = open_records(pa.table({"a": [1], "b": [2], "c": [3]}))
    with record_output(tmp_path / "out.csv", table, columns, ["a"]) as output:
        assert output.carries == ()
        output.write(np.arange(1), pa.table({"a": [1]}))
    assert (tmp_path / "out.csv").read_text() == "c,a,b\n3,1,2\n"


def test_every_column_may_be_changed(tmp_path, copies):
    found = copies.write(
        pa.table({"a": [1, 2]}),
        tmp_path / "x.csv",
        changed={"a": ["p", None]},
        recoded={"a": ("p",)},
    )
    assert found.read_text() == 'a\np\n""\n'


@pytest.mark.parametrize("rows", [[0, 1, 2], [2, 1], [1, 3], [3], [], [2, 2, 0]])
def test_rows_of_a_table_in_any_order(rows):
    table = pa.table({"a": pa.chunked_array([[0, 1], [2, 3]])})
    assert rows_of(table, np.array(rows, dtype=np.int64)).column("a").to_pylist() == rows


def test_a_name_is_no_path_of_its_own():
    check_can_write(Path("folder.csv/x.dta"))
