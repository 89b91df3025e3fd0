"""From sample to population: how many sample uniques stay unique, averaged over many models.

The sample is Poisson: a cell of rate μ holds f ~ Poisson(μ) records of the sample and F − f ~
Poisson(μ(1 − π)/π) of the rest of the population. Cells with more near neighbours have higher
rates: log μ = a + b·x + z, where x = log(neighbours + c) and z has one of the densities of
`rate_shapes`. Only occupied cells are seen, so the likelihood is that of f given 1 ≤ f ≤ 15 and x.
Every combination of shape, a, b and c gets its posterior weight; no maximum is sought, so there is
none to miss.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray
from discreet.survey.headline.possible_cells import PossibleCells
from discreet.survey.headline.rate_shapes import LARGEST_SIZE, RateGrid, grid_for

BINS_PER_DOUBLING = 2
SLOPES = np.arange(0.0, 2.05, 0.2)
ADDED = (0.3, 1.0)  # c
TEMPERED_CELLS = 2000.0  # cells that the likelihood counts at most: no model is right in detail
LOWEST_BELOW_FRACTION = 5.0  # lowest location, in log units below the sampling fraction
COUNTED_BELOW_FRACTION = 12.0  # lowest rate of a cell that counts against the possible cells
WEIGHT_CLASSES = 6
LEAST_WEIGHT = 1e-9  # of a combination that is still looked at, relative to the best


@dataclass(frozen=True, slots=True, kw_only=True)
class CellHistogram:
    """Occupied cells by near neighbours and sample count.

    `cells` is bins × sizes up to `LARGEST_SIZE`; `log_neighbours` holds, for each c of `ADDED`,
    the mean of log(neighbours + c) in each bin. `uniques` is bins × classes of inclusion
    probability, whose means are `fraction`. `seen_fraction` is Σ π_k over all occupied cells.
    """

    cells: FloatArray
    log_neighbours: FloatArray
    uniques: FloatArray
    fraction: FloatArray
    seen_fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Extrapolation:
    """Posterior weights of the models, and what each says of the sample; weights add up to 1.

    `uniques` is the number of population uniques among sample uniques, `matches` the expected
    correct matches. `shape` is the shape of each model and `places` the location of each bin under
    it (models × bins), both by position on the grid.
    """

    weight: FloatArray
    uniques: FloatArray
    matches: FloatArray
    shape: IntArray
    places: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPlaces:
    """Where each cell stands in the histogram: its bin of near neighbours, −1 where no cell of the
    bin is small enough to be modelled, and, of sample uniques, its class of inclusion probability
    (−1 elsewhere)."""

    bins: IntArray
    label: IntArray


def cell_histogram(
    sample_count: IntArray, neighbours: IntArray, inclusion_probability: FloatArray
) -> CellHistogram:
    """The histogram of occupied cells, one entry of each array a cell."""
    return placed_cells(sample_count, neighbours, inclusion_probability)[0]


def placed_cells(
    sample_count: IntArray, neighbours: IntArray, inclusion_probability: FloatArray
) -> tuple[CellHistogram, CellPlaces]:
    """The histogram of occupied cells, and where each of them stands in it.

    Trusted: counts are at least 1, neighbours at least 0, probabilities in (0, 1].
    """
    place = _bins(neighbours)
    n_bins = int(place.max()) + 1
    in_bin = np.bincount(place, minlength=n_bins)
    small = sample_count <= LARGEST_SIZE
    at = place[small] * LARGEST_SIZE + sample_count[small] - 1
    cells = np.bincount(at, minlength=n_bins * LARGEST_SIZE).reshape(n_bins, -1).astype(np.float64)
    scores = [np.bincount(place, np.log(neighbours + c), n_bins) for c in ADDED]
    unique = sample_count == 1
    label, fraction = classes_of(inclusion_probability[unique])
    at = place[unique] * len(fraction) + label
    uniques = np.bincount(at, minlength=n_bins * len(fraction)).reshape(n_bins, -1)
    used = cells.sum(axis=1) > 0
    histogram = CellHistogram(
        cells=cells[used],
        log_neighbours=(np.array(scores) / np.maximum(in_bin, 1))[:, used],
        uniques=uniques[used].astype(np.float64),
        fraction=fraction,
        seen_fraction=float(inclusion_probability.sum()),
    )
    labels = np.full(len(sample_count), -1)
    labels[unique] = label
    bins = np.where(used, np.cumsum(used) - 1, -1)[place]
    return histogram, CellPlaces(bins=bins, label=labels)


def sizes_histogram(sizes: IntArray, cells: IntArray, fraction: float) -> CellHistogram:
    """The histogram of cells of which only the sample counts are known, all in one bin."""
    row = np.zeros((1, LARGEST_SIZE))
    small = sizes <= LARGEST_SIZE
    row[0, sizes[small] - 1] = cells[small]
    return CellHistogram(
        cells=row,
        log_neighbours=np.zeros((1, 1)),
        uniques=row[:, :1].copy(),
        fraction=np.array([fraction]),
        seen_fraction=float(cells.sum()) * fraction,
    )


def extrapolate(
    histogram: CellHistogram, *, fraction: float, possible: PossibleCells
) -> Extrapolation:
    """Weights and figures of all models that the data leave possible.

    `fraction` is n/N; a model that needs more cells than are possible loses weight. Costs some
    tenths of a second whatever the size of the sample.
    Trusted: 0 < fraction < 1.
    """
    if not len(histogram.cells):
        return _all_seen(histogram)
    grid = grid_for(fraction)
    log_weight, shifts = _log_posterior(histogram, grid, fraction, possible)
    relative = np.exp(log_weight - log_weight.max())
    model, shape, location = np.nonzero(relative > LEAST_WEIGHT)
    weight = relative[model, shape, location]
    places = np.clip(location[:, None] + shifts[model], 0, len(grid.locations) - 1)
    unique, unseen = _figures(histogram, grid)
    bins = np.arange(places.shape[1])
    return Extrapolation(
        weight=weight / weight.sum(),
        uniques=unique[bins, shape[:, None], places].sum(axis=1),
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
        matches=only,
        shape=np.zeros(1, dtype=np.int64),
        places=none,
    )


def _bins(neighbours: IntArray) -> IntArray:
    """0 for no neighbour, then so many bins for each doubling of their number."""
    share, power = np.frexp(neighbours)  # share · 2^power, so that powers of two are told exactly
    past_half = share >= np.sqrt(0.5)
    return np.where(neighbours > 0, BINS_PER_DOUBLING * (power - 1) + past_half + 1, 0)


def classes_of(probability: FloatArray) -> tuple[IntArray, FloatArray]:
    """Class of each cell by its inclusion probability, and the geometric class means."""
    if len(probability) and probability.min() == probability.max():
        return np.zeros(len(probability), dtype=np.int64), probability[:1].copy()
    logs = np.log(probability)
    if not len(logs) or np.ptp(logs) < 0.01:
        return np.zeros(len(logs), dtype=np.int64), np.exp([logs.mean()] if len(logs) else [0.0])
    edges = np.unique(np.quantile(logs, np.linspace(0, 1, WEIGHT_CLASSES + 1)[1:-1]))
    _, label = np.unique(np.searchsorted(edges, logs), return_inverse=True)
    return label.astype(np.int64), np.exp(np.bincount(label, logs) / np.bincount(label))


def _log_posterior(
    histogram: CellHistogram, grid: RateGrid, fraction: float, possible: PossibleCells
) -> tuple[FloatArray, IntArray]:
    """log weight, (slope and c) × shapes × locations, and the shift of each bin for each slope."""
    in_bin = histogram.cells.sum(axis=1)
    tempering = min(1.0, TEMPERED_CELLS / in_bin.sum())
    likelihood = tempering * np.tensordot(histogram.cells, grid.log_conditional, axes=1)
    needed = in_bin[:, None, None] * grid.cells_above(np.log(fraction) - COUNTED_BELOW_FRACTION)
    shifts = np.array(list(_shifts(histogram, grid, in_bin)))
    weights = []
    for shift in shifts:
        cells = np.maximum(_shifted_sum(needed, shift), 1.0)
        excess = np.log(cells) - possible.log_number
        fit = _shifted_sum(likelihood, shift) + grid.log_prior[:, None]
        weights.append(fit - 0.5 * (np.maximum(excess, 0.0) / possible.tolerance) ** 2)
    log_weight = np.array(weights)
    log_weight[:, :, grid.locations < np.log(fraction) - LOWEST_BELOW_FRACTION] = -np.inf
    return log_weight, shifts


def _shifts(histogram: CellHistogram, grid: RateGrid, in_bin: FloatArray) -> Iterator[IntArray]:
    slopes = SLOPES if len(in_bin) > 1 else SLOPES[:1]
    for score in histogram.log_neighbours:
        centred = score - np.average(score, weights=in_bin)
        for slope in slopes:
            yield grid.nearest(slope * centred)


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
