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
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.structural_zeros import Box, StructuralZeros
from discreet.data.summary import Summary
from discreet.engines.contract import Cells
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.numerics.exact_sums import as_float, exact_sum
from discreet.numerics.rounding import ALIKE, above, first_largest
from discreet.progress import Progress as NamedProgress
from discreet.survey.models.contract import MATCH, UNIQUE, CellScores, ModelUnavailable, Need, Tally

SHRINKAGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # the values of takemura's table
GRID = tuple(k / 10 for k in range(11))  # the values that are tried
TUNING_BUDGET = 5e8
BUDGET = 5e9  # cells that may be touched for one c(λ): some seconds
TOLERANCE = 1e-9  # width of certain limits that is as good as exact
DENSE_CELLS, DENSE_KEYS = 2**20, 60  # up to here plain arrays are quicker than compiling a loop
CONFIDENCE, NORMAL_QUANTILE = 0.95, 1.959963984540054
SURE_QUANTILE = 5.0  # beyond which a simulated c(λ) is off once in a million times
SCORED = 1 << 14  # cells scored at once: their arrays stay in the processor's cache
POOR_FIT = 0.1  # mass below zero from which on the model's figures are a rough guide
NOTABLE_SHRINKAGE = 0.2  # λ from which on noise in the interactions matters
MOST_JUDGED = 2_000_000  # cells by which λ is chosen
FORWARD_COUNT = 64  # E(1/F) goes by recurrence up to this sample count, by quadrature beyond

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


def _checked_zeros(zeros: Iterable[Box], sizes: Sequence[int]) -> StructuralZeros:
    """The declared zeros of a table with these numbers of levels, each naming a key or more."""
    boxes = [dict(zero) for zero in zeros]
    for box in boxes:
        if not box or any(not 0 <= k < len(sizes) or not 0 <= v < sizes[k] for k, v in box.items()):
            rule = "levels in range of one or more keys, by position"
            raise InputError(must_be("structural zero", rule, box))
    return StructuralZeros.of_boxes(sizes, boxes)


