"""Near neighbours of each cell: the records that differ from it in exactly one key."""

import numpy as np

from discreet.data.coding import Coding
from discreet.numerics.arrays import IntArray
from discreet.survey.projection import distinct_rows


def neighbour_counts(words: IntArray, records: IntArray, coding: Coding) -> IntArray:
    """How many records differ from each cell in exactly one key.

    Cells that agree on all keys but one form a group; a cell's neighbours are the records of its
    groups outside the cell itself, over all keys that may be left out. One sort of the cells for
    each key. Trusted: the rows of `words` are distinct.
    """
    neighbours = np.zeros(len(records), dtype=np.int64)
    for key in range(len(coding.digits)):
        _, group = distinct_rows(_without(words, coding, key))
        total = np.bincount(group, weights=records).astype(np.int64)
        neighbours += total[group] - records
    return neighbours


def _without(words: IntArray, coding: Coding, key: int) -> IntArray:
    """The codes with one key at level 0 throughout."""
    digit = coding.digits[key]
    reduced = words.copy()
    reduced[:, digit.word] -= coding.level(words, key) * digit.stride
    return reduced
