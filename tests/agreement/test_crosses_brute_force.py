"""Smaller crosses of a release against every table that fits it, one by one."""

from itertools import combinations, pairwise
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.data.table import Table
from discreet.flows.audit import audit
from discreet.flows.choose import choose
from discreet.tables.crosses import crosses, stands_alone
from discreet.tables.release import released

few = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
SHAPE = (2, 2, 2)
COUNTS = hnp.arrays(np.int64, SHAPE, elements=st.sampled_from([0, 0, 1, 1, 2, 3])).filter(
    lambda counts: 0 < counts.sum() <= 7
)
SETS = ([("a",), ("b",), ("c",)], [("a", "b"), ("b", "c")], [("a", "b"), ("c",)],
        [("a", "b"), ("b", "c"), ("a", "c")])  # fmt: skip


def margin(counts, axes):
    return counts.sum(axis=tuple(i for i in range(counts.ndim) if i not in axes))


def tables_of(total, n_cells):
    """Every way to put so many persons into cells."""
    for bars in combinations(range(total + n_cells - 1), n_cells - 1):
        ends = (-1, *bars, total + n_cells - 1)
        yield [b - a - 1 for a, b in pairwise(ends)]


def fitting(counts, sets, knows=lambda table: True):
    """Every table with these margins of the true one, and its weight 1 / Π n!."""
    wanted = [(axes, margin(counts, axes)) for axes in sets]
    for cells in tables_of(int(counts.sum()), counts.size):
        table = np.array(cells, dtype=np.int64).reshape(counts.shape)
        if knows(table) and all(np.array_equal(margin(table, a), own) for a, own in wanted):
            yield table, 1 / prod(factorial(n) for n in cells)


def expected(pairs, truth, axes, policy, small=2, confidence=0.5):
    """The measure of the table of some variables; None where it has no small cell."""
    total = sum(weight for _, weight in pairs)
    own = margin(truth, axes)
    if policy == "table":
        return sum(w for t, w in pairs if np.array_equal(margin(t, axes), own)) / total
    places = [tuple(p) for p in np.argwhere((own > 0) & (own <= small))]
    if not places:
        return None
    if policy == "bounds":
        spans = [[margin(t, axes)[p] for t, _ in pairs] for p in places]
        return -min(max(values) - min(values) for values in spans)
    hits = 0
    for place in places:
        chances = {}
        for table, weight in pairs:
            q = int(margin(table, axes)[place])
            chances[q] = chances.get(q, 0.0) + weight / total
        best = min(q for q, p in chances.items() if p > max(chances.values()) - 1e-9)
        hits += best == own[place] and chances[best] > confidence + 1e-9
    return hits / len(places)


@pytest.mark.parametrize("policy", ["cells", "table", "bounds"])
@few
@given(COUNTS, st.sampled_from(SETS))
def test_every_smaller_cross_is_measured_over_all_tables_that_fit(policy, counts, sets):
    limit = -1.0 if policy == "bounds" else 0.3
    found = audit(Table.of_dense(counts, list("abc")), sets, measure=policy, max_risk=limit)
    axes_of = [tuple("abc".index(name) for name in names) for names in sets]
    pairs = list(fitting(counts, axes_of))
    looked_at = {one.axes: one.risk.value for one in found.crosses}
    for axes in combinations(range(3), 2):
        printed = any(set(axes) <= set(own) for own in axes_of)
        wanted = None if printed else expected(pairs, counts, axes, policy)
        assert (axes in looked_at) == (wanted is not None)
        if wanted is not None:
            assert looked_at[axes] == pytest.approx(wanted, abs=1e-9)


@few
@given(COUNTS, st.integers(0, 1), st.integers(0, 1), st.integers(0, 1))
def test_what_an_intruder_knows_counts_in_every_cross(counts, a, b, c):
    """A count of finer cells that he knows may settle a sum of others."""
    known = int(counts[a, b, c])
    found = audit(
        Table.of_dense(counts, list("abc")),
        [("a",), ("b",), ("c",)],
        max_risk=0.3,
        knows=[f"a={a + 1},b={b + 1},c={c + 1}:{known}"],
    )
    pairs = list(fitting(counts, [(0,), (1,), (2,)], lambda table: table[a, b, c] == known))
    for one in found.crosses:
        wanted = expected(pairs, counts, one.axes, "cells")
        assert one.risk.value == pytest.approx(wanted, abs=1e-9)


