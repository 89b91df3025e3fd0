"""Many areas, each for itself or tied by shared figures."""

import json

import numpy as np
import pytest

from discreet.errors import InputError, Interrupted
from discreet.fiber.reconstruction import areas as module
from discreet.fiber.reconstruction.areas import Area, areas_of, rebuild_areas
from discreet.fiber.system.linear_system import Statement
from discreet.figures import Figure, How, Unavailable
from discreet.synthetic.census_areas import census_areas, census_layouts, statements_of


def equation(cells, value, name="sum"):
    return Statement(cells=np.array(cells), low=value, high=value, name=name)


def area(name, value):
    """Two cells that sum to a value."""
    return Area(name=name, n_cells=2, statements=(equation([0, 1], value),))


def made_up(n):
    for name, table in census_areas(n, seed=3, most=80):
        n_cells, statements = statements_of(census_layouts(table))
        yield Area(name=name, n_cells=n_cells, statements=statements)


def test_figures_of_areas_come_in_their_order():
    first, second = rebuild_areas([area("a", 3), area("b", 0)], count=True)
    assert first.name == "a"
    assert (first.persons.value, first.certain.value, first.distance.value) == (3, 0, 3)
    assert (first.variability.value, first.n_tables.value, first.is_whole) == (1, 4, False)
    assert second.is_whole
    assert json.loads(json.dumps(second.to_json()))["area"] == "b"


def test_the_number_of_processes_changes_no_figure():
    alone = list(rebuild_areas(made_up(6), workers=1))
    assert list(rebuild_areas(made_up(6), workers=2)) == alone
    assert any(each.is_whole for each in alone)
    assert any(each.is_whole is False for each in alone)


def test_an_area_at_fault_says_why_and_costs_no_other():
    open_cell = Area(name="open", n_cells=2, statements=(equation([0], 1),))
    crossed = (equation([0, 1], 1, "one"), equation([0, 1], 2, "two"))
    bad = Area(name="bad", n_cells=2, statements=crossed)
    found = list(rebuild_areas([open_cell, bad, area("good", 2)], workers=1))
    assert found[0].problem.startswith("cells must be limited from above")
    assert "smallest set that disagrees: one, two" in found[1].problem
    assert isinstance(found[0].distance, Unavailable)
    assert "whole" not in found[0].to_json()
    assert found[2].distance.value == 2
    assert found[2].problem == ""


def test_progress_tells_of_each_area_and_can_stop_them():
    told = []
    found = rebuild_areas(
        [area("a", 1), area("b", 1)], progress=lambda step, part: told.append((step, part))
    )
    next(found)
    assert told[0] == ("rebuilding areas", 0.0)
    list(found)
    assert told[-1] == ("rebuilding areas", 1.0)

    def stop(step, part):
        raise Interrupted("enough")

    with pytest.raises(Interrupted, match="enough"):
        list(rebuild_areas(iter([area("a", 1)]), workers=1, progress=stop))


def test_the_watch_is_told_where_it_left_a_gap(monkeypatch):
    monkeypatch.setattr(module, "stopped_by_watch", lambda: "too slow")
    (exact,) = rebuild_areas([area("a", 3)])
    assert exact.distance == Figure(value=3, how=How.EXACT)
    gap = module._with_note(Figure(value=None, how=How.BOUND, low=1, high=2), "too slow")
    assert gap.note == "too slow"


def test_limits_of_work_are_checked():
    with pytest.raises(InputError, match="seconds must be above 0, got 0"):
        rebuild_areas([], seconds=0)
    with pytest.raises(InputError, match="workers must be at least 1, got 0"):
        rebuild_areas([], workers=0)


def test_areas_without_shared_figures_stand_alone():
    statements = [equation([0, 1], 2), equation([2, 3], 3), equation([0, 1, 2, 3], 5, "total")]
    found = areas_of(4, statements, ["x", "x", "y", "y"])
    assert [(each.name, each.n_cells, len(each.statements)) for each in found] == [
        ("x", 2, 1),
        ("y", 2, 1),
    ]
    assert found[1].statements[0].cells.tolist() == [0, 1]
    assert found[1].cells.tolist() == [0, 1]


def test_a_shared_figure_ties_areas():
    statements = [
        equation([0, 1], 2),
        equation([2, 3], 3),
        equation([0, 2], 4, "shared"),
        equation([4, 5], 1),
    ]
    found = areas_of(6, statements, ["x", "x", "y", "y", "z", "z"])
    assert [each.n_cells for each in found] == [4, 4, 2]
    assert [each.cells.tolist() for each in found] == [[0, 1], [2, 3], [0, 1]]
    results = list(rebuild_areas(found))
    # Of 2 and 3 persons 4 are in the first cells: x has one or two of them, y two or three.
    assert [each.persons.value for each in results] == [2, 3, 1]
    assert [each.certain.value for each in results] == [1, 2, 0]
    assert [each.distance.value for each in results] == [1, 1, 1]


def test_a_total_that_disagrees_is_not_left_out():
    statements = [equation([0, 1], 2), equation([2, 3], 3), equation([0, 1, 2, 3], 6, "total")]
    found = areas_of(4, statements, ["x", "x", "y", "y"])
    assert [each.n_cells for each in found] == [4, 4]
    assert all("disagrees" in each.problem for each in rebuild_areas(found))


def test_each_cell_needs_an_area():
    with pytest.raises(InputError, match="labels must be one for each of 2 cells, got 1"):
        areas_of(2, [], ["x"])
