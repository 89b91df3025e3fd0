"""Possible cells beside nested keys, against all combinations listed."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.cells_beside import cells_of_levels, space_of

from discreet.data.nesting import Nested, nested_pairs
from discreet.engines.local.parts import Shelf
from discreet.flows.assess import assess
from discreet.survey import nested_keys as module
from discreet.survey.nested_keys import FREE, Nesting, nesting_of


def listed(cells, sizes, nested):
    """Combinations in which every determined key has the level it was seen with, one by one."""
    seen = [{row[p.determining]: row[p.determined] for row in cells.tolist()} for p in nested]
    return sum(
        all(
            combination[p.determined]
            == to.get(combination[p.determining], combination[p.determined])
            for p, to in zip(nested, seen, strict=True)
        )
        for combination in itertools.product(*map(range, sizes))
    )


def cells_of(columns):
    coded = [np.unique(column, return_inverse=True)[1] for column in columns]
    cells, counts = np.unique(np.array(coded).T, axis=0, return_counts=True)
    return cells, counts, [int(c.max()) + 1 for c in coded]


def nested_of(cells, counts, sizes, shelf=None):
    """The nested keys of cells that are given by their levels: those beyond `sizes` are missing,
    and match anything."""
    own = (cells.max(axis=0) + 1).tolist()
    missing = [key for key, size in enumerate(sizes) if own[key] > size]
    space = space_of(own, missing=missing, policy="wildcard" if missing else "category")
    return nesting_of(cells_of_levels(cells, counts, space, shelf=shelf))


def columns_of_every_kind(rng, n=400):
    """A chain a → b → c, a second parent d of b, two keys that are copies, and one by itself."""
    a = rng.integers(0, 6, n)
    b = rng.permutation([0, 0, 1, 1, 2, 2])[a]
    c = np.array([0, 0, 1])[b]
    parents = rng.permutation([0, 1, 2, 0, 1])
    d = np.array([rng.choice(np.flatnonzero(parents == x)) for x in b])
    e = rng.integers(0, 3, n)
    return [a, b, c, d, e, (e + 1) % 3, rng.integers(0, 2, n)]


@given(st.integers(0, 10**6))
def test_chains_two_parents_and_copies_are_counted_exactly(seed):
    rng = np.random.default_rng(seed)
    columns = columns_of_every_kind(rng)
    cells, counts, sizes = cells_of([columns[i] for i in rng.permutation(len(columns))])
    nested = nested_of(cells, counts, sizes)
    assert len(nested.pairs) >= 6
    assert nested.n_possible(sizes) == listed(cells, sizes, nested.pairs)


@pytest.mark.parametrize("parts", [1, 12])
@pytest.mark.parametrize("some", [1, 20, 10**6])
def test_cells_that_are_looked_at_first_and_parts_change_nothing(
    monkeypatch, tmp_path, some, parts
):
    monkeypatch.setattr(module, "SOME_CELLS", some)
    for seed in range(20):
        cells, counts, sizes = cells_of(columns_of_every_kind(np.random.default_rng(seed)))
        (tmp_path / str(seed)).mkdir()
        shelf = Shelf(tmp_path / str(seed), 1, len(cells) // parts) if parts > 1 else None
        assert nested_of(cells, counts, sizes, shelf).pairs == nested_pairs(cells, counts, sizes)


def test_nothing_nested_is_the_product():
    cells = np.array(list(itertools.product(range(3), range(4), range(2))))
    nested = nested_of(cells, np.full(len(cells), 9), (3, 4, 2))
    assert nested.pairs == ()
    assert nested.n_possible((3, 4, 2)) == 24


def test_independent_chains_of_many_levels_are_no_work():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 3000, 60_000), rng.integers(0, 3000, 60_000)
    cells, counts, sizes = cells_of([first, first // 6, first // 60, second, second // 6])
    nested = nested_of(cells, counts, sizes)
    assert nested.n_possible(sizes) == sizes[0] * sizes[3]


def test_a_missing_level_says_nothing_of_nesting():
    cells = np.array([[0, 0], [1, 0], [2, 1], [3, 1], [0, 2], [4, 0], [4, 1]])
    counts = np.full(len(cells), 20)
    nested = nested_of(cells, counts, (4, 2))
    assert nested.pairs == (Nested(0, 1),)
    assert nested.n_possible((4, 2)) == 4


def test_a_level_that_never_meets_a_known_one_goes_with_all():
    # level 2 of the second key is missing, and level 4 of the first occurs with it alone
    cells = np.array([[0, 0], [1, 0], [2, 1], [3, 1], [4, 2]])
    nested = nested_of(cells, np.full(len(cells), 20), (5, 2))
    assert nested.maps[0, 1].tolist() == [0, 0, 1, 1, FREE]
    assert nested.n_possible((5, 2)) == 6
    assert Nesting({(0, 1): np.array([0, 0, 1, FREE])}).n_possible((4, 2)) == 5


def test_pairs_that_do_not_hold_are_left_out():
    cells = np.array([[0, 0], [0, 1], [1, 0]])
    nested = nested_of(cells, [50, 50, 50], (2, 2))
    assert nested.pairs == ()
    assert nested.n_possible((2, 2)) == 4


def test_what_is_ruled_out_is_the_rest():
    cells, counts, sizes = cells_of(columns_of_every_kind(np.random.default_rng(2)))
    nested = nested_of(cells, counts, sizes)
    boxes = nested.ruled_out(sizes)
    outside = sum(
        not any(all(c[k] == v for k, v in box.items()) for box in boxes)
        for c in itertools.product(*map(range, sizes))
    )
    assert outside == nested.n_possible(sizes)


def test_too_many_signatures_leave_a_pair_out_and_never_say_too_few(monkeypatch):
    cells, counts, sizes = cells_of(columns_of_every_kind(np.random.default_rng(3)))
    nested = nested_of(cells, counts, sizes)
    exact = nested.n_possible(sizes)
    monkeypatch.setattr(module, "MOST_JOINED", 4)
    assert exact <= nested.n_possible(sizes) <= math.prod(sizes)


def test_too_many_boxes_are_none(monkeypatch):
    cells, counts, sizes = cells_of(columns_of_every_kind(np.random.default_rng(2)))
    nested = nested_of(cells, counts, sizes)
    n = len(nested.ruled_out(sizes))
    monkeypatch.setattr(module, "MOST_BOXES", n)
    assert len(nested.ruled_out(sizes)) == n
    monkeypatch.setattr(module, "MOST_BOXES", n - 1)
    assert nested.ruled_out(sizes) == []


class TestAssess:
    FRAME = pd.DataFrame({"region": [i % 2 for i in range(120)]}).assign(
        district=lambda f: f.region * 3 + [i // 2 % 3 for i in range(120)],
        sex=[i // 6 % 2 for i in range(120)],
    )
    KEYS = ("region", "district", "sex")

    def test_impossible_combinations_are_no_possible_cells(self):
        found = assess(self.FRAME, self.KEYS)
        assert found.summary.n_table_cells == 12
        assert found.nested == (("district", "region"),)

    def test_unless_they_are_wanted_or_the_number_is_given(self):
        assert assess(self.FRAME, self.KEYS, nesting=False).summary.n_table_cells == 24
        assert assess(self.FRAME, self.KEYS, cells=50).summary.n_table_cells == 50
        assert assess(self.FRAME, self.KEYS, nesting=False).nested == ()

    def test_a_list_of_impossible_combinations_comes_on_top(self):
        zeros = pd.DataFrame({"district": [5], "sex": [1]})
        frame = self.FRAME[(self.FRAME.district != 5) | (self.FRAME.sex != 1)]
        assert assess(frame, self.KEYS, impossible=zeros).summary.n_table_cells == 11

    @pytest.mark.parametrize("policy", ["wildcard", "conservative"])
    def test_missing_values_that_match_anything_are_no_levels(self, policy):
        frame = self.FRAME.astype(object)
        frame.loc[::17, "region"] = None
        found = assess(frame, self.KEYS, missing=policy)
        assert found.summary.n_table_cells == 12
