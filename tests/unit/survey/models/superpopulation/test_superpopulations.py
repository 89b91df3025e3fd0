"""All superpopulation models on bare size indices."""

import numpy as np
import pytest

from discreet.data.summary import SizeIndices, Summary
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.families import (
    SUPERPOPULATIONS,
    fit_all,
    fit_from_size_indices,
    ranked,
)
from discreet.survey.models.superpopulation.fitted import FittedSuperpopulation

SIZES = SizeIndices(np.array([1, 2, 3, 4, 8, 25]), np.array([400, 60, 21, 9, 4, 1]))


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


@pytest.mark.parametrize("name", SUPERPOPULATIONS)
def test_bare_size_indices_give_the_fit_of_a_summary(name):
    bare = fit_from_size_indices(name, SIZES, 8000, 10**5)
    whole = SUPERPOPULATIONS[name].fit(summary())  # type: ignore[attr-defined]
    assert bare.name == name
    assert bare.parameters == whole.parameters
    assert bare.uniques_figure() == whole.uniques_figure()


def test_all_models_or_why_not():
    fits = fit_all(summary())
    assert list(fits) == list(SUPERPOPULATIONS)
    assert all(isinstance(fit, FittedSuperpopulation) for fit in fits.values())
    unique = SizeIndices(np.array([1]), np.array([30]))
    reasons = fit_all(summary(unique))
    assert all(isinstance(fit, Unavailable) for fit in reasons.values())


def test_ranked_best_first():
    order = ranked(summary())
    assert {fit.name for fit in order} == set(SUPERPOPULATIONS) - {"dankar", "zayatz"}
    assert [fit.criterion for fit in order] == sorted(fit.criterion for fit in order)
    assert order[0].behind == 0
    assert sum(fit.weight for fit in order) == pytest.approx(1)


def test_bad_arguments():
    with pytest.raises(InputError, match="name must be among ewens, pitman"):
        fit_from_size_indices("fisher", SIZES, 8000, 10**5)
    with pytest.raises(InputError, match="population_size must be at least the sample size"):
        fit_from_size_indices("pitman", SIZES, 100, 10**5)
    overlapping = SizeIndices(np.array([1.0, 2.5]), np.array([3, 2]), np.array([3, 4]))
    with pytest.raises(InputError, match="sizes must be those of a partition"):
        fit_from_size_indices("pitman", overlapping, 100, 10**5)
    with pytest.raises(ModelUnavailable, match="population size is not known"):
        fit_all(summary(population=None))