def test_a_small_count_that_is_worked_out_in_a_sum_breaks_the_limit():
    """He knows both cells of a = 1 and b = 1, so that a = 1 and b = 2 is what is left: 1 person."""
    counts = np.zeros((2, 2, 2), dtype=np.int64)
    counts[0, 0] = 20, 30
    counts[0, 1, 0] = 1
    counts[1, 0] = 25, 30
    counts[1, 1] = 28, 33
    table = Table.of_dense(counts, list("abc"))
    release = [("a",), ("b",), ("c",)]
    assert audit(table, release, max_risk=0.25).verdict.allows
    knows = ["a=1,b=1,c=1:20", "a=1,b=1,c=2:30"]
    found = audit(table, release, max_risk=0.25, knows=knows).verdict
    assert not found.allows
    assert "1 of 1 small cell of [a b]" in found.rules[0].words


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.sampled_from(["cells", "table", "bounds"]))
def test_one_more_table_hides_nothing_that_the_others_give_away(data, policy):
    """A table of a variable of its own tells nothing of the others, so that a release which may not
    go out may not go out with it either; nor does a variable that is only named."""
    counts = data.draw(hnp.arrays(np.int64, (2, 2, 2), elements=st.sampled_from([0, 1, 3, 6])))
    table = Table.of_dense(counts, list("abc"))
    if counts.sum() == 0:
        return
    asked = {"measure": policy, "max_risk": {"cells": 0.25, "table": 0.05, "bounds": -3.0}[policy]}
    before = audit(table, [("a",), ("b",)], **asked).verdict
    after = audit(table, [("a",), ("b",), ("c",)], **asked).verdict
    named = audit(table, [("a",), ("b",)], knows=["c=1:0..1000"], **asked).verdict
    if not before.allows:
        assert not after.allows
        assert not named.allows


def test_variables_that_are_only_known_of_have_crosses_too():
    """He knows how many have c = 1, and guesses all three small cells of a and c."""
    table = Table.of_dense(np.array([[[1, 0], [0, 2]], [[2, 3], [0, 3]]]), list("abc"))
    asked = {"max_risk": 0.25, "knows": ["c=1:3"]}
    assert not audit(table, [("a",)], **asked).verdict.allows
    found = audit(table, [("a",), ("b",)], **asked).verdict
    assert "3 of 3 small cells of [a c]" in found.rules[0].words


@pytest.mark.parametrize(
    ("counts", "mask", "asked"),
    [
        # 0, 63, 72 and 42 are shown of [a b], so that with 181 persons it is 1, 64, 73 and 43
        ([[[1, 0], [30, 34]], [[40, 33], [20, 23]]], "rounding[a b][c]:base=3", {"max_risk": 0.3}),
        ([[[1, 0], [1, 3]], [[0, 1], [2, 5]]], "rounding[a b][c]:base=3",
         {"measure": "bounds", "max_risk": -1.0}),
        # nothing is hidden by this suppression, and the margins may not go out
        ([[[0, 6], [2, 1]], [[0, 3], [1, 0]]], "suppression[a][b][c]", {"max_risk": 0.25}),
        ([[[1, 2], [1, 1]], [[4, 0], [2, 0]]], "suppression[a b][c]",
         {"max_risk": 0.0, "small": 1, "confidence": 0.3}),
    ],
)  # fmt: skip
def test_a_mask_hides_no_more_by_one_more_table(counts, mask, asked):
    found = choose(Table.of_dense(np.array(counts), list("abc")), mask, seed=1, **asked)
    assert not found.something_is_safe
    assert any(name.startswith("in [") for name in found.candidates[-1].risks)


