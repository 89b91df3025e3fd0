"""Sample uniques under sets of keys, against counting the records of every set one by one."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from tests.oracles.cells_beside import cells_of_levels, space_of

from discreet.engines.local.cells import LocalCells
from discreet.engines.local.parts import Shelf
from discreet.errors import InputError
from discreet.survey.suda.key_sets import dense_passes
from discreet.survey.suda.subsets import subset_uniques

SIZES = (3, 40, 5, 2, 12)
WAYS = {"in tables": 1 << 20, "put in order": 0, "some of each": 60}


def people(seed=2, n=300):
    rng = np.random.default_rng(seed)
    levels = np.unique(rng.integers(0, SIZES, (n, len(SIZES))), axis=0)
    return levels, rng.choice([1, 2, 3], len(levels), p=[0.8, 0.15, 0.05])


def uniques(levels, records, keys):
    held: Counter[tuple[int, ...]] = Counter()
    for row, n in zip(levels[:, keys].tolist(), records.tolist(), strict=True):
        held[tuple(row)] += n
    return sum(n == 1 for n in held.values())


@pytest.mark.parametrize("in_table", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("at_once", [None, 30])
@pytest.mark.parametrize("most_held", [0, 1 << 30])
@pytest.mark.parametrize("most_together", [0, 100])
def test_every_set_is_counted(tmp_path, monkeypatch, in_table, at_once, most_held, most_together):
    monkeypatch.setattr("discreet.survey.suda.subsets.MOST_HELD", most_held)
    monkeypatch.setattr("discreet.survey.suda.key_sets.MOST_TOGETHER", most_together)
    monkeypatch.setattr("discreet.survey.suda.key_sets.MOST_IN_TABLE", in_table)
    monkeypatch.setattr("discreet.survey.suda.key_sets.MOST_IN_TABLES", max(2 * in_table, 1))
    monkeypatch.setattr("discreet.survey.suda.subsets.AT_ONCE", 3)
    levels, records = people()
    shelf = None if at_once is None else Shelf(tmp_path, 1, at_once)
    space = space_of(SIZES)
    cells = LocalCells.of_arrays(space.coding.encode(levels), records, space, shelf=shelf)
    assert (len(cells.parts) > 1) == (at_once is not None)
    for found in subset_uniques(cells, len(SIZES), shown=100):
        sets = combinations(range(len(SIZES)), found.size)
        expected = {keys: uniques(levels, records, keys) for keys in sets}
        assert found.n_sets == len(expected)
        assert found.n_with_uniques == sum(n > 0 for n in expected.values())
        told = [(one.keys, one.sample_uniques) for one in found.worst]
        named = {tuple(space.names[key] for key in keys): n for keys, n in expected.items() if n}
        assert dict(told) == named
        assert [n for _, n in told] == sorted(named.values(), reverse=True)


def test_beyond_a_set_that_makes_everybody_unique_nothing_is_counted(monkeypatch):
    levels = np.array([[i, i % 2, i % 3] for i in range(30)])
    cells = cells_of_levels(levels, np.ones(30, dtype=np.int64), space_of((30, 2, 3)))
    asked = []
    monkeypatch.setattr(
        "discreet.survey.suda.subsets.dense_passes",
        lambda sets, *more: asked.extend(sets) or dense_passes(sets, *more),
    )
    found = subset_uniques(cells, 3)
    assert asked == [(0,), (1,), (2,), (1, 2)]
    assert [one.n_with_uniques for one in found] == [1, 2, 1]


def test_a_table_that_is_too_large_joins_no_pass(monkeypatch):
    monkeypatch.setattr("discreet.survey.suda.key_sets.MOST_IN_TABLE", 10)
    monkeypatch.setattr("discreet.survey.suda.key_sets.MOST_IN_TABLES", 12)
    sets = [(0,), (1,), (2,), (0, 1), (0, 2)]
    assert dense_passes(sets, (4, 11, 2), 100) == ([[(0,), (2,)], [(0, 2)]], [(1,), (0, 1)])
    assert dense_passes(sets, (4, 11, 2), 1) == ([[(0,), (2,)]], [(1,), (0, 1), (0, 2)])


def test_too_many_sets(monkeypatch):
    levels, records = people()
    space = space_of(SIZES)
    cells = LocalCells.of_arrays(space.coding.encode(levels), records, space)
    monkeypatch.setattr("discreet.survey.suda.subsets.SET_WORK", 0)
    monkeypatch.setattr("discreet.survey.suda.subsets.MOST_WORK", 15 * cells.n_cells)
    subset_uniques(cells, 2)
    with pytest.raises(InputError, match=r"subsets must be at most 2 here, got 3, which takes 25"):
        subset_uniques(cells, 3)
    monkeypatch.setattr("discreet.survey.suda.subsets.MOST_MATCHED", 15 * cells.n_cells)
    gaps = space_of(SIZES, missing=(1,), policy="wildcard")
    matched = cells_of_levels(levels, records, gaps)
    subset_uniques(matched, 2)
    monkeypatch.setattr("discreet.survey.suda.subsets.MOST_WORK", 10**9)
    with pytest.raises(InputError, match=r"subsets must be at most 2 here, got 3"):
        subset_uniques(matched, 3)
    monkeypatch.setattr("discreet.survey.suda.subsets.MOST_WORK", 4)
    with pytest.raises(
        InputError, match="must be left out here, got 1, .*; take fewer or coarser keys"
    ):
        subset_uniques(cells, 1)
