"""What is gained by adding, subtracting and averaging noisy figures of the same persons.

Where several tables of the same data go out, each figure with noise of mean 0 and one variance V,
independent between figures, a count bears on several of them: the row a is published itself, and is
the sum of its cells in a × b, and in a × c. A sum of c figures has variance c V, and k estimates
with variances V_1, …, V_k that share no figure have together 1 / Σ 1/V_j.

The best linear unbiased estimate combines all of them (Gauss and Markov). With complete margins its
variance has a closed form. Write P_T for the projection onto the effect of a set T of variables:
the tables that vary with T alone and sum to zero over each of them. A published table over S, seen
from the full table, weighs each effect T ⊆ S by ∏_{j ∉ S} n_j, and no other. So for an entry of the
margin over U, the sum of the cells c,

    variance / V = Σ_{T ⊆ U} c'P_T c / λ_T,     λ_T = Σ_{S ⊇ T} ∏_{j ∉ S} n_j,
    c'P_T c = ∏_{j ∉ U} n_j ∏_{j ∈ T} (1 − 1/n_j) ∏_{j ∈ U∖T} 1/n_j,

in exact fractions, whatever the size of the table. There is none where some λ_T is 0. It is the
same for all entries of a margin, and lower where an intruder also uses that counts are whole and
not below zero, or knows some of them: `belief_of_sum` has all of that in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from types import MappingProxyType

import numpy as np

from discreet.belief.belief import ListedBelief
from discreet.belief.drawn_belief import DrawnBelief
from discreet.belief.ladder import sums_exactly
from discreet.belief.request import Limits
from discreet.clock import Clock
from discreet.errors import InputError, must_be
from discreet.figures import How, Unavailable
from discreet.masks.after_publication import (
    SECONDS,
    AnyPrior,
    checked_prior,
    intruders_belief,
    intruders_question,
)
from discreet.masks.contract import Axes, Masked
from discreet.numerics.arrays import FloatArray, IntArray

MOST_AXES = 10  # of a margin whose effects are all summed over


def averaged_variance(
    sizes: Sequence[int], sets: Sequence[Axes], target: Axes
) -> Fraction | Unavailable:
    """The variance of the best linear unbiased estimate of an entry of a margin, by that of one
    noisy figure.

    `sets` are the tables that go out, of a table with these `sizes`, each with noise of its own;
    one that is named twice counts twice. `target` are the variables of the margin.
    """
    if len(target) > MOST_AXES:
        return Unavailable(f"it is found for margins of at most {MOST_AXES} variables")
    total = Fraction(0)
    for effect in _effects(sizes, target):
        weight = sum(_outside(sizes, axes) for axes in sets if set(effect) <= set(axes))
        if weight == 0:
            return Unavailable("no sum of published figures is this count")
        total += _length(sizes, target, effect) / weight
    return total


def _effects(sizes: Sequence[int], target: Axes) -> Iterator[Axes]:
    """The effects of a margin; a variable of one level has none."""
    own = [axis for axis in target if sizes[axis] > 1]
    for n in range(len(own) + 1):
        yield from combinations(own, n)


def _outside(sizes: Sequence[int], axes: Axes) -> int:
    """The cells that a figure of a table sums."""
    return prod(size for axis, size in enumerate(sizes) if axis not in axes)


def _length(sizes: Sequence[int], target: Axes, effect: Axes) -> Fraction:
    """The squared length of what an entry of a margin has of an effect."""
    inside = prod(sizes[axis] - 1 for axis in effect)
    return Fraction(inside * _outside(sizes, target), prod(sizes[axis] for axis in target))


def averaging_words(sizes: Sequence[int], sets: Sequence[Axes], variance: float) -> str:
    """What averaging comes to for the largest table that goes out, in a sentence; empty where one
    table goes out alone."""
    if len(sets) < 2:
        return ""
    largest = max(sets, key=lambda axes: (prod(sizes[axis] for axis in axes), len(axes)))
    found = averaged_variance(sizes, sets, largest)
    if isinstance(found, Unavailable) or found == 1:
        return ""
    return (
        " By adding and averaging figures, one of the largest table can be estimated with "
        f"variance {float(found) * variance:.3g} in place of {variance:.3g}."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SumBelief:
    """What an intruder believes of a sum of cells: the probability of each count, and `how` it was
    got."""

    distribution: Mapping[int, float]
    how: How

    @property
    def mean(self) -> float:
        """The mean of the sum [persons]."""
        return sum(count * p for count, p in self.distribution.items())

    @property
    def variance(self) -> float:
        """The variance of the sum [persons²]."""
        mean = self.mean
        return sum((count - mean) ** 2 * p for count, p in self.distribution.items())


def belief_of_sum(
    masked: Masked, cells: IntArray, prior: AnyPrior = "multinomial", *, seconds: float = SECONDS
) -> SumBelief | Unavailable:
    """What an intruder believes of a sum of cells (C order) from all that is published together.

    Checked: cells are different ones of the table.
    """
    numbers = np.asarray(cells)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise InputError(must_be("cells", "a list of numbers of cells", "another"))
    if len(np.unique(numbers)) < len(numbers):
        raise InputError(must_be("cells", "different from each other", "one twice"))
    if numbers.min() < 0 or numbers.max() >= masked.source.n_cells:
        raise InputError(must_be("cells", f"from 0 to {masked.source.n_cells - 1}", "others"))
    limits = Limits()
    question = intruders_question(masked, checked_prior(prior, masked), limits=limits)
    exact = sums_exactly(question, [numbers], Clock(seconds / 2))
    if not isinstance(exact, Unavailable):
        return SumBelief(distribution=MappingProxyType(exact[0]), how=How.EXACT)
    belief = intruders_belief(masked, prior, seconds=seconds / 2)
    if isinstance(belief, ListedBelief):
        return _over(belief.tables, belief.probabilities, numbers, belief.how)
    if isinstance(belief, DrawnBelief):
        return _over(belief.tables, belief.shares, numbers, belief.how)
    return belief if isinstance(belief, Unavailable) else exact


def _over(tables: IntArray, shares: FloatArray, cells: IntArray, how: How) -> SumBelief:
    """The shares of each sum over some tables."""
    values, place = np.unique(tables[:, cells].sum(axis=1), return_inverse=True)
    found = zip(values.tolist(), np.bincount(place, weights=shares).tolist(), strict=True)
    return SumBelief(distribution=MappingProxyType(dict(found)), how=how)