def joined_boxes(zeros: StructuralZeros) -> Boxes:
    """The zeros as fewer boxes of several levels a key: those that differ in one key are joined."""
    boxes = {frozenset((key, frozenset([level])) for key, level in box) for box in zeros.boxes}
    for key in range(len(zeros.sizes)):
        named = {box: dict(box)[key] for box in boxes if key in dict(box)}
        levels: defaultdict[frozenset[tuple[int, frozenset[int]]], frozenset[int]]
        levels = defaultdict(frozenset)
        for box, own in named.items():
            levels[box - {(key, own)}] |= own
        boxes = (boxes - named.keys()) | {rest | {(key, own)} for rest, own in levels.items()}
    return [
        {key: np.isin(np.arange(zeros.sizes[key]), list(levels)) for key, levels in box}
        for box in sorted(boxes, key=lambda box: sorted((key, sorted(own)) for key, own in box))
    ]


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
        self.n_cells = math.prod(len(p) for p in self.probability)
        self.budget, self.seed = budget, seed

    def of(self, base: float, slope: float, report: Progress) -> Mass:
        """For s = base + slope·Σ g, by the cheapest way that is right."""
        pairs = {keys: slope * pair for keys, pair in self.pairs.items()}
        if base + sum(float(pair.max()) for pair in pairs.values()) <= 0:
            mass = Mass.exact(0.0)
        elif self.n_cells <= DENSE_CELLS and len(self.probability) <= DENSE_KEYS:
            mass = Mass.exact(self._dense(base, pairs))
        else:
            mass = self._by_tree(base, pairs, report)
        report(1.0)
        return mass

    def _by_tree(
        self, base: float, pairs: Mapping[tuple[int, int], FloatArray], report: Progress
    ) -> Mass:
        """The sum by a compiled walk, which is loaded, and the first time compiled, only here."""
        report(0.0)
        from discreet.survey.models.lancaster_kernels import plant, positive_mass

        tree = plant(base, self.probability, pairs, self.boxes)
        sums = positive_mass(
            tree, budget=self.budget, tolerance=TOLERANCE, seed=self.seed, report=report
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


def unique_probability(probability: FloatArray, unseen: float) -> FloatArray:
    """(1 − p)^M, the chance that none of M unseen persons falls into a cell (takemura eq. 3)."""
    if unseen == 0:
        return np.ones(len(probability))
    with np.errstate(divide="ignore"):
        return np.exp(unseen * np.log1p(-probability))


def mean_reciprocal(sample_count: IntArray, probability: FloatArray, unseen: float) -> FloatArray:
    """E(1 / F) for F = f + Binomial(M, p), for each cell; M may be any real number ≥ 0.

    I_f = ∫₀¹ t^(f−1) (q + p·t)^M dt with q = 1 − p obeys I_f = (1 − (f−1)·q·I_{f−1}) / ((M+f)·p)
    from I_1 = (1 − q^(M+1)) / ((M+1)·p). Errors shrink on the way up while (f−1)·q ≤ (M+f)·p; other
    cells, and large f, go by Gauss–Laguerre quadrature.
    """
    result = np.empty(len(sample_count))
    first = _first_reciprocal(probability, unseen)
    grows = (sample_count - 1) * (1 - probability) <= (unseen + sample_count) * probability
    forward = (sample_count == 1) | (grows & (sample_count <= FORWARD_COUNT))
    value, p = first[forward], probability[forward]
    count, risen = sample_count[forward], first[forward].copy()
    for f in range(2, int(count.max(initial=1)) + 1):
        left = count >= f
        value[left] = (1 - (f - 1) * (1 - p[left]) * value[left]) / ((unseen + f) * p[left])
        risen[count == f] = value[count == f]
    result[forward] = risen
    result[~forward] = _by_quadrature(sample_count[~forward], probability[~forward], unseen)
    return np.minimum(result, 1.0 / sample_count)


def _first_reciprocal(probability: FloatArray, unseen: float) -> FloatArray:
    """E(1 / F) for f = 1: (1 − (1 − p)^(M+1)) / ((M+1)·p), which is 1 at p = 0."""
    with np.errstate(divide="ignore"):
        numerator = -np.expm1((unseen + 1) * np.log1p(-probability))
    return np.divide(
        numerator,
        (unseen + 1) * probability,
        out=np.ones(len(probability)),
        where=probability > 0,
    )


def _by_quadrature(count: IntArray, probability: FloatArray, unseen: float) -> FloatArray:
    """E(1 / F) = ∫₀^∞ e^(−f·v) (1 − p + p·e^(−v))^M dv, with v in units of 1 / (f + M·p).

    There the integrand is e^(−x) times a slow function while f is large or M·p ≤ f, so that 32
    nodes give full precision.
    """
    nodes, weights = np.polynomial.laguerre.laggauss(32)
    result = np.zeros(len(count))
    scale = count + unseen * probability
    for node, weight in zip(nodes, weights, strict=True):
        v = node / scale
        slow = unseen * (probability * v + np.log1p(probability * np.expm1(-v)))
        result += weight * np.exp(slow)
    return result / scale


def shrinkage_from_margins(interactions: Interactions) -> float:
    """λ that the two-way margins alone support: (1 − Σ expected X² / Σ X²)₊.

    With weights ∏ p_a the estimated interactions have the square Σ φ̂_ab² = Σ X²_ab / n, of which
    noise makes up (I_a − 1)(I_b − 1) / (n − 1) each: the exact mean of φ̂² for independent keys
    with these margins. The multiple λ·ĝ nearest to the true g in mean square is then the share of
    the square that is not noise. It tends to 1 as the sample grows, and to 0 for independent keys.
    """
    used = [int(np.count_nonzero(p)) for p in interactions.probability]
    square = sum(
        float(interactions.probability[a] @ pair**2 @ interactions.probability[b])
        for (a, b), pair in interactions.pairs.items()
    )
    noise = sum((used[a] - 1) * (used[b] - 1) for a, b in interactions.pairs)
    if noise == 0 or square == 0 or interactions.sample_size < 2:
        return 0.0
    return max(0.0, 1.0 - noise / (interactions.sample_size - 1) / square)


def _checked_shrinkages(shrinkages: Iterable[float]) -> tuple[float, ...]:
    values = tuple(float(value) for value in shrinkages)
    for value in values:
        if not 0 <= value <= 1:
            raise InputError(must_be("shrinkage", "from 0 to 1", value))
    if not values:
        raise InputError(must_be("shrinkages", "one or more numbers from 0 to 1", "none"))
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkageChoice:
    """The λ under which records are best foretold by the others, and how all λ tried fared.

    `score` is the mean log probability of a record's cell under the model fitted without the
    record, minus the same under independence; of a λ ruled out before its c(λ) was worked out, the
    most that it can be. `records` had a say, `left_out` hold a level that no other record has,
    which no λ can foretell. `normaliser` is that of the λ chosen.
    """

    shrinkage: float
    grid: tuple[float, ...]
    score: FloatArray
    worked_out: BoolArray
    records: int
    left_out: int
    normaliser: Normaliser


def choose_shrinkage(
    summary: Summary,
    batches: Iterable[CellBatch],
    grid: Sequence[float] = GRID,
    structural_zeros: Iterable[Box] = (),
    *,
    budget: float = BUDGET,
    progress: Progress | None = None,
) -> ShrinkageChoice:
    """λ by the leave-one-out likelihood of the clipped, renormalised model; one pass over cells.

    A record leaves the margins as n_a − 1, n_ab − 1, n − 1, so its probability without itself needs
    no refit; what one record changes in c(λ) is left out, in all less than one record's score. The
    model is mixed with a share 1/n of independence: otherwise a single record in a cell of
    probability 0 would forbid a λ however well it does elsewhere.

    The dear part is c(λ). It is convex in λ, so that those known limit the others from below and
    their scores from above: the λ that may score highest comes next, until none is left that may
    beat, or be alike to, the best.
    """
    values = _checked_shrinkages(grid)
    parts = Interactions.of_summary(summary)
    boxes = joined_boxes(_checked_zeros(structural_zeros, parts.sizes))
    foretold = _Foretold.of_batches(summary, batches)
    masses = _Normalisers(parts, boxes, budget)
    report = progress or (lambda _: None)
    independent = masses.of(0.0).positive.value
    # By λ, the mass for which the score was taken, and the score.
    most = dict.fromkeys(values, (0.0, math.inf))
    found: dict[float, float] = {}
    while len(found) < len(most):
        report((len(found) + 1) / (len(most) + 1))
        value = max(most.keys() - found.keys(), key=lambda value: (most[value][1], value))
        if found and above(max(found.values()), most[value][1], scale=foretold.records):
            break
        least = masses.least(value)
        if least > most[value][0]:  # the limit is out of date; others may now be ahead
            most[value] = least, foretold.score(value, least / independent)
            continue
        found[value] = foretold.score(value, masses.of(value).positive.value / independent)
    report(1.0)
    score = np.array([found.get(value, most[value][1]) for value in values])
    chosen = values[first_largest(score, scale=foretold.records)]  # alike without association
    return ShrinkageChoice(
        shrinkage=chosen,
        grid=values,
        score=np.asarray(read_only(score / foretold.records)),
        worked_out=np.asarray(read_only(np.array([value in found for value in values]))),
        records=foretold.records,
        left_out=foretold.left_out,
        normaliser=masses.of(chosen),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Foretold:
    """Cells whose records others can foretell: their count, and Σ g without one's own record."""

    count: IntArray
    total: FloatArray
    records: int
    left_out: int
    stray: float  # share of independence

    @classmethod
    def of_batches(cls, summary: Summary, batches: Iterable[CellBatch]) -> "_Foretold":
        counts: list[IntArray] = [np.zeros(0, np.int64)]
        totals: list[FloatArray] = [np.zeros(0)]
        everyone = 0
        for batch in batches:
            known, total = _without_oneself(summary, batch.levels())
            counts.append(batch.sample_count[known].astype(np.int64, copy=False))
            totals.append(total[known])
            everyone += int(batch.sample_count.sum())
        count = np.concatenate(counts)
        records = int(count.sum())
        if records == 0:
            raise ModelUnavailable(
                "shrinkage cannot be chosen: every record has a level of its own"
            )
        return cls(
            count=count,
            total=np.concatenate(totals),
            records=records,
            left_out=everyone - records,
            stray=1 / summary.sample_size,
        )

    def score(self, shrinkage: float, mass: float) -> float:
        """Log likelihood of the records with this c(λ) / c(0), which it falls with."""
        if mass <= 0:
            return math.inf
        total = 0.0
        for start in range(0, len(self.total), SCORED):
            part = slice(start, start + SCORED)
            factor = np.maximum(1 + shrinkage * self.total[part], 0.0) / mass
            total += np.dot(self.count[part], np.log((1 - self.stray) * factor + self.stray))
        return float(total)


class _Normalisers:
    """c(λ) where it was asked for, and how small it can be elsewhere."""

    def __init__(self, interactions: Interactions, boxes: Boxes, budget: float) -> None:
        self._interactions, self._boxes, self._budget = interactions, boxes, budget
        self._known: dict[float, Normaliser] = {}

    def of(self, shrinkage: float) -> Normaliser:
        """c(λ)."""
        if shrinkage not in self._known:
            self._known[shrinkage] = normaliser(
                self._interactions, shrinkage, self._boxes, budget=self._budget
            )
        return self._known[shrinkage]

    def least(self, shrinkage: float) -> float:
        """A lower limit of c(λ): a convex function lies above the line through two of its points
        but between them. Without impossible cells c(λ) is 1 + the mass clipped.
        """
        known = [(at, *_limits(found.positive)) for at, found in self._known.items()]
        lines = [
            low + (low - high) * (shrinkage - near) / (near - far)
            for (near, low, _), (far, _, high) in itertools.permutations(known, 2)
            if far < near <= shrinkage or far > near >= shrinkage
        ]
        return max([0.0 if self._boxes else 1.0, *lines])


def _limits(mass: Mass) -> tuple[float, float]:
    """Certain limits, or where they are wide those that a simulation leaves."""
    reach = SURE_QUANTILE * mass.standard_error
    if mass.how is not How.ESTIMATE:
        return mass.low, mass.high
    return max(mass.low, mass.value - reach), min(mass.high, mass.value + reach)


def _without_oneself(summary: Summary, levels: IntArray) -> tuple[BoolArray, FloatArray]:
    """Which cells have levels that others share, and Σ g from the margins without one's own."""
    single = [summary.margins[(a,)][column] - 1.0 for a, column in enumerate(levels.T)]
    known = np.logical_and.reduce([others > 0 for others in single])
    total = np.zeros(len(levels))
    for a, b in itertools.combinations(range(len(single)), 2):
        others = summary.margins[a, b][levels[:, a], levels[:, b]] - 1.0
        expected = np.where(known, single[a] * single[b], 1.0) / (summary.sample_size - 1 or 1)
        total += others / expected - 1
    return known, total


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkageRow:
    """One column of takemura's table: what comes out under one λ.

    `clipped_uniques` sample uniques have probability 0 after clipping and count as certain
    population uniques.
    """

    shrinkage: float
    plain_uniques: float
    renormalised_uniques: float
    negative_sum: float
    normaliser: Mass
    clipped_uniques: int


def table_over_shrinkage(
    summary: Summary,
    cells: Cells,
    shrinkages: Sequence[float] = SHRINKAGES,
    structural_zeros: Iterable[Box] = (),
) -> tuple[ShrinkageRow, ...]:
    """Expected population uniques with and without renormalisation, and the sum of negatives."""
    zeros = tuple(structural_zeros)
    fits = [
        Lancaster(shrinkage=value, structural_zeros=zeros).fit(summary)
        for value in _checked_shrinkages(shrinkages)
    ]
    found = cells.fold(UniquesOfFits(tuple(fits)))
    return tuple(
        ShrinkageRow(
            shrinkage=fit.shrinkage,
            plain_uniques=as_float(plain),
            renormalised_uniques=as_float(divided),
            negative_sum=0.0 - fit.normaliser.clipped.value,
            normaliser=fit.normaliser.positive,
            clipped_uniques=clipped,
        )
        for fit, (plain, divided, clipped) in zip(fits, found, strict=True)
    )


@dataclass(frozen=True, slots=True)
class UniquesOfFits:
    """For each fit the sums of the unique probabilities, before and after renormalisation, and how
    many sample uniques have a probability of nought."""

    fits: tuple["FittedLancaster", ...]
    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> list[tuple[int, int, int]]:
        """Of some cells."""
        levels = batch.part(np.flatnonzero(batch.sample_count == 1)).levels()
        found = []
        for fit in self.fits:
            p = fit.clipped_probability(levels)
            plain = exact_sum(unique_probability(p, fit.unseen))
            divided = exact_sum(unique_probability(fit.renormalised(p), fit.unseen))
            found.append((plain, divided, int(np.count_nonzero(p == 0))))
        return found

    def joined(
        self, one: list[tuple[int, int, int]], other: list[tuple[int, int, int]]
    ) -> list[tuple[int, int, int]]:
        """Of the cells of both."""
        pairs = zip(one, other, strict=True)
        return [(a[0] + b[0], a[1] + b[1], a[2] + b[2]) for a, b in pairs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lancaster:
    """The additive model with shrinkage λ, by default the one the two-way margins support.

    `structural_zeros` are impossible combinations, positions of keys to levels. A c(λ) that takes
    more than `budget` cells is estimated with the given seed; `summed` is one that is known.
    """

    name: str = "lancaster"
    assumption: str = (
        "Persons fall into the cells independently of each other, keys are associated in pairs "
        "only, and the sample is a simple random one."
    )
    needs: frozenset[Need] = frozenset({Need.MARGINS_1, Need.MARGINS_2})
    shrinkage: float | None = None
    structural_zeros: tuple[Box, ...] = ()
    budget: float = BUDGET
    seed: int = 0
    shrinkage_rule: str = "given"
    summed: Normaliser | None = field(default=None, compare=False, repr=False)
    progress: Progress | None = field(default=None, compare=False, repr=False)

    def tuned(
        self,
        summary: Summary,
        cells: Cells,
        impossible: Sequence[Box],
        progress: NamedProgress,
    ) -> "Lancaster":
        """The model with λ chosen by `choose_shrinkage`, if it was not given; from a subsample of
        the cells where there are more than `MOST_JUDGED`."""
        _unseen(summary)

        def report(step: str) -> Progress:
            return lambda fraction: progress(f"{step} (compiled on first use)", fraction)

        ready = replace(
            self,
            structural_zeros=(*self.structural_zeros, *impossible),
            progress=report("summing over all possible cells"),
        )
        if self.shrinkage is not None:
            return ready
        judged = cells.sampled(MOST_JUDGED)
        choice = choose_shrinkage(
            summary,
            [judged],
            structural_zeros=ready.structural_zeros,
            budget=min(self.budget, TUNING_BUDGET),
            progress=report("choosing the shrinkage"),
        )
        rule = "by leave-one-out likelihood of the records"
        if len(judged) < cells.n_cells:
            rule += (
                f" in {len(judged):,} of {cells.n_cells:,} cells, chosen by a hash of their codes"
            )
        is_exact = choice.normaliser.positive.how is How.EXACT
        summed = choice.normaliser if is_exact else None  # with more work it gets no better
        return replace(ready, shrinkage=choice.shrinkage, shrinkage_rule=rule, summed=summed)

    def fit(self, summary: Summary) -> "FittedLancaster":
        """The cell probabilities, and c(λ) from a pass over all possible cells."""
        if self.shrinkage is not None:
            _checked_shrinkages([self.shrinkage])
        unseen = _unseen(summary)
        parts = Interactions.of_summary(summary)
        zeros = _checked_zeros(self.structural_zeros, parts.sizes)
        chosen = shrinkage_from_margins(parts) if self.shrinkage is None else self.shrinkage
        mass = self.summed or normaliser(
            parts,
            chosen,
            joined_boxes(zeros),
            budget=self.budget,
            seed=self.seed,
            progress=self.progress,
        )
        if mass.positive.value <= 0:
            rule = "such that some cell keeps a positive probability"
            raise InputError(must_be("structural_zeros", rule, "none that does"))
        return FittedLancaster(
            interactions=parts,
            shrinkage=chosen,
            shrinkage_rule="from the two-way margins"
            if self.shrinkage is None
            else self.shrinkage_rule,
            structural_zeros=zeros,
            normaliser=mass,
            unseen=unseen,
            population_size_known=summary.population_size_known,
            sample_uniques=summary.size_indices.sample_uniques,
            n_cells=summary.size_indices.n_cells,
        )


def _unseen(summary: Summary) -> float:
    """N − n; ModelUnavailable says why there is no such model."""
    n, population = summary.sample_size, summary.population_size
    if len(summary.level_counts) < 2:
        raise ModelUnavailable("the additive model is one of pairs of keys; give two keys or more")
    if n == 0:
        raise ModelUnavailable("the sample holds no record")
    if not summary.size_indices.is_partition:
        raise ModelUnavailable(
            "where missing values match anything, cells overlap and there is no table of them; "
            "let missing values be a category of their own"
        )
    if population is None:
        raise ModelUnavailable(
            "the population size is not known; give it, or survey weights that estimate it"
        )
    if not n <= population < math.inf:
        rule = f"at least the sample size {n}"
        raise ModelUnavailable(must_be("population_size", rule, f"{population:g}"))
    return float(population - n)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedLancaster:
    """The additive model with its cell probabilities known."""

    interactions: Interactions
    shrinkage: float
    shrinkage_rule: str
    structural_zeros: StructuralZeros
    normaliser: Normaliser
    unseen: float  # N − n
    population_size_known: bool
    sample_uniques: int
    n_cells: int

    gives: ClassVar[tuple[str, ...]] = (UNIQUE, MATCH)

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """λ and how it came about; c(λ), how it was got, its error; the sum of the negatives."""
        mass = self.normaliser.positive
        return {
            "shrinkage": self.shrinkage,
            "shrinkage_rule": self.shrinkage_rule,
            "normaliser": mass.value,
            "normaliser_how": mass.how.value,
            "normaliser_standard_error": mass.standard_error,
            "negative_sum": 0.0 - self.normaliser.clipped.value,
        }

    def clipped_probability(self, levels: IntArray) -> FloatArray:
        """max(p, 0) of each row of levels before renormalisation.

        Raises InputError for a cell declared impossible: the sample shows that it is not.
        """
        if held := np.count_nonzero(self.structural_zeros.covers(levels)):
            rule = "combinations that no record has"
            raise InputError(must_be("structural_zeros", rule, f"some that {held:,} cells have"))
        factor = 1 + self.shrinkage * self.interactions.total(levels)
        factor[factor <= ALIKE] = 0.0  # of terms of about 1, which may cancel but for rounding
        return self.interactions.weight(levels) * factor

    def renormalised(self, clipped: FloatArray) -> FloatArray:
        """The probabilities that add up to 1 over the possible cells."""
        return np.minimum(clipped / self.normaliser.positive.value, 1.0)

    def score(self, batch: CellBatch) -> CellScores:
        """(1 − p)^(N−n) for sample uniques, E(1 / F) for all cells."""
        p = self.renormalised(self.clipped_probability(batch.levels()))
        unique = np.where(batch.sample_count == 1, unique_probability(p, self.unseen), 0.0)
        match = mean_reciprocal(batch.n_records, p, self.unseen)
        return CellScores(unique_probability=unique, match_probability=match)

    def expected_population_uniques(self, tally: Tally) -> Figure:
        """Σ (1 − p)^(N−n) over sample uniques.

        Under the model the numbers of unseen persons in the cells are multinomial, hence negatively
        associated: the variance is at most Σ q(1 − q). An error in c(λ) of relative size e moves
        the sum by at most e times the number of sample uniques, since |dq / d log p| ≤ 1.
        """
        mass = self.normaliser.positive
        of_mass = self.sample_uniques * mass.standard_error / mass.value
        error = math.hypot(math.sqrt(tally.uniques_variance), of_mass)
        return self._figure(tally.uniques, error, self.sample_uniques)

    def expected_correct_matches(self, tally: Tally) -> Figure:
        """Σ f·E(1 / F) over cells.

        f / F is at most 1, so its variance is at most its mean; decreasing functions of negatively
        associated numbers are so too, and the standard error is at most the root of the sum.
        """
        return self._figure(tally.matches, math.sqrt(tally.matches), self.n_cells)

    def caution(self, tally: Tally) -> str | None:
        """A sentence where the margins show a poor fit, or interactions that are mostly noise."""
        clipped = self.normaliser.clipped.value
        if not above(POOR_FIT, clipped):
            return (
                "the additive model gives some cells a probability below zero, "
                f"{-clipped:.2f} in all: the keys are associated in more than pairs, and its "
                "figures are a rough guide"
            )
        noise = 1 - shrinkage_from_margins(self.interactions)
        if not above(NOTABLE_SHRINKAGE, self.shrinkage) and above(noise, 0.5):
            return (
                f"{noise:.0%} of the association between keys is what chance alone gives in so "
                "small a sample, so that cells of sample uniques seem fuller than they are"
            )
        return None

    def _figure(self, value: float, error: float, most: int) -> Figure:
        if self.unseen == 0 and self.population_size_known:
            return Figure(value=value, low=value, high=value, how=How.EXACT)
        reach = NORMAL_QUANTILE * error
        return Figure(
            value=value,
            how=How.ESTIMATE,
            low=max(0.0, value - reach),
            high=max(value, min(value + reach, float(most))),
            standard_error=error,
            confidence=CONFIDENCE,
            note=self._note(),
        )

    def _note(self) -> str:
        mass = self.normaliser.positive
        notes = [
            "at most this error from who is outside the sample; the fit's own error is not in it"
        ]
        if mass.how is not How.EXACT:
            limits = f"certainly from {mass.low:.6g} to {mass.high:.6g}"
            notes.append(f"the sum over all cells by {mass.how.value}, {limits}")
        if not self.population_size_known:
            notes.append("the population size is estimated from the survey weights")
        return "; ".join(notes)
