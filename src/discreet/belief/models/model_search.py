"""Decomposable models around what was released, searched from both ends.

A decomposable model is a chordal graph of the variables; its generators are the graph's cliques.
Those that contain the released margins have at least their edges. One search begins with as few
edges as a chordal graph can do with, another with all of them; each follows single edges added or
taken away, always from the best model not yet looked around, as long as that is within a factor of
the best one seen (Occam's window, madigan and raftery 1994). What both found, and how much of the
whole weight either found alone, is the search's own check.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, inf

from discreet.belief.models.generators import HierarchicalModel
from discreet.numerics.graphs import Graph
from discreet.numerics.rounding import first_largest, order_of

WINDOW = 3.0  # natural logarithms below the best model that are still looked around: a factor 20
Edges = frozenset[tuple[int, int]]
Evaluate = Callable[[HierarchicalModel], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSearch:
    """The models found, best first, with log Pr(R | A) of each; those not weighed are left out.

    `from_below` and `from_above` are the shares of the weight of all models found that each search
    found by itself; `complete` is False where a limit on models or time ended a search.
    """

    models: tuple[HierarchicalModel, ...]
    log_evidence: tuple[float, ...]
    from_below: float
    from_above: float
    n_unweighed: int
    complete: bool

    @property
    def agrees(self) -> bool:
        """Whether both searches found nearly all of the weight."""
        return self.complete and min(self.from_below, self.from_above) >= 0.95


def search_models(
    n_variables: int,
    released: Iterable[Sequence[int]],
    evaluate: Evaluate,
    *,
    most: int = 40,
    is_over: Callable[[], bool] = lambda: False,
) -> ModelSearch:
    """Decomposable models that contain the released sets; `evaluate` gives log Pr(R | A) or None.

    `most` models are evaluated by each search. Trusted: `evaluate` answers the same each time or
    remembers; it is asked once for each model.
    """
    sets = [tuple(sorted(set(group))) for group in released]
    needed = frozenset(pair for group in sets for pair in combinations(group, 2))
    every = frozenset(combinations(range(n_variables), 2))
    known: dict[Edges, float | None] = {}

    def weight(edges: Edges) -> float | None:
        if edges not in known:
            cliques = Graph.of_generators(n_variables, edges).cliques
            known[edges] = evaluate(HierarchicalModel.of(n_variables, cliques))
        return known[edges]

    ends = (Graph.of_generators(n_variables, needed).triangulated().edges, every)
    found = [_climb(n_variables, start, needed, weight, most, is_over) for start in ends]
    return _gathered(
        n_variables, known, [seen for seen, _ in found], all(done for _, done in found)
    )


def _climb(
    n: int,
    start: Edges,
    needed: Edges,
    weight: Callable[[Edges], float | None],
    most: int,
    is_over: Callable[[], bool],
) -> tuple[set[Edges], bool]:
    """The graphs met by one search, and whether it came to its natural end."""
    seen: dict[Edges, float | None] = {start: weight(start)}
    looked: set[Edges] = set()
    while True:
        weighed = {edges: own for edges, own in seen.items() if own is not None}
        best = max(weighed.values(), default=None)
        waiting = [
            edges
            for edges, own in seen.items()
            if edges not in looked and (own is None or best is None or own >= best - WINDOW)
        ]
        if not waiting:
            return set(seen), True
        here = waiting[first_largest([-inf if (w := seen[e]) is None else w for e in waiting])]
        looked.add(here)
        for edges in neighbours(n, here, needed):
            if edges in seen:
                continue
            if len(seen) >= most or is_over():
                return set(seen), False
            seen[edges] = weight(edges)


def _gathered(
    n: int, known: dict[Edges, float | None], seen: Sequence[set[Edges]], complete: bool
) -> ModelSearch:
    weighed = {edges: own for edges, own in known.items() if own is not None}
    listed = list(weighed)
    order = [listed[i] for i in order_of([weighed[edges] for edges in listed])]
    top = max(weighed.values(), default=0.0)
    total = sum(exp(own - top) for own in weighed.values())
    shares = [sum(exp(weighed[e] - top) for e in part if e in weighed) for part in seen]
    return ModelSearch(
        models=tuple(HierarchicalModel.of(n, Graph.of_generators(n, e).cliques) for e in order),
        log_evidence=tuple(weighed[edges] for edges in order),
        from_below=shares[0] / total if total else 0.0,
        from_above=shares[1] / total if total else 0.0,
        n_unweighed=len(known) - len(weighed),
        complete=complete,
    )


def neighbours(n_variables: int, edges: Edges, needed: Edges) -> Iterator[Edges]:
    """Chordal graphs that differ by one edge and keep the needed ones."""
    for other in Graph.of_generators(n_variables, edges).neighbours():
        if needed <= other.edges:
            yield other.edges
