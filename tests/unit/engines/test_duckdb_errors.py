"""DuckDB's complaints come in our words, and no word of a record passes."""

import duckdb
import pytest

from discreet.engines.duckdb_errors import translated
from discreet.errors import FileError, InputError, Interrupted, OutputError

SECRET = "out of memory; no space left; unicode; quote; expected number of columns"


def raised(kind, message, expected):
    with pytest.raises(expected) as caught, translated("s.csv"):
        raise kind(message)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "message", "expected", "part"),
    [
        (duckdb.IOException, "IO Error: x: No space left on device", OutputError, "space"),
        (duckdb.OutOfMemoryException, "Out of Memory Error: failed", InputError, "memory"),
        (duckdb.IOException, "IO Error: could not read", FileError, "s.csv must be a readable"),
        (duckdb.Error, "", FileError, "s.csv must be a readable"),
    ],
)
def test_kinds_of_trouble(kind, message, expected, part):
    assert part in raised(kind, message, expected)


def test_the_users_interruption_is_no_error_of_the_file():
    raised(duckdb.InterruptException, "INTERRUPT Error: Interrupted!", Interrupted)


def test_other_errors_pass():
    with pytest.raises(ZeroDivisionError), translated("s.csv"):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (f"a,b\n1,2\n{SECRET},2,3\n", ["as many fields on each line as in the header", "line 3"]),
        (f"a,b\n1,2\n{SECRET}\n", ["as many fields on each line as in the header", "line 3"]),
        (f'a,b\n1,2\n"{SECRET},2\n', ["well quoted", "line 3"]),
        (f"a,b\n1,2\n{SECRET},\xff\n".encode("latin-1"), ["text in utf-8", "line 3"]),
        (f"a,b\n1,2\n{SECRET},{'x' * 3_000_000}\n", ["lines of at most 2 MB", "line 3"]),
    ],
    ids=["long", "short", "quote", "bytes", "line"],
)
def test_a_record_that_reads_like_an_error_changes_nothing(tmp_path, count, content, parts):
    path = tmp_path / "s.csv"
    head = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(head)
    with pytest.raises(FileError) as caught:
        count(path, ["a", "b"])
    assert SECRET not in str(caught.value)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_lines_that_end_differently_are_read_or_named(tmp_path, count):
    (tmp_path / "s.csv").write_bytes(b"a,b\r\n1,x\n2,y\r\n1,x\n")
    try:
        assert count(tmp_path / "s.csv", ["a", "b"]).size_indices().to_json() == {"1": 1, "2": 1}
    except FileError as error:
        assert "line ends" in str(error)
