"""What an intruder knows: words, contradictions, orders as equations."""

import numpy as np
import pytest

from discreet.count_tables.knowledge import Knowledge, Shape, shape_cases, with_order
from discreet.count_tables.rebuilding import hidden_counts, reconstruct
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError
from discreet.fiber.system.linear_system import Statement, system_of

DISASTERS = CountStatistics.of_counts(dict(enumerate([15, 20, 9, 5, 2])))


def test_in_words():
    known = Knowledge(
        largest=(3, 5),
        cells={4: (2, 2), 1: (3, None), 2: (1, 7)},
        no_zeros=True,
        shape=Shape.UNIMODAL,
        peak=2,
        n=(5, 9),
    )
    assert known.described() == (
        "the largest value is 3 to 5",
        "f1 is at least 3",
        "f2 is 1 to 7",
        "f4 is 2",
        "nobody has value 0",
        "the counts are unimodal with its peak at 2",
        "n is 5 to 9",
    )
    assert known
    assert not Knowledge()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"largest": (5, 3)}, "the known largest value must be a range from low to high"),
        ({"largest": -1}, "the known largest value must be zero or more"),
        ({"n": (9, 5)}, "the known n must be a range"),
        ({"cells": {2: (4, 1)}}, "the known count of 2 must be a range"),
        ({"cells": {-2: (0, 1)}}, "values of known cells must be zero or more"),
        ({"cells": {0: (1, 2)}, "no_zeros": True}, "since nobody is known to have value 0"),
        ({"cells": {5: (1, 2)}, "largest": 4}, "the largest value is known to be at most 4"),
        ({"cells": {4: (0, 0)}, "largest": 4}, "4 is known to be the largest value"),
        ({"peak": 2}, "a known peak must be that of unimodal counts"),
        ({"peak": -1, "shape": "unimodal"}, "the known peak must be zero or more"),
    ],
)
def test_knowledge_that_contradicts_itself(given, words):
    with pytest.raises(InputError, match=words):
        Knowledge(**given)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (Knowledge(largest=2), "largest value of 2 contradicts S2"),
        (Knowledge(largest=7), "S1 and S2 allow no larger value, got 7"),
        (Knowledge(cells={7: (1, 1)}), r"the known count of 7 must be 0 where 7! does not divide"),
        (Knowledge(shape="unimodal", peak=9), "the known peak must be at most 4"),
        (Knowledge(cells={4: (7, None)}), "f4, the exponent of 2 in e.S2"),
        (Knowledge(cells={1: (15, 16)}), "the statistics alone allow 7 tables"),
        (Knowledge(shape="increasing"), "got the counts are increasing; the statistics alone"),
        (Knowledge(n=(60, 70)), "one that holds the released n of 51, got 60 to 70"),
    ],
)
def test_knowledge_that_contradicts_the_statistics(known, words):
    with pytest.raises(InputError, match=words):
        reconstruct(DISASTERS, known)


def test_statistics_that_no_table_has():
    """Three factors 2 and no 3 are three counts of 2, a total of 6."""
    with pytest.raises(InputError, match="n, S1 and S2 must be those of some table of counts"):
        reconstruct(CountStatistics(10, 4, {2: 3}))


def test_a_known_cell_of_a_value_that_is_impossible_anyway():
    assert hidden_counts(DISASTERS, Knowledge(cells={9: (0, 4)})).count().value == 7


def test_unimodal_cases_exclude_one_another():
    """Ties at the top belong to one case only: three cells of four with a total of 6."""
    total = Statement(cells=np.arange(3), low=6, high=6, name="total")
    system = system_of(3, [total])
    seen = []
    for case in shape_cases(Knowledge(shape="unimodal"), 0, 2):
        ordered = with_order(system, case.order)
        for a in range(7):
            for b in range(7 - a):
                table = np.array([a, b, 6 - a - b])
                if ordered.holds(ordered.completed(table)):
                    seen.append(tuple(table.tolist()))
    expected = [
        (a, b, 6 - a - b) for a in range(7) for b in range(7 - a) if not (b < a and b < 6 - a - b)
    ]
    assert sorted(seen) == sorted(expected)


def test_names_of_orders():
    system = system_of(2, [Statement(cells=np.arange(2), low=3, high=3, name="n")])
    case = next(iter(shape_cases(Knowledge(shape="decreasing"), 0, 1)))
    assert with_order(system, case.order).row_names == ("n", "f1 ≤ f0")
    assert with_order(system, type(case.order)()) is system
