"""What is kept of a run, and when it is taken up again."""

import os
import shutil
from types import SimpleNamespace

import duckdb
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.missing import missing_policy
from discreet.data.records import open_records
from discreet.engines.contract import Request
from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.duckdb_errors import translated
from discreet.errors import InputError, OutputError
from discreet.flows.assess import assess


def request_of(source, keys=("a", "b"), sheet=None, **more):
    records = open_records(source, sheet=sheet)
    return Request(records=records, keys=keys, missing=missing_policy("category"), **more)


def uniques(engine, request):
    with engine.count(request) as store:
        return store.cells.size_indices().sample_uniques


def csv_of(path, rows):
    path.write_text("a,b\n" + "\n".join(f"{a},{b}" for a, b in rows))
    return path


def test_what_was_counted_is_taken_up_again(tmp_path):
    path = csv_of(tmp_path / "s.csv", [("x", 1), ("y", 1), ("y", 1)])
    engine = DuckDBEngine(keep=tmp_path / "kept")
    assert uniques(engine, request_of(path)) == 1
    steps = []
    again = DuckDBEngine(keep=tmp_path / "kept", progress=lambda step, _: steps.append(step))
    assert uniques(again, request_of(path)) == 1
    assert "coding the records" not in steps
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_only_its_owner_may_look_into_it_and_nothing_else_stays(tmp_path):
    table = tmp_path / "s.csv"
    table.write_text("a,b,h,v\nx,1,1,u\ny,1,1,w\ny,1,2,u\n" * 40)
    engine = DuckDBEngine(keep=tmp_path / "kept")
    asked = {"household": "h", "sensitive": ["v"], "population": 10_000, "engine": engine}
    assess(table, ["a", "b"], **asked, population_file=None)
    folders = list((tmp_path / "kept").iterdir())
    assert len(folders) == 2  # by the keys, and by the keys and the household
    for folder in folders:
        assert folder.stat().st_mode & 0o777 == 0o700
        with duckdb.connect(folder / "counted.duckdb") as con:
            tables = {
                name for (name,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()
            }
        assert tables == {"staged", "counted"}


def test_a_file_that_was_changed_is_counted_again_even_with_its_old_time(tmp_path):
    path = csv_of(tmp_path / "s.csv", [("x", 1), ("y", 1), ("y", 1)])
    stamp = path.stat()
    engine = DuckDBEngine(keep=tmp_path / "kept")
    assert uniques(engine, request_of(path)) == 1
    csv_of(path, [("x", 1), ("y", 2), ("z", 1)])
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert path.stat().st_size == stamp.st_size
    assert uniques(engine, request_of(path)) == 3


def test_sheets_of_a_workbook_are_told_apart(tmp_path):
    book = openpyxl.Workbook()
    for name, odd in (("one", 0), ("two", 3)):
        sheet = book.create_sheet(name)
        sheet.append(["a", "b"])
        for row in range(200):
            sheet.append([row % 5 + (odd if row == 100 else 0) * 100, row % 2])
    book.save(tmp_path / "s.xlsx")
    engine = DuckDBEngine(keep=tmp_path / "kept")
    assert uniques(engine, request_of(tmp_path / "s.xlsx", sheet="one")) == 0
    assert uniques(engine, request_of(tmp_path / "s.xlsx", sheet="two")) == 1


def test_a_damaged_folder_is_told(tmp_path):
    path = csv_of(tmp_path / "s.csv", [("x", 1), ("y", 1)])
    engine = DuckDBEngine(keep=tmp_path / "kept")
    uniques(engine, request_of(path))
    (folder,) = (tmp_path / "kept").iterdir()
    (folder / "counted.duckdb").write_bytes(b"no database" * 2000)
    with pytest.raises(InputError, match="as a run left it, got a damaged database; remove it"):
        uniques(engine, request_of(path))
    shutil.rmtree(folder)
    assert uniques(engine, request_of(path)) == 2


def test_damaged_blocks_are_no_other_run(tmp_path):
    path = tmp_path / "s.parquet"
    numbers = np.random.default_rng(1).integers(0, 10**6, 100_000)
    pq.write_table(pa.table({"a": numbers % 7, "b": numbers}), path)
    engine = DuckDBEngine(keep=tmp_path / "kept")
    uniques(engine, request_of(path))
    (folder,) = (tmp_path / "kept").iterdir()
    with (folder / "counted.duckdb").open("r+b") as database:
        end = database.seek(0, os.SEEK_END)
        at = database.seek(3 * 4096)
        database.write(b"\xff" * (end - at))
    with pytest.raises(InputError, match="as a run left it, got a damaged database; remove it"):
        uniques(engine, request_of(path))


def test_blocks_that_turn_out_damaged_later_are_not_said_of_the_file():
    said = "IO Error: Corrupt database file: computed checksum 1 does not match stored checksum 2"
    match = "what is kept of s must be as a run left it"
    with pytest.raises(InputError, match=match), translated("s"):
        raise duckdb.IOException(said)


def test_a_key_may_have_many_levels(tmp_path):
    """Each level once cost as much as all: 300,000 of them took minutes."""
    path = tmp_path / "s.parquet"
    pq.write_table(pa.table({"a": np.arange(300_000) * 7919, "b": np.arange(300_000) % 2}), path)
    assert uniques(DuckDBEngine(), request_of(path)) == 300_000


def test_two_runs_at_once_are_told(tmp_path):
    path = csv_of(tmp_path / "s.csv", [("x", 1), ("y", 1)])
    one, other = (DuckDBEngine(keep=tmp_path / "kept", threads=n) for n in (1, 2))
    with (
        one.count(request_of(path)),
        pytest.raises(InputError, match="must be used by one run at a time"),
        other.count(request_of(path)),
    ):
        pass


def test_a_misspelt_column_is_told_by_its_role(tmp_path):
    path = csv_of(tmp_path / "s.csv", [("x", 1), ("y", 1)])
    engine = DuckDBEngine(keep=tmp_path / "kept")
    with pytest.raises(InputError, match="sensitive"):
        uniques(engine, request_of(path, keys=("a",), sensitive=("c",)))


def test_frames_cannot_be_told_again(tmp_path):
    frame = pa.table({"a": [1, 2], "b": np.arange(2)})
    with pytest.raises(InputError, match="keep must be given with files"):
        uniques(DuckDBEngine(keep=tmp_path / "kept"), request_of(frame))


@pytest.mark.parametrize("full", ["temporary", "keep"])
def test_each_folder_must_have_room_for_what_goes_there(tmp_path, monkeypatch, full):
    """Coded records go to the kept folder, all else to the temporary one."""
    folders = {name: tmp_path / name for name in ("temporary", "keep")}
    for folder in folders.values():
        folder.mkdir()
    free = {str(folder): 0 if name == full else 10**12 for name, folder in folders.items()}
    monkeypatch.setattr(
        "discreet.engines.duckdb_counting.shutil.disk_usage",
        lambda folder: SimpleNamespace(free=free[str(folder)]),
    )
    path = tmp_path / "s.parquet"
    pq.write_table(pa.table({"a": np.arange(2_000_000) % 7}), path)
    engine = DuckDBEngine(memory="1MB", **folders)
    kind = {"temporary": "temporary", "keep": "kept"}[full]
    told = rf"{kind} folder .* must be one with 0\.\d GB free .*another folder \({full}\)"
    with pytest.raises(OutputError, match=told), engine.count(request_of(path, ("a",))):
        pass
