"""Suppression by Gaussian elimination in fractions, as the R package GaussSuppression does it.

Written apart from the product, in exact arithmetic and without any care for speed: figures are
published in order of their counts, largest first, unless a sensitive one would follow from all that
is out. Zeros are always shown.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np


def figures_of(counts):
    """Each figure of the full table and all its margins as the cells it sums, larger tables first."""
    cells = np.arange(counts.size).reshape(counts.shape)
    axes = range(counts.ndim)
    found = []
    for size in range(counts.ndim, -1, -1):
        for kept in combinations(axes, size):
            others = [axis for axis in axes if axis not in kept]
            n = int(np.prod([counts.shape[axis] for axis in kept], dtype=int))
            found += list(cells.transpose([*kept, *others]).reshape(n, -1))
    return found


class Space:
    """The linear combinations of some rows, kept as rows with a leading one each."""

    def __init__(self):
        self.rows = {}

    def rest(self, row):
        """What is left of a row beyond the space."""
        row = dict(row)
        while True:
            lead = next((column for column in sorted(row) if column in self.rows), None)
            if lead is None:
                return row
            factor = row[lead]
            for column, value in self.rows[lead].items():
                left = row.get(column, 0) - factor * value
                if left:
                    row[column] = left
                else:
                    row.pop(column, None)

    def add(self, row):
        """One more row; those before are cleared of its leading column."""
        rest = self.rest(row)
        if not rest:
            return
        lead = min(rest)
        first = rest[lead]
        new = {column: value / first for column, value in rest.items()}
        for own in self.rows.values():
            factor = own.get(lead)
            if factor:
                for column, value in new.items():
                    left = own.get(column, 0) - factor * value
                    if left:
                        own[column] = left
                    else:
                        own.pop(column, None)
        self.rows[lead] = new


def rows_of(counts):
    """Figures as rows over the cells that are not zero."""
    flat = counts.ravel()
    return [{int(c): Fraction(1) for c in cells if flat[c] > 0} for cells in figures_of(counts)]


def follow(counts, hidden, wanted):
    """Which of the wanted figures are a linear combination of those that are not hidden."""
    rows, space = rows_of(counts), Space()
    for row, away in zip(rows, hidden):
        if not away:
            space.add(row)
    return [figure for figure in wanted if not space.rest(rows[figure])]


def gauss_pattern(counts, small):
    """Which figures are hidden."""
    rows = rows_of(counts)
    values = np.array([int(counts.ravel()[cells].sum()) for cells in figures_of(counts)])
    sensitive = (values >= 1) & (values <= small)
    hidden, space = sensitive.copy(), Space()
    left = {figure: rows[figure] for figure in np.flatnonzero(sensitive).tolist()}
    order = [i for i in np.argsort(-values, kind="stable").tolist() if not sensitive[i]]
    for figure in order:
        rest = space.rest(rows[figure])
        if not rest:
            continue
        if any(_same(rest, one) for one in left.values()):
            hidden[figure] = True
            continue
        space.add(rest)
        left = {one: space.rest(row) for one, row in left.items()}
    return hidden


def _same(one, other):
    """Whether two rows are the same up to a factor."""
    if one.keys() != other.keys():
        return False
    lead = min(one)
    return all(one[c] * other[lead] == other[c] * one[lead] for c in one)
