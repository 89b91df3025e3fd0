"""The recommended risk of each record, from the same weighted models as the headline.

For a cell of f records, given its bin of near neighbours and its inclusion probability π,

    population_unique = P(F = 1 | f = 1), 0 where f > 1,         risk = E(1/F | f),

averaged over all models with their posterior weights. Both depend on f, the bin and the class of π
alone, so they are small tables that are looked up cell by cell. The uniques add up to the headline
by construction. The headline of the matches rests on an identity (π times the cells of the
population, seen and unseen) that holds in expectation, not for the sizes that happened to be drawn;
so what is left open of each risk is moved by one step on the logit scale until the sum is the same.
That keeps the order of the records and population_unique ≤ risk ≤ 1/f.
"""

from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.survey.headline.extrapolation import (
    CellHistogram,
    CellPlaces,
    Extrapolation,
    classes_of,
)
from discreet.survey.headline.rate_shapes import LARGEST_SIZE, RateGrid, grid_for
from discreet.survey.models.loglinear.poisson_reciprocal import reciprocal_mean

FARTHEST_STEP = 60.0  # on the logit scale; beyond it nothing changes
STEPS = 80  # halvings of that range: more than a float can tell apart
NEAREST_END = 1e-15  # a share that is 0 or 1 could not be moved


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRisks:
    """What the recommended estimate says of a record of each cell; NaN where it says nothing.

    `risk` is E(1/F | f), the probability that an intruder who looks for this person picks the right
    one of all in the population who share the keys; `population_unique` is P(F = 1 | f).
    """

    risk: FloatArray
    population_unique: FloatArray

    def __post_init__(self) -> None:
        read_only(self.risk)
        read_only(self.population_unique)


def counted_risks(population_count: IntArray) -> CellRisks:
    """1/F and F = 1, where the population count of each cell is known. Exact."""
    return CellRisks(
        risk=1.0 / population_count, population_unique=(population_count == 1).astype(np.float64)
    )


def record_risks(
    sample_count: IntArray,
    probability: FloatArray,
    places: CellPlaces,
    histogram: CellHistogram,
    result: Extrapolation,
    *,
    fraction: float,
    correct_matches: float,
) -> CellRisks:
    """Risks of a record of each cell, Σ f · risk being `correct_matches`.

    `probability` is the inclusion probability of each cell, `places` where it stands in the
    `histogram` that `result` was made from with the sampling `fraction`.
    """
    grid, posterior = grid_for(fraction), _posterior_by_bin(result, fraction)
    one = sample_count == 1
    large = sample_count > LARGEST_SIZE
    several = ~(one | large)
    kind = np.empty(len(sample_count), dtype=np.int64)
    alone, single = _of_uniques(histogram, grid, posterior)
    kind[one] = places.bins[one] * alone.shape[1] + places.label[one]
    shared, own = _of_several(sample_count[several], probability[several], places.bins[several],
                              grid, posterior)  # fmt: skip
    kind[several] = alone.size + own
    apart = _of_large(sample_count[large], probability[large])
    kind[large] = alone.size + len(shared) + np.arange(len(apart))
    kinds = _Kinds(
        unique=np.concatenate([alone.ravel(), np.zeros(len(shared) + len(apart))]),
        share=np.concatenate([single.ravel(), shared, apart]),
        n_single=alone.size,
    )
    matches = kinds.moved(np.bincount(kind, minlength=len(kinds.share)), correct_matches)
    return CellRisks(risk=matches[kind] / sample_count, population_unique=kinds.unique[kind])


@dataclass(frozen=True, slots=True)
class _Kinds:
    """The cells that have the same risk: `unique` is P(F = 1 | f) and `share` what can be moved of
    each kind; the first `n_single` are of sample uniques."""

    unique: FloatArray
    share: FloatArray
    n_single: int

    def moved(self, n_cells: IntArray, correct_matches: float) -> FloatArray:
        """f · risk of each kind, moved by one step on the logit scale so that they add up over the
        cells, of which each kind has so many.

        Of a sample unique only what is left beside `unique` moves, up to a half: there F is at
        least 2.
        """
        room = np.ones(len(self.share))
        room[: self.n_single] = (1 - self.unique[: self.n_single]) / 2
        inside = np.clip(self.share, NEAREST_END, 1 - NEAREST_END)
        start = np.log(inside / (1 - inside))

        def at(step: float) -> FloatArray:
            found: FloatArray = self.unique + room / (1 + np.exp(-start - step))
            return found

        low, high = -FARTHEST_STEP, FARTHEST_STEP
        for _ in range(STEPS):
            step = (low + high) / 2
            if float(n_cells @ at(step)) < correct_matches:
                low = step
            else:
                high = step
        return at((low + high) / 2)


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
    sample_count: IntArray,
    probability: FloatArray,
    bins: IntArray,
    grid: RateGrid,
    posterior: FloatArray,
) -> tuple[FloatArray, IntArray]:
    """E(f/F | f) by size, class of π and bin, and which of these each cell is: cells with 2 to
    `LARGEST_SIZE` records."""
    label, fractions = classes_of(probability)
    group = (sample_count - 2) * len(fractions) + label
    held = np.bincount(group, minlength=(LARGEST_SIZE - 1) * len(fractions))
    share = np.full((len(held), len(posterior)), 0.5)
    for here in np.flatnonzero(held).tolist():
        f, own = here // len(fractions) + 2, float(fractions[here % len(fractions)])
        value = grid.size_expectation(f, _expected_share(f, own, grid))
        share[here] = _averaged(posterior, value)
    return share.ravel(), group * len(posterior) + bins


def _expected_share(size: int, fraction: float, grid: RateGrid) -> FloatArray:
    """E(f/F) for each rate μ of the grid: F − f is Poisson with mean μ(1 − π)/π."""
    unseen = np.exp(grid.log_rates) * (1 - fraction) / fraction
    return size * reciprocal_mean(np.full(len(unseen), size), unseen)


def _of_large(sample_count: IntArray, probability: FloatArray) -> FloatArray:
    """E(f/F | f) of a cell that tells its own rate: π(1 + (1 − π)/f) but for terms in 1/f².

    With a flat prior of log μ, F is negative binomial and E((f − 1)/(F − 1)) = π.
    """
    return np.minimum(probability * (1 + (1 - probability) / sample_count), 1.0)
