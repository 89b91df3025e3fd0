"""Reading the list of impossible combinations, and holding it against the data."""

from typing import Any

import numpy as np
import pyarrow as pa

from discreet.data.csv_dialect import CsvOptions
from discreet.data.records import open_records
from discreet.data.structural_zeros import StructuralZeros
from discreet.data.tables import read_text_columns
from discreet.engines.contract import CellStore, KeyLevels
from discreet.errors import ColumnError, InputError, must_be


def read_structural_zeros(
    source: Any, cells: CellStore, csv: CsvOptions | None
) -> StructuralZeros | None:
    """The impossible boxes that `source` lists, in the codes of the counted cells.

    Checked: its columns are keys, no row is empty, and no record of the data lies in a box. A level
    that does not occur in the data makes no cell, so a row that names one has no effect.
    """
    if source is None:
        return None
    table = read_text_columns(open_records(source, csv))
    positions = [_key_position(name, cells) for name in table.column_names]
    columns = [_codes(table.column(i), cells.keys[j]) for i, j in enumerate(positions)]
    boxes = []
    for row, levels in enumerate(zip(*columns, strict=True), start=1):
        box = {j: level for j, level in zip(positions, levels, strict=True) if level is not None}
        if not box:
            rule = "a combination with at least one level named"
            raise InputError(must_be("impossible", rule, "an empty one", where=f"row {row}"))
        if -1 not in box.values():
            boxes.append(box)
    zeros = StructuralZeros.of_boxes(cells.coding.sizes, boxes)
    _check_against(cells, zeros)
    return zeros


def _key_position(name: str, cells: CellStore) -> int:
    names = [key.name for key in cells.keys]
    if name not in names:
        raise ColumnError(must_be("impossible", "a list whose columns are keys", repr(name)))
    return names.index(name)


def _codes(column: pa.ChunkedArray, key: KeyLevels) -> list[int | None]:
    """Level of each value; None for an empty one, which means any, −1 for one that never occurs."""
    codes: dict[str | None, int] = {label: code for code, label in enumerate(key.labels)}
    codes |= {value: code for code, value in enumerate(key.values)}
    return [None if value is None else codes.get(value, -1) for value in column.to_pylist()]


def _check_against(cells: CellStore, zeros: StructuralZeros) -> None:
    records = sum(
        int(np.sum(batch.sample_count[zeros.covers(batch.levels())])) for batch in cells.batches()
    )
    if records:
        rule = "combinations that no record has"
        got = f"some that {records:,} records have"
        remedy = "correct the records or the list"
        raise InputError(must_be("impossible", rule, got, remedy=remedy))
