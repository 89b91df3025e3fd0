"""What is handed to the models of the sample and its weights."""

import numpy as np
import pytest

from discreet.data.coding import Coding
from discreet.engines.local.cells import cells_at_hand
from discreet.survey.models.contract import Need
from discreet.survey.models.lancaster import Lancaster
from discreet.survey.summarising import summarise


def summary(weight_total, population_size=None):
    coding = Coding.of_sizes([2, 3])
    cells = cells_at_hand(np.arange(6)[:, None], np.array([1, 2, 3, 1, 2, 4]), coding)
    return summarise(
        cells,
        n_table_cells=6,
        population_size=population_size,
        weight_total=weight_total,
        needs={Need.MARGINS_1, Need.MARGINS_2},
    )


@pytest.mark.parametrize("bits", [-4, -1, 0, 1, 4])
def test_weights_scaled_to_the_sample_stand_for_a_population_of_its_size(bits):
    found = summary(13 * (1 + bits * 2.0**-52))
    assert found.population_size == 13
    assert Lancaster().fit(found).unseen == 0


def test_other_sums_of_weights_and_a_given_size_stay_as_they_are():
    assert summary(13.001).population_size == 13.001
    assert summary(None).population_size is None
    assert summary(13 - 1e-14, 12.0).population_size == 12
