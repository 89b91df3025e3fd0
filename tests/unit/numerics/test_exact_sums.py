"""Exact sums of floats, against sums of fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.numerics import exact_sums as module
from discreet.numerics.exact_sums import SMALLEST, as_float, exact_sum, fixed_sums, of_fixed

finite = st.floats(allow_nan=False, allow_infinity=False)
UNIT = Fraction(1, 2**SMALLEST)


def fraction_of(values):
    return sum(map(Fraction, values), Fraction(0))


@given(st.lists(finite, max_size=60))
def test_the_sum_is_that_of_fractions(values):
    assert exact_sum(np.array(values)) * UNIT == fraction_of(values)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.0, -0.0],
        [1.0],
        [5e-324, -5e-324, 5e-324],
        [1e308, 5e-324, -1e308],
        [1e16, 1.0, -1e16],
        [-1.5, -2.25, -1e-300],
        [2.0**1023, -(2.0**1023), 2.0**-1022],
        [np.finfo(float).max] * 3,
    ],
    ids=[
        "none",
        "noughts",
        "one",
        "least",
        "far apart",
        "cancelling",
        "negative",
        "ends",
        "beyond",
    ],
)
def test_tiny_huge_and_negative_numbers(values):
    assert exact_sum(np.array(values, dtype=np.float64)) * UNIT == fraction_of(values)


@pytest.mark.parametrize("at_once", [1, 7, 1 << 15])
def test_no_order_and_no_split_changes_a_bit(monkeypatch, at_once):
    rng = np.random.default_rng(1)
    values = rng.standard_normal(3000) * 10.0 ** rng.integers(-200, 200, 3000)
    expected = fraction_of(values.tolist())
    monkeypatch.setattr(module, "MOST_TERMS", at_once)
    for _ in range(3):
        order = rng.permutation(len(values))
        pieces = np.split(values[order], np.sort(rng.integers(0, len(values), 9)))
        assert sum(map(exact_sum, pieces)) * UNIT == expected


def test_as_many_terms_of_the_largest_size_as_are_summed_at_once():
    """The halves of the whole numbers are added as floats, which must stay exact."""
    values = np.full(module.MOST_TERMS, np.nextafter(2.0, 1.0))
    assert exact_sum(values) * UNIT == module.MOST_TERMS * Fraction(np.nextafter(2.0, 1.0))
    assert exact_sum(-values) == -exact_sum(values)


@given(st.lists(st.floats(-1e300, 1e300), max_size=40))
def test_as_a_float_it_is_rounded_once(values):
    assert as_float(exact_sum(np.array(values))) == math.fsum(values)


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-(2.0**20), 2.0**20)), max_size=40))
def test_fixed_sums_lack_less_than_a_unit_of_each_number_and_add_up_exactly(pairs):
    place = np.array([at for at, _ in pairs], dtype=np.int64)
    values = np.array([value for _, value in pairs])
    found = fixed_sums(place, values, 5)
    assert found.dtype == np.int64
    units = [int(high) * 2**16 + int(low) for high, low in found.tolist()]
    for at, held in enumerate(units):
        own = [value for here, value in pairs if here == at]
        lacking = fraction_of(own) * 2**32 - held
        assert -Fraction(1, 1000) <= lacking <= len(own)
    assert of_fixed(found) == pytest.approx([n / 2**32 for n in units], rel=1e-15)
    order = np.random.default_rng(len(pairs)).permutation(len(pairs))
    cut = len(pairs) // 2
    parts = [fixed_sums(place[rows], values[rows], 5) for rows in (order[:cut], order[cut:])]
    assert (parts[0] + parts[1] == found).all()