@few
@given(COUNTS, st.sampled_from(["cells", "bounds"]))
def test_sums_of_rounded_tables_are_measured_over_all_tables_that_fit(counts, policy):
    """Rounding to the nearest multiple tells an interval of each figure, and the total."""
    limit = -1.0 if policy == "bounds" else 0.3
    table = Table.of_dense(counts, list("abc"))
    found = choose(table, "rounding[a b][c]:base=3", seed=1, max_risk=limit, measure=policy)
    own = found.candidates[-1]
    seen = [(margin(counts, axes) + 1) // 3 for axes in ((0, 1), (2,))]

    def fits(other):
        shown = [(margin(other, axes) + 1) // 3 for axes in ((0, 1), (2,))]
        return all(np.array_equal(a, b) for a, b in zip(seen, shown))

    pairs = list(fitting(counts, [()], fits))
    wanted = [
        expected(pairs, counts, axes, policy)
        for size in (1, 2)
        for axes in combinations(range(3), size)
    ]
    known = [one for one in wanted if one is not None]
    crossed = [risk.value for name, risk in own.risks.items() if name.startswith("in [")]
    if own.masked is not None and crossed:
        assert crossed == [pytest.approx(max(known))]


def test_which_crosses_are_looked_at_depends_on_the_size_alone():
    assert crosses([(0, 1), (1, 2)], 3) == ((0, 2),)
    assert crosses([(0, 1, 2)], 3) == ()
    assert crosses([(0,), (1,)], 2) == ()
    assert crosses([(0,), (1,)], 3) == ((0, 1),)  # a third variable is named, but not released
    assert (0, 1, 2, 3, 4) in crosses([(i,) for i in range(5)], 6)  # likewise
    assert len(crosses([(i,) for i in range(5)], 5)) == 10 + 10 + 5  # pairs, triples, all but one
    assert {len(axes) for axes in crosses([(i,) for i in range(20)], 20)} == {2, 19}
    assert {len(axes) for axes in crosses([(i,) for i in range(6)], 6, 10**9)} == {2, 3, 4, 5}


@pytest.mark.parametrize(
    ("sets", "axes", "alone"),
    [
        (["a", "b", "c"], (0, 1), True),
        (["ab", "bc"], (0, 2), False),  # b links a and c
        (["ab", "bc"], (0, 1), True),
        (["ab", "bc", "ac"], (0, 1), True),  # what c tells of a and b is within [a b]
        (["ab", "bc", "cd"], (0, 1, 3), False),
        (["ab", "bc", "cd"], (0, 1, 2), True),
        (["abc", "cd", "d"], (0, 1), True),
    ],
)
def test_what_stands_alone(sets, axes, alone):
    table = Table.of_dense(np.full((2, 2, 2, 2), 5), list("abcd"))
    assert stands_alone(released(table, [tuple(one) for one in sets]), axes) is alone


@few
@given(st.data())
def test_a_cross_that_stands_alone_is_told_all_by_its_own_margins(data):
    """Against all tables of four variables, by random releases: what `stands_alone` claims."""
    counts = data.draw(
        hnp.arrays(np.int64, (2, 2, 1, 2), elements=st.sampled_from([0, 0, 1, 2])).filter(
            lambda own: 0 < own.sum() <= 6
        )
    )
    names = list("abcd")
    sets = data.draw(
        st.lists(st.sampled_from(["ab", "bd", "ad", "a", "b", "d", "acd"]), min_size=1, max_size=3)
    )
    out = released(Table.of_dense(counts, names), [tuple(one) for one in sets], nesting=False)
    held = sorted({axis for one in out.sets for axis in one})
    truth = out.table.dense()
    pairs = list(fitting(truth, out.sets))
    for axes in (own for size in (1, 2, 3) for own in combinations(held, size)):
        if not stands_alone(out, axes):
            continue
        own_sets = {tuple(axes.index(i) for i in one if i in axes) for one in out.sets}
        whole, alone = {}, {}
        for table, weight in pairs:
            key = margin(table, axes).tobytes()
            whole[key] = whole.get(key, 0.0) + weight
        for table, weight in fitting(margin(truth, axes), own_sets):
            alone[table.tobytes()] = weight
        assert whole.keys() == alone.keys()
        scale = sum(whole.values()) / sum(alone.values())
        assert whole == pytest.approx({key: own * scale for key, own in alone.items()})
