"""What all superpopulation models share, on bare size indices."""

import numpy as np
import pytest

from discreet.data.summary import SizeIndices, Summary
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.registry import MODELS
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.model import SuperpopulationModel

SIZES = SizeIndices(np.array([1, 2, 3, 4, 8, 25]), np.array([400, 60, 21, 9, 4, 1]))
SUPERPOPULATIONS = [m for m in MODELS.values() if isinstance(m, SuperpopulationModel)]


def summary(indices=SIZES, population=8000.0):
    return Summary(
        sample_size=indices.sample_size,
        n_table_cells=10**5,
        level_counts=(10**5,),
        size_indices=indices,
        weight_total=None,
        population_size=population,
        population_size_known=True,
    )


def test_all_of_them_are_tried():
    assert len(SUPERPOPULATIONS) == 7


@pytest.mark.parametrize("model", SUPERPOPULATIONS, ids=lambda model: model.name)
def test_bare_size_indices_give_the_fit_of_a_summary(model):
    totals = Totals(size_indices=SIZES, population_size=8000, n_table_cells=10**5)
    bare, whole = model.fit_totals(totals), model.fit(summary())
    assert bare.name == model.name
    assert bare.parameters == whole.parameters
    assert bare.uniques_figure() == whole.uniques_figure()


@pytest.mark.parametrize("model", SUPERPOPULATIONS, ids=lambda model: model.name)
def test_a_model_says_why_there_is_no_fit(model):
    with pytest.raises(
        ModelUnavailable, match="every record of the sample is unique|no more uneven"
    ):
        model.fit(summary(SizeIndices(np.array([1]), np.array([30]))))
    with pytest.raises(ModelUnavailable, match="population size is not known"):
        model.fit(summary(population=None))
    with pytest.raises(ModelUnavailable, match="population_size must be at least the sample size"):
        model.fit(summary(population=100.0))
    overlapping = SizeIndices(np.array([1.0, 2.5]), np.array([3, 2]), np.array([3, 4]))
    with pytest.raises(ModelUnavailable, match="cells overlap and there is no partition"):
        model.fit(summary(overlapping))


@pytest.mark.parametrize("model", SUPERPOPULATIONS, ids=lambda model: model.name)
def test_a_whole_population_needs_no_fit(model):
    fitted = model.fit(summary(population=float(SIZES.sample_size)))
    assert fitted.uniques_figure().value == SIZES.sample_uniques
    assert fitted.log_likelihood is None
