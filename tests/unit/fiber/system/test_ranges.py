"""Sums within ranges as a system with slacks: the same points, by trying every one."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from discreet.errors import InputError
from discreet.fiber.system.linear_system import UNLIMITED
from discreet.fiber.system.ranges import system_of_ranges


def system(rows, low, high):
    return system_of_ranges(
        csr_array(np.array(rows, dtype=np.int64)),
        np.array(low, dtype=np.int64),
        np.array([UNLIMITED if h is None else h for h in high], dtype=np.int64),
        "row {}".format,
    )


def points_of(own, n):
    """The points of a system, without their slacks."""
    tops = [range(low, high + 1) for low, high in zip(own.lower, own.upper, strict=True)]
    found = [point[:n] for point in product(*tops) if own.holds(np.array(point))]
    assert len(found) == len(set(found))  # slacks follow from the cells
    return set(found)


@pytest.mark.parametrize("seed", range(25))
def test_the_system_has_the_points_of_the_ranges(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    rows = [row for row in rng.integers(0, 2, size=(3, n)).tolist() if any(row)]
    if seed % 3 == 0:
        rows.append((1 + rng.integers(0, 3, size=n)).tolist())  # a moment
    rows.append([1] * n)
    low, high = [], []
    for _ in rows[:-1]:
        least = int(rng.integers(0, 3))
        low.append(least)
        high.append(None if rng.random() < 0.3 else least + int(rng.integers(0, 4)))
    low.append(int(rng.integers(0, 3)))
    high.append(low[-1] + int(rng.integers(0, 3)))
    top = high[-1]
    wanted = {
        point
        for point in product(range(top + 1), repeat=n)
        if all(
            least <= np.dot(row, point) and (most is None or np.dot(row, point) <= most)
            for row, least, most in zip(rows, low, high, strict=True)
        )
    }
    assert points_of(system(rows, low, high), n) == wanted


def test_a_row_about_one_cell_is_a_limit_with_its_name():
    own = system([[1, 0], [1, 1]], [1, 4], [2, 4])
    assert own.matrix.toarray().tolist() == [[1, 1]]
    assert (own.lower.tolist(), own.upper.tolist()) == ([1, 0], [2, 4])
    assert own.limit_names == {0: ("row 0",)}
    assert own.row_names == ("row 1",)


def test_a_range_has_a_slack_that_is_no_wider_than_the_range():
    own = system([[1, 1], [1, 1]], [2, 5], [4, 5])
    assert own.n_named == 2
    assert own.matrix.toarray().tolist() == [[1, 1, 1], [1, 1, 0]]
    assert own.upper.tolist() == [4, 4, 2]


def test_a_weighted_row_about_one_cell_is_no_limit():
    own = system([[2, 0], [1, 1]], [3, 4], [7, 4])
    assert points_of(own, 2) == {(2, 2), (3, 1)}


def test_every_cell_has_a_limit():
    with pytest.raises(InputError, match="cells must be limited from above, got one without a "
                       "limit"):  # fmt: skip
        system([[1, 0], [1, 1]], [0, 0], [3, None])


def test_sums_stay_exact_in_floating_point():
    top = 2**52
    assert system([[1, 0], [0, 1]], [0, 0], [top, top]).upper.tolist() == [top, top]
    assert system([[1, 0], [0, 1], [1, 1]], [0] * 3, [top, top, 5]).n_rows == 1
    with pytest.raises(InputError, match=r"sums of figures must be below 2\*\*53, got a larger"):
        system([[1, 0], [0, 1], [1, 1]], [0, 0, 0], [top, top, None])
