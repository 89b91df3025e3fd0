"""A table from a file: counts in long form with a column of counts, or records to be counted."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.data.csv_dialect import CsvOptions
from discreet.data.missing import missing_policy
from discreet.data.python_tables import long_form
from discreet.data.records import open_records
from discreet.data.table import Table
from discreet.engines.contract import Engine, KeyLevels, Request
from discreet.engines.duckdb import DuckDBEngine
from discreet.errors import ColumnError, InputError, must_be
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, silent

LARGEST = 2**53


def read_table(
    source: Any,
    variables: Sequence[str] | None = None,
    *,
    count: str | None = None,
    missing: str = "category",
    csv: CsvOptions | None = None,
    sheet: str | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Table:
    """The table of a file or a frame by the given variables (by default all columns but the count).

    Also understood are counts as Python holds them: a crosstab (its totals are left out), a Series
    of counts or of values, a dict {level: count} or {(level, level): count} and an array, the last
    two with `variables` as their names. `sheet` is that of an Excel file, by default the first.

    With `count` every row is a cell, or a part of one, and that column says how many it holds; a
    level stays one of its variable even if all its counts are 0. Without, every row is a record.
    Rows without a value are a level of their own (missing `category`), left out (`drop`) or an
    error (`error`).

    Raises InputError for counts that are missing, negative or no whole numbers, naming the column
    only.
    """
    if not (variables is None or isinstance(variables, Iterable)):
        raise InputError(must_be("variables", "names of columns", repr(variables)))
    held = long_form(source, variables, count)
    if held is not None:
        source, variables, count = held.table, held.variables, held.count
    records = open_records(source, csv, sheet)
    names = tuple(variables or (name for name in records.column_names if name != count))
    if not names:
        raise InputError(must_be("variables", "at least one column", "none"))
    for name in names:
        if names.count(name) > 1:
            raise ColumnError(must_be("variables", "different columns", f"{name!r} twice"))
    if count in names:
        raise ColumnError(must_be("count", "no variable", repr(count)))
    policy = missing_policy(missing)
    if policy.matching is not None:
        rule = "category, drop or error, since a table counts each record once"
        raise InputError(must_be("missing", rule, repr(missing)))
    keys = names if count is None else (*names, count)
    request = Request(records=records, keys=keys, missing=policy)
    with (engine or DuckDBEngine(progress=progress)).count(request) as cells:
        words, rows = cells.words()
        levels = cells.coding.decode(words)
        counts = rows if count is None else rows * _numbers(cells.keys[-1])[levels[:, -1]]
        found = _table(names, cells.keys[: len(names)], levels[:, : len(names)], counts)
    return replace(found, types=records.types(names))


def _numbers(key: KeyLevels) -> IntArray:
    """The levels of the column of counts as whole numbers."""
    found = [_whole(value) for value in key.values]
    if key.n_missing or None in found:
        got = "a row without one" if key.n_missing else "something else"
        raise InputError(must_be(f"count {key.name!r}", "whole numbers from 0", got))
    return np.array(found, dtype=np.int64)


def _whole(value: str | None) -> int | None:
    try:
        number = float(value) if value is not None else -1.0
    except ValueError:
        return None
    return int(number) if 0 <= number < LARGEST and number == int(number) else None


def _table(
    names: tuple[str, ...], keys: Sequence[KeyLevels], levels: IntArray, held: IntArray
) -> Table:
    if float(held.astype(np.float64).sum()) >= LARGEST:
        raise InputError(must_be("counts", "below 2**53 in all", "more"))
    cells, place = np.unique(levels, axis=0, return_inverse=True)
    counts = np.zeros(len(cells), dtype=np.int64)
    np.add.at(counts, place.ravel(), held)
    occupied = counts > 0
    if not occupied.any():
        raise InputError(must_be("table", "of at least one count above 0", "none"))
    return Table(
        names=names,
        levels=tuple(key.labels for key in keys),
        cells=cells[occupied],
        counts=counts[occupied],
    )
