"""E(1/F) and Var(1/F) for F = f + Poisson(m), against mpmath and simulation-free sums."""

import mpmath as mp
import numpy as np
import pytest

from discreet.survey.models.loglinear.poisson_reciprocal import (
    chance_alone,
    reciprocal_mean,
    reciprocal_mean_and_variance,
    reciprocal_slope,
)

COUNTS = (1, 2, 3, 7, 40, 1000, 10**9)
MEANS = (0.0, 1e-12, 1e-5, 0.02, 0.7, 3.0, 18.0, 60.0, 1e3, 1e6, 1e14)


def exact_mean(f, m):
    """Kummer's function: ∫ (1 − s)^(f−1) e^(−ms) ds."""
    with mp.workdps(40):
        return mp.hyp1f1(1, f + 1, -mp.mpf(m)) / f


def exact_square(f, m):
    """Σ P(X = j) / (f + j)² term by term."""
    with mp.workdps(40):
        return mp.nsum(
            lambda j: mp.exp(-m + j * mp.log(m) - mp.loggamma(j + 1)) / (f + j) ** 2, [0, mp.inf]
        )


@pytest.mark.parametrize("f", COUNTS)
def test_the_mean_agrees_with_kummers_function(f):
    found = reciprocal_mean(np.full(len(MEANS), f), np.array(MEANS))
    for value, m in zip(found, MEANS):
        assert value == pytest.approx(float(exact_mean(f, m)), rel=2e-14), (f, m)


@pytest.mark.parametrize("f", [1, 2, 5, 30])
@pytest.mark.parametrize("m", [0.01, 0.5, 4.0, 25.0])
def test_the_variance_agrees_with_its_sum(f, m):
    mean, variance = reciprocal_mean_and_variance(np.array([f]), np.array([m]))
    exact = float(exact_square(f, m) - exact_mean(f, m) ** 2)
    assert mean[0] == pytest.approx(float(exact_mean(f, m)), rel=2e-14)
    assert variance[0] == pytest.approx(exact, rel=1e-9)


def test_a_cell_without_unseen_people_is_certain():
    f = np.array([1, 2, 9])
    mean, variance = reciprocal_mean_and_variance(f, np.zeros(3))
    assert mean == pytest.approx(1 / f, rel=1e-15)
    assert variance.max() < 1e-14
    assert chance_alone(np.zeros(1))[0] == 1


def test_the_slope_is_the_derivative():
    f, m, h = np.array([1, 2, 6]), np.array([0.3, 2.0, 9.0]), 1e-5
    numeric = (reciprocal_mean(f, m + h) - reciprocal_mean(f, m - h)) / (2 * h)
    assert reciprocal_slope(f, m) == pytest.approx(numeric, rel=1e-8)


def test_no_cells_give_no_figures():
    none = np.empty(0)
    assert len(reciprocal_mean(none.astype(np.int64), none)) == 0
    assert len(reciprocal_mean_and_variance(none.astype(np.int64), none)[1]) == 0


def test_many_cells_are_worked_on_in_blocks():
    f = np.tile([2, 3], 20_000)
    m = np.tile([1.0, 2.0], 20_000)
    assert np.unique(reciprocal_mean(f, m)).size == 2
