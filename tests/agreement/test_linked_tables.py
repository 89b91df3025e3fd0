"""Linked, hierarchical tables: patterns and roundings judged by trying every table and pattern.

The figures are taken from the layouts cell by cell, and all tables of as many persons are tried.
"""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.hierarchy import Hierarchy
from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.masks.contract import Guarantee
from discreet.masks.controlled_rounding import round_controlled
from discreet.masks.layout_notation import layout_of
from discreet.masks.suppression import Rule, Zeros, audit_pattern, suppress

TREE = Hierarchy.of_table([("a", "P", "all"), ("b", "P", "all"), ("c", "Q", "all")])
TREES = {"region": TREE}
SETS = [
    ["region:tree(all),sex+total"],
    ["region:tree(all)", "region:tree(1),sex"],
    ["region,sex+total", "region:tree(all) | sex=F"],
    ["region:tree(1)+total,sex", "region+total | sex=M", "sex+total"],
]


def table_of(counts):
    levels = [["a", "b", "c"], ["F", "M"]]
    return Table.of_dense(np.reshape(counts, (3, 2)), ["region", "sex"], levels)


def layouts_of(table, texts):
    return [layout_of(text, table, TREES) for text in texts]


@cache
def all_tables(n_cells, total):
    """Every table of so many persons in so many cells, a row each."""
    bars = np.array(list(combinations(range(total + n_cells - 1), n_cells - 1)), dtype=np.int64)
    ends = np.full((len(bars), 1), total + n_cells - 1)
    return np.diff(np.hstack([np.full((len(bars), 1), -1), bars, ends])) - 1


def entries(layouts):
    """The different figures as rows of zeros and ones over the cells, and the row of each entry."""
    rows, places = {}, []
    for layout in layouts:
        for entry in range(layout.n_figures):
            row = np.zeros(layout.table.n_cells, dtype=np.int64)
            row[layout.cells_of(entry)] = 1
            places.append(rows.setdefault(row.tobytes(), len(rows)) if row.any() else -1)
    return np.array([np.frombuffer(row, dtype=np.int64) for row in rows]), np.array(places)


def fiber_of(rows, counts, hidden, least):
    """All figures of every table that agrees with the shown ones and with the rule."""
    every = all_tables(counts.size, int(counts.sum())) @ rows.T
    truth = rows @ counts
    agrees = np.all(every[:, ~hidden] == truth[~hidden], axis=1)
    return every[agrees & np.all(every[:, hidden] >= least, axis=1)]


def is_safe(rows, counts, hidden, rule):
    fiber, truth = fiber_of(rows, counts, hidden, rule.least), rows @ counts
    low, high = fiber.min(axis=0), fiber.max(axis=0)
    at = np.flatnonzero(rule.is_sensitive(truth))
    return bool(hidden[at].all()) and all(
        rule.needs(int(truth[i])).met(int(low[i]), int(high[i])) for i in at
    )


def hidden_in(masked, places, n_rows):
    """Which of the different figures are hidden; the same in every table that has them."""
    shown = np.concatenate([one.shown.ravel() for one in masked.published])
    hidden = np.zeros(n_rows, dtype=bool)
    for row in range(n_rows):
        own = shown[places == row]
        assert own.all() or not own.any()
        hidden[row] = not own.any()
    assert shown[places < 0].all()
    return hidden


RULES = [Rule(small=1), Rule(small=2), Rule(small=1, protect=2, zeros=Zeros.SPARE)]


