"""Rounding never decides: what is alike, which is first, in which order."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.numerics.rounding import (
    ALIKE,
    EPSILON,
    above,
    alike,
    first_largest,
    order_of,
    sum_error,
    whole_above,
    whole_below,
)

FLOATS = st.floats(-1e12, 1e12)
NORMAL = FLOATS.filter(lambda x: x == 0 or abs(x) > 1e-290)
LAST_BITS = st.integers(-40, 40)


@given(st.lists(FLOATS, min_size=1, max_size=60), st.randoms())
def test_no_order_of_a_sum_is_off_by_more_than_stated(values, random):
    exact = sum(map(Fraction, values))
    random.shuffle(values)
    limit = sum_error(len(values), math.fsum(map(abs, values)))
    assert abs(Fraction(sum(values)) - exact) <= Fraction(limit)


@given(NORMAL, LAST_BITS)
def test_last_bits_make_no_difference(value, bits):
    other = value + bits * EPSILON * value
    assert alike(value, other)
    assert not above(value, other)
    assert not above(other, value)


@given(FLOATS.filter(lambda x: abs(x) > 1e-6))
def test_a_real_difference_is_one(value):
    other = value + 10 * ALIKE * abs(value)
    assert not alike(value, other)
    assert above(other, value)
    assert not above(value, other)


def test_scale_is_that_of_what_was_subtracted():
    assert alike(1e-8, 3e-8, scale=1e6)
    assert not alike(1e-8, 3e-8)


def test_infinities_are_alike_to_themselves_alone():
    assert alike(math.inf, math.inf)
    assert above(math.inf, 1e300)
    assert order_of([1.0, math.inf, -math.inf, math.inf]).tolist() == [1, 3, 0, 2]


@given(st.lists(st.tuples(st.integers(0, 4), LAST_BITS), min_size=1, max_size=20))
def test_ties_keep_their_order_whatever_the_last_bits(drawn):
    values = [k / 3 * (1 + bits * EPSILON) for k, bits in drawn]
    plain = [k for k, _ in drawn]
    assert order_of(values).tolist() == sorted(range(len(plain)), key=lambda i: (-plain[i], i))
    assert first_largest(values) == plain.index(max(plain))


def test_nothing_has_no_order():
    assert order_of([]).tolist() == []


@given(st.integers(-(10**12), 10**12), LAST_BITS)
def test_a_whole_number_stays_itself_whatever_its_last_bits(number, bits):
    noisy = number * (1 + bits * EPSILON)
    assert whole_below(noisy) == whole_above(noisy) == number


@given(FLOATS)
def test_whole_numbers_below_and_above(number):
    below, above_it = whole_below(number), whole_above(number)
    assert 0 <= above_it - below <= 1
    assert not above(below, number)
    assert not above(number, above_it)


def test_a_difference_of_large_numbers_is_whole_by_their_size():
    assert whole_below(0.9999999999, scale=10.0) == 1
    assert whole_below(0.99999, scale=10.0) == 0
