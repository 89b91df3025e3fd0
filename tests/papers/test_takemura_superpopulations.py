"""Takemura section 3: Ewens and Pitman on his size indices.

The last of them is a group: 124 cells of 11 records or more hold 2,996. Ewens depends on them only
through the number of cells and of records, Pitman on how they are filled.
"""

import numpy as np
import pytest

from discreet.data.summary import SizeIndices, Summary
from discreet.survey.models.superpopulation.ewens import Ewens
from discreet.survey.models.superpopulation.pitman import Pitman, moment_estimates

SMALL = (2249, 521, 275, 132, 104, 60, 59, 34, 46, 19)
LARGE_CELLS, LARGE_RECORDS = 124, 2996
POPULATION_SIZE = 4_867_000


def even():
    """All large cells about equal."""
    each, more = divmod(LARGE_RECORDS, LARGE_CELLS)
    return [each] * (LARGE_CELLS - more) + [each + 1] * more


def rising():
    """Large cells of 11, 12, … records, about as many of each size."""
    steps = np.floor(np.linspace(11, 37.5, LARGE_CELLS)).astype(int)
    steps[-1] += LARGE_RECORDS - steps.sum()
    return list(steps)


def one_giant():
    """All but one as small as they may be."""
    rest = 11 * (LARGE_CELLS - 1)
    return [11] * (LARGE_CELLS - 1) + [LARGE_RECORDS - rest]


FILLINGS = [even, rising, one_giant]


def summary(filling):
    counts = np.concatenate([np.repeat(np.arange(1, 11), SMALL), filling()])
    indices = SizeIndices.of_counts(counts)
    return Summary(
        sample_size=indices.sample_size,
        n_table_cells=249_704_000,
        level_counts=(249_704_000,),
        size_indices=indices,
        weight_total=None,
        population_size=float(POPULATION_SIZE),
        population_size_known=True,
    )


@pytest.mark.parametrize("filling", FILLINGS)
def test_his_sample(filling):
    sizes = summary(filling).size_indices
    assert (sizes.sample_size, sizes.n_cells, sizes.sample_uniques) == (9809, 3623, 2249)
    assert sizes.cells[sizes.sizes >= 11].sum() == LARGE_CELLS


@pytest.mark.parametrize("filling", FILLINGS)
def test_ewens_printed_figure_is_the_moment_estimate(filling):
    fit = Ewens(estimator="moments").fit(summary(filling))
    assert fit.parameters["theta"] == pytest.approx(2917.75, abs=0.005)
    assert fit.population_uniques == pytest.approx(5.8769, abs=5e-5)
    assert round(fit.population_uniques, 2) == 5.88  # as printed


@pytest.mark.parametrize("filling", FILLINGS)
def test_ewens_by_maximum_likelihood(filling):
    fit = Ewens().fit(summary(filling))
    assert fit.parameters["theta"] == pytest.approx(2076.34, abs=0.005)
    assert fit.population_uniques == pytest.approx(5.489, abs=5e-4)


def test_pitman_depends_on_the_large_cells_and_never_gives_the_printed_figure():
    """213.96 is printed; likelihood gives about 119 to 134, moments about 115, however filled."""
    found = [Pitman().fit(summary(filling)).population_uniques for filling in FILLINGS]
    assert found[0] == pytest.approx(118.9, abs=0.1)
    assert 118 < min(found) < max(found) < 135
    assert max(found) < 213.96


def test_pitman_moments_need_only_uniques_and_cells():
    estimates = [moment_estimates(summary(filling).size_indices) for filling in FILLINGS]
    assert estimates[1:] == [pytest.approx(estimates[0])] * 2
    alpha, theta = estimates[0]
    m = np.arange(9809, POPULATION_SIZE)
    uniques = 2249 * np.exp(np.log1p((alpha - 1) / (theta + m)).sum())
    assert 112 < uniques < 116