@pytest.mark.parametrize("texts", SETS, ids=str)
@pytest.mark.parametrize("rule", RULES, ids=["1", "2", "spare"])
def test_linked_tables_are_safe_together_in_any_table_tried(rule, texts):
    rng, made = np.random.default_rng(3), 0
    for _ in range(5):
        counts = rng.choice([0, 1, 2, 3, 4], size=6, p=[0.1, 0.3, 0.2, 0.2, 0.2])
        table = table_of(counts)
        layouts = layouts_of(table, texts)
        rows, places = entries(layouts)
        truth = rows @ counts
        must = rule.is_sensitive(truth)
        masked = suppress(table, layouts=layouts, rule=rule, exact=False)
        is_total = rows.sum(axis=1) == 6
        if isinstance(masked, Unavailable):
            assert "no pattern" in masked.reason
            assert not is_safe(rows, counts, (rule.may_hide(truth) | must) & ~is_total, rule)
            continue
        hidden = hidden_in(masked, places, len(rows))
        assert is_safe(rows, counts, hidden, rule)
        assert not (hidden & is_total).any()
        fiber = fiber_of(rows, counts, hidden, rule.least)
        bounds = masked.protection.bounds
        assert sorted(bounds.lower.tolist()) == sorted(fiber.min(axis=0)[must].tolist())
        assert sorted(bounds.upper.tolist()) == sorted(fiber.max(axis=0)[must].tolist())
        made += bool(must.any())
    assert made >= 1


@pytest.mark.parametrize("texts", SETS[:3], ids=str)
def test_the_least_pattern_of_linked_tables_is_the_least_of_all(texts):
    rule, found = Rule(small=1), 0
    rng = np.random.default_rng(5)
    for _ in range(4):
        counts = rng.choice([1, 2, 3, 5], size=6)
        table = table_of(counts)
        layouts = layouts_of(table, texts)
        rows, places = entries(layouts)
        truth = rows @ counts
        must = rule.is_sensitive(truth)
        masked = suppress(table, layouts=layouts, rule=rule, exact=True, least="figures")
        if isinstance(masked, Unavailable) or not must.any():
            continue
        spare = np.flatnonzero(rule.may_hide(truth) & ~must & (rows.sum(axis=1) < 6))
        assert "no safe pattern hides less (proved)" in masked.effect
        n_more = int(hidden_in(masked, places, len(rows)).sum() - must.sum())
        for size in range(n_more + 1):
            safe = any(
                is_safe(rows, counts, must | np.isin(np.arange(len(rows)), chosen), rule)
                for chosen in combinations(spare, size)
            )
            assert safe == (size == n_more)
        found += 1
    assert found >= 2


def test_the_same_tables_have_the_same_pattern_again():
    rng = np.random.default_rng(8)
    table = table_of(rng.poisson(3, 6) + 1)
    layouts = layouts_of(table, SETS[1])
    first, second = (suppress(table, layouts=layouts, rule=Rule(small=3)) for _ in range(2))
    pairs = zip(first.published, second.published, strict=True)
    assert all((a.shown == b.shown).all() for a, b in pairs)


# Of women, a has 1. By itself the table of regions hides it with c, which is in another province,
# and the table of provinces has nothing small. But b is shown in the one and P = a + b in the other.
COUNTS = np.array([[1, 6], [50, 40], [7, 3]])


def one_by_one(table, layouts, rule):
    """Each table protected as if no other went out."""
    return [suppress(table, layouts=[one], rule=rule).published[0].shown for one in layouts]


def test_tables_protected_one_at_a_time_are_found_unsafe_together_and_ours_are_safe():
    rule = Rule(small=1)
    table = table_of(COUNTS)
    layouts = layouts_of(table, ["region+total,sex+total", "region:tree(1),sex"])
    apart = one_by_one(table, layouts, rule)
    for one, shown in zip(layouts, apart, strict=True):
        assert audit_pattern(table, [shown], layouts=[one], rule=rule).is_safe
    assert apart[1].all()
    together = audit_pattern(table, apart, layouts=layouts, rule=rule)
    rows, places = entries(layouts)
    shown = np.concatenate([one.ravel() for one in apart])
    hidden = np.array([not shown[places == row].any() for row in range(len(rows))])
    # By hand: P of women is 51 and b of women 50, both shown, and a is the difference.
    assert not hidden[np.isin(rows @ COUNTS.ravel(), (50, 51))].any()
    assert together.exposed == ("region=a, sex=F",)
    ours = suppress(table, layouts=layouts, rule=rule)
    assert ours.protection.guarantee is Guarantee.WHOLE
    shown = [one.shown for one in ours.published]
    assert audit_pattern(table, shown, layouts=layouts, rule=rule).is_safe
    pattern = hidden_in(ours, places, len(rows))
    assert pattern[np.isin(rows @ COUNTS.ravel(), (50, 51))].any()


