"""Files of counts for the command line: one table, one table a category, or released sets."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.options import csv_from
from discreet.errors import InputError, MissingError, must_be

if TYPE_CHECKING:
    from discreet.data.csv_dialect import CsvOptions
    from discreet.data.table import Table

LARGEST_VALUE = 1_000_000
LARGEST_TOTAL = 10**300
LONGEST = 40  # characters of what was typed that a complaint repeats
SET_COLUMNS = ("n", "s1", "s2")
Levels = tuple[str, ...]
Counts = dict[int, int]
ReleasedSet = tuple[int | None, int, str]  # n (None where withheld), S1, and S2 as it was written


def read_counts(file: str, options: Mapping[str, Any], progress: Any) -> tuple[str, Counts]:
    """Where a table {value: count} of a column comes from, and the table."""
    source, tables = read_by_category(file, options, progress)
    return source, tables[()]


def read_by_category(
    file: str, options: Mapping[str, Any], progress: Any
) -> tuple[str, dict[Levels, Counts]]:
    """The table {value: count} of each combination of the --by columns, in order of levels."""
    records = _opened(file, options)
    by, count = options["by"] or (), options["count"]
    rest = [name for name in records.column_names if name != count and name not in by]
    column = options["column"] or _only_column(rest)
    if column in by or column == count:
        raise InputError(must_be("--column", "no column of --by or --count", repr(column)))
    table = _table(records, [column, *by], options, progress)
    values = [_value(column, label) for label in table.levels[0]]
    found: dict[Levels, Counts] = {}
    for cell, number in zip(table.cells.tolist(), table.counts.tolist(), strict=True):
        levels = tuple(table.levels[i][level] for i, level in enumerate(cell) if i)
        own = found.setdefault(levels, {})
        own[values[cell[0]]] = own.get(values[cell[0]], 0) + number
    return f"{records.name}, column {column}", dict(sorted(found.items()))


def read_sets(
    file: str, options: Mapping[str, Any], progress: Any
) -> tuple[str, tuple[str, ...], dict[Levels, ReleasedSet]]:
    """The released sets of a file: its name, the category columns, and a set for each category.

    The file has columns n, s1 and s2 in capitals or not; all others (or those of --by) name the
    category. n may be empty where it is withheld.
    """
    records = _opened(file, options)
    places = {name.casefold(): name for name in records.column_names}
    lacking = [name for name in SET_COLUMNS if name not in places]
    if lacking:
        rule = "a file with columns n, s1 and s2"
        raise InputError(must_be("--sets", rule, f"one without {lacking[0]!r}"))
    own = [places[name] for name in SET_COLUMNS]
    by = options["by"] or tuple(name for name in records.column_names if name not in own)
    if not by:
        rule = "a file with columns for the categories beside n, s1 and s2"
        raise InputError(must_be("--sets", rule, "none", remedy="--n, --s1 and --s2 take one set"))
    table = _table(records, [*by, *own], {**options, "missing": "category"}, progress)
    sets: dict[Levels, ReleasedSet] = {}
    for cell, number in zip(table.cells.tolist(), table.counts.tolist(), strict=True):
        labels = [table.levels[i][level] for i, level in enumerate(cell)]
        levels = tuple(labels[:-3])
        if levels in sets or number > 1:
            raise InputError(must_be("--sets", "a file with each category once", repr(levels)))
        sets[levels] = _released(labels[-3:])
    return records.name, tuple(by), dict(sorted(sets.items()))


def parse_s2(text: str, total: int, *, truncated: bool = False) -> Any:
    """S2 as typed, exact or a decimal, not above log S1!, the most that a total of S1 allows."""
    from discreet.count_tables.notation import parse_log_factorial_total
    from discreet.count_tables.statistics import DecimalLog

    found = parse_log_factorial_total(text, truncated=truncated)
    most = math.lgamma(max(total, 0) + 1) if total < LARGEST_TOTAL else math.inf
    if isinstance(found, DecimalLog) and found.value > most + 1 and total > 0:
        rule = f"at most {most:.2f}, which is log {total}!, for a total of {total}"
        remedy = "a product such as 2^20*3^7 is e^S2, a decimal such as 21.55 is S2"
        raise InputError(must_be("S2", rule, short(text), remedy=remedy))
    return found


def short(text: str) -> str:
    """What was typed, cut where it is long."""
    return repr(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")


def _released(labels: Sequence[str]) -> ReleasedSet:
    n, total, s2 = (label.strip() for label in labels)
    known = None if n in ("", "(missing)") else _whole("n of --sets", n)
    return known, _whole("s1 of --sets", total), s2


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(must_be(name, "whole numbers", short(text))) from None


def _csv(options: Mapping[str, Any]) -> "CsvOptions":
    return csv_from(options["delimiter"], options["quote"], options["encoding"], None)


def _opened(file: str, options: Mapping[str, Any]) -> Any:
    from discreet.data.records import open_records
    from discreet.data.writing import check_outputs

    records = open_records(file, _csv(options))
    if options["report"] is not None:
        check_outputs([options["report"]], list(records.files), list(records.parts))
    return records


def _table(
    records: Any, columns: Sequence[str], options: Mapping[str, Any], progress: Any
) -> "Table":
    from discreet.engines.table_reading import read_table

    missing = options["missing"] or "error"
    settings: Any = {"count": options["count"], "missing": missing, "csv": _csv(options)}
    try:
        return read_table(records, columns, **settings, progress=progress)
    except MissingError as lacking:
        names = " and ".join(repr(name) for name in columns)
        remedy = "--missing drop leaves them out"
        rule = "filled in every row"
        said = must_be(f"column {names}", rule, "rows without a value", remedy=remedy)
        raise MissingError(said) from lacking


def _only_column(names: Sequence[str]) -> str:
    if len(names) != 1:
        listed = ", ".join(repr(name) for name in names[:8])
        raise click.UsageError(f"--column must be one of {listed}, got none")
    return names[0]


def _value(column: str, label: str) -> int:
    """A level as a whole number; what it is instead stays in the agency."""
    try:
        number = float(label)
    except ValueError:
        number = -1.0
    if not (number >= 0 and number == number // 1):
        rule = "of whole numbers from 0"
        raise InputError(must_be(f"column {column!r}", rule, "something else"))
    if number > LARGEST_VALUE:
        rule = f"of values up to {LARGEST_VALUE:,}"
        raise InputError(must_be(f"column {column!r}", rule, "a larger one"))
    return int(number)
