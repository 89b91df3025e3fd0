"""A table from a file: counts in long form with a column of counts, or records to be counted."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.data.csv_dialect import CsvOptions
from discreet.data.level_sums import Counted
from discreet.data.magnitudes import doubts_about
from discreet.data.missing import MissingPolicy, missing_policy
from discreet.data.python_tables import long_form
from discreet.data.records import Records, open_records
from discreet.data.table import Table
from discreet.data.total_names import Telling, telling
from discreet.data.totals import said_of, shown, total_levels, without
from discreet.data.whole_numbers import LARGEST, what_instead, whole
from discreet.engines.contract import CellStore, Engine, Request
from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.key_space import KeyLevels
from discreet.errors import ColumnError, InputError, must_be
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, silent

MOST_SEARCHED = 1_000_000  # rows that are searched for one without a proper count
FEW_LEVELS = 30  # of a column that is no variable, up to which one is looked at as a total


def read_table(
    source: Any,
    variables: Sequence[str] | None = None,
    *,
    count: str | None = None,
    missing: str = "category",
    totals: str | Sequence[str] = "find",
    persons: bool = False,
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
    error (`error`). Rows of totals beside the rows they sum are found and left out, which the
    table's `notes` say, unless `totals` is `keep`; what is a total and what is not can be said of
    single levels too, `['sex=Persons:leave-out', 'age=T:keep']`. Where the counts look like
    amounts, its `doubts` say why, unless they are confirmed to be `persons`.

    Raises InputError for counts that are missing, negative or no whole numbers, naming the column
    and the row, for rows that may be totals or not, and for rows that are named as totals and are
    none.
    """
    said = _said(totals)
    if not (variables is None or isinstance(variables, Iterable)):
        raise InputError(must_be("variables", "names of columns", repr(variables)))
    held = long_form(source, variables, count, keep_totals=said is None)
    if held is not None:
        source, variables, count = held.table, held.variables, held.count
    records = open_records(source, csv, sheet)
    names = tuple(variables or (name for name in records.column_names if name != count))
    if not names:
        raise InputError(must_be("variables", "at least one column", "none"))
    for name in names:
        if names.count(name) > 1:
            raise ColumnError(must_be("variables", "different columns", f"{name!r} twice"))
    if count is None:
        for name, given in (("persons", persons), ("totals", said != ())):
            if given:
                raise InputError(must_be(name, "given with a column of counts (count)", "none"))
    if count in names:
        raise ColumnError(must_be("count", "no variable", repr(count)))
    records.find("variables", names)
    records.find("count", [] if count is None else [count])
    if missing not in ("category", "drop", "error"):
        rule = "category, drop or error, since a table counts each record once"
        raise InputError(must_be("missing", rule, repr(missing)))
    policy = missing_policy(missing)
    engine = engine or DuckDBEngine(progress=progress)
    beside: tuple[str, ...] = ()
    if count is not None and said is not None:
        beside = _with_totals(records, [*names, count], policy, engine)
    keys = names if count is None else (*names, *beside, count)
    request = Request(records=records, keys=keys, missing=policy)
    with engine.count(request) as cells:
        every = cells.cells.held(cells.cells.n_cells)
        assert every is not None
        levels, rows = every.levels(), every.n_records
        n = len(names) + len(beside)
        own, by = cells.keys[:n], levels[:, :n]
        types = records.types(names)
        if count is None:
            return replace(_table(_counted(names, own, by, rows)), types=types)
        numbers = _numbers(cells, records)[levels[:, -1]]
        found = _counted((*names, *beside), own, by, rows * numbers)
        left_out = () if said is None else total_levels(found, said_of(found, said))
        table = replace(_table(found, left_out), types=types)
    if beside:
        table = replace(table.over(tuple(range(len(names)))), notes=table.notes, types=types)
    if persons:
        return table
    return replace(table, doubts=doubts_about(count, numbers, rows, len(found.cells)))


