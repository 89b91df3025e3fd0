"""E(1/F) and E(1/F²) against fifty-digit arithmetic, brute force and their own identities."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.closed_forms import closed_form_of_three, closed_form_of_two

from discreet.numerics.arrays import FloatArray
from discreet.survey.models.inverse_mean import (
    BLOCK,
    approximation_error,
    inverse_mean,
    inverse_mean_of_one,
    inverse_square_mean,
    three_term_approximation,
    two_term_approximation,
)

WHOLE = [1, 2, 3, 4, 5, 7, 10, 15, 19, 20, 21, 22, 30, 50, 100, 1000, 1e4, 1e6, 1e7]
FRACTIONAL = [1 + 1e-15, 1 + 1e-9, 1.001, 1.1, 1.5, 1.5000001, 1.75, 2 - 1e-12, 2 + 1e-12, 2.5]
FRACTIONAL += [3.3, 7.7, 12.34, 19.5, 19.999, 20.5, 33.3, 1000.5, 1e6 + 0.5]
SMALL_P = [1e-12, 1e-9, 1e-6, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.15, 0.1999]
MIDDLE_P = [0.2, 0.25, 0.3, 0.4, 0.4999999, 0.5, 0.51, 0.6, 0.75, 0.9]
LARGE_P = [0.99, 0.999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1 - 2.0**-53, 1]
SQUARE_CELLS = [(1, 1e-9), (1, 0.3), (2, 1e-6), (3, 1e-3), (19, 1e-4), (20, 0.4999), (21, 1e-9)]
SQUARE_CELLS += [(21, 0.2), (2, 0.5), (20, 0.5), (10, 1 - 1e-9), (100, 1e-6), (1000, 0.9)]

counts = st.floats(1, 1e7) | st.integers(1, 60).map(float)
probabilities = st.floats(1e-12, 1) | st.floats(0, 12).map(lambda digits: 10**-digits)


def exact_mean(f: float, p: float) -> mp.mpf:
    """(p/f) ₂F₁(1, 1; f+1; q) to fifty digits: mpmath's own for small f, the plain series above."""
    with mp.workdps(50):
        f, p = mp.mpf(float(f)), mp.mpf(float(p))
        if f <= 50:
            return p / f * mp.hyp2f1(1, 1, f + 1, 1 - p)
        term = total = 1 / f
        n = 0
        while term > total * mp.mpf(10) ** -45:
            n += 1
            term *= n * (1 - p) / (f + n)
            total += term
        return p * total


def exact_square_mean(f: int, p: float) -> mp.mpf:
    """E(1/F²): ∫ t (p e^(−t) / (1 − q e^(−t)))^f dt, by quadrature on a logarithmic grid."""
    with mp.workdps(30):
        p = mp.mpf(float(p))
        scale = [p * mp.mpf(10) ** k / f for k in range(-2, 20)]
        cuts = [mp.mpf(0), *(t for t in scale if t < 30), mp.mpf(30), mp.mpf(200)]
        return mp.quad(lambda t: t * (p / (mp.exp(t) - 1 + p)) ** f, cuts)


def worst_error(fs: list[float], ps: list[float]) -> float:
    f, p = (grid.ravel() for grid in np.meshgrid(np.array(fs, float), np.array(ps, float)))
    computed = inverse_mean(f, p)
    exact = [exact_mean(*cell) for cell in zip(f, p, strict=True)]
    return max(abs(float(r / e - 1)) for r, e in zip(computed, exact, strict=True))


@pytest.mark.parametrize("ps", [SMALL_P, MIDDLE_P, LARGE_P], ids=["small", "middle", "large"])
@pytest.mark.parametrize("fs", [WHOLE, FRACTIONAL], ids=["whole", "fractional"])
def test_mean_is_exact_in_every_region(fs, ps):
    assert worst_error(fs, ps) < 1e-14


def test_mean_of_a_tiny_probability():
    p = 1e-300  # fifty digits cannot tell 1 − p from 1, so against the closed form
    assert inverse_mean(np.ones(1), np.array([p]))[0] == pytest.approx(p * 300 * np.log(10))
    assert inverse_mean(np.full(1, 2.0), np.array([p]))[0] == pytest.approx(p, rel=1e-14)


