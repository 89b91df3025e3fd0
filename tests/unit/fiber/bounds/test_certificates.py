"""Certificates: each is checked in whole numbers, against every point, and fails when changed."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from discreet.fiber.bounds import certificates
from discreet.fiber.bounds.certificates import Ranges, at_least, at_most
from discreet.fiber.system.linear_system import UNLIMITED


def ranges(rows, low, high):
    return Ranges(
        matrix=csr_array(np.array(rows, dtype=np.int64)),
        low=np.array(low, dtype=np.int64),
        high=np.array([UNLIMITED if h is None else h for h in high], dtype=np.int64),
    )


def holds(own, cells, found):
    """Whether weights prove the bound, in whole numbers, written down anew."""
    sign = 1 if found.is_upper else -1
    total = [0] * own.matrix.shape[1]
    limit = 0
    dense = own.matrix.toarray().tolist()
    for row, weight in zip(found.rows, found.weights, strict=True):
        total = [t + sign * weight * a for t, a in zip(total, dense[row], strict=True)]
        # What bounds from above has its greatest value where it is added, else its least.
        end = own.high[row] if sign * weight > 0 else own.low[row]
        if end == UNLIMITED:
            return False
        limit += sign * weight * int(end)
    wanted = [sign * found.denominator * (cell in cells) for cell in range(len(total))]
    covers = all(t >= w for t, w in zip(total, wanted, strict=True))
    is_equal = total == wanted
    return (
        covers
        and is_equal == found.is_equal
        and sign * (limit // found.denominator) == found.value
        and found.denominator > 0
    )


def made(seed):
    """Ranges about a few cells, all points that fit, and some cells."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 5))
    truth = rng.integers(0, 3, size=n)
    rows = rng.integers(0, 2, size=(4, n))
    rows[-1] = 1
    rows = rows[rows.any(axis=1)]
    sums = rows @ truth
    wide = (rng.random(len(rows)) < 0.4) * rng.integers(0, 2, size=len(rows))
    low, high = np.maximum(sums - wide, 0), sums + wide
    own = ranges(rows, low, high)
    points = [
        point
        for point in product(range(int(high[-1]) + 1), repeat=n)
        if np.all(rows @ point >= low) and np.all(rows @ point <= high)
    ]
    cells = np.flatnonzero(rng.random(n) < 0.5)
    return own, np.array(points), cells if len(cells) else np.array([0])


@pytest.mark.parametrize("seed", range(60))
def test_what_is_proved_is_true_of_every_point_and_checked_in_whole_numbers(seed):
    own, points, cells = made(seed)
    sums = points[:, cells].sum(axis=1)
    inside = set(cells.tolist())
    for prove, best, worse in ((at_most, sums.max(), 1), (at_least, sums.min(), -1)):
        found = prove(own, cells, int(best))
        if found is not None:
            assert found.value == best
            assert holds(own, inside, found)
        # What is not true has no proof.
        assert prove(own, cells, int(best) - worse) is None


@pytest.mark.parametrize("seed", range(60))
def test_what_linear_programming_proves_has_a_certificate(seed):
    own, points, cells = made(seed)
    sums = points[:, cells].sum(axis=1)
    for prove, best, sign in ((at_most, sums.max(), 1), (at_least, sums.min(), -1)):
        proved = np.floor(linear_bound(own, cells, sign) + 1e-9) <= sign * best
        assert (prove(own, cells, int(best)) is not None) == proved


def linear_bound(own, cells, sign):
    """The greatest sum of the cells, or minus the least, over points that need not be whole."""
    dense = own.matrix.toarray()
    costs = np.zeros(dense.shape[1])
    costs[cells] = -sign
    sides = {"A_ub": np.vstack([dense, -dense]), "b_ub": np.concatenate([own.high, -own.low])}
    return -linprog(costs, **sides, method="highs").fun


@pytest.mark.parametrize("seed", range(30))
def test_a_certificate_with_a_weight_changed_fails(seed):
    own, points, cells = made(seed)
    sums = points[:, cells].sum(axis=1)
    inside = set(cells.tolist())
    for prove, best in ((at_most, sums.max()), (at_least, sums.min())):
        found = prove(own, cells, int(best))
        for i in range(0 if found is None else len(found.rows)):
            for change in (-1, 1):
                weights = list(found.weights)
                weights[i] += change
                other = replace(found, weights=tuple(weights))
                # Another weight may prove another bound, but not that it is the sum itself.
                assert not (other.is_equal and holds(own, inside, other))


def test_a_difference_of_two_figures():
    own = ranges([[1, 1, 1], [1, 1, 0]], [23, 20], [23, 20])
    found = at_most(own, np.array([2]), 3)
    assert (found.rows, found.weights, found.denominator) == ((0, 1), (1, -1), 1)
    assert (found.value, found.is_equal, found.is_upper) == (3, True, True)
    found = at_least(own, np.array([2]), 3)
    assert (found.rows, found.weights, found.is_upper) == ((0, 1), (1, -1), False)
    assert holds(own, {2}, found)


def test_three_pairs_need_a_denominator():
    own = ranges([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [0] * 3, [1] * 3)
    found = at_most(own, np.array([0, 1, 2]), 1)  # 3/2, so at most 1
    assert (found.weights, found.denominator, found.value) == ((1, 1, 1), 2, 1)
    assert at_most(own, np.array([0, 1, 2]), 0) is None


def test_a_figure_without_an_upper_limit_proves_nothing_from_above():
    own = ranges([[1, 0], [1, 1]], [0, 2], [None, None])
    assert at_most(own, np.array([0]), 5) is None
    assert at_least(own, np.array([0, 1]), 2).value == 2
    assert at_least(own, np.array([0, 1]), 3) is None


def test_nobody_is_less_than_nobody():
    own = ranges([[1, 1]], [0], [3])
    found = at_least(own, np.array([0]), 0)
    assert (found.rows, found.value) == ((), 0)
    assert holds(own, {0}, found)


def test_only_figures_near_the_cells_are_used():
    own = ranges(np.kron(np.eye(5, dtype=int), [[1, 1], [1, 0]]), [3, 1] * 5, [3, 1] * 5)
    found = at_most(own, np.array([3]), 2)
    assert found.rows == (2, 3)


def test_so_many_figures_are_not_searched(monkeypatch):
    monkeypatch.setattr(certificates, "MOST_ROWS", 1)
    own = ranges([[1, 1, 1], [1, 1, 0]], [23, 20], [23, 20])
    assert at_most(own, np.array([0]), 20) is None


def test_weights_from_the_solver_are_not_trusted():
    own = ranges([[1, 1, 1], [1, 1, 0]], [23, 20], [23, 20])
    wanted, rows = np.array([0, 0, 1]), np.array([0, 1])
    checked = certificates._checked
    assert checked(own, rows, np.array([1.0, -1.0]), wanted, 3).value == 3
    assert checked(own, rows, np.array([1.0, -1.0]), wanted, 2) is None  # says more than they prove
    assert checked(own, rows, np.array([1.0, -2.0]), wanted, 3) is None  # does not cover the cells
    assert checked(own, rows, np.array([0.5, -1.0]), wanted, 3) is None


def test_large_figures_are_exact():
    own = ranges([[1, 1], [1, 0]], [2**52, 2**52 - 1], [2**52, 2**52 - 1])
    found = at_most(own, np.array([1]), 1)
    assert found is None or holds(own, {1}, found)
