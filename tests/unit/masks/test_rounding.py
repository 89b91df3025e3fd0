"""Rounding: to the nearest multiple and at random, with what an intruder learns from it."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.errors import InputError
from discreet.masks.after_publication import intruders_bounds
from discreet.masks.rounding import (
    Subtables,
    at_random,
    log_random_rounding,
    nearest,
    round_at_random,
    round_conventionally,
)

TABLE = Table.of_dense(np.array([[1, 4, 0], [7, 2, 3]]), names=["a", "b"])


@pytest.mark.parametrize("base", [2, 3, 4, 5, 10])
def test_nearest_is_the_nearest_with_halves_upward(base):
    counts = np.arange(60)
    expected = [base * int(Fraction(count, base) + Fraction(1, 2)) for count in counts.tolist()]
    assert nearest(counts, base).tolist() == expected


@pytest.mark.parametrize("base", [2, 3, 4, 5])
def test_the_range_of_a_rounded_figure_is_exactly_what_rounds_to_it(base):
    for count in range(30):
        one = Table.of_dense(np.array([count, 40]))
        masked = round_conventionally(one, base=base, total_known=False)
        published = int(masked.published[0].counts[0])
        same = [x for x in range(60) if nearest(np.array(x), base) == published]
        assert (masked.known[0].low, masked.known[0].high) == (min(same), max(same))


@pytest.mark.parametrize("base", [2, 3, 5, 7])
def test_random_rounding_is_unbiased_and_its_probabilities_sum_to_one(base):
    for count in range(25):
        multiples = np.arange(0, 60, base)
        chances = np.exp(log_random_rounding(multiples - count, base))
        assert chances.sum() == pytest.approx(1, abs=1e-12)
        assert (chances * multiples).sum() == pytest.approx(count, abs=1e-10)


def test_draws_follow_the_stated_probabilities():
    rng = np.random.default_rng(5)
    drawn = at_random(np.full(200_000, 7), 5, rng=rng)
    assert set(np.unique(drawn)) == {5, 10}
    share = (drawn == 10).mean()
    assert abs(share - 0.4) < 5 * np.sqrt(0.24 / 200_000)


def test_multiples_stay_and_all_figures_are_next_to_their_counts():
    for seed in range(50):
        published = round_at_random(TABLE, base=3, seed=seed).published[0].counts
        truth = TABLE.dense()
        assert np.all(published % 3 == 0)
        assert np.all(np.abs(published - truth) < 3)
        assert np.array_equal(published[truth % 3 == 0], truth[truth % 3 == 0])


def publications(table, sets, base):
    """Every publication that random rounding can make, as one factor per figure."""
    figures = [f for axes in sets for f in table.margin(axes).ravel().tolist()]
    around = [sorted({f // base * base, -(-f // base) * base}) for f in figures]
    return figures, list(product(*around))


def test_likelihoods_sum_to_one_over_all_publications():
    """The mask's own likelihood of the truth, over the publications that many seeds make."""
    small = Table.of_dense(np.array([[1, 2], [3, 5]]), names=["a", "b"])
    sets = [["a", "b"], ["a"], []]
    figures, all_of_them = publications(small, [(0, 1), (0,), ()], 3)
    seen = {}
    for seed in range(2000):
        masked = round_at_random(small, base=3, seed=seed, sets=sets)
        key = tuple(int(v) for part in masked.published for v in part.counts.ravel())
        seen[key] = float(masked.likelihood(small.dense().reshape(1, -1))[0])
    assert set(seen) == set(all_of_them)
    assert np.exp(list(seen.values())).sum() == pytest.approx(1, abs=1e-12)
    for key, log_chance in seen.items():
        chances = [Fraction(3 - abs(p - f), 3) for p, f in zip(key, figures)]
        assert np.exp(log_chance) == pytest.approx(float(np.prod([float(c) for c in chances])))


