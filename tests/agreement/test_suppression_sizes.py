"""Suppression at sizes from a few figures to more than a thousand, within a little work.

That a pattern is the least is checked against SciPy's integer programming, that it is safe by the
figures of the tables that were found (which other tests try against all tables there are).
"""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.oracles.gauss_suppression import figures_of

from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.masks.contract import Guarantee
from discreet.masks.suppression import Rule, suppress


def sparse(seed, shape, mean=4.0, shape_of_rates=0.4):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(shape_of_rates, mean / shape_of_rates, size=shape))


def flags(masked):
    return np.concatenate([~part.shown.ravel() for part in masked.published])


def values_of(counts):
    return np.array([int(counts.ravel()[cells].sum()) for cells in figures_of(counts)])


def assert_safe(masked, counts, rule):
    """What is sensitive is hidden, and attained values meet the rule for each of them."""
    values, hidden = values_of(counts), flags(masked)
    at = np.flatnonzero(rule.is_sensitive(values))
    assert np.all(hidden[at])
    assert masked.protection.counts.tolist() == values[at].tolist()
    assert masked.protection.guarantee is Guarantee.WHOLE
    assert masked.protection.guarantee.words in masked.effect
    ends = zip(masked.protection.attained_low, masked.protection.attained_high)
    for count, (low, high) in zip(values[at], ends):
        assert rule.needs(int(count)).met(int(low), int(high))


@pytest.mark.parametrize("n", [10, 20, 30, 40])
def test_two_ways_of_every_size_have_a_safe_pattern_within_little_work(n):
    counts = sparse(n, (n, n))
    masked = suppress(Table.of_dense(counts), seconds=2, time_limit=0.2)
    assert_safe(masked, counts, Rule())
    assert flags(masked).sum() < values_of(counts).size / 2


def test_a_sparse_three_way_table_has_a_safe_pattern_within_little_work():
    counts = sparse(0, (9, 10, 11), 2.0)
    masked = suppress(Table.of_dense(counts), seconds=2, time_limit=0.2)
    assert values_of(counts).size == 1320
    assert_safe(masked, counts, Rule())


@pytest.mark.soak
def test_more_work_hides_no_more():
    counts = sparse(0, (9, 10, 11), 2.0)
    costs = []
    for seconds in (2, 8, 30):
        masked = suppress(Table.of_dense(counts), seconds=seconds, time_limit=0.2)
        assert_safe(masked, counts, Rule())
        costs.append(int(values_of(counts)[flags(masked)].sum()))
    assert costs == sorted(costs, reverse=True)


def test_the_same_work_gives_the_same_pattern():
    counts = sparse(1, (12, 12))
    found = [suppress(Table.of_dense(counts), seconds=1, time_limit=0.2) for _ in range(2)]
    assert np.array_equal(flags(found[0]), flags(found[1]))
    assert found[0].effect == found[1].effect
    assert found[0].parameters == found[1].parameters
    assert found[0].parameters["work"] == 1


def least_by_scipy(counts, rule):
    """How few figures a safe pattern of the table hides, by SciPy's integer programming: a flag for
    each figure, two tables for each sensitive one, differences held to 0 where a figure is shown."""
    cells, values = figures_of(counts), values_of(counts)
    n, size, most = len(cells), counts.size, int(counts.sum())
    sums = np.zeros((n, size))
    for row, own in zip(sums, cells):
        row[own] = 1
    at = np.flatnonzero(rule.is_sensitive(values))
    width = n + 2 * size * len(at)
    rows, low, high = [], [], []

    def hold(row, least, greatest):
        rows.append(row), low.append(least), high.append(greatest)

    for number, figure in enumerate(at.tolist()):
        needs, ends = rule.needs(int(values[figure])), []
        for end in range(2):
            start = n + size * (2 * number + end)
            for one in range(n):
                row = np.zeros(width)
                row[start : start + size] = sums[one]
                ends += [row] if one == figure else []
                for sign in (1, -1):
                    tied = sign * row
                    tied[one] = -most
                    hold(tied, -np.inf, sign * values[one])
                if rule.least:
                    above = row.copy()
                    above[one] = -rule.least
                    hold(above, 0, np.inf)
        hold(ends[0], -np.inf, needs.low)
        hold(ends[1], needs.high, np.inf)
        hold(ends[1] - ends[0], needs.width, np.inf)
    floor, ceiling = np.zeros(width), np.full(width, float(most))
    ceiling[:n] = rule.may_hide(values)
    ceiling[n - 1] = 0
    floor[at] = 1
    price = np.zeros(width)
    price[:n] = 1
    solved = milp(
        price,
        constraints=[LinearConstraint(np.array(rows), low, high)],
        integrality=np.ones(width),
        bounds=Bounds(floor, ceiling),
    )
    return round(solved.fun) if solved.status == 0 else None


@pytest.mark.parametrize("shape", [(3, 4), (2, 2, 2), (2, 3, 2)], ids=str)
def test_a_pattern_of_least_figures_is_that_of_an_independent_solver(shape):
    rule, found = Rule(small=1), 0
    rng = np.random.default_rng(3)
    for _ in range(6):
        counts = rng.choice([0, 1, 3, 5, 8], size=shape, p=[0.1, 0.15, 0.3, 0.25, 0.2])
        if not rule.is_sensitive(values_of(counts)).any():
            continue
        masked = suppress(Table.of_dense(counts), rule=rule, exact=True, least="figures")
        least = least_by_scipy(counts, rule)
        if isinstance(masked, Unavailable):
            assert least is None
            continue
        assert "no safe pattern hides less (proved)" in masked.effect
        assert flags(masked).sum() == least
        found += 1
    assert found > 2
