"""What was counted, kept in a folder so that a run that was stopped goes on from there.

It is found again by a fingerprint of the files, of what was asked of them, and of the programs that
counted. Of a CSV or Parquet file that is its name, place on the disk, size and times of the last
change, of which no copy has all; of others, such as a sheet of Excel, it is what stands in the
columns. Whoever can read the folder can read the codes of all records: it is readable by its owner
alone, and stays until it is removed.
"""

import hashlib
import io
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb

from discreet.data.records import ArrowScan, Scan
from discreet.engines.contract import Request
from discreet.errors import InputError, OutputError, must_be

DATABASE = "counted.duckdb"
KEPT_TABLES = ("staged", "counted")


def kept_folder(parent: Path, request: Request) -> Path:
    """The folder for this request below `parent`, made if it is not there."""
    if not request.records.files:
        rule = "given with files, which can be told again"
        raise InputError(must_be("keep", rule, request.records.name))
    folder = parent / _fingerprint(request)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        name = f"folder {str(parent)!r}"
        raise OutputError(must_be(name, "a folder to write to", error.strerror)) from error
    return folder


def opened(folder: Path, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """The database of the folder; raises InputError where another run has it open, or where it is
    no database any more."""
    name = f"kept folder {folder.name!r}"
    try:
        return duckdb.connect(str(folder / DATABASE), config=config)
    except duckdb.Error as error:
        here = isinstance(error, duckdb.ConnectionException | duckdb.BinderException)
        if (
            here or "could not set lock" in str(error).lower()
        ):  # a run in this process, or in another
            rule, got = "used by one run at a time", "another that uses it"
            raise InputError(must_be(name, rule, got)) from error
        unreadable = isinstance(error, duckdb.IOException | duckdb.SerializationException)
        if not unreadable and "corrupt database file" not in str(error).lower():
            raise
        rule, got, remedy = "as a run left it", "a damaged database", "remove it"
        raise InputError(must_be(name, rule, got, remedy=remedy)) from error


def tidied(con: duckdb.DuckDBPyConnection) -> None:
    """Leave nothing in the database but the tables that another run goes on from."""
    for (table,) in con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE NOT temporary"
    ).fetchall():
        if table not in KEPT_TABLES:
            quoted = table.replace('"', '""')
            con.execute(f'DROP TABLE IF EXISTS "{quoted}"')


def _fingerprint(request: Request) -> str:
    records = request.records
    files = [(str(path.resolve()), _stamp(path)) for path in records.files]
    named = (*request.keys, *request.sensitive)
    asked = (
        request.keys, request.weight, request.missing.name, request.codes, request.sensitive,
        request.household, request.carry, request.decimal,
    )  # fmt: skip
    scan = records.scan(request.positions, request.codes.values(named, records.value_labels))
    told = (files, asked, _told_of(scan), version("duckdb"), version("discreet"))
    return hashlib.sha256(repr(told).encode()).hexdigest()[:24]


def _told_of(scan: Scan) -> str:
    """A scan in words; of a table what stands in it, since its words would leave out most."""
    if not isinstance(scan, ArrowScan):
        return repr(scan)
    import pyarrow as pa

    digest = hashlib.sha256()
    with pa.ipc.new_stream(pa.PythonFile(_Hashed(digest), "w"), scan.table.schema) as stream:
        stream.write_table(scan.table)
    return digest.hexdigest()


class _Hashed(io.RawIOBase):
    """A file whose bytes are hashed and not kept."""

    def __init__(self, digest: Any) -> None:
        self.digest = digest

    def writable(self) -> bool:
        """That it is."""
        return True

    def write(self, data: Any) -> int:
        """Take some bytes."""
        self.digest.update(data)
        return memoryview(data).nbytes


def _stamp(path: Path) -> tuple[int, ...]:
    """Size and times of a file. The time of its entry on the disk cannot be set by a copy."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
