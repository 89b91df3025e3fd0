"""The walk's generator against one written with Python's integers; its lines keep to limits."""

import numpy as np
import pytest

from discreet.fiber.draws import walk_kernels as kernels
from discreet.numerics.kernels import kernel

MASK = 2**64 - 1
_below, _bits = kernels._below, kernels._bits


@kernel()
def draw_below(state, sizes, drawn):
    for i in range(len(sizes)):
        drawn[i] = _below(state, sizes[i])


@kernel()
def draw_bits(state, drawn):
    for i in range(len(drawn)):
        drawn[i] = _bits(state)


def turned(number, by):
    return ((number << by) | (number >> (64 - by))) & MASK


def reference(state, n):
    """xoshiro256** as its authors state it."""
    s = list(state)
    for _ in range(n):
        yield turned(s[1] * 5 & MASK, 7) * 9 & MASK
        t = s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = turned(s[3], 45)


@pytest.mark.parametrize("seed", [(1, 2, 3, 4), (2**64 - 1, 7, 2**63, 12345)])
def test_bits_are_those_of_xoshiro(seed):
    state = np.zeros(16, dtype=np.uint64)
    state[:4] = seed
    drawn = np.empty(50, dtype=np.uint64)
    draw_bits(state, drawn)
    assert drawn.tolist() == list(reference(seed, 50))


def test_first_number_of_the_published_state():
    # state 1, 2, 3, 4: s1 * 5 = 10, turned by 7 is 1280, times 9
    assert next(reference((1, 2, 3, 4), 1)) == 11520


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000])
def test_numbers_below_n_are_uniform(n):
    state = np.zeros(16, dtype=np.uint64)
    state[:4] = (11, 12, 13, 14)
    drawn = np.empty(40_000, dtype=np.int64)
    draw_below(state, np.full(len(drawn), n), drawn)
    assert drawn.min() >= 0
    assert drawn.max() < n
    expected = len(drawn) / n
    chi_square = np.sum((np.bincount(drawn, minlength=n) - expected) ** 2) / expected
    assert chi_square < n + 6 * np.sqrt(2 * n)


def test_numbers_below_a_very_large_n_stay_below():
    state = np.zeros(16, dtype=np.uint64)
    state[:4] = (5, 6, 7, 8)
    drawn = np.empty(2000, dtype=np.int64)
    draw_below(state, np.full(len(drawn), 2**52), drawn)
    assert 0 <= drawn.min() < drawn.max() < 2**52
    assert abs(drawn.mean() / 2**51 - 1) < 0.1


def line_walk(values, upper, start, thin, n_rows, flat=False):
    """Two cells whose sum is fixed: one line, so that every draw is from its whole distribution."""
    x = np.array([start, upper - start])
    weights = kernels.Weights(flat, values, np.zeros(2, np.int64), np.zeros(2))
    limits = kernels.CellLimits(np.zeros(2, np.int64), np.full(2, upper))
    moves = kernels.Listed(np.array([0, 2]), np.array([0, 1]), np.array([1, -1]))
    state = np.zeros(16, dtype=np.uint64)
    state[:4] = (3, 1, 4, 1)
    kept = np.empty((n_rows, 1), dtype=np.int64)
    keep = kernels.Keep(thin, np.array([0]), kept)
    kernels.walk_listed(x, limits, moves, weights, state, keep)
    assert x.sum() == upper
    return kept[:, 0]


def test_long_lines_have_their_distribution_through_windows():
    """A binomial on 0 … 1000, drawn through windows of 64 points with random spacing."""
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 1001)))])
    drawn = line_walk(-log_factorial, 1000, 0, 20, 20_000)
    assert abs(drawn.mean() - 500) < 1.0
    assert abs(drawn.std() / np.sqrt(250) - 1) < 0.05


def test_flat_lines_are_uniform():
    drawn = line_walk(np.zeros(4), 3, 0, 1, 8000, flat=True)
    assert np.all(np.abs(np.bincount(drawn, minlength=4) - 2000) < 6 * np.sqrt(1500))


def test_short_lines_have_their_exact_distribution():
    drawn = line_walk(-np.array([0.0, 0.0, np.log(2), np.log(6)]), 3, 1, 1, 16_000)
    expected = 16_000 * np.array([1, 3, 3, 1]) / 8
    assert np.sum((np.bincount(drawn, minlength=4) - expected) ** 2 / expected) < 20


def test_steps_of_two_keep_limits():
    x = np.array([5, 3])
    weights = kernels.Weights(True, np.zeros(1), np.zeros(2, np.int64), np.zeros(2))
    limits = kernels.CellLimits(np.array([1, 0]), np.array([9, 5]))
    moves = kernels.Listed(np.array([0, 2]), np.array([0, 1]), np.array([2, -1]))
    state = np.zeros(16, dtype=np.uint64)
    state[:4] = (9, 9, 9, 9)
    kept = np.empty((500, 2), dtype=np.int64)
    kernels.walk_listed(x, limits, moves, weights, state, kernels.Keep(1, np.arange(2), kept))
    assert {tuple(row) for row in kept.tolist()} == {(1, 5), (3, 4), (5, 3), (7, 2), (9, 1)}
