"""Tables walked through keep their margins, and what they show is attained."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.fiber.bounds.attained_by_moves import attained_by_moves, minimal_non_faces
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.bounds.kernels import push_cells
from discreet.fiber.system.margins import all_margins, margins_of
from discreet.fiber.system.programs import Deadline


def test_cubes_of_all_margins_of_one_order_have_one_variable_more():
    assert minimal_non_faces(all_margins(5, 2), (2,) * 5) == list(combinations(range(5), 3))


def test_cubes_of_a_chain_join_what_is_not_joined():
    assert minimal_non_faces([(0, 1), (1, 2)], (2, 3, 4)) == [(0, 2)]


def test_variables_of_one_level_take_no_part():
    assert minimal_non_faces([(0,), (1,), (2,)], (2, 1, 3)) == [(0, 2)]


@settings(max_examples=40)
@given(
    st.sampled_from([((3, 4), 1), ((2, 3, 4), 2), ((3, 3, 3), 1), ((2, 2, 2, 2), 2)]),
    st.integers(0, 2**32 - 1),
)
def test_every_table_on_the_way_has_the_margins(case, seed):
    shape, order = case
    rng = np.random.default_rng(seed)
    table = rng.poisson(2, shape)
    sets = all_margins(len(shape), order)
    cubes = minimal_non_faces(sets, shape)
    starts = np.cumsum([0, *map(len, cubes)])
    flat, strides = np.concatenate(cubes), np.array(table.strides) // 8
    now, least, most = table.ravel().copy(), table.ravel().copy(), table.ravel().copy()
    far = np.zeros(table.size, np.int64), np.full(table.size, table.sum())
    state = rng.integers(1, 2**63, 1).astype(np.uint64)
    for _ in range(10):
        cells = rng.integers(0, table.size, 2)
        push_cells(now, least, most, *far, cells, starts, flat, np.array(shape), strides, 7, state)
        assert now.min() >= 0
        assert np.all((least <= now) & (now <= most))
        walked = margins_of(now.reshape(shape), sets)
        for axes, margin in margins_of(table, sets).tables.items():
            assert np.array_equal(walked.tables[axes], margin)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_seen_lies_within_the_bounds_and_often_reaches_them(seed):
    table = np.random.default_rng(seed).poisson(4, (4, 4, 4))
    margins = margins_of(table, all_margins(3, 2))
    exact = bounds(margins)
    limits = exact.lower, exact.upper
    least, most = attained_by_moves(margins, table, limits, np.arange(64), Deadline(None))
    assert np.all(least >= exact.lower)
    assert np.all(most <= exact.upper)
    assert np.mean(least == exact.lower) > 0.9
    assert np.mean(most == exact.upper) > 0.9


def test_nothing_moves_where_everything_is_released():
    table = np.arange(4).reshape(2, 2)
    limits = np.zeros(4, np.int64), np.full(4, 6)
    least, most = attained_by_moves(
        margins_of(table, [(0, 1)]), table, limits, np.arange(4), Deadline(None)
    )
    assert least.tolist() == most.tolist() == [0, 1, 2, 3]
