"""The search for minimal sample uniques and the derivation of one record against the definition."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.survey.suda.derivation import derive
from discreet.survey.suda.scores import special_uniques

KeySet = tuple[int, ...]


def unique_sets(records: list[tuple[int, ...]], keys: KeySet) -> list[bool]:
    """For each record, whether no other record shares its values of these keys."""
    values = [tuple(record[key] for key in keys) for record in records]
    counts = Counter(values)
    return [counts[value] == 1 for value in values]


def msus_by_definition(levels: np.ndarray, max_size: int) -> list[set[KeySet]]:
    """For each record, the sets of keys unique to it of which no smaller part is."""
    records = [tuple(row) for row in levels.tolist()]
    n_keys = levels.shape[1]
    sets = [keys for size in range(1, n_keys + 1) for keys in combinations(range(n_keys), size)]
    unique = {keys: unique_sets(records, keys) for keys in sets}
    found: list[set[KeySet]] = [set() for _ in records]
    for keys in sets:
        parts = [part for part in sets if set(part) < set(keys)]
        for row in range(len(records)):
            if unique[keys][row] and not any(unique[part][row] for part in parts):
                found[row].add(keys)
    return [{keys for keys in of_row if len(keys) <= max_size} for of_row in found]


def assert_counts_agree(levels: np.ndarray, max_size: int, memory_limit: int = 2**20) -> None:
    """Every count of the search against the list of minimal sample uniques by definition."""
    truth = msus_by_definition(levels, max_size)
    found = special_uniques(levels, max_size=max_size, by_record=True, memory_limit=memory_limit)
    sizes = range(1, max_size + 1)
    by_row = np.zeros((len(levels), max_size), dtype=int)
    by_row[found.rows] = found.n_msus
    assert by_row.tolist() == [
        [sum(len(keys) == size for keys in msus) for size in sizes] for msus in truth
    ]
    assert found.key_msus is not None
    for row, key_msus in zip(found.rows, found.key_msus, strict=True):
        for key in range(levels.shape[1]):
            holding = [keys for keys in truth[row] if key in keys]
            assert key_msus[key].tolist() == [
                sum(len(k) == size for k in holding) for size in sizes
            ]
    for key, (codes, level_msus) in enumerate(zip(found.levels, found.level_msus, strict=True)):
        assert codes.tolist() == sorted(set(levels[:, key].tolist()))
        for code, counted in zip(codes, level_msus, strict=True):
            rows = np.flatnonzero(levels[:, key] == code)
            holding = [keys for row in rows for keys in truth[row] if key in keys]
            assert counted.tolist() == [sum(len(k) == size for k in holding) for size in sizes]


@st.composite
def files(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    """A small file whose keys have from one to many levels, and a limit on the size."""
    n_keys = draw(st.integers(1, 6))
    tops = draw(st.lists(st.sampled_from([0, 1, 1, 2, 3, 9, 40]), min_size=n_keys, max_size=n_keys))
    row = st.tuples(*(st.integers(0, top) for top in tops))
    rows = draw(st.lists(row, min_size=1, max_size=30))
    return np.array(rows, dtype=np.int64), draw(st.integers(1, n_keys))


@settings(max_examples=150)
@given(files())
def test_search_finds_exactly_the_minimal_sample_uniques(file: tuple[np.ndarray, int]) -> None:
    assert_counts_agree(*file)


@settings(max_examples=100)
@given(files())
def test_derivation_lists_exactly_the_minimal_sample_uniques(file: tuple[np.ndarray, int]) -> None:
    levels, max_size = file
    for row, truth in enumerate(msus_by_definition(levels, max_size)):
        derived = derive(levels, row, max_size=max_size).msus
        assert {msu.keys for msu in derived} == truth
        assert len(derived) == len(truth)
        assert all(msu.levels == tuple(levels[row, list(msu.keys)]) for msu in derived)


@pytest.mark.parametrize("max_size", [1, 2, 3, 7])
@pytest.mark.parametrize("tops", [(2, 2, 2, 2, 2, 2, 2), (2, 3, 2, 4, 6, 30, 2), (300,) * 7])
def test_search_agrees_with_several_words_of_bits(tops: tuple[int, ...], max_size: int) -> None:
    rng = np.random.default_rng(3)
    levels = np.stack([rng.integers(0, top, 150) for top in tops], axis=1)
    assert_counts_agree(levels, max_size)


def test_blocks_of_sample_uniques_give_the_same_counts() -> None:
    rng = np.random.default_rng(4)
    levels = np.stack([rng.integers(0, top, 300) for top in (2, 3, 2, 4, 6, 9)], axis=1)
    assert len(special_uniques(levels).rows) > 2 * 64
    assert_counts_agree(levels, 6, memory_limit=1)
    assert_counts_agree(levels, 3, memory_limit=1)


def test_more_levels_than_sixteen_bits() -> None:
    rng = np.random.default_rng(5)
    wide = np.concatenate([np.arange(70_000), np.arange(70_000)]).astype(np.int64)
    levels = np.stack([wide, rng.integers(0, 2, 140_000), rng.integers(0, 3, 140_000)], axis=1)
    found = special_uniques(levels)
    differs = (levels[:70_000] != levels[70_000:])[:, 1:]
    pairs = np.stack([differs.sum(axis=1), np.zeros(70_000, dtype=int)], axis=1)
    alone = np.flatnonzero(np.tile(pairs[:, 0] > 0, 2))
    assert np.array_equal(found.rows, alone)
    assert np.array_equal(found.n_msus[:, 1], np.tile(pairs[:, 0], 2)[alone])
    assert not found.n_msus[:, [0, 2]].any()


def test_more_combinations_than_sixty_two_bits() -> None:
    rng = np.random.default_rng(6)
    levels = rng.integers(0, 2**40, (60, 16))
    levels[30:] = levels[:30]
    levels[35, :2] = levels[0, :2]
    found = special_uniques(levels, max_size=3)
    assert math.prod(len(codes) for codes in found.levels) > 2**62
    assert found.rows.tolist() == [5, 35]
    assert found.n_msus.tolist() == [[2, 0, 0], [0, 2 * 14, 0]]
