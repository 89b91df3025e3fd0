"""Uniques that vanish when keys are dropped, against counting again."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.cells_beside import cells_of_rows, column, space_of

from discreet.data.coding import Coding
from discreet.data.missing import missing_policy
from discreet.engines.key_space import KeyLevels, KeySpace
from discreet.engines.local.cells import LocalCells
from discreet.figures import Unavailable
from discreet.survey import contributions as module
from discreet.survey.contributions import KeysLeftOut, contributions


def cells_of(rows, sizes, limit=2**62, shelf=None):
    return cells_of_rows(rows, space_of(sizes, limit=limit), shelf)


def uniques(rows):
    return sum(count == 1 for count in Counter(map(tuple, rows)).values())


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.integers(1, 30),
    st.sampled_from([4, 2**62]),
    st.integers(0, 2**32 - 1),
)
def test_they_agree_with_counting_without_the_keys(sizes, n, limit, seed):
    rows = np.random.default_rng(seed).integers(0, sizes, (n, len(sizes)))
    names = [f"k{j}" for j in range(len(sizes))]
    found = contributions(cells_of(rows, sizes, limit))
    assert not isinstance(found.pairs, Unavailable)
    everything = {c.keys: c for c in (*found.single, *found.pairs)}
    assert len(everything) == len(sizes) + len(sizes) * (len(sizes) - 1) // 2
    for order in (1, 2):
        for dropped in combinations(range(len(sizes)), order):
            kept = [j for j in range(len(sizes)) if j not in dropped]
            left = uniques(rows[:, kept].tolist())
            found_here = everything[tuple(names[j] for j in dropped)]
            assert found_here.uniques_left == left
            assert found_here.uniques_removed == uniques(rows.tolist()) - left
            assert found_here.uniques_removed >= 0
    for group in (found.single, found.pairs):
        removed = [c.uniques_removed for c in group]
        assert removed == sorted(removed, reverse=True)


def test_the_largest_code_does_not_overflow():
    sizes = [2**31, 2**31]
    rows = [[2**31 - 1, 2**31 - 1], [2**31 - 1, 0], [0, 5], [0, 5]]
    keys = [KeyLevels(name=name, values=("",), labels=("",), n_missing=0) for name in "ab"]
    levels, records = np.unique(rows, axis=0, return_counts=True)
    coding = Coding.of_sizes(sizes)
    space = KeySpace(keys=tuple(keys), coding=coding, policy=missing_policy("category"))
    found = contributions(LocalCells.of_arrays(coding.encode(levels), records, space))
    assert {c.keys: c.uniques_left for c in found.single} == {("a",): 2, ("b",): 0}


@pytest.mark.parametrize(("n", "left"), [(1, 1), (2, 0)])
def test_without_any_key_only_a_single_record_is_alone(n, left):
    found = contributions(cells_of([[0]] * n, [1]))
    assert found.single[0].uniques_left == left
    assert found.pairs == ()


def test_pairs_that_take_long_are_left_out_with_the_reason(monkeypatch):
    monkeypatch.setattr(module, "PAIR_WORK", 5)
    given = cells_of([[0, 0], [0, 1], [1, 0]], [2, 2])
    assert isinstance(contributions(given).pairs, tuple)
    monkeypatch.setattr(module, "PAIR_WORK", 2)
    left_out = contributions(given).pairs
    assert isinstance(left_out, Unavailable)
    assert "over 3 cells) take long; ask for all pairs to have them" in left_out.reason
    assert isinstance(contributions(given, all_pairs=True).pairs, tuple)


def test_very_many_pairs_take_long_however_few_the_cells():
    n = 400
    given = cells_of([[0] * n, [1] * n], [2] * n)
    assert isinstance(contributions(given).pairs, Unavailable)


def test_progress_is_told_to_the_end():
    told = []
    contributions(
        cells_of([[0, 0, 0], [1, 1, 1]], [2, 2, 2]),
        progress=lambda step, fraction: told.append((step, fraction)),
    )
    assert told == [("dropping pairs of keys", 0.0), ("dropping pairs of keys", 1.0)]


def test_without_both_of_two_keys_only_a_single_record_is_alone():
    assert contributions(cells_of([[0, 0], [1, 1]], [2, 2])).pairs[0].uniques_left == 0
    assert contributions(cells_of([[0, 0]], [1, 1])).pairs[0].uniques_left == 1


def test_cells_without_each_key_are_counted_once(monkeypatch):
    cells = cells_of([[0, 0], [0, 1], [1, 1]], [2, 2])
    left_out = KeysLeftOut(cells)
    sizes = left_out.count()
    assert [own.to_json() for own in sizes] == [{"1": 1, "2": 1}, {"1": 1, "2": 1}]
    assert column(cells, "neighbours").tolist() == [1, 2, 1]
    monkeypatch.setattr(LocalCells, "without_each_key", None)
    assert left_out.count() is sizes
    found = contributions(cells, left_out=left_out)
    assert {c.keys: c.uniques_left for c in found.single} == {("k0",): 1, ("k1",): 1}
