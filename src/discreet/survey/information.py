"""What is left of the tables of two keys once keys are coarser: their mutual information.

Two keys tell as much of each other as H(A) + H(B) − H(A, B). A change keeps the mean over pairs of
what they tell of each other afterwards over what they told before; pairs that told nothing count
for nothing. Tables of two keys with more than LARGEST cells are left out.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from discreet.engines.contract import Cells
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.survey.coarsening import Step

LARGEST = 1 << 20  # cells of a table of two keys
MOST_CELLS = 1 << 24  # of all of them together
LEAST = 1e-12  # nats, below which two keys tell nothing of each other

Tables = Mapping[tuple[int, ...], IntArray]


def tables_of_two(cells: Cells) -> Tables:
    """The records by the levels of each pair of keys, of the pairs that are not too large."""
    sizes = cells.space.coding.sizes
    pairs = [p for p in combinations(range(len(sizes)), 2) if sizes[p[0]] * sizes[p[1]] <= LARGEST]
    if sum(sizes[a] * sizes[b] for a, b in pairs) > MOST_CELLS:
        return {}
    return cells.margins(pairs) if pairs else {}


def information_kept(tables: Tables, names: Sequence[str], steps: Sequence[Step]) -> float | None:
    """The share that is kept after the steps; None where there is no table that tells anything."""
    changed = dict(steps)
    kept = []
    for pair, table in tables.items():
        before = _mutual(table)
        if before > LEAST:
            after = table
            for axis, key in enumerate(pair):
                if names[key] in changed:
                    after = _coarser(after, axis, changed[names[key]])
            kept.append(min(_mutual(after) / before, 1.0))
    return float(np.mean(kept)) if kept else None


def _coarser(table: IntArray, axis: int, how: object) -> IntArray:
    """The table with one of its keys coarser, or with a single level of it."""
    to = getattr(how, "to", None)
    if to is None:
        return np.asarray(table.sum(axis=axis, keepdims=True))
    moved = np.moveaxis(table, axis, 0)
    found = np.zeros((int(to.max(initial=0)) + 1, moved.shape[1]), dtype=np.int64)
    np.add.at(found, to, moved)
    return np.moveaxis(found, 0, axis)


def _mutual(table: IntArray) -> float:
    """The mutual information of a table of two keys, in nats."""
    total = table.sum()
    if not total:
        return 0.0
    return _entropy(table.sum(axis=0)) + _entropy(table.sum(axis=1)) - _entropy(table)


def _entropy(counts: IntArray) -> float:
    held: FloatArray = counts[counts > 0].astype(float)
    share = held / held.sum()
    return float(-(share * np.log(share)).sum())
