"""Ladders: each rung puts together what the one before left apart, and shares add up."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.hierarchy import Hierarchy
from discreet.engines.key_space import KeyLevels
from discreet.masks.records.recoding import Bands, Drop, Levels, Merge, Same, Tree
from discreet.protection.ladders import ladder_of, leaf_shares, rung_of

TREE = Hierarchy.of_table(
    [("a", "1", "*"), ("b", "1", "*"), ("c", "2", "*"), ("d", "2", "*"), ("unseen", "2", "*")]
)


def levels_of(values, records=None):
    key = KeyLevels(name="x", values=tuple(values), labels=tuple(map(str, values)), n_missing=0)
    held = np.ones(len(values), dtype=np.int64) if records is None else np.array(records)
    return Levels(key=key, records=held)


CODES = st.sets(st.from_regex(r"[A-D][0-9]{2}", fullmatch=True), min_size=1, max_size=20)
KEYS = st.one_of(
    st.sets(st.integers(-40, 300).map(str), min_size=1, max_size=40),
    st.sets(st.integers(0, 40).map(lambda n: str(n / 4)), min_size=1, max_size=30),
    CODES,
    st.sets(st.dates().map(str), min_size=1, max_size=20),
    st.sets(st.sampled_from("pqrstuvwxyz"), min_size=1),
    st.sets(st.sampled_from(["other", "x", "y", "99", "?", "unknown"]), min_size=1),
)


@given(KEYS, st.booleans(), st.data())
def test_each_rung_is_coarser_than_the_one_before(values, lacks, data):
    known = sorted(values)
    n = len(known) + lacks
    records = data.draw(st.lists(st.integers(1, 30), min_size=n, max_size=n))
    ladder = ladder_of(levels_of([*known, *([None] if lacks else [])], records))
    assert isinstance(ladder.rungs[0].how, Same)
    sizes = [len(rung.levels.values) for rung in ladder.rungs]
    assert all(a > b for a, b in pairwise(sizes))
    for below, above in pairwise(ladder.rungs):
        of = {}
        for b, a in zip(below.to, above.to, strict=True):
            assert of.setdefault(int(b), int(a)) == a
    for rung in ladder.rungs:
        whole = isinstance(rung.how, Drop)
        shown = [s for s, v in zip(rung.leaf_shares, rung.levels.values, strict=True)
                 if v is not None]  # fmt: skip
        assert sum(shown) == pytest.approx(1.0)
        assert np.all((rung.leaf_shares > 0) & (rung.leaf_shares <= 1))
        assert set(rung.to.tolist()) == set(range(len(rung.levels.values)))
        if lacks and not whole:
            assert rung.levels.values[rung.to[-1]] is None


def test_a_key_of_one_level_has_nothing_to_leave_out():
    assert [type(rung.how) for rung in ladder_of(levels_of(["only"])).rungs] == [Same]
    ladder = ladder_of(levels_of(["only", None]))
    assert [type(rung.how) for rung in ladder.rungs] == [Same, Drop]


def test_a_tree_gives_its_heights_below_the_root_and_counts_leaves_that_nobody_has():
    ladder = ladder_of(levels_of(["a", "b", "c", "d", None]), TREE)
    assert [type(rung.how) for rung in ladder.rungs] == [Same, Tree, Drop]
    assert ladder.leaves == 5
    assert ladder.rungs[0].leaf_shares == pytest.approx([0.2] * 4 + [1.0])
    assert ladder.rungs[1].leaf_shares == pytest.approx([0.4, 0.6, 1.0])
    assert ladder.rungs[2].leaf_shares == pytest.approx([1.0])


def test_heights_that_put_nothing_together_are_no_rungs():
    tree = Hierarchy.of_table([("a", "A", "x", "*"), ("b", "B", "x", "*"), ("c", "C", "y", "*")])
    ladder = ladder_of(levels_of(["a", "b", "c"]), tree)
    assert [getattr(rung.how, "height", None) for rung in ladder.rungs] == [None, 2, None]


def test_what_may_not_be_done_is_not_on_the_ladder():
    levels = levels_of([str(n) for n in range(60)])
    assert len(ladder_of(levels, may_recode=False)) == 1
    kinds = [type(rung.how) for rung in ladder_of(levels, may_drop=False).rungs]
    assert kinds == [Same, Bands, Bands, Bands]


def test_shares_follow_two_recodings_one_after_the_other():
    levels = levels_of(["a", "b", "c", "d"])
    first = rung_of(levels, Tree(key="x", height=1, tree=TREE), TREE)
    merged = Merge(key="x", levels=("1", "2"), into="all")
    last = rung_of(Levels(key=first.levels, records=np.array([2, 2])), merged)
    to = last.to[first.to]
    shares = leaf_shares(levels.key, last.levels, to, (first.how, last.how), TREE)
    assert shares == pytest.approx([1.0])
