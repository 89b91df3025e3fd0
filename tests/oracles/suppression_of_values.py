"""Local suppression by looking at every record and every choice: what the fast methods are held to.

Records are tuples of levels, None for a value that is missing. A choice for a record is a set of
keys whose values are taken out. A value that was missing before costs as much as any other to take
out, but to take it out changes nothing.
"""

from itertools import combinations, product

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.local.grouping import distinct_rows
from discreet.masks.records.suppression import Problem, Values, keys_in


def problem_of(records, k, *, sizes=None, cost=None, never=(), most=None, sensitive=None, least=1):
    """The records as a problem of suppression, and the cell of each record."""
    levels = np.array(records, dtype=np.int64).reshape(len(records), -1)
    own = levels.max(axis=0) + 1 if sizes is None else np.array(sizes)
    coding = Coding.of_sizes([int(size) for size in own])
    words, place = distinct_rows(coding.encode(levels))
    held = np.bincount(place, minlength=len(words))
    values, few = (), held < k
    if sensitive is not None:
        pairs = np.unique(np.stack([place, np.array(sensitive)], axis=1), axis=0)
        values = (Values(cell=pairs[:, 0], value=pairs[:, 1], least=least),)
        few |= np.bincount(pairs[:, 0], minlength=len(words)) < least
    problem = Problem(
        coding=coding,
        words=words,
        records=held,
        k=k,
        cost=np.ones(levels.shape[1]) if cost is None else np.array(cost, dtype=float),
        never=frozenset(never),
        most=None if most is None else np.array(most),
        open=few,
        values=values,
    )
    return problem, place


def released(problem, found):
    """The records as they go out, in the order of the pieces: levels with None for what is gone,
    and the cell that each comes from."""
    levels = problem.coding.decode(problem.words)
    shown, cells = [], []
    for cell, mask, n in zip(found.cell, found.without, found.records, strict=True):
        gone = keys_in(int(mask))
        row = tuple(None if j in gone else int(v) for j, v in enumerate(levels[cell]))
        shown += [row] * int(n)
        cells += [int(cell)] * int(n)
    return shown, cells


def price(problem, found):
    """What was taken out costs so much."""
    each = [sum(problem.cost[j] for j in keys_in(int(mask))) for mask in found.without]
    return float(np.dot(each, found.records))


def subsets(keys):
    """All sets of some keys, the empty one first."""
    return [set(some) for n in range(len(keys) + 1) for some in combinations(keys, n)]


def least_for_candidates(records, k, cost, never=(), sensitive=None, least=1):
    """The least price after which each record fits k records of all, and how many cannot be helped,
    record by record over all sets of keys."""
    free = [j for j in range(len(records[0])) if j not in never]
    total, left = 0.0, 0
    for record in records:
        prices = []
        for gone in subsets(free):
            fits = [
                i
                for i, other in enumerate(records)
                if all(a == b for j, (a, b) in enumerate(zip(record, other, strict=True))
                       if j not in gone)
            ]  # fmt: skip
            diverse = sensitive is None or len({sensitive[i] for i in fits}) >= least
            if len(fits) >= k and diverse:
                prices.append(sum(cost[j] for j in gone))
        total += min(prices, default=0.0)
        left += not prices
    return total, left


def least_strictly(records, k, cost):
    """The least price after which each pattern is shown by k records, over all choices for all
    records; None where there is none."""
    free = subsets(range(len(records[0])))
    best = None
    for choice in product(free, repeat=len(records)):
        paid = sum(cost[j] for gone in choice for j in gone)
        if best is not None and paid >= best:
            continue
        shown = [
            tuple(None if j in gone else v for j, v in enumerate(record))
            for record, gone in zip(records, choice, strict=True)
        ]
        if all(shown.count(one) >= k for one in shown):
            best = paid
    return best


def matches(one, other):
    """Whether two released records match, where what is gone matches anything."""
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))
