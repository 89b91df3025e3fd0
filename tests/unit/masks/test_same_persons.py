"""Figures of the same persons: found by what is occupied, with one factor for each set of them."""

import numpy as np
import pytest

from discreet.belief.factors import Factor, product_of
from discreet.masks import same_persons
from discreet.masks.same_persons import SamePersons

LOGS = np.log([0.1, 0.2, 0.4, 0.2, 0.1])


def figure(cells, low):
    return Factor(cells=np.array(cells), low=low, log_probability=LOGS.copy(), name=f"of {cells}")


def together(figures, *factors, n_cells=3):
    return SamePersons(n_cells=n_cells, figures=np.array(figures), factors=factors)


def test_equal_figures_of_the_same_persons_count_once():
    found = together([2, 2], figure([0, 1], 0), figure([0], 0))
    tables = np.array([[2, 0, 1], [2, 1, 1], [0, 2, 0], [0, 0, 5]])
    expected = [0.4, 0.2 * 0.4, 0.4 * 0.1, 0.1]
    np.testing.assert_allclose(np.exp(found(tables)), expected)
    assert not found.is_product
    assert found.statements() == []


def test_figures_that_differ_cannot_be_of_the_same_persons():
    found = together([2, 3], figure([0, 1], 0), figure([0], 1))
    assert found(np.array([[2, 0, 1]]))[0] == -np.inf
    assert np.isfinite(found(np.array([[2, 1, 1]]))[0])
    assert found.is_product  # by what is stated
    (stated,) = found.statements()
    assert (stated.cells.tolist(), stated.low, stated.high) == ([1], 1, None)


def test_a_cell_that_is_surely_occupied_tells_figures_apart():
    found = together([2, 2, 3], figure([0, 1], 0), figure([0], 0), figure([1], 1))
    assert found.pairs == [
        (0, 2)
    ]  # both hold the second cell; the figure of the first cell does not
    assert found.is_product
    assert [one.cells.tolist() for one in found.statements()] == [[0]]
    tables = np.array([[2, 1, 0], [1, 3, 0]])
    np.testing.assert_allclose(found(tables), product_of(found.factors)(tables))


def test_figures_that_share_no_cell_or_no_count_are_not_compared():
    assert together([2, 2], figure([0], 0), figure([1, 2], 0)).pairs == []
    assert together([2, 9], figure([0], 0), figure([0, 1], 7)).pairs == []


def test_impossible_figures_stay_impossible_whoever_they_count():
    found = together([2, 2], figure([0, 1], 0), figure([0], 0))
    assert found(np.array([[9, 0, 0]]))[0] == -np.inf


@pytest.mark.parametrize("n_cells", [3, 64, 65, 300])
def test_sets_of_persons_are_told_apart_in_small_and_in_large_tables(n_cells):
    last = n_cells - 1
    factors = (figure([0, last], 0), figure([last], 0), figure([0], 0))
    found = together([2, 2, 2], *factors, n_cells=n_cells)
    tables = np.zeros((4, n_cells), dtype=np.int64)
    tables[1, last] = tables[2, [0, last]] = tables[3, 0] = 1
    same = [[len(set(row.tolist())), int((row == 0).sum())] for row in found.persons(tables)]
    assert same == [[1, 3], [2, 1], [3, 0], [2, 1]]


def test_many_tables_are_looked_at_in_parts(monkeypatch):
    found = together([2, 2], figure([0, 1], 0), figure([0], 0))
    tables = np.array(np.meshgrid(range(4), range(4), range(2))).reshape(3, -1).T
    whole = found(tables)
    monkeypatch.setattr(same_persons, "MOST_NUMBERS", 6)
    np.testing.assert_array_equal(found(tables), whole)
    assert found(tables[:0]).shape == (0,)
