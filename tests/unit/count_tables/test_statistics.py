"""Sufficient statistics of tables and sequences, and S2 as a decimal."""

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.count_tables.contradictions import contradiction
from discreet.count_tables.factorials import log_of_factorisation
from discreet.count_tables.statistics import CountStatistics, DecimalLog, check_counts, decimal_log
from discreet.errors import InputError

DISASTERS = {0: 15, 1: 20, 2: 9, 3: 5, 4: 2}
tables = st.dictionaries(st.integers(0, 60), st.integers(1, 50), min_size=1, max_size=9)


@given(tables)
def test_no_true_table_is_refused(table):
    assume(any(table))
    statistics = CountStatistics.of_counts(table)
    assert statistics.n == sum(table.values())
    assert statistics.total == sum(v * c for v, c in table.items())
    exact = sum(c * math.lgamma(v + 1) for v, c in table.items())
    assert statistics.log_factorial_total == pytest.approx(exact, rel=1e-12)
    assert max(table) < statistics.next_prime
    assert contradiction(None, statistics.total, statistics.factorisation) is None
    neighbours = max(table) - min(table) <= 1
    assert statistics.is_least == neighbours


def test_sequence_and_table_agree():
    values = [value for value, count in DISASTERS.items() for _ in range(count)]
    assert CountStatistics.of_sequence(values) == CountStatistics.of_counts(DISASTERS)
    assert CountStatistics.of_sequence(np.array(values)) == CountStatistics.of_counts(DISASTERS)


def test_mean_is_exact_and_fields_are_fixed():
    statistics = CountStatistics.of_counts(DISASTERS)
    assert statistics.mean == Fraction(61, 51)
    with pytest.raises(dataclasses.FrozenInstanceError):
        statistics.n = 3
    with pytest.raises(TypeError):
        statistics.factorisation[2] = 1


def test_numpy_and_whole_floats_are_counts():
    assert check_counts({np.int64(2): np.int32(3), 1.0: 4.0}) == {1: 4, 2: 3}


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({}, "the table must be of at least one observation, got none"),
        ({3: 0}, "the table must be of at least one observation"),
        ({-1: 2}, "values must be zero or more, got -1"),
        ({1: -2}, "counts must be zero or more, got -2 at value 1"),
        ({1.5: 2}, "values must be whole numbers, got 1.5"),
        ({1: 2.5}, "counts must be whole numbers, got 2.5"),
        ({"a": 2}, "values must be whole numbers, got 'a'"),
        ({1: True}, "counts must be whole numbers, got True"),
        ({1: math.nan}, "counts must be whole numbers, got nan"),
        ({10**7: 1}, "values must be at most 1,000,000, got 10,000,000"),
    ],
)
def test_refuses_tables(counts, message):
    with pytest.raises(InputError, match=message):
        CountStatistics.of_counts(counts)


def test_refuses_all_zero():
    with pytest.raises(
        InputError, match="total must be above zero, got 0; all observations are zero"
    ):
        CountStatistics.of_counts({0: 9})


@pytest.mark.parametrize(
    ("decimals", "truncate", "value"),
    [
        (0, False, "22"),
        (0, True, "21"),
        (2, False, "21.55"),
        (3, True, "21.553"),
        (5, False, "21.55323"),
    ],
)
def test_decimals(decimals, truncate, value):
    """S2 of the disasters is 20 log 2 + 7 log 3 = 21.5532296…"""
    statistics = CountStatistics.of_counts(DISASTERS)
    got = decimal_log(statistics, decimals, truncate=truncate)
    assert str(got.value) == value
    assert got.low <= Decimal(statistics.log_factorial_total) < got.high


def test_many_decimals_are_right():
    statistics = CountStatistics(100, 200, {2: 100})
    got = decimal_log(statistics, 40, truncate=True).value
    assert str(got) == "69.3147180559945309417232121458176568075500"


def test_interval_of_a_decimal():
    assert (DecimalLog(Decimal("1.5"), 1).low, DecimalLog(Decimal("1.5"), 1).high) == (
        Decimal("1.45"),
        Decimal("1.55"),
    )
    truncated = DecimalLog(Decimal("1.5"), 1, truncated=True)
    assert (truncated.low, truncated.high) == (Decimal("1.5"), Decimal("1.6"))
    assert DecimalLog(Decimal("0"), 0).low == 0
    with pytest.raises(InputError, match="decimals must be from 0 to 1000"):
        decimal_log(CountStatistics.of_counts(DISASTERS), -1, truncate=False)


def test_limits_of_a_decimal_keep_all_their_digits():
    statistics = CountStatistics.of_counts({0: 15, 1: 20, 2: 9, 3: 5, 4: 2})
    for decimals in (28, 40, 200):
        rounded = decimal_log(statistics, decimals, truncate=False)
        cut = decimal_log(statistics, decimals, truncate=True)
        unit = Fraction(1, 10**decimals)
        assert Fraction(rounded.high) - Fraction(rounded.low) == unit
        assert Fraction(rounded.value) - Fraction(rounded.low) == unit / 2
        assert Fraction(cut.high) - Fraction(cut.low) == unit
        exact = log_of_factorisation(statistics.factorisation, decimals + 30)
        assert rounded.low <= exact < rounded.high
        assert cut.low <= exact < cut.high
