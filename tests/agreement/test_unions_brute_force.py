"""Bounds of small unions of cells, such as all ages of one village, against every table that fits."""

import numpy as np
import pytest
from tests.agreement.test_attack_brute_force import NAMES, cells_of, made
from tests.oracles.published_tables import fitting_tables

from discreet.data.table import Table
from discreet.flows.audit_published import audit_published


@pytest.mark.parametrize("seed", [*range(1, 40)])
def test_unions_have_the_bounds_of_all_tables(seed):
    variables, sizes, hidden, sources, told = made(seed)
    table = Table.of_dense(
        hidden.reshape(sizes), names=variables, levels=[NAMES[name] for name in variables]
    )
    found = audit_published(table, sources, seconds=None)
    tables = fitting_tables(len(hidden), told)
    for one in found.unions:
        cells = list(cells_of(one.cell, variables, sizes, None))
        sums = tables[:, cells].sum(axis=1)
        assert (sums.min(), sums.max()) == (one.lower, one.upper)
        assert 1 <= hidden[cells].sum() <= 2
        assert len(cells) > 1


def test_there_are_unions_to_look_at():
    """The test above would hold of none at all."""
    number = 0
    for seed in range(1, 40):
        variables, sizes, hidden, sources, _ = made(seed)
        levels = [NAMES[name] for name in variables]
        table = Table.of_dense(hidden.reshape(sizes), names=variables, levels=levels)
        number += len(audit_published(table, sources, seconds=None).unions)
    assert number > 3


def test_the_point_of_a_table_has_its_sums_too():
    from discreet.fiber.system.linear_system import Statement, system_of, with_sum

    cells = np.arange(3)
    system = system_of(3, [Statement(cells=cells, low=2, high=5, name="a range")])
    wider = with_sum(system, np.array([0, 2]))
    point = wider.completed(np.array([1, 1, 2]))
    assert wider.holds(point)
    assert point[-1] == 3
