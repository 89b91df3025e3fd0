"""What was counted, kept in a folder so that a run that was stopped goes on from there.

It is found again by a fingerprint of the files (name, size, time of the last change), of what was
asked of them, and of the programs that counted. Whoever can read the folder can read the codes of
all records: it is readable by its owner alone, and stays until it is removed.
"""

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb

from discreet.engines.contract import Request
from discreet.errors import InputError, OutputError, must_be

DATABASE = "counted.duckdb"


def kept_folder(parent: Path, request: Request) -> Path:
    """The folder for this request below `parent`, made if it is not there."""
    if not request.records.files:
        rule = "given with files, which can be told again"
        raise InputError(must_be("keep", rule, request.records.name))
    folder = parent / _fingerprint(request)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        name = f"folder {str(parent)!r}"
        raise OutputError(must_be(name, "a folder to write to", error.strerror)) from error
    return folder


def opened(folder: Path, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """The database of the folder; raises InputError where another run has it open."""
    try:
        return duckdb.connect(str(folder / DATABASE), config=config)
    except duckdb.IOException as error:
        rule, got = "used by one run at a time", "another that uses it"
        raise InputError(must_be(f"kept folder {folder.name!r}", rule, got)) from error


def _fingerprint(request: Request) -> str:
    records = request.records
    files = [(str(path.resolve()), _stamp(path)) for path in records.files]
    named = (*request.keys, *request.sensitive)
    positions = records.find("keys", named)
    asked = (
        request.keys, request.weight, request.missing.name, request.codes, request.sensitive,
        request.household, request.carry, request.decimal,
    )  # fmt: skip
    scan = records.scan(positions, request.codes.values(named, records.value_labels))
    told = (files, asked, repr(scan), version("duckdb"), version("discreet"))
    return hashlib.sha256(repr(told).encode()).hexdigest()[:24]


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
