"""Small sums of hidden figures beside each other, and what no pattern can beat."""

import numpy as np
import pytest

from discreet.data.hierarchy import Hierarchy
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.masks import suppression_unions
from discreet.masks.layout_notation import layout_of
from discreet.masks.linked_figures import linked_figures
from discreet.masks.solving import Budget
from discreet.masks.suppression import Rule, Zeros, suppress
from discreet.masks.suppression_limits import covering_limit
from discreet.masks.suppression_pattern import Problem
from discreet.masks.suppression_unions import rows_of, small_unions

TREES = {
    "r": Hierarchy.of_table(
        [("a", "P", "all"), ("b", "P", "all"), ("c", "P", "all"), ("d", "Q", "all")]
    )
}


def table_of(counts):
    return Table.of_dense(np.array(counts), ["r", "s"], [list("abcd"), ["F", "M"]])


def test_siblings_are_in_one_row_and_below_one_node():
    figures = linked_figures([layout_of("r:tree(all)", table_of([[3, 1]] * 4), TREES)])
    rows = [tuple(figures.name(one) for one in row) for row in rows_of(figures)]
    # Q has the single child d, whose cells are its own; it stands beside P under all.
    assert rows == [("r=a", "r=b", "r=c"), ("r=d", "r=P")]


def test_sums_that_are_small_are_those_of_hidden_siblings():
    table = table_of([[1, 9], [1, 9], [2, 9], [1, 9]])
    figures = linked_figures([layout_of("r:tree(1,2),s", table, TREES), layout_of("r,s", table)])
    hidden = figures.counts <= 3
    own = small_unions(figures, hidden, Rule(small=3))
    # Of women there are 1, 1, 2 and 1 in a, b, c and d, which is all of Q.
    names = {frozenset(one.label.replace("r=", "")[:-5].split(", s=F + ")) for one in own}
    expected = ("ab", "ac", "aQ", "bc", "bQ", "cQ", "abQ")
    assert names == {frozenset(one) for one in expected}
    assert all(2 <= one.count <= 3 for one in own)
    assert all(len(one.figures) >= 2 for one in own)


def test_hidden_zeros_join_all_together():
    table = table_of([[1, 9], [0, 9], [0, 9], [7, 9]])
    figures = linked_figures([layout_of("r | s=F", table)])
    hidden = figures.counts <= 1
    rule = Rule(small=1, zeros=Zeros.SPARE)
    (union,) = small_unions(figures, hidden, rule)
    assert union.count == 1
    assert len(union.figures) == 3
    assert small_unions(figures, figures.counts == 1, rule) == []


def test_too_many_unions_are_refused(monkeypatch):
    monkeypatch.setattr(suppression_unions, "MOST_UNIONS", 2)
    table = table_of([[1, 1]] * 4)
    figures = linked_figures([layout_of("r,s", table)])
    with pytest.raises(InputError, match="publish fewer or coarser tables"):
        small_unions(figures, figures.counts == 1, Rule(small=2))


def test_a_pattern_with_unions_says_so_and_protects_them():
    """Women: 1, 1 and 5 in P, which is shown as 7 with c, so that a + b = 2 is known."""
    table = table_of([[1, 6], [1, 7], [5, 8], [9, 9]])
    layouts = [layout_of("r:tree(all) | s=F", table, TREES)]
    plain = suppress(table, layouts=layouts, rule=Rule(small=2, zeros=Zeros.SPARE))
    wary = suppress(table, layouts=layouts, rule=Rule(small=2, zeros=Zeros.SPARE, unions=True))
    assert "can be worked out exactly: [r=a | s=F + r=b | s=F]" in plain.effect
    assert "can be worked out" not in wary.effect
    hidden = [int((~one.published[0].shown).sum()) for one in (plain, wary)]
    assert hidden[1] > hidden[0]


@pytest.mark.parametrize("seed", range(4))
def test_no_safe_pattern_costs_less_than_the_covering_limit(seed):
    rng = np.random.default_rng(seed)
    table = table_of(rng.integers(1, 6, size=(4, 2)))
    layouts = [layout_of(text, table, TREES) for text in ("r:tree(all),s+total", "r:tree(1),s")]
    rule = Rule(small=1)
    figures = linked_figures(layouts)
    problem = Problem(
        figures=figures,
        rule=rule,
        counts=figures.table.dense().ravel(),
        sensitive=np.flatnonzero(rule.is_sensitive(figures.counts)),
        costs=np.ones(figures.n, dtype=np.int64),
        budget=Budget(10.0),
    )
    limit = covering_limit(problem)
    masked = suppress(table, layouts=layouts, rule=rule, least="figures", exact=True)
    assert "(proved)" in masked.effect
    hidden = sum(int((~one.shown).sum()) for one in masked.published[:1])
    assert len(problem.sensitive) <= limit <= hidden
    if len(problem.sensitive) == 1:
        assert limit >= 3  # the figure, one more in its row and one more in its column


def test_a_pattern_that_is_not_proved_the_least_states_its_gap():
    """Hidden by counts, the covering of all sums is less than what moves of whole persons cost."""
    rng, gaps = np.random.default_rng(1), 0
    for _ in range(4):
        table = table_of(rng.poisson(4, size=(4, 2)) + 1)
        layouts = [layout_of("r:tree(all),s+total", table, TREES)]
        masked = suppress(table, layouts=layouts, rule=Rule(small=3), exact=False)
        assert not isinstance(masked, Unavailable)
        assert "found step by step" not in masked.effect
        gaps += "a safe pattern that hides less may exist, by" in masked.effect
    assert gaps >= 1


def test_a_row_with_too_many_sums_is_refused_as_soon_as_that_is_seen(monkeypatch):
    looked_at = []
    own_label = suppression_unions._label
    monkeypatch.setattr(suppression_unions, "MOST_UNIONS", 20)
    monkeypatch.setattr(
        suppression_unions, "_label", lambda *given: looked_at.append(1) or own_label(*given)
    )
    levels = [[f"a{i}" for i in range(60)]]
    figures = linked_figures(
        [layout_of("area", Table.of_dense(np.ones(60, int), ["area"], levels))]
    )
    with pytest.raises(InputError, match="small sums of hidden figures must be at most 20"):
        small_unions(figures, figures.counts == 1, Rule(small=30))
    assert len(looked_at) == 21
