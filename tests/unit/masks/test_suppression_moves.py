"""Moves: boxes against all boxes, and what a move says of the tables it leads to."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.masks.contract import Guarantee
from discreet.masks.solving import Budget
from discreet.masks.suppression import Rule
from discreet.masks.suppression_figures import figures_of
from discreet.masks.suppression_moves import Boxes
from discreet.masks.suppression_pattern import Pattern, Problem, move_of
from discreet.masks.suppression_search import Protector


def problem_of(counts, rule=None, sets=None, guarantee=Guarantee.WHOLE):
    counts, rule = np.asarray(counts), rule or Rule()
    figures = figures_of(Table.of_dense(counts), counts, sets)
    return Problem(
        figures=figures,
        rule=rule,
        counts=counts.ravel(),
        sensitive=np.flatnonzero(rule.is_sensitive(figures.counts)),
        costs=np.asarray(figures.counts * (figures.n + 1) + 1),
        budget=Budget(60),
        guarantee=guarantee,
    )


def extended_boxes(problem, figure, steps):
    """What the cheapest box costs, by trying all boxes of the table with a level more a variable."""
    counts = problem.counts.reshape(problem.figures.table.sizes)
    levels = [range(size + 1) for size in counts.shape]
    may, costs = problem.may_hide, problem.costs
    best = np.inf
    for near, far in product(product(*levels), product(*levels)):
        if any(a == b for a, b in zip(near, far)):
            continue
        change = np.zeros(counts.shape, dtype=np.int64)
        for turns in product((0, 1), repeat=counts.ndim):
            corner = tuple(b if turn else a for a, b, turn in zip(near, far, turns))
            if all(level < size for level, size in zip(corner, counts.shape)):
                change[corner] += (-1) ** sum(turns)
        by = problem.figures.summed(change.ravel())
        if change.sum() or by[figure] != 1:
            continue
        if np.any(counts + steps * change < 0) or not np.all(may[by != 0]):
            continue
        if np.any((problem.figures.counts + steps * by)[by != 0] < problem.rule.least):
            continue
        best = min(best, int(costs[(by != 0) & ~problem.is_sensitive].sum()))
    return best


@pytest.mark.parametrize("steps", [2, 1, -1])
@pytest.mark.parametrize(("shape", "sets"), [((3, 4), None), ((2, 3, 2), None)])
def test_the_cheapest_box_is_found(shape, sets, steps):
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(12):
        counts = rng.poisson(2, shape)
        counts.flat[1] = 2
        problem = problem_of(counts, sets=sets)
        pattern = Pattern(problem, problem.is_sensitive)
        for figure in problem.sensitive[:4].tolist():
            if problem.figures.counts[figure] + steps < problem.rule.least:
                continue
            box = Boxes(problem).cheapest(pattern, figure, steps)
            least = extended_boxes(problem, figure, steps)
            seen.add(box is None)
            if box is None:
                assert least == np.inf
                continue
            new = box.figures[~pattern.hidden[box.figures]]
            assert problem.costs[new].sum() == least
            own = int(box.change[box.figures == figure][0])
            ends = [own * s for s in box.steps(whole=True)]
            assert min(ends) <= steps <= max(ends)
    assert False in seen


def test_figures_that_must_stay_shown_are_in_no_box():
    problem = problem_of([[1, 8, 9], [8, 12, 10], [7, 6, 30]])
    pattern = Pattern(problem, problem.is_sensitive)
    first = Boxes(problem).cheapest(pattern, 0, 2)
    without = np.zeros(problem.figures.n, dtype=bool)
    without[first.figures[-1]] = True
    second = Boxes(problem).cheapest(pattern, 0, 2, without)
    assert first.figures[-1] not in second.figures


def test_a_move_knows_how_far_it_leads():
    problem = problem_of([[1, 8], [5, 12]])
    move = move_of(problem, np.arange(4), np.array([2, -2, -2, 2]))
    assert move.by.tolist() == [1, -1, -1, 1]
    assert move.steps(whole=True) == (0, 4)
    assert move.table(problem.counts, 4).tolist() == [5, 4, 1, 16]
    assert move_of(problem, np.arange(2), np.array([1, 1])) is None
    slow = move_of(problem_of([[1, 8], [5, 12]]), np.arange(4), np.array([3, -3, -2, 2]))
    assert slow.ahead == Fraction(2)


def test_a_move_counts_only_while_all_that_it_changes_is_hidden():
    problem = problem_of([[1, 8], [5, 12]])
    pattern = Pattern(problem, problem.is_sensitive)
    pattern.make(move_of(problem, np.arange(4), np.array([1, -1, -1, 1])))
    assert pattern.interval(0) == (1, 5)
    assert pattern.is_safe(0)
    pattern.show([3])
    assert pattern.interval(0) == (1, 1)
    assert not pattern.is_safe(0)
    pattern.hide([3])
    assert pattern.open() == []
    assert [one.tolist() for one in pattern.witnesses()] == [[5, 4, 1, 16]]


def test_guarantees_are_told_apart():
    problem = problem_of([[1, 2], [2, 9]], Rule(small=1, protect=1), guarantee=Guarantee.BOUNDS)
    pattern = Pattern(problem, np.array([1, 1, 1, 1, 0, 0, 0, 0, 0], dtype=bool))
    assert pattern.guarantee() is None
    pattern.add(move_of(problem, np.arange(4), np.array([1, -1, -1, 1])))
    assert pattern.guarantee() is Guarantee.WHOLE
    wide = problem_of([[1, 2], [2, 9]], Rule(small=1, protect=2), guarantee=Guarantee.BOUNDS)
    pattern = Pattern(wide, np.array([1, 1, 1, 1, 0, 0, 0, 0, 0], dtype=bool))
    pattern.add(move_of(wide, np.arange(4), np.array([1, -1, -1, 1])))
    assert pattern.guarantee() is Guarantee.NOT_DERIVABLE


def test_a_fraction_of_a_step_is_a_bound_and_no_table():
    # One figure of three cells whose moves go by two: 1.5 steps in fractions, 1 in whole numbers.
    problem = problem_of([9, 4, 9], Rule(small=4, protect=1, lower=3), sets=[["v1"]])
    pattern = Pattern(problem, np.ones(3, dtype=bool))
    pattern.add(move_of(problem, np.arange(3), np.array([-1, 2, -1])))
    assert pattern.interval(1, whole=False)[0] == 1
    assert pattern.interval(1, whole=True)[0] == 2
    assert pattern.holds(Guarantee.BOUNDS, 1)
    assert not pattern.holds(Guarantee.WHOLE, 1)
    assert pattern.guarantee() is Guarantee.BOUNDS


def test_a_figure_is_protected_in_the_cheaper_of_two_ways():
    problem = problem_of([[2, 3, 9], [3, 2, 9], [9, 9, 9]])
    pattern = Pattern(problem, problem.is_sensitive)
    Protector(problem).protect(pattern, 0)
    assert pattern.is_safe(0)
    assert np.flatnonzero(pattern.hidden).tolist() == [0, 1, 3, 4]
