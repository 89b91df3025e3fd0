"""Listed fibers against brute force."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from discreet.belief.exact.listed_fiber import listed_fiber
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import margins_of

TABLE = np.array([[[1, 0], [2, 1]], [[0, 3], [1, 0]]])
SETS = [[(0, 1), (1, 2)], [(0,), (1, 2)], [(0, 1), (0, 2), (1, 2)], [(0, 1, 2)]]


def brute_force(sets):
    wanted = margins_of(TABLE, sets)
    for cells in product(range(5), repeat=8):
        table = np.array(cells).reshape(2, 2, 2)
        if table.sum() == 8:
            own = margins_of(table, sets)
            if all(np.array_equal(own.tables[a], wanted.tables[a]) for a in wanted.tables):
                yield table.ravel()


@pytest.mark.parametrize("sets", SETS, ids=str)
def test_normaliser_marginals_and_draws(sets):
    tables = np.array(list(brute_force(sets)))
    fiber = listed_fiber(system_of(8, margins_of(TABLE, sets).statements()), most=10_000)
    assert fiber.n_tables == len(tables)
    rng = np.random.default_rng(1)
    log_theta = np.log(rng.dirichlet(np.ones(8), size=2))
    log_z, distributions = fiber.weigh(log_theta)
    for chain in range(2):
        logs = tables @ log_theta[chain] - gammaln(tables + 1).sum(axis=1)
        assert log_z[chain] == pytest.approx(logsumexp(logs), abs=1e-10)
        p = np.exp(logs - logsumexp(logs))
        for block, marginal in zip(fiber.blocks, fiber.marginals(distributions), strict=True):
            for cell, value, found in zip(block.pair_cell, block.pair_value, marginal[chain]):
                assert found == pytest.approx(p[tables[:, cell] == value].sum(), abs=1e-10)
    drawn = fiber.draw(distributions, rng=rng)
    listed = {tuple(t) for t in tables}
    assert all(tuple(t) in listed for t in drawn)


def test_draws_follow_the_distribution():
    sets = [(0, 1), (1, 2)]
    tables = [tuple(t) for t in brute_force(sets)]
    fiber = listed_fiber(system_of(8, margins_of(TABLE, sets).statements()), most=10_000)
    log_theta = np.tile(np.log(np.random.default_rng(3).dirichlet(np.ones(8))), (40_000, 1))
    _, distributions = fiber.weigh(log_theta)
    drawn = fiber.draw(distributions, rng=np.random.default_rng(4))
    logs = np.array(tables) @ log_theta[0] - gammaln(np.array(tables) + 1.0).sum(axis=1)
    p = np.exp(logs - logsumexp(logs))
    seen = np.array([np.all(drawn == t, axis=1).mean() for t in tables])
    assert np.all(np.abs(seen - p) < 5 * np.sqrt(p * (1 - p) / len(drawn)) + 1e-9)


def test_too_many_tables_are_not_listed():
    system = system_of(8, margins_of(TABLE, [(0,), (1,)]).statements())
    assert listed_fiber(system, most=10) is None
