"""Distributions in closed form against every table listed."""

import numpy as np
import pytest

from discreet.belief.belief import ListedBelief
from discreet.belief.closed_belief import closed_belief, has_closed_form
from discreet.data.table import Table
from discreet.fiber.system.priors import DirichletMultinomial, Multinomial, ProductForm, Uniform
from discreet.masks.after_publication import intruders_belief
from discreet.masks.margins import release_margins

TABLE = Table.of_dense(np.array([[[2, 1], [0, 1]], [[1, 0], [3, 1]]]), ["a", "b", "c"])
PRIORS = {
    "multinomial": Multinomial(),
    "uniform": Uniform(),
    "dirichlet": DirichletMultinomial(np.full(8, 0.5)),
}
ONE = [[[]], [["a"]], [["a", "c"]], [["a", "b", "c"]]]
SEVERAL = [[["a"], ["b"]], [["a", "b"], ["b", "c"]], [["a"], ["b"], ["c"]], [["a", "c"], ["b"]]]


def agrees(sets, prior):
    masked = release_margins(TABLE, sets)
    closed = closed_belief(masked.margins, prior)
    listed = intruders_belief(masked, prior)
    assert isinstance(listed, ListedBelief)
    assert closed is not None
    assert has_closed_form(masked.margins, prior)
    for cell in range(8):
        assert closed.cell(cell) == pytest.approx(listed.cell(cell), abs=1e-12)
    truth = TABLE.dense()
    assert np.exp(closed.log_probability(truth)) == pytest.approx(listed.probability(truth).value)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("sets", ONE, ids=str)
def test_one_margin(sets, name):
    agrees(sets, PRIORS[name])


@pytest.mark.parametrize("sets", SEVERAL, ids=str)
def test_decomposable_margins_under_the_multinomial(sets):
    agrees(sets, PRIORS["multinomial"])


def test_none_where_there_is_no_closed_form():
    several = release_margins(TABLE, SEVERAL[1]).margins
    cycle = release_margins(TABLE, [["a", "b"], ["b", "c"], ["a", "c"]]).margins
    one = release_margins(TABLE, ONE[1]).margins
    assert closed_belief(several, PRIORS["dirichlet"]) is None
    assert closed_belief(cycle, PRIORS["multinomial"]) is None
    assert closed_belief(one, ProductForm(np.linspace(1, 2, 8))) is None
    uneven = DirichletMultinomial(np.linspace(1, 2, 8))
    assert closed_belief(one, uneven) is None
    assert not has_closed_form(one, uneven)
    assert not has_closed_form(several, PRIORS["dirichlet"])
    assert not has_closed_form(cycle, PRIORS["multinomial"])


def test_many_persons_do_not_overflow():
    table = Table.of_dense(np.array([[400_000, 1], [2, 99_997]]))
    for prior in (Multinomial(), DirichletMultinomial(np.full(4, 0.5))):
        distribution = closed_belief(release_margins(table, [[]]).margins, prior).cell(1)
        assert sum(distribution.values()) == pytest.approx(1)
