"""An index of how many records a cell is expected to hold, from all that the sample tells of it.

Of each cell four things are known that do not rest on its own records:

- near neighbours: records that differ in exactly one key;
- likeness: what a kernel over records drawn at random expects (`likeness`);
- independence: what the keys one by one would make of it, Σ log m_j − (K − 1) log n, where m_j
  records share its level of key j;
- pairs: how much more, or less, each two keys go together than they would if independent, summed
  over the pairs and divided by K − 1.

How they are weighed is learned from the sample: a cell of f records is f − 1 successes and one
failure of a logistic regression, the likelihood of a geometric number that is at least one. Ridge
draws the weights towards those of many populations, which stand alone where hardly any cell holds
two records. With five numbers to learn from thousands of cells, the part that a cell's own count
has in them is next to nothing.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.contract import Cells
from discreet.numerics.arrays import CountArray, FloatArray, IntArray
from discreet.numerics.exact_sums import as_float, exact_sum
from discreet.survey.headline.likeness import (
    LEAST_OTHERS,
    DrawingReferences,
    Likeness,
    n_references,
)
from discreet.survey.headline.rate_shapes import LARGEST_SIZE

RATE_INDEX, TYPICAL_RATE = "rate_index", "typical_rate"
MOST_FITTED = 50_000  # cells that the weights are learned from
MOST_OF_PAIR = 1 << 18  # combinations of two keys that are counted; larger pairs say nothing
MOST_OF_PAIRS = 1 << 21  # in all: the tables go wherever the cells lie
LEAST = 0.3  # added to counts before their logarithm is taken
RIDGE = 30.0
WEIGHTS = {
    True: (0.48, 0.41, 0.18, 1.0),
    False: (0.63, 0.0, 0.46, 1.26),
}  # with likeness, and without
NEWTON_STEPS, CLOSE_ENOUGH = 25, 1e-10
LOWEST_LOG, HIGHEST_LOG = -25.0, 12.0
STEPS = 2.0**26  # of an index, for each unit
# The log-rate that cells with these covariates had in the populations of the trial: a constant, and
# the weights of neighbours, likeness, independence, pairs, neighbours beyond independence, and
# independence with half a record more for each level.
TYPICAL = (-1.134, 0.199, 1.065, 1.221, 0.436, 0.326, -1.567)
Keys = tuple[int, ...]
ONE_KEY = 0.5  # log units by which typical rates may be off further if there is but one key
MOST_TYPICAL = math.log(LARGEST_SIZE - 1)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of each cell but for its own records, as logarithms: cells × covariates, and
    those that only the typical rate looks at."""

    covariates: FloatArray
    beyond: FloatArray
    independent: FloatArray


