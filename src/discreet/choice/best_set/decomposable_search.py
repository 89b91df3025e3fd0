"""The best decomposable release: chordal graphs, with bounds carried along from edge to edge.

For cliques C and separators S of a decomposable set, a small cell's bounds are upper = min n_C and
lower = max(0, Σ n_C − Σ n_S), the latter only where every variable is covered (Dobra and Fienberg
2000). Joining u and v, whose shared neighbours are S, changes them by

    upper' = min(upper, n_{S∪uv}),    Σ' = Σ + n_{S∪uv} − n_{S∪u} − n_{S∪v} + n_S,

so a step costs a few look-ups at the small cells and never the full table. Up to six variables all
safe sets are gone through; beyond, a greedy start is improved by annealing.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from discreet.choice.best_set.margin_requests import Requests, is_more
from discreet.choice.best_set.small_cells import SmallCells
from discreet.clock import work
from discreet.fiber.system.programs import Deadline
from discreet.numerics.arrays import IntArray
from discreet.numerics.bit_sets import all_within, lies_within, maximal_sets, members
from discreet.numerics.graphs import Graph
from discreet.progress import Progress

MOST_LISTED = 6  # variables up to which all sets are gone through
STEPS_A_PAIR = 2000  # annealing steps for each pair of variables
MOST_STEPS = 500_000
WARM, COLD = 0.5, 0.1  # temperature at the start and the end, in what an edge is worth
SET_SECONDS, CELL_SECONDS = 3e-5, 3e-9  # to judge a set, for each small cell
LOOK = 64  # steps between looks at the clock
STEP = "margins: decomposable sets"


@dataclass(frozen=True, slots=True)
class State:
    """A decomposable set: its graph, the variables covered, and what it says of the small cells.

    `sums` is Σ n_C − Σ n_S with every variable taken as covered.
    """

    graph: Graph
    covered: int
    upper: IntArray
    sums: IntArray

    @property
    def sets(self) -> tuple[int, ...]:
        """The margins of the set, none part of another."""
        return maximal_sets([0, *(c for c in self.graph.clique_sets if c & ~self.covered == 0)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The best decomposable set (None where none is allowed), and whether all were gone through."""

    sets: tuple[int, ...] | None
    utility: float
    complete: bool
    n_seen: int


class Gains:
    """What the requests make of each step."""

    def __init__(self, requests: Requests) -> None:
        self.single = {v: 0.0 for one in requests for v in members(one)}
        self._pair: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
        for one, weight in requests.items():
            if one.bit_count() == 1:
                self.single[one.bit_length() - 1] += weight
            for u, v in combinations(members(one), 2):
                self._pair[u, v].append((one ^ 1 << u ^ 1 << v, weight))

    def edge(self, u: int, v: int, shared: int) -> float:
        """The weight of the requests that hold both and lie in the clique which an edge makes."""
        held = self._pair.get((min(u, v), max(u, v)), ())
        return math.fsum(weight for rest, weight in held if rest & ~shared == 0)

    def cover(self, v: int) -> float:
        """The weight of the margin of one variable."""
        return self.single.get(v, 0.0)


