"""Matched records from any part of the junction tree; partial answers; probabilities of tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.belief.exact.matched_distribution import matched_distribution, walk_from
from discreet.belief.models.generators import HierarchicalModel
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.priors import Multinomial

SETS = [
    [(0, 1), (1, 2)],
    [(0,), (1,), (2,)],
    [(0, 1), (2,)],
    [(0, 1), (1, 2), (2, 3)],
    [(0, 1), (1, 2), (1, 3)],
    [(0, 1, 2), (1, 2, 3)],
]


def distribution_of(table, sets):
    found = matched_distribution(margins_of(table, sets), HierarchicalModel.of(table.ndim, sets))
    assert found is not None
    return found


@settings(max_examples=12)
@given(st.data())
@pytest.mark.parametrize("sets", SETS, ids=str)
def test_cells_and_tables_against_sums_over_all_tables(sets, data):
    n = 1 + max(axis for axes in sets for axis in axes)
    table = data.draw(hnp.arrays(np.int64, (2,) * n, elements=st.integers(0, 3)))
    if table.sum() == 0:
        return
    margins = margins_of(table, sets)
    right = posterior(system_of(table.size, margins.statements()), Multinomial())
    found = distribution_of(table, sets)
    for cell in range(table.size):
        distribution = found.cell(np.unravel_index(cell, table.shape))
        assert sum(distribution.values()) == pytest.approx(1.0)
        for q in range(int(table.sum()) + 1):
            assert distribution.get(q, 0.0) == pytest.approx(right.probability(cell, q), abs=1e-9)
    whole = np.exp(found.log_probability(table))
    assert whole == pytest.approx(right.table_probability(table.ravel()), rel=1e-9)
    assert np.exp(found.log_probability(table[table > 0])) == pytest.approx(whole)


def test_no_step_holds_more_values_than_the_smallest_entry_allows(monkeypatch):
    """The cell's first margin holds 9,000 records, its last one 2."""
    table = np.array([[[9000, 2], [700, 100]], [[800, 90], [60, 50]]])
    found = distribution_of(table, [(0, 1), (1, 2)])
    widths = []
    step = type(found)._step

    def watched(self, low, distribution, entry, total):
        low, distribution = step(self, low, distribution, entry, total)
        widths.append(len(distribution))
        return low, distribution

    monkeypatch.setattr(type(found), "_step", watched)
    distribution = found.cell((0, 0, 1))  # [0 0] holds 9,002 records, [0 1] of the others 92
    assert max(widths) <= 93
    assert sum(distribution.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("first", range(5))
def test_a_tree_is_walked_whole_from_any_part(first):
    """Parts 1 and 2 hang on 0, 3 on 1, 4 on 3; separator k lies before part k + 1."""
    walk = walk_from(first, (0, 0, 1, 3))
    ends = {0: {0, 1}, 1: {0, 2}, 2: {1, 3}, 3: {3, 4}}
    reached = {first}
    for part, separator in walk:
        assert part in ends[separator]
        assert ends[separator] - {part} <= reached
        reached.add(part)
    assert reached == set(range(5))
    assert len(walk) == 4


def test_when_time_is_over_the_first_distributions_are_kept():
    found = distribution_of(np.arange(1, 9).reshape(2, 2, 2), [(0, 1), (1, 2)])
    rows = np.array(list(np.ndindex(2, 2, 2)))
    over = iter([False, False, False, True])
    some = found.cells(rows, lambda: next(over))
    assert some == found.cells(rows)[:3]
