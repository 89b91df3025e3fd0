"""Distributions of hidden tables: of guesses that are as probable the first, and no measure of
noise.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from discreet.belief import count_belief
from discreet.belief.belief import ListedBelief
from discreet.belief.count_belief import (
    CellDistribution,
    Mixture,
    exact,
    reciprocal,
    table_distribution,
)
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.figures import Unavailable

NOISE = [-1e-13, -(2**-53), 0.0, 2**-53, 1e-13]


@pytest.mark.parametrize("noise", NOISE)
def test_of_counts_as_probable_the_least_is_the_best_guess(noise):
    distribution = CellDistribution(
        cell=0,
        support=np.array([2, 5, 9]),
        probabilities=np.array([0.2, 0.4 - noise, 0.4 + noise]),
        mean=5.0,
    )
    assert distribution.best_guess == 5


@pytest.mark.parametrize("noise", NOISE)
def test_of_parts_as_probable_the_first_has_the_best_guess(monkeypatch, noise):
    """Two numbers of observations, one table each: a half for either."""
    parts = [
        SimpleNamespace(system=place, log_table_probability=lambda _, n=n: n)
        for place, n in enumerate((0.0, 40 * noise))
    ]
    monkeypatch.setattr(
        count_belief, "most_probable_table", lambda system, *_, **__: np.array([system])
    )
    found = Mixture(None, tuple(parts), np.log([0.5, 0.5]), ("a", "b"))
    assert found.best(Budget()).tolist() == [0]


@pytest.mark.parametrize("noise", NOISE)
def test_of_listed_tables_as_probable_the_first_is_the_best_guess(noise):
    tables = np.array([[1, 2, 0], [2, 0, 1], [0, 1, 2]])
    logs = np.array([-40.0, -30.0, -30.0 * (1 - noise)])
    belief = ListedBelief.of_weights(tables, logs)
    assert table_distribution(belief, "multinomial").best_guess == (2, 0, 1)


@pytest.mark.parametrize("bits", [0.0, 3e-13, 4e-12, 6e-11])
def test_one_over_an_entropy_that_may_be_rounding_has_no_value(bits):
    assert isinstance(reciprocal(exact(bits)), Unavailable)
    assert reciprocal(exact(1e-6)).value == pytest.approx(1e6)
