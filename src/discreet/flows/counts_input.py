"""What is given as counts, in whatever form Python has it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from discreet.count_tables.statistics import DecimalLog
from discreet.data.csv_dialect import CsvOptions
from discreet.errors import InputError, MissingError, must_be
from discreet.option_types import a_kind
from discreet.progress import Progress

WRITTEN = re.compile(r"[\d\s:,;+.-]*")
ONE = "a table of counts, or s1 and s2 (with n unless it is withheld), or sets"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a file or a frame of counts is read."""

    column: str | None = None
    by: tuple[str, ...] = ()
    count: str | None = None
    missing: str | None = None
    csv: CsvOptions | None = None
    sheet: str | None = None

    def refuse(self, what: str, *, but: tuple[str, ...] = ()) -> None:
        """No option of reading is given where nothing is read."""
        for field in fields(self):
            if field.name not in but and getattr(self, field.name) not in (None, ()):
                got = f"it with {what}"
                raise InputError(must_be(field.name, "given with a file or a frame", got))


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One of these: three statistics, one table, the tables of categories, or their sets."""

    statistics: tuple[Any, Any, Any] | None = None
    table: Any = None
    tables: Any = None
    sets: Any = None
    by: tuple[str, ...] = ()


def told_of(
    source: Any, n: Any, s1: Any, s2: Any, sets: Any, reading: Reading, progress: Progress
) -> Told:
    """What was given, read where it is a file or a frame; raises InputError for more than one."""
    statistics = (n, s1, s2)
    given = [
        name
        for name, there in (
            ("source", source is not None),
            ("s1 and s2", any(one is not None for one in statistics)),
            ("sets", sets is not None),
        )
        if there
    ]
    if len(given) != 1:
        raise InputError(must_be("counts", ONE, " and ".join(given) or "none"))
    if sets is not None:
        return _of_sets(sets, reading, progress)
    if source is not None:
        return _of_source(source, reading, progress)
    reading.refuse("statistics")
    check_statistics(*statistics)
    return Told(statistics=statistics)


def _of_sets(sets: Any, reading: Reading, progress: Progress) -> Told:
    if isinstance(sets, Mapping):
        reading.refuse("a dict", but=("by",))
        return Told(sets=sets, by=reading.by)
    from discreet.count_tables.reading import read_sets
    from discreet.data.records import open_records

    Reading(column=reading.column, count=reading.count, missing=reading.missing).refuse("sets")
    records = open_records(sets, reading.csv, reading.sheet)
    by, found = read_sets(records, by=reading.by, csv=reading.csv, progress=progress)
    return Told(sets=found, by=by)


def _of_source(source: Any, reading: Reading, progress: Progress) -> Told:
    if isinstance(source, Mapping):
        several = any(isinstance(one, Mapping) for one in source.values())
        reading.refuse("a dict", but=("by",) if several else ())
        return Told(tables=source, by=reading.by) if several else Told(table=source)
    from discreet.data.python_tables import is_series  # loads Arrow

    if is_series(source):
        reading.refuse("a Series")
        if source.isna().any():
            remedy = "leave them out with dropna()"
            raise MissingError(must_be("source", "without missing values", "some", remedy=remedy))
        return Told(table=source)
    if isinstance(source, str) and not is_file(source):
        from discreet.count_tables.notation import parse_counts

        reading.refuse("counts as text")
        return Told(table=parse_counts(source))
    if not isinstance(source, str | Path) and _is_plain(source):
        remedy = "give {value: count}, as collections.Counter makes it of values"
        got = f"{a_kind(source)}, which may hold values or counts"
        raise InputError(must_be("source", "a table of counts", got, remedy=remedy))
    return _read(source, reading, progress)


def _read(source: Any, reading: Reading, progress: Progress) -> Told:
    from discreet.count_tables.reading import read_tables
    from discreet.data.records import open_records

    _, tables = read_tables(
        open_records(source, reading.csv, reading.sheet),
        reading.column,
        by=reading.by,
        count=reading.count,
        missing=reading.missing or "error",
        csv=reading.csv,
        progress=progress,
    )
    return Told(tables=tables, by=reading.by) if reading.by else Told(table=tables[()])


def names_of(role: str, given: Any) -> tuple[str, ...]:
    """Names of columns, of which one may stand by itself."""
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, Iterable) or not all(isinstance(one, str) for one in listed):
        raise InputError(must_be(role, "names of columns", repr(given)))
    return tuple(listed)


def check_statistics(n: Any, s1: Any, s2: Any) -> None:
    """n and S1 are whole numbers, and S2 is of a kind that can be read."""
    for name, value in (("s1", s1), ("n", n)):
        if (value is None and name != "n") or not isinstance(value, int | np.integer | None):
            got = "none" if value is None else a_kind(value)
            raise InputError(must_be(name, "a whole number", got))
    if s2 is None:
        raise InputError(must_be("s2", "given with s1", "none"))
    if not isinstance(s2, str | DecimalLog | Mapping):
        rule = "a product such as '2^20*3^7' or a decimal such as '21.55', as text"
        remedy = "as text it shows how many decimals are out" if isinstance(s2, float) else None
        raise InputError(must_be("s2", rule, a_kind(s2), remedy=remedy))


def is_file(counts: str) -> bool:
    """A name of a file, and no table written out."""
    written = WRITTEN.fullmatch(counts) is not None
    return not written and (":" not in counts or Path(counts).exists())


def _is_plain(source: Any) -> bool:
    """A list or an array, which does not say what its numbers are."""
    return isinstance(source, Iterable) and not hasattr(type(source), "columns")
