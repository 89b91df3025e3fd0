"""Linked nodes against a search of the graph, one by one and by SciPy."""

import numpy as np
import pytest

from discreet.numerics import components


def searched(one, other, n):
    near = {i: {i} for i in range(n)}
    for a, b in zip(one.tolist(), other.tolist(), strict=True):
        near[a].add(b)
        near[b].add(a)
    found, label = {}, 0
    for node in range(n):
        if node in found:
            continue
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if here not in found:
                found[here] = label
                waiting.extend(near[here])
        label += 1
    return [found[node] for node in range(n)]


@pytest.mark.parametrize("few", [0, 10**6])
@pytest.mark.parametrize("n_pairs", [1, 5, 20, 60])
def test_components_are_those_of_a_search(monkeypatch, few, n_pairs):
    monkeypatch.setattr(components, "FEW", few)
    rng = np.random.default_rng(n_pairs)
    one, other = rng.integers(0, 40, (2, n_pairs))
    assert components.linked(one, other, 40).tolist() == searched(one, other, 40)
