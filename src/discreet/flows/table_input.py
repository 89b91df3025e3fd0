"""What is given as a table and as margins, in whatever form Python has it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.csv_dialect import CsvOptions
from discreet.data.python_tables import COUNT_NAMES, UNNAMED_COUNTS, is_series
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.option_types import a_kind
from discreet.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the table is read, where it is not a Table already:

    - `variables`: its columns to count by, by default all but `count`; or the names of the
      variables of a dict or of the axes of an array.
    - `count`: the column of counts of a table in long form; without it each row is a record.
    - `missing`: rows without a value are a level of their own (category), left out (drop) or an
      error (error).
    - `totals`: rows of totals among counts are found and left out (find) or kept as persons (keep);
      or what single levels are, such as ['sex=Persons:leave-out', 'arm=T:keep'].
    - `persons`: the counts are persons, however large they are.
    - `csv`: delimiter, quote, encoding and decimal mark (CsvOptions); `sheet`: of an Excel file, by
      default the first.
    """

    variables: Sequence[str] | None = None
    count: str | None = None
    missing: str | None = None
    totals: str | Sequence[str] | None = None
    persons: bool | None = None
    csv: CsvOptions | None = None
    sheet: str | None = None


def reading_apart(keywords: Mapping[str, Any]) -> tuple[Reading, dict[str, Any]]:
    """The keywords that say how a table is read, and all others."""
    own = {field.name for field in fields(Reading)}
    given = {name: value for name, value in keywords.items() if name in own}
    return Reading(**given), {name: x for name, x in keywords.items() if name not in own}


def table_from(
    source: Any, reading: Reading, progress: Progress, *, released: Iterable[Sequence[str]] = ()
) -> Table:
    """The table itself, or that of a file, a frame, a crosstab, a Series, a dict or an array.

    A frame that has all variables that are `released` as columns holds records.

    Raises InputError for what is none, for options that a Table has no use for, and for a column
    that is a count by its name but was not said to be one.
    """
    if isinstance(source, Table):
        for field in fields(Reading):
            if getattr(reading, field.name) is not None:
                raise InputError(must_be(field.name, "left out where a Table is given", "one"))
        return source
    _check_source(source)
    names = (reading.variables,) if isinstance(reading.variables, str) else reading.variables
    if reading.csv is not None and not isinstance(source, str | Path):
        raise InputError(must_be("csv", "given with a CSV file", "another source"))
    _check_names("variables", names)
    if not isinstance(reading.count, str | None):
        raise InputError(must_be("count", "the name of a column", repr(reading.count)))
    if not isinstance(reading.persons, bool | None):
        raise InputError(must_be("persons", "true or false", repr(reading.persons)))
    if reading.count is None and names is None:
        names = _columns_of(source, released)
        _check_columns(source, names, reading.csv, reading.sheet)
    from discreet.engines.table_reading import read_table

    return read_table(
        source,
        names,
        count=reading.count,
        missing=reading.missing or "category",
        totals=reading.totals or "find",
        persons=bool(reading.persons),
        csv=reading.csv,
        sheet=reading.sheet,
        progress=progress,
    )


def _check_source(source: Any) -> None:
    from discreet.data.frame_reading import how_to_frame, is_frame
    from discreet.data.records import Records

    held = isinstance(source, str | Path | Records | Mapping | np.ndarray) or is_series(source)
    if not held and not is_frame(source):
        rule = "a Table, a file, a frame, a pandas Series, a dict or an array of counts"
        raise InputError(must_be("table", rule, a_kind(source), remedy=how_to_frame(source)))


def _columns_of(source: Any, released: Iterable[Sequence[str]]) -> tuple[str, ...] | None:
    """The columns of a pandas frame, if what is released is among them."""
    if not (hasattr(type(source), "iloc") and hasattr(type(source), "columns")):
        return None
    named = {name for margin in released for name in margin}
    columns = tuple(map(str, source.columns))
    return columns if named and named <= set(columns) else None


def _check_columns(
    source: Any, names: Sequence[str] | None, csv: CsvOptions | None, sheet: str | None
) -> None:
    from discreet.data.python_tables import long_form, refuse_unpivoted
    from discreet.data.records import open_records

    if long_form(source, names) is not None:
        return
    found = [
        name
        for name in open_records(source, csv, sheet).column_names
        if name.casefold() in COUNT_NAMES | UNNAMED_COUNTS
    ]
    if found:
        remedy = f"is it {found[0]!r} (count)? Otherwise name the variables (variables)"
        raise InputError(must_be("count", "the column of counts", "none", remedy=remedy))
    if names is None:
        refuse_unpivoted(source)


def _check_names(name: str, given: Any) -> None:
    if given is None:
        return
    if not isinstance(given, Iterable) or not all(isinstance(one, str) for one in given):
        raise InputError(must_be(name, "names of columns", repr(given)))


def margins_of(name: str, given: Any) -> tuple[tuple[str, ...], ...]:
    """Margins by the names of their variables.

    A margin is a list of names; a plain list of names, ['sex', 'age'], is one margin, and so is one
    name by itself. Several margins are a list of lists: [['sex'], ['age']].
    """
    if isinstance(given, str):
        return ((given,),)
    if not isinstance(given, Iterable):
        rule = "a margin as a list of names, or a list of such lists"
        raise InputError(must_be(name, rule, repr(given)))
    listed = list(given)
    if listed and all(isinstance(one, str) for one in listed):
        return (tuple(listed),)
    return tuple((one,) if isinstance(one, str) else _margin(name, one) for one in listed)


def _margin(name: str, given: Any) -> tuple[str, ...]:
    names = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(one, str) for one in names):
        rule = "a margin as a list of names, or a list of such lists"
        raise InputError(must_be(name, rule, repr(given)))
    return names
