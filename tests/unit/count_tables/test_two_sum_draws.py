"""Draws of tables with given n and S1 against all of them."""

import math

import numpy as np
import pytest

from discreet.count_tables.two_sum_draws import MOST_ENTRIES, two_sum_distribution
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded


def all_tables(n, total, largest):
    def fill(j, m, s):
        if j == 0:
            if s == 0:
                yield (m,)
            return
        for f in range(min(m, s // j) + 1):
            for rest in fill(j - 1, m - f, s - j * f):
                yield (*rest, f)

    yield from fill(largest, n, total)


@pytest.mark.parametrize(("n", "total", "largest"), [(6, 9, 4), (5, 5, 1), (3, 7, 3), (8, 6, 6)])
def test_total_weight_and_frequencies(n, total, largest):
    rng = np.random.default_rng(3)
    weights = rng.random((largest + 1, n + 1))
    tables = list(all_tables(n, total, largest))
    own = np.array([math.prod(weights[j, f] for j, f in enumerate(table)) for table in tables])
    distribution = two_sum_distribution(n, total, weights)
    assert distribution.log_total == pytest.approx(math.log(own.sum()))
    drawn = distribution.draw(20_000, rng=rng)
    seen = dict.fromkeys(tables, 0)
    for row in drawn.tolist():
        seen[tuple(row)] += 1
    p = own / own.sum()
    got = np.array([seen[table] for table in tables]) / len(drawn)
    assert np.all(np.abs(got - p) < 5 * np.sqrt(p * (1 - p) / len(drawn)) + 1e-9)


def test_no_table_has_no_weight():
    weights = np.ones((3, 4))
    weights[1, 1:] = 0.0
    assert two_sum_distribution(3, 1, weights).log_total == -math.inf


def test_too_large():
    with pytest.raises(BudgetExceeded, match="too many to draw"):
        two_sum_distribution(MOST_ENTRIES, 3, np.ones((2, 2)))
