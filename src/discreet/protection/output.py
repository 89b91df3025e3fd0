"""The protected records as columns: what changed, in the types in which it goes out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.output_columns import OutputColumn, RecordOutput
from discreet.data.records import Records
from discreet.engines.key_space import KeyLevels
from discreet.masks.records.order import Shuffle
from discreet.numerics.arrays import IntArray
from discreet.protection.applying import Changed, Rows

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """The columns of a protected file, and which of them are other than in the source.

    `carried` says whether values that did not change are handed over with the others: where the
    source is read by the engine, and is not in memory.
    """

    changed: Changed
    records: Records
    columns: tuple[OutputColumn, ...]
    anew: frozenset[str]
    carried: bool

    @classmethod
    def of_changed(cls, changed: Changed, records: Records, *, carried: bool) -> "Outgoing":
        """The columns in the order of the source, without those that are left out."""
        gone = {*changed.dropped, *changed.gone_columns}
        columns = tuple(_column(changed, name) for name in records.column_names if name not in gone)
        keys = {key.name for key in changed.keys}
        touched = {one.name for one in columns if not one.own} | _with_less(changed)
        anew = frozenset(touched & {*keys, *_numbers(changed)})
        return cls(changed=changed, records=records, columns=columns, anew=anew, carried=carried)

    @property
    def names(self) -> list[str]:
        """The names of the columns in order."""
        return [column.name for column in self.columns]

    def written_to(self, output: RecordOutput) -> None:
        """Hand over all records, some at a time."""
        carry = list(dict.fromkeys([*output.carries, *(self._originals() if self.carried else ())]))
        for rows in self.changed.rows(carry):
            output.write(rows.rows, self._table(rows, output.carries))

    def _originals(self) -> list[str]:
        """Keys of which values were taken out and that are else as they were: their own values."""
        own = {one.name for one in self.columns if one.own}
        return [name for name in self.anew if name in own]

    def _table(self, rows: Rows, carries: Sequence[str]) -> "pa.Table":
        import pyarrow as pa

        columns = {name: rows.carried.column(name) for name in carries}
        for column in self.columns:
            if column.name in self.anew:
                columns[column.name] = self._values(column, rows)
        return pa.table(columns)

    def _values(self, column: OutputColumn, rows: Rows) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        weight, records = self.changed.source.weight, self.changed.records
        if column.name == weight and rows.weight is not None:
            return pa.array(rows.weight)
        names = [key.name for key in self.changed.keys]
        if column.name not in names and records is not None and records.household is not None:
            return pa.array(records.household[_slice_of(records.rows, rows.rows)])
        key = self.changed.keys[names.index(column.name)]
        levels = rows.levels[:, names.index(column.name)]
        gone = _gone(key, levels)
        if column.recoded is not None or column.numbers:
            return _dictionary(self._typed(column, key), levels, gone)
        if not self.carried:  # the source has the values: only what is gone is told
            return pa.array(np.zeros(len(levels), dtype=np.int8), mask=gone)
        own = rows.carried.column(column.name)
        return pc.if_else(pa.array(gone), pa.scalar(None, own.type), own)

    def _typed(self, column: OutputColumn, key: KeyLevels) -> "pa.Array":
        """The levels of a key in the type in which they go out."""
        import pyarrow as pa

        if column.recoded is not None:
            return pa.array(column.recoded, pa.string())
        known = pa.array([value for value in key.values if value is not None], pa.string())
        own = self.records.types([key.name]).get(key.name)
        return known if own is None else known.cast(own)


def _column(changed: Changed, name: str) -> OutputColumn:
    keys = {key.name: key for key in changed.keys}
    if name in keys and changed.is_recoded(name):
        labels = tuple(
            label
            for value, label in zip(keys[name].values, keys[name].labels, strict=True)
            if value is not None
        )
        return OutputColumn(name=name, recoded=labels)
    return OutputColumn(name=name, numbers=name in changed.anew or name in _numbers(changed))


def _numbers(changed: Changed) -> set[str]:
    """Columns beside the keys with new values: weights, and households that were numbered anew."""
    source = changed.source
    found: set[str] = set()
    if changed.records is None:
        return found
    if source.weight is not None and changed.records.weight is not None:
        found.add(source.weight)
    shuffled = any(isinstance(s, Shuffle) and s.households for s in changed.recipe.steps)
    if source.household is not None and shuffled:
        found.add(source.household)
    return found


def _with_less(changed: Changed) -> set[str]:
    """Keys of which some value was taken out."""
    return set(changed.with_less)


def _gone(key: KeyLevels, levels: IntArray) -> Any:
    if key.values[-1:] != (None,):
        return np.zeros(len(levels), dtype=np.bool_)
    return levels == len(key.values) - 1


def _dictionary(values: "pa.Array", levels: IntArray, gone: Any) -> Any:
    import pyarrow as pa

    places = pa.array(np.where(gone, 0, levels).astype(np.int32), mask=gone)
    if not len(values):
        return pa.nulls(len(levels), values.type)
    return pa.DictionaryArray.from_arrays(places, values)


def _slice_of(all_rows: IntArray, rows: IntArray) -> Any:
    """Where some rows stand among all, of which they are a stretch."""
    first = int(np.flatnonzero(all_rows == rows[0])[0]) if len(rows) else 0
    return slice(first, first + len(rows))


def write_narrow(changed: Changed, path: Path, others: Sequence[str]) -> None:
    """The keys that are left, as texts, and some other columns, as Parquet: what an assessment of
    the file looks at."""
    import pyarrow.parquet as pq

    writer = None
    try:
        for _, table in narrow_tables(changed, others):
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def narrow_tables(changed: Changed, others: Sequence[str]) -> Iterator[tuple[IntArray, "pa.Table"]]:
    """The same, some records at a time, with their rows in the source."""
    import pyarrow as pa

    gone = {*changed.dropped, *changed.gone_columns}
    kept = [name for name in others if name not in gone]
    texts = {
        key.name: pa.array([v for v in key.values if v is not None], pa.string())
        for key in changed.keys
    }
    for rows in changed.rows(kept):
        columns: dict[str, Any] = {}
        for place, key in enumerate(changed.keys):
            if key.name not in gone:
                levels = rows.levels[:, place]
                columns[key.name] = _dictionary(texts[key.name], levels, _gone(key, levels))
        for name in kept:
            columns[name] = rows.carried.column(name)
        if changed.source.weight in columns and rows.weight is not None:
            columns[changed.source.weight] = pa.array(rows.weight)
        yield rows.rows, pa.table(columns)
