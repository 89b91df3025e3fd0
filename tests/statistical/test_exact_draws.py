"""Frequencies of drawn tables against their exact probabilities, with fixed seeds."""

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import InputError
from discreet.fiber.draws.exact_draws import draw_decomposable, sampler
from discreet.fiber.sums import dynamic_programming
from discreet.fiber.sums.enumeration import tables
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.priors import DirichletMultinomial, Multinomial, ProductForm, Uniform

DRAWS = 20_000
TABLE = np.array([[[3, 1], [0, 2], [1, 1]], [[1, 2], [2, 0], [0, 1]]])
PRIORS = [
    Uniform(),
    Multinomial(),
    ProductForm(np.linspace(0.3, 2.0, TABLE.size)),
    DirichletMultinomial(np.linspace(0.4, 1.5, TABLE.size)),
]


def fits(drawn, system, prior):
    """The p-value of the drawn tables against exact probabilities, rare tables put together."""
    everything = np.array(list(tables(system)))
    found = posterior(system, prior)
    expected = len(drawn) * np.array([found.table_probability(table) for table in everything])
    assert expected.sum() == pytest.approx(len(drawn), rel=1e-9)
    index = {tuple(table): i for i, table in enumerate(everything.tolist())}
    counts = np.bincount([index[tuple(row)] for row in drawn.tolist()], minlength=len(everything))
    rare = expected < 5
    observed, wanted = counts[~rare], expected[~rare]
    if rare.any():
        observed = np.append(observed, counts[rare].sum())
        wanted = np.append(wanted, expected[rare].sum())
    return chisquare(observed, wanted).pvalue


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.name)
def test_draws_under_every_prior(prior, streamed, monkeypatch):
    if streamed:
        monkeypatch.setattr(dynamic_programming, "ALWAYS_STORED", 0)
        monkeypatch.setattr(dynamic_programming, "FEW_STEPS", 10**9)
    system = system_of(TABLE.size, margins_of(TABLE, all_margins(3, 2)).statements())
    drawn = sampler(system, prior).draw(DRAWS, rng=np.random.default_rng(5))
    assert fits(drawn, system, prior) > 1e-3


@pytest.mark.parametrize("sets", [[(0, 1), (1, 2)], [(0,), (1, 2)], [(0,), (1,), (2,)], [(0, 1)]])
def test_draws_along_the_junction_tree(sets):
    table = np.array([[[1, 0], [0, 2]], [[1, 0], [1, 0]]])
    margins = margins_of(table, sets)
    system = system_of(table.size, margins.statements())
    drawn = np.array(
        [one.ravel() for one in draw_decomposable(margins, DRAWS, rng=np.random.default_rng(6))]
    )
    assert fits(drawn, system, Multinomial()) > 1e-3


def test_a_chain_of_many_variables_keeps_its_margins():
    rng = np.random.default_rng(7)
    table = rng.poisson(0.5, (2,) * 12)
    sets = [(i, i + 1) for i in range(11)]
    margins = margins_of(table, sets)
    for drawn in draw_decomposable(margins, 2, rng=rng):
        for axes, released in margins_of(drawn, sets).tables.items():
            np.testing.assert_array_equal(released, margins.tables[axes])


def test_margins_that_are_not_decomposable():
    margins = margins_of(TABLE, all_margins(3, 2))
    with pytest.raises(InputError, match="margins must be decomposable"):
        draw_decomposable(margins, 1, rng=np.random.default_rng(1))
