"""The pattern that goes out: of little cost, or around decoys with every hidden figure protected.

Around decoys nobody may tell a sensitive figure from a decoy, nor from one that is hidden for the
sake of another: so all of them are protected alike. What is hidden in the first search and is not
as uncertain as asked joins the sensitive figures, and the search begins again, until nothing is
left to join. A decoy that nothing can protect is given up and stays shown.

If everything that is hidden is to be hidden from the start, as small or as a decoy, the answer is
that very pattern: `as_it_is` looks for that first. So each table that fits a pattern could have led
to it (docs/methods/masks.md).
"""

from dataclasses import replace

import numpy as np

from discreet.figures import Unavailable
from discreet.masks.linked_figures import LinkedFigures
from discreet.masks.solving import OutOfTime
from discreet.masks.suppression_figures import Figures
from discreet.masks.suppression_following import with_unions
from discreet.masks.suppression_limits import covering_limit
from discreet.masks.suppression_pattern import Pattern, Problem
from discreet.masks.suppression_proof import listed
from discreet.masks.suppression_search import (
    Limit,
    Unprotectable,
    as_it_is,
    least_pattern,
    make_parts_anew,
    safe_pattern,
    thin,
)
from discreet.numerics.arrays import BoolArray
from discreet.progress import Progress, silent

ROUND_SHARE = 0.5  # of the work left, for one search; what comes after it still has some


def pattern_of_little_cost(
    problem: Problem, exact: bool, progress: Progress = silent
) -> tuple[Pattern, Limit] | Unavailable:
    """A safe pattern and what is known of the least one, or why there is none."""
    try:
        return _searched(problem, exact, progress)
    except Unprotectable as without:
        return _not_protected(problem.figures, without)
    except OutOfTime:
        return _late(problem)


def pattern_around(
    problem: Problem, decoys: BoolArray, exact: bool, progress: Progress = silent
) -> tuple[Pattern, Limit] | Unavailable:
    """A pattern around the small figures and their decoys in which every hidden figure is safe."""
    work = problem.budget.seconds
    small = problem.is_sensitive
    must = small | decoys
    while True:
        problem.budget.seconds = problem.budget.spent + ROUND_SHARE * (work - problem.budget.spent)
        limit = problem.budget.seconds
        asked = replace(problem, sensitive=np.flatnonzero(must))
        try:
            pattern = _drawn(asked, exact, progress)
        except Unprotectable as without:
            given_up = _given_up(small, without)
            if not given_up or problem.budget.is_over:
                return _not_protected(problem.figures, without)
            must[list(given_up)] = False
            problem = replace(problem, always_shown=problem.always_shown | given_up)
            continue
        except OutOfTime:
            return _late(problem)
        if problem.budget.seconds < limit:  # ended by the clock, so that it cannot be made again
            return _late(problem)
        unsafe = pattern.open(np.flatnonzero(pattern.hidden).tolist())
        if not unsafe:
            problem.budget.seconds = work
            return _nothing_spare(problem, pattern, must), Limit()
        must[unsafe] = True


def _nothing_spare(problem: Problem, pattern: Pattern, asked: BoolArray) -> Pattern:
    """The pattern without figures, dearest first, that neither had to be hidden nor protect any
    other; every hidden figure is sensitive in it."""
    hidden = pattern.hidden.copy()
    spare = np.flatnonzero(hidden & ~asked)
    every = Pattern(_whole(problem, hidden), hidden, pattern.moves)
    for figure in spare[np.argsort(-problem.costs[spare], kind="stable")].tolist():
        if problem.budget.is_over:
            break
        hidden[figure] = False
        fewer = as_it_is(_whole(problem, hidden))
        if fewer is None:
            hidden[figure] = True
        else:
            every = fewer
    return every


def _whole(problem: Problem, hidden: BoolArray) -> Problem:
    return replace(problem, sensitive=np.flatnonzero(hidden))


def _given_up(small: BoolArray, without: Unprotectable) -> frozenset[int]:
    """The figures that cannot be protected, if none of them is small."""
    if any(small[figure] for figure in without.figures):
        return frozenset()
    return frozenset(without.figures)


def _searched(problem: Problem, exact: bool, progress: Progress) -> tuple[Pattern, Limit]:
    """A safe pattern made to hide less; raises where there is none, or none was found in time."""
    found = with_unions(_first(problem, progress), progress=progress)
    return _better(found.problem, found, exact, progress)


def _first(problem: Problem, progress: Progress) -> Pattern:
    """A safe pattern; raises where there is none, or none was found in time."""
    small = problem.sensitive[problem.figures.is_total[problem.sensitive]]
    if len(small):
        raise Unprotectable(small.tolist(), proved=True)
    if not problem.budget.seconds:
        raise OutOfTime
    return safe_pattern(problem, progress=progress)


def _drawn(problem: Problem, exact: bool, progress: Progress) -> Pattern:
    """A safe pattern at drawn costs. There is little to be gained by a long search for the least
    of what chance has named, so there is one only where that is asked for."""
    found = as_it_is(problem)
    if found is not None:
        return found
    if exact:
        return _searched(problem, exact, progress)[0]
    found = _first(problem, progress)
    thin(problem, found, progress=progress)
    if len(unsafe := found.open()):
        raise Unprotectable(unsafe, proved=False)
    return found


def _better(
    problem: Problem, found: Pattern, exact: bool, progress: Progress
) -> tuple[Pattern, Limit]:
    """The pattern made to hide less.

    Where the guard of the clock ends that, what was done by then is what the record says is to be
    done, so that the same pattern can be made again.
    """
    limit = Limit()
    try:
        thin(problem, found, progress=progress)
        if exact:
            found, limit = least_pattern(problem, found, progress=progress)
        if limit.cost is None and isinstance(problem.figures, LinkedFigures):
            least = covering_limit(problem)
            limit = Limit(least, is_proved=least >= found.cost)
        if not limit.is_proved:
            make_parts_anew(problem, found, progress=progress)
        found = with_unions(found, progress=progress)
        limit = _settled(limit, found)
    except OutOfTime:
        problem.budget.seconds = problem.budget.spent
    if len(unsafe := found.open()):
        raise Unprotectable(unsafe, proved=False)
    return found, limit


def _settled(limit: Limit, pattern: Pattern) -> Limit:
    """What is known of the least cost, told of a pattern that came after it."""
    return replace(limit, is_proved=limit.cost is not None and limit.cost >= pattern.cost)


def _late(problem: Problem) -> Unavailable:
    return Unavailable(
        "no pattern of suppression was found and proved within "
        f"{problem.budget.seconds:.3g} s; allow more"
    )


def _not_protected(figures: Figures, without: Unprotectable) -> Unavailable:
    named = listed(figures.name(figure) for figure in without.figures)
    if without.proved:
        return Unavailable(
            f"no pattern of suppression is safe: {named} would be known more closely than asked "
            "with all else hidden; publish fewer or coarser tables, or ask for less width"
        )
    return Unavailable(f"no safe pattern was found for {named} within the work; allow more")