def test_mean_is_one_over_f_at_certain_inclusion():
    f = np.array([*WHOLE, *FRACTIONAL], float)
    np.testing.assert_array_equal(inverse_mean(f, np.ones(len(f))), 1 / f)


@given(counts, probabilities)
def test_mean_lies_between_its_limits(f, p):
    """F ≥ f, and E(1/F) ≥ 1/E(F) = p/f."""
    r = inverse_mean(np.array([f]), np.array([p]))[0]
    assert p / f * (1 - 1e-15) <= r <= min(1, 1 / f * (1 + 1e-15))


@given(counts, st.floats(1e-6, 1 - 1e-6))
def test_mean_obeys_its_recurrence(f, p):
    low, high = inverse_mean(np.array([f, f + 1]), np.array([p, p]))
    assert (1 - p) / p * high + low == pytest.approx(1 / f, rel=1e-9)


@given(st.lists(st.tuples(counts, probabilities), max_size=30))
def test_mean_of_a_cell_does_not_depend_on_its_neighbours(cells):
    f, p = np.array(cells, float).reshape(-1, 2).T
    one_by_one = [inverse_mean(f[i : i + 1], p[i : i + 1])[0] for i in range(len(f))]
    np.testing.assert_allclose(inverse_mean(f, p), one_by_one, rtol=1e-15)


def test_mean_across_blocks_and_shapes():
    rng = np.random.default_rng(3)
    f, p = rng.integers(1, 40, (3, BLOCK)).astype(float), rng.uniform(0.01, 1, (3, BLOCK))
    together = inverse_mean(f, p)
    assert together.shape == (3, BLOCK)
    for row in range(3):
        np.testing.assert_array_equal(together[row], inverse_mean(f[row], p[row]))
    assert inverse_mean(np.ones((0, 4)), np.ones((0, 4))).shape == (0, 4)


def brute_force(f: int, p: float, power: int, terms: int = 8000) -> float:
    """Σ P(F = h) / h^power, the negative binomial term by term."""
    mass, total = p**f, 0.0
    for h in range(f, f + terms):
        total += mass / h**power
        mass *= (1 - p) * h / (h - f + 1)
    return total


@pytest.mark.parametrize("p", [0.02, 0.3, 0.5, 0.8, 0.999, 1.0])
@pytest.mark.parametrize("f", [1, 2, 5, 20, 21, 40])
def test_both_means_by_brute_force(f, p):
    cell = np.array([float(f)]), np.array([p])
    assert inverse_mean(*cell)[0] == pytest.approx(brute_force(f, p, 1), rel=1e-11)
    assert inverse_square_mean(*cell)[0] == pytest.approx(brute_force(f, p, 2), rel=1e-11)


@pytest.mark.parametrize(("f", "p"), SQUARE_CELLS)
def test_square_mean_by_quadrature(f, p):
    computed = inverse_square_mean(np.array([float(f)]), np.array([p]))[0]
    assert computed == pytest.approx(float(exact_square_mean(f, p)), rel=2e-12)


def test_square_mean_at_certain_inclusion():
    f = np.array([1, 2, 20, 21, 1e5])
    np.testing.assert_allclose(inverse_square_mean(f, np.ones(5)), f**-2.0, rtol=1e-14)


def test_closed_forms_agree_where_they_keep_their_digits():
    p = np.array([1e-6, 0.01, 0.3, 0.7])
    forms = (inverse_mean_of_one, closed_form_of_two, closed_form_of_three)
    for f, form in enumerate(forms, start=1):
        np.testing.assert_allclose(form(p), inverse_mean(np.full(4, float(f)), p), rtol=1e-13)


def grid() -> tuple[FloatArray, FloatArray]:
    f, p = np.meshgrid(np.array([1, 2, 5, 30, 1000.0]), np.array([1e-6, 0.1, 0.5, 0.99]))
    return f, p


def test_approximations_are_too_low_and_more_terms_are_better():
    f, p = grid()
    three = approximation_error(three_term_approximation, f, p)
    two = approximation_error(two_term_approximation, f, p)
    assert (three <= 1e-15).all()
    assert (two <= three).all()
    np.testing.assert_allclose(two[f == 1000], 0, atol=3e-6)
