"""Sums of a smooth function over a long run of integers, from a few hundred of its values.

Σ f(t) over a block of L integers is a Gauss quadrature for the counting measure: its nodes are the
zeros of the discrete Chebyshev (Gram) polynomials, and m of them are exact for every polynomial of
degree below 2m. A block no longer than its distance from the nearest singularity of f leaves an
error of about 5.8^(−2m) of the terms, so blocks that double in length carry a sum from one integer
to a billion with twelve values each. The first integers are added one by one.

So sums such as Σ log(θ + iα) over millions of cells, and their derivatives, cost the same as over
thousands, need no lgamma of a large number and have no special case at α = 0.
"""

from functools import lru_cache

import numpy as np

from discreet.numerics.arrays import FloatArray, read_only

ORDER = 12  # values a block: 5.8^(−24) is below 1e-18
ONE_BY_ONE = 32  # integers below this are added singly
STRIDE = 8  # that many at a time

Nodes = tuple[FloatArray, FloatArray]


@lru_cache(maxsize=4096)
def block_rule(length: int) -> Nodes:
    """Nodes in [0, length) and weights whose sum is `length`; the integers themselves if few."""
    if length <= ORDER:
        return _frozen(np.arange(length, dtype=np.float64), np.ones(length))
    k = np.arange(1.0, ORDER)
    beside = k * np.sqrt((length / 2 - k / 2) * (length / 2 + k / 2) / (4 * k * k - 1))
    centred, vectors = np.linalg.eigh(np.diag(beside, 1) + np.diag(beside, -1))
    return _frozen(centred + (length - 1) / 2, length * vectors[0] ** 2)


@lru_cache(maxsize=512)
def integer_nodes(start: int, stop: int, beyond: int | None = None) -> Nodes:
    """Nodes t and weights w with Σ w f(t) = Σ f(i) over start ≤ i < stop.

    Trusted: 1 ≤ start, and f is analytic but for singularities at numbers below 1 and, where
    `beyond` is given, from that number ≥ stop on.
    """
    blocks, here = [], start
    while here < stop:
        length = STRIDE if here < ONE_BY_ONE else 1 << (here.bit_length() - 1)
        if beyond is not None:
            length = min(length, _room(beyond - here))
        blocks.append((here, min(length, stop - here)))
        here += length
    return joined(blocks)


def _room(distance: int) -> int:
    """The longest power of two that stays as far from a singularity as it is long."""
    return max(STRIDE, 1 << max(0, (distance // 2).bit_length() - 1))


def joined(blocks: list[tuple[int, int]]) -> Nodes:
    """Nodes and weights of blocks of integers, each given by its first integer and its length."""
    if not blocks:
        return _frozen(np.empty(0), np.empty(0))
    rules = [block_rule(length) for _, length in blocks]
    nodes = np.concatenate([start + t for (start, _), (t, _) in zip(blocks, rules, strict=True)])
    return _frozen(nodes, np.concatenate([weights for _, weights in rules]))


def _frozen(nodes: FloatArray, weights: FloatArray) -> Nodes:
    """Both read-only, because they are shared."""
    read_only(nodes)
    read_only(weights)
    return nodes, weights
