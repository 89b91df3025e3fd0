"""Weights that are rounded: next to what they were, in each of them and in all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.made_up_records import records_of

from discreet.errors import InputError
from discreet.masks.records.weights import RemoveWeights, RoundWeights


def rng(seed=1):
    return np.random.default_rng(seed)


def rounded(weights, base, made):
    records = records_of({"a": [0] * len(weights)}, sizes={"a": 1}, weight=weights)
    return RoundWeights(base=base).applied(records, made).weight


weights = st.lists(st.floats(5, 1e6), max_size=50)


@given(weights, st.sampled_from([0.1, 1, 2.5, 5]), st.integers(0, 9))
def test_each_is_next_to_its_weight_and_so_is_the_total(weights, base, seed):
    found = rounded(weights, base, rng(seed))
    slack = 1e-8 * max([base, *weights])
    assert (np.abs(found - weights) < base + slack).all()
    assert found == pytest.approx(np.rint(found / base) * base)
    assert (found > 0).all()
    assert abs(found.sum() - np.sum(weights)) < base + len(weights) * slack


@pytest.mark.parametrize("base", [0.1, 0.3, 1, 7])
def test_multiples_stay(base):
    weights = [base * i for i in (1, 2, 3, 7, 1000)]
    assert rounded(weights, base, rng()) == pytest.approx(weights, rel=1e-12)


def test_each_weight_is_kept_on_average():
    """Over 5,000 draws the mean of each is within 4 standard errors; the variance is that of a
    draw between two multiples, b²f(1 − f), and the total moves within one base."""
    weights, base, made = np.array([5.5, 6, 7.25, 11, 23.9, 40, 12.1]), 5, rng(2)
    found = np.array([rounded(weights, base, made) for _ in range(5000)])
    f = weights / base % 1
    variance = base**2 * f * (1 - f)
    error = np.abs(found.mean(axis=0) - weights)
    assert (error <= 4 * np.sqrt(variance / 5000)).all()
    assert found.var(axis=0) == pytest.approx(variance, rel=0.15)
    assert np.abs(found.sum(axis=1) - weights.sum()).max() < base
    assert abs(found.sum(axis=1).mean() - weights.sum()) < 4 * base / 2 / np.sqrt(5000)


def test_no_pair_of_records_is_always_rounded_apart():
    """In the order of the file the second of two halves would always go the other way than the
    first; in random order any two of four do so with 2/3, as 2 of them are rounded up."""
    made = rng(4)
    found = np.array([rounded([1.5] * 4, 1, made) for _ in range(3000)])
    apart = (found[:, 0] != found[:, 1]).mean()
    assert abs(apart - 2 / 3) < 4 * np.sqrt(2 / 9 / 3000)


def test_one_record_and_none():
    assert rounded([7.0], 7, rng()).tolist() == [7]
    assert rounded([], 7, rng()).tolist() == []


def test_the_same_seed_the_same_weights():
    weights = rng(1).uniform(5, 50, 200)
    one, same, other = (rounded(weights, 3, rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("base", [0, -1, float("inf"), float("nan"), "5", True])
def test_what_no_base_can_be(base):
    with pytest.raises(InputError, match="base must be a number above 0, got"):
        RoundWeights(base=base)


def test_a_base_that_would_make_a_weight_nothing():
    with pytest.raises(InputError) as complaint:
        rounded([10.0, 4.0], 5, rng())
    assert str(complaint.value) == (
        "base must be at most the smallest weight, got 5; a smaller base keeps every weight above 0"
    )


def test_a_file_without_weights():
    with pytest.raises(InputError, match="weights are rounded must be one with weights, got none"):
        RoundWeights(base=1).applied(records_of({"a": [0]}), rng())


def test_words():
    assert RoundWeights(base=2.5).in_words == "round the weights at random to multiples of 2.5"
    assert "within 2.5" in RoundWeights(base=2.5).still_possible
    assert RemoveWeights().in_words == "leave out the weights"
    assert "Without weights" in RemoveWeights().still_possible
