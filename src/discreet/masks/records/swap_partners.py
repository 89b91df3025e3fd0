"""Pairs of units of the same class that lie in different areas: who could swap with whom.

Of a class as many units are paired as can be. With N units, the largest area holding m of them,
these are 2 min(⌊N/2⌋, N − m): where one area holds more than half, each unit elsewhere gets a
partner there; else all have one, but for one unit if N is odd. So a unit that comes first is left
only where no matching could give partners to more of those that come first.

The pairing starts from one that certainly exists (units in the order of their areas, each with the
one half the class further on: an area that holds at most half of them never meets itself) and is
then mixed: pairs of a class meet at random and exchange partners where that keeps all areas apart.
An exchange is as probable as the one that undoes it, so all pairings that exchanges reach become
equally probable as the rounds go on.
"""

from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import BoolArray, IntArray

ROUNDS = 20  # of exchanges: a partner can come from any of 2^20 pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Pair i is of the units `one[i]` and `other[i]`; no unit is in two of them."""

    one: IntArray
    other: IntArray


def paired(
    unit_class: IntArray, area: IntArray, first: BoolArray, rng: np.random.Generator
) -> Pairs:
    """Units paired at random within their class, each with one of another area.

    Trusted: classes and areas are numbered from 0, one each for every unit.
    """
    rank = rng.permutation(len(area))
    stay = np.flatnonzero(~_left_over(unit_class, area, first, rank))
    order = stay[np.lexsort((rank[stay], area[stay], unit_class[stay]))]
    ordered = unit_class[order]
    begin, length = _runs(ordered)
    within = np.arange(len(order)) - np.repeat(begin, length)
    half = np.repeat(length // 2, length)
    lower = np.flatnonzero(within < half)
    one, other = order[lower], order[lower + half[lower]]
    return _mixed(Pairs(one=one, other=other), unit_class, area, rng)


def has_partner(unit_class: IntArray, area: IntArray) -> BoolArray:
    """Which units have anybody of their class in another area."""
    if not len(area):
        return np.zeros(0, dtype=np.bool_)
    n_class, _, area_of_run, run = _areas(unit_class, area)
    return np.asarray(n_class[unit_class] > area_of_run[run])


def _runs(ordered: IntArray) -> tuple[IntArray, IntArray]:
    """Where each run of equal numbers begins, and how long it is."""
    fresh = np.ones(len(ordered), dtype=np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    begin = np.flatnonzero(fresh)
    return begin, np.diff(begin, append=len(ordered))


def _areas(unit_class: IntArray, area: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Units of each class; the units of the largest area of each class; the units of each area of
    a class; and which of these each unit lies in."""
    n_areas = int(area.max()) + 1
    codes, run, units = np.unique(
        unit_class * n_areas + area, return_inverse=True, return_counts=True
    )
    n_class = np.bincount(unit_class)
    largest = np.zeros(len(n_class), dtype=np.int64)
    np.maximum.at(largest, codes // n_areas, units)
    return n_class, largest, units, run


def _left_over(unit_class: IntArray, area: IntArray, first: BoolArray, rank: IntArray) -> BoolArray:
    """The units that get no partner: of the area that holds more than half of its class, or any one
    of an odd number; those that come `first` only where no others are left."""
    left: BoolArray = np.zeros(len(area), dtype=np.bool_)
    if not len(area):
        return left
    n_class, largest, units, run = _areas(unit_class, area)
    crowded = 2 * largest > n_class
    n_left = np.where(crowded, 2 * largest - n_class, n_class % 2)
    may_be = ~crowded[unit_class] | (units[run] == largest[unit_class])
    order = np.lexsort((rank, ~first, may_be, unit_class))
    begin, length = _runs(unit_class[order])
    to_end = np.repeat(begin + length, length) - np.arange(len(order))
    left[order] = to_end <= n_left[unit_class[order]]
    return left


def _mixed(pairs: Pairs, unit_class: IntArray, area: IntArray, rng: np.random.Generator) -> Pairs:
    """The pairs after rounds of exchanges within their class."""
    one, other = pairs.one.copy(), pairs.other.copy()
    classes = unit_class[one]
    begin, length = _runs(classes)
    within = np.arange(len(classes)) - np.repeat(begin, length)
    meets = np.flatnonzero((within % 2 == 0) & (within + 1 < np.repeat(length, length)))
    for _ in range(ROUNDS if len(meets) else 0):
        order = rng.permutation(len(classes))
        order = order[np.argsort(classes[order], kind="stable")]
        p, q = order[meets], order[meets + 1]
        turned = rng.random(len(q)) < 0.5
        one[q], other[q] = np.where(turned, other[q], one[q]), np.where(turned, one[q], other[q])
        apart = (area[one[p]] != area[other[q]]) & (area[one[q]] != area[other[p]])
        p, q = p[apart], q[apart]
        other[p], other[q] = other[q], other[p]
    return Pairs(one=one, other=other)
