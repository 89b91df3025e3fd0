"""What can be rebuilt of published tables, of all and area by area."""

import pytest
from tests.unit.tables.linked.linking import source, universe

from discreet.clock import Clock
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.progress import silent
from discreet.tables.linked import rebuilding as module
from discreet.tables.linked.rebuilding import areas_by, rebuilt_of
from discreet.tables.linked.reduced import reduced

ROWS = [("N", "F", None), ("N", "M", None), ("N", "Total", 3), ("S", "F", 2), ("S", "M", 4)]
KNOWN = reduced(universe(source("t", ["region", "sex"], ROWS)))


def test_records_that_are_certain():
    found = rebuilt_of(KNOWN, Clock(None), silent)
    assert found.persons.value == 9
    assert found.rebuilt.to_json()["persons"]["value"] == 6  # those of S


def test_reasons_why_it_is_not_sought(monkeypatch):
    free = reduced(universe(source("t", ["sex"], [("F", None), ("M", 4)])))
    found = rebuilt_of(free, Clock(None), silent)
    assert isinstance(found, Unavailable)
    assert found.reason == "some cells are limited by no figure"
    monkeypatch.setattr(module, "MOST_CELLS", 3)
    assert "more than 3 cells apart" in rebuilt_of(KNOWN, Clock(None), silent).reason


def test_areas_are_the_parts_of_a_variable():
    north, south = areas_by(KNOWN, "region")
    assert (north.name, south.name) == ("N", "S")
    assert [len(area.statements) for area in (north, south)] == [1, 2]
    assert {one.name for one in south.statements} == {
        "t: region S, sex F", "t: region S, sex M",
    }  # fmt: skip


def test_cells_that_no_table_tells_apart_by_area_are_an_area():
    known = reduced(universe(source("t", ["region"], [("N", 3), ("S", 4)]),
                             source("u", ["sex"], [("F", 3), ("M", 4)])))  # fmt: skip
    assert sorted(area.name for area in areas_by(known, "region")) == ["N", "S"]
    part = source("w", ["region", "sex"], [("N", "F", 1), ("S", "F", 2), ("Total", "M", 4)])
    names = {area.name for area in areas_by(reduced(universe(part)), "region")}
    assert "N + S" in names


def test_areas_that_cannot_be():
    with pytest.raises(InputError, match=r"areas must be a variable of the tables \(region, sex\), "
                       "got 'land'"):  # fmt: skip
        areas_by(KNOWN, "land")
    free = reduced(universe(source("t", ["sex"], [("F", None), ("M", 4)])))
    with pytest.raises(InputError, match="areas must be asked for where figures limit every cell, "
                       "got 1 without a limit"):  # fmt: skip
        areas_by(free, "sex")
