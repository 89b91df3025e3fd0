"""Errors of numbers and means that draws of tables estimate, against exact ones."""

import numpy as np
import pytest

from discreet.fiber.draws.drawing import Method, draw_tables
from discreet.fiber.draws.sequential import estimate_count, weighted_draws
from discreet.fiber.sums.counting import count_tables
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.priors import Multinomial, Uniform

REPEATS = 50
SQUARE = np.array([[5, 1, 3, 0], [2, 4, 0, 1], [0, 2, 6, 2], [3, 0, 1, 4]])
CUBE = np.array([[[3, 1, 2], [0, 2, 1]], [[1, 4, 0], [2, 1, 3]]])
RELEASES = {
    "by columns": margins_of(SQUARE, [(0,), (1,)]),
    "cell by cell": margins_of(CUBE, [(0, 1), (0, 2), (1, 2)]),
}


def exact(margins, prior):
    system = system_of(margins.n_cells, margins.statements())
    return system, posterior(system, prior)


@pytest.mark.parametrize("release", RELEASES)
def test_the_error_of_the_number_of_tables(release, errors_are_right):
    margins = RELEASES[release]
    system, _ = exact(margins, Uniform())
    right, rng, scores = count_tables(system).value, np.random.default_rng(1), []
    for _ in range(REPEATS):
        found = estimate_count(margins, n_draws=400, rng=rng)
        assert found.standard_error == pytest.approx(found.value * found.relative_error)
        scores.append((found.value - right) / found.standard_error)
    errors_are_right(scores)


@pytest.mark.parametrize("method", [Method.EXACT, Method.WALK, Method.SEQUENTIAL])
def test_errors_of_means_of_cells(method, errors_are_right):
    """Of every cell whose mean is not fixed; a walk's own estimate of its dependence varies."""
    margins = RELEASES["by columns"]
    _, right = exact(margins, Uniform())
    means = [p @ (low + np.arange(len(p))) for p, low in zip(right.probabilities, right.lower)]
    rng, scores = np.random.default_rng(2), []
    for _ in range(REPEATS):
        found = draw_tables(margins, Uniform(), 200, rng=rng, method=method)
        scores.append((found.mean - means) / found.standard_error)
    of_cells = np.sqrt(np.mean(np.square(scores), axis=1))  # of all 16 cells in each repeat
    errors_are_right(of_cells)


def test_errors_of_weighted_means(errors_are_right):
    margins = RELEASES["cell by cell"]
    _, right = exact(margins, Multinomial())
    mean = right.probabilities[0] @ (right.lower[0] + np.arange(len(right.probabilities[0])))
    rng, scores = np.random.default_rng(3), []
    for _ in range(REPEATS):
        found = weighted_draws(margins, Multinomial(), 300, rng=rng)
        scores.append((found.mean()[0] - mean) / found.standard_error()[0])
    errors_are_right(scores)


def test_a_cell_that_never_varied_is_not_certain_where_there_is_room():
    """(upper − lower) / (draws + 2): the error if one more draw were at the far limit."""
    margins = margins_of(np.array([[60, 0], [0, 1]]), [(0,), (1,)])
    system = system_of(4, margins.statements())
    found = draw_tables(
        margins, Multinomial(), 4, rng=np.random.default_rng(1), method=Method.EXACT
    )
    assert np.all(found.tables == found.tables[0])
    span = (system.upper - system.lower)[0]
    assert span > 0
    assert found.standard_error[0] == pytest.approx(span / 6)
