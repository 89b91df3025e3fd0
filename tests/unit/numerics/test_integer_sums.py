"""Sums over long runs of integers against exact ones."""

import math

import mpmath
import numpy as np
import pytest

from discreet.numerics.integer_sums import ORDER, block_rule, integer_nodes


@pytest.mark.parametrize("length", [1, 2, ORDER, ORDER + 1, 40, 1000])
def test_a_block_is_exact_for_polynomials_of_degree_below_twice_its_order(length):
    nodes, weights = block_rule(length)
    integers = np.arange(length) - (length - 1) / 2
    for degree in range(2 * ORDER):
        exact = math.fsum(integers**degree)
        size = math.fsum(np.abs(integers) ** degree)
        assert weights @ (nodes - (length - 1) / 2) ** degree == pytest.approx(
            exact, abs=1e-12 * size + 1e-12
        )


@pytest.mark.parametrize(
    ("start", "stop", "alpha", "theta"),
    [
        (1, 2, 0.3, 1.0),
        (1, 33, 0.3, 1.0),
        (1, 5000, 0.7, 100.0),
        (1, 10**7, 0.4, -0.399),
        (1, 10**7, 0.4, 1e9),
        (9809, 4_867_000, 1.0, 2000.0),
        (3, 3 * 10**8, 1.0, -0.9),
    ],
)
def test_sums_of_logarithms_are_those_of_the_gamma_function(start, stop, alpha, theta):
    t, w = integer_nodes(start, stop)
    with mpmath.workdps(40):
        ratio = mpmath.mpf(theta) / mpmath.mpf(alpha)
        exact = (stop - start) * mpmath.log(mpmath.mpf(alpha))
        exact += mpmath.loggamma(ratio + stop) - mpmath.loggamma(ratio + start)
    assert w @ np.log(theta + alpha * t) == pytest.approx(float(exact), rel=1e-14)
    assert len(t) < 400


@pytest.mark.parametrize("gap", [0, 1, 20, 10**6])
def test_a_singularity_just_beyond_the_run(gap):
    stop = 300_001
    t, w = integer_nodes(1, stop, stop + gap)
    with mpmath.workdps(30):
        exact = mpmath.loggamma(stop + gap) - mpmath.loggamma(gap + 1)
    assert w @ np.log(stop + gap - t) == pytest.approx(float(exact), rel=1e-13)


def test_sums_of_inverse_squares():
    t, w = integer_nodes(1, 10**9)
    assert w @ t**-2.0 == pytest.approx(math.pi**2 / 6 - 1 / (10**9 - 0.5), rel=1e-14)


def test_an_empty_run_sums_to_nothing():
    t, w = integer_nodes(5, 5)
    assert len(t) == len(w) == 0


def test_shared_arrays_cannot_be_changed():
    nodes, weights = integer_nodes(1, 100)
    for array in (nodes, weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2.0