@dataclass(frozen=True, slots=True)
class Covariates:
    """Reads off what is known of cells: margins of keys and of pairs, and the kernel if there is
    one. Of the `keys` that have several levels: one that all records share says nothing."""

    n_records: int
    keys: tuple[int, ...]
    one: tuple[IntArray, ...]
    two: Mapping[tuple[int, int], IntArray]
    likeness: Likeness | None
    neighbours: str = "neighbours"
    known: Mapping[Keys, IntArray] = field(default_factory=dict)
    fraction: float = 1.0

    @property
    def reads(self) -> tuple[str, ...]:
        """The near neighbours."""
        return (self.neighbours,)

    @property
    def has_kernel(self) -> bool:
        """Whether there is one."""
        return self.likeness is not None

    @property
    def seen(self) -> tuple[IntArray, ...]:
        """How often each level of each key was seen."""
        return self.one

    @classmethod
    def of_cells(
        cls,
        cells: Cells,
        repeated: Sequence[int] = (),
        known: Mapping[Keys, IntArray] | None = None,
        fraction: float = 1.0,
    ) -> "Covariates":
        """From three passes over the cells; `repeated` keys say the same as others. The near
        neighbours have been counted, but anew if there are such keys: two records that differ in a
        key and in what repeats it are neighbours. `known` are counts of the population by some keys
        or pairs of them, of which the sample is a `fraction`."""
        sizes = cells.space.coding.sizes
        apart = [key for key in range(len(sizes)) if key not in repeated]
        neighbours = "neighbours"
        if repeated:
            neighbours = "neighbours_apart"
            view = cells.space.itself().of_keys(apart)
            coarser = cells.seen_through(view)
            coarser.without_each_key()
            cells.take(coarser, view, {"neighbours": neighbours})
        every = cells.margins([(key,) for key in range(len(sizes))])
        keys = tuple(key for key in apart if np.count_nonzero(every[(key,)]) > 1)
        one = tuple(every[(key,)] for key in keys)
        pairs = small_pairs([sizes[key] for key in keys])
        two = cells.margins([(keys[j], keys[k]) for j, k in pairs]) if pairs else {}
        references = n_references(cells.n_cells)
        likeness = None
        if references:
            drawn = cells.fold(DrawingReferences(min(references / cells.n_records, 1.0), keys, one))
            likeness = Likeness.fitted(drawn, cells.space.coding, keys, one, cells.n_records)
        named = {(j, k): two[(keys[j], keys[k])] for j, k in pairs}
        return cls(cells.n_records, keys, one, named, likeness, neighbours, known or {}, fraction)

    def of(self, batch: CellBatch) -> Known:
        """Of some cells, which have their near neighbours beside them."""
        rows, own = batch.levels()[:, list(self.keys)], batch.n_records
        sampled = [
            Others.of_level(one[column] - own, rarity(one))
            for one, column in zip(self.one, rows.T, strict=True)
        ]
        others = [self._known((j,), rows, own) or found for j, found in enumerate(sampled)]

        def pair(j: int, k: int) -> tuple[Others, Others, Others]:
            both = self._known((j, k), rows, own)
            if both is not None:
                return both, others[j], others[k]
            shared = self.two[j, k].reshape(len(self.one[j]), len(self.one[k]))
            count = shared[rows[:, j], rows[:, k]] - own
            return Others.of_pair(count, sampled[j], sampled[k]), sampled[j], sampled[k]

        pairs = (pair(j, k) for j, k in self.two)
        density = None
        if self.likeness is not None:
            density = self.likeness.density(rows, [one.at_least(LEAST_OTHERS) for one in others])
        return known_of(others, pairs, batch.extra[self.neighbours], density, self.n_records)

    def of_sample(self, batch: CellBatch) -> Known | None:
        """What the sample alone tells of some cells, as of those whose typical rates are known;
        None where nothing else is known."""
        return replace(self, known={}).of(batch) if self.known else None

    def _known(self, keys: Keys, rows: IntArray, own: IntArray) -> "Others | None":
        """Who is expected to share the levels of one or two keys, where the population is known."""
        table = self.known.get(tuple(self.keys[j] for j in keys))
        if table is None:
            return None
        shape = tuple(len(self.one[j]) for j in keys)
        count: IntArray = table.reshape(shape)[tuple(rows[:, j] for j in keys)] - own
        unit = self.fraction
        return Others(np.maximum(count.astype(np.float64) * unit, 0.0), unit)


@dataclass(frozen=True, slots=True)
class Others:
    """Records that share some levels with each cell, its own left out; expected ones where the
    population is known, a person of which makes `unit` records. Where there is none, a record
    stands for less if levels as rare are seen `less` often again."""

    count: CountArray
    unit: float = 1.0
    less: CountArray | float = 1.0

    @classmethod
    def of_level(cls, count: CountArray, less: float) -> "Others":
        """Of a level of a key whose levels have this `rarity`."""
        return cls(count, 1.0, np.where(count > 0, 1.0, less) if less < 1 else 1.0)

    @classmethod
    def of_pair(cls, count: CountArray, one: "Others", other: "Others") -> "Others":
        """Of a level of each of two keys: none has both where none has one of them."""
        return cls(count, 1.0, np.where(count > 0, 1.0, np.minimum(one.less, other.less)))

    def more(self, units: float) -> FloatArray:
        """With so many more."""
        return self.count.astype(np.float64) + units * self.unit * self.less

    def at_least(self, units: float) -> FloatArray:
        """With so many at least."""
        return np.maximum(self.count.astype(np.float64), units * self.unit * self.less)


def rarity(records_of_level: IntArray, together: float = 1.0) -> float:
    """How many records have, besides, a level that is seen once, relative to `LEAST_OTHERS`, and 1
    at most: 2·s2/s1 by Good (1953), with s1 and s2 levels seen once and twice, if so many records
    have it `together` wherever it is seen.

    Of a date of birth hardly any is seen twice, and half a record for a level that nobody else has
    would make it far too frequent.
    """
    once, twice = _once_and_twice(records_of_level)
    return min(2 * (twice + 0.5) * together / (max(once, 1) * LEAST_OTHERS), 1.0)


def _once_and_twice(records_of_level: IntArray) -> tuple[int, int]:
    once, twice = (int(np.count_nonzero(records_of_level == size)) for size in (1, 2))
    return once, twice


@dataclass(frozen=True, slots=True)
class Untried:
    """What `share` of the records have levels much rarer than those of the populations that typical
    rates were learned from, as dates of birth are, and how far these rates may be off (`error`), in
    log units: by one for records whose level nobody else has, and where levels are much rarer by as
    much as a number of levels that are seen twice is."""

    share: float = 0.0
    error: float = 0.0


