"""The entropy of a table from its marginals, against the list of all tables."""

import numpy as np
import pytest
from scipy.special import entr, softmax

from discreet.fiber.sums.enumeration import tables
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.priors import DirichletMultinomial, Multinomial, Uniform

TABLE = np.array([[[1, 2], [0, 1]], [[1, 0], [2, 1]]])
PRIORS = [Uniform(), Multinomial(), DirichletMultinomial(np.full(TABLE.size, 0.5))]


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
@pytest.mark.parametrize("sets", [[(0,), (1,), (2,)], [(0, 1), (2,)], [(0, 1), (0, 2), (1, 2)]])
def test_bits_are_those_of_the_listed_tables(sets, prior):
    margins = margins_of(TABLE, sets)
    system = system_of(margins.n_cells, margins.statements())
    every = np.array(list(tables(system)))
    logs = prior.log_weight(np.broadcast_to(np.arange(TABLE.size), every.shape), every).sum(axis=1)
    bits = entr(softmax(logs)).sum() / np.log(2)
    found = posterior(system, prior)
    assert found.entropy == pytest.approx(bits, rel=1e-9)
    assert found.effective_tables == pytest.approx(2**bits, rel=1e-9)
