"""Witnesses at the corners of a box, against all boxes and the rule itself."""

from itertools import product

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.masks import suppression_search
from discreet.masks.suppression import Rule, audit_pattern, suppress
from discreet.masks.suppression_figures import figures_of
from discreet.masks.suppression_moves import Steps, cheapest_box


def test_steps_reach_all_that_is_needed():
    assert Steps.for_needs(Rule(small=2).needs(1), 1) == Steps(up=2, down=0)
    lower = Rule(small=5, protect=1, lower=2, upper=3)
    assert Steps.for_needs(lower.needs(4), 4) == Steps(up=3, down=2)
    assert Steps.for_needs(Rule(small=3, above_small=True).needs(1), 1) == Steps(up=3, down=0)


def rectangles(counts, costs, at, up):
    """The cheapest rectangle of a two-way table with its margins shown, by trying all."""
    found = np.inf
    for i, j in product(range(counts.shape[0]), range(counts.shape[1])):
        if i != at[0] and j != at[1]:
            corners = [at, (i, j), (at[0], j), (i, at[1])]
            if counts[i, j] > 0 and min(counts[at[0], j], counts[i, at[1]]) >= up + 1:
                found = min(found, sum(int(costs[c]) for c in corners))
    return found


def test_the_cheapest_rectangle_is_found():
    rng = np.random.default_rng(1)
    for _ in range(40):
        counts = rng.poisson(3, (4, 5))
        counts[1, 2] = 1
        figures = figures_of(Table.of_dense(counts), counts, None)
        costs = np.asarray(figures.counts + 1)
        hidden = np.zeros(figures.n, dtype=bool)
        box = cheapest_box(figures, Rule(), costs, hidden, 7, Steps(up=2, down=0))
        least = rectangles(counts, costs[:20].reshape(4, 5), (1, 2), 2)
        if box is None:
            assert least == np.inf
            continue
        changed = figures.sums @ box != 0
        assert not np.any(changed[20:])
        assert costs[changed].sum() == least
        assert box[7] == 1
        assert np.all(counts.ravel() + 2 * box >= 0)


@pytest.mark.parametrize("zeros", ["shown", "spare"])
@pytest.mark.parametrize("shape", [(4, 4), (3, 3, 3)])
def test_patterns_made_of_boxes_are_safe(shape, zeros, monkeypatch):
    monkeypatch.setattr(suppression_search, "LARGE", 0)
    rng = np.random.default_rng(2)
    made = 0
    for i in range(12):
        rule = Rule(small=3, protect=2, lower=i % 2, zeros=zeros)
        table = Table.of_dense(rng.poisson(rng.gamma(1, 8, shape)))
        masked = suppress(table, rule=rule, exact=False)
        if isinstance(masked, Unavailable):
            continue
        made += 1
        assert audit_pattern(table, [part.shown for part in masked.published], rule=rule).is_safe
    assert made > 4


def test_a_large_table_is_protected_within_little_work():
    rng = np.random.default_rng(0)
    table = Table.of_dense(rng.poisson(rng.gamma(0.5, 12, size=(40, 40))))
    masked = suppress(table, work=0.001, time_limit=0.1)
    needs = [Rule().needs(int(count)) for count in masked.protection.counts]
    ends = zip(masked.protection.attained_low, masked.protection.attained_high)
    assert len(needs) > 100
    assert all(one.met(int(low), int(high)) for one, (low, high) in zip(needs, ends))
