"""From sample to population: how many sample uniques stay unique, averaged over many models.

The sample is Poisson: a cell of rate μ holds f ~ Poisson(μ) records of the sample and F − f ~
Poisson(μ(1 − π)/π) of the rest of the population. Its rate is foretold by an index x, which the
cell's own records have no part in (`rate_index`): log μ = a + b·x + z, where z has one of the
densities of `rate_shapes`. Only occupied cells are seen, so the likelihood is that of f given
1 ≤ f ≤ 15 and x. Every combination of shape, a and b gets its posterior weight; no maximum is
sought, so there is none to miss. b is near 1, as the index is a log-rate. Models are also held,
loosely, against what was seen in other populations (`expected_uniques`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.data.cells import CellBatch
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.numerics.exact_sums import as_float, exact_sum, fixed_sums, of_fixed
from discreet.survey.headline.inclusion import Classes, Inclusion
from discreet.survey.headline.possible_cells import PossibleCells
from discreet.survey.headline.rate_index import HIGHEST_LOG, LOWEST_LOG, RATE_INDEX
from discreet.survey.headline.rate_shapes import LARGEST_SIZE, RateGrid, grid_for

BIN_WIDTH = 0.35  # of the index
SLOPES = np.arange(0.4, 1.65, 0.05)  # so fine because the index of cells spreads over many units
SLOPE_PRIOR = (1.0, 0.25)  # mean and standard deviation of b
BENDS = (1.0, 0.8)  # of b below the mean: cells expected to hold least may hold more than that
# Standard deviation of the share of uniques around what is expected, on the logit scale; and for
# each log unit by which that may be off as levels are rarer than those it was learned from.
PULL, UNTRIED_PULL = 0.8, 2.0
TEMPERED_CELLS = 2000.0  # cells that the likelihood counts at most: no model is right in detail
LOWEST_BELOW_FRACTION = 5.0  # lowest location, in log units below the sampling fraction
COUNTED_BELOW_FRACTION = 12.0  # lowest rate of a cell that counts against the possible cells
LOWEST_BIN = math.floor(LOWEST_LOG / BIN_WIDTH)
N_BINS = math.floor(HIGHEST_LOG / BIN_WIDTH) - LOWEST_BIN + 1
NEAREST_TO_NONE = 1e-9  # of a share of uniques that is held against another
NEAREST_END = 1e-15  # a share that is 0 or 1 could not be moved
LOGIT_STEPS = 65536.0
LEAST_WEIGHT = 1e-9  # of a combination that is still looked at, relative to the best


@dataclass(frozen=True, slots=True, kw_only=True)
class CellHistogram:
    """Occupied cells by their index and sample count.

    `cells` is bins × sizes up to `LARGEST_SIZE`; `index` is the mean index in each bin. `uniques`
    is bins × classes of inclusion probability, whose means are `fraction`. `seen_fraction` is Σ π_k
    over all occupied cells.
    """

    cells: FloatArray
    index: FloatArray
    uniques: FloatArray
    fraction: FloatArray
    seen_fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Extrapolation:
    """Posterior weights of the models, and what each says of the sample; weights add up to 1.

    `uniques` is the number of population uniques among sample uniques, `varying` the variance of
    that number given their chances by bin, `matches` the expected correct matches. `shape` is the
    shape of each model and `places` the location of each bin under it (models × bins), both by
    position on the grid.
    """

    weight: FloatArray
    uniques: FloatArray
    varying: float
    matches: FloatArray
    shape: IntArray
    places: IntArray


@dataclass(frozen=True, slots=True)
class CellCounts:
    """All that is counted of occupied cells for the estimate, which adds up exactly.

    `small` is bins of the index × sizes up to `LARGEST_SIZE`, `in_bin` all cells of a bin and
    `indices` the sums of their indices. `uniques` is bins × classes of
    inclusion probability, `several` sizes from 2 on × classes × bins, `large` the cells of more
    records by the step of their share (see `record_risk`). `seen` is the exact sum of π.
    """

    small: IntArray
    in_bin: IntArray
    indices: IntArray
    uniques: IntArray
    several: IntArray
    large: Mapping[int, int]
    seen: int

    @property
    def used(self) -> BoolArray:
        """Bins with a cell that is small enough to be modelled."""
        found: BoolArray = self.small.sum(axis=1) > 0
        return found

    def joined(self, other: "CellCounts") -> "CellCounts":
        """Of the cells of both."""
        large = dict(self.large)
        for step, n in other.large.items():
            large[step] = large.get(step, 0) + n
        return CellCounts(
            self.small + other.small,
            self.in_bin + other.in_bin,
            self.indices + other.indices,
            self.uniques + other.uniques,
            self.several + other.several,
            large,
            self.seen + other.seen,
        )

    def histogram(self, uniques: Classes) -> CellHistogram:
        """What the models are held against."""
        used = self.used
        return CellHistogram(
            cells=self.small[used].astype(np.float64),
            index=(of_fixed(self.indices) / np.maximum(self.in_bin, 1))[used],
            uniques=self.uniques[used].astype(np.float64),
            fraction=uniques.fraction,
            seen_fraction=as_float(self.seen),
        )


@dataclass(frozen=True, slots=True)
class CountingCells:
    """Counts the cells for the estimate, given classes of inclusion probability for the sample
    uniques and for the cells of several records."""

    inclusion: Inclusion
    uniques: Classes
    several: Classes
    reads: tuple[str, ...] = (RATE_INDEX,)

    def of(self, batch: CellBatch) -> CellCounts:
        """Of some cells."""
        records, probability = batch.n_records, self.inclusion.of(batch)
        index = batch.extra[RATE_INDEX]
        place = bins_of(index)
        small = records <= LARGEST_SIZE
        one, many = records == 1, small & (records > 1)
        n_one, n_many = len(self.uniques.fraction), len(self.several.fraction)
        group = (records[many] - 2) * n_many + self.several.label(probability[many])
        return CellCounts(
            _table(place[small] * LARGEST_SIZE + records[small] - 1, (N_BINS, LARGEST_SIZE)),
            np.bincount(place, minlength=N_BINS),
            fixed_sums(place, index, N_BINS),
            _table(place[one] * n_one + self.uniques.label(probability[one]), (N_BINS, n_one)),
            _table(group * N_BINS + place[many], ((LARGEST_SIZE - 1) * n_many, N_BINS)),
            _large(records[~small], probability[~small]),
            self._seen(probability),
        )

    def joined(self, one: CellCounts, other: CellCounts) -> CellCounts:
        """Of the cells of both."""
        return one.joined(other)

    def _seen(self, probability: FloatArray) -> int:
        if self.inclusion.weight_sum is None:
            return len(probability) * exact_sum(probability[:1])
        return exact_sum(probability)


def _table(place: IntArray, shape: tuple[int, ...]) -> IntArray:
    return np.bincount(place, minlength=math.prod(shape)).reshape(shape)


def share_of_large(records: IntArray, probability: FloatArray) -> FloatArray:
    """E(f/F | f) of a cell that tells its own rate: π(1 + (1 − π)/f) but for terms in 1/f².

    With a flat prior of log μ, F is negative binomial and E((f − 1)/(F − 1)) = π.
    """
    return np.minimum(probability * (1 + (1 - probability) / records), 1.0)


def step_of_share(share: FloatArray) -> IntArray:
    """A share on the logit scale, in whole steps of 2^−16: cells of one step have one risk."""
    inside = np.clip(share, NEAREST_END, 1 - NEAREST_END)
    return np.round(np.log(inside / (1 - inside)) * LOGIT_STEPS).astype(np.int64)


def _large(records: IntArray, probability: FloatArray) -> dict[int, int]:
    steps, cells = np.unique(
        step_of_share(share_of_large(records, probability)), return_counts=True
    )
    return dict(zip(steps.tolist(), cells.tolist(), strict=True))


def sizes_histogram(sizes: IntArray, cells: IntArray, fraction: float) -> CellHistogram:
    """The histogram of cells of which only the sample counts are known, all in one bin."""
    row = np.zeros((1, LARGEST_SIZE))
    small = sizes <= LARGEST_SIZE
    row[0, sizes[small] - 1] = cells[small]
    return CellHistogram(
        cells=row,
        index=np.zeros(1),
        uniques=row[:, :1].copy(),
        fraction=np.array([fraction]),
        seen_fraction=float(cells.sum()) * fraction,
    )


def extrapolate(
    histogram: CellHistogram,
    *,
    fraction: float,
    possible: PossibleCells,
    expected: float | None = None,
    untried: float = 0.0,
) -> Extrapolation:
    """Weights and figures of all models that the data leave possible.

    `fraction` is n/N; a model that needs more cells than are possible loses weight, and one whose
    population uniques are far from those `expected`, where that is known; less so if that is
    `untried`, by so many log units. Costs some tenths of a
    second whatever the size of the sample.
    Trusted: 0 < fraction < 1.
    """
    if not len(histogram.cells):
        return _all_seen(histogram)
    grid = grid_for(fraction)
    unique, unseen = _figures(histogram, grid)
    log_weight, shifts = _log_posterior(histogram, grid, fraction, possible)
    if expected is not None:
        log_weight -= _distance(
            unique, shifts, histogram.uniques.sum(), expected,
            math.hypot(PULL, UNTRIED_PULL * untried),
        )  # fmt: skip
    relative = np.exp(log_weight - log_weight.max())
    model, shape, location = np.nonzero(relative > LEAST_WEIGHT)
    weight = relative[model, shape, location]
    places = np.clip(location[:, None] + shifts[model], 0, len(grid.locations) - 1)
    bins = np.arange(places.shape[1])
    weight /= weight.sum()
    in_bin = unique[bins, shape[:, None], places]
    expected_in_bin, held = weight @ in_bin, np.maximum(histogram.uniques.sum(axis=1), 1.0)
    return Extrapolation(
        weight=weight,
        uniques=in_bin.sum(axis=1),
        varying=float(expected_in_bin @ np.maximum(1 - expected_in_bin / held, 0.0)),
        matches=histogram.seen_fraction + unseen[bins, shape[:, None], places].sum(axis=1),
        shape=shape,
        places=places,
    )


def _all_seen(histogram: CellHistogram) -> Extrapolation:
    """Where every cell is too large to be modelled: no unique, no cell unseen."""
    only = np.array([histogram.seen_fraction])
    none = np.zeros((1, 0), dtype=np.int64)
    return Extrapolation(
        weight=np.ones(1),
        uniques=np.zeros(1),
        varying=0.0,
        matches=only,
        shape=np.zeros(1, dtype=np.int64),
        places=none,
    )


def bins_of(index: FloatArray) -> IntArray:
    """The bin of an index."""
    return np.floor(index / BIN_WIDTH).astype(np.int64) - LOWEST_BIN


def _distance(
    unique: FloatArray, shifts: IntArray, n_uniques: float, expected: float, unit: float
) -> FloatArray:
    """½ of the squared distance of what each model makes of the sample uniques from what is
    expected, in such units on the logit scale: slopes × shapes × locations."""
    sums = np.array([_shifted_sum(unique, shift) for shift in shifts])
    found: FloatArray = 0.5 * ((_odds(sums, n_uniques) - _odds(expected, n_uniques)) / unit) ** 2
    return found


def _odds(uniques: FloatArray | float, n_uniques: float) -> FloatArray:
    """log of the odds that a sample unique stays unique."""
    share = np.clip(np.asarray(uniques) / max(n_uniques, 1.0), NEAREST_TO_NONE, 1 - NEAREST_TO_NONE)
    found: FloatArray = np.log(share) - np.log1p(-share)
    return found


def _log_posterior(
    histogram: CellHistogram, grid: RateGrid, fraction: float, possible: PossibleCells
) -> tuple[FloatArray, IntArray]:
    """log weight, slopes × shapes × locations, and the shift of each bin for each slope."""
    in_bin = histogram.cells.sum(axis=1)
    tempering = min(1.0, TEMPERED_CELLS / in_bin.sum())
    likelihood = tempering * np.tensordot(histogram.cells, grid.log_conditional, axes=1)
    needed = in_bin[:, None, None] * grid.cells_above(np.log(fraction) - COUNTED_BELOW_FRACTION)
    centred = histogram.index - np.average(histogram.index, weights=in_bin)
    bent = [np.where(centred < 0, bend * centred, centred) for bend in BENDS]
    ways = (
        [(slope, one) for one in bent for slope in SLOPES] if len(in_bin) > 1 else [(1.0, centred)]
    )
    shifts = np.array([grid.nearest(slope * one) for slope, one in ways])
    mean, deviation = SLOPE_PRIOR
    weights = []
    for (slope, _), shift in zip(ways, shifts, strict=True):
        cells = np.maximum(_shifted_sum(needed, shift), 1.0)
        excess = np.log(cells) - possible.log_number
        fit = _shifted_sum(likelihood, shift) + grid.log_prior[:, None]
        fit -= 0.5 * ((slope - mean) / deviation) ** 2
        weights.append(fit - 0.5 * (np.maximum(excess, 0.0) / possible.tolerance) ** 2)
    log_weight = np.array(weights)
    log_weight[:, :, grid.locations < np.log(fraction) - LOWEST_BELOW_FRACTION] = -np.inf
    return log_weight, shifts


def _shifted_sum(by_bin: FloatArray, shift: IntArray) -> FloatArray:
    """Σ over bins of values (bins × shapes × locations), each bin at its shifted location."""
    locations = np.arange(by_bin.shape[2])
    total = np.zeros(by_bin.shape[1:])
    for values, here in zip(by_bin, shift, strict=True):
        total += np.take(values, locations + here, axis=1, mode="clip")
    return total


def _figures(histogram: CellHistogram, grid: RateGrid) -> tuple[FloatArray, FloatArray]:
    """Uniques that stay unique, and Σ π over unseen cells: each bins × shapes × locations.

    Unseen cells have the inclusion probabilities of the sample uniques of their bin, mixed with
    those of all (as half a cell more), for want of anything better.
    """
    everywhere = histogram.uniques.sum(axis=0)
    share = histogram.uniques + 0.5 * everywhere / max(everywhere.sum(), 1.0)
    share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
    in_bin = histogram.cells.sum(axis=1)
    shape = (len(in_bin), len(grid.log_prior), len(grid.locations))
    unique, unseen = np.zeros(shape), np.zeros(shape)
    for label, own in enumerate(histogram.fraction):
        unique += histogram.uniques[:, label, None, None] * grid.staying_unique(own)
        weight = in_bin * share[:, label] * own
        unseen += weight[:, None, None] * grid.unseen_in_population(own)
    return unique, unseen
