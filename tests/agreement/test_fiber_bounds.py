"""Every way of bounding cells × every structure, against a list of all consistent tables."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.oracles.attaining_table import attaining_table
from tests.oracles.certificates import certify

from discreet.errors import InputError
from discreet.fiber.bounds.by_frechet import bounds_by_frechet
from discreet.fiber.bounds.by_programming import bounds_by_programming
from discreet.fiber.bounds.by_shuttle import bounds_by_shuttle
from discreet.fiber.bounds.cell_bounds import Proof, bounds
from discreet.fiber.system.consistency import check, disagreement
from discreet.fiber.system.decomposable import ClosedForm
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.structure import presolve
from discreet.numerics.graphs import junction_tree

MOST = 3  # of any cell of a hidden table
SLOW = settings(max_examples=30)


def all_points(system):
    """Every point of a system with coefficients above zero, column by column."""
    matrix = system.matrix.toarray()
    lists = [[]]
    for j in range(system.n_columns):
        longer = []
        later = matrix[:, j + 1 :]
        least, most = later @ system.lower[j + 1 :], later @ system.upper[j + 1 :]
        for point in lists:
            so_far = matrix[:, :j] @ np.array(point, dtype=np.int64)
            for value in range(system.lower[j], system.upper[j] + 1):
                rest = system.right - so_far - matrix[:, j] * value
                if np.all(rest >= least) and np.all(rest <= most):
                    longer.append([*point, value])
        lists = longer
    return np.array(lists, dtype=np.int64).reshape(-1, system.n_columns)


@st.composite
def statements(draw, contradictory=False):
    """What is known of a hidden table of a few cells: sums, ranges, weights, zeros, known cells."""
    n = draw(st.integers(2, 5))
    hidden = np.array(draw(st.lists(st.integers(0, MOST), min_size=n, max_size=n)))
    total = int(hidden.sum())
    known = [Statement(cells=np.arange(n), low=0, high=total + 1, name="about how many")]
    for i in range(draw(st.integers(1, 4))):
        cells = np.array(draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)))
        weights = np.array(
            draw(st.lists(st.integers(1, 3), min_size=len(cells), max_size=len(cells)))
        )
        value = int(weights @ hidden[cells])
        if contradictory:
            value = max(0, value + draw(st.integers(-2, 2)))
        below, above = draw(st.sampled_from([(0, 0), (0, 0), (1, 0), (0, 1), (2, 1)]))
        low, high = max(0, value - below), value + above
        plain = draw(st.booleans()) and not contradictory
        if plain:
            weights, value = None, int(hidden[cells].sum())
            low, high = max(0, value - below), value + above
        upper = draw(st.sampled_from([high, high, None]))
        known.append(
            Statement(cells=cells, low=low, high=upper, name=f"statement {i}", coefficients=weights)
        )
    return n, known


@SLOW
@given(statements())
def test_bounds_of_any_system_are_those_of_all_its_tables(given_):
    system = system_of(*given_)
    points = all_points(system)[:, : system.n_named]
    found = bounds(system)
    assert found.complete
    assert found.note == ""
    assert found.lower.tolist() == points.min(axis=0).tolist()
    assert found.upper.tolist() == points.max(axis=0).tolist()


@settings(max_examples=30)
@given(statements(), st.integers(0, 10), st.sampled_from(["lower", "upper"]))
def test_certificates_hold_and_name_the_bound(given_, cell, side):
    system = system_of(*given_)
    cell %= system.n_named
    points = all_points(system)[:, cell]
    found = certify(system, cell, side)
    assert found.value == (points.min() if side == "lower" else points.max())
    assert found.holds(system)
    assert found.proof is not Proof.OUTER


@SLOW
@given(statements())
def test_blocks_and_forced_cells_give_back_all_tables(given_):
    system = system_of(*given_)
    points = all_points(system)
    found = presolve(system)
    parts = [all_points(block.system) for block in found.blocks]
    together = {tuple(found.assembled(chosen).tolist()) for chosen in itertools.product(*parts)}
    assert together == {tuple(point) for point in points.tolist()}


@settings(max_examples=80)
@given(statements(contradictory=True))
def test_a_contradiction_is_named_by_an_irreducible_set(given_):
    n, known = given_
    system = system_of(n, known)
    if len(all_points(system)):
        assert system.holds(check(system))
        assert disagreement(system) is None
        return
    with pytest.raises(InputError, match="statements must be true of at least one table"):
        check(system)
    with pytest.raises(InputError, match="statements must be true of at least one table"):
        bounds(system)
    found = disagreement(system)
    assert found.kind in ("no whole-number table", "no table at all")
    if fractions_exist(n, known):  # else one statement, such as 2x = 1, may rule out whole numbers
        assert found.kind == "no whole-number table"


def fractions_exist(n, known):
    """Whether fractions, none below zero, satisfy every statement."""
    rows, most = [], []
    for statement in known:
        row = np.zeros(n)
        row[statement.cells] = 1 if statement.coefficients is None else statement.coefficients
        rows.append(-row)
        most.append(-statement.low)
        if statement.high is not None:
            rows.append(row)
            most.append(statement.high)
    return linprog(np.zeros(n), A_ub=np.array(rows), b_ub=most, bounds=(0, None)).status == 0


@settings(max_examples=80)
@given(st.data())
def test_no_statement_of_the_named_set_can_be_left_out(data):
    """Equations only, so that a set of statements means the same alone as among others."""
    n = data.draw(st.integers(2, 5))
    subsets = st.lists(st.integers(0, n - 1), min_size=2, max_size=n, unique=True)
    known = [Statement(cells=np.arange(n), low=4, high=4, name="total")]
    for i in range(data.draw(st.integers(2, 5))):
        cells, value = np.array(data.draw(subsets)), data.draw(st.integers(0, 5))
        known.append(Statement(cells=cells, low=value, high=value, name=f"sum {i}"))
    found = disagreement(system_of(n, known))
    assume(found is not None)
    named = [s for s in known if s.name in found.statements]
    assert len(named) == len(found.statements)
    limits = [Statement(cells=np.array([j]), low=0, high=5, name="limit") for j in range(n)]
    assert len(all_points(system_of(n, named + limits))) == 0
    for left_out in named:
        rest = [s for s in named if s is not left_out]
        assert len(all_points(system_of(n, rest + limits))) > 0


SHAPES = [(2, 2), (3, 2), (2, 2, 2), (2, 3, 2), (1, 3, 2), (2, 2, 2, 2)]


@st.composite
def released(draw, largest=2):
    """A small table and some of its margins."""
    shape = draw(st.sampled_from(SHAPES))
    cells = int(np.prod(shape))
    values = draw(st.lists(st.integers(0, largest), min_size=cells, max_size=cells))
    axes = st.lists(st.integers(0, len(shape) - 1), max_size=len(shape) - 1, unique=True)
    sets = draw(st.lists(axes, min_size=1, max_size=4))
    return margins_of(np.array(values).reshape(shape), sets)


def tables_of(margins):
    """All tables with these margins; the walk over them is cut where it would be long."""
    system = system_of(margins.n_cells, margins.statements())
    size = np.prod(system.upper + 1.0)
    assume(size < 2e5)
    return all_points(system)


def levels_of(margins):
    return np.argwhere(np.ones(margins.sizes, dtype=bool))


@SLOW
@given(released())
def test_bounds_under_margins_are_those_of_all_tables(margins):
    tables = tables_of(margins)
    found = bounds(margins)
    assert found.complete
    assert found.lower.tolist() == tables.min(axis=0).tolist()
    assert found.upper.tolist() == tables.max(axis=0).tolist()
    named = bounds(margins, cells=levels_of(margins)[::2])
    assert named.lower.tolist() == found.lower[::2].tolist()


@SLOW
@given(released())
def test_cheap_bounds_hold_and_say_when_they_are_exact(margins):
    tables = tables_of(margins)
    for found in (bounds_by_shuttle(margins), bounds_by_frechet(margins, levels_of(margins))):
        assert np.all(found.lower <= tables.min(axis=0))
        assert np.all(found.upper >= tables.max(axis=0))
        sure = found.exact
        assert np.array_equal(found.lower[sure], tables.min(axis=0)[sure])
        assert np.array_equal(found.upper[sure], tables.max(axis=0)[sure])


@SLOW
@given(released(largest=30))
def test_closed_form_agrees_with_programming_and_is_attained(margins):
    assume(junction_tree(margins.tables) is not None)
    closed_form = ClosedForm(margins)
    levels = levels_of(margins)
    found = closed_form.bounds(levels)
    by_programming = bounds_by_programming(system_of(margins.n_cells, margins.statements()))
    assert by_programming.complete
    assert found.lower.tolist() == by_programming.lower.tolist()
    assert found.upper.tolist() == by_programming.upper.tolist()
    for i, cell in enumerate(levels):
        for side in ("lower", "upper"):
            table = attaining_table(closed_form, cell, side)
            assert table.count(cell) == getattr(found, side)[i]
            for axes, margin in margins.tables.items():
                assert np.array_equal(table.margin(axes, margin.shape), margin)


@pytest.mark.parametrize("order", [1, 2])
def test_more_released_never_widens_a_bound(order):
    table = np.random.default_rng(order).poisson(2, (3, 3, 2))
    sets = list(itertools.combinations(range(3), order))
    wider = bounds(margins_of(table, sets[:1]))
    for n in range(2, len(sets) + 1):
        closer = bounds(margins_of(table, sets[:n]))
        assert np.all(closer.lower >= wider.lower)
        assert np.all(closer.upper <= wider.upper)
        wider = closer


def test_systems_of_margins_and_of_statements_are_one():
    margins = margins_of(np.random.default_rng(5).poisson(3, (3, 3, 3)), [(0, 1), (1, 2), (0, 2)])
    system = system_of(margins.n_cells, margins.statements())
    assert isinstance(system, System)
    one, other = bounds(margins), bounds(system)
    assert one.lower.tolist() == other.lower.tolist()
    assert one.upper.tolist() == other.upper.tolist()
