"""The least suppression after which every released record fits k of the original records.

A record that keeps the values of some keys fits all original records that agree on these. Whether
they are k depends on no other record's suppression, so the cheapest set of keys to take out is
found for each cell by itself: the sets are tried in the order of what they cost, and a cell takes
the first that does. What is found is therefore the least there is, unless a key may lose only so
many values, which makes records depend on each other, or there are more sets than are looked at.

Cost: a count of the cells by each set of keys, for as long as cells are open; near cells × sets.
"""

import numpy as np

from discreet.figures import How
from discreet.masks.records.suppression import (
    Problem,
    Suppression,
    Values,
    distinct_values,
    joined_pieces,
    keys_in,
)
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.progress import Progress, silent

DENSE = 4  # codes for each cell up to which they are counted in an array
FILTER_BITS = 22  # of the filter of codes that some open cell has
MIX = np.uint64(0x9E3779B97F4A7C15)


def suppressed_to_candidates(problem: Problem, progress: Progress = silent) -> Suppression:
    """The least suppression, by the price of the values, after which every record fits k original
    ones that have enough different sensitive values."""
    without = np.zeros(len(problem.records), dtype=np.int64)
    waiting = np.flatnonzero(problem.stands_out)
    n_open, used = max(len(waiting), 1), np.zeros(problem.n_keys, dtype=np.int64)
    bounded = limited = False
    least, known, steps = 0.0, 0.0, 0
    for cost, mask in problem.sets():
        if not len(waiting):
            break
        steps += 1
        bounded |= steps > problem.most_sets  # the sets between the last one and this are left out
        known = cost if steps <= problem.most_sets else known
        progress("looking for values to suppress", 1 - len(waiting) / n_open)
        helped = fits_enough(problem, mask, waiting)
        admitted = within_limits(problem, mask, waiting, helped, used)
        limited |= bool((helped & ~admitted).any())
        without[waiting[admitted]] = mask
        least += known * float(problem.records[waiting[admitted]].sum())
        waiting = waiting[~admitted]
    cells = np.arange(len(problem.records))
    cell, masks, records = joined_pieces([(cells, without, problem.records)])
    return Suppression(
        cell=cell,
        without=masks,
        records=records,
        how=How.BOUND if bounded or limited else How.EXACT,
        least=least if not limited else 0.0,
        left=int(problem.records[waiting].sum()),
        steps=steps,
    )


def fits_enough(problem: Problem, mask: int, waiting: IntArray) -> BoolArray:
    """Which of the waiting cells agree with k records on all keys but those of the mask."""
    codes = problem.codes(mask)
    sought = codes[waiting]
    n_codes = problem.n_codes(mask)
    if problem.coding.n_words > 1:
        n_codes = len(codes)
    if problem.coding.n_words == 1 and n_codes > DENSE * len(codes):
        counted = _records_with(codes, problem.records, sought)
    else:
        place = codes if problem.coding.n_words > 1 else _dense(problem, mask)
        totals = np.bincount(place, weights=problem.records)
        counted = totals[place[waiting]]
    enough: BoolArray = counted >= problem.k
    for values in problem.values:
        enough &= _diverse(values, codes, sought)
    return enough


def _dense(problem: Problem, mask: int) -> IntArray:
    """The codes without the keys of a mask, close together."""
    found = np.zeros(len(problem.words), dtype=np.int64)
    for key, digit in enumerate(problem.coding.digits):
        if not mask >> key & 1:
            found *= digit.size
            found += problem.parts[:, key] // digit.stride
    return found


def _records_with(codes: IntArray, records: IntArray, sought: IntArray) -> IntArray:
    """How many records have each of the codes that are sought.

    Few cells share a code with an open one, so most are kept out by a filter of hashes before what
    is left is put in order.
    """
    shift = np.uint64(64 - FILTER_BITS)
    wanted = np.zeros(1 << FILTER_BITS, dtype=np.bool_)
    with np.errstate(over="ignore"):
        wanted[(sought.astype(np.uint64) * MIX) >> shift] = True
        kept = wanted[(codes.astype(np.uint64) * MIX) >> shift]
    own, held = codes[kept], records[kept]
    order = np.argsort(own)
    own = own[order]
    starts = np.flatnonzero(np.r_[True, own[1:] != own[:-1]])
    totals = np.add.reduceat(held[order], starts)
    return totals[np.searchsorted(own[starts], sought)]


def _diverse(values: Values, codes: IntArray, sought: IntArray) -> BoolArray:
    """Which of the codes have enough different sensitive values."""
    distinct, place = np.unique(sought, return_inverse=True)
    at = np.minimum(np.searchsorted(distinct, codes), len(distinct) - 1)
    group = np.where(distinct[at] == codes, at, -1)
    enough: BoolArray = distinct_values(values, group, len(distinct)) >= values.least
    return enough[place]


def within_limits(
    problem: Problem, mask: int, waiting: IntArray, helped: BoolArray, used: IntArray
) -> BoolArray:
    """Those of the cells that are helped whose keys may still lose their values; adds to `used` how
    many values of each key are taken out."""
    keys = keys_in(mask)
    admitted = helped
    if problem.most is not None:
        limits = [problem.most[key] - used[key] for key in keys if problem.most[key] >= 0]
        if limits:
            reached = np.cumsum(np.where(helped, problem.records[waiting], 0))
            admitted = helped & (reached <= min(limits))
    taken = int(problem.records[waiting[admitted]].sum())
    used[keys] += taken
    return admitted
