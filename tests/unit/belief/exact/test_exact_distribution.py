"""The distribution of a table under a log-linear model, against brute force."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from discreet.belief.exact.exact_distribution import exact_distribution
from discreet.belief.models.bayesian_fitting import fitting_cycle
from discreet.belief.models.generators import HierarchicalModel, models_containing
from discreet.fiber.system.margins import margins_of

SHAPE = (2, 2, 2)
ALPHA = np.random.default_rng(2).uniform(0.3, 1.5, SHAPE)
TABLES = [np.array(t).reshape(SHAPE) for t in product(range(4), repeat=8) if sum(t) == 3]
DECOMPOSABLE = [
    m for m in models_containing(3, []) if m != HierarchicalModel.no_highest_interaction(3)
]
SETS = [[()], [(0,)], [(0, 1)], [(0, 1), (1, 2)], [(0,), (1,), (2,)], [(0, 1), (0, 2), (1, 2)]]


def points(distribution, table):
    """The points of the system that belong to a table: the columns behind the cells follow."""
    cells = table.ravel()
    full = np.zeros(distribution.system.n_columns, dtype=np.int64)
    full[: distribution.n_cells] = cells
    left = distribution.system.right - distribution.system.matrix @ full
    behind = distribution.system.matrix[:, distribution.n_cells :].tocoo()
    full[distribution.n_cells + behind.col] = left[behind.row]
    return full


def log_weight(distribution, table):
    point = points(distribution, table)
    assert distribution.system.holds(point)
    return float(distribution.prior.log_weight(np.arange(len(point)), point).sum())


@pytest.mark.parametrize("model", DECOMPOSABLE, ids=lambda m: m.name("abc"))
def test_the_distribution_of_all_tables_sums_to_one(model):
    margins = margins_of(TABLES[0], [()])
    distribution = exact_distribution(margins, model, ALPHA)
    total = logsumexp([log_weight(distribution, table) for table in TABLES])
    assert total + distribution.log_constant == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("sets", SETS, ids=str)
@pytest.mark.parametrize("model", DECOMPOSABLE, ids=lambda m: m.name("abc"))
def test_released_margins_change_only_what_is_summed(model, sets):
    """Pr(R) from the distribution given R = the sum of Pr(F) over the tables with these margins."""
    truth = TABLES[40]
    free = exact_distribution(margins_of(truth, [()]), model, ALPHA)
    margins = margins_of(truth, sets)
    same = [
        t
        for t in TABLES
        if all(np.array_equal(margins_of(t, sets).tables[a], m) for a, m in margins.tables.items())
    ]
    distribution = exact_distribution(margins, model, ALPHA)
    weights = np.array([log_weight(distribution, table) for table in same])
    reference = np.array([log_weight(free, table) for table in same])
    assert logsumexp(weights) + distribution.log_constant == pytest.approx(
        logsumexp(reference) + free.log_constant, abs=1e-9
    )
    assert weights - logsumexp(weights) == pytest.approx(reference - logsumexp(reference), abs=1e-9)


@pytest.mark.parametrize("model", DECOMPOSABLE[1:], ids=lambda m: m.name("abc"))
def test_against_draws_of_the_cell_probabilities(model):
    """The table's distribution is the multinomial averaged over Bayesian proportional fitting's
    draws.
    """
    rng = np.random.default_rng(7)
    state = np.full((60_000, *SHAPE), -np.log(8.0))
    wide = np.broadcast_to(ALPHA, state.shape)
    for _ in range(4):
        state = fitting_cycle(state, wide, model.generators, rng=rng)
    distribution = exact_distribution(margins_of(TABLES[0], [()]), model, ALPHA)
    for table in TABLES[::17]:
        pmf = np.exp(gammaln(4) - gammaln(table + 1).sum() + (state * table).sum(axis=(1, 2, 3)))
        error = pmf.std() / len(pmf) ** 0.5
        expected = np.exp(log_weight(distribution, table) + distribution.log_constant)
        assert pmf.mean() == pytest.approx(expected, abs=5 * error)


def test_a_model_beyond_the_release_that_is_not_decomposable_has_no_such_form():
    model = HierarchicalModel.no_highest_interaction(3)
    truth = TABLES[40]
    assert exact_distribution(margins_of(truth, [(0, 1), (1, 2)]), model, ALPHA) is None
    released = exact_distribution(margins_of(truth, [(0, 1), (1, 2), (0, 2)]), model, ALPHA)
    assert released.prior.name == "multinomial"
    assert released.log_constant is None
