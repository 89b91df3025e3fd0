"""Local suppression of single values against looking at every record and every choice."""

import csv
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.oracles.suppression_of_values import (
    least_for_candidates,
    least_strictly,
    matches,
    price,
    problem_of,
    released,
    subsets,
)

from discreet.data.coding import Coding
from discreet.engines.key_space import KeyLevels
from discreet.figures import How
from discreet.masks.records.candidate_suppression import suppressed_to_candidates
from discreet.masks.records.fitting import Combinations, fits_of, fitting_records
from discreet.masks.records.strict_suppression import suppressed_strictly, with_all_keys_gone
from discreet.masks.records.suppression import cheapest_sets, keys_in
from discreet.masks.records.wildcard_suppression import suppressed_to_wildcards

METHODS = [suppressed_strictly, suppressed_to_candidates, suppressed_to_wildcards]
COSTS = st.sampled_from([0.25, 1.0, 1.5, 2.0, 7.0])


@st.composite
def files(draw, most_records=14, most_keys=4, levels=3):
    """Records with few levels, k, and the price of a value of each key."""
    n_keys = draw(st.integers(1, most_keys))
    row = st.tuples(*[st.integers(0, levels - 1)] * n_keys)
    records = draw(st.lists(row, min_size=1, max_size=most_records))
    k = draw(st.integers(1, 6))
    cost = draw(st.lists(COSTS, min_size=n_keys, max_size=n_keys))
    return records, k, cost


def check_pieces(problem, found):
    """Each record is there once, and no key that may not be touched lost a value."""
    held = np.bincount(found.cell, weights=found.records, minlength=len(problem.records))
    assert held.tolist() == problem.records.tolist()
    assert found.records.min() >= 0
    for mask in found.without:
        assert not set(keys_in(int(mask))) & problem.never


@given(files(), st.data())
@settings(max_examples=150)
def test_candidates_cost_exactly_the_least_over_all_choices(case, data):
    records, k, cost = case
    n_keys = len(cost)
    never = data.draw(st.sets(st.integers(0, n_keys - 1), max_size=n_keys))
    least = data.draw(st.integers(1, 3))
    sensitive = data.draw(st.lists(st.integers(0, 2), min_size=len(records), max_size=len(records)))
    problem, _ = problem_of(records, k, cost=cost, never=never, sensitive=sensitive, least=least)
    found = suppressed_to_candidates(problem)
    check_pieces(problem, found)
    wanted, left = least_for_candidates(records, k, cost, never, sensitive, least)
    assert (price(problem, found), found.left) == (pytest.approx(wanted), left)
    assert found.how is How.EXACT
    assert found.least == pytest.approx(wanted)


@given(files())
@settings(max_examples=150)
def test_after_candidates_each_record_fits_k_original_ones(case):
    records, k, cost = case
    problem, _ = problem_of(records, k, cost=cost)
    found = suppressed_to_candidates(problem)
    shown, _ = released(problem, found)
    few = sum(sum(matches(one, other) for other in records) < k for one in shown)
    assert few == found.left == (len(records) if len(records) < k else 0)


@given(files(most_records=24), st.data())
@settings(max_examples=300)
def test_strictly_each_pattern_is_shown_by_k_records(case, data):
    records, k, cost = case
    n_keys = len(cost)
    never = data.draw(st.sets(st.integers(0, n_keys - 1), max_size=n_keys))
    problem, _ = problem_of(records, k, cost=cost, never=never)
    found = suppressed_strictly(problem)
    check_pieces(problem, found)
    shown, _ = released(problem, found)
    few = sum(n for n in Counter(shown).values() if n < k)
    assert few == found.left
    assert price(problem, found) >= found.least - 1e-9
    assert found.least == pytest.approx(suppressed_to_candidates(problem).least)
    if not found.left:
        assert price(problem, found) >= suppressed_to_candidates(problem).least - 1e-9
    free = [j for j in range(n_keys) if j not in never]
    for gone in subsets(range(n_keys)):  # who shows a pattern shows every part of it
        if not found.left:
            part = Counter(tuple(v for j, v in enumerate(one) if j not in gone) for one in shown)
            assert min(part.values()) >= k
    blank = Counter(tuple(v for j, v in enumerate(one) if j not in free) for one in records)
    if found.left:  # it cannot be helped: all that may be taken out would not do
        assert min(blank.values()) < k


@given(files(most_records=18, most_keys=3), st.data())
@settings(max_examples=200)
def test_strictly_with_sensitive_values_each_pattern_has_enough_of_them(case, data):
    records, k, cost = case
    sensitive = data.draw(st.lists(st.integers(0, 2), min_size=len(records), max_size=len(records)))
    least = data.draw(st.integers(1, 3))
    problem, place = problem_of(records, k, cost=cost, sensitive=sensitive, least=least)
    found = suppressed_strictly(problem)
    check_pieces(problem, found)
    shown, cells = released(problem, found)
    assert len({(c, s) for c, s in zip(cells, shown, strict=True)}) == len(set(cells))  # no donors
    n, own = Counter(shown), {}
    for record, cell in enumerate(place):
        own.setdefault(shown[cells.index(cell)], set()).add(sensitive[record])
    bad = sum(n[one] for one in n if n[one] < k or len(own[one]) < least)
    assert bad == found.left
    if found.left:
        assert len(records) < k or len(set(sensitive)) < least