def test_impossible_tables_have_no_likelihood():
    masked = round_at_random(TABLE, base=3, seed=1)
    far = TABLE.dense().ravel() + np.array([0, 0, 0, 3, 0, 0])
    assert masked.likelihood(far[None])[0] == -np.inf


def test_summed_margins_add_up_and_tell_nothing_new():
    sets = [["a", "b"], ["a"], []]
    masked = round_at_random(TABLE, base=3, seed=2, sets=sets, sums=Subtables.SUMMED)
    full, rows, total = (part.counts for part in masked.published)
    assert np.array_equal(full.sum(axis=1), rows)
    assert full.sum() == total
    assert len(masked.known) == 6 + 1
    assert "added up" in masked.effect
    own = round_at_random(TABLE, base=3, seed=2, sets=sets)
    assert len(own.known) == 6 + 2 + 1 + 1
    assert "need not add up" in own.effect


def test_figures_of_margins_alone_leave_cells_free():
    masked = round_conventionally(TABLE, base=5, sets=[["a"], ["b"]])
    assert {part.axes for part in masked.published} == {(0,), (1,)}
    bounds = intruders_bounds(masked)
    assert bounds.complete
    assert np.all(bounds.lower <= TABLE.dense().ravel())
    assert np.all(bounds.upper >= TABLE.dense().ravel())
    assert masked.estimate.sum() == pytest.approx(TABLE.total)


def test_every_margin_rounded_to_zero_gives_an_even_estimate():
    few = Table.of_dense(np.array([[1, 1], [1, 1]]))
    masked = round_conventionally(few, base=100, sets=[["v1"], ["v2"]])
    np.testing.assert_allclose(masked.estimate, 1.0)


@pytest.mark.parametrize("base", [1, 0, -3, 10_001, 2.5, True])
def test_a_base_that_is_none_is_refused(base):
    with pytest.raises(InputError, match="base must be a whole number from 2 to 10,000, got"):
        round_conventionally(TABLE, base=base)


def test_other_bad_input_is_refused():
    with pytest.raises(InputError, match="sums must be one of own, summed, got 'both'"):
        round_conventionally(TABLE, base=3, sums="both")
    with pytest.raises(InputError, match="seed must be a whole number, at least 0, got -1"):
        round_at_random(TABLE, base=3, seed=-1)
    with pytest.raises(InputError, match="did you mean 'a'|variables must be"):
        round_conventionally(TABLE, base=3, sets=[["aa"]])


def test_huge_counts_stay_exact():
    huge = Table.of_dense(np.array([2**52 - 1, 1]))
    masked = round_at_random(huge, base=3, seed=0)
    assert abs(int(masked.published[0].counts[0]) - (2**52 - 1)) < 3
    assert masked.known[0].low <= 2**52 - 1 <= masked.known[0].high


@pytest.mark.parametrize("random", [True, False])
def test_ranges_that_could_not_be_held_exactly_are_refused_when_the_mask_is_made(random):
    table = Table.of_dense(np.array([2**53 - 10, 1]))
    with pytest.raises(InputError, match=r"table must be of fewer than 2\*\*53 persons less"):
        round_at_random(table, base=10, seed=1) if random else round_conventionally(table, base=10)


def test_an_estimate_does_not_use_a_total_that_is_not_known():
    table = Table.of_dense(np.array([[4, 4], [4, 4]]))
    known = round_conventionally(table, base=10, sets=[["v1"], ["v2"]])
    unknown = round_conventionally(table, base=10, sets=[["v1"], ["v2"]], total_known=False)
    assert known.estimate.sum() == pytest.approx(16)
    assert unknown.estimate.sum() == pytest.approx(20)
    none = round_conventionally(
        Table.of_dense(np.array([[1, 0], [0, 1]])), base=10, sets=[["v1"]], total_known=False
    )
    assert none.estimate.tolist() == [[0, 0], [0, 0]]
