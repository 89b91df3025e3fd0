"""Exact distributions of cells of which only the total is known: sums by convolution.

For independent counts x_c with weights w_c, given Σ x_c = b,

    Pr(x_c = k)  ∝  w_c(k) · (sum of the weights of all others with total b − k),

and the others are a convolution of those before c and those behind. Weights w_c(k) e^(θk) have the
same distribution given the total, for any θ. With the θ that makes b the mean of the sum, what
matters lies in the middle of each convolution and is far from the least float; what is lost there
has a probability near the least float itself.
"""

from collections.abc import Sequence

import numpy as np

from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.system.blocks import Block
from discreet.numerics.arrays import BoolArray, FloatArray

ROUNDS = 200
PRODUCT_SECONDS = 4e-9  # of each product of two numbers, three convolutions a cell
STEEPEST = 1e4  # of e^θ by log: weights of any prior fall less steeply


def is_one_total(block: Block) -> bool:
    """Whether the block is one equation with coefficients of one."""
    n = len(block.columns)
    alone = block.matrix.shape[0] == 1 and len(block.matrix.data) == n
    return alone and bool(np.all(block.matrix.data == 1))


def fits(block: Block, budget: Budget) -> bool:
    """Whether the numbers kept and the products of two of them stay within the budget."""
    n, size = len(block.columns), int(block.right[0]) + 1
    products, left = n * size**2, budget.seconds_left
    in_time = left is None or products * PRODUCT_SECONDS <= left
    return size * n <= budget.states and products <= budget.steps and in_time


def given_their_total(logs: Sequence[FloatArray], total: int) -> tuple[float, list[FloatArray]]:
    """log Σ ∏ w_c(x_c) over all x of the total, and the distribution of each x_c given it.

    `logs` are log w_c(0), log w_c(1), …. Trusted: some x has the total.
    """
    weights, scale = _tilted(logs, total)
    before = [np.ones(1)]
    for own in weights[:-1]:
        before.append(np.convolve(before[-1], own)[: total + 1])
    behind, found = np.ones(1), []
    for own, others in zip(weights[::-1], before[::-1], strict=True):
        rest = np.zeros(total + 1)
        summed = np.convolve(others, behind)[: total + 1]
        rest[: len(summed)] = summed
        found.append(own * rest[total - np.arange(len(own))])
        behind = np.convolve(behind, own)[: total + 1]
    log_z = scale + float(np.log(found[0].sum()))
    return log_z, [_padded(p / p.sum(), len(one)) for p, one in zip(found[::-1], logs, strict=True)]


def sum_given_total(logs: Sequence[FloatArray], total: int, inside: BoolArray) -> FloatArray:
    """The distribution of the sum of some of the counts, from 0 to the total, given the total."""
    weights, _ = _tilted(logs, total)
    sums = []
    for part in (inside, ~inside):
        summed = np.ones(1)
        for c in np.flatnonzero(part):
            summed = np.convolve(summed, weights[c])[: total + 1]
        sums.append(_padded(summed, total + 1))
    found = sums[0] * sums[1][::-1]
    return np.asarray(found / found.sum())


def _tilted(logs: Sequence[FloatArray], total: int) -> tuple[list[FloatArray], float]:
    """Weights e^(θk) w(k) up to the total, each scaled to a sum of one, and the log of what all of
    them were scaled by."""
    kept = [one[: total + 1] for one in logs]
    theta = _tilt(kept, total)
    weights, scale = [], -theta * total
    for one in kept:
        tilted = one + theta * np.arange(len(one))
        top = float(tilted.max())
        own = np.exp(tilted - top)
        whole = float(own.sum())
        weights.append(own / whole)
        scale += top + float(np.log(whole))
    return weights, scale


def _padded(p: FloatArray, length: int) -> FloatArray:
    """The distribution with the values beyond the total, which it cannot take."""
    return np.concatenate([p, np.zeros(length - len(p))])


def _tilt(logs: Sequence[FloatArray], total: int) -> float:
    """The θ at which the sum of independent counts has this mean, which rises with θ."""
    longest = max(len(one) for one in logs)
    table = np.full((len(logs), longest), -np.inf)
    for row, one in zip(table, logs, strict=True):
        row[: len(one)] = one
    values = np.arange(longest, dtype=np.float64)
    low, high = -1.0, 1.0
    while _mean(table, values, low) > total and low > -STEEPEST:
        low *= 2
    while _mean(table, values, high) < total and high < STEEPEST:
        high *= 2
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        mean = _mean(table, values, middle)
        if abs(mean - total) <= 1e-3 * (1 + total) ** 0.5:
            return middle
        low, high = (middle, high) if mean < total else (low, middle)
    return (low + high) / 2


def _mean(table: FloatArray, values: FloatArray, theta: float) -> float:
    tilted = table + theta * values
    weights = np.exp(tilted - tilted.max(axis=1, keepdims=True))
    return float(((weights @ values) / weights.sum(axis=1)).sum())
