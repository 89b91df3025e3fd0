"""What percentages and means say of counts."""

import numpy as np
import pytest
from tests.unit.tables.linked.linking import source

from discreet.data.published.published_table import Statistic
from discreet.fiber.system.linear_system import UNLIMITED
from discreet.tables.linked.attack import domains_of
from discreet.tables.linked.options import AttackOptions
from discreet.tables.linked.rules import Rule
from discreet.tables.linked.shares_and_means import with_shares_and_means
from discreet.tables.linked.sources import together
from discreet.tables.linked.universe import universe_of


def read(*sources):
    found = together(sources)
    domains = domains_of(found, AttackOptions())
    return with_shares_and_means(universe_of(domains, found.tables, found.rules))


def shares(rows, variables=("a",), of=(), **more):
    return source("s", variables, rows, rule=Rule(), statistic=Statistic.PERCENT, of=of, **more)


def means(rows, variables, of="age"):
    return source("m", variables, rows, rule=Rule(), statistic=Statistic.MEAN, of=(of,))


def ranges(u, table):
    rows = np.flatnonzero(u.table == table)
    return list(zip(u.low[rows].tolist(), u.high[rows].tolist(), strict=True))


@pytest.mark.parametrize(
    ("n", "text"), [(7, "14.3"), (7, "0.0"), (300, "33"), (8, "12.5"), (1, "100")]
)
def test_a_percentage_says_which_counts_are_printed_so(n, text):
    decimals = len(text.partition(".")[2])
    half = 0.5 * 10**-decimals + 1e-12
    fits = [x for x in range(2 * n + 2) if abs(100 * x / n - float(text)) <= half]
    other = f"{100 - float(text):.{decimals}f}"
    u, notes = read(shares([("x", text), ("y", other)]), source("n", [], [(n,)]))
    assert ranges(u, 0)[0] == (min(fits), max(fits))
    assert notes == []


def test_the_groups_within_which_percentages_add_up_are_found():
    rows = [("x", "p", 40), ("y", "p", 60), ("x", "q", 50), ("y", "q", 50)]
    u, notes = read(shares(rows, ("a", "b")), source("n", ["b"], [("p", 5), ("q", 4)]))
    assert ranges(u, 0) == [(2, 2), (3, 3), (2, 2), (2, 2)]
    assert notes == []


def test_percentages_that_add_up_in_no_way_are_not_used():
    u, notes = read(shares([("x", 40), ("y", 10)]), source("n", [], [(5,)]))
    assert ranges(u, 0) == [(0, UNLIMITED)] * 2
    assert notes == ["s: the percentages are not used, since they add up to 100 in no way; say of "
                     "what they are, 's | percent(VARIABLE)'."]  # fmt: skip


def test_percentages_of_a_number_that_no_table_shows_are_not_used():
    u, notes = read(shares([("x", 40), ("y", 60)]), source("n", ["a"], [("x", None), ("y", 3)]))
    assert ranges(u, 0) == [(0, UNLIMITED)] * 2
    assert notes == ["s: 2 percentages are not used, since no table shows the number of persons "
                     "that they are of."]  # fmt: skip


def test_the_number_may_be_made_up_of_figures():
    u, _ = read(shares([("x", 40), ("y", 60)]), source("n", ["b"], [("p", 2), ("q", 3)]))
    assert ranges(u, 0) == [(2, 2), (3, 3)]


def test_percentages_of_some_within_a_group_are_of_all_in_it():
    """Only the unemployed are listed: 12.5 % of 8 persons is one, of a group that is not listed."""
    rows = [("N", "unemployed", "12.5"), ("S", "unemployed", "10.0")]
    number = source("n", ["region"], [("N", 8), ("S", 10)])
    u, notes = read(shares(rows, ("region", "status"), ("region",)), number)
    assert ranges(u, 0) == [(1, 1), (1, 1)]
    assert notes == []


def test_percentages_of_a_part_are_of_the_part():
    rows = [("N", "unemployed", "12.5")]
    part = {"part": {"sex": "F"}}
    number = source("n", ["region", "sex"], [("N", "F", 8), ("N", "M", 80)])
    u, _ = read(shares(rows, ("region", "status"), ("region",), **part), number)
    assert ranges(u, 0) == [(1, 1)]


def test_percentages_that_fall_short_where_nobody_knows_the_others():
    """Women and men who add up to 60 %, of persons of whom no table gives the number."""
    rows = [("F", "L", 30), ("M", "L", 30)]
    number = source("n", ["sex", "side"], [("F", "L", 3), ("M", "L", 3)])
    u, notes = read(shares(rows, ("sex", "side"), ("side",)), number)
    # All there is are women and men of L: their number is 6, and 30 % of it no whole number.
    assert ranges(u, 0) == [(2, 1), (2, 1)]
    assert notes == []


@pytest.mark.parametrize("text", ["1.5", "0.67", "2"])
def test_a_mean_limits_the_sum_of_values(text):
    decimals = len(text.partition(".")[2])
    half = 0.5 * 10**-decimals + 1e-12
    n = 6
    fits = [s for s in range(40) if abs(s / n - float(text)) <= half]
    by_year = source("y", ["age"], [("0", None), ("1", None), ("2", None)])
    u, notes = read(means([(text,)], []), by_year, source("n", [], [(n,)]))
    [one] = u.moments
    assert (one.low, one.high) == (min(fits), max(fits))
    assert one.matrix.toarray().tolist() == [[0, 1, 2]]
    assert notes == []


def test_a_mean_over_bands_gives_two_limits():
    by_band = source("b", ["age"], [("0-4", None), ("5-9", None)])
    u, _ = read(means([("5.0",)], []), by_band, source("n", [], [(10,)]))
    least, greatest = u.moments
    assert least.matrix.toarray().tolist() == [[0, 5]]  # the least that ages may add up to
    assert (least.low, least.high) == (0, 50)
    assert greatest.matrix.toarray().tolist() == [[4, 9]]
    assert (greatest.low, greatest.high) == (50, UNLIMITED)


def test_a_band_without_an_end_gives_one_limit():
    u, _ = read(
        means([("5.0",)], []),
        source("b", ["age"], [("0-4", None), ("5+", None)]),
        source("n", [], [(10,)]),
    )
    [one] = u.moments
    assert (one.low, one.high) == (0, 50)


@pytest.mark.parametrize(
    ("sources", "note"),
    [
        ([means([("5.0",)], []), source("n", ["sex"], [("F", 3), ("M", 4)])],
         "m: the means are not used: no table tells numbers of age apart."),
        ([means([("5.0",)], []), source("n", ["age"], [("x", 3), ("y", 4)])],
         "m: the means are not used: no table tells numbers of age apart."),
        ([means([("5.0",)], []), source("n", ["age"], [("0", 3), ("1", None)])],
         "m: 1 means are not used: no table shows the number of persons."),
    ],
)  # fmt: skip
def test_means_that_are_not_used_say_why(sources, note):
    u, notes = read(*sources)
    assert u.moments == ()
    assert notes == [note]


def test_values_below_0_are_not_weighed():
    table = source("t", ["x"], [("-5", 1), ("3", 4)])
    assert read(means([("1.0",)], [], "x"), table)[0].moments == ()


def test_withheld_percentages_and_means_say_nothing():
    u, _ = read(shares([("x", None), ("y", 60)], of=()), source("n", [], [(5,)]))
    assert ranges(u, 0) == [(0, UNLIMITED), (0, UNLIMITED)]
    u, notes = read(means([(None,)], []), source("n", ["age"], [("0", 3), ("1", 2)]))
    assert (u.moments, notes) == ((), [])
