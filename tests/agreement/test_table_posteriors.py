"""The posterior under every hierarchical model of small tables, against plain enumeration.

The distribution of each table comes from its own integral over θ where the model has a closed form;
for the others exact sums and simulation are held against each other under the released model."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

from discreet.belief.draws.augmentation import Effort
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.models.generators import HierarchicalModel, models_containing
from discreet.belief.posterior import Question, table_posterior
from discreet.fiber.system.margins import margins_of
from discreet.figures import Unavailable
from discreet.numerics.graphs import junction_tree

TABLES = {
    "2x2x2": np.array([[[1, 0], [2, 1]], [[0, 1], [1, 1]]]),
    "2x2x3": np.array([[[1, 0, 1], [0, 1, 0]], [[0, 2, 0], [1, 0, 1]]]),
    "2x3x3": np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0], [0, 0, 1]]]),
}
RELEASES = ([(0, 1), (1, 2)], [(0,), (1, 2)])


def consistent(table, sets):
    """All tables with these margins, slowly: each axis-0 slice, then what is left of the total."""
    limits = np.full(table.shape, table.sum())
    for axes in sets:
        others = tuple(i for i in range(3) if i not in axes)
        limits = np.minimum(limits, table.sum(axis=others, keepdims=True))
    wanted = [(axes, margins(table, axes)) for axes in sets]
    found = []
    for half in product(*(range(int(m) + 1) for m in limits[0].ravel())):
        first = np.array(half).reshape(table.shape[1:])
        second = table.sum(axis=0) - first  # (1, 2) is released in every case here
        if second.min() >= 0:
            one = np.stack([first, second])
            if all(np.array_equal(margins(one, axes), right) for axes, right in wanted):
                found.append(one)
    return found


def margins(table, axes):
    return table.sum(axis=tuple(i for i in range(3) if i not in axes))


def log_distribution(table, model, alpha=0.5):
    """log Pr(F) up to a constant: hyper-Dirichlet over cliques and separators."""
    tree = junction_tree(model.generators)
    weights = np.full(table.shape, alpha)
    value = -gammaln(table + 1.0).sum()
    for axes, sign in [(a, 1) for a in tree.components] + [(a, -1) for a in tree.separators[1:]]:
        value += sign * gammaln(margins(table, axes) + margins(weights, axes)).sum()
    return value


def expected(table, sets, model):
    """Pr(F(cell) = q) for all cells by enumeration."""
    tables = consistent(table, sets)
    logs = np.array([log_distribution(one, model) for one in tables])
    p = np.exp(logs - logs.max())
    p /= p.sum()
    return np.array([one.ravel() for one in tables]), p


def ask(table, sets, model, **effort):
    question = Question(
        prior=LogLinearPrior(model, 0.5),
        margins=margins_of(table, sets),
        cells=np.arange(table.size),
        truth=table,
        effort=Effort(**effort),
    )
    return table_posterior(question, rng=np.random.default_rng(7))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("sets", RELEASES, ids=["chain", "apart"])
def test_every_model_with_a_closed_form(name, sets):
    table = TABLES[name]
    for model in models_containing(3, sets):
        if junction_tree(model.generators) is None:
            continue
        found = ask(table, sets, model)
        tables, p = expected(table, sets, model)
        truth = p[np.all(tables == table.ravel(), axis=1)]
        assert found.true_table.value == pytest.approx(truth[0], rel=1e-9)
        for cell, distribution in enumerate(found.distributions):
            for q, own in distribution.items():
                assert own == pytest.approx(p[tables[:, cell] == q].sum(), abs=1e-9)


@pytest.mark.parametrize("name", ["2x2x2", "2x2x3"])
def test_simulation_under_models_without_closed_form(name):
    """No-highest-interaction given two margins: Pr(F) as an integral over θ by plain importance
    sampling from the prior, which the table's own small counts allow."""
    table, sets = TABLES[name], RELEASES[0]
    model = HierarchicalModel.no_highest_interaction(3)
    found = ask(table, sets, model, n_draws=1500)
    assert not isinstance(found, Unavailable)
    tables, p, error = by_prior_draws(table, sets, model)
    for cell, (distribution, errors) in enumerate(
        zip(found.distributions, found.errors, strict=True)
    ):
        for q, own in distribution.items():
            right = p[tables[:, cell] == q].sum()
            assert abs(own - right) < 5 * errors[q] + error


def by_prior_draws(table, sets, model):
    from discreet.belief.models.bayesian_fitting import fitting_cycle

    rng = np.random.default_rng(9)
    state = np.full((400, *table.shape), -np.log(table.size))
    wide = np.broadcast_to(np.full(table.shape, 0.5), state.shape)
    tables = np.array([one.ravel() for one in consistent(table, sets)])
    total = np.zeros(len(tables))
    for step in range(330):
        state = fitting_cycle(state, wide, model.generators, rng=rng)
        if step >= 30:
            logs = state.reshape(400, -1) @ tables.T - gammaln(tables + 1.0).sum(axis=1)
            total += np.exp(logs + 12.0).sum(axis=0)
    return tables, total / total.sum(), 0.02
