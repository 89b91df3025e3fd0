"""The recommended risk of each record, from the same weighted models as the headline.

For a cell of f records, given the bin of its index and its inclusion probability π,

    population_unique = P(F = 1 | f = 1), 0 where f > 1,         risk = E(1/F | f),

averaged over all models with their posterior weights. Both depend on f, the bin and the class of π
alone, so they are small tables that are looked up cell by cell. The index knows a record less well
than the models, which have one spread for all, can tell: in populations known in full the logits of
population_unique were 7 % too far apart. They are drawn together by that, and moved by one step so
that the uniques add up to the headline as before.

The headline of the matches rests on an identity (π times the cells of the population, seen and
unseen) that holds in expectation, not for the sizes that happened to be drawn; so what is left open
of each risk is moved by one step on the logit scale until the sum is the same. That keeps the order
of the records and population_unique ≤ risk ≤ 1/f.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.steps import NothingKept
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.survey.headline.extrapolation import (
    LOGIT_STEPS,
    N_BINS,
    NEAREST_END,
    CellCounts,
    CellHistogram,
    Extrapolation,
    bins_of,
    share_of_large,
    step_of_share,
)
from discreet.survey.headline.inclusion import Classes, Inclusion
from discreet.survey.headline.rate_index import RATE_INDEX
from discreet.survey.headline.rate_shapes import LARGEST_SIZE, RateGrid, grid_for
from discreet.survey.models.loglinear.poisson_reciprocal import reciprocal_mean

RISK, POPULATION_UNIQUE = "risk", "population_unique"
FARTHEST_STEP = 60.0  # on the logit scale; beyond it nothing changes
TOO_FAR_APART = 0.93  # logits of population_unique times this are as far apart as the truth is
STEPS = 80  # halvings of that range: more than a float can tell apart


@dataclass(frozen=True)
class CountedRisks(NothingKept):
    """1/F and F = 1, where the population count of each cell is known, in a `column` beside the
    cells or, where that is None, as its records. Exact."""

    column: str | None = None

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """The count."""
        return () if self.column is None else (self.column,)

    @property
    def gives(self) -> tuple[str, ...]:
        """The recommended risk."""
        return RISK, POPULATION_UNIQUE

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], None]:
        """Of some cells."""
        count = batch.n_records if self.column is None else batch.extra[self.column]
        return {RISK: 1.0 / count, POPULATION_UNIQUE: (count == 1).astype(np.float64)}, None


@dataclass(frozen=True)
class RecordRisks(NothingKept):
    """What the recommended estimate says of a record of each cell.

    `risk` is E(1/F | f), the probability that an intruder who looks for this person picks the right
    one of all in the population who share the keys; `population_unique` is P(F = 1 | f).
    `alone` and `single` are P(F = 1) and f · risk of sample uniques by bin and class, `shared` is
    f · risk of cells of 2 to `LARGEST_SIZE` records by size, class and bin; larger cells are moved
    by `step` on the logit scale.
    """

    inclusion: Inclusion
    uniques: Classes
    several: Classes
    alone: FloatArray
    single: FloatArray
    shared: FloatArray
    step: float
    reads = (RATE_INDEX,)
    gives = (RISK, POPULATION_UNIQUE)

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], None]:
        """Of some cells."""
        records, probability = batch.n_records, self.inclusion.of(batch)
        bins = bins_of(batch.extra[RATE_INDEX])
        one, large = records == 1, records > LARGEST_SIZE
        several = ~(one | large)
        matches, unique = np.empty(len(batch)), np.zeros(len(batch))
        label = self.uniques.label(probability[one])
        matches[one] = self.single[bins[one], label]
        unique[one] = self.alone[bins[one], label]
        n_classes = len(self.several.fraction)
        group = (records[several] - 2) * n_classes + self.several.label(probability[several])
        matches[several] = self.shared[group, bins[several]]
        own = step_of_share(share_of_large(records[large], probability[large]))
        matches[large] = _share(own / LOGIT_STEPS + self.step)
        return {RISK: matches / records, POPULATION_UNIQUE: unique}, None


def record_risks(
    counts: CellCounts,
    histogram: CellHistogram,
    result: Extrapolation,
    inclusion: Inclusion,
    classes: tuple[Classes, Classes],
    correct_matches: float,
) -> RecordRisks:
    """Risks of a record of each cell, Σ f · risk being `correct_matches`.

    `histogram` is that of the `counts`, and `result` was made from it.
    """
    fraction = inclusion.fraction
    grid, posterior = grid_for(fraction), _posterior_by_bin(result, fraction)
    used = counts.used
    alone, single = _of_uniques(histogram, grid, posterior)
    alone = _drawn_together(alone, histogram.uniques)
    held = counts.several[:, used]
    shared = _of_several(held, classes[1].fraction, grid, posterior)
    steps = np.array(list(counts.large), dtype=np.float64) / LOGIT_STEPS
    kinds = _Kinds(
        unique=np.concatenate([alone.ravel(), np.zeros(shared.size + len(steps))]),
        start=np.concatenate([_logit(single.ravel()), _logit(shared.ravel()), steps]),
        n_single=alone.size,
    )
    n_large = np.array(list(counts.large.values()), dtype=np.int64)
    cells = np.concatenate([counts.uniques[used].ravel(), held.ravel(), n_large])
    step = kinds.step(cells, correct_matches)
    matches = kinds.at(step)
    return RecordRisks(
        inclusion=inclusion,
        uniques=classes[0],
        several=classes[1],
        alone=_everywhere(alone, used),
        single=_everywhere(matches[: alone.size].reshape(alone.shape), used),
        shared=_everywhere(
            matches[alone.size : alone.size + shared.size].reshape(shared.shape).T, used
        ).T,
        step=step,
    )


def _drawn_together(alone: FloatArray, n_uniques: FloatArray) -> FloatArray:
    """P(F = 1) by bin and class, its logits nearer to each other, with the same sum over the sample
    uniques."""
    total, place = float((n_uniques * alone).sum()), _logit(alone) * TOO_FAR_APART
    step = _solved(lambda step: float((n_uniques * _share(place + step)).sum()), total)
    return np.where((alone > 0) & (alone < 1), _share(place + step), alone)


def _solved(total: Callable[[float], float], wanted: float) -> float:
    """The step with which a total that rises with it is as wanted."""
    low, high = -FARTHEST_STEP, FARTHEST_STEP
    for _ in range(STEPS):
        step = (low + high) / 2
        if total(step) < wanted:
            low = step
        else:
            high = step
    return (low + high) / 2


def _share(place: FloatArray) -> FloatArray:
    found: FloatArray = 1 / (1 + np.exp(-place))
    return found


def _everywhere(by_bin: FloatArray, used: BoolArray) -> FloatArray:
    """The rows of the used bins in their places among all bins."""
    found = np.full((N_BINS, by_bin.shape[1]), np.nan)
    found[used] = by_bin
    return found


def _logit(share: FloatArray) -> FloatArray:
    inside = np.clip(share, NEAREST_END, 1 - NEAREST_END)
    found: FloatArray = np.log(inside / (1 - inside))
    return found


@dataclass(frozen=True, slots=True)
class _Kinds:
    """The cells that have the same risk: `unique` is P(F = 1 | f) and `start` what can be moved of
    each kind, on the logit scale; the first `n_single` are of sample uniques."""

    unique: FloatArray
    start: FloatArray
    n_single: int

    def at(self, step: float) -> FloatArray:
        """f · risk of each kind, moved by a step on the logit scale.

        Of a sample unique only what is left beside `unique` moves, up to a half: there F is at
        least 2.
        """
        room = np.ones(len(self.start))
        room[: self.n_single] = (1 - self.unique[: self.n_single]) / 2
        found: FloatArray = self.unique + room * _share(self.start + step)
        return found

    def step(self, n_cells: IntArray, correct_matches: float) -> float:
        """The step with which they add up over the cells, of which each kind has so many."""
        return _solved(lambda step: float(n_cells @ self.at(step)), correct_matches)


def _posterior_by_bin(result: Extrapolation, fraction: float) -> FloatArray:
    """Posterior weight of each shape and location in each bin: bins × shapes × locations."""
    grid = grid_for(fraction)
    n_bins = result.places.shape[1]
    weight = np.zeros((n_bins, len(grid.log_prior), len(grid.locations)))
    for here in range(n_bins):
        np.add.at(weight[here], (result.shape, result.places[:, here]), result.weight)
    return weight


def _averaged(posterior: FloatArray, value: FloatArray) -> FloatArray:
    """The posterior mean in each bin of a value that shapes and locations have."""
    mean: FloatArray = np.tensordot(posterior, value, axes=2)
    return mean


def _of_uniques(
    histogram: CellHistogram, grid: RateGrid, posterior: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """P(F = 1 | f = 1), and 2 E(1/F | F > 1, f = 1): each bins × classes.

    The second lies between 0 and 1, as 1/F is at most a half where another person shares the keys.
    """
    alone = np.empty((len(posterior), len(histogram.fraction)))
    shared = np.empty_like(alone)
    for label, own in enumerate(histogram.fraction):
        stays = grid.staying_unique(float(own))
        alone[:, label] = np.clip(_averaged(posterior, stays), 0.0, 1.0)
        right = _averaged(posterior, grid.size_expectation(1, _expected_share(1, own, grid)))
        left = np.maximum(1.0 - alone[:, label], NEAREST_END)
        shared[:, label] = 2 * (right - alone[:, label]) / left
    return alone, shared


def _of_several(
    held: IntArray, fractions: FloatArray, grid: RateGrid, posterior: FloatArray
) -> FloatArray:
    """E(f/F | f) by size, class of π and bin, of cells with 2 to `LARGEST_SIZE` records, of which
    each kind has so many."""
    share = np.full(held.shape, 0.5)
    for here in np.flatnonzero(held.sum(axis=1)).tolist():
        f, own = here // len(fractions) + 2, float(fractions[here % len(fractions)])
        value = grid.size_expectation(f, _expected_share(f, own, grid))
        share[here] = _averaged(posterior, value)
    return share


def _expected_share(size: int, fraction: float, grid: RateGrid) -> FloatArray:
    """E(f/F) for each rate μ of the grid: F − f is Poisson with mean μ(1 − π)/π."""
    unseen = np.exp(grid.log_rates) * (1 - fraction) / fraction
    return size * reciprocal_mean(np.full(len(unseen), size), unseen)
