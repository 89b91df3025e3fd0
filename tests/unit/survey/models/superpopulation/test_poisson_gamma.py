"""The Poisson–gamma model given its total: a Dirichlet–multinomial distribution on the table's
cells.
"""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from discreet.data.summary import SizeIndices
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.ewens import Ewens
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.poisson_gamma import PoissonGamma

COUNTS = [1] * 60 + [2] * 15 + [3] * 8 + [7] * 3 + [20]


def totals_of(counts, cells, population=2000):
    return Totals(
        size_indices=SizeIndices.of_counts(np.array(counts)),
        population_size=population,
        n_table_cells=cells,
    )


def dirichlet_multinomial(counts, cells, gamma):
    """log P(counts of K labelled cells), and of the unlabelled size indices."""
    f = np.concatenate([counts, np.zeros(cells - len(counts))])
    n = f.sum()
    value = gammaln(n + 1) + gammaln(cells * gamma) - gammaln(cells * gamma + n)
    value += (gammaln(f + gamma) - gammaln(gamma) - gammaln(f + 1)).sum()
    numbers = np.unique(f, return_counts=True)[1]
    return value + gammaln(cells + 1) - gammaln(numbers + 1).sum()


@pytest.mark.parametrize("cells", [90, 150, 1000])
def test_the_fit_is_the_maximum_of_the_textbook_formula(cells):
    fit = PoissonGamma(fit_cells=False).fit_totals(totals_of(COUNTS, cells))
    best = minimize_scalar(
        lambda g: -dirichlet_multinomial(COUNTS, cells, math.exp(g)),
        bounds=(-12, 6),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert fit.distribution.parameters["gamma"] == pytest.approx(math.exp(best.x), rel=1e-5)
    assert fit.log_likelihood == pytest.approx(-best.fun, abs=1e-8)


def test_unique_probability_is_the_beta_binomial_one():
    fit = PoissonGamma(fit_cells=False).fit_totals(totals_of(COUNTS, 150))
    gamma, n = fit.distribution.parameters["gamma"], fit.totals.sample_size
    rest = n + 149 * gamma - 1
    exact = math.exp(
        gammaln(rest + 2000 - n)
        - gammaln(rest)
        + gammaln(n + 150 * gamma)
        - gammaln(2000 + 150 * gamma)
    )
    assert fit.distribution.unique_probability == pytest.approx(exact, rel=1e-9)


def test_the_number_of_cells_is_fitted():
    counts = [1] * 40 + [2] * 55 + [3] * 40 + [4] * 25 + [5] * 12 + [6] * 8 + [8] * 3 + [10]
    fit = PoissonGamma().fit_totals(totals_of(counts, 10**6))
    cells, gamma = fit.distribution.cells, fit.distribution.parameters["gamma"]  # type: ignore[attr-defined]
    assert len(counts) < cells < 1000
    assert fit.n_parameters == 2
    best = max(
        (dirichlet_multinomial(counts, k, math.exp(g)), k)
        for k in range(len(counts), round(cells) + 60)
        for g in np.linspace(math.log(gamma) - 0.5, math.log(gamma) + 0.5, 41)
    )
    assert best[1] == pytest.approx(cells, abs=6)
    assert fit.log_likelihood >= best[0] - 1e-3
    all_cells = PoissonGamma(fit_cells=False).fit_totals(totals_of(counts, 10**6))
    assert all_cells.distribution.cells == pytest.approx(10**6)  # type: ignore[attr-defined]
    assert fit.log_likelihood > all_cells.log_likelihood


def test_a_table_without_end_is_ewens():
    huge = PoissonGamma(fit_cells=False).fit_totals(totals_of(COUNTS, 10**250))
    ewens = Ewens().fit_totals(totals_of(COUNTS, 10**250))
    assert huge.distribution.theta == pytest.approx(ewens.distribution.theta, rel=1e-8)  # type: ignore[attr-defined]
    assert huge.population_uniques == pytest.approx(ewens.population_uniques, rel=1e-8)


def test_cells_as_even_as_equal_ones_have_no_maximum():
    with pytest.raises(ModelUnavailable, match="no more uneven than if all were equally probable"):
        PoissonGamma().fit_totals(totals_of([2] * 30, 30))
    with pytest.raises(ModelUnavailable, match="no more uneven"):
        PoissonGamma().fit_totals(totals_of([1] * 30, 1000))
    with pytest.raises(ModelUnavailable, match="no more uneven"):
        PoissonGamma().fit_totals(totals_of([1] * 569 + [2] * 17, 10**8, 30_162))


def test_the_higher_of_two_maxima_is_taken():
    """All possible cells, or a few hundred of them: each is a maximum by itself."""
    totals = totals_of([1] * 585 + [2] * 9 + [3] * 2, 10**8, 30_162)
    fit = PoissonGamma().fit_totals(totals)
    family = fit.uncertainty.family
    grid = [
        family.log_likelihood(np.array([g, k])).value
        for g in np.linspace(-20, 9, 60)
        for k in np.linspace(family.lower[1], family.upper[1], 60)
    ]
    assert family.log_likelihood(fit.uncertainty.point).value >= max(grid) - 1e-9


def test_just_more_uneven_than_equal_ones_has_limits():
    counts = [2] * 20 + [1] * 12 + [3] * 13
    fit = PoissonGamma(fit_cells=False).fit_totals(totals_of(counts, 70, 300))
    figure = fit.uniques_figure()
    assert figure.low <= figure.value <= figure.high


def test_more_occupied_cells_than_possible_ones():
    with pytest.raises(ModelUnavailable, match="n_table_cells must be at least the 87 occupied"):
        PoissonGamma().fit_totals(totals_of(COUNTS, 86))


def test_one_cell():
    with pytest.raises(ModelUnavailable, match="all records lie in one cell"):
        PoissonGamma().fit_totals(totals_of([5], 10))