def untried(margins: Sequence[IntArray]) -> Untried:
    """Of the keys with these records of each level; of a single one nothing but its sizes is known,
    which was not tried either."""
    shares, errors = [], []
    for margin in margins:
        once, twice = _once_and_twice(margin)
        alone = once / max(int(margin.sum()), 1)
        rare = min(2 * (1 - rarity(margin)), 1.0)
        shares.append(rare * alone)
        errors.append(alone * (1 - rare + rare / math.sqrt(twice + 0.5)))
    share = min(math.fsum(shares), 1.0)  # in whatever order the keys are
    single = ONE_KEY * (1 - share) if len(margins) == 1 else 0.0
    return Untried(share, math.fsum(errors) + single)


def known_of(
    others: Sequence[Others],
    pairs: Iterable[tuple[Others, Others, Others]],
    near: CountArray,
    density: FloatArray | None,
    n: int,
) -> Known:
    """What is known of cells of which so many of n `others` share the level of each key, so many
    those of two keys and of either of these, for each of the `pairs`; so many differ in one key,
    and the kernel has this density, if there is one."""
    n_keys, log_n = len(others), math.log(n)
    logs = [np.log(other.more(LEAST)) for other in others]
    together = np.zeros(len(near))
    for both, one, other in pairs:
        expected = np.log(one.more(LEAST)) + np.log(other.more(LEAST)) - log_n
        together += np.log(both.more(LEAST)) - expected
    # All others differ in one key if there is but one; n − f would tell f.
    neighbours = np.log((near if n_keys > 1 else np.full(len(near), n)) + LEAST)
    alone = sum(logs, np.zeros(len(near))) - (n_keys - 1) * log_n
    like = np.zeros(len(near))
    if density is not None:
        like = np.maximum(np.log(np.maximum(n * density, 1e-300)), LOWEST_LOG)
    shares = [other.more(LEAST_OTHERS) / n for other in others]
    independent = sum((np.log(share) for share in shares), np.zeros(len(near))) + log_n
    expected = sum((np.exp(independent) / share for share in shares), np.zeros(len(near)))
    beyond = independent + neighbours - np.log(expected + LEAST)
    covariates = np.column_stack([neighbours, like, alone, together / max(n_keys - 1, 1)])
    return Known(covariates, beyond, independent)


@dataclass(frozen=True, slots=True)
class KnownBeside:
    """What is known of each cell, in columns beside it, and how often each level of each key was
    `seen`: where records were drawn together, in how many clusters."""

    has_kernel: bool
    seen: tuple[IntArray, ...]
    reads = tuple(f"known {number}" for number in range(6))

    @classmethod
    def columns(cls, known: Known) -> dict[str, FloatArray]:
        """The columns of what is known."""
        every = (*known.covariates.T, known.beyond, known.independent)
        return dict(zip(cls.reads, every, strict=True))

    def of_sample(self, batch: CellBatch) -> Known | None:
        """The same: nothing else is known."""
        return None

    def of(self, batch: CellBatch) -> Known:
        """Of some cells."""
        *covariates, beyond, independent = (batch.extra[name] for name in self.reads)
        return Known(np.column_stack(covariates), beyond, independent)


