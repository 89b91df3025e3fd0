"""Which nodes of a graph are linked, by whatever path."""

import numpy as np
from numpy.typing import NDArray

from discreet.clock import standing_still
from discreet.numerics.arrays import IntArray

FEW = 2000  # pairs that are joined one by one; SciPy's graphs take longer to load


def linked(one: NDArray[np.integer], other: NDArray[np.integer], n: int) -> IntArray:
    """The number of the component of each of n nodes, given pairs that are joined directly.

    Components are numbered by their first node.
    """
    if len(one) > FEW:
        with standing_still():
            from scipy.sparse import csr_array
            from scipy.sparse.csgraph import connected_components
        graph = csr_array((np.ones(len(one), np.int8), (one, other)), shape=(n, n))
        found = connected_components(graph, directed=False)[1]
    else:
        found = np.array(_joined(one.tolist(), other.tolist(), n), dtype=np.int64)
    _, first, place = np.unique(found, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[place], dtype=np.int64)


def _joined(one: list[int], other: list[int], n: int) -> list[int]:
    """A node that stands for the component of each."""
    parent = list(range(n))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in zip(one, other, strict=True):
        parent[root(a)] = root(b)
    return [root(node) for node in range(n)]
