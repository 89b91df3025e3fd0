"""The distribution of a named cell against exact sums over all tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.oracles.named_cells import cell_distribution

from discreet.errors import InputError
from discreet.fiber.sums.marginals import posterior
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import Margins, margins_of
from discreet.fiber.system.priors import Multinomial

SETS = [
    [(0, 1), (1, 2)],
    [(0,), (1,), (2,)],
    [(0, 1), (2,)],
    [(0, 1, 2)],
    [(0, 1), (1, 2), (2, 3)],
    [(0, 1), (1, 2), (1, 3)],
    [(0, 1, 2), (1, 2, 3)],
]


@settings(max_examples=15)
@given(st.data())
@pytest.mark.parametrize("sets", SETS, ids=str)
def test_against_sums_over_all_tables(sets, data):
    n = 1 + max(axis for axes in sets for axis in axes)
    table = data.draw(hnp.arrays(np.int64, (2,) * n, elements=st.integers(0, 2)))
    if table.sum() == 0:
        return
    margins = margins_of(table, sets)
    right = posterior(system_of(table.size, margins.statements()), Multinomial())
    for cell in range(table.size):
        levels = np.array(np.unravel_index(cell, table.shape))
        distribution = cell_distribution(margins, levels)
        assert sum(distribution.values()) == pytest.approx(1.0)
        for q, p in distribution.items():
            assert p == pytest.approx(right.probability(cell, q), abs=1e-9)


def test_a_cell_of_a_table_of_fifty_three_variables():
    """A chain of 53 binary variables, all margins even: the distribution follows from 52 matchings."""
    n = 53
    tables = {(i, i + 1): np.array([[3, 2], [2, 3]]) for i in range(n - 1)}
    margins = Margins(sizes=(2,) * n, names=tuple(f"v{i}" for i in range(n)), tables=tables)
    distribution = cell_distribution(margins, np.zeros(n, dtype=np.int64))
    assert sum(distribution.values()) == pytest.approx(1.0)
    assert distribution[0] > 0.99
    rng = np.random.default_rng(1)
    zeros = 0
    for _ in range(300):
        records = np.ones(3, dtype=bool)  # which of five with v_i = 0 have been 0 throughout
        held = int(records.sum())
        for _ in range(n - 2):
            held = int(rng.hypergeometric(held, 5 - held, 3)) if held else 0
        zeros += held == 0
    assert zeros / 300 == pytest.approx(distribution[0], abs=0.03)


def test_bad_input():
    loop = margins_of(np.ones((2, 2, 2), dtype=np.int64), [(0, 1), (1, 2), (0, 2)])
    with pytest.raises(InputError, match="margins must be a decomposable set that covers every"):
        cell_distribution(loop, np.zeros(3, dtype=np.int64))
    large = margins_of(np.full((2, 2), 50_000), [(0,), (1,)])
    with pytest.raises(InputError, match="cell must be one with at most 20,000 possible values"):
        cell_distribution(large, np.zeros(2, dtype=np.int64))
