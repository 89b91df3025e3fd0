"""Reading the list of impossible combinations, and holding it against the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.columns import near_match
from discreet.data.records import Records
from discreet.data.structural_zeros import StructuralZeros
from discreet.engines.contract import CellStore
from discreet.engines.key_space import KeyLevels
from discreet.errors import ColumnError, InputError, must_be
from discreet.numerics.arrays import IntArray

SHOWN_ROWS = 5
MOST_CELLS = 10_000  # cells in which the list is wrong that are looked at, to name its rows


@dataclass(frozen=True, slots=True)
class ImpossibleList:
    """The structural zeros of a table, and how many rows of the list named a level that never
    occurs, so that they have no effect."""

    zeros: StructuralZeros
    n_rows: int
    n_idle: int

    def n_possible(self, sizes: Sequence[int], ruled_out: Sequence[Mapping[int, int]] = ()) -> int:
        """Cells outside the boxes, and those `ruled_out` elsewhere, in a table of the first so many
        levels of each key.

        A missing level stands last: a table without it has one level fewer, and no box for it.
        """
        boxes = [box for box in self.zeros.boxes if all(level < sizes[key] for key, level in box)]
        return StructuralZeros.of_boxes(sizes, [*map(dict, boxes), *ruled_out]).n_possible()


def read_impossible(records: Records, cells: CellStore) -> ImpossibleList:
    """The impossible boxes that `records` lists, in the codes of the counted cells.

    Columns are keys; an empty value means any level, and an empty row means nothing. A label that
    several values share means each of them. Checked: no record of the data lies in a box.
    """
    table = cells.read_labels(records)
    positions = {name: _key_position(name, cells) for name in table}
    codes = {name: _codes(cells.keys[j]) for name, j in positions.items()}
    boxes: list[tuple[int, dict[int, int]]] = []
    n_rows = n_idle = 0
    for number, row in enumerate(zip(*table.values(), strict=True), start=1):
        named = {name: value for name, value in zip(table, row, strict=True) if value is not None}
        found = _boxes(named, positions, codes)
        boxes += [(number, box) for box in found]
        n_rows += bool(named)
        n_idle += bool(named) and not found
    zeros = StructuralZeros.of_boxes(cells.cells.space.coding.sizes, (box for _, box in boxes))
    _check_against(cells, zeros, boxes, records.name)
    return ImpossibleList(zeros, n_rows, n_idle)


def _boxes(
    named: Mapping[str, str],
    positions: Mapping[str, int],
    codes: Mapping[str, Mapping[str, Sequence[int]]],
) -> list[dict[int, int]]:
    """One box for each choice of a code among those that the named labels stand for."""
    if not named:
        return []
    choices = [codes[name].get(value, ()) for name, value in named.items()]
    keys = [positions[name] for name in named]
    return [dict(zip(keys, choice, strict=True)) for choice in product(*choices)]


def _key_position(name: str, cells: CellStore) -> int:
    names = [key.name for key in cells.keys]
    if name not in names:
        near = near_match(name, names)
        remedy = f"did you mean {near!r}?" if near else None
        rule = "a list whose columns are keys"
        raise ColumnError(must_be("impossible", rule, repr(name), remedy=remedy))
    return names.index(name)


def _codes(key: KeyLevels) -> dict[str, list[int]]:
    """Codes that each value or, where no value is called so, each label stands for."""
    codes: dict[str, list[int]] = {}
    for code, label in enumerate(key.labels):
        codes.setdefault(label, []).append(code)
    return codes | {value: [code] for code, value in enumerate(key.values) if value is not None}


def _check_against(
    cells: CellStore,
    zeros: StructuralZeros,
    boxes: Sequence[tuple[int, Mapping[int, int]]],
    source: str,
) -> None:
    records, wrong = cells.cells.fold(Covered(zeros))
    if records:
        rule = "combinations that no record has"
        remedy = "correct the records or the list"
        got = f"some in which there are {records:,}"
        where = f"{_rows_told(_rows_in(boxes, wrong))} of {source}"
        raise InputError(must_be("impossible", rule, got, where=where, remedy=remedy))


@dataclass(frozen=True, slots=True)
class Covered:
    """Records in cells that some box covers, and the levels of some of these cells."""

    zeros: StructuralZeros
    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> tuple[int, IntArray]:
        """Of some cells."""
        levels = batch.levels()
        covered = self.zeros.covers(levels)
        return int(batch.n_records[covered].sum()), levels[covered][:MOST_CELLS]

    def joined(
        self, one: tuple[int, IntArray], other: tuple[int, IntArray]
    ) -> tuple[int, IntArray]:
        """Of the cells of both."""
        return one[0] + other[0], np.concatenate([one[1], other[1]])[:MOST_CELLS]


def _rows_in(boxes: Sequence[tuple[int, Mapping[int, int]]], levels: IntArray) -> list[int]:
    """Numbers of the rows of the list, from 1 after its header, that some of these cells are in."""
    found = (
        number
        for number, box in boxes
        if np.logical_and.reduce([levels[:, key] == level for key, level in box.items()]).any()
    )
    return list(dict.fromkeys(found))


def _rows_told(rows: Sequence[int]) -> str:
    shown = ", ".join(f"{row:,}" for row in rows[:SHOWN_ROWS])
    more = f" and {len(rows) - SHOWN_ROWS:,} more" if len(rows) > SHOWN_ROWS else ""
    return f"row {shown}" if len(rows) == 1 else f"rows {shown}{more}"
