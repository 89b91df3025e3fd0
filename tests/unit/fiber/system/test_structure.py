"""Forced cells, equations that add nothing, and blocks."""

import numpy as np
import pytest

from discreet.fiber.bounds.kernels import CONTRADICTION, UNSTABLE, tightened
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.structure import independent_rows, narrowed, presolve, with_rows


def system_for(shape, order, seed=1):
    table = np.random.default_rng(seed).poisson(3, shape)
    margins = margins_of(table, all_margins(len(shape), order))
    return system_of(margins.n_cells, margins.statements())


def test_a_zero_margin_forces_its_cells():
    margins = margins_of(np.array([[0, 0, 0], [1, 2, 3]]), [(0,), (1,)])
    found = presolve(system_of(6, margins.statements()))
    assert found.forced.all()
    assert found.lower.tolist() == [0, 0, 0, 1, 2, 3]
    assert found.blocks == ()


def test_structural_zeros_split_a_table():
    margins = margins_of(
        np.array([[1, 2, 0, 0], [3, 4, 0, 0], [0, 0, 5, 6], [0, 0, 7, 8]]), [(0,), (1,)]
    )
    zeros = [
        Statement(cells=np.array([cell]), low=0, high=0, name="never")
        for cell in (2, 3, 6, 7, 8, 9, 12, 13)
    ]
    found = presolve(system_of(16, [*margins.statements(), *zeros]))
    assert [block.columns.tolist() for block in found.blocks] == [[0, 1, 4, 5], [10, 11, 14, 15]]
    assert [block.system.n_rows for block in found.blocks] == [3, 3]


def test_slacks_go_with_their_rows():
    known = [
        Statement(cells=np.array([0, 1]), low=1, high=3, name="first"),
        Statement(cells=np.array([2, 3]), low=2, high=5, name="second"),
    ]
    found = presolve(system_of(4, known))
    assert [block.columns.tolist() for block in found.blocks] == [[0, 1, 4], [2, 3, 5]]
    assert [block.system.n_named for block in found.blocks] == [2, 2]
    assert [block.system.row_names for block in found.blocks] == [("first",), ("second",)]


@pytest.mark.parametrize(
    ("shape", "order", "rank"),
    [((3, 4), 1, 6), ((3, 3, 3), 2, 19), ((4, 5, 3), 2, 36), ((2,) * 6, 3, 42), ((2,) * 5, 4, 31)],
)
def test_rows_left_are_as_many_as_the_rank(shape, order, rank):
    """Σ over released sets of ∏ (levels − 1): the dimension of the log-linear model."""
    system = system_for(shape, order)
    keep = independent_rows(system)
    assert len(keep) == rank == np.linalg.matrix_rank(system.matrix.toarray())
    assert np.linalg.matrix_rank(with_rows(system, keep).matrix.toarray()) == rank


def test_a_dependent_row_with_another_right_side_is_kept():
    known = [
        Statement(cells=np.array([0, 1]), low=2, high=2, name="one"),
        Statement(cells=np.array([0, 1]), low=3, high=3, name="other"),
    ]
    assert independent_rows(system_of(2, known)).tolist() == [0, 1]


def test_multiples_of_a_row_are_left_out():
    twice = np.array([2, 2])
    known = [
        Statement(cells=np.array([0, 1]), low=6, high=6, name="twice", coefficients=twice),
        Statement(cells=np.array([0, 1]), low=3, high=3, name="once"),
    ]
    assert independent_rows(system_of(2, known)).tolist() == [0]


def test_limits_pass_along_rows_with_weights():
    known = [
        Statement(cells=np.array([0, 1]), low=7, high=7, name="w", coefficients=np.array([3, 2])),
        Statement(cells=np.array([0]), low=1, high=9, name="known"),
    ]
    lower, upper = narrowed(system_of(2, known))
    assert (lower.tolist(), upper.tolist()) == ([1, 2], [1, 2])


def test_propagation_stops_after_its_rounds_and_says_so():
    from scipy.sparse import csr_array

    matrix = csr_array(np.array([[1, -1], [1, -1]]))  # x − y is 0 and 1: a step of one each round
    limits = np.zeros(2, np.int64), np.full(2, 2**50)
    *_, ended, _ = tightened(matrix, np.array([0, 1]), *limits, max_rounds=50)
    assert ended == UNSTABLE
    limits = np.zeros(2, np.int64), np.full(2, 20)
    *_, ended, row = tightened(matrix, np.array([0, 1]), *limits)
    assert (ended, row in (0, 1)) == (CONTRADICTION, True)


def test_sums_beyond_64_bits_conclude_nothing_wrong():
    n, most = 3000, 2**53 - 1
    known = [Statement(cells=np.arange(n), low=most, high=most, name="total")]
    lower, upper = narrowed(system_of(n, known))
    assert lower.max() == 0
    assert upper.min() == most


def test_an_empty_system():
    system = system_of(0, [])
    assert presolve(system).blocks == ()
