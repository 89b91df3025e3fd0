"""Figures that follow: differences and cells, each with its proof, and none that is shown anyway."""

import numpy as np
import pytest
from tests.unit.tables.linked.linking import SQUARE, TOLD, put_together, source, universe

from discreet.clock import Clock, work
from discreet.progress import silent
from discreet.tables.linked import crosses
from discreet.tables.linked import witnesses as witnesses_module
from discreet.tables.linked.derived import differences, following
from discreet.tables.linked.rules import Rule


def follow(*sources, **options):
    own = put_together(*sources, **options)
    return own, following(own.known, own.seen, own.exact, Clock(None), silent)


def named(own, found):
    """The figures by their cells, each as the set of its hidden cells."""
    return {
        frozenset(own.universe.cells_of(one.atoms).tolist()): one.value for one in found.figures
    }


def test_a_difference_of_two_bands():
    own, found = follow(*TOLD)
    cells = {"F": own.universe.cells_with({"sex": "F"}), "M": own.universe.cells_with({"sex": "M"})}
    assert named(own, found) == {frozenset({cells["F"][0]}): 3, frozenset({cells["M"][0]}): 1}
    assert [one.value for one in found.figures] == [1, 3]  # smallest first
    for one in found.figures:
        assert one.above == one.below
        assert one.above.weights == (1, -1)
        assert one.above.value == one.value


def test_every_difference_is_an_exact_figure_less_others():
    u = universe(SQUARE, *TOLD)
    for one, key in differences(u):
        total = np.zeros(u.n_atoms, dtype=np.int64)
        for row, weight in zip(one.above.rows, one.above.weights, strict=True):
            assert u.is_exact[row]
            total += weight * u.matrix[[row]].toarray().ravel()
        assert np.flatnonzero(total).tolist() == one.atoms.tolist()
        assert set(total[one.atoms].tolist()) == {1}
        assert key == int(np.add.reduce(u.keys[one.atoms], dtype=np.uint64))


def test_nothing_follows_from_a_table_with_all_its_figures():
    assert follow(SQUARE)[1].figures == ()


def test_what_lies_in_a_printed_zero_is_not_told():
    zero = source("t", ["sex"], [("F", 0), ("M", 5)])
    own, found = follow(zero, source("u", ["age"], [("0", 2), ("1", 3)]))
    men = own.universe.cells_with({"sex": "M"}).tolist()
    assert named(own, found) == {frozenset({men[0]}): 2, frozenset({men[1]}): 3}


def test_what_falls_apart_into_what_is_shown_or_told_is_not_told_again():
    rows = [("a", None), ("b", 2), ("c", 3), ("Total", 6)]
    own, found = follow(source("t", ["x"], rows), source("u", ["x"], [("a", None), ("b", 2)]))
    assert named(own, found) == {frozenset({0}): 1}  # and not a and b together: 3


def test_corners_prove_what_listing_does(monkeypatch):
    rows = [(f"r{i}", f"c{j}", None if i + j < 3 else 2) for i in range(3) for j in range(3)]
    rows += [(f"r{i}", "Total", 5) for i in range(3)] + [("Total", f"c{i}", 5) for i in range(3)]
    table = source("t", ["row", "column"], rows)
    own, by_list = follow(table)
    monkeypatch.setattr(witnesses_module, "MOST_LISTED", 0)
    again, by_corners = follow(table)
    assert named(own, by_list) == named(again, by_corners)
    assert by_corners.unproved == 0
    assert all(one.above is not None for one in by_corners.figures)


def test_a_cell_that_bounds_from_both_sides_pin_down():
    rounded = source("r", ["x"], [("a", 0), ("b", 3)], rule=Rule(base=3, stated=True))
    own, found = follow(rounded, source("n", [], [(7,)]))
    assert named(own, found) == {frozenset({0}): 2, frozenset({1}): 5}
    one = found.figures[0]
    assert (one.above.rows, one.above.is_upper) == ((0,), True)
    assert not one.below.is_upper


def test_without_time_what_is_left_is_counted_as_not_proved():
    rounded = source("r", ["x"], [("a", 0), ("b", 3)], rule=Rule(base=3, stated=True))
    own = put_together(rounded, source("n", [], [(7,)]))
    clock = Clock(0.5)
    work(1.0)
    found = following(own.known, own.seen, own.exact, clock, silent)
    assert (found.figures, found.unproved) == ((), 2)


def test_a_large_table_is_looked_at_by_its_finest_cells(monkeypatch):
    rows = [("a", None), ("b", 2), ("c", 3), ("Total", 6)]
    monkeypatch.setattr(crosses, "MOST_ENTRIES", 1)
    own, found = follow(source("t", ["x"], rows))
    assert named(own, found) == {frozenset({0}): 1}


@pytest.mark.parametrize("sources", [TOLD, (*TOLD, *TOLD)])
def test_sums_of_figures_are_what_their_certificates_say(sources):
    own, found = follow(*sources)
    u = own.universe
    for one in found.figures:
        total = sum(
            weight * int(u.low[row])
            for row, weight in zip(one.above.rows, one.above.weights, strict=True)
        )
        assert total == one.value
