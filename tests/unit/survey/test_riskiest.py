"""The riskiest cells: highest risk first, then fewest records, then rarest levels."""

from collections import Counter
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.cells_beside import attach, cells_of_levels, space_of

from discreet.engines.key_space import KeyLevels
from discreet.engines.local import cells as local_cells
from discreet.engines.local.cells import LocalCells
from discreet.survey.riskiest import _end_of_tie, riskiest_cells


@dataclass
class Store:
    """Cells with the records they are made of; row i is record i."""

    rows: np.ndarray
    cells: LocalCells
    keys: list[KeyLevels]

    def rows_in(self, words, most):
        codes = self.cells.coding.encode(self.rows)
        where = [np.flatnonzero((codes == own).all(axis=1)) + 1 for own in words]
        return [tuple(at[:most].tolist()) for at in where]

    def carried(self, rows):
        return [(f"id {row}",) for row in rows]


def riskiest(rows, sizes, size, weighted, limit=20, keys=None, risk=None, unique=None):
    """From cells of which `size` are looked at together; risks are in the order of the codes."""
    space = space_of(sizes)
    levels, records = np.unique(rows, axis=0, return_counts=True)
    order = np.random.default_rng(size).permutation(len(levels))
    weight = records[order] * 2.5 if weighted else None
    cells = cells_of_levels(levels[order], records[order], space, weight)
    if risk is not None:
        attach(cells, risk=risk, population_unique=unique)
    store = Store(rows, cells, keys or list(space.keys))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_cells, "BATCH_CELLS", size)
        return riskiest_cells(store, margins_of(rows, sizes), told=risk is not None, limit=limit)


def margins_of(rows, sizes):
    return [np.bincount(rows[:, j], minlength=size) for j, size in enumerate(sizes)]


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
    st.integers(1, 40),
    st.integers(1, 12),
    st.integers(1, 7),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_they_are_the_first_of_all_cells_in_that_order(sizes, n, limit, size, weighted, seed):
    rows = np.random.default_rng(seed).integers(0, sizes, (n, len(sizes)))
    margins = margins_of(rows, sizes)
    found = riskiest(rows, sizes, size, weighted, limit)
    counts = Counter(map(tuple, rows.tolist()))

    def expected(cell):
        return n * np.prod([margins[j][level] / n for j, level in enumerate(cell)])

    everything = sorted((count, expected(cell)) for cell, count in counts.items())
    assert len(found) == min(limit, len(counts))
    for cell, (count, rarity) in zip(found, everything, strict=False):
        assert cell.sample_count == count
        assert cell.expected_count == pytest.approx(rarity)
        level = tuple(int(label.split(":")[1]) for label in cell.levels)
        assert counts[level] == count
        assert expected(level) == pytest.approx(rarity)
        assert cell.weight_total == (count * 2.5 if weighted else None)
    assert len({cell.levels for cell in found}) == len(found)


def test_none_may_be_asked_for():
    rows = np.array([[0], [1], [1]])
    assert riskiest(rows, [2], 5, False, 0) == ()


def test_levels_are_called_by_their_labels():
    rows = np.array([[0], [1], [1]])
    key = KeyLevels(name="a", values=("1", None), labels=("male", "(missing)"), n_missing=2)
    found = riskiest(rows, [2], 5, False, keys=[key])
    assert [cell.levels for cell in found] == [("male",), ("(missing)",)]


@pytest.mark.parametrize("numbers", [(3, 5, 11), (2, 9, 15), (4, 5, 7)])
@pytest.mark.parametrize("size", [2, 100])
def test_of_cells_that_are_equally_rare_those_with_the_first_codes_lead(size, numbers):
    """Keys of like margins: the logarithms of one product, added in different orders."""
    crowds = [[level] * 3 for level, n in enumerate(numbers) for _ in range(n)]
    lone = sorted(permutations(range(3)), key=lambda row: row[::-1])  # in the order of the codes
    rows, sizes = np.array([*crowds, *lone]), (3, 3, 3)
    found = riskiest(rows, sizes, size, False, 4)
    levels = [tuple(int(label.split(":")[1]) for label in cell.levels) for cell in found]
    assert levels == lone[:4]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_the_risk_goes_before_the_count_and_no_risk_comes_last(size):
    rows = np.array([[0], [1], [1], [2], [3], [3]])
    risk = np.array([0.1, 0.4, np.nan, 0.2])
    unique = np.array([0.05, 0.0, np.nan, 0.0])
    found = riskiest(rows, [4], size, False, risk=risk, unique=unique)
    assert [cell.risk for cell in found] == [0.4, 0.2, 0.1, None]
    assert [cell.rows for cell in found] == [(2, 3), (5, 6), (1,), (4,)]
    assert [cell.population_unique for cell in found] == [0.0, 0.0, 0.05, None]
    assert found[0].carried == (("id 2",), ("id 3",))
    assert len(riskiest(rows, [4], size, False, 2, risk=risk, unique=unique)) == 2


@pytest.mark.parametrize("limit", [1, 5, 20])
def test_the_rarest_of_very_many_uniques_are_those_of_a_full_sort(limit):
    rng = np.random.default_rng(limit)
    sizes = [40, 30, 20]
    rows = np.unique((rng.random((3000, 3)) ** 2 * sizes).astype(np.int64), axis=0)
    found = riskiest(rows, sizes, 10**6, weighted=False, limit=limit)
    shares = [np.bincount(rows[:, j], minlength=n) / len(rows) for j, n in enumerate(sizes)]
    expected = np.sort(len(rows) * np.prod([s[rows[:, j]] for j, s in enumerate(shares)], axis=0))
    assert [one.expected_count for one in found] == pytest.approx(expected[:limit])


def test_a_tie_is_kept_to_its_end():
    values = np.array([3.0, 1.0, 2.0, 1.0 + 1e-10, 1.0 + 2e-10, 1.5])
    assert _end_of_tie(values, 1) == 1.0 + 2e-10
    assert _end_of_tie(values, 4) == 1.5
    assert _end_of_tie(values, 6) == 3.0
