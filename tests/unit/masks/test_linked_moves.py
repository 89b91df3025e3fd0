"""Boxes of linked tables: the cheapest of all boxes from the cells that are tried."""

from itertools import product

import numpy as np

from discreet.data.hierarchy import Hierarchy
from discreet.data.table import Table
from discreet.masks.layout_notation import layout_of
from discreet.masks.linked_figures import linked_figures
from discreet.masks.linked_moves import SHUT, LinkedBoxes
from discreet.masks.solving import Budget
from discreet.masks.suppression_figures import Rule
from discreet.masks.suppression_pattern import Pattern, Problem, move_of

TREES = {"r": Hierarchy.of_table([("a", "P", "all"), ("b", "P", "all"), ("c", "Q", "all")])}
TEXTS = ["r:tree(all),s+total", "s,r:tree(1) | t=x", "t+total,s"]


def problem_of(counts):
    names, levels = ["r", "s", "t"], [["a", "b", "c"], ["u", "v"], ["x", "y"]]
    table = Table.of_dense(counts, names, levels)
    figures = linked_figures([layout_of(text, table, TREES) for text in TEXTS])
    rule = Rule(small=2)
    return Problem(
        figures=figures,
        rule=rule,
        counts=counts.ravel(),
        sensitive=np.flatnonzero(rule.is_sensitive(figures.counts)),
        costs=figures.counts * 3 + 1,
        budget=Budget(1e6),
    )


def boxes_by_trying(problem, figure, steps):
    """Every box in which a figure changes by one a corner, as the move along it."""
    sizes = problem.figures.table.sizes
    held = set(problem.figures.cells(figure).tolist())
    levels = [range(size) for size in sizes]
    for near in product(*levels):
        if np.ravel_multi_index(near, sizes) not in held:
            continue
        for far in product(*levels):
            corners = list(product(*({a, b} for a, b in zip(near, far, strict=True))))
            if len(corners) == 1:
                continue
            cells = np.array([np.ravel_multi_index(one, sizes) for one in corners])
            by = np.array(
                [(-1) ** sum(x != a for x, a in zip(one, near, strict=True)) for one in corners]
            )
            order = np.argsort(cells)
            sign = 1 if steps > 0 else -1
            move = move_of(problem, cells[order], sign * by[order])
            if move is not None and dict(zip(move.figures, move.change, strict=True)).get(figure):
                yield move


def price(problem, move, steps):
    """What a move costs, None where it cannot be made so often."""
    if move.ahead < abs(steps) or not problem.may_hide[move.figures].all():
        return None
    return int(problem.costs[move.figures].sum())


def test_the_cheapest_box_is_the_cheapest_of_all():
    rng = np.random.default_rng(6)
    looked_at = 0
    for _ in range(6):
        problem = problem_of(rng.integers(1, 7, size=(3, 2, 2)))
        pattern = Pattern(problem, np.zeros(problem.figures.n, dtype=np.bool_))
        boxes = LinkedBoxes(problem)
        for figure in problem.sensitive.tolist():
            cells = problem.figures.cells(figure)
            if len(cells) > 4:
                continue
            for steps in (1, -1, 2):
                found = boxes.cheapest(pattern, figure, steps)
                every = [
                    cost
                    for move in boxes_by_trying(problem, figure, steps)
                    if (cost := price(problem, move, steps)) is not None
                ]
                if found is None:
                    assert not every
                    continue
                assert int(problem.costs[found.figures].sum()) == min(every)
                looked_at += 1
    assert looked_at >= 10


def test_a_figure_that_must_stay_shown_is_in_no_box():
    problem = problem_of(np.arange(1, 13).reshape(3, 2, 2))
    pattern = Pattern(problem, problem.is_sensitive)
    boxes, figure = LinkedBoxes(problem), 0
    free = boxes.cheapest(pattern, figure, 1)
    assert free is not None
    without = np.zeros(problem.figures.n, dtype=np.bool_)
    without[[f for f in free.figures.tolist() if f != figure]] = True
    other = boxes.cheapest(pattern, figure, 1, without)
    assert other is None or not without[other.figures].any()
    assert problem.costs.sum() < SHUT
