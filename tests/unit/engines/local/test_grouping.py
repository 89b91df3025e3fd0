"""Cells that fall together without a key, against comparing all of them."""

from collections import Counter

import numpy as np
import pytest

from discreet.data.coding import Coding
from discreet.engines.contract import Small
from discreet.engines.local import grouping as module
from discreet.engines.local.grouping import (
    alone_after,
    distinct_rows,
    group_sizes,
    grouped,
    in_order,
    n_alone,
    neighbours_without,
    places_among,
    recoded_words,
    small_groups,
)

SIZES = [4, 3, 5, 2, 6]


def counted(levels, records):
    """The records of each combination of levels."""
    held: Counter[tuple[int, ...]] = Counter()
    for row, n in zip(levels.tolist(), records.tolist(), strict=True):
        held[tuple(row)] += n
    return held


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


def test_a_coarser_key_puts_levels_together(cells):
    levels, _, coding = cells
    to = np.array([0, 0, 1, 1, 2])
    coarser = levels.copy()
    coarser[:, 2] = to[levels[:, 2]]
    found = recoded_words(coding.encode(levels), coding, 2, to)
    assert coding.decode(found).tolist() == coarser.tolist()


@pytest.mark.parametrize("at_hand", [1, 2, 7, 1 << 15])
def test_rows_alone_are_the_same_however_many_are_looked_at_together(cells, monkeypatch, at_hand):
    levels, records, coding = cells
    words = coding.encode(levels)
    monkeypatch.setattr(module, "AT_HAND", at_hand)
    for key in range(len(SIZES)):
        held = counted(np.delete(levels, key, axis=1), records)
        reduced = recoded_words(words, coding, key)
        assert n_alone(reduced, records > 1) == sum(n == 1 for n in held.values())


@pytest.mark.parametrize("k", [2, 3, 7])
def test_small_cells_without_a_key(cells, k):
    levels, records, coding = cells
    words = coding.encode(levels)
    for key in range(len(SIZES)):
        held = counted(np.delete(levels, key, axis=1), records)
        alone = sum(n == 1 for n in held.values())
        expected = Small(sum(n for n in held.values() if n < k), alone)
        assert small_groups(recoded_words(words, coding, key), records, k) == expected


def test_what_a_key_keeps_apart(cells):
    levels, records, coding = cells
    words = coding.encode(levels)
    before = words.copy()
    for key in range(len(SIZES)):
        held = counted(np.delete(levels, key, axis=1), records)
        rest = [tuple(np.delete(row, key).tolist()) for row in levels]
        others = [held[name] - n for name, n in zip(rest, records.tolist(), strict=True)]
        at, found, sizes = neighbours_without(words, records, coding, key)
        told = np.zeros(len(words), dtype=np.int64)
        told[at] = found
        assert told.tolist() == others
        assert sorted(at.tolist()) == [i for i, n in enumerate(others) if n]
        expected = Counter(held.values())
        assert dict(zip(sizes.sizes.tolist(), sizes.cells.tolist(), strict=True)) == expected
    assert (words == before).all()


@pytest.mark.parametrize("n_codes", [None, 720, 10**9])
def test_distinct_rows_and_their_places(cells, n_codes):
    levels, _, coding = cells
    words = np.random.default_rng(1).permutation(coding.encode(np.repeat(levels, 3, axis=0)))
    if coding.n_words > 1:
        n_codes = None
    distinct, place = distinct_rows(words, n_codes)
    assert [tuple(row) for row in distinct.tolist()] == sorted(set(map(tuple, words.tolist())))
    assert (distinct[place] == words).all()


def test_places_among_known_rows_and_none_for_others(cells):
    levels, _, coding = cells
    words = coding.encode(levels)[np.random.default_rng(2).permutation(len(levels))]
    known, sought = words[::2], words
    rows = [tuple(row) for row in known.tolist()]
    expected = [rows.index(tuple(w)) if tuple(w) in rows else -1 for w in sought.tolist()]
    assert places_among(known, sought).tolist() == expected
    order = in_order(known)
    assert known[order].tolist() == sorted(known.tolist())
    ordered = [-1 if at < 0 else int(np.flatnonzero(order == at)[0]) for at in expected]
    assert places_among(known[order], sought, ordered=True).tolist() == ordered
    assert places_among(known[:0], sought).tolist() == [-1] * len(sought)
