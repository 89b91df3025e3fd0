"""The margins of cells, wherever they are held."""

from collections.abc import Iterable, Sequence

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.numerics.arrays import IntArray, read_only


def margins_of_cells(
    batches: Iterable[CellBatch], coding: Coding, sets: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], IntArray]:
    """The records by the levels of each set of keys, as dense tables, from one pass."""
    sizes = coding.sizes
    margins = {axes: np.zeros([sizes[a] for a in axes], dtype=np.int64) for axes in sets}
    for batch in batches:
        levels = [coding.level(batch.words, key) for key in range(len(sizes))]
        for axes, margin in margins.items():
            place = np.ravel_multi_index([levels[a] for a in axes], margin.shape)
            counts = np.bincount(place, weights=batch.n_records, minlength=margin.size)
            margin += counts.astype(np.int64).reshape(margin.shape)
    return {axes: read_only(margin) for axes, margin in margins.items()}