def small_pairs(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of keys with few enough combinations, the smallest first if not all fit."""
    pairs = sorted(combinations(range(len(sizes)), 2), key=lambda p: sizes[p[0]] * sizes[p[1]])
    found, total = [], 0
    for j, k in pairs:
        total += sizes[j] * sizes[k]
        if sizes[j] * sizes[k] > MOST_OF_PAIR or total > MOST_OF_PAIRS:
            break
        found.append((j, k))
    return sorted(found)


@dataclass(frozen=True, slots=True)
class Surplus:
    """Records beyond the first of each cell, up to `LARGEST_SIZE`, and what typical rates make of
    that; exact sums."""

    seen: int
    expected: int

    @property
    def log_ratio(self) -> float:
        """Of what is seen to what is expected, both with three records more."""
        return math.log((self.seen + 3) / (as_float(self.expected) + 3))


@dataclass(frozen=True)
class RateIndex:
    """Puts the index beside each cell, and the typical rate where there is a kernel; `weights` are
    a constant and the weights of the covariates."""

    covariates: Covariates | KnownBeside
    weights: FloatArray

    @property
    def reads(self) -> tuple[str, ...]:
        """What the covariates look at."""
        return self.covariates.reads

    @property
    def gives(self) -> tuple[str, ...]:
        """The columns."""
        return (RATE_INDEX,) if not self.covariates.has_kernel else (RATE_INDEX, TYPICAL_RATE)

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], Surplus]:
        """Of some cells."""
        known = self.covariates.of(batch)
        index = np.full(len(batch), self.weights[0])
        for weight, column in zip(self.weights[1:].tolist(), known.covariates.T, strict=True):
            index += weight * column
        columns = {RATE_INDEX: _in_steps(np.clip(index, LOWEST_LOG, HIGHEST_LOG))}
        seen = int(np.minimum(batch.n_records, LARGEST_SIZE).sum()) - len(batch)
        if not self.covariates.has_kernel:
            return columns, Surplus(seen, 0)
        typical = _in_steps(_typical(self.covariates.of_sample(batch) or known))
        expected = exact_sum(np.exp(np.minimum(typical, MOST_TYPICAL)))
        return columns | {TYPICAL_RATE: typical}, Surplus(seen, expected)

    def joined(self, one: Surplus, other: Surplus) -> Surplus:
        """Of the cells of both."""
        return Surplus(one.seen + other.seen, one.expected + other.expected)


def _in_steps(index: FloatArray) -> FloatArray:
    """So rounded that the last digit of a sum over keys, which their order changes, is gone."""
    found: FloatArray = np.round(index * STEPS) / STEPS
    return found


def _typical(known: Known) -> FloatArray:
    """log of the rate that such cells had in the populations of the trial."""
    found = np.full(len(known.beyond), TYPICAL[0])
    columns = (*known.covariates.T, known.beyond, known.independent)
    for weight, column in zip(TYPICAL[1:], columns, strict=True):
        found += weight * column
    return found


def rate_index(cells: Cells, covariates: Covariates | KnownBeside) -> RateIndex:
    """The index of all cells; learned from all of them while they are no more than `MOST_FITTED`,
    else from about as many."""
    batch = cells.sampled(MOST_FITTED, covariates.reads)
    surplus = np.minimum(batch.n_records, LARGEST_SIZE) - 1.0
    prior = np.array(WEIGHTS[covariates.has_kernel])
    weights = regression(covariates.of(batch).covariates, surplus, prior)
    return RateIndex(covariates, weights)


def regression(covariates: FloatArray, surplus: FloatArray, prior: FloatArray) -> FloatArray:
    """A constant and the weights of a logistic regression with `surplus` successes and one failure
    for each row, the weights drawn to `prior` by a ridge on standardised covariates, and the
    constant, hardly, to where they add up."""
    centre = covariates.mean(axis=0) if len(covariates) else np.zeros(len(prior))
    spread = covariates.std(axis=0) if len(covariates) else np.ones(len(prior))
    scale = np.maximum(spread, 1e-6)
    rows = np.column_stack([np.ones(len(covariates)), (covariates - centre) / scale])
    wanted = np.concatenate([[0.0], prior * scale])
    wanted[0] = _start(rows @ wanted, surplus)
    pull = np.concatenate([[1.0], np.full(len(prior), RIDGE)])  # 1: as one record more would
    weights = wanted.copy()
    value = _objective(weights, rows, surplus, wanted, pull)
    for _ in range(NEWTON_STEPS):
        chance = 0.5 * (1 + np.tanh(rows @ weights / 2))  # which cannot overflow
        slope = rows.T @ (surplus - (surplus + 1) * chance) - pull * (weights - wanted)
        bend = (rows * ((surplus + 1) * chance * (1 - chance))[:, None]).T @ rows
        bend[np.diag_indices(len(pull))] += pull
        step = np.linalg.solve(bend, slope)
        better, size = -math.inf, 2.0
        while not better >= value and size > 1e-6:
            size /= 2
            better = _objective(weights + size * step, rows, surplus, wanted, pull)
        if not better > value + CLOSE_ENOUGH * abs(value):
            break
        weights, value = weights + size * step, better
    found: FloatArray = weights.copy()
    found[1:] /= scale
    found[0] -= found[1:] @ centre
    return found


def _start(index: FloatArray, surplus: FloatArray) -> float:
    """The constant with which exp(index) adds up to the surplus, or half a record if there is
    none."""
    if not len(index):
        return 0.0
    top = float(index.max())
    return math.log(max(float(surplus.sum()), 0.5) / float(np.exp(index - top).sum())) - top


def _objective(
    weights: FloatArray, rows: FloatArray, surplus: FloatArray, wanted: FloatArray, pull: FloatArray
) -> float:
    index = rows @ weights
    fit = surplus @ index - (surplus + 1) @ np.logaddexp(0, index)
    return float(fit - 0.5 * pull @ (weights - wanted) ** 2)
