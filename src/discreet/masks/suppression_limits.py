"""What no safe pattern of linked tables can beat, quickly.

Where a shown figure is the sum of others, one hidden figure among all of them can be worked out. So
every sum `parent = child + child + …` with a sensitive figure in it has two hidden figures at
least. The cheapest set of figures that meets this for all sums costs no more than the cheapest safe
pattern, and the least that is proved of it by a solver is a limit too (a covering problem).
"""

from collections.abc import Iterator

import numpy as np

from discreet.clock import standing_still
from discreet.masks.linked_figures import NONE, LinkedFigures
from discreet.masks.solving import solve
from discreet.masks.suppression_pattern import Problem
from discreet.masks.suppression_unions import rows_of

SHARE = 0.05  # of the work left


def covering_limit(problem: Problem) -> int:
    """A cost that every safe pattern has at least."""
    base = problem.cost(problem.is_sensitive)
    if not isinstance(problem.figures, LinkedFigures):
        return base
    with standing_still():
        from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    hides = {}
    for spare in dict.fromkeys(_spares(problem, problem.figures)):
        for figure in spare:
            if figure not in hides:
                hides[figure] = model.new_bool_var("")
        model.add_bool_or([hides[figure] for figure in spare])
    costs = [int(problem.costs[figure]) for figure in hides]
    model.minimize(cp_model.LinearExpr.weighted_sum(list(hides.values()), costs))
    solved = solve(model, work=SHARE * problem.budget.units_left, budget=problem.budget)
    return base + (max(0, solved.limit) if solved.has_solution else 0)


def _spares(problem: Problem, figures: LinkedFigures) -> Iterator[tuple[int, ...]]:
    """For each sum with one sensitive figure, the others of which one at least is hidden too."""
    sensitive, may = problem.is_sensitive, problem.may_hide
    known = {figures.cells(figure).tobytes(): figure for figure in range(figures.n_told)}
    for row in rows_of(figures):
        cells = np.concatenate([figures.cells(figure) for figure in row])
        parent = known.get(np.sort(cells).tobytes(), NONE)
        if parent == NONE:
            continue
        every = [*row, parent]
        spare = tuple(sorted(one for one in every if may[one] and not sensitive[one]))
        if sum(bool(sensitive[one]) for one in every) == 1 and spare:
            yield spare