@given(files(most_records=24), st.data())
@settings(max_examples=300)
def test_limits_of_each_key_are_kept_and_what_is_left_is_told(case, data):
    records, k, cost = case
    most = data.draw(st.lists(st.integers(-1, 12), min_size=len(cost), max_size=len(cost)))
    problem, _ = problem_of(records, k, cost=cost, most=most)
    for method in METHODS:
        found = method(problem)
        check_pieces(problem, found)
        taken = found.values(len(cost))
        assert all(t <= m or m < 0 for t, m in zip(taken, most, strict=True)), method
    found = suppressed_strictly(problem)
    shown, _ = released(problem, found)
    assert sum(n for n in Counter(shown).values() if n < k) == found.left


@given(files(most_records=6, most_keys=2), st.integers(1, 3))
@settings(max_examples=120)
@example(([(0, 0), (0, 1), (1, 0), (1, 1), (0, 0), (2, 2)], 2, [1.0, 1.0]), 2)
def test_strictly_near_the_proved_least_on_tiny_files(case, k):
    records, _, cost = case
    assume(len(records) >= k)
    wanted = least_strictly(records, k, cost)
    problem, _ = problem_of(records, k, cost=cost)
    found = suppressed_strictly(problem)
    assert found.least <= wanted + 1e-9
    assert wanted - 1e-9 <= price(problem, found) <= 2.0 * wanted + 1e-9


@given(files(most_records=14))
@settings(max_examples=200)
def test_with_wildcards_each_record_matches_k_released_ones(case):
    records, k, cost = case
    problem, _ = problem_of(records, k, cost=cost)
    found = suppressed_to_wildcards(problem)
    check_pieces(problem, found)
    shown, _ = released(problem, found)
    few = sum(sum(matches(one, other) for other in shown) < k for one in shown)
    assert few == found.left
    assert price(problem, found) <= suppressed_to_candidates(problem).least + 1e-9


@given(files(most_records=20))
@settings(max_examples=60)
def test_codes_of_several_words_give_the_same(case):
    records, k, cost = case
    records = [(*row, 0, 0) for row in records]
    cost = [*cost, 3.0, 3.0]
    narrow, _ = problem_of(records, k, cost=cost, sizes=[3] * len(cost))
    huge = [2**40, *[3] * (len(cost) - 2), 2**40]
    wide, _ = problem_of(records, k, cost=cost, sizes=huge)
    assert narrow.coding.n_words == 1
    assert wide.coding.n_words > 1
    for method in METHODS:
        one, other = method(narrow), method(wide)
        assert price(narrow, one) == pytest.approx(price(wide, other))
        assert sorted(map(str, released(narrow, one)[0])) == sorted(
            map(str, released(wide, other)[0])
        )


