"""Tables of counts as Python users have them, turned into the long form that files have.

A crosstab, a Series of counts, a dict, an array: each is understood, or refused with a word on what
to do. What cannot be told apart, such as counts by value and values by person, is never guessed.
Frames are told by what they can do, so that none of their libraries is loaded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.data.total_names import Telling, telling
from discreet.data.whole_numbers import what_instead, whole
from discreet.errors import InputError, must_be

COUNT_NAMES = {
    "freq",
    "frequency",
    "count",
    "counts",
    "n",
    "size",
    "persons",
    "people",
    "population",
}
UNNAMED_COUNTS = {"0", "len"}  # what pandas and polars call counts that were given no name
TOTAL_NAMES = {"all", "total", "totals", "sum", "t"}
MOST_LEVELS = 200  # rows up to which their labels may be levels


@dataclass(frozen=True, slots=True, kw_only=True)
class LongForm:
    """Counts with a row for each cell: an Arrow table, its variables and its column of counts."""

    table: pa.Table
    variables: tuple[str, ...]
    count: str


def is_series(source: Any) -> bool:
    """A pandas Series: it has an index but no columns."""
    return hasattr(type(source), "iloc") and not hasattr(type(source), "columns")


def is_wide(frame: Any) -> bool:
    """A pandas frame whose rows and columns both have names and whose cells are numbers, as
    `pandas.crosstab` and `unstack` make them."""
    kind = type(frame)
    if not (hasattr(kind, "iloc") and hasattr(kind, "columns")):
        return False
    columns = _own_levels(frame.columns)
    named = [*columns.names, *frame.index.names]
    return all(name is not None for name in named) and all(_is_numeric(t) for t in frame.dtypes)


def long_form(
    source: Any,
    variables: Sequence[str] | None = None,
    count: str | None = None,
    *,
    keep_totals: bool = False,
) -> LongForm | None:
    """Counts that are held in Python only; None for files and frames of records or cells.

    `variables` names what has no name of its own: the levels of a dict, the axes of an array. The
    totals that `margins=True` adds to a crosstab are left out, unless they are to be kept.
    """
    if isinstance(source, Mapping):
        return _of_mapping(source, variables)
    if isinstance(source, np.ndarray):
        return _of_array(source, variables)
    if is_series(source):
        return _of_series(source, variables, count)
    if is_wide(source):
        _refuse(variables, count, "a crosstab, whose rows and columns have names")
        return _of_wide(source, keep_totals)
    if count is None and _lost_its_names(source) and not _names_columns(variables, source):
        return _of_wide(_named(source, variables), keep_totals)
    return _of_index(source, variables, count)


def refuse_unpivoted(frame: Any) -> None:
    """A frame of few rows that other columns tell apart, with numbers in at least two: a table with
    a column for each level, as `pivot` leaves it, and no records."""
    kinds = _kinds_of_columns(frame)
    numbers = [name for name, is_number in kinds.items() if is_number]
    others = [name for name, is_number in kinds.items() if not is_number]
    twice = len(kinds) < len(getattr(frame, "columns", ()))
    if len(numbers) < 2 or not others or twice or not 0 < len(frame) <= MOST_LEVELS:
        return
    labels = list(zip(*(list(frame[name]) for name in others), strict=True))
    if len(set(map(str, labels))) == len(labels):
        remedy = "melt or unpivot it into a column of counts (count), or name the variables of "
        remedy += "these records (variables)"
        got = f"one whose rows differ in {', '.join(map(repr, others[:3]))} and hold numbers"
        rule = "records, or one row a cell with its count"
        raise InputError(must_be("table", rule, got, remedy=remedy))


def counts_by_value(series: Any) -> Mapping[Any, Any] | None:
    """A Series of counts as {value: count}, as `value_counts` makes it; None for raw values.

    A Series that has both names, or neither, may be either, and is refused; so is one of whole
    numbers whose labels are levels rather than numbers of rows.
    """
    if not series.index.is_unique and any(name is not None for name in series.index.names):
        raise InputError(must_be("the Series", "of one count for each level", "several of one"))
    named = [name is not None for name in series.index.names]
    counted = str(series.name).casefold() in COUNT_NAMES
    if all(named) and series.name == "proportion":
        remedy = "use value_counts() without normalize"
        raise InputError(must_be("the Series", "of counts", "shares", remedy=remedy))
    if all(named) and (series.name is None or counted):
        return dict(zip(series.index.tolist(), series.tolist(), strict=True))
    valued = series.name is not None and not counted and not any(named)
    if valued and not _may_be_counted(series):
        return None
    rule = "counts by value, as value_counts() gives them, or values with a name and a plain index"
    remedy = (
        "use rename('x').reset_index(drop=True) on values of x, rename_axis('x').rename('count') "
        "on counts by x"
    )
    raise InputError(must_be("the Series", rule, "one that could be either", remedy=remedy))


def labels_are_no_values(series: Any) -> bool:
    """Whether a Series with a name has labels that are no numbers, such as those of persons: it
    then holds values of persons, not counts by value."""
    counted = series.name is None or str(series.name).casefold() in COUNT_NAMES
    return not counted and len(series.index.names) == 1 and not _is_numeric(series.index.dtype)


def _of_series(series: Any, variables: Sequence[str] | None, count: str | None) -> LongForm:
    _refuse(None, count, "a Series")
    if variables is not None and None in series.index.names and _may_be_levels(series.index):
        own = _names(variables, len(series.index.names), "a Series whose index has none")
        return _of_cells(dict(zip(series.index.tolist(), series.tolist(), strict=True)), own)
    found = counts_by_value(series)
    if found is None:
        _refuse(variables, None, "a Series with a name")
        found, names = _tallied(series), [str(series.name)]
    else:
        names = [str(name) for name in series.index.names]
        _refuse(variables, None, "a Series whose index has names")
    return _of_cells(found, names)


def _may_be_levels(index: Any) -> bool:
    """Whether the labels of rows may be levels: they are no numbers, or few that do not just number
    the rows."""
    if type(index).__name__ == "RangeIndex":
        return False
    numbered = len(index.names) == 1 and getattr(index.dtype, "kind", "O") in "iu"
    return not numbered or len(index) <= MOST_LEVELS


def _may_be_counted(series: Any) -> bool:
    """Whether a Series with a name may hold counts, as `value_counts` of pandas before 2 leaves
    them: whole numbers under labels that may be levels, unless these look like the numbers of rows
    that were picked from more: far apart, or with gaps and noughts, which are not counted."""
    index = series.index
    if not _is_numeric(series.dtype) or not _may_be_levels(index):
        return False
    if len(index.names) > 1 or index.dtype.kind not in "iu":
        return True
    numbers = index.to_numpy()
    apart = 2 * len(numbers) if (series > 0).all() else len(numbers)
    picked = bool((np.diff(numbers) > 0).all()) and np.ptp(numbers) >= apart
    return not picked or (len(series) > 2 and bool(series.is_monotonic_decreasing))


def _lost_its_names(frame: Any) -> bool:
    """A pandas frame of numbers whose rows or columns are labelled by levels without a name: a
    crosstab, or a frame that may be one."""
    kind = type(frame)
    if not (hasattr(kind, "iloc") and hasattr(kind, "columns")) or not len(frame.columns):
        return False
    if not len(frame) or not all(_is_numeric(t) for t in frame.dtypes):
        return False
    if all(isinstance(name, str) for name in frame.columns):
        return None in frame.index.names and _may_be_levels(frame.index)
    return not _holds_sizes(frame)


def _holds_sizes(frame: Any) -> bool:
    """Whether it is what `groupby().size().to_frame()` makes: counts alone, variables as index."""
    return list(frame.columns) == [0] and None not in frame.index.names


def _names_columns(variables: Sequence[str] | None, frame: Any) -> bool:
    """Whether the variables that were named are columns, so that the rows are records."""
    given = (variables,) if isinstance(variables, str) else tuple(variables or ())
    return bool(given) and all(name in map(str, frame.columns) for name in given)


def _named(frame: Any, variables: Sequence[str] | None) -> Any:
    """The crosstab with the names of the variables of its rows and columns."""
    columns = _own_levels(frame.columns)
    n_rows, n_columns = len(frame.index.names), len(columns.names)
    given = (variables,) if isinstance(variables, str) else tuple(variables or ())
    if len(given) != n_rows + n_columns:
        remedy = (
            f"if it is a table, name the variables of its rows and columns (variables, "
            f"{n_rows + n_columns} names, or rename_axis); if it holds records, give its columns "
            "names and use reset_index(drop=True)"
        )
        got = "one whose rows or columns are labelled without a name"
        rule = "a crosstab with names for its rows and columns, or a frame of records"
        raise InputError(must_be("table", rule, got, remedy=remedy))
    named = frame.set_axis(columns, axis=1)
    named.index = named.index.set_names(list(given[:n_rows]))
    named.columns = named.columns.set_names(list(given[n_rows:]))
    return named


def _own_levels(columns: Any) -> Any:
    """Labels of columns without the name of the values that `pivot_table` puts above them."""
    if len(columns.names) < 2 or columns.names[0] is not None:
        return columns
    return columns.droplevel(0) if len(columns.unique(0)) == 1 else columns


def _kinds_of_columns(frame: Any) -> dict[str, bool]:
    """Of each column of a frame of pandas, polars or Arrow whether it holds numbers; of anything
    else nothing."""
    kind = type(frame)
    if isinstance(frame, pa.Table):
        fields = zip(frame.column_names, frame.schema.types, strict=True)
        return {str(n): pa.types.is_integer(t) or pa.types.is_floating(t) for n, t in fields}
    if hasattr(kind, "iloc") and hasattr(kind, "columns"):
        return {name: _is_numeric(t) for name, t in zip(frame.columns, frame.dtypes, strict=True)}
    if hasattr(kind, "schema") and hasattr(kind, "height"):  # polars
        return {name: t.is_numeric() for name, t in frame.schema.items()}
    return {}


def _tallied(series: Any) -> Mapping[Any, int]:
    return {value: int(n) for value, n in series.value_counts(dropna=False).items()}


def _of_mapping(counts: Mapping[Any, Any], variables: Sequence[str] | None) -> LongForm:
    cells = dict(_cells(counts, ()))
    if any(isinstance(n, list | tuple | np.ndarray) for n in cells.values()):
        rule = "{level: count} or {(level, level): count}"
        remedy = "make a frame of columns of records first"
        raise InputError(must_be("table", rule, "a dict of lists", remedy=remedy))
    widths = {len(cell) for cell in cells}
    if len(widths) != 1:
        rule = "a dict with as many levels in each of its names"
        raise InputError(must_be("table", rule, "different numbers" if widths else "an empty one"))
    return _of_cells(cells, _names(variables, widths.pop(), "a dict"))


def _cells(counts: Mapping[Any, Any], above: tuple[Any, ...]) -> Iterator[tuple[tuple, Any]]:  # type: ignore[type-arg]
    """Each cell by its levels, those of a dict within a dict put together."""
    for level, value in counts.items():
        levels = (*above, *(level if isinstance(level, tuple) else (level,)))
        if isinstance(value, Mapping):
            yield from _cells(value, levels)
        else:
            yield levels, value


def _of_array(counts: np.ndarray[Any, Any], variables: Sequence[str] | None) -> LongForm:
    if counts.dtype.names is not None or counts.ndim == 0 or not _is_numeric(counts.dtype):
        rule = "an array of counts, an axis for each variable"
        remedy = "make a frame of records first"
        raise InputError(must_be("table", rule, f"one of {counts.dtype}", remedy=remedy))
    names = _names(variables, counts.ndim, "an array")
    levels = product(*(range(1, size + 1) for size in counts.shape))
    return _of_cells(dict(zip(levels, counts.ravel().tolist(), strict=True)), names)


def _of_wide(frame: Any, keep_totals: bool) -> LongForm:
    """A crosstab, its totals left out where it has them, unless they are to be kept."""
    frame = frame.set_axis(_own_levels(frame.columns), axis=1)
    if not keep_totals:
        frame = _without_totals(_without_totals(frame).T).T
    names = [str(name) for name in (*frame.index.names, *frame.columns.names)]
    rows, columns = ([_levels(x) for x in axis.tolist()] for axis in (frame.index, frame.columns))
    values = np.nan_to_num(frame.to_numpy(dtype=np.float64), nan=0.0)  # a pair that nobody has
    cells = {
        (*row, *column): float(values[i, j])
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    }
    return _of_cells(cells, names)


def _without_totals(frame: Any) -> Any:
    """The frame without a last row that is named as a total and holds the sums of the others.

    Other totals are found later, as those of any table are.
    """
    label = _levels(frame.index[-1])[0]
    named = isinstance(label, str) and telling(label) in (Telling.TOTAL, Telling.OFTEN)
    return frame.iloc[:-1] if named and _ends_in_sums(frame) else frame


def _ends_in_sums(frame: Any) -> bool:
    """Whether the last row is the sum of the others."""
    values = np.nan_to_num(frame.to_numpy(dtype=np.float64), nan=0.0)
    return len(values) > 1 and np.array_equal(values[:-1].sum(axis=0), values[-1])


def _of_index(frame: Any, variables: Sequence[str] | None, count: str | None) -> LongForm | None:
    """A pandas frame of counts whose variables stand in its index, as `groupby` leaves them."""
    kind = type(frame)
    if not (hasattr(kind, "iloc") and hasattr(kind, "columns")):
        return None
    if count is None and _holds_sizes(frame):
        frame, count = frame.set_axis(["count"], axis=1), "count"
    named = [name for name in frame.index.names if name is not None]
    several = len(frame.index.names) > 1
    if count is None or not named:
        if several and variables is None:
            remedy = "use reset_index(), or name the column of counts (count)"
            rule = "a frame with its variables as columns"
            raise InputError(must_be("table", rule, "one with several indices", remedy=remedy))
        return None
    if count not in frame.columns:
        return None
    flat = (frame.iloc[:-1] if several and _ends_in_all(frame, count) else frame).reset_index()
    every = [str(name) for name in flat.columns if name != count]
    chosen = tuple(variables or every)
    columns = {str(name): _column(flat[name].tolist()) for name in flat.columns}
    return LongForm(table=pa.table(columns), variables=chosen, count=count)


def _ends_in_all(frame: Any, count: str) -> bool:
    """Whether the last row is the total that `pivot_table` adds below several indices."""
    first, *others = frame.index[-1]
    named = isinstance(first, str) and first.casefold() in TOTAL_NAMES
    return named and set(others) == {""} and _ends_in_sums(frame[[count]])


def _of_cells(cells: Mapping[Any, Any], names: Sequence[str]) -> LongForm:
    count = next(name for name in _count_names() if name not in names)
    rows = [level if isinstance(level, tuple) else (level,) for level in cells]
    columns = {name: _column([row[i] for row in rows]) for i, name in enumerate(names)}
    if len(columns) < len(names):
        raise InputError(must_be("variables", "different names", f"{len(names)} names"))
    return LongForm(
        table=pa.table(columns | {count: _counts(rows, list(cells.values()))}),
        variables=tuple(names),
        count=count,
    )


def _counts(rows: Sequence[tuple[Any, ...]], values: Sequence[Any]) -> pa.Array:
    """Counts as whole numbers; what they are instead stays in the agency."""
    numbers = [None if isinstance(value, str) else whole(value) for value in values]
    if None in numbers:
        bad = numbers.index(None)
        got = "a text" if isinstance(values[bad], str) else what_instead(values[bad])
        where = ", ".join(map(str, rows[bad]))
        raise InputError(must_be("counts", "whole numbers from 0", got, where=where))
    return pa.array(numbers, pa.int64())


def _column(levels: list[Any]) -> pa.Array:
    try:
        return pa.array(levels, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        return pa.array([None if level is None else str(level) for level in levels])


def _count_names() -> Iterator[str]:
    yield "count"
    yield from (f"count_{i}" for i in range(1, 1000))


def _names(variables: Sequence[str] | None, n: int, what: str) -> tuple[str, ...]:
    given = (variables,) if isinstance(variables, str) else tuple(variables or ())
    if len(given) != n:
        rule = f"the names of the {n} variables of {what}" if n > 1 else f"the one name of {what}"
        raise InputError(must_be("variables", rule, len(given) or "none"))
    return given


def _levels(label: Any) -> tuple[Any, ...]:
    return label if isinstance(label, tuple) else (label,)


def _is_numeric(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "iuf"


def _refuse(variables: Any, count: Any, what: str) -> None:
    """An option that would have no effect."""
    for name, value in (("variables", variables), ("count", count)):
        if value is not None:
            raise InputError(must_be(name, f"left out with {what}", repr(value)))
