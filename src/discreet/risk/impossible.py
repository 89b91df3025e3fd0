"""Reading the list of impossible combinations, and holding it against the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet.data.records import Records
from discreet.data.structural_zeros import StructuralZeros
from discreet.engines.contract import CellStore, KeyLevels
from discreet.errors import ColumnError, InputError, must_be


@dataclass(frozen=True, slots=True)
class ImpossibleList:
    """The structural zeros of a table, and how many rows of the list named a level that never
    occurs, so that they have no effect."""

    zeros: StructuralZeros
    n_rows: int
    n_idle: int


def read_impossible(records: Records, cells: CellStore) -> ImpossibleList:
    """The impossible boxes that `records` lists, in the codes of the counted cells.

    Columns are keys; an empty value means any level, and an empty row means nothing. A label that
    several values share means each of them. Checked: no record of the data lies in a box.
    """
    table = cells.read_labels(records)
    positions = {name: _key_position(name, cells) for name in table}
    codes = {name: _codes(cells.keys[j]) for name, j in positions.items()}
    boxes: list[dict[int, int]] = []
    n_rows = n_idle = 0
    for row in zip(*table.values(), strict=True):
        named = {name: value for name, value in zip(table, row, strict=True) if value is not None}
        found = _boxes(named, positions, codes)
        boxes += found
        n_rows += bool(named)
        n_idle += bool(named) and not found
    zeros = StructuralZeros.of_boxes(cells.coding.sizes, boxes)
    _check_against(cells, zeros)
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
        raise ColumnError(must_be("impossible", "a list whose columns are keys", repr(name)))
    return names.index(name)


def _codes(key: KeyLevels) -> dict[str, list[int]]:
    """Codes that each value or, where no value is called so, each label stands for."""
    codes: dict[str, list[int]] = {}
    for code, label in enumerate(key.labels):
        codes.setdefault(label, []).append(code)
    return codes | {value: [code] for code, value in enumerate(key.values) if value is not None}


def _check_against(cells: CellStore, zeros: StructuralZeros) -> None:
    records = sum(
        int(np.sum(batch.sample_count[zeros.covers(batch.levels())])) for batch in cells.batches()
    )
    if records:
        rule = "combinations that no record has"
        remedy = "correct the records or the list"
        got = f"some in which there are {records:,}"
        raise InputError(must_be("impossible", rule, got, remedy=remedy))
