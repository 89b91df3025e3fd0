"""Statistics that no counts have, each with what contradicts what; and none of those that have."""

import itertools
from collections import Counter

import pytest

from discreet.count_tables.contradictions import contradiction, is_below, smallest_number
from discreet.count_tables.factorials import factorisation_of


@pytest.mark.parametrize(
    ("n", "total", "factorisation", "message"),
    [
        (0, 5, {}, "n must be at least 1, got 0"),
        (5, -1, {}, "total must be zero or more, got -1"),
        (5, 0, {}, "total must be above zero, got 0; all observations are zero"),
        (
            3,
            0,
            {2: 3},
            "total must be above zero where e^S2 has a prime factor, got 0; counts that",
        ),
        (51, 61, {2: 20, 4: 1}, "the factorisation of e^S2 must be of primes, got 4"),
        (
            51,
            61,
            {2: -1},
            "the factorisation of e^S2 must be of exponents of at least 1, got -1 at prime 2",
        ),
        (51, 61, {2_000_003: 1}, "the factorisation of e^S2 must be of primes up to 2,000,000"),
        (51, 61, {2: 20, 3: 7, 7: 1}, "got 5^0 beside 7^1; a factorial that 7 divides"),
        (51, 61, {2: 5, 3: 7}, "got 2^5 beside 3^7"),
        (
            51,
            61,
            {2: 2, 3: 1, 5: 1},
            "the exponent of 2 in e^S2 must be at least 3, since 5 has exponent 1",
        ),
        (
            51,
            6,
            {2: 20, 3: 7},
            "at most 4, as in 6! for a total of 6, got 20; S2 is too large for this total",
        ),
        (2, 61, {2: 20, 3: 7}, "n must be at least 31 for a total of 61 and this S2, got 2; fewer"),
    ],
)
def test_says_what_contradicts_what(n, total, factorisation, message):
    told = contradiction(n, total, factorisation)
    assert told is not None
    assert message in told


def test_nothing_against_any_small_table():
    """Every sequence of up to four values below 9."""
    for n in range(1, 5):
        for values in itertools.combinations_with_replacement(range(9), n):
            if sum(values):
                exponents = factorisation_of(Counter(values))
                assert contradiction(n, sum(values), exponents) is None
                assert smallest_number(sum(values), exponents) <= n


def test_exact_comparison_where_logarithms_are_equal():
    """n = 10⁶ ones and twos with exactly the least product is not below it."""
    table = {1: 400_000, 2: 600_000}
    assert not is_below({2: 600_000}, table)
    assert is_below({2: 599_999}, table)
    assert contradiction(1_000_000, 1_600_000, {2: 600_000}) is None
    assert contradiction(1_000_000, 1_600_000, {2: 599_999}) is not None
