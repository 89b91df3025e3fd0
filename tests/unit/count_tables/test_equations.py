"""Equations of hidden counts and the bound on their largest value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.count_tables.equations import (
    ReleasedSums,
    equations,
    number_statement,
    table_of,
    written,
)
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError


@settings(max_examples=60)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=15).filter(lambda f: sum(f[1:]) > 0))
def test_the_true_table_solves_the_equations(counts):
    statistics = CountStatistics.of_counts(dict(enumerate(counts)))
    sums = ReleasedSums.of(statistics)
    largest = sums.largest_value
    assert max(j for j, c in enumerate(counts) if c) <= largest <= sums.next_prime - 1
    cells = np.zeros(largest + 1, dtype=int)
    for j, count in enumerate(counts[: largest + 1]):
        cells[j] = count
    for equation in [*equations(sums, largest), number_statement(largest, sums.n, sums.n)]:
        times = 1 if equation.coefficients is None else equation.coefficients
        assert np.sum(times * cells[equation.cells]) == equation.low == equation.high


def test_largest_value_can_be_below_that_of_the_next_prime():
    sums = ReleasedSums(5, 5, {2: 1, 3: 1})  # one 3: 4! does not divide 6
    assert sums.next_prime == 5
    assert sums.largest_value == 3


def test_ones_and_zeros_only():
    assert ReleasedSums(5, 3, {}).largest_value == 1


def test_n_withheld():
    assert ReleasedSums.of(CountStatistics(5, 3, {}), withhold_n=True) == ReleasedSums(None, 3, {})


def test_written():
    assert written(number_statement(2, 3, 5)) == "3 ≤ f0 + f1 + f2 ≤ 5"
    assert table_of(np.array([3, 0, 2])) == {0: 3, 2: 2}


def test_largest_value_against_a_prime():
    with pytest.raises(InputError, match="largest value of 2 contradicts S2"):
        equations(ReleasedSums(51, 61, {2: 20, 3: 7}), 2)


@pytest.mark.parametrize(
    ("n", "total", "exponents", "words"),
    [
        (51, 0, {}, "total must be above zero, got 0"),
        (51, 61, {2: 20, 3: 7, 11: 1}, "product of factorials"),
        (51, 61, {3: 7}, "product of factorials"),
        (3, 61, {2: 20, 3: 7}, "n must be at least"),
        (0, 3, {}, "n must be at least 1"),
    ],
)
def test_statistics_that_contradict_themselves(n, total, exponents, words):
    with pytest.raises(InputError, match=words):
        ReleasedSums(n, total, exponents)


def test_very_large_values_are_refused():
    with pytest.raises(InputError, match="to be searched"):
        equations(ReleasedSums(None, 10_000, {}), 9_000)
