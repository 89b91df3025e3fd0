"""Tables as a system: what is implied is left out, atoms without a limit are set aside."""

import numpy as np
import pytest
from tests.unit.tables.linked.linking import SQUARE, source, universe

from discreet.data.published.published_table import Statistic
from discreet.errors import InputError
from discreet.fiber.system.linear_system import UNLIMITED
from discreet.tables.linked.reduced import all_ranges, reduced


def test_implied_figures_are_no_rows():
    known = reduced(universe(SQUARE))
    assert sorted(known.kept.tolist()) == [0, 1, 3, 4]
    assert known.system.n_rows == 0  # each is about one atom, a limit
    assert known.n_unlimited == 0
    assert known.block_of.tolist() == [-1] * 4
    lower, upper = known.limits()
    assert lower.tolist() == upper.tolist() == [1, 4, 2, 3]


def test_withheld_figures_leave_blocks():
    rows = [("F", "a", None), ("F", "b", None), ("F", "Total", 5), ("M", "a", 2), ("M", "b", 3)]
    known = reduced(universe(source("t", ["sex", "x"], rows)))
    assert known.block_of.tolist() == [0, 0, -1, -1]
    assert len(known.structure.blocks) == 1
    lower, upper = known.limits()
    assert lower.tolist() == [0, 0, 2, 3]
    assert upper.tolist() == [5, 5, 2, 3]


def test_atoms_without_a_limit_are_set_aside_with_what_holds_them():
    rows = [("F", 5), ("M", None)]
    known = reduced(
        universe(source("t", ["sex"], rows), source("u", ["x"], [("a", 3), ("b", None)]))
    )
    # The cells of M and b have no limit; nothing follows from sums that hold them.
    assert known.n_unlimited == 1
    assert known.block_of.tolist().count(-2) == 1
    lower, upper = known.limits()
    assert upper[known.block_of == -2].tolist() == [UNLIMITED]
    assert lower[known.block_of == -2].tolist() == [0]


def test_a_statement_about_unlimited_atoms_is_left_out():
    known = reduced(universe(source("t", ["sex"], [("F", None), ("M", None)])))
    assert known.kept.tolist() == []
    assert known.limited.tolist() == []


def test_figures_that_contradict_each_other_are_named_and_no_more_than_needed():
    tables = [
        source("t", ["sex"], [("F", 6), ("M", None), ("Total", 8)]),
        source("u", ["sex", "r"], [("M", "a", 1), ("M", "b", None)]),
        source("v", ["sex", "r"], [("M", "b", 3), ("F", "b", 0)]),
    ]
    known = reduced(universe(*tables))
    with pytest.raises(InputError, match="smallest set that disagrees: t: sex F, t: total, "
                       "v: sex M, r b$"):  # fmt: skip
        _ = known.structure


def test_all_ranges_are_the_figures_and_behind_them_the_moments():
    u = universe(
        source("n", ["age"], [("0", 2), ("1", 3)]),
        source("m", [], [("0.6",)], statistic=Statistic.MEAN, of=("age",)),
    )
    every = all_ranges(u)
    assert every.matrix.shape[0] == u.n_figures + len(u.moments)
    assert every.matrix.toarray()[-1].tolist() == [0, 1]
    assert u.figure_of(u.n_figures) == 2
    assert u.figure_of(1) == 1
    known = reduced(u)
    assert np.array_equal(known.kept_ranges.low, every.low[known.kept])
