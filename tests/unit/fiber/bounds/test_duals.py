"""Bounds proved by weights hold whatever the weights are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.fiber.bounds.duals import Dual, refutation, rounded_dual
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import margins_of

TABLE = np.array([[3, 1, 2], [0, 4, 5]])
SYSTEM = system_of(6, margins_of(TABLE, [(0,), (1,)]).statements())


@settings(max_examples=60)
@given(
    st.lists(st.floats(-50, 50), min_size=5, max_size=5),
    st.integers(0, 5),
    st.sampled_from([-1, 1]),
)
def test_any_weights_bound_every_cell(weights, cell, sign):
    bound, dual = rounded_dual(SYSTEM, cell, sign, np.array(weights))
    assert bound >= sign * TABLE.flat[cell]
    limit = SYSTEM.upper[cell] if sign > 0 else -SYSTEM.lower[cell]
    assert bound == (limit if dual is None else dual.bound(SYSTEM, cell, sign)) <= limit
    assert dual is None or not dual.refutes(SYSTEM)


def test_weights_that_prove_less_than_the_limit_are_no_proof():
    bound, dual = rounded_dual(SYSTEM, 0, 1, np.array([0.0, 1.0, 0.0, 1.0, 0.0]))
    assert bound == SYSTEM.upper[0]
    assert dual is None


def test_the_right_weights_prove_the_frechet_bound():
    """x₁₂ ≥ row 2 + column 3 − total = 9 + 7 − 15, from two rows less all."""
    dual = Dual(numerators=np.array([0, -1, 1, 1, 0]), denominator=1)
    assert -dual.bound(SYSTEM, 5, -1) == 1


def test_huge_numbers_are_exact():
    big = 2**52
    known = [Statement(cells=np.arange(2000), low=big, high=big, name="total")]
    system = system_of(2000, known)
    assert Dual(numerators=np.array([2**20]), denominator=2**20).bound(system, 7, 1) == big


def test_weights_that_are_no_numbers_prove_nothing():
    bound, dual = rounded_dual(SYSTEM, 0, 1, np.full(5, np.nan))
    assert dual is None
    assert bound == SYSTEM.upper[0]


def test_a_refutation_is_found_from_either_sign_and_only_where_it_is_one():
    known = [
        Statement(cells=np.array([0, 1]), low=2, high=2, name="one"),
        Statement(cells=np.array([0, 1]), low=3, high=3, name="other"),
    ]
    system = system_of(2, known)
    assert refutation(system, np.array([1.0, -1.0])).refutes(system)
    assert refutation(system, np.array([-0.5, 0.5])).refutes(system)
    assert refutation(system, np.array([1.0, 1.0])) is None
