"""Cells that fall together without a key, against comparing all of them."""

from collections import Counter

import numpy as np
import pytest

from discreet.data.coding import Coding
from discreet.survey import regrouping as module
from discreet.survey.regrouping import (
    KeysLeftOut,
    Small,
    alone_after,
    group_sizes,
    grouped,
    n_alone,
    n_alone_without,
    recoded_words,
    small_groups,
)

SIZES = [4, 3, 5, 2, 6]


def by_comparing_all_pairs(levels, records):
    """Records that differ in exactly one key, by looking at every pair of cells."""
    differ = (levels[:, None, :] != levels[None, :, :]).sum(axis=2)
    return ((differ == 1) * records).sum(axis=1)


@pytest.mark.parametrize("limit", [2**62, 40])
def test_neighbours_are_those_found_by_comparing_all_pairs(limit):
    rng = np.random.default_rng(3)
    sizes = [4, 3, 5, 2, 6]
    levels = np.unique(rng.integers(0, sizes, size=(150, 5)), axis=0)
    records = rng.integers(1, 9, len(levels))
    coding = Coding.of_sizes(sizes, limit=limit)
    assert (coding.n_words > 1) == (limit == 40)
    found = KeysLeftOut(coding.encode(levels), records, coding).neighbours()
    assert found.tolist() == by_comparing_all_pairs(levels, records).tolist()


def test_with_one_key_every_other_record_is_a_neighbour():
    coding = Coding.of_sizes([3])
    found = KeysLeftOut(np.array([[0], [1], [2]]), np.array([5, 1, 2]), coding).neighbours()
    assert found.tolist() == [3, 7, 6]


def test_a_single_cell_has_no_neighbour():
    coding = Coding.of_sizes([3, 2])
    assert KeysLeftOut(np.array([[4]]), np.array([7]), coding).neighbours().tolist() == [0]


def test_the_codes_are_left_as_they_were():
    coding = Coding.of_sizes([3, 2])
    words = np.array([[0], [4], [5]])
    KeysLeftOut(words, np.array([1, 1, 1]), coding).neighbours()
    assert words.tolist() == [[0], [4], [5]]


@pytest.fixture(params=["packed", "several words", "no room for packing"])
def cells(request, monkeypatch):
    """Cells with their coding, by each way of sorting them."""
    rng = np.random.default_rng(7)
    levels = np.unique(rng.integers(0, SIZES, size=(200, 5)), axis=0)
    coding = Coding.of_sizes(SIZES, limit=40 if request.param == "several words" else 2**62)
    if request.param == "no room for packing":
        monkeypatch.setattr(module, "BITS", 3)
    return levels, rng.integers(1, 9, len(levels)), coding


def test_groups_are_those_of_counting_one_by_one(cells):
    levels, records, coding = cells
    words = coding.encode(levels)
    for key in range(len(SIZES)):
        held: Counter[tuple[int, ...]] = Counter()
        rest = [tuple(np.delete(row, key).tolist()) for row in levels]
        for name, n in zip(rest, records.tolist(), strict=True):
            held[name] += n
        reduced = recoded_words(words, coding, key)
        assert sorted(group_sizes(reduced, records)) == sorted(held.values())
        order, starts = grouped(reduced)
        found = [{rest[i] for i in run} for run in np.split(order, starts[1:])]
        assert sorted(map(sorted, found)) == sorted([name] for name in held)
        distinct, several = alone_after(reduced, records > 1)
        names = [tuple(np.delete(row, key).tolist()) for row in coding.decode(distinct)]
        told = dict(zip(names, several.tolist(), strict=True))
        assert told == {name: n > 1 for name, n in held.items()}
        assert n_alone(reduced, records > 1) == sum(n == 1 for n in held.values())
        assert [n_alone(reduced, records > 1)] == list(
            n_alone_without(words, records > 1, coding, [key])
        )


def test_a_coarser_key_puts_levels_together(cells):
    levels, _, coding = cells
    to = np.array([0, 0, 1, 1, 2])
    coarser = levels.copy()
    coarser[:, 2] = to[levels[:, 2]]
    found = recoded_words(coding.encode(levels), coding, 2, to)
    assert coding.decode(found).tolist() == coarser.tolist()


@pytest.mark.parametrize("neighbours_first", [True, False])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_small_cells_without_a_key_are_the_same_however_counted(cells, neighbours_first, k):
    levels, records, coding = cells
    left_out = KeysLeftOut(coding.encode(levels), records, coding)
    if neighbours_first:
        left_out.neighbours()
    for key in range(len(SIZES)):
        held: Counter[tuple[int, ...]] = Counter()
        for row, n in zip(np.delete(levels, key, axis=1).tolist(), records.tolist(), strict=True):
            held[tuple(row)] += n
        alone = sum(n == 1 for n in held.values())
        expected = Small(sum(n for n in held.values() if n < k), alone)
        assert left_out.small(key, k) == left_out.small(key, k) == expected
        assert small_groups(recoded_words(left_out.words, coding, key), records, k) == expected
