"""The rule of Dankar and others: which model it takes, and what stands in for it."""

import numpy as np
import pytest

from discreet.data.summary import SizeIndices
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.dankar import Dankar
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.negative_binomial import NegativeBinomial
from discreet.survey.models.superpopulation.pitman import Pitman
from discreet.survey.models.superpopulation.zayatz import Zayatz

COUNTS = [1] * 300 + [2] * 60 + [3] * 25 + [4] * 12 + [6] * 7 + [11] * 3
EVEN = [3] * 40 + [2] * 30 + [4] * 3 + [1] * 4


def totals_of(counts, fraction):
    indices = SizeIndices.of_counts(np.array(counts))
    size = round(indices.sample_size / fraction)
    return Totals(size_indices=indices, population_size=size, n_table_cells=10**6)


@pytest.mark.parametrize("fraction", [0.001, 0.05, 0.0999])
def test_small_fractions_take_pitman(fraction):
    totals = totals_of(COUNTS, fraction)
    fit = Dankar().fit_totals(totals)
    assert fit.name == "dankar"
    assert fit.parameters["chosen"] == "pitman"
    assert fit.population_uniques == Pitman().fit_totals(totals).population_uniques


@pytest.mark.parametrize("fraction", [0.11, 0.3, 0.7])
def test_larger_fractions_take_the_lower_of_two(fraction):
    totals = totals_of(COUNTS, fraction)
    both = [model.fit_totals(totals) for model in (NegativeBinomial(), Zayatz())]
    lower = min(both, key=lambda fit: fit.population_uniques)
    fit = Dankar().fit_totals(totals)
    assert fit.population_uniques == lower.population_uniques
    assert fit.parameters["chosen"] == lower.name
    assert f"the rule chose {lower.name}" in fit.uniques_figure().note


def test_zayatz_stands_in_for_a_model_without_a_maximum():
    totals = totals_of(EVEN, 0.5)
    with pytest.raises(ModelUnavailable):
        NegativeBinomial().fit_totals(totals)
    assert Dankar().fit_totals(totals).parameters["chosen"] == "zayatz"


def test_nothing_stands_in_where_all_are_unique():
    with pytest.raises(ModelUnavailable):
        Dankar().fit_totals(totals_of([1] * 40, 0.05))