class DecomposableSearch:
    """Walks among decomposable sets that are allowed and hold what is already out."""

    def __init__(
        self,
        cells: SmallCells,
        requests: Requests,
        already: Iterable[int],
        *,
        min_width: int | None,
        allowed: Callable[[tuple[int, ...]], bool] | None = None,
    ) -> None:
        """`min_width` asks for bounds of a width, which only widen with less released; `allowed`
        asks anything else of a set, which then has to cover every variable."""
        self.cells, self.requests, self.gains = cells, requests, Gains(requests)
        self.already = maximal_sets(already)
        self.n = len(cells.table.names)
        self._min_width, self._allowed = min_width, allowed
        self.n_seen = 0

    @property
    def monotone(self) -> bool:
        """Whether less released is never less allowed."""
        return self._min_width is not None

    def start(self) -> State:
        """Nothing but the total; every variable where a set has to cover all."""
        zero = np.zeros(len(self.cells), dtype=np.int64)
        total = self.cells.table.total
        sums = zero - total * (self.n - 1)
        for v in range(self.n):
            sums = sums + self.cells.entries(1 << v)
        state = State(Graph.empty(self.n), 0, zero + total, sums)
        for v in range(self.n if self._min_width is None else 0):
            state = self.with_variable(state, v)
        return state

    def is_safe(self, state: State) -> bool:
        """Whether a set is allowed."""
        self.n_seen += 1
        work(SET_SECONDS + CELL_SECONDS * len(self.cells))
        if self._allowed is not None:
            return self._allowed(state.sets)
        lower = np.maximum(state.sums, 0) if self.covers(state) else 0
        return bool((state.upper - lower >= (self._min_width or 0)).all())

    def covers(self, state: State) -> bool:
        """Whether every variable that varies is covered."""
        return self.cells.varying & ~state.covered == 0

    def with_variable(self, state: State, v: int) -> State:
        """The set with one more variable, joined to none."""
        upper = np.minimum(state.upper, self.cells.entries(1 << v))
        return replace(state, covered=state.covered | 1 << v, upper=upper)

    def with_edge(self, state: State, u: int, v: int) -> State:
        """The set with one more edge. Trusted: it may come."""
        shared = state.graph.shared(u, v)
        graph = state.graph.flipped(u, v)
        both = self.cells.entries(shared | 1 << u | 1 << v)
        return State(
            graph,
            state.covered | 1 << u | 1 << v,
            np.minimum(state.upper, both),
            state.sums + self._change(shared, u, v),
        )

    def without_edge(self, state: State, u: int, v: int) -> State:
        """The set with one edge less, its variables still covered. Trusted: it may go."""
        shared = state.graph.shared(u, v)
        graph = state.graph.flipped(u, v)
        sums = state.sums - self._change(shared, u, v)
        smaller = State(graph, state.covered, state.upper, sums)
        upper = np.minimum.reduce([self.cells.entries(one) for one in smaller.sets])
        return replace(smaller, upper=upper)

    def _change(self, shared: int, u: int, v: int) -> IntArray:
        entries = self.cells.entries
        both = entries(shared | 1 << u | 1 << v) + entries(shared)
        return both - entries(shared | 1 << u) - entries(shared | 1 << v)

    def cannot_join(self, state: State, u: int, v: int) -> bool:
        """Whether an edge would break the graph, or make a clique that is narrow by itself."""
        if self._min_width is not None:
            pair = 1 << u | 1 << v
            if self.cells.least(pair) < self._min_width:
                return True
            if self.cells.least(pair | state.graph.shared(u, v)) < self._min_width:
                return True
        return not state.graph.may_add(u, v)

    def utility(self, state: State) -> float:
        """The weight of the requests within the set."""
        sets = state.sets
        inside = (w for one, w in self.requests.items() if lies_within(one, sets))
        return math.fsum(inside)

    def everything(self, deadline: Deadline, progress: Progress) -> Found:
        """The best of all allowed sets, gone through by adding variables and edges.

        Where less released is never riskier, what holds an unsafe set is passed over.
        """
        first = self.start()
        waiting, seen = [first], {(first.covered, *first.graph.near)}
        best: tuple[float, int, State] | None = None
        while waiting and not deadline.passed:
            state = waiting.pop()
            safe = self.is_safe(state)
            if not safe and self._min_width is not None:
                continue
            if safe and all_within(self.already, state.sets):
                worth = (self.utility(state), int(state.upper.min(initial=2**62)))
                if best is None or _is_better(worth, best[:2]):
                    best = (*worth, state)
            waiting.extend(self._one_more(state, seen))
            if self.n_seen % LOOK == 0:
                progress(STEP, None)
        found = None if best is None else best[2].sets
        utility = 0.0 if best is None else best[0]
        complete = not waiting and not deadline.passed
        return Found(sets=found, utility=utility, complete=complete, n_seen=self.n_seen)

    def _one_more(self, state: State, seen: set[tuple[int, ...]]) -> Iterable[State]:
        """The sets with one more variable or edge that were not seen before."""
        near = state.graph.near
        for v in range(self.n):
            if _is_new((state.covered | 1 << v, *near), seen):
                yield self.with_variable(state, v)
        for u, v in combinations(range(self.n), 2):
            if state.graph.has(u, v):
                continue
            after = list(near)
            after[u], after[v] = near[u] | 1 << v, near[v] | 1 << u
            new = _is_new((state.covered | 1 << u | 1 << v, *after), seen)
            if new and not self.cannot_join(state, u, v):
                yield self.with_edge(state, u, v)


def _is_better(one: tuple[float, int], other: tuple[float, int]) -> bool:
    """Whether a set is worth more, or as much with wider bounds."""
    if is_more(one[0], other[0]):
        return True
    return one[1] > other[1] and not is_more(other[0], one[0])


def _is_new(key: tuple[int, ...], seen: set[tuple[int, ...]]) -> bool:
    """Whether a key is seen for the first time; from now on it is not."""
    before = len(seen)
    seen.add(key)
    return len(seen) > before
