"""Distributions over listed tables."""

import numpy as np
import pytest

from discreet.belief.belief import ListedBelief
from discreet.errors import InputError

TABLES = np.array([[2, 0, 0, 2], [1, 1, 1, 1], [0, 2, 2, 0]])


def belief(p=(0.25, 0.5, 0.25)):
    return ListedBelief(tables=TABLES.copy(), probabilities=np.array(p))


def test_bounds_cells_and_whole_tables():
    assert belief().lower.tolist() == [0, 0, 0, 0]
    assert belief().upper.tolist() == [2, 2, 2, 2]
    assert belief().cell(1) == {0: 0.25, 1: 0.5, 2: 0.25}
    assert belief().probability(np.array([[1, 1], [1, 1]])).value == 0.5
    assert belief().probability(np.array([4, 0, 0, 0])).value == 0.0
    assert belief().entropy().value == pytest.approx(1.5)


def test_weights_on_a_log_scale():
    found = ListedBelief.of_weights(TABLES, np.array([-1e4, -1e4 + np.log(3), -np.inf]))
    assert found.probabilities == pytest.approx([0.25, 0.75])
    assert len(found.tables) == 2


def test_what_is_known_narrows_it():
    found = belief((0.2, 0.5, 0.3)).given(table[0] > 0 for table in TABLES)
    assert found.probabilities == pytest.approx([2 / 7, 5 / 7])


def test_certainty_has_no_entropy():
    sure = ListedBelief(tables=TABLES[:1], probabilities=np.array([1.0]))
    assert sure.entropy().value == 0.0


@pytest.mark.parametrize(
    ("tables", "probabilities", "message"),
    [
        (TABLES, [0.5, 0.5], "tables must be as many as probabilities"),
        (TABLES, [0.5, 0.4, 0.2], "probabilities must be from 0 with sum 1"),
        (TABLES, [1.0, 0.5, -0.5], "probabilities must be from 0"),
        (TABLES[[0, 0]], [0.5, 0.5], "tables must be different"),
        (TABLES[:0], [], "at least 1"),
    ],
)
def test_distributions_that_are_none(tables, probabilities, message):
    with pytest.raises(InputError, match=message):
        ListedBelief(tables=tables, probabilities=np.array(probabilities))


def test_knowledge_that_contradicts_the_release():
    with pytest.raises(InputError, match="what is known must be true of some consistent table"):
        belief().given([False] * 3)


def test_a_table_whose_probability_is_below_the_least_float_stays_possible():
    belief = ListedBelief.of_weights([np.array([2, 0]), np.array([0, 2])], np.array([0.0, -5000.0]))
    assert belief.upper.tolist() == [2, 2]
    assert belief.cell(0) == {2: 1.0, 0: 0.0}
    assert belief.entropy().value == 0.0
    with pytest.raises(InputError, match="what is known must be probable enough"):
        belief.given([False, True])
