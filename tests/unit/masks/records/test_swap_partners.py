"""Pairs across areas: as many as there can be, risky ones first, each pairing as probable."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from discreet.masks.records.swap_partners import has_partner, paired

units = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 3), st.booleans()), min_size=0, max_size=14
)


def arrays(rows):
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2].astype(np.bool_)


def largest_matching(rows, weight):
    """The largest sum of weights of pairs of the same class in different areas."""
    graph = nx.Graph()
    for i, (class_i, area_i, _) in enumerate(rows):
        for j, (class_j, area_j, _) in enumerate(rows[:i]):
            if class_i == class_j and area_i != area_j:
                graph.add_edge(i, j, weight=weight(i, j))
    pairs = nx.max_weight_matching(graph, maxcardinality=True)
    return sum(weight(i, j) for i, j in pairs)


@given(units, st.integers(0, 3))
def test_as_many_as_there_can_be(rows, seed):
    unit_class, area, first = arrays(rows)
    pairs = paired(unit_class, area, first, np.random.default_rng(seed))
    assert (unit_class[pairs.one] == unit_class[pairs.other]).all()
    assert (area[pairs.one] != area[pairs.other]).all()
    both = np.concatenate([pairs.one, pairs.other])
    assert len(set(both.tolist())) == len(both)
    assert len(pairs.one) == largest_matching(rows, lambda i, j: 1)
    risky = largest_matching(rows, lambda i, j: int(first[i]) + int(first[j]))
    assert first[both].sum() == risky
    there = {(i, j) for i, j, _ in rows}
    alone = [(c, a) for c, a, _ in rows if all(x != c or y == a for x, y in there)]
    assert (~has_partner(unit_class, area)).sum() == len(alone)


def all_pairings(area):
    """Every way to pair all units across areas."""

    def rest(left):
        if not left:
            yield frozenset()
            return
        first, *others = left
        for other in others:
            if area[first] != area[other]:
                for pairs in rest([unit for unit in others if unit != other]):
                    yield pairs | {frozenset((first, other))}

    return list(rest(list(range(len(area)))))


@pytest.mark.parametrize(
    "area", [[0, 1, 2, 3], [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], [0, 1, 1, 2, 2, 2, 3, 3]]
)
def test_every_pairing_is_as_probable(area):
    area = np.array(area)
    n, rng = 6000, np.random.default_rng(1)
    none = np.zeros(len(area), np.bool_)
    seen = Counter()
    for _ in range(n):
        pairs = paired(np.zeros(len(area), np.int64), area, none, rng)
        seen[frozenset(map(frozenset, zip(pairs.one.tolist(), pairs.other.tolist())))] += 1
    open_to = all_pairings(area)
    assert set(seen) <= set(open_to)
    expected = n / len(open_to)
    statistic = sum((seen[one] - expected) ** 2 / expected for one in open_to)
    assert 1e-4 < chi2.sf(statistic, len(open_to) - 1) < 1 - 1e-4


def test_who_is_left_is_drawn_at_random():
    """Of five units in five areas one is left, each with the same chance."""
    n, rng = 5000, np.random.default_rng(2)
    area, none = np.arange(5), np.zeros(5, np.bool_)
    left = np.zeros(5)
    for _ in range(n):
        pairs = paired(np.zeros(5, np.int64), area, none, rng)
        left[list({*range(5)} - {*pairs.one.tolist(), *pairs.other.tolist()})] += 1
    statistic = ((left - n / 5) ** 2 / (n / 5)).sum()
    assert 1e-4 < chi2.sf(statistic, 4) < 1 - 1e-4
