"""Fréchet bounds: what each margin says of a cell, and each pair of margins together."""

from itertools import combinations

import numpy as np

from discreet.fiber.bounds.contract import Bounds, outer_bounds
from discreet.fiber.system.consistency import check_margins, sub_margin
from discreet.fiber.system.decomposable import Axes, checked_levels
from discreet.fiber.system.margins import Margins
from discreet.numerics.arrays import IntArray


def bounds_by_frechet(margins: Margins, levels: IntArray) -> Bounds:
    """Valid bounds of named cells under any margins, by look-ups alone.

    upper = the least entry of a margin that holds the cell; lower = the greatest over pairs a, b of
    n_a + n_b − n_{a∩b}, where both margins cover all variables, else 0: two sets of records within
    n_{a∩b} must overlap so much. Exact for two margins.
    """
    check_margins(margins)
    levels = checked_levels(margins, levels)
    entries = {axes: looked_up(table, axes, levels) for axes, table in margins.tables.items()}
    upper = np.minimum.reduce(list(entries.values()))
    lower = np.zeros(len(levels), dtype=np.int64)
    everything = {axis for axis, size in enumerate(margins.sizes) if size > 1}
    for axes, entry in entries.items():
        if everything <= set(axes):
            lower = np.maximum(lower, entry)
    two_longest = sum(sorted(map(len, entries), reverse=True)[:2])
    pairs = combinations(entries, 2) if two_longest >= len(everything) else ()
    for a, b in pairs:
        if everything <= set(a) | set(b):
            shared = tuple(axis for axis in a if axis in b)
            middle = looked_up(sub_margin(margins, a, shared), shared, levels)
            lower = np.maximum(lower, entries[a] + entries[b] - middle)
    return outer_bounds(lower, upper)


def looked_up(table: IntArray, axes: Axes, levels: IntArray) -> IntArray:
    """The entry of a margin that holds each cell."""
    found: IntArray = table[tuple(levels[:, axis] for axis in axes)]
    return np.broadcast_to(found, len(levels)).astype(np.int64)
