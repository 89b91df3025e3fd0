"""The engine's own settings."""

import pyarrow as pa
import pytest

from discreet.data.missing import missing_policy
from discreet.data.records import open_records
from discreet.engines.contract import Request
from discreet.engines.duckdb import DuckDBEngine
from discreet.errors import InputError, OutputError

TABLE = pa.table({"a": [i % 1000 for i in range(100_000)]})


def n_cells(engine):
    records = open_records(TABLE)
    request = Request(records=records, keys=("a",), missing=missing_policy("category"))
    with engine.count(request) as cells:
        return cells.cells.n_cells


@pytest.mark.parametrize("options", [{}, {"memory": "500MB"}, {"memory": "0.5 GiB", "threads": 1}])
def test_settings_never_change_a_figure(options):
    assert n_cells(DuckDBEngine(**options)) == 1000


@pytest.mark.parametrize("memory", ["much", "", "-1GB", "0", "12", "GB", "1GB; DROP", "nanGB"])
def test_memory_that_is_no_size_is_refused(memory):
    with pytest.raises(InputError, match="memory must be a size such as '4GB', got"):
        n_cells(DuckDBEngine(memory=memory))


def test_too_little_memory_is_said(tmp_path):
    with pytest.raises(InputError, match="memory must be enough for the work"):
        n_cells(DuckDBEngine(memory="1KB", temporary=tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_below_one_are_refused(threads):
    with pytest.raises(InputError, match="threads must be"):
        n_cells(DuckDBEngine(threads=threads))


def test_a_temporary_folder_that_is_not_there(tmp_path):
    with pytest.raises(OutputError, match="temporary"):
        n_cells(DuckDBEngine(temporary=tmp_path / "nowhere"))


def test_nothing_is_left_in_the_temporary_folder(tmp_path):
    assert n_cells(DuckDBEngine(temporary=tmp_path)) == 1000
    assert list(tmp_path.iterdir()) == []


def test_the_temporary_folder_may_have_any_name(tmp_path):
    for name in ("it's", "a[1]", "x;y", "日 本", "a*"):
        (tmp_path / name).mkdir()
        (tmp_path / "s.csv").write_bytes("a\né\né\n".encode("latin-1"))
        from discreet.data.csv_dialect import CsvOptions

        records = open_records(tmp_path / "s.csv", CsvOptions(encoding="latin-1"))
        request = Request(records=records, keys=("a",), missing=missing_policy("category"))
        with DuckDBEngine(temporary=tmp_path / name).count(request) as cells:
            assert cells.keys[0].values == ("é",)


def test_no_bar_of_the_engine_is_printed(tmp_path):
    with DuckDBEngine()._connect(tmp_path) as con:
        shown = con.execute("SELECT current_setting('enable_progress_bar_print')").fetchone()
    assert shown == (False,)


@pytest.mark.parametrize(
    ("memory", "size"),
    [("1GB", 10**9), ("2 GiB", 2 * 2**30), ("512mb", 512 * 10**6), ("1.5TB", 1.5e12), ("9B", 9)],
)
def test_the_memory_is_that_of_the_whole_process(memory, size):
    engine = DuckDBEngine(memory=memory)
    assert engine._bytes() == size


def test_duckdb_gets_a_part_of_the_memory(tmp_path):
    with DuckDBEngine(memory="1GiB")._connect(tmp_path) as con:
        (limit,) = con.execute("SELECT current_setting('memory_limit')").fetchone()
    assert limit == "512.0 MiB"
