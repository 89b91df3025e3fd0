"""What is found in crosses of fewer variables, against every table that fits, weighed."""

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from tests.agreement.test_attack_brute_force import NAMES, cells_of, made
from tests.oracles.published_tables import fitting_tables

from discreet.clock import Clock
from discreet.data.table import Table
from discreet.flows.audit_published import audit_published
from discreet.tables.linked.smaller_crosses import smaller_crosses
from discreet.tables.linked.true_figures import true_table
from discreet.tables.refused_margin import RiskFigure, RiskMeasure

FIGURE = RiskFigure(measure=RiskMeasure.CELLS, small=2, confidence=0.5)


def weighed(found, seed):
    """The tables of parts that fit, with their weights, and the true one."""
    variables, sizes, hidden, _, told = made(seed)
    domains = found.linked.universe.domains
    every = fitting_tables(len(hidden), told)
    sets = []
    for parts in product(*(domain.parts for domain in domains)):
        cell = {d.name: part for d, part in zip(domains, parts, strict=True) if d.size > 1}
        sets.append(list(cells_of(cell, variables, sizes, None)))
    tables = np.unique([[table[own].sum() for own in sets] for table in every], axis=0)
    weights = np.array([1 / prod(map(factorial, table.tolist())) for table in tables])
    shape = tuple(domain.size for domain in domains)
    return tables.reshape(-1, *shape), weights / weights.sum()


@pytest.mark.parametrize("seed", range(1, 25))
def test_the_share_found_in_each_cross(seed):
    variables, sizes, hidden, sources, _ = made(seed)
    levels = [NAMES[name] for name in variables]
    table = Table.of_dense(hidden.reshape(sizes), names=variables, levels=levels)
    found = audit_published(table, sources, seconds=None)
    domains = found.linked.universe.domains
    truth = true_table(table, domains)
    more = smaller_crosses(found.linked.known, truth, FIGURE, 1, Clock(None))
    if not more.risks:
        return
    tables, weights = weighed(found, seed)
    for one in more.risks:
        away = tuple(axis for axis in range(truth.ndim) if axis not in one.axes)
        true, sums = truth.sum(axis=away), tables.sum(axis=tuple(a + 1 for a in away))
        small = np.argwhere((true > 0) & (true <= 2))
        sure = [weights[sums[(slice(None), *place)] == true[tuple(place)]].sum() for place in small]
        assert one.n_small == len(small)
        assert one.risk.value == pytest.approx(np.mean(np.array(sure) > 0.5 + 1e-9))