def _said(totals: Any) -> tuple[str, ...] | None:
    """What is said of single levels; None where all rows are kept."""
    given = (totals,) if isinstance(totals, str) else totals
    if not isinstance(given, Iterable) or not all(isinstance(one, str) for one in given):
        raise InputError(must_be("totals", "find, keep or what is said of levels", repr(totals)))
    listed = [one for one in given if one != "find"]
    if "keep" in listed and len(listed) > 1:
        raise InputError(must_be("totals", "keep, or what is said of levels", "both"))
    return None if "keep" in listed else tuple(listed)


def _with_totals(
    records: Records, taken: Sequence[str], policy: MissingPolicy, engine: Engine
) -> tuple[str, ...]:
    """Columns that are no variables here, but may have a level that is a total: its rows must not
    be added to the others."""
    found = []
    for name in records.column_names:
        if name not in taken:
            try:
                with engine.count(Request(records=records, keys=(name,), missing=policy)) as cells:
                    [key] = cells.keys
            except InputError:  # a column that cannot be a variable has no level that is a total
                continue
            told = any(telling(label) is not Telling.NOTHING for label in key.labels)
            if len(key.labels) > 1 and (
                told or None in key.values or len(key.labels) <= FEW_LEVELS
            ):
                found.append(name)
    return tuple(found)


def _numbers(cells: CellStore, records: Records) -> IntArray:
    """The levels of the column of counts as whole numbers."""
    key = cells.keys[-1]
    found = [whole(value) for value in key.values]
    if key.n_missing or None in found:
        bad = [value for value in key.values if whole(value) is None]
        got, where = what_instead(None if key.n_missing else bad[0]), None
        if cells.n_records + cells.n_dropped <= MOST_SEARCHED:
            column = cells.read_labels(records)[key.name]
            first = next(((i, x) for i, x in enumerate(column, 1) if whole(x) is None), None)
            if first is not None:
                where, got = f"row {first[0]:,}", what_instead(first[1])
        said = must_be(f"count {key.name!r}", "whole numbers from 0", got, where=where)
        raise InputError(said)
    return np.array(found, dtype=np.int64)


def _counted(
    names: tuple[str, ...], keys: Sequence[KeyLevels], levels: IntArray, held: IntArray
) -> Counted:
    """Each combination of levels once, with its count."""
    if float(held.astype(np.float64).sum()) >= LARGEST:
        raise InputError(must_be("counts", "below 2**53 in all", "more"))
    cells, place = np.unique(levels, axis=0, return_inverse=True)
    counts = np.zeros(len(cells), dtype=np.int64)
    np.add.at(counts, place.ravel(), held)
    return Counted(
        names=names,
        labels=tuple(key.labels for key in keys),
        missing=tuple(key.values.index(None) if None in key.values else None for key in keys),
        cells=cells,
        counts=counts,
    )


def _table(found: Counted, left_out: Sequence[tuple[int, int]] = ()) -> Table:
    """The occupied cells, without rows of totals."""
    rest = without(found, left_out)
    occupied = rest.counts > 0
    if not occupied.any():
        raise InputError(must_be("table", "of at least one count above 0", "none"))
    gone = [
        {level for v, level in left_out if v == variable} for variable in range(len(found.names))
    ]
    kept = [
        [i for i in range(len(labels)) if i not in own]
        for labels, own in zip(found.labels, gone, strict=True)
    ]
    every = rest.cells.copy()
    for variable, own in enumerate(kept):
        every[:, variable] = np.searchsorted(own, every[:, variable])
    cells = every[occupied]
    said = [shown(found, level) for level in left_out]
    note = f"rows of totals were left out, being sums of the other rows: {', '.join(said)}"
    return Table(
        names=found.names,
        levels=tuple(
            tuple(labels[i] for i in own) for labels, own in zip(found.labels, kept, strict=True)
        ),
        cells=cells,
        counts=rest.counts[occupied],
        empty=_rows_of_nobody(every[~occupied], cells),
        notes=(note,) if said else (),
    )


def _rows_of_nobody(empty: IntArray, occupied: IntArray) -> IntArray:
    """Rows of 0 of a level that nobody has."""
    alone = [
        ~np.isin(empty[:, variable], occupied[:, variable]) for variable in range(empty.shape[1])
    ]
    return empty[np.any(alone, axis=0)]
