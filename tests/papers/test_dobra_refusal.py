"""Meek's remarks on dobra, fienberg and trottini: what a refusal tells."""

from itertools import product

import numpy as np
import pytest

from discreet.belief.belief import ListedBelief
from discreet.errors import InputError
from discreet.tables.attacks import bounds_scenario, table_scenario
from discreet.tables.refusal_loss import (
    belief_after_refusal,
    risk_above,
    shows_unique,
    would_refuse,
)


def two_by_two(rows, columns):
    """All 2×2 tables with these margins."""
    for a in range(min(rows[0], columns[0]) + 1):
        table = np.array([a, rows[0] - a, columns[0] - a, rows[1] - columns[0] + a])
        if table.min() >= 0:
            yield table


def uniform(tables):
    return ListedBelief.of_weights(tables, np.zeros(len(tables)))


def test_a_refused_two_by_two_table_of_four_is_known():
    belief = uniform(list(two_by_two((2, 2), (2, 2))))
    assert len(belief.tables) == 3
    after = belief_after_refusal(belief, (2, 2), (0, 1), shows_unique((2, 2), (0, 1)))
    assert after.tables.tolist() == [[1, 1, 1, 1]]
    assert after.probabilities.tolist() == [1.0]


def test_every_table_of_four_with_such_margins_is_known_after_a_refusal():
    """Meek: total four, both margins out, the table refused: only one table is possible. It holds
    for every pair of margins that leaves both a table with a one and one without."""
    for rows, columns in product([(1, 3), (2, 2), (3, 1)], repeat=2):
        belief = uniform(list(two_by_two(rows, columns)))
        refused = would_refuse(belief, (2, 2), (0, 1), shows_unique((2, 2), (0, 1)))
        if not refused.all():
            assert refused.sum() == 1


def test_a_rule_on_risk_against_a_slow_search():
    """Tables of 2×2×2 with a known 1-way margin each; the first two variables' margin is asked."""
    cells = [np.array(t) for t in product(range(3), repeat=8) if sum(t) == 4]
    cells = [t for t in cells if t.reshape(2, 2, 2).sum(axis=(1, 2))[0] == 1]
    belief = uniform(cells)
    scenario = table_scenario()
    refused = would_refuse(belief, (2, 2, 2), (0, 1), risk_above(scenario, 0.1))
    keys = [tuple(t.reshape(2, 2, 2).sum(axis=2).ravel()) for t in cells]
    expected = [1 / keys.count(key) > 0.1 for key in keys]
    assert refused.tolist() == expected
    assert 0 < refused.sum() < len(cells)


def test_the_measure_of_bounds_judges_each_table_by_its_own_small_cells():
    belief = uniform(list(two_by_two((3, 3), (2, 4))))
    refused = would_refuse(belief, (2, 2), (0,), risk_above(bounds_scenario(), -3))
    widths = {int(t[0]): -2 > -3 for t in belief.tables}  # all cells have width 2
    small = [bool(((t > 0) & (t <= 2)).any()) and widths[int(t[0])] for t in belief.tables]
    assert refused.tolist() == small


def test_a_refusal_that_no_table_explains():
    belief = uniform([np.array([2, 0, 0, 2])])
    with pytest.raises(InputError, match="what is known must be true of some consistent table"):
        belief_after_refusal(belief, (2, 2), (0, 1), shows_unique((2, 2), (0, 1)))