def test_two_hidden_siblings_under_a_shown_subtotal_are_a_small_union():
    """1 + 1 = 2 in province P, of whom everybody knows if the subtotal or c are shown."""
    table = table_of([1, 9, 1, 8, 6, 7])
    layouts = layouts_of(table, ["region+total | sex=F"])
    rule = Rule(small=2, zeros=Zeros.SPARE)
    plain = suppress(table, layouts=layouts, rule=rule)
    shown = [one.shown for one in plain.published]
    assert shown[0].tolist() == [False, False, True, True]
    assert "small sums of hidden figures can be worked out exactly: [region=a" in plain.effect
    audit = audit_pattern(table, shown, layouts=layouts, rule=rule)
    # Each may be 0, 1 or 2, as wide as asked; but two women are there for certain.
    assert audit.exposed == ("region=a | sex=F + region=b | sex=F",)
    wary = Rule(small=2, zeros=Zeros.SPARE, unions=True)
    wide = suppress(table, layouts=layouts, rule=wary)
    shown = [one.shown for one in wide.published]
    assert shown[0].tolist() != [False, False, True, True]
    assert "as uncertain" in wide.effect
    assert audit_pattern(table, shown, layouts=layouts, rule=wary).is_safe


@pytest.mark.parametrize("zeros", [Zeros.SHOWN, Zeros.SPARE])
def test_no_small_union_is_known_too_closely_in_any_table_tried(zeros):
    """Siblings of the tree are a and b, P and Q; of sex F and M."""
    rule = Rule(small=2, protect=1, zeros=zeros, unions=True)
    rng, looked_at = np.random.default_rng(11), 0
    for _ in range(12):
        counts = rng.choice([0, 1, 2, 4, 6], size=6, p=[0.1, 0.4, 0.1, 0.2, 0.2])
        table = table_of(counts)
        layouts = layouts_of(table, ["region:tree(all),sex+total"])
        masked = suppress(table, layouts=layouts, rule=rule, exact=False)
        if isinstance(masked, Unavailable):
            continue
        rows, places = entries(layouts)
        hidden = hidden_in(masked, places, len(rows))
        every = all_tables(6, int(counts.sum()))
        figures = every @ rows.T
        agrees = np.all(figures[:, ~hidden] == (rows @ counts)[~hidden], axis=1)
        fiber = figures[agrees & np.all(figures[:, hidden] >= rule.least, axis=1)]
        at = places.reshape(6, 3)  # (a, b, c, P, Q, all) × (F, M, total)
        pairs = [(at[0, s], at[1, s]) for s in range(3)]  # a + b = P, a figure itself
        pairs += [(at[3, s], at[4, s]) for s in range(3)]
        pairs += [(at[r, 0], at[r, 1]) for r in range(6)]
        for one, other in pairs:
            total = int((rows @ counts)[[one, other]].sum())
            if hidden[one] and hidden[other] and 0 < total <= rule.small:
                own = fiber[:, one] + fiber[:, other]
                assert own.max() > own.min()
                looked_at += 1
    assert looked_at >= 3


@st.composite
def hierarchies(draw):
    """A tree of two levels over a few leaves, and counts of these by two ages."""
    parents = draw(st.lists(st.sampled_from("PQR"), min_size=2, max_size=4))
    counts = draw(st.lists(st.integers(0, 3), min_size=2 * len(parents), max_size=2 * len(parents)))
    return parents, counts


