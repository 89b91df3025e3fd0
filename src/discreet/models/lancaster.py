"""Takemura's additive model of cell probabilities, shrunk towards independence.

    p(i) = ∏_a p_a(i_a) · {1 + λ Σ_{a<b} (p_ab / (p_a·p_b) − 1)}              (takemura eq. 1, 2, 4)

estimated by the sample's one- and two-way margins. Negative values are put to zero and the rest is
divided by c(λ), the sum of the non-negative ones over all possible cells (eq. 5). The M = N − n
persons outside the sample fall into the cells by these probabilities, so that for a cell with f
sample records F − f is Binomial(M, p): P(F = 1 | f = 1) = (1 − p)^M (eq. 3), and E(1 / F | f) has
the integral ∫₀¹ t^(f−1) (1 − p + p·t)^M dt.

The print of eq. 4 lacks factors of n; the form above is that of eq. 2.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.data.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.data.cells import CellBatch
from discreet.data.summary import Summary
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How
from discreet.models.contract import CellScores, ModelUnavailable, Need, Tally

SHRINKAGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # the values of takemura's table
BUDGET = 5e9  # cells that may be touched for one c(λ): some seconds
TOLERANCE = 1e-9  # width of certain limits that is as good as exact
DENSE_CELLS = 2**20  # up to here plain arrays are quicker than compiling a loop
CONFIDENCE, NORMAL_QUANTILE = 0.95, 1.959963984540054
FORWARD_COUNT = 64  # E(1/F) goes by recurrence up to this sample count, by quadrature beyond

Zeros = Sequence[Mapping[int, int]]
Boxes = Sequence[Mapping[int, BoolArray]]
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mass:
    """A sum of probabilities over all cells, and how it was got.

    `low` and `high` are certain; `standard_error` is that of the simulation, 0 if there was none.
    """

    value: float
    low: float
    high: float
    standard_error: float
    how: How

    @classmethod
    def exact(cls, value: float) -> "Mass":
        """A sum known up to rounding."""
        return cls(value=value, low=value, high=value, standard_error=0.0, how=How.EXACT)

    def plus(self, constant: float) -> "Mass":
        """The sum with a constant added."""
        return Mass(
            value=self.value + constant,
            low=self.low + constant,
            high=self.high + constant,
            standard_error=self.standard_error,
            how=self.how,
        )

    def figure(self) -> Figure:
        """The sum for a user; an estimate is limited by its error and by what is certain."""
        if self.how is How.EXACT:
            return Figure(value=self.value, how=self.how)
        if self.how is How.BOUND:
            return Figure(value=self.value, how=self.how, low=self.low, high=self.high)
        reach = NORMAL_QUANTILE * self.standard_error
        return Figure(
            value=self.value,
            how=self.how,
            low=max(self.low, self.value - reach),
            high=min(self.high, self.value + reach),
            standard_error=self.standard_error,
            confidence=CONFIDENCE,
            note=f"certainly from {self.low:.6g} to {self.high:.6g}",
        )


@dataclass(frozen=True, slots=True)
class Interactions:
    """The model's parts from the margins: p_a, and g_ab = p_ab / (p_a·p_b) − 1.

    g is 0 beside a level that no record has. Both are centred: Σ p_a·g_ab = Σ p_b·g_ab = 0.
    """

    sample_size: int
    probability: tuple[FloatArray, ...]
    pairs: Mapping[tuple[int, int], FloatArray]

    @classmethod
    def of_summary(cls, summary: Summary) -> "Interactions":
        """From the one- and two-way margins of a sample, which are checked against each other."""
        single, pairs = _checked_margins(summary)
        interactions = {
            (a, b): _interaction(count, single[a], single[b], summary.sample_size)
            for (a, b), count in pairs.items()
        }
        probability = tuple(read_only(count / summary.sample_size) for count in single)
        return cls(summary.sample_size, probability, interactions)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each key."""
        return tuple(len(p) for p in self.probability)

    def weight(self, levels: IntArray) -> FloatArray:
        """Probability of each row of levels (rows × keys) under independence."""
        return math.prod(
            (p[levels[:, a]] for a, p in enumerate(self.probability)), start=np.ones(len(levels))
        )

    def total(self, levels: IntArray) -> FloatArray:
        """Σ_{a<b} g_ab of each row of levels."""
        total = np.zeros(len(levels))
        for (a, b), pair in self.pairs.items():
            total += pair[levels[:, a], levels[:, b]]
        return total


def _checked_margins(summary: Summary) -> tuple[list[IntArray], dict[tuple[int, int], IntArray]]:
    """All one- and two-way margins; they must be there, fit the levels and agree on their sums."""
    sizes, n = summary.level_counts, summary.sample_size
    wanted = [(a,) for a in range(len(sizes))] + list(itertools.combinations(range(len(sizes)), 2))
    for keys in wanted:
        margin = summary.margins.get(keys)
        shape = tuple(sizes[key] for key in keys)
        if margin is None or margin.shape != shape or margin.sum() != n:
            rule = f"a table of {shape} counts that add up to the sample size"
            raise InputError(must_be(f"margin {keys}", rule, _described(margin)))
    single = [summary.margins[(a,)] for a in range(len(sizes))]
    pairs = {(a, b): summary.margins[a, b] for a, b in itertools.combinations(range(len(sizes)), 2)}
    for (a, b), count in pairs.items():
        if (count.sum(axis=1) != single[a]).any() or (count.sum(axis=0) != single[b]).any():
            rule = "a table whose sums are the margins of its keys"
            raise InputError(must_be(f"margin {(a, b)}", rule, "other sums"))
    return single, pairs


