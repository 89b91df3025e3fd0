"""Cells with a key changed or left out, against grouping their levels anew."""

from collections import Counter

import numpy as np
import pytest

from discreet.data.coding import Coding
from discreet.data.missing import missing_policy
from discreet.engines.contract import KeyLevels
from discreet.survey.projection import AllCells

SIZES = (4, 3, 5, 2)


def key(name, size):
    values = tuple(map(str, range(size)))
    return KeyLevels(name=name, values=values, labels=values, n_missing=0)


@pytest.fixture(params=[2**62, 20], ids=["one word", "several words"])
def cells(request):
    rng = np.random.default_rng(2)
    levels = np.unique(rng.integers(0, SIZES, (70, len(SIZES))), axis=0)
    records = rng.integers(1, 6, len(levels))
    coding = Coding.of_sizes(SIZES, limit=request.param)
    words = coding.encode(levels)
    order = np.lexsort(words.T[::-1])
    return AllCells(
        words=words[order],
        records=records[order],
        sample_count=records[order],
        coding=coding,
        keys=tuple(key(f"k{j}", size) for j, size in enumerate(SIZES)),
        policy=missing_policy("category"),
        missing_weight=1.0,
    )


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


@pytest.mark.parametrize("at", range(len(SIZES)))
def test_a_coarser_key(cells, at):
    to = np.arange(SIZES[at]) // 2
    found, place = cells.recoded(at, to, key("coarser", int(to.max()) + 1))
    levels = cells.coding.decode(cells.words)
    levels[:, at] = to[levels[:, at]]
    check(found, place, levels, cells.records)


@pytest.mark.parametrize("at", range(len(SIZES)))
def test_one_level_for_all_is_as_if_the_key_were_not_there(cells, at):
    found, place = cells.flattened(at)
    levels = cells.coding.decode(cells.words)
    levels[:, at] = 0
    check(found, place, levels, cells.records)