@settings(max_examples=12, deadline=None, derandomize=True)
@given(hierarchies())
def test_patterns_of_random_hierarchies_are_safe_in_any_table_tried(drawn):
    parents, counts = drawn
    if not 0 < sum(counts) <= 9:
        return
    leaves = [f"l{i}" for i in range(len(parents))]
    tree = Hierarchy.of_table([(leaf, p, "all") for leaf, p in zip(leaves, parents, strict=True)])
    table = Table.of_dense(np.reshape(counts, (-1, 2)), ["region", "age"], [leaves, ["0", "1"]])
    texts = ["region:tree(all)", "region:tree(1),age+total"]
    layouts = [layout_of(text, table, {"region": tree}) for text in texts]
    rule = Rule(small=1)
    masked = suppress(table, layouts=layouts, rule=rule, exact=False)
    rows, places = entries(layouts)
    if isinstance(masked, Unavailable):
        assert "no pattern" in masked.reason
        return
    hidden = hidden_in(masked, places, len(rows))
    assert is_safe(rows, np.array(counts), hidden, rule)


def nearest_by_trying(rows, counts, base):
    """How far the nearest rounding of all figures is off that comes of a table of multiples, or
    None where no table of multiples has every figure next to its count."""
    truth = rows @ counts
    best = None
    for cells in product(range(0, int(counts.sum()) + 2 * base, base), repeat=counts.size):
        own = rows @ np.array(cells)
        gap = np.abs(own - truth)
        if np.all(gap < base) and np.all(gap[truth % base == 0] == 0):
            best = int(gap.sum()) if best is None else min(best, int(gap.sum()))
    return best


@pytest.mark.parametrize("texts", [SETS[1], SETS[3], ["region:tree(all)", "sex+total | region=P"]])
def test_linked_tables_are_rounded_to_the_nearest_that_adds_up_in_all_of_them(texts):
    rng = np.random.default_rng(2)
    for _ in range(4):
        counts = rng.integers(0, 4, size=6)
        table = table_of(counts)
        layouts = layouts_of(table, texts)
        rows, places = entries(layouts)
        masked = round_controlled(table, base=3, layouts=layouts)
        printed = np.concatenate([one.counts.ravel() for one in masked.published])
        own = np.array([printed[places == row][0] for row in range(len(rows))])
        assert all(len(set(printed[places == row])) == 1 for row in range(len(rows)))
        assert (own % 3 == 0).all()
        off = nearest_by_trying(rows, counts, 3)
        if off is None:
            assert "No rounding" in masked.effect
        else:
            assert np.abs(own - rows @ counts).sum() == off
            assert "it is the nearest one" in masked.effect


def test_a_rounding_of_linked_tables_that_cannot_be_near_says_how_far_it_goes():
    """In three ways each of two tables may be rounded, and yet not both: the case is searched."""
    rng, found = np.random.default_rng(4), 0
    levels = [["0", "1"]] * 3
    for _ in range(60):
        counts = rng.integers(0, 2, size=(2, 2, 2))
        if not counts.any():
            continue
        table = Table.of_dense(counts, ["x", "y", "z"], levels)
        layouts = [layout_of(text, table) for text in ("x+total,y+total", "x,z+total", "y,z")]
        masked = round_controlled(table, base=2, layouts=layouts)
        rows, places = entries(layouts)
        printed = np.concatenate([one.counts.ravel() for one in masked.published])
        own = np.array([printed[places == row][0] for row in range(len(rows))])
        gap = np.abs(own - rows @ counts.ravel())
        is_near = bool(np.all(gap < 2) and np.all(gap[(rows @ counts.ravel()) % 2 == 0] == 0))
        assert is_near == ("No rounding" not in masked.effect)
        # Whatever goes out comes of one table of multiples, and so adds up everywhere.
        x_y, x_z, y_z = (one.counts for one in masked.published)
        assert (x_y[2, :2] == y_z.sum(axis=1)).all()
        assert (x_y[:2, 2] == x_z[:, 2]).all()
        assert (x_z[:, :2].sum(axis=0) == y_z.sum(axis=0)).all()
        found += not is_near
    assert found >= 1
