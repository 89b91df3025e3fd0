"""Codes of cells seen through coarser keys, against decoding, recoding and coding anew."""

from itertools import combinations

import numpy as np
import pytest
from tests.oracles.cells_beside import space_of

from discreet.data.coding import Coding
from discreet.engines import key_space as module
from discreet.engines.key_space import KeyLevels

SIZES = (4, 3, 5, 2, 6)


def coarser(size, groups):
    """A recoding of so many levels into fewer, and the key that it makes."""
    to = np.random.default_rng(size).permutation(np.arange(size) % groups)
    labels = tuple(f"group {i}" for i in range(groups))
    return to, KeyLevels(name="coarser", values=labels, labels=labels, n_missing=0)


@pytest.fixture(params=[2**62, 40, 7], ids=["one word", "several words", "a word each"])
def space(request):
    return space_of(SIZES, limit=request.param)


@pytest.fixture(params=[1 << 15, 7], ids=["at once", "in pieces"], autouse=True)
def pieces(request, monkeypatch):
    monkeypatch.setattr(module, "AT_HAND", request.param)


@pytest.fixture
def levels():
    return np.random.default_rng(1).integers(0, SIZES, (200, len(SIZES)))


def check(view, levels, expected, sizes):
    """The view turns the codes of levels into those of the expected ones."""
    assert view.space.coding.sizes == tuple(sizes)
    assert [max(len(key.values), 1) for key in view.space.keys] == list(sizes)
    words = view.words(view.before.encode(levels))
    assert words.tolist() == Coding.of_sizes(sizes).encode(expected).tolist()


def test_a_space_seen_as_it_is(space, levels):
    view = space.itself()
    assert view.untouched == frozenset(range(5))
    assert view.words(space.coding.encode(levels)).tolist() == space.coding.encode(levels).tolist()


@pytest.mark.parametrize("changed", range(6))
def test_any_number_of_keys_made_coarser(space, levels, changed):
    for keys in combinations(range(5), changed):
        view, expected, sizes = space.itself(), levels.copy(), list(SIZES)
        for key in keys:
            to, named = coarser(SIZES[key], 2)
            view = view.recoded(key, to, named)
            expected[:, key], sizes[key] = to[levels[:, key]], 2
        if space.coding.n_words == 1:
            check(view, levels, expected, sizes)
        assert view.untouched == frozenset(range(5)) - set(keys)
        assert (view.space.coding.decode(view.words(space.coding.encode(levels))) == expected).all()


@pytest.mark.parametrize("left", range(1, 6))
def test_any_keys_alone_in_any_order(space, levels, left):
    for keys in combinations(range(5), left):
        for order in (keys, keys[::-1], (*keys[1:], keys[0])):
            view = space.itself().of_keys(order)
            check(view, levels, levels[:, list(order)], [SIZES[key] for key in order])
            assert view.space.names == tuple(f"k{key}" for key in order)
            assert view.untouched == frozenset(keys)


def test_recodings_follow_each_other(space, levels):
    first, named = coarser(6, 4)
    again, fewer = coarser(4, 2)
    view = space.itself().recoded(4, first, named).recoded(4, again, fewer).of_keys([4, 0])
    expected = np.stack([again[first[levels[:, 4]]], levels[:, 0]], axis=1)
    check(view, levels, expected, [2, 4])
    assert view.untouched == {0}
    once = space.itself().of_keys([4, 0]).recoded(0, again[first], fewer)
    words = space.coding.encode(levels)
    assert once.words(words).tolist() == view.words(words).tolist()


@pytest.mark.parametrize("key", range(5))
def test_a_key_of_one_level_is_as_if_it_were_not_there(space, levels, key):
    view = space.itself().flattened(key)
    others = [j for j in range(5) if j != key]
    alone = space.itself().of_keys(others)
    words = space.coding.encode(levels)
    same = [
        np.unique(v.words(words), axis=0, return_inverse=True)[1].ravel() for v in (view, alone)
    ]
    pairs = set(zip(same[0].tolist(), same[1].tolist(), strict=True))
    assert len(pairs) == len(set(same[0].tolist())) == len(set(same[1].tolist()))
    assert view.space.coding.sizes[key] == 1


def test_no_cell_at_all(space):
    view = space.itself().of_keys([1, 2])
    assert view.words(space.coding.encode(np.empty((0, 5), dtype=np.int64))).shape[0] == 0


class TestMissing:
    def test_the_missing_level_is_the_last_where_there_is_one(self):
        assert space_of((3, 2, 4), missing=[0, 2]).missing_levels.tolist() == [2, -1, 3]

    @pytest.mark.parametrize("policy", ["category", "wildcard", "conservative"])
    def test_cells_overlap_where_a_missing_value_matches_anything(self, policy):
        matches = policy != "category"
        space = space_of((3, 2), missing=[0], policy=policy)
        assert space.overlap == matches
        assert space.known_sizes == ((2, 2) if matches else (3, 2))
        assert bool(space.matched_by) == matches
        assert not space_of((3, 2), policy=policy).overlap
        assert not space.itself().of_keys([1]).space.overlap
