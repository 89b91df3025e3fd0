"""What records have from their cells: looked up by the code, some records at a time.

While the cells are one part, they are put in the order of their codes, and so are some records;
then each search begins where the one before ended, and the cache of the processor has it. Where
they are many parts, the records are scattered among them first, and each part looks up its own; as
they come in the order of the file, each part has them in that order, and what is found is read back
from all parts side by side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.engines.local.cells import LocalCells
from discreet.engines.local.grouping import in_order, places_among
from discreet.engines.local.parts import Array, Columns, Part
from discreet.engines.local.raw_codes import RawCodes
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.progress import heed

BATCH_RECORDS = 1 << 19  # so few that they are put in order within the cache of the processor
SCATTERED = 1 << 22  # records that are read back together

Codes = tuple[IntArray, BoolArray]  # raw ones of some records, and which of them have none


def columns_of_records(
    cells: LocalCells, raw: RawCodes, names: Sequence[str], codes: Iterator[Codes], n_records: int
) -> Iterator[Columns]:
    """The columns of the cells of all records, whose codes come in their order, some at a time. A
    record without a code has no records and no value."""
    if len(cells.parts) == 1:
        found = _CellsInOrder.of(cells, cells.parts[0], names, raw)
        for some, none in codes:
            for first in range(0, len(some), BATCH_RECORDS):
                here = slice(first, first + BATCH_RECORDS)
                yield found.of_records(some[here], none[here])
        return
    yield from _side_by_side(_scattered(cells, raw, names, codes, n_records), names, n_records)


@dataclass(frozen=True, slots=True)
class _CellsInOrder:
    """Cells in the order of their codes, with columns whose last row is of no cell: no records, and
    no value."""

    codes: IntArray
    columns: Columns

    @classmethod
    def of(
        cls, cells: LocalCells, part: Part, names: Sequence[str], raw: RawCodes | None = None
    ) -> "_CellsInOrder":
        """The cells of a part with these columns; by their raw codes, where these are given."""
        own = {"sample_count", "weight_total"}
        batch = cells.read(part, [name for name in names if name not in own])
        held: dict[str, Any] = {**batch.extra, "sample_count": batch.sample_count}
        if batch.weight_total is not None:
            held["weight_total"] = batch.weight_total
        codes = batch.words if raw is None else raw.of_cells(batch.words)
        order = in_order(codes)
        return cls(codes[order], {name: _with_none(held[name], order) for name in names})

    @property
    def kinds(self) -> dict[str, Any]:
        """The kind of number of each column."""
        return {name: values.dtype for name, values in self.columns.items()}

    def of_records(self, codes: IntArray, none: BoolArray | None = None) -> Columns:
        """The columns of some records."""
        heed()
        order = in_order(codes)
        at = places_among(self.codes, codes[order], ordered=True)  # −1 is the row of no cell
        if none is not None:
            at[none[order]] = -1
        return {name: _placed(values, order, at) for name, values in self.columns.items()}


@dataclass(frozen=True, slots=True)
class _RecordsOfPart:
    """Rows of records in their order with their columns; up to `ends[i]` of them are before the
    i-th piece of the file ends."""

    part: Part
    ends: IntArray


def _scattered(
    cells: LocalCells, raw: RawCodes, names: Sequence[str], codes: Iterator[Codes], n_records: int
) -> list[_RecordsOfPart]:
    """For each part of the cells the rows of its records, in order, and their columns."""
    found = []
    pieces = np.arange(SCATTERED, n_records + SCATTERED, SCATTERED)
    beside = cells.beside(_rows(codes, raw))
    for done, (part, records) in enumerate(beside):
        cells.shelf.progress("giving the records what their cells have", done / len(cells.parts))
        lookup = _CellsInOrder.of(cells, part, names)
        ends = np.zeros(len(pieces), dtype=np.int64)
        looked_up = cells.shelf.gathered(_looked_up(lookup, records, pieces, ends))
        records.remove()
        found.append(_RecordsOfPart(looked_up, ends))
    return found


def _looked_up(
    lookup: _CellsInOrder, records: Part, pieces: IntArray, ends: IntArray
) -> Iterator[Columns]:
    """Rows of the records of a part with their columns, some at a time; adds to `ends` how many are
    before the end of each piece."""
    for first in range(0, max(len(records), 1), BATCH_RECORDS):
        end = min(first + BATCH_RECORDS, len(records))
        row = records.read("row", first, end)
        ends += np.searchsorted(row, pieces)
        yield {"row": row, **lookup.of_records(records.read("words", first, end))}


def _rows(codes: Iterator[Codes], raw: RawCodes) -> Iterator[Columns]:
    """The rows of the records that have a code, from 0, with the codes of their cells."""
    first = 0
    for words, none in codes:
        known = np.flatnonzero(~none)
        yield {"row": first + known, "words": raw.to_cells(words[known])}
        first += len(words)


def _side_by_side(
    parts: Sequence[_RecordsOfPart], names: Sequence[str], n_records: int
) -> Iterator[Columns]:
    """The columns of all records in the order of their rows, from all parts."""
    kinds = {name: parts[0].part.read(name, 0, 0).dtype for name in names}
    for piece, first in enumerate(range(0, n_records, SCATTERED)):
        heed()
        length = min(SCATTERED, n_records - first)
        found = {name: np.full(length, _none(kind), kind) for name, kind in kinds.items()}
        for one in parts:
            begin = int(one.ends[piece - 1]) if piece else 0
            end = int(one.ends[piece])
            at = one.part.read("row", begin, end) - first
            for name, values in found.items():
                values[at] = one.part.read(name, begin, end)
        yield found
    for one in parts:
        one.part.remove()


def _none(kind: Any) -> float:
    return 0 if kind.kind == "i" else np.nan


def _with_none(values: Array, order: IntArray) -> Array:
    found = np.empty(len(values) + 1, dtype=values.dtype)
    found[:-1] = values[order]
    found[-1] = _none(values.dtype)
    return found


def _placed(values: Array, order: IntArray, at: IntArray) -> Array:
    found = np.empty(len(at), values.dtype)
    found[order] = values[at]
    return found
