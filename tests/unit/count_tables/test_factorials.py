"""Factorisations of products of factorials against the products themselves."""

import itertools
import math

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.count_tables.factorials import (
    factorial_exponent,
    factorisation_of,
    least_table,
    log_of_factorisation,
    primes_from_two,
    primes_to,
)

tables = st.dictionaries(st.integers(0, 40), st.integers(0, 9), min_size=1, max_size=8)


def product(factorisation):
    return math.prod(p**e for p, e in factorisation.items())


@given(tables)
def test_product_of_factorials(table):
    exact = math.prod(math.factorial(value) ** count for value, count in table.items())
    assert product(factorisation_of(table)) == exact


def test_empty_table():
    assert factorisation_of({}) == {}
    assert factorisation_of({0: 5, 1: 2}) == {}


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 10, 100])
def test_primes(limit):
    plain = [n for n in range(2, limit + 1) if all(n % d for d in range(2, n))]
    assert primes_to(limit) == plain


def test_primes_without_end():
    assert list(itertools.islice(primes_from_two(), 100)) == primes_to(541)


def test_legendre():
    for value in range(60):
        for p in (2, 3, 5, 7):
            assert math.factorial(value) % p ** factorial_exponent(value, p) == 0
            assert math.factorial(value) // p ** factorial_exponent(value, p) % p


def test_log_to_many_digits():
    with mp.workdps(80):
        exact = 2000 * mp.log(2) + 585 * mp.log(3) + 87 * mp.log(5) + 20 * mp.log(7) + mp.log(11)
        got = mp.mpf(str(log_of_factorisation({2: 2000, 3: 585, 5: 87, 7: 20, 11: 1}, 50)))
        assert abs(got - exact) < mp.mpf(10) ** -50


@pytest.mark.parametrize(("n", "total"), [(1, 4), (2, 5), (3, 6), (4, 9), (5, 3)])
def test_least_table_by_enumeration(n, total):
    def factorials(values):
        return math.prod(map(math.factorial, values))

    every = [v for v in itertools.product(range(total + 1), repeat=n) if sum(v) == total]
    least = min(map(factorials, every))
    assert product(factorisation_of(least_table(n, total))) == least
    assert len({tuple(sorted(v)) for v in every if factorials(v) == least}) == 1
