"""Decomposable sets of many variables: a greedy start, then annealing by single edges."""

import math
from itertools import combinations

import numpy as np

from discreet.choice.best_set.decomposable_search import (
    COLD,
    LOOK,
    MOST_STEPS,
    STEP,
    STEPS_A_PAIR,
    WARM,
    DecomposableSearch,
    Found,
    State,
)
from discreet.clock import work
from discreet.fiber.system.programs import Deadline
from discreet.numerics.bit_sets import all_within, axes_of, members
from discreet.numerics.graphs import Graph
from discreet.progress import Progress

STEP_SECONDS = 1e-5  # beside judging a set


def annealed(
    search: DecomposableSearch,
    deadline: Deadline,
    progress: Progress,
    *,
    rng: np.random.Generator,
    enough: float = math.inf,
) -> Found:
    """The best set met: greedy first, then steps that lose weight with a falling probability.

    Ends where a utility of `enough` is reached, after a number of steps set by the number of
    variables, or when the time is over. It never claims to be the best of all.
    """
    first = _first(search)
    if first is None:
        return Found(sets=None, utility=0.0, complete=False, n_seen=search.n_seen)
    start = _greedy(search, first, deadline)
    best = _Walk(search, start, needed=_needed_edges(search), rng=rng).run(
        deadline, progress, enough
    )
    return Found(sets=best.sets, utility=search.utility(best), complete=False, n_seen=search.n_seen)


def _needed_edges(search: DecomposableSearch) -> frozenset[tuple[int, int]]:
    """A chordal graph's edges that hold all margins already out."""
    already = [axes_of(one) for one in search.already]
    return Graph.of_generators(search.n, already).triangulated().edges


def _first(search: DecomposableSearch) -> State | None:
    """The least set that holds what is already out, if it is allowed."""
    state = search.start()
    for one in search.already:
        for v in members(one):
            if not state.covered >> v & 1:
                state = search.with_variable(state, v)
    waiting = sorted(_needed_edges(search))
    while waiting:
        possible = [pair for pair in waiting if state.graph.may_add(*pair)]
        state = search.with_edge(state, *possible[0])
        waiting.remove(possible[0])
    whole = all_within(search.already, state.sets)
    return state if whole and search.is_safe(state) else None


def _greedy(search: DecomposableSearch, state: State, deadline: Deadline) -> State:
    """Adds variables, then the edges worth most, as long as that is allowed."""
    for v in range(search.n):
        larger = search.with_variable(state, v)
        if search.gains.cover(v) > 0 and search.is_safe(larger):
            state = larger
    pairs = list(combinations(range(search.n), 2))
    weight = {pair: search.gains.edge(*pair, 0) for pair in pairs}
    pairs.sort(key=lambda p: (-weight[p], -search.cells.least(1 << p[0] | 1 << p[1]), p))
    grew = True
    while grew and not deadline.passed:
        grew = False
        for u, v in pairs:
            larger_state = _joined(search, state, u, v)
            if larger_state is not None:
                state, grew = larger_state, True
    return state


def _joined(search: DecomposableSearch, state: State, u: int, v: int) -> State | None:
    """The set with an edge that is worth something, if it is allowed."""
    if state.graph.has(u, v) or search.gains.edge(u, v, state.graph.shared(u, v)) <= 0:
        return None
    if search.cannot_join(state, u, v):
        return None
    larger = search.with_edge(state, u, v)
    return larger if search.is_safe(larger) else None


class _Walk:
    """One annealing walk from an allowed set."""

    def __init__(
        self,
        search: DecomposableSearch,
        start: State,
        *,
        needed: frozenset[tuple[int, int]],
        rng: np.random.Generator,
    ) -> None:
        self._search, self._rng = search, rng
        self._now, self._worth = start, search.utility(start)
        self._best, self._best_worth = self._now, self._worth
        pairs = (p for p in combinations(range(search.n), 2) if p not in needed)
        empty = search.start()
        self._pairs = [p for p in pairs if start.graph.has(*p) or not search.cannot_join(empty, *p)]
        self._unit = self._mean_loss()

    def _mean_loss(self) -> float:
        """What an edge of the first set is worth, on average; 1 where none is worth anything."""
        graph = self._now.graph
        losses = [self._search.gains.edge(*p, graph.shared(*p)) for p in graph.edges]
        total = math.fsum(losses)
        return total / len(losses) if total > 0 else 1.0

    def run(self, deadline: Deadline, progress: Progress, enough: float) -> State:
        """The best set met."""
        steps = min(MOST_STEPS, STEPS_A_PAIR * len(self._pairs))
        for step in range(steps):
            if step % LOOK == 0:
                if deadline.passed or self._best_worth >= enough:
                    break
                progress(STEP, step / steps)
            work(STEP_SECONDS)
            heat = self._unit * WARM * (COLD / WARM) ** (step / steps)
            self._step(heat)
        return self._best

    def _step(self, heat: float) -> None:
        u, v = self._pairs[int(self._rng.integers(len(self._pairs)))]
        if self._now.graph.has(u, v):
            self._lose(u, v, heat)
        else:
            self._gain(u, v)
        if self._worth > self._best_worth + 1e-9 * self._unit:
            self._best, self._best_worth = self._now, self._worth

    def _lose(self, u: int, v: int, heat: float) -> None:
        """Takes an edge away with a probability that falls with its worth."""
        loss = self._search.gains.edge(u, v, self._now.graph.shared(u, v))
        unlikely = self._rng.random() >= math.exp(-loss / heat)
        if unlikely or not self._now.graph.may_remove(u, v):
            return
        smaller = self._search.without_edge(self._now, u, v)
        if self._search.monotone or self._search.is_safe(smaller):
            self._now, self._worth = smaller, self._worth - loss

    def _gain(self, u: int, v: int) -> None:
        """Adds an edge where that is allowed."""
        search = self._search
        if search.cannot_join(self._now, u, v):
            return
        larger = search.with_edge(self._now, u, v)
        if search.is_safe(larger):
            new = [x for x in (u, v) if not self._now.covered >> x & 1]
            gain = search.gains.edge(u, v, self._now.graph.shared(u, v))
            self._now = larger
            self._worth += gain + math.fsum(search.gains.cover(x) for x in new)
