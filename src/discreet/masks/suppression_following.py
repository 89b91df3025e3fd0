"""A pattern of suppression that protects small sums of hidden figures too.

Those that its moves do not show to be uncertain are added to its figures, hidden from the start
since they are printed nowhere, and protected as all sensitive ones are.
"""

from dataclasses import replace

import numpy as np

from discreet.masks.contract import Guarantee
from discreet.masks.linked_figures import LinkedFigures
from discreet.masks.suppression_pattern import Pattern, move_of
from discreet.masks.suppression_proof import union_bounds
from discreet.masks.suppression_search import protect_open
from discreet.masks.suppression_unions import Union, small_unions
from discreet.progress import Progress, silent

UNION_SECONDS = 2e-4  # nominal, a union that is found and looked at


def with_unions(pattern: Pattern, *, progress: Progress = silent) -> Pattern:
    """The pattern, hiding what it takes until every small union is safe; as it is where the rule
    asks for no unions.

    Raises Unprotectable where a union cannot be kept safe, or the work was spent before.
    """
    problem = pattern.problem
    figures = problem.figures
    if not problem.rule.unions or not isinstance(figures, LinkedFigures):
        return pattern
    while True:
        every = small_unions(figures, pattern.hidden, problem.rule)
        problem.budget.spend(UNION_SECONDS * len(every))
        left = [one for one in every if not _is_safe(pattern, one)]
        if not left:
            return pattern
        pattern = _followed(pattern, left)
        figures = pattern.problem.figures
        assert isinstance(figures, LinkedFigures)
        protect_open(pattern.problem, pattern, progress=progress)


def _is_safe(pattern: Pattern, union: Union) -> bool:
    low, high = pattern.reach(union.figures)
    if pattern.problem.guarantee is Guarantee.NOT_DERIVABLE:
        return low < high
    return pattern.problem.rule.needs(union.count).met(low, high)


def _followed(pattern: Pattern, unions: list[Union]) -> Pattern:
    """The same pattern with further figures to protect."""
    problem = pattern.problem
    assert isinstance(problem.figures, LinkedFigures)
    figures = problem.figures.with_unions(unions)
    more = figures.n - problem.figures.n
    wider = replace(
        problem,
        figures=figures,
        sensitive=np.concatenate([problem.sensitive, np.arange(problem.figures.n, figures.n)]),
        costs=np.concatenate([problem.costs, np.zeros(more, dtype=np.int64)]),
    )
    hidden = np.concatenate([pattern.hidden, np.ones(more, dtype=np.bool_)])
    again = (move_of(wider, move.cells, move.by) for move in pattern.moves)
    return Pattern(wider, hidden, [move for move in again if move is not None])


def derivable_unions(pattern: Pattern, time_limit: float | None) -> list[str]:
    """The small unions that everybody can work out exactly, by name."""
    problem = pattern.problem
    if not isinstance(problem.figures, LinkedFigures):
        return []
    every = small_unions(problem.figures, pattern.hidden, problem.rule)
    left = [one for one in every if len(set(pattern.reach(one.figures))) == 1]
    if not left:
        return []
    own = problem.figures, pattern.hidden, problem.rule
    found = union_bounds(*own, left, problem.counts, time_limit)
    known = (found.lower == found.upper).tolist()
    return [one.label for one, is_known in zip(left, known, strict=True) if is_known]
