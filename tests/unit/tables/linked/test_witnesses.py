"""Tables that fit and differ wherever they can, listed or as corners."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.unit.tables.linked.linking import source, universe

from discreet.clock import Clock, work
from discreet.errors import InputError
from discreet.progress import silent
from discreet.tables.linked import witnesses as module
from discreet.tables.linked.reduced import reduced
from discreet.tables.linked.witnesses import witnesses


def hidden(n, withheld=(), step=1):
    """A square of n × n with its margins, and figures inside shown but for those withheld."""
    counts = np.add.outer(np.arange(n), np.arange(n)) * step % 4
    rows = [(f"r{i}", "Total", int(counts[i].sum())) for i in range(n)]
    rows += [("Total", f"c{j}", int(counts[:, j].sum())) for j in range(n)]
    rows += [
        (f"r{i}", f"c{j}", None if (i, j) in withheld else int(counts[i, j]))
        for i in range(n)
        for j in range(n)
    ]
    return source("t", ["row", "column"], rows)


ALL = {(i, j) for i in range(3) for j in range(3)}


def seen_of(table, **options):
    known = reduced(universe(table))
    return known, witnesses(known, Clock(None), silent, **options)


@pytest.fixture
def unlisted(monkeypatch):
    monkeypatch.setattr(module, "MOST_LISTED", 0)


def test_small_blocks_are_listed():
    known, seen = seen_of(hidden(3, {(0, 0), (0, 1), (1, 0), (1, 1)}))
    [view] = seen.views
    assert view.is_listed
    assert seen.is_settled
    sums = known.universe.matrix[known.kept]
    assert view.points
    assert sums.shape[0]


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize(
    "withheld", [{(0, 0), (0, 1), (1, 0), (1, 1)}, ALL, {(0, 0), (0, 1), (1, 1), (1, 2), (2, 0)}]
)
def test_atoms_that_all_witnesses_agree_in_are_the_same_in_every_table(
    withheld, listed, monkeypatch
):
    exact = seen_of(hidden(3, withheld))[1]
    n = exact.known.universe.n_atoms
    if not listed:
        monkeypatch.setattr(module, "MOST_LISTED", 0)
    own = seen_of(hidden(3, withheld))[1]
    assert all(view.is_listed == listed for view in own.views)
    assert own.is_settled
    (low, high), (least, most) = (one.sums(np.arange(n), n) for one in (own, exact))
    assert np.array_equal(high - low < 1e-6, most == least)
    # What was found lies within what there is.
    assert np.all(low >= least - 1e-6)
    assert np.all(high <= most + 1e-6)


@pytest.mark.usefixtures("unlisted")
def test_sums_of_atoms_are_settled_too():
    known, seen = seen_of(hidden(3, ALL))
    rows = np.unravel_index(known.universe.first_cell, known.universe.shape)[0]
    seen.settle(rows, np.ones(3, dtype=bool), Clock(None), silent)
    low, high = seen.sums(rows, 3)
    assert np.allclose(low, high)  # the rows are printed
    assert seen.is_settled


@pytest.mark.usefixtures("unlisted")
def test_without_time_nothing_is_settled():
    known = reduced(universe(hidden(3, ALL)))
    clock = Clock(0.5)
    work(1.0)
    seen = witnesses(known, clock, silent)
    assert not seen.is_settled
    n = known.universe.n_atoms
    low, high = seen.sums(np.arange(n), n)
    lower, upper = known.limits()
    assert np.array_equal(low, lower)
    assert np.array_equal(high, upper)


@pytest.mark.usefixtures("unlisted")
def test_so_many_corners_leave_a_block_open(monkeypatch):
    monkeypatch.setattr(module, "MOST_CORNERS", 0)
    assert not seen_of(hidden(3, ALL))[1].is_settled


def test_a_block_without_a_table_is_a_contradiction():
    # Sums by threes of which each row alone can be met, but not all in whole numbers.
    table = source(
        "t", ["a", "b", "c"],
        [("x", "Total", "Total", 1), ("y", "Total", "Total", 1), ("Total", "x", "Total", 1),
         ("Total", "y", "Total", 1), ("Total", "Total", "x", 1), ("Total", "Total", "y", 1),
         ("x", "x", "Total", 0), ("y", "y", "Total", 0), ("x", "Total", "x", 0),
         ("y", "Total", "y", 0), ("Total", "x", "x", 0), ("Total", "y", "y", 0)],
    )  # fmt: skip
    with pytest.raises(InputError, match="statements must be true of at least one table"):
        seen_of(table)


def test_atoms_without_a_limit_may_hold_anybody():
    known, seen = seen_of(source("t", ["sex"], [("F", 5), ("M", None)]))
    low, high = seen.sums(np.arange(2), 2)
    free = known.block_of == -2
    assert high[free].tolist() == [np.inf]
    assert (low[~free], high[~free]) == ([5], [5])


def test_forms_that_agree_in_all_points():
    [view] = seen_of(hidden(3, {(0, 0), (0, 1), (1, 0), (1, 1)}))[1].views
    n = view.block.system.n_columns
    same = view.same(csr_array(np.vstack([np.eye(n), np.ones((1, n))])))
    assert not same[:n].any()
