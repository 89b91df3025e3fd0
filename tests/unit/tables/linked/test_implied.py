"""Figures that are sums of others: marked, and checked."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.tables.linked.linking import EXACT, SQUARE, source, universe

from discreet.errors import InputError
from discreet.tables.linked.implied import Relations, implied_figures
from discreet.tables.linked.rules import Rule


def names(u):
    return [u.name_of(int(row)) for row in np.flatnonzero(implied_figures(u))]


def test_totals_are_implied_by_the_finest_figures():
    assert names(universe(SQUARE)) == [
        "square: sex F", "square: sex M", "square: age 0-17", "square: age 18+", "square: total",
    ]  # fmt: skip


def test_of_two_figures_of_the_same_persons_the_first_is_kept():
    again = source("again", ["sex"], [("F", 5), ("M", 5)])
    first = source("first", ["sex"], [("F", 5), ("M", 5)])
    assert names(universe(first, again)) == ["again: sex F", "again: sex M"]


def test_a_coarse_figure_is_implied_across_tables():
    fine = source("fine", ["age"], [("0", 1), ("1", 2), ("2+", 3)])
    coarse = source("coarse", ["age"], [("0-1", 3), ("2+", 3)])
    assert names(universe(coarse, fine)) == ["coarse: age 0-1", "coarse: age 2+"]


@pytest.mark.parametrize("missing", ["withheld", "rounded", "not listed"])
def test_nothing_is_implied_where_a_part_is_not_exact(missing):
    rows = [("0", 1), ("1", None if missing == "withheld" else 2), ("2+", 3)]
    rule = Rule(base=3, stated=True) if missing == "rounded" else EXACT
    fine = source("fine", ["age"], rows if missing != "not listed" else rows[::2], rule=rule)
    coarse = source("coarse", ["age"], [("0-1", 3), ("2+", 3)])
    # Of the two figures for 2+ one is enough, that of the finer layer.
    whole = {"withheld": ["coarse: age 2+"], "rounded": [], "not listed": ["fine: age 2+"]}
    assert names(universe(coarse, fine)) == whole[missing]


def test_a_figure_that_is_not_the_sum_of_its_parts_is_named_with_its_place():
    printed = list(SQUARE.table.printed)
    printed[2] = "6"
    where = tuple(f"row {i}" for i in range(2, 11))
    bad = replace(SQUARE, table=replace(SQUARE.table, printed=tuple(printed), where=where))
    with pytest.raises(InputError, match="square: sex F must be the sum of its parts, got another "
                       r"number at row 4; is one of them of other data, of a part of the "
                       r"population, rounded \('square \| rounded\(5\)'\), or has a variable levels "
                       r"that no table lists \(others\)\?"):  # fmt: skip
        implied_figures(universe(bad))


def test_figures_that_disagree_across_tables_are_named_with_both_tables():
    fine = source("fine", ["age"], [("0", 1), ("1", 2), ("2+", 3)])
    coarse = source("coarse", ["age"], [("0-1", 4), ("2+", 3)])
    with pytest.raises(InputError, match="coarse: age 0-1 must be the sum of its parts in fine"):
        implied_figures(universe(coarse, fine))
    other = source("other", ["age"], [("0-1", 3), ("2+", 4)])
    with pytest.raises(InputError, match=r"other: age 2\+ must be the same as in fine"):
        implied_figures(universe(fine, other))


def test_how_layers_lie_in_each_other():
    u = universe(SQUARE)
    by_shape = {sub.rows.shape: sub for sub in u.sub_tables}
    relations = Relations(u)
    [sex, age] = relations.of(by_shape[1, 1], by_shape[2, 2])
    assert sex.inside.toarray().tolist() == [[1, 1]]
    assert age.inside.toarray().tolist() == [[1, 1]]
    assert sex.whole.tolist() == [True]
    assert relations.of(by_shape[2, 2], by_shape[1, 1]) is None
