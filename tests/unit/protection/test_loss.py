"""What a change cost, against loops over records, and the published optima of ARX."""

import csv
import json
import math
import os
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.transitions import changes, transition

from discreet.errors import InputError
from discreet.figures import Figure, How, Unavailable
from discreet.protection import key_change, key_tables
from discreet.protection.loss import loss_of
from discreet.protection.transition import Transition

DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[4] / "shared" / "data"))


def each_record(case):
    """The values of every single record: before, by the recoding alone, after."""
    names, before, after, recode, records = case
    for old, new, n in zip(before, after, records):
        by = [recode.get(name, {}).get(v, v) for name, v in zip(names, old)]
        yield from [(old, tuple(by), new)] * n


def of(case, **more):
    names, before, after, recode, records = case
    return loss_of(transition(names, before, after, recode=recode, records=records, **more))


def bits(items):
    counts = Counter(items)
    n = sum(counts.values())
    return -sum(c / n * math.log2(c / n) for c in counts.values())


@given(changes())
def test_values_are_counted_as_a_reader_of_both_files_would(case):
    names, before, _, recode, _ = case
    found = of(case)
    suppressed, changed, coarsened = Counter(), Counter(), Counter()
    touched = moved = 0
    for old, by, new in each_record(case):
        local = coarse = False
        for j, name in enumerate(names):
            if old[j] is not None and new[j] is None:
                suppressed[name] += 1
                local = True
            elif new[j] is not None and new[j] != by[j]:
                changed[name] += 1
                local = True
            elif old[j] is not None:
                levels = {row[j] for row in before}
                several = sum(recode.get(name, {}).get(v, v) == by[j] for v in levels) > 1
                coarsened[name] += several
                coarse |= several
        touched += local
        moved += local or coarse
    n = sum(case[4])
    for cost, truth in [
        (found.suppressed_values, suppressed),
        (found.changed_values, changed),
        (found.coarsened_values, coarsened),
    ]:
        assert {name: one.value for name, one in cost.by_key.items()} == {
            k: truth[k] for k in names
        }
        assert cost.overall == Figure(value=sum(truth.values()), how=How.EXACT)
    assert found.records_touched.value == touched
    assert found.records_as_before.value == n - moved


@given(changes())
def test_entropy_kept_is_the_information_that_a_value_after_has_of_the_one_before(case):
    found = of(case)
    records = list(each_record(case))
    for j, name in enumerate(case[0]):
        h = bits(old[j] for old, _, _ in records)
        if h == 0:
            assert isinstance(found.entropy_kept.by_key[name], Unavailable)
            continue
        shared = h + bits(new[j] for _, _, new in records)
        shared -= bits((old[j], new[j]) for old, _, new in records)
        assert found.entropy_kept.by_key[name].value == pytest.approx(shared / h, abs=1e-12)
    known = [one.value for one in found.entropy_kept.by_key.values() if isinstance(one, Figure)]
    if known:
        assert found.entropy_kept.overall.value == pytest.approx(np.mean(known))


def distance(records, keys, weights):
    """Half the sum of absolute differences of the tables by recoding and after."""
    gap = Counter()
    for (_, by, new), w in zip(records, weights):
        gap[tuple(by[j] for j in keys)] += w
        gap[tuple(new[j] for j in keys)] -= w
    return sum(map(abs, gap.values())) / 2 / sum(weights)


@given(changes(), st.data())
def test_distances_are_the_share_of_persons_in_another_cell(case, data):
    names, n_rows = case[0], len(case[1])
    weight = data.draw(st.lists(st.floats(0.5, 9), min_size=n_rows, max_size=n_rows))
    found = of(case, weight=weight)
    each = list(each_record(case))
    w = [x / n for x, n in zip(weight, case[4]) for _ in range(n)]
    for size, cost in [(1, found.one_way_distance), (2, found.two_way_distance)]:
        sets = list(combinations(range(len(names)), size))
        if not sets:
            assert isinstance(cost.mean, Unavailable)
            continue
        plain = [distance(each, s, [1] * len(each)) for s in sets]
        weighted = [distance(each, s, w) for s in sets]
        assert [one.value for one in cost.by_table.values()] == pytest.approx(plain)
        assert [x.value for x in cost.weighted.by_table.values()] == pytest.approx(weighted)
        assert cost.mean.value == pytest.approx(np.mean(plain))
        assert cost.worst.value == pytest.approx(max(plain))
        assert cost.by_table[cost.worst_at].value == cost.worst.value
        assert cost.weighted.worst.value == pytest.approx(max(weighted))


