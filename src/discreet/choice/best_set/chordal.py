"""Chordal graphs of the variables, changed an edge at a time.

The cliques of a chordal graph are a decomposable set of margins, and every such set is one. An edge
u–v may come where the variables joined to both separate u from v, and may go where those are joined
to each other; any two nested chordal graphs are linked by such steps (Frydenberg and Lauritzen
1989).
"""

from discreet.choice.best_set.variable_sets import maximal_sets, members


class ChordalGraph:
    """A chordal graph: `near[v]` is the set of variables joined to v."""

    def __init__(self, near: list[int]) -> None:
        self.near = near

    @classmethod
    def empty(cls, n_variables: int) -> "ChordalGraph":
        """No edge."""
        return cls([0] * n_variables)

    def copy(self) -> "ChordalGraph":
        """The same graph, to be changed apart."""
        return ChordalGraph(list(self.near))

    def has(self, u: int, v: int) -> bool:
        """Whether two variables are joined."""
        return bool(self.near[u] >> v & 1)

    def shared(self, u: int, v: int) -> int:
        """The variables joined to both."""
        return self.near[u] & self.near[v]

    def may_add(self, u: int, v: int) -> bool:
        """Whether the graph stays chordal with an edge that it does not have."""
        shared = self.shared(u, v)
        seen = edge = 1 << u
        while edge:
            reached = 0
            for one in members(edge):
                reached |= self.near[one]
            edge = reached & ~seen & ~shared
            seen |= edge
            if seen >> v & 1:
                return False
        return True

    def may_remove(self, u: int, v: int) -> bool:
        """Whether the graph stays chordal without an edge that it has."""
        shared = self.shared(u, v)
        return all(shared & ~(1 << one) & ~self.near[one] == 0 for one in members(shared))

    def flip(self, u: int, v: int) -> None:
        """Adds the edge, or takes it away. Trusted: it may."""
        self.near[u] ^= 1 << v
        self.near[v] ^= 1 << u

    def cliques(self) -> tuple[int, ...]:
        """The largest sets of variables all joined, a lone variable being one."""
        left = dict.fromkeys(range(len(self.near)), 0)
        done, found = 0, []
        while left:
            one = max(left, key=left.__getitem__)
            del left[one]
            found.append(self.near[one] & done | 1 << one)
            done |= 1 << one
            for other in members(self.near[one] & ~done):
                left[other] += 1
        return maximal_sets(found)

    def edges(self) -> frozenset[tuple[int, int]]:
        """The pairs joined."""
        pairs = ((u, v) for u, near in enumerate(self.near) for v in members(near) if u < v)
        return frozenset(pairs)
