"""Suppression after which every released record matches k others, if nothing matches anything.

Where a value that was taken out matches any other, whoever fits k original records matches k
released ones: so the least suppression for that is a start. From there values are given back one
after the other, as long as every record still matches k. Such a file looks better than it is: an
intruder who asks how many records *show* what he knows may find one. Hence never the only check.

Cost: records-with-suppressed-values × cells × keys; above MOST_WORK nothing is given back.
"""

import numpy as np

from discreet.figures import How
from discreet.masks.records.candidate_suppression import suppressed_to_candidates
from discreet.masks.records.suppression import Problem, Suppression, keys_in
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.progress import Progress, silent

MOST_WORK = 3_000_000_000  # cells compared times keys, a few seconds
GONE = -1  # the level of a value that was taken out


def suppressed_to_wildcards(problem: Problem, progress: Progress = silent) -> Suppression:
    """Suppression after which every released record matches k released records, itself among them,
    where a value that was taken out matches any other."""
    start = suppressed_to_candidates(problem, progress)
    blank = np.flatnonzero(start.without)
    n_values = int(sum(len(keys_in(mask)) for mask in start.without[blank]))
    if problem.values or n_values * len(start.cell) * problem.n_keys > MOST_WORK:
        return _as_bound(start, start.without)
    return _as_bound(start, _given_back(problem, start, progress))


def _as_bound(start: Suppression, without: IntArray) -> Suppression:
    return Suppression(
        cell=start.cell,
        without=without,
        records=start.records,
        how=How.BOUND,
        least=0.0,
        left=start.left,
        steps=start.steps,
    )


def _given_back(problem: Problem, start: Suppression, progress: Progress) -> IntArray:
    """The masks after values were given back, the dearest first; records of a cell go together."""
    original = problem.coding.decode(problem.words)[start.cell]
    levels, without = original.copy(), start.without.copy()
    for key in range(problem.n_keys):
        levels[(without >> key & 1) == 1, key] = GONE
    matches = _all_matches(levels, start.records)
    blank = np.flatnonzero(without)
    keys = sorted(range(problem.n_keys), key=lambda key: -problem.cost[key])
    for done, row in enumerate(blank):
        progress("giving values back", done / len(blank))
        for key in keys:
            if without[row] >> key & 1:
                value = original[row, key]
                others = (levels[:, key] != GONE) & (levels[:, key] != value)
                lost = _matching(levels, int(row)) & others
                after = matches - np.where(lost, start.records[row], 0)
                after[row] = matches[row] - start.records[lost].sum()
                if after[row] >= problem.k and (after[lost] >= problem.k).all():
                    matches, levels[row, key] = after, value
                    without[row] &= ~(1 << key)
    return without


def _matching(levels: IntArray, row: int) -> BoolArray:
    """Which rows match one, where what is gone matches anything."""
    own = levels[row]
    known = np.flatnonzero(own != GONE)
    found = np.ones(len(levels), dtype=np.bool_)
    for key in known:
        found &= (levels[:, key] == own[key]) | (levels[:, key] == GONE)
    return found


def _all_matches(levels: IntArray, records: IntArray) -> IntArray:
    """How many records each row matches, itself among them."""
    return np.array([int(records[_matching(levels, row)].sum()) for row in range(len(levels))])
