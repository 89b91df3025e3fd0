"""Walks reach every consistent table and no other, weighted draws too: against trying all tables."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracles.checked_moves import moves_checked

from discreet.fiber.draws.moves import (
    Cut,
    LoopMoves,
    connecting_moves,
    cuts_of,
    moves_by_4ti2,
    moves_of_margins,
)
from discreet.fiber.draws.sequential import weighted_draws
from discreet.fiber.draws.starts import point_of, starting_points, starting_tables
from discreet.fiber.draws.walk import WalkPlan, line_chains, swap_chains, walk
from discreet.fiber.sums.latte import count_by_latte, executable
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.priors import Multinomial, Uniform
from discreet.figures import Unavailable

few = settings(max_examples=25, suppress_health_check=list(HealthCheck))
algebra = pytest.mark.skipif(executable("markov") is None, reason="the extra algebra is absent")


def known(cells, low, high):
    return Statement(cells=np.array(cells), low=low, high=high, name="known")


def system_with(margins, extra=()):
    return system_of(margins.n_cells, [*margins.statements(), *extra])


def all_tables(system):
    """Every table of the system, cell by cell, given up as soon as a sum is passed."""
    matrix, found = system.matrix.toarray(), []

    def fill(table, left):
        if np.any(left < 0):
            return
        cell = len(table)
        if cell == system.n_named:
            if system.holds(system.completed(np.array(table))):
                found.append(tuple(table))
            return
        for value in range(system.lower[cell], system.upper[cell] + 1):
            fill([*table, value], left - value * matrix[:, cell])

    fill([], system.right)
    return found


def all_points(system):
    points = [system.completed(np.array(table)) for table in all_tables(system)]
    return np.array(points, dtype=np.int64).reshape(-1, system.n_columns)


def met(chains, system, n_draws=3000, thin=4):
    walked = walk(
        chains, WalkPlan(n_draws=n_draws, warm_up=0, thin=thin), np.arange(system.n_named)
    )
    return {tuple(row) for row in walked.tables.reshape(-1, system.n_named).tolist()}


SHAPES = {
    "two-way": ((2, 3), [(0,), (1,)]),
    "chain": ((2, 2, 2), [(0, 1), (1, 2)]),
    "independent": ((2, 2, 2), [(0,), (1,), (2,)]),
    "with a free variable": ((2, 2, 2), [(0,), (1,)]),
    "one margin": ((3, 2), [(0,)]),
    "total": ((4,), [()]),
    "fork": ((2, 2, 2), [(0, 2), (1, 2)]),
    "long chain": ((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3)]),
}


def sparse_table(shape, n_records, seed):
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, int(np.prod(shape)), n_records)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["lines", "swaps"])
@given(n_records=st.integers(0, 5), seed=st.integers(0, 1000))
@settings(few, max_examples=8)
def test_walks_by_formula_meet_every_table(shape, kind, n_records, seed):
    sizes, released = SHAPES[shape]
    margins = margins_of(sparse_table(sizes, n_records, seed), released)
    system = system_with(margins)
    moves = moves_of_margins(margins, system)
    assert isinstance(moves, LoopMoves)
    assert not moves.limited
    rng = np.random.default_rng(seed)
    starts = starting_tables(margins, 2, rng=rng, sparse=bool(seed % 2))
    if kind == "lines":
        chains = line_chains(system, moves, Uniform(), starts, rng=rng)
    else:
        chains = swap_chains(system, margins, moves, Uniform(), starts, rng=rng)
    expected = {tuple(point) for point in all_points(system).tolist()}
    assert met(chains, system) == expected


@given(
    table=st.lists(st.integers(0, 2), min_size=9, max_size=9),
    zeros=st.sets(st.integers(0, 8), max_size=3),
    most=st.dictionaries(st.integers(0, 8), st.integers(0, 2), max_size=2),
)
@few
def test_two_way_walks_with_limits_meet_every_table(table, zeros, most):
    """Structural zeros and upper limits on a 3 × 3 table: four-cell moves alone do not connect."""
    table = np.array(table).reshape(3, 3)
    table.ravel()[list(zeros)] = 0
    extra = [known([cell], 0, 0) for cell in zeros]
    extra += [known([c], 0, max(limit, int(table.ravel()[c]))) for c, limit in most.items()]
    margins = margins_of(table, [(0,), (1,)])
    system = system_with(margins, extra)
    moves = moves_of_margins(margins, system)
    assert isinstance(moves, LoopMoves)
    rng = np.random.default_rng(1)
    chains = line_chains(system, moves, Uniform(), starting_points(system, 2, rng=rng), rng=rng)
    assert met(chains, system, thin=20) == {tuple(p) for p in all_points(system).tolist()}


def test_a_diagonal_of_zeros_needs_the_loop_of_six():
    margins = margins_of(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), [(0,), (1,)])
    system = system_with(margins, [known([cell], 0, 0) for cell in (0, 4, 8)])
    points = all_points(system)
    assert len(points) == 2
    squares = [
        np.eye(9, dtype=np.int64)[[3 * i + k, 3 * j + m]].sum(0)
        - np.eye(9, dtype=np.int64)[[3 * i + m, 3 * j + k]].sum(0)
        for i, j in itertools.combinations(range(3), 2)
        for k, m in itertools.combinations(range(3), 2)
    ]
    stuck = moves_checked(system, np.array(squares), points)
    assert isinstance(stuck, Unavailable)
    assert stuck.reason == "the moves reach 1 of 2 tables"
    moves = moves_of_margins(margins, system)
    assert moves.limited
    chains = line_chains(system, moves, Uniform(), [points[0]], rng=np.random.default_rng(2))
    assert len(met(chains, system, thin=10)) == 2


def test_limits_beside_three_margins_are_refused():
    margins = margins_of(np.ones((2, 2, 2), dtype=np.int64), [(0,), (1,), (2,)])
    moves = moves_of_margins(margins, system_with(margins, [known([0], 0, 1)]))
    assert isinstance(moves, Unavailable)
    assert "limits on cells" in moves.reason


@given(seed=st.integers(0, 10_000), n_records=st.integers(1, 6))
@few
def test_weighted_draws_are_unbiased_and_consistent(seed, n_records):
    """The estimated number of tables lies within six standard errors, and every draw holds."""
    rng = np.random.default_rng(seed)
    margins = margins_of(sparse_table((2, 2, 3), n_records, seed), all_margins(3, 2))
    system = system_with(margins, [known([0, 5, 7], 0, max(1, n_records - 1))])
    points = all_points(system)
    drawn = weighted_draws(system, Uniform(), 300, rng=rng)
    if len(points) == 0:
        assert len(drawn.tables) == 0
        return
    assert all(system.holds(system.completed(table)) for table in drawn.tables)
    estimate = drawn.total()
    assert abs(estimate.value - len(points)) <= 6 * estimate.standard_error + 1e-9


@pytest.mark.parametrize("shape", ["two-way", "chain", "fork"])
@given(seed=st.integers(0, 10_000), n_records=st.integers(1, 6))
@settings(few, max_examples=10)
def test_weighted_columns_are_unbiased_and_never_dead(shape, seed, n_records):
    sizes, released = SHAPES[shape]
    margins = margins_of(sparse_table(sizes, n_records, seed), released)
    system = system_with(margins)
    drawn = weighted_draws(margins, Multinomial(), 200, rng=np.random.default_rng(seed))
    assert "columns" in drawn.how
    assert len(drawn.tables) == 200
    points = all_points(system)
    cells = np.broadcast_to(np.arange(system.n_named), points.shape)
    total = np.exp(Multinomial().log_weight(cells, points).sum(axis=1)).sum()
    estimate = drawn.total()
    assert estimate.value == pytest.approx(total, rel=1e-9)  # hypergeometric: columns are exact


def test_columns_with_limits_agree_with_all_tables():
    margins = margins_of(np.array([[1, 2, 0], [0, 1, 2], [2, 0, 1]]), [(0,), (1,)])
    system = system_with(margins, [known([0], 0, 1), known([4], 0, 0), known([8], 1, 3)])
    drawn = weighted_draws(system, Uniform(), 4000, rng=np.random.default_rng(3), margins=margins)
    assert "columns" in drawn.how
    estimate = drawn.total()
    assert abs(estimate.value - len(all_points(system))) < 5 * estimate.standard_error


@given(seed=st.integers(0, 10_000))
@few
def test_starting_points_are_points_or_none_exists(seed):
    rng = np.random.default_rng(seed)
    margins = margins_of(sparse_table((2, 3), 5, seed), [(0,), (1,)])
    low = int(rng.integers(0, 4))
    system = system_with(margins, [known([0, 4], low, low + 1)])
    point = point_of(system, rng=rng)
    if point is None:
        assert len(all_points(system)) == 0
    else:
        assert system.holds(point)


@pytest.mark.parametrize("shape", SHAPES)
def test_starting_tables_have_the_margins(shape):
    sizes, released = SHAPES[shape]
    margins = margins_of(sparse_table(sizes, 40, 3), released)
    system = system_with(margins)
    for sparse in (False, True):
        for table in starting_tables(margins, 4, rng=np.random.default_rng(4), sparse=sparse):
            assert system.holds(system.completed(table))


def test_cuts_of_a_star_and_of_no_tree():
    assert cuts_of([(0, 1), (1, 2), (0, 2)]) is None
    star = cuts_of([(0, 1), (0, 2), (0, 3)])
    assert len(star) == 2
    assert all(cut.separator == (0,) for cut in star)
    assert all(set(cut.left) | set(cut.right) == {1, 2, 3} for cut in star)
    assert cuts_of([(0,), (1, 2)]) == (Cut(separator=(), left=(0,), right=(1, 2)),)


@algebra
@given(
    seed=st.integers(0, 10_000),
    most=st.dictionaries(st.integers(0, 7), st.integers(0, 2), max_size=3),
    low=st.integers(0, 2),
)
@settings(few, max_examples=10)
def test_lifted_markov_bases_connect_limits_and_ranges(seed, most, low):
    table = sparse_table((2, 2, 2), 4, seed)
    extra = [known([c], 0, max(limit, int(table.ravel()[c]))) for c, limit in most.items()]
    extra.append(known([0, 3, 5], min(low, int(table.ravel()[[0, 3, 5]].sum())), 3))
    system = system_with(margins_of(table, [(0,), (1,), (2,)]), extra)
    if not system.holds(system.completed(table.ravel())):
        return
    points = all_points(system)
    moves = moves_by_4ti2(system)
    dense = np.zeros((moves.n_moves, system.n_columns), dtype=np.int64)
    for i in range(moves.n_moves):
        part = slice(moves.begin[i], moves.begin[i + 1])
        dense[i, moves.cells[part]] = moves.steps[part]
    assert not isinstance(moves_checked(system, dense, points), Unavailable)
    if executable("count"):
        count = count_by_latte(system)  # LattE fails on some flat systems, but never wrongly
        assert isinstance(count, Unavailable) or count == len(points)


@algebra
def test_walks_on_a_markov_basis_meet_every_table():
    table = np.array([[[1, 0, 1], [0, 1, 0]], [[0, 1, 0], [1, 0, 1]]])
    margins = margins_of(table, all_margins(3, 2))
    system = system_with(margins)
    moves = connecting_moves(system, margins)
    assert "4ti2" in moves.why
    rng = np.random.default_rng(1)
    chains = line_chains(system, moves, Uniform(), starting_points(system, 2, rng=rng), rng=rng)
    assert met(chains, system) == {tuple(point) for point in all_points(system).tolist()}