@given(files(most_records=20))
@settings(max_examples=60)
def test_the_order_of_records_changes_nothing(case):
    records, k, cost = case
    one, _ = problem_of(records, k, cost=cost)
    other, _ = problem_of(records[::-1], k, cost=cost)
    for method in METHODS:
        assert Counter(released(one, method(one))[0]) == Counter(released(other, method(other))[0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("records", "k", "left"),
    [
        ([(0, 1)], 1, 0),
        ([(0, 1)], 2, 1),
        ([(0,), (1,), (2,)], 3, 0),
        ([(0,), (1,), (2,)], 4, 3),
        ([(0, 0)] * 5, 5, 0),
        ([(0, 0)] * 5 + [(1, 1)], 5, 0),
    ],
)
def test_small_and_odd_files(method, records, k, left):
    problem, _ = problem_of(records, k, sizes=[3] * len(records[0]))
    found = method(problem)
    check_pieces(problem, found)
    assert found.left == left
    if k == 1 or records == [(0, 0)] * 5:
        assert not found.without.any()


def test_spare_records_of_large_cells_help_and_these_keep_k():
    records = [(0, 0)] * 6 + [(0, 1)]
    problem, _ = problem_of(records, 3)
    found = suppressed_strictly(problem)
    shown = Counter(released(problem, found)[0])
    assert shown == {(0, 0): 4, (0, None): 3}
    assert price(problem, found) == 3.0
    assert found.how is How.BOUND


@given(files(most_records=12), st.data())
@settings(max_examples=150)
def test_who_is_helped_for_another_reason_shares_a_pattern_with_k_all_the_same(case, data):
    """Only some cells are to be helped, and others that stay may have fewer than k records."""
    records, k, cost = case
    whole, _ = problem_of(records, k, cost=cost)
    n = len(whole.records)
    helped = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    problem = replace(whole, open=helped & (whole.records < k))
    found = suppressed_strictly(problem)
    check_pieces(problem, found)
    shown, cells = released(problem, found)
    held = Counter(shown)
    few = sum(held[one] < k and bool(problem.open[c]) for one, c in zip(shown, cells, strict=True))
    assert few == found.left
    assert (found.left > 0) <= (len(records) < k)
    for one, cell in zip(shown, cells, strict=True):
        assert problem.open[cell] or None not in one or held[one] >= k


def test_whole_records_lose_all_keys_together():
    records = [(0, 0)] * 4 + [(1, 0), (0, 1)]
    problem, _ = problem_of(records, 3)
    found = with_all_keys_gone(problem)
    shown = Counter(released(problem, found)[0])
    assert shown[None, None] >= 3
    assert all(n >= 3 for n in shown.values())
    assert found.left == 0


@given(files(most_records=24), st.data())
@settings(max_examples=150)
def test_whole_records_hold_the_guarantee_too(case, data):
    records, k, cost = case
    problem, _ = problem_of(records, k, cost=cost)
    found = with_all_keys_gone(problem)
    check_pieces(problem, found)
    shown, _ = released(problem, found)
    assert sum(n for n in Counter(shown).values() if n < k) == found.left
    assert {one.count(None) for one in shown} <= {0, len(cost)}
    assert price(problem, found) >= found.least - 1e-9


@given(st.lists(COSTS, min_size=0, max_size=6))
def test_sets_of_keys_come_once_each_and_the_cheapest_first(costs):
    keys = [3 * j for j in range(len(costs))]
    found = list(cheapest_sets(costs, keys, 1000))
    assert [c for c, _ in found] == sorted(c for c, _ in found)
    assert len({mask for _, mask in found}) == len(found) == 2 ** len(costs) - 1
    for cost, mask in found:
        assert cost == pytest.approx(sum(costs[j // 3] for j in keys_in(mask)))
    if len(costs) > 2:
        few = list(cheapest_sets(costs, keys, 2))
        assert few[:2] == found[:2]
        assert few[2] == (pytest.approx(sum(costs)), sum(1 << key for key in keys))


def combinations_of(records, values):
    """Records as combinations; level None of a key stands for a missing value."""
    keys = []
    for j, known in enumerate(values):
        lacks = any(row[j] is None for row in records)
        own = (*known, None) if lacks else tuple(known)
        keys.append(KeyLevels(name=f"k{j}", values=own, labels=tuple(map(str, own)), n_missing=0))
    counted = Counter(records)
    levels = [[keys[j].values.index(v) for j, v in enumerate(row)] for row in counted]
    return Combinations(
        keys=tuple(keys), levels=np.array(levels), n=np.array(list(counted.values()))
    )


@given(st.data(), st.integers(1, 3))
@settings(max_examples=150)
def test_fitting_against_every_pair_of_records(data, n_keys):
    original_values, released_values = ["a", "b", "c"], ["b", "x", "a"]  # x is in no original
    row = st.tuples(*[st.sampled_from([*original_values, None])] * n_keys)
    original = data.draw(st.lists(row, min_size=1, max_size=12))
    other = st.tuples(*[st.sampled_from([*released_values, None])] * n_keys)
    shown = data.draw(st.lists(other, min_size=1, max_size=12))
    first = combinations_of(original, [original_values] * n_keys)
    second = combinations_of(shown, [released_values] * n_keys)

    def fits(one):
        return sum(
            all(v is None or v == w for v, w in zip(one, person, strict=True))
            for person in original
        )

    assert fitting_records(first, second).tolist() == [fits(one) for one in Counter(shown)]
    found = fits_of(first, second, [1, 2, 5])
    assert found.fewest == min(len(original), *(fits(one) for one in shown))
    for k in (1, 2, 5):
        assert found.below[k] == sum(fits(one) < k for one in shown)


def test_more_keys_than_a_bit_mask_has_room_for():
    from discreet.errors import InputError

    with pytest.raises(InputError, match=r"keys must be at most 40 for local suppression, got 41"):
        problem_of([(0,) * 41], 2, sizes=[2] * 41)


def test_codings_are_as_large_as_they_claim():
    assert Coding.of_sizes([2**40, 3, 2**40]).n_words == 2


DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[3] / "shared" / "data"))
KEYS = ["db040", "hsize", "rb090", "age", "pb220a", "pl030"]


@pytest.mark.skipif(not (DATA / "eusilc_sample_keys.csv").exists(), reason="no shared data")
def test_eu_silc_needs_no_more_than_was_published():
    with (DATA / "eusilc_sample_keys.csv").open(encoding="utf-8") as file:
        rows = [[row[key] for key in KEYS] for row in csv.DictReader(file)]
    number = [
        {v: i for i, v in enumerate(sorted(set(column)))} for column in zip(*rows, strict=True)
    ]
    records = [tuple(number[j][v] for j, v in enumerate(row)) for row in rows]
    for k, least, most in ((2, 4_189, 4_483), (3, 7_265, 7_772), (5, 11_619, 12_300)):
        problem, _ = problem_of(records, k)
        assert price(problem, suppressed_to_candidates(problem)) == least
        found = suppressed_strictly(problem)
        assert least <= price(problem, found) <= most
        assert min(Counter(released(problem, found)[0]).values()) >= k
