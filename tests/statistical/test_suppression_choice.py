"""How much the choice of a pattern tells, over random tables with fixed seeds."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.belief.ladder import believe
from discreet.data.table import Table
from discreet.fiber.system.priors import Multinomial
from discreet.figures import Unavailable
from discreet.masks.after_publication import intruders_question
from discreet.masks.choice_belief import belief_with_choice
from discreet.masks.suppression import suppress
from discreet.masks.suppression_choice import pattern_around
from discreet.masks.suppression_replay import problem_of

SHAPES = [(2, 3), (3, 3), (2, 4), (3, 4)]


def tables(number, shapes):
    rng = np.random.default_rng(11)
    for i in range(number):
        shape = shapes[i % len(shapes)]
        yield rng.poisson(rng.gamma(1.0, 5.0, shape))


def small_cells(counts):
    return np.flatnonzero((counts.ravel() > 0) & (counts.ravel() <= 2))


def fits(masked):
    found = believe(intruders_question(masked, Multinomial()), ("listed",))
    return found.tables


def fixed(belief, cells):
    return sum(len(belief.cell(int(cell))) == 1 for cell in cells)


def shares(number, shapes, most):
    """Small cells, how many of them follow without and with the choice of a pattern of least cost,
    and how many tables are given away whole."""
    n = before = after = whole = 0
    for counts in tables(number, shapes):
        masked = suppress(Table.of_dense(counts))
        cells = small_cells(counts)
        if isinstance(masked, Unavailable) or not len(cells) or len(fits(masked)) > most:
            continue
        counted = belief_with_choice(masked, seconds=1000)
        n += len(cells)
        before += fixed(believe(intruders_question(masked, Multinomial()), ("listed",)), cells)
        after += fixed(counted, cells)
        whole += len(counted.tables) == 1
    return n, before, after, whole


def test_patterns_of_least_cost_fix_small_cells_that_bounds_leave_open():
    n, before, after, _ = shares(16, [(2, 3), (3, 3)], most=60)
    assert n >= 15
    assert before == 0
    assert after >= 1


@pytest.mark.soak
def test_a_tenth_of_the_small_cells_is_fixed_by_the_choice():
    n, before, after, whole = shares(100, SHAPES, most=2000)
    assert n > 200
    assert before == 0
    assert 0.05 < after / n < 0.15
    assert whole >= 3


def led_to(counts, seed, most):
    """Tables that fit a pattern with decoys, and how many of them lead to it if all that it hides
    is drawn; None where there are too many."""
    masked = suppress(Table.of_dense(counts), seed=seed)
    if isinstance(masked, Unavailable) or len(listed := fits(masked)) > most:
        return None
    replay, rng = masked.replay, np.random.default_rng(seed)
    n = 0
    for cells in listed:
        problem = problem_of(replay.problem, cells, 10.0)
        costs = rng.integers(1, 10**6, problem.figures.n)
        decoys = replay.hidden & ~problem.is_sensitive
        found = pattern_around(replace(problem, costs=costs), decoys, exact=False)
        n += np.array_equal(found[0].hidden, replay.hidden)
    return len(listed), n


def all_lead(number, shapes, most):
    found = [led_to(counts, seed, most) for seed, counts in enumerate(tables(number, shapes))]
    judged = [one for one in found if one is not None and one[0] > 1]
    assert all(n == led for n, led in judged)
    return len(judged)


def test_every_table_that_fits_a_pattern_with_decoys_can_lead_to_it():
    assert all_lead(14, [*SHAPES[:2], (2, 2, 2)], most=25) >= 5


@pytest.mark.soak
def test_every_table_that_fits_can_lead_to_it_in_many_tables():
    assert all_lead(100, [*SHAPES, (2, 2, 2), (2, 2, 3)], most=500) >= 50


@pytest.mark.soak
def test_with_decoys_no_small_cell_is_fixed():
    judged = 0
    for seed, counts in enumerate(tables(100, SHAPES[:2])):
        masked = suppress(Table.of_dense(counts), seed=seed)
        cells = small_cells(counts)
        if isinstance(masked, Unavailable) or not len(cells) or len(fits(masked)) > 500:
            continue
        plain = believe(intruders_question(masked, Multinomial()), ("listed",))
        counted = belief_with_choice(masked, seconds=15)
        if isinstance(counted, Unavailable):
            continue
        judged += 1
        open_cells = [cell for cell in cells if len(plain.cell(int(cell))) > 1]
        sure = [counted.cell(int(c)).get(int(counts.ravel()[c]), 0.0) for c in open_cells]
        errors = [max(counted.cell_error(int(c)).values()) for c in open_cells]
        assert all(p < 1 or error > 0 for p, error in zip(sure, errors, strict=True))
    assert judged >= 30
