"""Every figure and formula of polettini that can be checked, with its place in the paper."""

import mpmath as mp
import numpy as np
import pytest
from tests.oracles.closed_forms import closed_form_of_three, closed_form_of_two

from discreet.survey.models.benedetti_franconi import individual_risk
from discreet.survey.models.inverse_mean import (
    approximation_error,
    inverse_mean_of_one,
    printed_form_of_three,
    three_term_approximation,
    two_term_approximation,
)

CELLS = [(1, 0.3), (2, 0.001), (3, 0.3), (7, 0.05), (12, 0.9), (2.5, 0.02)]


def risk(f: float, p: float) -> float:
    return float(individual_risk(np.array([f]), np.array([p]))[0])


@pytest.mark.parametrize(("f", "p"), CELLS)
def test_integral_of_equation_3(f, p):
    def integrand(t):
        return (p * mp.exp(-t) / (1 - (1 - p) * mp.exp(-t))) ** f

    assert risk(f, p) == pytest.approx(float(mp.quad(integrand, [0, p, 1, mp.inf])), rel=1e-10)


@pytest.mark.parametrize(("f", "p"), CELLS)
def test_integral_of_equation_5(f, p):
    def integrand(t):
        return t ** (f - 1) * (1 - t * (1 - p)) ** (-f)

    integral = mp.quad(integrand, [0, 0.5, 0.9, 0.99, 0.999, 1])
    assert risk(f, p) == pytest.approx(float(p**f * integral), rel=1e-10)


@pytest.mark.parametrize(("f", "p"), CELLS)
def test_gauss_function_of_equation_6(f, p):
    gauss = mp.hyp2f1(f, f, f + 1, 1 - mp.mpf(p))
    assert risk(f, p) == pytest.approx(float(mp.mpf(p) ** f / f * gauss), rel=1e-12)


@pytest.mark.parametrize(("f", "p"), [(1, 0.2), (3, 0.2), (10, 0.2)])
def test_negative_binomial_mean_of_equation_1(f, p):
    def term(h):
        return mp.binomial(h - 1, f - 1) * mp.mpf(p) ** f * mp.mpf(1 - p) ** (h - f) / h

    assert risk(f, p) == pytest.approx(float(mp.fsum(map(term, range(f, 700)))), rel=1e-12)


def test_contiguity_relation_of_section_3_at_the_right_argument():
    """₂F₁(f, f; f+1; q) = p^(1−f) ₂F₁(1, 1; f+1; q); the paper prints 0 and p_k for q_k."""
    f, p = 4, mp.mpf("0.3")
    right = p ** (1 - f) * mp.hyp2f1(1, 1, f + 1, 1 - p)
    assert mp.almosteq(mp.hyp2f1(f, f, f + 1, 1 - p), right)
    assert not mp.almosteq(mp.hyp2f1(f, f, f + 1, p), right, 0.1)


def test_closed_forms_of_section_2():
    p = np.array([0.3])
    assert inverse_mean_of_one(p)[0] == pytest.approx(risk(1, 0.3), rel=1e-14)
    assert closed_form_of_two(p)[0] == pytest.approx(risk(2, 0.3), rel=1e-14)
    assert closed_form_of_three(p)[0] == pytest.approx(risk(3, 0.3), rel=1e-13)


def test_slip_in_the_closed_form_for_three():
    p = np.array([0.3])
    assert closed_form_of_three(p)[0] == pytest.approx(0.125385614335, abs=1e-12)
    assert printed_form_of_three(p)[0] == pytest.approx(0.087769930, abs=1e-9)


def test_risk_at_certain_inclusion_is_one_over_f():
    """Section 2: ₂F₁(f, f; f+1; 0) = 1."""
    assert [risk(f, 1.0) for f in (1, 2, 3, 50)] == [1, 1 / 2, 1 / 3, 1 / 50]


def test_approximations_9_and_10_are_poor_for_small_f():
    f, p = np.array([1.0]), np.array([0.001])
    assert approximation_error(three_term_approximation, f, p)[0] == pytest.approx(
        -0.735, abs=0.005
    )
    assert approximation_error(two_term_approximation, f, p)[0] == pytest.approx(-0.783, abs=0.005)


@pytest.mark.parametrize(("approximation", "order"), [(three_term_approximation, 3)])
def test_remainder_of_equation_8(approximation, order):
    """The error of (9) falls as f^−3 when p is fixed."""
    f, p = np.array([1e3, 1e4]), np.array([0.2, 0.2])
    near, far = approximation_error(approximation, f, p)
    assert np.log10(near / far) == pytest.approx(order, abs=0.02)
