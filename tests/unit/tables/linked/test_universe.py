"""All tables together: cells, atoms, layers, and what each figure says."""

import numpy as np
import pytest
from tests.unit.tables.linked.linking import SQUARE, TOLD, source, universe

from discreet.errors import InputError
from discreet.fiber.system.linear_system import UNLIMITED
from discreet.tables.linked import universe as module
from discreet.tables.linked.rules import Rule


def cells_by_hand(u, figure):
    """The cells of a figure, from its labels and the parts that these hold."""
    table = u.tables[int(u.table[figure])]
    labels = table.cell(int(u.place[figure]))
    held = [
        d.sets[labels[d.name]] if d.name in labels else np.ones(d.size, dtype=bool)
        for d in u.domains
    ]
    inside = np.ones((), dtype=bool)
    for own in held:
        inside = np.multiply.outer(inside, own)
    return set(np.flatnonzero(inside).tolist())


@pytest.mark.parametrize(
    "sources",
    [
        (SQUARE,),
        TOLD,
        (SQUARE, *TOLD),
        (SQUARE, source("r", ["region"], [("N", 4), ("S", 6)])),
        (source("part", ["age"], [("0-17", 1)], part={"sex": "F"}), SQUARE),
        (source("overlap", ["age"], [("0-10", 5), ("5-15", 3), ("0-15", 7), ("Total", 9)]),),
    ],
)
def test_every_figure_is_the_sum_of_its_atoms(sources):
    u = universe(*sources)
    for figure in range(u.n_figures):
        atoms = u.matrix[[figure]].indices
        assert set(u.cells_of(atoms).tolist()) == cells_by_hand(u, figure)
    signs = np.array([[c in cells_by_hand(u, f) for f in range(u.n_figures)]
                      for c in range(len(u.atom_of))])  # fmt: skip
    counted = signs.any(axis=1)
    assert (u.atom_of >= 0).tolist() == counted.tolist()
    # Cells are one atom where no figure tells them apart, and only there.
    for one in np.flatnonzero(counted):
        same = (signs == signs[one]).all(axis=1)
        assert np.array_equal(u.atom_of == u.atom_of[one], same)
    assert u.size_of_atom.tolist() == [int((u.atom_of == a).sum()) for a in range(u.n_atoms)]
    assert [u.atom_of[c] for c in u.first_cell] == list(range(u.n_atoms))


def test_a_table_with_totals_falls_apart_into_layers():
    u = universe(SQUARE)
    assert sorted(sub.rows.shape for sub in u.sub_tables) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    rows = np.concatenate([sub.rows.ravel() for sub in u.sub_tables])
    assert sorted(rows.tolist()) == list(range(9))
    for sub in u.sub_tables:
        for layer in sub.layers:
            assert layer.holds.sum(axis=0).max() == 1  # disjoint
            assert np.array_equal(layer.category_of >= 0, layer.holds.any(axis=0))


def test_what_is_not_listed_has_no_figure():
    u = universe(source("t", ["a", "b"], [("x", "p", 1), ("y", "q", 2)]))
    [sub] = u.sub_tables
    assert sub.rows.tolist() == [[0, -1], [-1, 1]]
    assert u.atom_of.tolist() == [0, -1, -1, 1]


def test_ranges_and_what_is_shown():
    u = universe(
        source("a", ["x"], [("p", 3), ("q", None)], rule=Rule(withheld=(1, 4), stated=True)),
        source("b", ["x"], [("p", 5), ("q", None)], rule=Rule(base=5, stated=True)),
        source("c", ["x"], [("p", 0), ("q", None)], rule=Rule(most=0, stated=True)),
    )
    assert u.low.tolist() == [3, 1, 1, 0, 0, 0]
    assert u.high.tolist() == [3, 4, 9, UNLIMITED, 0, UNLIMITED]
    assert u.is_exact.tolist() == [True, False, False, False, True, False]
    assert u.is_shown.tolist() == [True, False, False, False, True, False]


def test_a_rounded_figure_of_one_count_is_not_shown():
    u = universe(source("t", ["x"], [("p", 0), ("q", 3)], rule=Rule(base=3, stated=True)))
    assert not u.is_shown.any()


def test_names_of_figures():
    u = universe(SQUARE, source("w", ["age"], [("0-17", None)], part={"sex": "F"}, marks={0: "x"}))
    assert u.name_of(0) == "square: sex F, age 0-17"
    assert u.name_of(2) == "square: sex F"
    assert u.name_of(8) == "square: total"
    assert u.cell_of(9) == {"age": "0-17", "sex": "F"}
    assert u.printed(0) == "1"
    assert u.printed(9) == "x"


def test_figures_of_the_same_persons_have_one_key():
    u = universe(SQUARE, source("again", ["age"], [("18+", 7), ("Total", 10)]))
    assert u.row_keys[9] == u.row_keys[7]
    assert u.row_keys[10] == u.row_keys[8]
    assert len(set(u.row_keys.tolist())) == 9


def test_cells_with_labels():
    u = universe(SQUARE)
    assert u.cells_with({"sex": "F"}).tolist() == [0, 1]
    assert u.cells_with({"age": "18+"}).tolist() == [1, 3]
    assert u.cells_with({}).tolist() == [0, 1, 2, 3]
    alone = universe(source("t", [], [(5,)]))
    assert alone.cells_with({}).tolist() == [0]
    assert alone.places(np.array([0])) == ()


def test_so_many_cells_are_refused_with_what_makes_them(monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 3)
    with pytest.raises(InputError, match=r"published must be of at most 3 cells together, got 4 "
                       r"\(sex 2 × age 2\); attack tables that share variables first"):  # fmt: skip
        universe(SQUARE)
