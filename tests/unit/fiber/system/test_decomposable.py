"""Junction trees, and the closed form on tables that could never be built."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.attaining_table import attaining_table

from discreet.errors import InputError
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.system.decomposable import ClosedForm
from discreet.fiber.system.margins import Margins, all_margins, margins_of, maximal
from discreet.numerics.graphs import components_tree, junction_tree


def test_a_chain_has_its_links_as_separators():
    tree = junction_tree([(0, 1), (1, 2), (2, 3)])
    assert set(tree.components) == {(0, 1), (1, 2), (2, 3)}
    assert sorted(tree.separators[1:]) == [(1,), (2,)]
    assert tree.separators[0] == ()
    assert tree.parents[0] == -1


def test_sets_that_do_not_meet_are_joined_by_the_total():
    tree = junction_tree([(0, 1), (2,)])
    assert tree.separators == ((), ())


@pytest.mark.parametrize("sets", [[(0, 1), (1, 2), (0, 2)], [(0, 1), (1, 2), (2, 3), (0, 3)]])
def test_others_have_no_junction_tree(sets):
    assert junction_tree(sets) is None


def test_a_cycle_with_a_tail_splits_at_the_tail():
    tree = components_tree([(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)])
    assert dict(zip(tree.components, tree.released)) == {(0, 1, 2, 3): False, (3, 4): True}
    assert tree.separators == ((), (3,))


def test_a_separator_that_is_not_released_does_not_split():
    """Margins 0-1, 1-2, 0-2, 1-3, 2-3: triangles meet in 1-2; without margin 1-2 they do not."""
    assert len(components_tree([(0, 1), (1, 2), (0, 2), (1, 3), (2, 3)]).components) == 2
    assert len(components_tree([(0, 1), (0, 2), (1, 3), (2, 3)]).components) == 1


SETS = st.lists(
    st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True).map(sorted).map(tuple),
    min_size=1,
    max_size=7,
)


@settings(max_examples=150)
@given(SETS)
def test_the_tree_holds_every_set_and_the_running_intersection(sets):
    tree = components_tree(sets)
    assert all(any(set(s) <= set(c) for c in tree.components) for s in sets)
    for i in range(1, len(tree.components)):
        before = {axis for c in tree.components[:i] for axis in c}
        shared = set(tree.components[i]) & before
        assert shared == set(tree.separators[i])
        assert shared <= set(tree.components[tree.parents[i]])
        assert not shared or any(shared <= set(s) for s in sets)


@settings(max_examples=150)
@given(SETS)
def test_decomposable_is_what_graham_says(sets):
    """Acyclic: sets vanish when lonely variables and contained sets are taken away in turn."""
    left = [set(s) for s in maximal(sets)]
    while True:
        lonely = {a for s in left for a in s if sum(a in other for other in left) == 1}
        smaller = [s - lonely for s in left]
        smaller = [
            s for i, s in enumerate(smaller) if s and not any(s <= o for o in smaller[i + 1 :])
        ]
        smaller = [s for i, s in enumerate(smaller) if not any(s < o for o in smaller[:i])]
        if smaller == left:
            break
        left = smaller
    assert (junction_tree(sets) is not None) == (not left)


def chain(n_variables, records):
    """The three-way margins of neighbours among many variables, counted from records."""
    rng = np.random.default_rng(53)
    sizes = tuple(rng.integers(2, 9, n_variables).tolist())
    data = np.stack([rng.integers(0, size, records) for size in sizes], axis=1)
    tables = {}
    for first in range(n_variables - 2):
        axes = (first, first + 1, first + 2)
        table = np.zeros([sizes[a] for a in axes], dtype=np.int64)
        np.add.at(table, tuple(data[:, a] for a in axes), 1)
        tables[axes] = table
    names = tuple(f"v{i}" for i in range(n_variables))
    return Margins(sizes=sizes, names=names, tables=tables), data


def test_named_cells_of_a_table_of_53_variables():
    margins, data = chain(53, 3000)
    assert margins.n_cells > 2**63
    cells = data[:5]
    found = bounds(margins, cells=cells)
    assert found.complete
    closed_form = ClosedForm(margins)
    for i, cell in enumerate(cells):
        cliques = [table[tuple(cell[list(a)])] for a, table in margins.tables.items()]
        assert found.upper[i] == min(cliques)
        assert found.lower[i] == 0
        table = attaining_table(closed_form, cell, "upper")
        assert table.count(cell) == found.upper[i]
        for axes, margin in margins.tables.items():
            assert np.array_equal(table.margin(axes, margin.shape), margin)


def test_cells_of_a_huge_table_must_be_named_by_levels():
    margins, _ = chain(53, 10)
    with pytest.raises(InputError, match="cells must be given for a table of more than .* cells"):
        bounds(margins)
    with pytest.raises(InputError, match="cells must be rows of levels for a table so large"):
        bounds(margins, cells=np.array([0]))
    with pytest.raises(InputError, match="cells must be levels 0 to .* of v0, got 99 at cell 1"):
        bounds(margins, cells=np.array([[0] * 53, [99] + [0] * 52]))
    with pytest.raises(InputError, match="cells must be rows of 53 levels, got an array"):
        bounds(margins, cells=np.zeros((1, 3), np.int64))


def test_large_lower_bounds_come_from_cliques_less_separators():
    table = np.zeros((2, 2, 2), np.int64)
    table[0, 0, 0], table[1, 0, 0], table[0, 0, 1] = 90, 4, 3
    found = ClosedForm(margins_of(table, [(0, 1), (1, 2)])).bounds(np.zeros((1, 3)))
    assert (found.lower[0], found.upper[0]) == (93 + 94 - 97, 93)


def test_variables_in_no_margin_leave_nothing_certain():
    found = bounds(margins_of(np.array([[5, 1], [0, 0]]), [(0,)]))
    assert found.lower.tolist() == [0, 0, 0, 0]
    assert found.upper.tolist() == [6, 6, 0, 0]
    assert found.complete


def test_the_closed_form_refuses_other_sets():
    margins = margins_of(np.ones((2, 2, 2), np.int64), all_margins(3, 2))
    with pytest.raises(InputError, match="margins must be decomposable, got a set that is not"):
        ClosedForm(margins)


def test_no_cells_asked_for():
    margins = margins_of(np.ones((2, 2), np.int64), list(combinations(range(2), 1)))
    assert len(ClosedForm(margins).bounds(np.empty((0, 2), np.int64)).lower) == 0
