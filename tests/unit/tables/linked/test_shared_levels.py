"""Groups of persons who are shown to share a part of a variable."""

import numpy as np
from tests.unit.tables.linked.linking import put_together, source

from discreet.tables.linked.shared_levels import SharedLevel, shared_levels


def shared(*sources, known=()):
    own = put_together(*sources)
    return [one.words for one in shared_levels(own.universe, own.exact, known)]


ROWS = [("N", "ill", 3), ("N", "well", 0), ("S", "ill", 2), ("S", "well", 5)]


def test_a_whole_row_in_one_cell():
    assert shared(source("t", ["region", "state"], ROWS)) == [
        "all of state well are region S",
        "all of region N are state ill",
    ]


def test_what_everybody_knows_is_no_news():
    table = source("t", ["region", "state"], ROWS)
    assert shared(table, known=[("region", "state")]) == ["all of state well are region S"]
    assert shared(table, known=[("region", "state"), ("state", "region")]) == []


def test_an_empty_group_shares_nothing():
    rows = [("N", "ill", 0), ("N", "well", 0), ("S", "ill", 2), ("S", "well", 5)]
    assert shared(source("t", ["region", "state"], rows)) == [
        "all of state ill are region S", "all of state well are region S",
    ]  # fmt: skip


def test_a_group_that_may_be_empty_shares_nothing_for_certain():
    rows = [("N", "ill", None), ("N", "well", 0), ("S", "ill", None), ("S", "well", 5)]
    table = source("t", ["region", "state"], rows)
    total = source("n", ["state"], [("ill", 3), ("well", 5)])
    assert shared(table, total) == ["all of state well are region S"]
    # Of so many at least one of N is ill.
    limit = source("m", ["region"], [("S", 7), ("N", None)])
    assert "all of region N are state ill" in shared(table, total, limit)


def test_groups_within_one_that_is_listed_are_left_out():
    rows = [
        (r, s, a, 0 if (r, a) == ("N", "well") else 2)
        for r in "NS" for s in "FM" for a in ("ill", "well")
    ]  # fmt: skip
    found = shared(source("t", ["region", "sex", "state"], rows))
    assert found == ["all of state well are region S", "all of region N are state ill"]


def test_cells_that_no_figure_counts_may_hold_anybody():
    own = put_together(source("t", ["region", "state"], ROWS[:3]))
    assert shared_levels(own.universe, own.exact, ()) == (
        SharedLevel({"region": "N"}, "state", "ill"),
    )


def test_one_variable_alone_is_shared_by_nobody():
    assert shared(source("t", ["region"], [("N", 0), ("S", 3)])) == []
    own = put_together(source("t", ["region"], [("N", 0), ("S", 3)]))
    assert np.array_equal(own.exact[0], own.exact[1])