@given(changes(min_keys=2))
def test_two_way_information_is_of_the_records_that_have_both_values(case):
    found = of(case).two_way_information_kept
    each, kept, bits_of = list(each_record(case)), {}, np.zeros(2)

    def shared(rows):
        rows = [row for row in rows if None not in row]
        if not rows:
            return 0.0
        return len(rows) * (bits(a for a, _ in rows) + bits(b for _, b in rows) - bits(rows))

    for i, j in combinations(range(len(case[0])), 2):
        before = shared([(old[i], old[j]) for old, _, _ in each])
        after = shared([(new[i], new[j]) for _, _, new in each])
        if before > 1e-6:
            kept[case[0][i], case[0][j]] = min(after / before, 1.0)
            bits_of += before, min(after, before)
    assert {k: one.value for k, one in found.by_table.items()} == pytest.approx(kept, abs=1e-9)
    if kept:
        assert found.mean.value == pytest.approx(np.mean(list(kept.values())), abs=1e-9)
        assert found.worst.value == pytest.approx(min(kept.values()), abs=1e-9)
        assert found.pooled.value == pytest.approx(bits_of[1] / bits_of[0], abs=1e-9)
    else:
        assert isinstance(found.mean, Unavailable)


@given(changes(), st.data())
def test_arx_is_the_mean_share_of_the_domain(case, data):
    names, before, _, recode, _ = case
    importance = np.array(
        data.draw(st.lists(st.integers(1, 3), min_size=len(names), max_size=len(names))), float
    )
    change = transition(names, before, case[2], recode=recode, records=case[4])
    found = loss_of(change, importance=importance).arx
    logs = []
    for j, name in enumerate(names):
        known = {row[j] for row in before} - {None}
        held = Counter(recode.get(name, {}).get(v, v) for v in known)
        leaves = max(len(known), 1)
        shares = []
        for old, _, new in each_record(case):
            if new[j] is None:
                shares.append(1 / leaves if old[j] is None else 1)
            else:
                shares.append(max(held[new[j]], 1) / leaves)
        x = 0.0 if leaves == 1 else (np.mean(shares) - 1 / leaves) / (1 - 1 / leaves)
        assert found.by_key[name].value == pytest.approx(x, abs=1e-12)
        logs.append(math.log1p(x))
    truth = math.exp(np.average(logs, weights=importance)) - 1
    assert found.overall.value == pytest.approx(truth, abs=1e-12)


@given(changes())
def test_a_file_that_is_only_recoded_moves_no_table(case):
    names, before, _, recode, records = case
    after = [tuple(recode.get(n, {}).get(v, v) for n, v in zip(names, row)) for row in before]
    found = loss_of(transition(names, before, after, recode=recode, records=records))
    assert found.suppressed_values.overall.value == found.changed_values.overall.value == 0
    assert found.one_way_distance.mean.value == 0
    assert found.pmse.pmse.value == 0
    assert found.records_touched.value == 0


@given(changes(), st.randoms())
def test_neither_the_order_of_rows_nor_the_names_of_values_matter(case, random):
    names, before, after, recode, records = case
    order = list(range(len(before)))
    random.shuffle(order)
    relabel = {"a": "z", "b": "y", "c": "x", "ab": "w", None: None, "": ""}
    other = transition(
        names,
        [tuple(relabel[v] for v in before[i]) for i in order],
        [tuple(relabel[v] for v in after[i]) for i in order],
        recode={n: {relabel[v]: relabel[u] for v, u in to.items()} for n, to in recode.items()},
        records=[records[i] for i in order],
    )
    same(of(case).to_json(), loss_of(other).to_json())


