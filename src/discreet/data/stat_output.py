"""Stata, SPSS and SAS files of a protected copy, with what they say of their variables."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.data.output_columns import OutputColumn, OutputRows, joined, output_rows
from discreet.data.readstat_writing import write_sas, write_spss
from discreet.data.records import Records
from discreet.data.stat_variables import (
    FAMILIES,
    TEXT,
    StatSource,
    Variable,
    check_values,
    read_source,
    variable_of,
)
from discreet.data.stata_writing import write_stata
from discreet.data.text_values import typed_text
from discreet.errors import OutputError, must_be
from discreet.numerics.arrays import IntArray

NAMES = {
    "Stata": (re.compile(r"[^\W\d]\w{0,31}"), "a letter, then letters and digits, 32 at most"),
    "SPSS": (re.compile(r"[^\W\d_][\w.$#@]*"), "a letter, then letters and digits"),
    "SAS": (re.compile(r"[A-Za-z_]\w{0,31}", re.ASCII), "plain letters and digits, 32 at most"),
}


class StatOutput:
    """Gathers the rows, as these files are in memory in any case, and writes them at the end.

    `source` is the file that the records are from, `same` whether it is of the family that is
    written: then values go from one to the other as they are stored. `types` are those of the
    columns of another source that has types.
    """

    def __init__(
        self,
        rows: OutputRows,
        family: str,
        source: StatSource | None,
        *,
        same: bool,
        types: Mapping[str, pa.DataType],
    ) -> None:
        self.carries = rows.carries
        self.source = source
        self._rows, self._family, self._same, self._types = rows, family, same, types
        self._numbers: list[IntArray] = []
        self._tables: list[pa.Table] = []

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return sum(map(len, self._numbers))

    def write(self, rows: IntArray, table: pa.Table) -> None:
        """Adds rows."""
        self._numbers.append(rows)
        changed = [name for name in self._rows.names if name in self._rows.changed]
        self._tables.append(table.select(changed) if self._same else self._rows.table(rows, table))

    def variables(self) -> list[Variable]:
        """The variables with the values of all rows."""
        rows = np.concatenate(self._numbers) if self._numbers else np.zeros(0, dtype=np.int64)
        return [self._variable(column, rows) for column in self._rows.columns]

    def _variable(self, column: OutputColumn, rows: IntArray) -> Variable:
        was = None if self.source is None else self.source.variables[column.name]
        handed = self._handed(column)
        if column.recoded is not None:
            return self._recoded(column, column.recoded, was, handed)
        if self._same and was is not None and column.own:
            gone = handed.is_null().to_numpy() if column.name in self._rows.changed else None
            return was.rows(rows, gone)
        new = variable_of(column.name, handed, self._family)
        if was is None:
            return new
        if column.numbers and self._same and not isinstance(new.values, list):
            return was.with_numbers(new.values)
        return _described(new, was)

    def _recoded(
        self,
        column: OutputColumn,
        levels: Sequence[str],
        was: Variable | None,
        handed: pa.ChunkedArray,
    ) -> Variable:
        """The key with its new levels; as text in a .xpt file, which holds no value labels."""
        known = was or Variable(name=column.name, storage=self._storage(column), values=[])
        if self._family == "SAS":
            known = replace(known, storage=TEXT)
        return known.recoded(levels, handed.cast(pa.string()).to_pylist())

    def _storage(self, column: OutputColumn) -> str:
        """Whether the source of a recoded key had numbers or texts."""
        kind = self._types.get(column.name)
        numbers = kind is not None and (pa.types.is_integer(kind) or pa.types.is_floating(kind))
        return "double" if numbers else TEXT

    def _handed(self, column: OutputColumn) -> pa.ChunkedArray:
        """All that was put together of a column, coded text as text, and numbers that a source
        without types has as text as numbers."""
        name = column.name
        found = [one.column(name) for one in self._tables if name in one.column_names]
        kind = pa.float64() if column.numbers else self._types.get(name, pa.string())
        values = joined(found, kind)
        untyped = self._rows.held is None and name not in self._types
        return typed_text(values) if column.own and untyped else values


def _described(new: Variable, was: Variable) -> Variable:
    """What the source says of a variable, of a file of another program."""
    if new.is_text != was.is_text:
        return replace(new, label=was.label)
    labels = {value: label for value, label in was.value_labels.items() if _plain(value, new)}
    return replace(new, label=was.label, value_labels=labels, measure=was.measure)


def _plain(value: object, variable: Variable) -> bool:
    return isinstance(value, str) == variable.is_text


@contextmanager
def stat_output(
    path: Path, records: Records, columns: Sequence[OutputColumn], changed: Collection[str]
) -> Iterator[StatOutput]:
    """A Stata, SPSS or SAS file by the ending of `path`."""
    family = FAMILIES[path.suffix.lower()]
    names = [column.name for column in columns]
    _check_names(names, family)
    origin = records.files[0] if records.files else None
    own = FAMILIES.get(origin.suffix.lower()) if origin is not None else None
    source = None
    if origin is not None and own is not None:
        source = read_source(origin, names, values=own == family)
    # Within a family nothing is handed over but what changed: the values are in `source`.
    held = pa.table({name: pa.nulls(0) for name in names}) if own == family else None
    rows = output_rows(records, columns, changed, held)
    types = records.types(names)
    output = StatOutput(rows, family, source, same=own == family, types=types)
    yield output
    _save(path, family, output, origin if own == family else None)


def _save(path: Path, family: str, output: StatOutput, origin: Path | None) -> None:
    variables, source = output.variables(), output.source
    for variable in variables:
        check_values(variable)
    label = source.label if source is not None else ""
    notes = source.notes if source is not None else ()
    if family == "Stata":
        write_stata(path, variables, output.n_rows, label, notes)
    elif family == "SPSS":
        write_spss(path, variables, output.n_rows, label, notes, origin)
    else:
        table_name = source.table_name if source is not None else None
        write_sas(path, variables, output.n_rows, label, table_name, origin)


def _check_names(names: Sequence[str], family: str) -> None:
    """Every name is one that the program can hold."""
    pattern, rule = NAMES[family]
    for name in names:
        if not pattern.fullmatch(name):
            remedy = "rename the column, or write a .csv or .parquet file"
            said = f"a name for {family} ({rule})"
            raise OutputError(must_be("column", said, repr(name), remedy=remedy))