def _described(margin: IntArray | None) -> str:
    return "none" if margin is None else f"one of shape {margin.shape} with sum {margin.sum()}"


def _interaction(count: IntArray, first: IntArray, second: IntArray, n: int) -> FloatArray:
    expected = np.outer(first / n, second)
    ratio = np.divide(count, expected, out=np.ones(count.shape), where=expected > 0)
    return np.asarray(read_only(ratio - 1))


def impossible_boxes(zeros: Zeros, sizes: Sequence[int]) -> Boxes:
    """Structural zeros as few boxes: combinations that differ in one key only are joined.

    A zero maps positions of keys to levels and stands for all cells with those levels. Checked:
    positions and levels are in range and at least one key is named.
    """
    boxes = {frozenset((key, frozenset([level])) for key, level in zero.items()) for zero in zeros}
    for box in boxes:
        if not box or any(not 0 <= k < len(sizes) or not 0 <= min(v) < sizes[k] for k, v in box):
            rule = "a level in range for one or more keys by position"
            raise InputError(must_be("structural zero", rule, {k: min(v) for k, v in box}))
    for key in range(len(sizes)):
        joined: defaultdict[frozenset[tuple[int, frozenset[int]]], frozenset[int]]
        joined = defaultdict(frozenset)
        for box in [box for box in boxes if key in dict(box)]:
            levels = dict(box)[key]
            joined[box - {(key, levels)}] |= levels
            boxes.remove(box)
        boxes |= {rest | {(key, levels)} for rest, levels in joined.items()}
    return [
        {key: np.isin(np.arange(sizes[key]), list(levels)) for key, levels in box}
        for box in sorted(boxes, key=sorted)
    ]


def _impossible(boxes: Boxes, levels: IntArray) -> BoolArray:
    """Which rows of levels lie in an impossible box."""
    inside = np.zeros(len(levels), np.bool_)
    for box in boxes:
        inside |= np.logical_and.reduce([held[levels[:, key]] for key, held in box.items()])
    return inside


@dataclass(frozen=True, slots=True)
class Normaliser:
    """c(λ): the mass of the non-negative probabilities, and that of the negative ones put to 0."""

    positive: Mass
    clipped: Mass


def normaliser(
    interactions: Interactions,
    shrinkage: float,
    boxes: Boxes = (),
    *,
    budget: float = BUDGET,
    seed: int = 0,
    progress: Progress | None = None,
) -> Normaliser:
    """c(λ) over all possible cells (takemura eq. 5), exact where `budget` allows.

    Without structural zeros all probabilities add up to 1, so c(λ) = 1 + the mass clipped.
    """
    report = progress or (lambda _: None)
    mass = _Summation(interactions, boxes, budget, seed)
    if not boxes:
        clipped = mass.of(-1.0, -shrinkage, report)
        return Normaliser(clipped.plus(1.0), clipped)
    clipped = mass.of(-1.0, -shrinkage, lambda done: report(done / 2))
    return Normaliser(mass.of(1.0, shrinkage, lambda done: report(0.5 + done / 2)), clipped)


class _Summation:
    """Σ w·max(s, 0) over possible cells, with only the levels that occur."""

    def __init__(self, interactions: Interactions, boxes: Boxes, budget: float, seed: int) -> None:
        used = [np.flatnonzero(p) for p in interactions.probability]
        self.probability = [p[i] for p, i in zip(interactions.probability, used, strict=True)]
        self.pairs = {
            (a, b): pair[np.ix_(used[a], used[b])] for (a, b), pair in interactions.pairs.items()
        }
        self.boxes = [{key: held[used[key]] for key, held in box.items()} for box in boxes]
        self.budget, self.seed = budget, seed

    def of(self, base: float, slope: float, report: Progress) -> Mass:
        """For s = base + slope·Σ g, by the cheapest way that is right."""
        pairs = {keys: slope * pair for keys, pair in self.pairs.items()}
        if base + sum(float(pair.max()) for pair in pairs.values()) <= 0:
            return Mass.exact(0.0)
        if math.prod(len(p) for p in self.probability) <= DENSE_CELLS:
            return Mass.exact(self._dense(base, pairs))
        from discreet.models.lancaster_kernels import plant, positive_mass

        sums = positive_mass(
            plant(base, self.probability, pairs, self.boxes),
            budget=self.budget,
            tolerance=TOLERANCE,
            seed=self.seed,
            report=report,
        )
        how = How.BOUND if sums.high - sums.low <= TOLERANCE else How.ESTIMATE
        return Mass(
            value=sums.value,
            low=sums.low,
            high=sums.high,
            standard_error=sums.standard_error,
            how=How.EXACT if sums.exact else how,
        )

    def _dense(self, base: float, pairs: Mapping[tuple[int, int], FloatArray]) -> float:
        """The sum over an array of all cells."""
        shape = tuple(len(p) for p in self.probability)
        weight, score = np.ones(shape), np.full(shape, base)
        for a, p in enumerate(self.probability):
            weight *= _along(p, (a,), len(shape))
        for keys, pair in pairs.items():
            score += _along(pair, keys, len(shape))
        for box in self.boxes:
            sides = [box.get(a, np.ones(size, np.bool_)) for a, size in enumerate(shape)]
            score[np.ix_(*sides)] = -1.0
        return float((weight * np.maximum(score, 0.0)).sum())


def _along(array: FloatArray, axes: tuple[int, ...], n_axes: int) -> FloatArray:
    """The array laid along some axes of a larger one."""
    shape = [1] * n_axes
    for axis, size in zip(axes, array.shape, strict=True):
        shape[axis] = size
    return array.reshape(shape)
