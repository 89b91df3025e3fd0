"""Files of counts: a table {value: count} for each category, or released sets."""

from collections.abc import Sequence

from discreet.count_tables.category_inputs import Levels, ReleasedSet
from discreet.count_tables.notation import short
from discreet.data.csv_dialect import CsvOptions
from discreet.data.python_tables import COUNT_NAMES, UNNAMED_COUNTS
from discreet.data.records import Records
from discreet.data.table import Table
from discreet.engines.table_reading import read_table
from discreet.errors import InputError, MissingError, must_be
from discreet.progress import Progress, silent

LARGEST_VALUE = 1_000_000
SET_COLUMNS = ("n", "s1", "s2")
Counts = dict[int, int]


def read_tables(
    records: Records,
    column: str | None = None,
    *,
    by: Sequence[str] = (),
    count: str | None = None,
    missing: str = "error",
    csv: CsvOptions | None = None,
    progress: Progress = silent,
) -> tuple[str, dict[Levels, Counts]]:
    """The column of values, and the table {value: count} of each combination of the `by` columns in
    order of levels; without any, of the empty one.

    `count` is the column that says how many have the value; each row is one without it.
    """
    rest = [name for name in records.column_names if name != count and name not in by]
    counted = [n for n in rest if n.casefold() in COUNT_NAMES | UNNAMED_COUNTS and n != column]
    column = column or _only_column(rest, counted)
    if column in by or column == count:
        rule = "another than those of categories and counts"
        raise InputError(must_be("column", rule, repr(column)))
    for role, names in (("column", [column]), ("by", by), ("count", [count] if count else [])):
        records.find(role, names)
    table = _table(records, [column, *by], count, missing, csv, progress)
    if count is None and counted and table.total == len(table.counts) > 1:
        raise InputError(_not_counted(column, counted[0]))
    values = [_value(column, label) for label in table.levels[0]]
    found: dict[Levels, Counts] = {}
    for cell, number in zip(table.cells.tolist(), table.counts.tolist(), strict=True):
        levels = tuple(table.levels[i][level] for i, level in enumerate(cell) if i)
        own = found.setdefault(levels, {})
        own[values[cell[0]]] = own.get(values[cell[0]], 0) + number
    return column, dict(sorted(found.items()))


def read_sets(
    records: Records,
    *,
    by: Sequence[str] = (),
    csv: CsvOptions | None = None,
    progress: Progress = silent,
) -> tuple[tuple[str, ...], dict[Levels, ReleasedSet]]:
    """The category columns of a file of released sets, and the set of each category.

    The file has columns n, s1 and s2 in capitals or not; all others (or those of `by`) name the
    category. n may be empty where it is withheld.
    """
    places = {name.casefold(): name for name in records.column_names}
    lacking = [name for name in SET_COLUMNS if name not in places]
    if lacking:
        rule = "a file with columns n, s1 and s2"
        raise InputError(must_be("sets", rule, f"one without {lacking[0]!r}"))
    own = [places[name] for name in SET_COLUMNS]
    columns = tuple(by) or tuple(name for name in records.column_names if name not in own)
    if not columns:
        rule = "a file with columns for the categories beside n, s1 and s2"
        remedy = "one set can be looked at by itself (n, s1, s2)"
        raise InputError(must_be("sets", rule, "none", remedy=remedy))
    table = _table(records, [*columns, *own], None, "category", csv, progress)
    sets: dict[Levels, ReleasedSet] = {}
    for cell, number in zip(table.cells.tolist(), table.counts.tolist(), strict=True):
        labels = [table.levels[i][level] for i, level in enumerate(cell)]
        levels = tuple(labels[:-3])
        if levels in sets or number > 1:
            raise InputError(must_be("sets", "a file with each category once", repr(levels)))
        sets[levels] = _released(labels[-3:])
    return columns, dict(sorted(sets.items()))


def _released(labels: Sequence[str]) -> ReleasedSet:
    n, total, s2 = (label.strip() for label in labels)
    known = None if n in ("", "(missing)") else _whole("n of the sets", n)
    return known, _whole("s1 of the sets", total), s2


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(must_be(name, "whole numbers", short(text))) from None


def _table(
    records: Records,
    columns: Sequence[str],
    count: str | None,
    missing: str,
    csv: CsvOptions | None,
    progress: Progress,
) -> Table:
    try:
        return read_table(
            records, columns, count=count, missing=missing, csv=csv, progress=progress
        )
    except MissingError as lacking:
        names = " and ".join(repr(name) for name in columns)
        remedy = "the choice drop leaves them out (missing)"
        rule = "filled in every row"
        said = must_be(f"column {names}", rule, "rows without a value", remedy=remedy)
        raise MissingError(said) from lacking


def _only_column(names: Sequence[str], counted: Sequence[str]) -> str:
    if len(names) == 2 and len(counted) == 1:
        raise InputError(_not_counted(next(n for n in names if n not in counted), counted[0]))
    if len(names) != 1:
        listed = ", ".join(repr(name) for name in names[:8])
        raise InputError(must_be("column", f"one of {listed}", "none"))
    return names[0]


def _not_counted(column: str, count: str) -> str:
    """A file with each value once and a column of counts, which was not said to be one."""
    remedy = f"is it {count!r} (count), with the values in {column!r} (column)?"
    return must_be("count", "the column that says how many have the value", "none", remedy=remedy)


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
