"""Proportional fitting against closed forms and the likelihood equations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.belief.models.proportional_fitting import fit_margins
from discreet.errors import InputError

TABLES = hnp.arrays(np.int64, (2, 3, 2), elements=st.integers(0, 9)).filter(lambda t: t.sum() > 0)


def margins(table, sets):
    n = range(table.ndim)
    return {axes: table.sum(axis=tuple(i for i in n if i not in axes)) for axes in sets}


@given(TABLES)
def test_conditional_independence_has_a_closed_form(table):
    fit = fit_margins(margins(table, [(0, 1), (1, 2)]), table.shape)
    left, right = table.sum(axis=2), table.sum(axis=0)
    middle = table.sum(axis=(0, 2))
    with np.errstate(invalid="ignore"):
        expected = left[:, :, None] * right[None] / middle[None, :, None]
    assert np.allclose(fit.fitted, np.nan_to_num(expected), atol=1e-9)
    assert fit.converged


@settings(max_examples=50)
@given(hnp.arrays(np.int64, (2, 3, 2), elements=st.integers(1, 9)))
def test_no_three_way_interaction(table):
    sets = [(0, 1), (0, 2), (1, 2)]
    fit = fit_margins(margins(table, sets), table.shape)
    for axes, margin in margins(fit.fitted, sets).items():
        assert np.allclose(margin, margins(table, [axes])[axes], atol=1e-6)
    odds = np.log(fit.fitted)
    contrast = odds[0] - odds[1]
    interaction = (contrast[:, 0] - contrast[:, 1]) - (contrast[0, 0] - contrast[0, 1])
    assert np.allclose(interaction, 0, atol=1e-6)


def test_structural_zeros_stay():
    start = np.ones((2, 2))
    start[0, 0] = 0
    fit = fit_margins({(0,): np.array([3.0, 7.0]), (1,): np.array([2.0, 8.0])}, (2, 2), start=start)
    assert fit.fitted[0, 0] == 0
    assert np.allclose(fit.fitted, [[0, 3], [2, 5]])


def test_margins_that_cannot_be_met_do_not_claim_convergence():
    start = np.array([[0.0, 1.0], [1.0, 0.0]])
    fit = fit_margins(
        {(0,): np.array([3.0, 7.0]), (1,): np.array([2.0, 8.0])},
        (2, 2),
        start=start,
        most_rounds=50,
    )
    assert not fit.converged
    assert fit.deviation > 0.1


def test_negative_margins_are_refused():
    with pytest.raises(InputError, match="margins must be at least 0 in every entry"):
        fit_margins({(0,): np.array([-1.0, 2.0])}, (2,))
