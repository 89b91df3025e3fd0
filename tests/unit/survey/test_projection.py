"""Cells with keys left out, against grouping their levels anew."""

from collections import Counter

import numpy as np
import pytest
from tests.oracles.cells_beside import cells_of_levels, space_of

from discreet.errors import InputError
from discreet.survey.projection import AllCells

SIZES = (4, 3, 5, 2)


@pytest.fixture(params=[2**62, 20], ids=["one word", "several words"])
def cells(request):
    rng = np.random.default_rng(2)
    levels = np.unique(rng.integers(0, SIZES, (70, len(SIZES))), axis=0)
    records = rng.integers(1, 6, len(levels))
    return AllCells.of(cells_of_levels(levels, records, space_of(SIZES, limit=request.param)))


def counted(levels, records):
    held: Counter[tuple[int, ...]] = Counter()
    for row, n in zip(levels.tolist(), records.tolist(), strict=True):
        held[tuple(row)] += n
    return held


def check(found, place, levels, records):
    """The new cells are the groups of these levels, and each old cell lies in its own."""
    now = found.coding.decode(found.words)
    assert dict(counted(levels, records)) == {
        tuple(row): n for row, n in zip(now.tolist(), found.records.tolist(), strict=True)
    }
    assert now[place].tolist() == levels.tolist()


@pytest.mark.parametrize("at", range(len(SIZES)))
def test_leaving_out_a_key(cells, at):
    kept = [j for j in range(len(SIZES)) if j != at]
    found, place = cells.within(kept)
    check(found, place, cells.coding.decode(cells.words)[:, kept], cells.records)
    assert found.names == tuple(f"k{j}" for j in kept)


def test_keys_in_another_order(cells):
    found, place = cells.within([3, 0, 2])
    check(found, place, cells.coding.decode(cells.words)[:, [3, 0, 2]], cells.records)


def test_more_cells_than_may_be_held_are_refused(cells):
    kept = cells_of_levels(cells.coding.decode(cells.words), cells.records, cells.space)
    assert len(AllCells.of(kept, len(cells.words)).words) == len(cells.words)
    with pytest.raises(
        InputError, match=f"occupied cells must be at most 5, .*, got {len(cells.words)}"
    ):
        AllCells.of(kept, 5)
