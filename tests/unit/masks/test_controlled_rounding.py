"""Rounding that adds up, by its definition and against all roundings of small tables."""

from itertools import product

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.masks.controlled_rounding import round_controlled


def random_table(rng, shape, mean):
    counts = rng.poisson(mean, shape)
    counts.flat[0] += 1
    return Table.of_dense(counts)


def figures(masked):
    return {part.axes: part.counts for part in masked.published}


def adds_up(masked):
    own = figures(masked)
    full = own[tuple(range(len(masked.source.names)))]
    others = {a: tuple(i for i in range(full.ndim) if i not in a) for a in own}
    return all(np.array_equal(full.sum(axis=others[axes]), own[axes]) for axes in own)


def nearest_by_trying(counts, base):
    """The least sum of distances over all zero-restricted roundings that add up, or None."""
    choices = [sorted({c // base * base, -(-c // base) * base}) for c in counts.ravel().tolist()]
    axes = list(range(counts.ndim))
    sums = [tuple(a for a in axes if mask >> a & 1) for mask in range(2 ** len(axes))]
    best = None
    for chosen in product(*choices):
        table = np.array(chosen).reshape(counts.shape)
        off = 0
        for over in sums:
            gap = np.abs(table.sum(axis=over) - counts.sum(axis=over))
            fixed = counts.sum(axis=over) % base == 0
            if np.any(gap >= base) or np.any(gap[fixed] if gap.ndim else gap * fixed):
                break
            off += int(gap.sum())
        else:
            best = off if best is None else min(best, off)
    return best


def test_it_is_the_nearest_of_all_roundings_that_add_up():
    rng = np.random.default_rng(1)
    for shape in [(2, 3), (3, 3), (2, 2, 2)] * 6:
        table = random_table(rng, shape, 3)
        masked = round_controlled(table, base=3)
        counts = table.dense()
        off = sum(
            int(np.abs(part.counts - table.margin(part.axes)).sum()) for part in masked.published
        )
        expected = nearest_by_trying(counts, 3)
        if expected is None:
            assert "No rounding" in masked.effect
            continue
        assert off == expected
        assert f"nearest one, {off:,} persons off" in masked.effect


@pytest.mark.parametrize("seed", [None, 4])
def test_a_hundred_tables_add_up_within_the_base(seed):
    rng = np.random.default_rng(2)
    for i in range(100):
        base = [3, 5, 7, 10][i % 4]
        table = random_table(rng, [(4, 4), (3, 5), (2, 3, 3), (6, 2)][i // 4 % 4], 6)
        masked = round_controlled(table, base=base, seed=None if seed is None else seed + i)
        assert not isinstance(masked, Unavailable)
        assert adds_up(masked)
        if "further" in masked.effect:
            continue
        for part in masked.published:
            truth = table.margin(part.axes)
            assert np.all(part.counts % base == 0)
            assert np.all(np.abs(part.counts - truth) < base)
            assert np.all((part.counts == truth) | (truth % base != 0))


def test_the_truth_agrees_with_what_is_known():
    rng = np.random.default_rng(3)
    for seed in range(20):
        table = random_table(rng, (3, 3), 4)
        system = round_controlled(table, base=3, seed=seed).system()
        assert system.holds(system.completed(table.dense().ravel()))


def test_where_no_rounding_adds_up_figures_go_further_by_the_least():
    counts = np.array([[[1, 1], [1, 1]], [[0, 1], [1, 0]]])
    assert nearest_by_trying(counts, 2) is None
    masked = round_controlled(Table.of_dense(counts), base=2)
    assert "No rounding" in masked.effect
    assert adds_up(masked)
    system = masked.system()
    assert system.holds(system.completed(counts.ravel()))
    past = [
        np.maximum(np.abs(part.counts - masked.source.margin(part.axes)) - 1, 0)
        for part in masked.published
    ]
    assert max(int(one.max()) for one in past) >= 1
    assert all(one.max() <= 2 for one in past)


def test_chosen_margins_only_must_add_up():
    counts = np.array([[[1, 1], [1, 1]], [[0, 1], [1, 0]]])
    masked = round_controlled(Table.of_dense(counts), base=2, sets=[["v1"], ["v2", "v3"]])
    assert "next to its count" in masked.effect
    assert [part.axes for part in masked.published] == [(0, 1, 2), (0,), (1, 2)]


def test_what_it_tells_beyond_the_ranges_is_said():
    table = Table.of_dense(np.array([[1, 4], [5, 2]]))
    assert "nearest rounding of every possible table" in round_controlled(table, base=3).beyond
    assert "more probable" in round_controlled(table, base=3, seed=1).beyond


def test_a_search_that_is_given_no_time_says_so():
    rng = np.random.default_rng(8)
    table = random_table(rng, (8, 8, 4), 9)
    found = round_controlled(table, base=5, work=1e-9)
    assert isinstance(found, Unavailable)
    assert "within the work" in found.reason


@pytest.mark.parametrize("base", [1, 0, 2.5])
def test_a_base_that_is_none_is_refused(base):
    with pytest.raises(InputError, match="base must be a whole number from 2 to 10,000"):
        round_controlled(Table.of_dense(np.array([[1, 2], [3, 4]])), base=base)


def test_a_base_too_small_for_huge_counts_is_refused():
    with pytest.raises(InputError, match="base must be larger for so many persons"):
        round_controlled(Table.of_dense(np.array([2**50, 5])), base=3)


def test_the_least_base_for_huge_counts_is_taken_and_no_count_is_told():
    table = Table.of_dense(np.array([2**52, 2**52 - 10**6]))
    with pytest.raises(InputError, match=r"^base must be larger for so many persons, got 8191$"):
        round_controlled(table, base=8191)
    assert not isinstance(round_controlled(table, base=8192), Unavailable)


@pytest.mark.parametrize("work", [0, -1, float("nan"), float("inf"), "4", True])
def test_work_that_is_no_limit_is_refused(work):
    table = Table.of_dense(np.array([3, 4]))
    with pytest.raises(InputError, match="work must be a number above 0"):
        round_controlled(table, base=3, work=work)


def test_all_margins_of_very_many_variables_are_refused_at_once():
    table = Table.of_dense(np.arange(1, 9).reshape([1] * 28 + [8]))
    with pytest.raises(InputError, match="sets must be named for a table of more than 10"):
        round_controlled(table, base=3)
    masked = round_controlled(table, base=3, sets=[[table.names[-1]]])
    assert np.array_equal(masked.published[1].counts, masked.published[0].counts.ravel())


def test_a_single_number_is_rounded_at_random_too():
    masked = round_controlled(Table.of_dense(np.array(5)), base=3, seed=1)
    assert int(masked.published[0].counts) in (3, 6)
