"""Graphs on the keys, and which of them make a log-linear model decomposable.

A graph is decomposable (chordal) if its keys can be put into an order in which the earlier
neighbours `parents(v)` of each key v are all neighbours of each other. Its cliques are then the
generators of a log-linear model with a closed-form fit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

Keys = tuple[int, ...]
Edge = tuple[int, int]


class GraphNotDecomposable(ValueError):  # noqa: N818 - a property of the graph
    """The graph has a cycle of four keys or more without a chord."""


@dataclass(frozen=True, slots=True)
class Step:
    """A key and its parents: the earlier neighbours in the order of the keys."""

    key: int
    parents: Keys

    @property
    def clique(self) -> Keys:
        """The key with its parents, ascending."""
        return tuple(sorted((*self.parents, self.key)))


@dataclass(frozen=True)
class Graph:
    """Which keys are associated directly; `edges` are pairs of key positions, ascending."""

    n_keys: int
    edges: frozenset[Edge] = frozenset()

    @classmethod
    def of_generators(cls, n_keys: int, generators: Iterable[Sequence[int]]) -> "Graph":
        """The graph in which the keys of each generator are neighbours of each other."""
        pairs = {
            (min(a, b), max(a, b)) for group in generators for a in group for b in group if a != b
        }
        return cls(n_keys, frozenset(pairs))

    def with_edge(self, edge: Edge) -> "Graph":
        """The graph with one more pair of neighbours."""
        return Graph(self.n_keys, self.edges | {edge})

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The keys in an order of maximum cardinality; raises GraphNotDecomposable."""
        near = self._neighbours()
        seen: list[set[int]] = [set() for _ in near]
        left, steps = set(range(self.n_keys)), []
        while left:
            key = max(left, key=lambda k: (len(seen[k]), -k))
            parents = seen[key]
            if any(len(near[k] & parents) < len(parents) - 1 for k in parents):
                raise GraphNotDecomposable("a cycle of four keys or more has no chord")
            steps.append(Step(key, tuple(sorted(parents))))
            left.remove(key)
            for other in near[key] & left:
                seen[other].add(key)
        return tuple(steps)

    @property
    def is_decomposable(self) -> bool:
        """Whether the closed form exists (tarjan-yannakakis 1984)."""
        try:
            return bool(self.steps) or True
        except GraphNotDecomposable:
            return False

    @property
    def cliques(self) -> tuple[Keys, ...]:
        """Largest sets of neighbours of each other: the generators of the model."""
        groups = [step.clique for step in self.steps]
        largest = [g for g in groups if not any(set(g) < set(other) for other in groups)]
        return tuple(sorted(largest))

    def _neighbours(self) -> list[set[int]]:
        near: list[set[int]] = [set() for _ in range(self.n_keys)]
        for a, b in self.edges:
            near[a].add(b)
            near[b].add(a)
        return near


def bracketed(generators: Iterable[Sequence[int]], names: Sequence[str] | None = None) -> str:
    """Generators as text, such as [0 2][1], or with names in place of positions."""
    return "".join(
        "[" + " ".join(str(key) if names is None else names[key] for key in group) + "]"
        for group in generators
    )
