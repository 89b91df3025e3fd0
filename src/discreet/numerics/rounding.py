"""What rounding can make of a number, so that it never decides what kind of answer is given.

Processors differ in the last bits: another order of a sum, a fused multiply-add, another `exp`.
A comparison that chooses between kinds of answers ("constant?", "the best?", "below the limit?")
must come out the same for all of them. So it is made here, with a tolerance far above what rounding
can make of a sum and far below what anybody would call a difference. A figure found by a search is
known only to where the search stops: its caller gives a `scale` that allows for that.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = Sequence[float] | NDArray[np.float64]

EPSILON = 2.0**-52  # spacing of floats next to 1
ALIKE = 1e-9  # figures that differ by no more of their size than this are the same figure


def sum_error(n_terms: int, size: float) -> float:
    """Bound on the error of a sum of `n_terms` floats in any order, with Σ|x| at most `size`.

    (n − 1)u Σ|x| to first order with u = 2⁻⁵³ (Higham 2002, section 4.2); twice that is returned,
    which also pays for the rounding of each term.
    """
    return max(n_terms, 1) * EPSILON * abs(size)


def alike(one: float, other: float, *, scale: float = 0.0) -> bool:
    """Whether two figures are the same but for rounding.

    `scale` is the size of what they were computed from, where that is larger than they are (two
    differences of large numbers, say). Infinities are alike if they are equal.
    """
    size = max(abs(one), abs(other), abs(scale))
    return one == other or (size < np.inf and abs(one - other) <= ALIKE * size)


def above(one: float, other: float, *, scale: float = 0.0) -> bool:
    """Whether `one` is larger by more than rounding can make."""
    return one > other and not alike(one, other, scale=scale)


def whole_below(number: float, *, scale: float = 0.0) -> int:
    """The largest whole number that is not above this one but for rounding."""
    nearest = round(number)
    return nearest if alike(number, nearest, scale=scale) else math.floor(number)


def whole_above(number: float, *, scale: float = 0.0) -> int:
    """The smallest whole number that is not below this one but for rounding."""
    return -whole_below(-number, scale=scale)


def first_largest(values: Floats, *, scale: float = 0.0) -> int:
    """The first place whose value is the largest but for rounding."""
    largest = max(values)
    return next(i for i, value in enumerate(values) if not above(largest, value, scale=scale))


def order_of(values: Floats, *, scale: float = 0.0) -> NDArray[np.int64]:
    """Places from the largest value to the smallest; those that are alike keep their order.

    A run of values each alike to the next one is one tie.
    """
    array = np.asarray(values, dtype=np.float64)
    places = np.argsort(-array, kind="stable")
    falling = array[places]
    sizes = np.maximum(np.maximum(np.abs(falling[:-1]), np.abs(falling[1:])), abs(scale))
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        near = (sizes < np.inf) & (falling[:-1] - falling[1:] <= ALIKE * sizes)
    apart = ~(near | (falling[:-1] == falling[1:]))
    tie = np.concatenate([[0], np.cumsum(apart)]) if len(array) else np.empty(0, np.int64)
    found: NDArray[np.int64] = places[np.lexsort((places, tie))]
    return found
