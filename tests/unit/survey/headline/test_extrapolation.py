import itertools
import math

import numpy as np
import pytest

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.survey.headline.extrapolation import (
    BENDS,
    BIN_WIDTH,
    N_BINS,
    PULL,
    SLOPE_PRIOR,
    SLOPES,
    TEMPERED_CELLS,
    CellHistogram,
    CountingCells,
    bins_of,
    extrapolate,
    sizes_histogram,
)
from discreet.survey.headline.inclusion import Inclusion, SpreadOfCells
from discreet.survey.headline.possible_cells import TOLERANCE, PossibleCells, known_cells
from discreet.survey.headline.rate_index import HIGHEST_LOG, LOWEST_LOG, RATE_INDEX
from discreet.survey.headline.rate_shapes import LARGEST_SIZE, grid_for

FRACTION = 0.1


def drawn(seed=1, n=4000):
    """Cells whose rates rise with their index, those that are in the sample."""
    rng = np.random.default_rng(seed)
    index = rng.normal(-0.5, 1.2, n)
    count = rng.poisson(0.6 * np.exp(index) * rng.gamma(0.7, 1.0, n))
    return count[count > 0], index[count > 0]


def cell_histogram(count, index, probability=None, fraction=FRACTION):
    """The histogram of cells, one entry of each array a cell; weights are such that each has its
    inclusion probability, where they differ."""
    weights = None if probability is None else count / probability
    inclusion = Inclusion(fraction, int(count.sum()))
    if weights is not None:
        inclusion = Inclusion(count.sum() / weights.sum(), int(count.sum()), weights.sum())
    batch = CellBatch(
        coding=Coding.of_sizes([len(count)]),
        words=np.arange(len(count))[:, None],
        sample_count=count,
        weight_total=weights,
        extra={RATE_INDEX: index},
    )
    spreads = SpreadOfCells(inclusion, LARGEST_SIZE).of(batch)
    classes = [spread.classes() for spread in spreads]
    return CountingCells(inclusion, *classes).of(batch).histogram(classes[0])


def histogram(count, index, fraction=FRACTION):
    return cell_histogram(count, index, fraction=fraction)


def by_loops(hist: CellHistogram, n_table_cells, expected=None):
    """Posterior means by plain loops over slopes, locations and bins."""
    grid = grid_for(FRACTION)
    in_bin = hist.cells.sum(axis=1)
    tempering = min(1.0, TEMPERED_CELLS / in_bin.sum())
    above = grid.cells_above(math.log(FRACTION) - 12)
    stay, unseen = grid.staying_unique(FRACTION), grid.unseen_in_population(FRACTION)
    logs, uniques, matches = [], [], []
    last = len(grid.locations) - 1
    lowest = math.log(FRACTION) - 5
    centred = hist.index - (hist.index @ in_bin) / in_bin.sum()
    n_uniques = hist.cells[:, 0].sum()
    for bend, slope in itertools.product(BENDS, SLOPES):
        steps = [round(slope * (bend if x < 0 else 1) * x / 0.1) for x in centred]
        for place in np.flatnonzero(grid.locations >= lowest):
            at = [(b, min(max(place + step, 0), last)) for b, step in enumerate(steps)]
            fit = sum(hist.cells[b] @ grid.log_conditional[:, :, p] for b, p in at)
            cells = sum(in_bin[b] * above[:, p] for b, p in at)
            over = np.maximum(np.log(cells / n_table_cells), 0.0) / TOLERANCE
            own = sum(hist.cells[b, 0] * stay[:, p] for b, p in at)
            off = (slope - SLOPE_PRIOR[0]) / SLOPE_PRIOR[1]
            prior = grid.log_prior - off**2 / 2
            if expected is not None:
                far = np.log(own / (n_uniques - own)) - math.log(expected / (n_uniques - expected))
                prior = prior - (far / PULL) ** 2 / 2
            logs.append(tempering * fit - over**2 / 2 + prior)
            uniques.append(own)
            new = sum(in_bin[b] * unseen[:, p] for b, p in at)
            matches.append(FRACTION * new + hist.seen_fraction)
    weight = np.exp(np.array(logs) - np.max(logs))
    weight /= weight.sum()
    return (weight * np.array(uniques)).sum(), (weight * np.array(matches)).sum()


def means(result):
    return float(result.weight @ result.uniques), float(result.weight @ result.matches)


@pytest.mark.parametrize("expected", [None, 30.0])
def test_weights_and_figures_are_those_of_plain_loops(expected):
    count, index = drawn(n=300)
    hist = histogram(count, np.clip(index, -0.4, 0.4))
    assert len(hist.cells) == 4
    found = extrapolate(hist, fraction=FRACTION, possible=known_cells(800), expected=expected)
    assert found.weight.sum() == pytest.approx(1)
    assert means(found) == pytest.approx(by_loops(hist, 800, expected), rel=1e-6)


