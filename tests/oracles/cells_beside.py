"""Cells as tests look at them: all at once, in the order of their codes, with columns beside them."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.missing import missing_policy
from discreet.engines.key_space import KeyLevels, KeySpace
from discreet.engines.local.cells import LocalCells, cells_at_hand
from discreet.engines.local.grouping import in_order
from discreet.engines.steps import ByCode


@dataclass(frozen=True)
class _Columns:
    """The codes and some columns of all cells."""

    reads: tuple[str, ...]

    def of(self, batch: CellBatch):
        return batch.words, {name: batch.extra[name] for name in self.reads}

    def joined(self, one, other):
        columns = {name: np.concatenate([one[1][name], other[1][name]]) for name in self.reads}
        return np.concatenate([one[0], other[0]]), columns


def whole(cells):
    """All cells in the order of their codes."""
    return cells.held(cells.n_cells)


def column(cells, name):
    """One of the columns beside the cells, in the order of the codes."""
    words, columns = cells.fold(_Columns((name,)))
    return columns[name][in_order(words)]


def attach(cells, **columns):
    """Put columns, in the order of the codes, beside the cells."""
    values = {name: np.asarray(own, dtype=np.float64) for name, own in columns.items()}
    cells.add(ByCode(whole(cells).words, values))


def space_of(sizes, *, limit=2**62, missing=(), policy="category", missing_weight=1.0):
    """Keys k0, k1 and so on with the levels 0:0, 0:1 …; the last level of the keys `missing` is no
    value. A code of more than `limit` combinations takes several words."""
    keys = []
    for j, size in enumerate(sizes):
        values = [f"{j}:{i}" for i in range(size)]
        values[-1:] = [None] if j in missing else values[-1:]
        labels = tuple(value or "(missing)" for value in values)
        keys.append(KeyLevels(name=f"k{j}", values=tuple(values), labels=labels, n_missing=0))
    return KeySpace(
        keys=tuple(keys),
        coding=Coding.of_sizes(sizes, limit),
        policy=missing_policy(policy),
        missing_weight=missing_weight,
    )


def cells_of_levels(levels, records, space, weight=None, shelf=None):
    """Cells that are given by their levels, one row each."""
    words = space.coding.encode(np.asarray(levels, dtype=np.int64))
    held = None if weight is None else np.asarray(weight, dtype=np.float64)
    return LocalCells.of_arrays(words, np.asarray(records, np.int64), space, held, shelf=shelf)


def cells_of_rows(rows, space, shelf=None):
    """The cells of records that are given by their levels."""
    levels, records = np.unique(np.asarray(rows), axis=0, return_counts=True)
    return cells_of_levels(levels, records, space, shelf=shelf)


def risks_of(found, cells, words):
    """The recommended risks of each cell, in the order of these codes: `risk` and
    `population_unique`."""
    assert found.risks is not None
    cells.add(found.risks)
    order = in_order(words)
    columns = {}
    for name in ("risk", "population_unique"):
        columns[name] = np.empty(len(words))
        columns[name][order] = column(cells, name)
    return SimpleNamespace(**columns)


def cells_of_batch(batch, shelf=None):
    """The cells of one batch."""
    space = cells_at_hand(batch.words, batch.n_records, batch.coding).space
    return LocalCells.of_arrays(
        batch.words, batch.n_records, space, batch.weight_total, shelf=shelf
    )
