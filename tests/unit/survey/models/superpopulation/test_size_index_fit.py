"""Newton steps in a box, profile limits, and limits on a realised number."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from discreet.survey.models.superpopulation.size_index_fit import (
    Evaluation,
    NotSettled,
    combined_limits,
    covariance,
    maximise,
    numerical,
    profile_limits,
)

WIDE = (np.array([-50.0, -50.0]), np.array([50.0, 50.0]))


def hill(point):
    """Far from concave away from its top at (1, 2)."""
    x, y = point
    return math.log(1 / (1 + (x - 1) ** 2 + 3 * (y - 2) ** 2 + (x - 1) * (y - 2)))


def test_the_top_of_a_hill_that_is_not_concave():
    point, best = maximise(numerical(hill), np.array([-20.0, 30.0]), *WIDE)
    assert point == pytest.approx([1, 2], abs=1e-4)
    assert best.value == pytest.approx(0, abs=1e-7)


def test_a_top_beyond_the_box_is_sought_on_its_edge():
    lower, upper = np.array([-5.0, -5.0]), np.array([0.0, 5.0])
    point, _ = maximise(numerical(hill), np.array([-3.0, -3.0]), lower, upper)
    assert point[0] == 0
    assert point[1] == pytest.approx(2 + 1 / 6, abs=1e-4)


def test_a_function_that_rises_for_ever_does_not_settle():
    def rising(point):
        return Evaluation(float(point[0]), np.ones(1), np.full((1, 1), -1e-9))

    with pytest.raises(NotSettled):
        maximise(rising, np.zeros(1), np.array([-math.inf]), np.array([math.inf]))


def test_numerical_derivatives():
    at = numerical(lambda p: math.exp(p[0]) * math.sin(p[1]))(np.array([0.3, 0.7]))
    e, s, c = math.exp(0.3), math.sin(0.7), math.cos(0.7)
    assert at.gradient == pytest.approx([e * s, e * c], rel=1e-6)
    assert at.curvature == pytest.approx(np.array([[e * s, e * c], [e * c, -e * s]]), rel=1e-5)


@dataclass
class Parabola:
    """ℓ = −½ (x − m)ᵀ A (x − m), g = −b·x + bend·x₀², all derivatives known."""

    bend: float = 0.0
    lower = np.array([-9.0, -9.0])
    upper = np.array([9.0, 9.0])
    centre = np.array([1.0, 2.0])
    matrix = np.array([[4.0, 1.0], [1.0, 2.0]])
    slope = np.array([1.0, 0.5])

    def log_likelihood(self, point):
        away = point - self.centre
        return Evaluation(-away @ self.matrix @ away / 2, -self.matrix @ away, -self.matrix)

    def log_unique_probability(self, point):
        bend = np.array([self.bend, 0.0])
        value = -self.slope @ point + bend @ point**2
        return Evaluation(value, -self.slope + 2 * bend * point, np.diag(2 * bend))


def test_covariance_is_the_inverse_information_and_leaves_out_what_is_at_a_limit():
    family = Parabola()
    assert covariance(family, family.centre) == pytest.approx(np.linalg.inv(family.matrix))
    at_limit = np.array([9.0, 2.0])
    assert covariance(family, at_limit) == pytest.approx(np.array([[0, 0], [0, 0.5]]))


@pytest.mark.parametrize("information", [-4.8e-7, 1.9e-7, 0.0, -1e-18])
def test_a_ridge_is_flat_whatever_rounding_makes_of_its_information(information):
    family = Parabola()
    family.matrix = np.diag([4.0, information])
    assert covariance(family, family.centre) == pytest.approx(np.diag([0.25, 400.0]))


def test_profile_limits_of_a_linear_figure_are_normal_limits():
    family = Parabola()
    spread = math.sqrt(family.slope @ np.linalg.inv(family.matrix) @ family.slope)
    low, high = profile_limits(family, family.centre, 0.95)
    assert low == pytest.approx(-2 - 1.959964 * spread, rel=1e-3)
    assert high == pytest.approx(-2 + 1.959964 * spread, rel=1e-3)


@pytest.mark.parametrize("bend", [0.3, -0.3])
def test_profile_limits_of_a_bent_figure_against_a_grid(bend):
    family = Parabola(bend)
    x, y = np.meshgrid(np.linspace(-2, 4, 1201), np.linspace(-1, 5, 1201))
    dx, dy = x - 1, y - 2
    drop = (4 * dx**2 + 2 * dx * dy + 2 * dy**2) / 2
    g = (-x - 0.5 * y + bend * x**2)[drop <= 1.959964**2 / 2]
    low, high = profile_limits(family, family.centre, 0.95)
    assert low == pytest.approx(g.min(), abs=5e-3)
    assert high == pytest.approx(g.max(), abs=5e-3)


def test_limits_combine_both_errors_as_squares():
    certain = combined_limits(400.0, (380.0, 430.0), 0.0, 0.95)
    assert (certain.low, certain.high) == (380.0, 430.0)
    drawn = combined_limits(400.0, (400.0, 400.0), 100.0, 0.95)
    assert drawn.low == pytest.approx(400 - 1.96 * 10, abs=1.5)
    assert drawn.high == pytest.approx(400 + 1.96 * 10, abs=1.5)
    assert drawn.standard_error == pytest.approx(10)
    both = combined_limits(400.0, (380.0, 430.0), 100.0, 0.95)
    assert both.low == pytest.approx(400 - math.hypot(20, 400 - drawn.low))
    assert both.high == pytest.approx(400 + math.hypot(30, drawn.high - 400))


@pytest.mark.parametrize("bits", range(-4, 5))
def test_limits_do_not_jump_with_the_last_bits(bits):
    """Mean 10 and variance 9: the shift of 1 is a whole number but for rounding."""
    noise = 1 + bits * 2.0**-52
    exact, noisy = (combined_limits(10.0 * x, (7.0, 14.0), 9.0, 0.95) for x in (1.0, noise))
    assert noisy.low == pytest.approx(exact.low, rel=1e-9)
    assert noisy.high == pytest.approx(exact.high, rel=1e-9)