def test_what_is_expected_draws_the_uniques_towards_it():
    count, index = drawn(n=300)
    hist = histogram(count, index)
    free, low, high = (
        means(extrapolate(hist, fraction=0.02, possible=known_cells(10**6), expected=one))[0]
        for one in (None, 0.5, 60.0)
    )
    assert low < free < high


def test_the_histogram_counts_cells_by_index_and_size():
    count = np.array([1, 1, 2, 16, 1, 3])
    index = BIN_WIDTH * np.array([-3.5, 0.2, 0.4, 0.6, 2.1, 2.9])
    hist = histogram(count, index)
    assert hist.cells.shape == (3, LARGEST_SIZE)
    assert hist.cells[:, :3].tolist() == [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    assert hist.uniques.tolist() == [[1], [1], [1]]
    assert hist.index == pytest.approx(BIN_WIDTH * np.array([-3.5, 0.4, 2.5]))
    assert hist.seen_fraction == pytest.approx(0.6)


def test_the_variance_of_the_uniques_is_that_of_their_chances_by_bin():
    count, index = drawn(n=300)
    hist = histogram(count, index)
    found = extrapolate(hist, fraction=FRACTION, possible=known_cells(10**6))
    assert 0 < found.varying < means(found)[0]
    share = means(found)[0] / hist.uniques.sum()
    assert found.varying < hist.uniques.sum() * share * (1 - share)  # bins differ
    alone = sizes_histogram(*np.unique(count, return_counts=True), FRACTION)
    one = extrapolate(alone, fraction=FRACTION, possible=known_cells(10**6))
    share = means(one)[0] / alone.uniques.sum()
    assert one.varying == pytest.approx(alone.uniques.sum() * share * (1 - share))


def test_cells_of_one_index_are_those_of_the_sizes_alone():
    count, _ = drawn()
    sizes, cells = np.unique(count, return_counts=True)
    alone = extrapolate(
        sizes_histogram(sizes, cells, FRACTION), fraction=FRACTION, possible=known_cells(10**6)
    )
    binned = extrapolate(
        histogram(count, np.zeros(len(count))), fraction=FRACTION, possible=known_cells(10**6)
    )
    assert means(alone) == pytest.approx(means(binned))


def test_inclusion_probabilities_that_hardly_differ_change_hardly_anything():
    count, index = drawn()
    rng = np.random.default_rng(2)
    nearly = FRACTION * np.exp(0.02 * rng.standard_normal(len(count)))
    one = extrapolate(histogram(count, index), fraction=FRACTION, possible=known_cells(10**6))
    many = cell_histogram(count, index, nearly)
    assert len(many.fraction) == 6
    other = extrapolate(many, fraction=FRACTION, possible=known_cells(10**6))
    assert means(other) == pytest.approx(means(one), rel=0.01)


def test_uniques_with_small_weights_are_likelier_to_stay_unique():
    count, index = drawn()
    probability = np.where(np.floor(index * 9) % 2 == 0, 0.05, 0.5)
    hist = cell_histogram(count, index, probability)
    mixed = means(extrapolate(hist, fraction=FRACTION, possible=known_cells(10**6)))[0]
    both = [
        means(
            extrapolate(histogram(count, index, p), fraction=FRACTION, possible=known_cells(10**6))
        )
        for p in (0.05, 0.5)
    ]
    assert both[0][0] < mixed < both[1][0]


def test_fewer_possible_cells_leave_fewer_uniques():
    count, index = drawn()
    hist = histogram(count, index)
    few, many = (
        means(extrapolate(hist, fraction=0.02, possible=known_cells(k)))[0]
        for k in (2 * len(count), 10**9)
    )
    assert few < many


def test_a_table_with_more_cells_than_a_float_can_count_is_no_trouble():
    count, index = drawn(n=500)
    hist = histogram(count, index)
    huge = extrapolate(hist, fraction=FRACTION, possible=known_cells(10**400))
    assert means(huge) == pytest.approx(
        means(extrapolate(hist, fraction=FRACTION, possible=known_cells(10**300)))
    )


def test_cells_too_large_to_model_stay_as_they_are():
    count = np.array([40, 50, 60, 1])
    hist = histogram(count, np.zeros(4))
    assert hist.cells.sum() == 1
    found = extrapolate(hist, fraction=FRACTION, possible=known_cells(100))
    assert (found.matches >= 0.4 - 1e-12).all()
    assert (found.uniques <= 1).all()


def test_possible_cells_in_doubt_hold_less_against_a_model():
    count, index = drawn()
    hist = histogram(count, index)
    limit = math.log(2 * len(count))
    firm, doubtful, free = (
        means(extrapolate(hist, fraction=0.02, possible=PossibleCells(*limits)))[0]
        for limits in ((limit, 0.1), (limit, 1.0), (math.inf, 0.1))
    )
    assert firm < doubtful < free


def test_every_index_has_a_bin():
    ends = np.array([LOWEST_LOG, HIGHEST_LOG, 0.0, -1e-9])
    bins = bins_of(ends)
    assert bins.min() == 0
    assert bins.max() == N_BINS - 1
    assert bins[2] == bins[3] + 1
