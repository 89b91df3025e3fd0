"""The columns of a protected copy, and its rows put together from what changed and what did not."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from discreet.data.records import ArrowScan, Records
from discreet.errors import ColumnError, must_be
from discreet.numerics.arrays import IntArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputColumn:
    """A column that goes out.

    `recoded` has the labels of the new levels of a recoded key, in order; None for a column whose
    values are those of the source, some perhaps taken out. `numbers`: values computed anew.
    """

    name: str
    recoded: tuple[str, ...] | None = None
    numbers: bool = False

    @property
    def own(self) -> bool:
        """Whether its values are those of the source."""
        return self.recoded is None and not self.numbers


class RecordOutput(Protocol):
    """Takes the rows of a protected copy, some at a time.

    `carries` names the unchanged columns whose values are to be handed over with the changed ones;
    the output takes the others from its source by the number of the row.
    """

    carries: tuple[str, ...]

    def write(self, rows: IntArray, table: "pa.Table") -> None:
        """Adds rows: their numbers in the source from 0, and by name the columns that changed and
        those that are carried; null where a value is missing or was taken out."""


@dataclass(frozen=True, slots=True)
class OutputRows:
    """Puts rows together from a source in memory and from what is handed over.

    `held` has the source's own columns by name, where it is in memory; else None.
    """

    columns: tuple[OutputColumn, ...]
    changed: frozenset[str]
    held: "pa.Table | None"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the output's columns in order."""
        return tuple(column.name for column in self.columns)

    @property
    def carries(self) -> tuple[str, ...]:
        """What must be handed over beside the changed columns."""
        if self.held is not None:
            return ()
        return tuple(name for name in self.names if name not in self.changed)

    def table(self, rows: IntArray, handed: "pa.Table") -> "pa.Table":
        """The rows in the order of the output's columns."""
        import pyarrow as pa

        own = None if self.held is None else rows_of(self.held, rows)
        found = [self._column(column, own, handed) for column in self.columns]
        return pa.Table.from_arrays(found, names=list(self.names))

    def _column(
        self, column: OutputColumn, own: "pa.Table | None", handed: "pa.Table"
    ) -> "pa.ChunkedArray":
        if own is None or not column.own:
            return handed.column(column.name)
        values = own.column(column.name)
        if column.name in self.changed:
            return without(values, handed.column(column.name))
        return values


def output_rows(
    records: Records,
    columns: Sequence[OutputColumn],
    changed: Collection[str],
    held: "pa.Table | None" = None,
) -> OutputRows:
    """How rows of `records` are put together; `held` takes the place of what a scan gives."""
    check_columns(records, columns)
    own = [column.name for column in columns if column.own]
    if held is None:
        held = _scanned(records, own)
    return OutputRows(tuple(columns), frozenset(changed), held)


def check_columns(records: Records, columns: Sequence[OutputColumn]) -> None:
    """There is a column, and each is one of the source that occurs once."""
    if not columns:
        raise ColumnError(must_be("columns of the output", "one or more", "none"))
    records.find("columns", [column.name for column in columns])


def _scanned(records: Records, names: Sequence[str]) -> "pa.Table | None":
    """The columns of a source in memory; None where the source is read by somebody else."""
    positions = [records.column_names.index(name) for name in names]
    # An empty choice of columns is no table with rows, so one column is read in any case.
    scan = records.scan(positions or [0])
    if not isinstance(scan, ArrowScan):
        return None
    return scan.table.rename_columns(list(names) or ["c0"]).select(list(names))


def rows_of(table: "pa.Table", rows: IntArray) -> "pa.Table":
    """The rows of these numbers; a stretch of the table is only looked at, not copied."""
    import numpy as np

    if not len(rows):
        return table.slice(0, 0)
    first, last = int(rows.min()), int(rows.max())
    stretch = table.slice(first, last - first + 1)
    if len(rows) == last - first + 1 and bool(np.all(np.diff(rows) == 1)):
        return stretch
    return stretch.take(rows - first)


def without(values: "pa.ChunkedArray", handed: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """The values, missing where what is handed over is: there one is missing or was taken out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    gone = handed.is_null()
    if not pc.any(gone).as_py():
        return values
    if pa.types.is_dictionary(values.type):  # the dictionary stays as it is, unused values too
        column = pa.concat_arrays(values.unify_dictionaries().chunks)
        out = pa.concat_arrays(gone.chunks)
        codes = pc.if_else(out, pa.scalar(None, column.indices.type), column.indices)
        ordered = values.type.ordered
        found = pa.DictionaryArray.from_arrays(codes, column.dictionary, ordered=ordered)
        return pa.chunked_array([found])
    kind = values.type
    if pa.types.is_string_view(kind):  # as polars has texts; Arrow cannot choose among these
        values = values.cast(pa.large_string())
    return pc.if_else(gone, pa.scalar(None, values.type), values).cast(kind)


def joined(parts: "Sequence[pa.ChunkedArray]", kind: "pa.DataType") -> "pa.ChunkedArray":
    """The parts of a column one after the other, coded text as text; of `kind` where there are
    none. A part without any value has any type."""
    import pyarrow as pa

    plain = [
        part.cast(part.type.value_type) if pa.types.is_dictionary(part.type) else part
        for part in parts
    ]
    if not plain:
        return pa.chunked_array([], kind)
    tables = [pa.table([part], names=["c"]) for part in plain]
    return pa.concat_tables(tables, promote_options="permissive").column("c")
