"""Suppressed tables audited by methods that know nothing of how they were made.

Small tables: every table of the same total is tried. Larger ones: SciPy's integer programming.
"""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.masks.contract import Guarantee
from discreet.masks.suppression import Rule, Zeros, audit_pattern, suppress


@cache
def all_tables(n_cells, total):
    """Every table of so many persons in so many cells, a row each."""
    bars = np.array(list(combinations(range(total + n_cells - 1), n_cells - 1)), dtype=np.int64)
    ends = np.full((len(bars), 1), total + n_cells - 1)
    return np.diff(np.hstack([np.full((len(bars), 1), -1), bars, ends])) - 1


def figures(shape, tables):
    """Each figure of the full table and all its margins, tables × figures, larger tables first."""
    wide = tables.reshape(-1, *shape)
    axes = range(1, len(shape) + 1)
    found = []
    for size in range(len(shape), -1, -1):
        for kept in combinations(axes, size):
            summed = wide.sum(axis=tuple(a for a in axes if a not in kept))
            found.append(summed.reshape(len(wide), -1))
    return np.hstack(found)


def consistent(shape, counts, hidden, least):
    """All tables that agree with the shown figures, and with what the rule says of hidden ones."""
    tables = all_tables(counts.size, int(counts.sum()))
    every, truth = figures(shape, tables), figures(shape, counts[None])[0]
    agrees = np.all(every[:, ~hidden] == truth[~hidden], axis=1)
    return every[agrees & np.all(every[:, hidden] >= least, axis=1)]


def flags(masked):
    return np.concatenate([~part.shown.ravel() for part in masked.published])


def is_safe(shape, counts, hidden, rule):
    fiber = consistent(shape, counts, hidden, rule.least)
    truth = figures(shape, counts[None])[0]
    low, high = fiber.min(axis=0), fiber.max(axis=0)
    return all(
        rule.needs(int(truth[i])).met(int(low[i]), int(high[i]))
        for i in np.flatnonzero(rule.is_sensitive(truth))
    )


def tables(seed, shapes, number, most):
    rng = np.random.default_rng(seed)
    for i in range(number):
        shape = shapes[i % len(shapes)]
        total = int(rng.integers(4, most + 1))
        chances = rng.dirichlet(np.full(int(np.prod(shape)), 0.7))
        yield shape, rng.multinomial(total, chances)


