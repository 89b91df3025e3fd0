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
    named = [*frame.columns.names, *frame.index.names]
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
    return _of_index(source, variables, count)


def counts_by_value(series: Any) -> Mapping[Any, Any] | None:
    """A Series of counts as {value: count}, as `value_counts` makes it; None for raw values.

    A Series that has both names, or neither, may be either, and is refused.
    """
    if not series.index.is_unique and any(name is not None for name in series.index.names):
        raise InputError(must_be("the Series", "of one count for each level", "several of one"))
    named = [name is not None for name in series.index.names]
    counted = str(series.name).casefold() in COUNT_NAMES
    if all(named) and (series.name is None or counted):
        return dict(zip(series.index.tolist(), series.tolist(), strict=True))
    if series.name is not None and not counted and not any(named):
        return None
    rule = "counts by value, as value_counts() gives them, or values with a name and a plain index"
    remedy = "use value_counts() on values, to_dict() on counts"
    raise InputError(must_be("the Series", rule, "one that could be either", remedy=remedy))


def _of_series(series: Any, variables: Sequence[str] | None, count: str | None) -> LongForm:
    _refuse(None, count, "a Series")
    found = counts_by_value(series)
    if found is None:
        _refuse(variables, None, "a Series with a name")
        found, names = _tallied(series), [str(series.name)]
    else:
        names = [str(name) for name in series.index.names]
        _refuse(variables, None, "a Series whose index has names")
    return _of_cells(found, names)


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
    flat = frame.reset_index()
    every = [str(name) for name in flat.columns if name != count]
    chosen = tuple(variables or every)
    columns = {str(name): pa.array(flat[name], from_pandas=True) for name in flat.columns}
    return LongForm(table=pa.table(columns), variables=chosen, count=count)


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