def same(one, other):
    """Equal JSON but for rounding; the worst of equally bad tables keeps its place."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            same(one[name], other[name])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for a, b in zip(one, other):
            same(a, b)
    else:
        assert one == (pytest.approx(other, abs=1e-9) if isinstance(other, float) else other)


def test_identical_files_lose_nothing():
    rows = [("a", "x"), ("b", "y"), ("a", "x"), ("b", "x")]
    found = loss_of(transition(["one", "two"], rows, rows))
    assert found.arx.overall.value == 0
    assert found.entropy_kept.overall.value == 1
    assert found.two_way_information_kept.mean.value == 1
    assert found.two_way_distance.worst.value == 0
    assert found.pmse.pmse.value == 0
    assert found.records_as_before.value == 4
    assert isinstance(found.one_way_distance.weighted, Unavailable)


def test_all_suppressed():
    rows = [("a", "x"), ("b", "y")]
    found = loss_of(transition(["one", "two"], rows, [(None, None)] * 2))
    assert found.suppressed_values.overall.value == 4
    assert [cost.overall.value for cost in found.search.values()] == pytest.approx([1, 1, 1])
    assert found.entropy_kept.overall.value == 0
    assert found.one_way_distance.mean.value == found.two_way_distance.mean.value == 1
    assert found.two_way_information_kept.mean.value == 0
    assert found.pmse.pmse.value > 0.15  # of at most 1/4; two records are shrunk by the ridge


def test_a_dropped_key_is_no_suppression():
    rows = [("a", "x"), ("b", "y")]
    recode = {"two": {"x": "", "y": ""}}
    found = loss_of(transition(["one", "two"], rows, [("a", ""), ("b", "")], recode=recode))
    assert found.dropped_keys == ("two",)
    assert found.suppressed_values.overall.value == 0
    assert found.coarsened_values.by_key["two"].value == 2
    assert found.arx.by_key["two"].value == 1
    assert found.two_way_information_kept.mean.value == 0


def test_a_value_recoded_into_the_missing_level_is_suppressed_and_not_placed():
    rows = [("a",), ("b",), (None,), ("a",)]
    after = [(None,), ("b",), (None,), (None,)]
    found = loss_of(transition(["one"], rows, after, recode={"one": {"a": None}}))
    assert found.suppressed_values.overall.value == 2
    assert found.one_way_distance.mean.value == 0.5


def test_one_record():
    found = loss_of(transition(["one"], [("a",)], [("a",)]))
    assert found.arx.overall.value == 0
    assert isinstance(found.entropy_kept.overall, Unavailable)
    assert isinstance(found.two_way_distance.mean, Unavailable)
    assert isinstance(found.pmse.ratio, Unavailable)
    json.dumps(found.to_json(), allow_nan=False)


def test_no_keys_and_no_records():
    none = np.empty((1, 0), dtype=np.int64)
    empty = Transition(
        keys_before=(),
        keys_after=(),
        before=none,
        after=none,
        records=np.array([7]),
        recoded=(),
        leaf_shares=(),
    )
    found = loss_of(empty)
    assert found.n_records == found.records_as_before.value == 7
    for outcome in (
        found.arx.overall,
        found.entropy_kept.overall,
        found.one_way_distance.mean,
        found.two_way_information_kept.mean,
        found.pmse.pmse,
    ):
        assert outcome == Unavailable("no keys were given")
    nobody = transition(["one"], [("a",)], [("a",)], records=[0])
    assert isinstance(loss_of(nobody).pmse.pmse, Unavailable)


def test_tables_that_are_too_large_are_named(monkeypatch):
    rows = [("a", "x", "1"), ("b", "y", "2"), ("c", "x", "1")]
    monkeypatch.setattr(key_tables, "MOST_CELLS", 10)
    found = loss_of(transition(["one", "two", "three"], rows, rows))
    assert found.two_way_distance.left_out == (("one", "two"), ("one", "three"))
    assert list(found.two_way_distance.by_table) == [("two", "three")]
    monkeypatch.setattr(key_tables, "MOST_CELLS", 1)
    found = loss_of(transition(["one", "two", "three"], rows, rows))
    assert isinstance(found.two_way_distance.mean, Unavailable)
    assert isinstance(found.two_way_information_kept.mean, Unavailable)


@given(changes())
def test_keys_of_many_levels_are_counted_the_same(case):
    usual = of(case).to_json()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_change, "MOST_CELLS", 0)
        same(of(case).to_json(), usual)


@pytest.mark.parametrize("importance", [[1.0], [-1.0, 2.0], [0.0, 0.0], [np.inf, 1.0]])
def test_importance_must_be_sound(importance):
    with pytest.raises(InputError, match="importance must be a number of 0 or more for each key"):
        loss_of(
            transition(["one", "two"], [("a", "x")], [("a", "x")]), importance=np.array(importance)
        )


OPTIMA = [
    (2, "0,4,1,1,3,2,0,2,0", 0.5296955, 0),
    (2, "0,3,0,1,2,1,1,1,0", 0.2093710, 573),
    (2, "0,3,0,0,1,1,0,1,0", 0.1617598, 2093),
    (5, "0,4,1,1,3,2,2,1,0", 0.5731510, 0),
    (5, "0,3,0,2,2,1,1,2,0", 0.3137130, 506),
    (5, "0,3,0,0,2,1,1,1,0", 0.2204119, 2553),
]


@pytest.mark.skipif(not (DATA / "arx_adult.csv").exists(), reason="no shared data")
@pytest.mark.parametrize(("k", "levels", "loss", "n_suppressed"), OPTIMA)
def test_the_optima_that_arx_finds(k, levels, loss, n_suppressed):
    with open(DATA / "arx_adult.csv", encoding="utf-8") as lines:
        names, *rows = csv.reader(lines, delimiter=";")
    recode, shares, leaves = {}, {}, []
    for name, level in zip(names, map(int, levels.split(","))):
        with open(DATA / "arx_adult_trees" / f"{name}.csv", encoding="utf-8") as lines:
            recode[name] = {row[0]: row[level] for row in csv.reader(lines, delimiter=";")}
        held = Counter(recode[name].values())
        leaves.append(len(recode[name]))
        shares[name] = {u: n / leaves[-1] for u, n in held.items()} | {None: 1.0}
    cells = Counter(map(tuple, rows))
    to = {row: tuple(recode[n][v] for n, v in zip(names, row)) for row in cells}
    sizes = Counter()
    for row, n in cells.items():
        sizes[to[row]] += n
    gone = (None,) * len(names)
    after = [to[row] if sizes[to[row]] >= k else gone for row in cells]
    change = transition(
        names, list(cells), after, recode=recode, records=list(cells.values()), shares=shares
    )
    found = loss_of(change, leaves=leaves)
    assert found.records_touched.value == n_suppressed
    assert found.suppressed_values.overall.value == n_suppressed * 9
    assert found.arx.overall.value == pytest.approx(loss, abs=5e-8)