RULES = [
    Rule(small=1),
    Rule(small=2),
    Rule(small=1, protect=2, zeros=Zeros.SPARE),
    Rule(small=1, zeros=Zeros.SENSITIVE),
    Rule(small=2, rule_known=False, upper=1),
    Rule(small=2, protect=1, above_small=True),
    Rule(small=2, protect=1, lower=1, zeros=Zeros.SPARE),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_no_sensitive_figure_is_tighter_than_asked_in_any_table_tried(rule):
    made = refused = 0
    for shape, counts in tables(1, [(2, 3), (3, 3), (2, 2, 2)], 45, 10):
        masked = suppress(Table.of_dense(counts.reshape(shape)), rule=rule, exact=False)
        if isinstance(masked, Unavailable):
            assert "no pattern" in masked.reason
            truth = figures(shape, counts[None])[0]
            hidden = rule.may_hide(truth)
            hidden[-1] = False
            hidden |= rule.is_sensitive(truth)
            assert not is_safe(shape, counts, hidden, rule)
            refused += 1
            continue
        hidden = flags(masked)
        assert is_safe(shape, counts, hidden, rule)
        truth = figures(shape, counts[None])[0]
        assert np.all(hidden[rule.is_sensitive(truth)])
        assert np.all(rule.may_hide(truth)[hidden])
        fiber = consistent(shape, counts, hidden, rule.least)
        at = rule.is_sensitive(truth)
        assert masked.protection.bounds.complete
        assert masked.protection.bounds.lower.tolist() == fiber.min(axis=0)[at].tolist()
        assert masked.protection.bounds.upper.tolist() == fiber.max(axis=0)[at].tolist()
        made += 1
    assert made >= 5
    assert made + refused == 45


@pytest.mark.parametrize("rule", RULES[:3], ids=str)
def test_single_persons_and_zeros_are_safe_in_any_table_tried(rule):
    """Where adding and subtracting is not all there is to know: no cell is below what it can be."""
    rng, made = np.random.default_rng(7), 0
    for shape in [(2, 3), (3, 3), (2, 2, 2)] * 6:
        counts = rng.choice([0, 1, 2, 3], size=shape, p=[0.2, 0.4, 0.25, 0.15]).ravel()
        if not rule.small < counts.sum() <= 12:
            continue
        masked = suppress(Table.of_dense(counts.reshape(shape)), rule=rule, exact=False)
        if isinstance(masked, Unavailable):
            continue
        assert masked.protection.guarantee is Guarantee.WHOLE
        assert is_safe(shape, counts, flags(masked), rule)
        made += 1
    assert made > 2


def test_the_least_pattern_is_the_least_of_all_patterns():
    rule, found = Rule(small=1), 0
    for shape, counts in tables(2, [(2, 3), (3, 2)], 25, 14):
        masked = suppress(
            Table.of_dense(counts.reshape(shape)), rule=rule, exact=True, least="figures"
        )
        truth = figures(shape, counts[None])[0]
        must = rule.is_sensitive(truth)
        if isinstance(masked, Unavailable) or not must.any():
            continue
        spare = np.flatnonzero(rule.may_hide(truth) & ~must)[:-1]
        assert "no safe pattern hides less (proved)" in masked.effect
        n_more = int(flags(masked).sum() - must.sum())
        for size in range(n_more + 1):
            chosen = list(combinations(spare, size))
            safe = any(
                is_safe(shape, counts, must | np.isin(np.arange(len(truth)), c), rule)
                for c in chosen
            )
            assert safe == (size == n_more)
        found += 1
    assert found >= 8


def bounds_by_scipy(shape, counts, hidden, least, figure):
    """The least and the greatest value of one figure, by an independent solver."""
    unit = figures(shape, np.eye(counts.size, dtype=np.int64)).T.astype(float)
    truth = unit @ counts
    low = np.where(hidden, least, truth)
    high = np.where(hidden, np.inf, truth)
    rows = LinearConstraint(unit, low, high)
    found = []
    for sign in (1, -1):
        solved = milp(
            sign * unit[figure],
            constraints=[rows],
            integrality=np.ones(counts.size),
            bounds=Bounds(0, float(counts.sum())),
        )
        assert solved.status == 0
        found.append(round(sign * solved.fun))
    return found


@pytest.mark.parametrize(
    ("shape", "mean"), [((5, 5), 4), ((3, 3, 3), 5), ((6, 4), 3), ((2, 3, 4), 4)]
)
def test_larger_tables_hold_against_an_independent_solver(shape, mean):
    rng = np.random.default_rng(3)
    rule = Rule(small=2)
    for _ in range(2):
        counts = rng.poisson(rng.gamma(1.0, mean, int(np.prod(shape))))
        masked = suppress(Table.of_dense(counts.reshape(shape)), rule=rule, exact=False)
        assert not isinstance(masked, Unavailable)
        hidden, truth = flags(masked), figures(shape, counts[None])[0]
        at = np.flatnonzero(rule.is_sensitive(truth))
        assert len(at)
        for i, figure in enumerate(at.tolist()):
            low, high = bounds_by_scipy(shape, counts, hidden, rule.least, figure)
            assert rule.needs(int(truth[figure])).met(low, high)
            assert masked.protection.bounds.lower[i] == low
            assert masked.protection.bounds.upper[i] == high


def test_audits_of_random_patterns_agree_with_trying_all_tables():
    rng, rule = np.random.default_rng(4), Rule(small=2)
    verdicts = set()
    for shape, counts in tables(5, [(2, 3), (3, 3), (2, 2, 2)], 60, 10):
        truth = figures(shape, counts[None])[0]
        hidden = rule.may_hide(truth) & ((rng.random(len(truth)) < 0.7) | rule.is_sensitive(truth))
        hidden[-1] = False
        table = Table.of_dense(counts.reshape(shape))
        sizes, shown, first = [], [], 0
        for size in range(len(shape), -1, -1):
            sizes += [
                tuple(shape[a] for a in kept) for kept in combinations(range(len(shape)), size)
            ]
        for one in sizes:
            n = int(np.prod(one, dtype=int))
            shown.append(~hidden[first : first + n].reshape(one))
            first += n
        audit = audit_pattern(table, shown, rule=rule)
        assert audit.is_safe == is_safe(shape, counts, hidden, rule)
        verdicts.add(audit.is_safe)
    assert verdicts == {True, False}
