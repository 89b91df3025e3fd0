"""Households by who lives in them."""

import numpy as np

from discreet.numerics.arrays import IntArray


def compositions(household: IntArray, kind: IntArray, n_households: int) -> IntArray:
    """A number for each household, the same for two if and only if as many members of each kind
    live in both.

    The kinds of the members in order are a sequence. Neighbours in it are joined two by two into
    one new kind, as long as any household has more than one, a lonely last one with nothing: what
    is left tells sequences apart, whatever their lengths, after as many rounds as the largest
    household can be halved. Trusted: households are numbered from 0, kinds are not negative.
    """
    order = np.lexsort((kind, household))
    owner, symbol = household[order], kind[order]
    while True:
        length = np.bincount(owner, minlength=n_households)
        if not len(owner) or length.max() <= 1:
            break
        begin = np.cumsum(length) - length
        left = np.flatnonzero((np.arange(len(owner)) - begin[owner]) % 2 == 0)
        right = np.minimum(left + 1, len(owner) - 1)
        alone = (right == left) | (owner[right] != owner[left])
        beside = np.where(alone, 0, symbol[right] + 1)
        joined = symbol[left] * (int(symbol.max()) + 2) + beside
        owner, symbol = owner[left], np.unique(joined, return_inverse=True)[1]
    found = np.zeros(n_households, dtype=np.int64)
    found[owner] = symbol
    return found
