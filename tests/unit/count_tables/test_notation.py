"""Tables, factorisations and S2 in writing, there and back."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.count_tables.factorials import primes_to
from discreet.count_tables.notation import (
    parse_counts,
    parse_factorisation,
    parse_log_factorial_total,
    write_counts,
    write_factorisation,
)
from discreet.count_tables.statistics import DecimalLog
from discreet.errors import InputError

exponents = st.dictionaries(st.sampled_from(primes_to(3000)), st.integers(1, 10**6), max_size=6)


@given(st.dictionaries(st.integers(0, 10**6), st.integers(1, 10**12), min_size=1, max_size=9))
def test_counts_there_and_back(table):
    assert parse_counts(write_counts(table)) == dict(sorted(table.items()))


@given(exponents)
def test_factorisation_there_and_back(factorisation):
    assert parse_factorisation(write_factorisation(factorisation)) == dict(
        sorted(factorisation.items())
    )


def test_ways_of_writing():
    assert parse_counts(" 0: 15, 1:20 ,2:9,") == {0: 15, 1: 20, 2: 9}
    for text in ("2^20*3^7", "2**20 * 3**7", "2^20 · 3^7", "2^20×3^7", str(2**20 * 3**7)):
        assert parse_factorisation(text) == {2: 20, 3: 7}
    assert parse_factorisation("1") == {}
    assert parse_factorisation("4^3*6") == {2: 7, 3: 1}


def test_s2_either_way():
    assert parse_log_factorial_total("2^20*3^7") == {2: 20, 3: 7}
    assert parse_log_factorial_total("2^0") == {}
    assert parse_log_factorial_total("22.") == DecimalLog(Decimal(22), 0)
    assert parse_log_factorial_total("0") == DecimalLog(Decimal(0), 0)
    assert parse_log_factorial_total("21.55") == DecimalLog(Decimal("21.55"), 2)
    assert parse_log_factorial_total("21", truncated=True) == DecimalLog(Decimal(21), 0, True)
    assert parse_log_factorial_total("21.50").decimals == 2


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_counts, "", "the table must be of at least one observation"),
        (parse_counts, "0", "counts must be value:count, separated by commas, got '0'"),
        (parse_counts, "0:a", "counts must be whole numbers, got 'a' at value 0"),
        (parse_counts, "0.5:3", "values must be whole numbers, got '0.5'"),
        (parse_counts, "0:1,0:2", "values must be named once each, got 0"),
        (parse_counts, "0:1,2:-3", "counts must be zero or more, got -3 at value 2"),
        (parse_factorisation, "2^x", "exponents must be whole numbers, got 'x' at prime 2"),
        (parse_factorisation, "2^", "exponents must be whole numbers"),
        (parse_factorisation, "2^-3", "the factorisation must be of positive whole numbers"),
        (parse_factorisation, "0^3", "the factorisation must be of positive whole numbers"),
        (parse_factorisation, "", "the factorisation's primes must be whole numbers, got ''"),
        (parse_factorisation, "20000003", "the factorisation must be of primes up to 2,000,000"),
        (parse_factorisation, str((10**9 + 7) ** 5), "got a larger one"),
        (
            parse_log_factorial_total,
            "1",
            "which may be either; write 2.0 for e.S2 = 1, or 1. for S2",
        ),
        (
            parse_log_factorial_total,
            "2",
            "which may be either; write 2.1 for e.S2 = 2, or 2. for S2",
        ),
        (parse_log_factorial_total, "abc", "S2 must be a factorisation of e.S2 such as"),
        (parse_log_factorial_total, "-3", "S2 must be a factorisation"),
        (parse_log_factorial_total, "nan", "S2 must be a factorisation"),
    ],
)
def test_refuses(parse, text, message):
    with pytest.raises(InputError, match=message):
        parse(text)
