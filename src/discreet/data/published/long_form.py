"""Tables in long form: a column a variable, and one or more columns of figures."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from discreet.data.published.figures_in_cells import (
    Cell,
    Percentage,
    is_blank,
    plain_text,
    shown,
)
from discreet.data.published.gathering import (
    DecimalMark,
    Gathered,
    Kind,
    decimal_for,
    has_mark,
    noted,
)
from discreet.data.published.headings import Columns, kind_of_unit
from discreet.data.published.published_table import PublishedTable
from discreet.data.stat_files import level_text
from discreet.errors import FileError, must_be

PLAIN_FLAGS = frozenset("af")  # of exchange formats: a figure as usual, free for publication
Rows = Callable[[], Iterator[tuple[str, Sequence[Any]]]]  # where each row stands, and its cells


@dataclass(frozen=True, slots=True, kw_only=True)
class LongSource:
    """A table in long form, ready to be gone through: its columns, and its rows as often as asked.

    `where` names the place of a cell, given that of its row and its column.
    """

    file: str
    name: str
    names: tuple[str, ...]
    columns: Columns
    rows: Rows
    where: Callable[[str, int], str]
    mark: DecimalMark
    notes: tuple[str, ...] = ()


def long_tables(source: LongSource) -> list[PublishedTable]:
    """A table for each column of figures, and of each for every unit where a column tells them."""
    found: list[PublishedTable] = []
    for place, kind in source.columns.figures:
        found += _tables(source, place, kind)
    return found


def label_text(value: Any) -> str:
    """A cell as a label: numbers as whole where they are, dates without a time of day, blanks as
    one space."""
    if isinstance(value, date):  # a datetime is one too
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, Percentage):
        return f"{value.value}%"
    return plain_text(level_text(float(value) if isinstance(value, Decimal) else value))


def _tables(source: LongSource, place: int, kind: Kind) -> list[PublishedTable]:
    names = [label_text(source.names[i]) for i in source.columns.variables]
    name = source.name
    if len(source.columns.figures) > 1:
        name = f"{name}, {label_text(source.names[place])}"
    decimal = _decimal(source, place, kind)
    tables: dict[str, Gathered | None] = {}
    flagged: list[str] = []
    left: dict[str, int] = {}
    for where_row, row in source.rows():
        unit = _unit(source, row)
        if unit not in tables:
            tables[unit] = _begun(source, name, unit, names, kind, decimal)
        own = tables[unit]
        if own is None:
            left[unit] = left.get(unit, 0) + 1
            continue
        labels = [_label(source, where_row, row, i) for i in source.columns.variables]
        where = source.where(where_row, place)
        flag = _flag(source, row)
        if flag and is_blank(row[place]):
            own.put(labels, Cell("", mark=flag), where)
            continue
        own.add(labels, row[place], where)
        if flag:
            flagged.append(where)
    notes = [*source.notes, *_left_out(source, left)]
    if flagged:
        notes.append(noted(flagged, "a flag beside the figure, left out"))
    made = [one.table(notes) for one in tables.values() if one is not None]
    if not made:
        raise FileError(must_be(source.name, "a table with rows below its header", "none"))
    return made


def _decimal(source: LongSource, place: int, kind: Kind) -> str:
    told = [
        (source.where(where, place), row[place])
        for where, row in source.rows()
        if has_mark(row[place])
    ]
    return decimal_for(source.file, told, kind.statistic, source.mark)


def _begun(
    source: LongSource, name: str, unit: str, names: Sequence[str], kind: Kind, decimal: str
) -> Gathered | None:
    """A table of one unit; None where its figures are none that can be used."""
    if not unit:
        return Gathered(source.file, name, names, kind, decimal)
    own = kind_of_unit(unit)
    return None if own is None else Gathered(source.file, f"{name}, {unit}", names, own, decimal)


def _unit(source: LongSource, row: Sequence[Any]) -> str:
    units = source.columns.units
    return "" if units is None or is_blank(row[units]) else label_text(row[units])


def _label(source: LongSource, where: str, row: Sequence[Any], place: int) -> str:
    if is_blank(row[place]):
        named = shown(label_text(source.names[place]))
        remedy = "write the label into every row, and a word such as Total where it is for all"
        rule = f"a label of {named} in every row"
        at = source.where(where, place)
        raise FileError(must_be(source.file, rule, "an empty field", where=at, remedy=remedy))
    return label_text(row[place])


def _flag(source: LongSource, row: Sequence[Any]) -> str:
    """The first flag beside a figure that says something of it."""
    flags = (label_text(row[i]) for i in source.columns.flags if not is_blank(row[i]))
    return next((flag for flag in flags if flag.casefold() not in PLAIN_FLAGS), "")


def _left_out(source: LongSource, left: dict[str, int]) -> Iterator[str]:
    """What was not read, in words."""
    for place in source.columns.left_out:
        name = label_text(source.names[place])
        why = "it is about the file" if name else "it numbers the rows"
        yield f"column {shown(name)} left out: {why}"
    for unit, n in left.items():
        yield f"{n:,} figures of {shown(unit)} left out: neither counts nor percentages nor means"
