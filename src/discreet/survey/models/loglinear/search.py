"""Forward search over decomposable log-linear models by the minimum-error criterion.

From independence on, the pair of keys is joined that brings B̂ / √v (see `minimum_error`) nearest
to zero, for τ₁ or τ₂ whichever is further off, as long as the graph stays decomposable and the
criterion improves (skinner-shlomo 2008). While it is worse than chance allows, some steps are taken
though none improves it: two pairs may help together where neither does alone.

Only pairs that the records support are tried: those that raise twice the log likelihood by more
than twice the number of parameters they add, the strongest first. Otherwise a pair of large keys,
most of whose combinations occur once, would do as a mere correction of the criterion. Every model
tried has a closed-form fit, and B̂ is summed over all possible cells without listing them, so the
search works on tables of any size.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.numerics.graphs import Graph, Keys
from discreet.numerics.rounding import above, first_largest, order_of
from discreet.progress import Progress, silent
from discreet.survey.models.loglinear.cell_sums import Subtrees, TooManyCells, sum_over_cells
from discreet.survey.models.loglinear.decomposable import DecomposableFit
from discreet.survey.models.loglinear.minimum_error import BothCriteria, MinimumError
from discreet.survey.models.loglinear.occupied_cells import OccupiedCells

WIDTH = 12  # best-supported pairs that are tried at each step
LARGEST_CLIQUE = 5  # keys; tables of more are mostly empty and say nothing
BUDGET = 6e8  # cells and nodes that may be looked at in all: some twenty seconds
BY_CHANCE, PATIENCE = 1.0, 3  # |B̂| / √v above which so many steps may pass without a gain
SAME_DISTANCE = 1e3  # so that |B̂| / √v that differ by 1e-6 are alike: those of like keys differ by
# what the order of their sums leaves, up to 1e-11, and nobody tells a millionth of a standard error
CLOSE_MEAN = 4.0  # population mean up to which cells are summed by power sums


@dataclass(frozen=True, slots=True)
class Judged:
    """A model and what the criterion says of it for τ₁ and for τ₂."""

    graph: Graph
    uniques: MinimumError
    matches: MinimumError

    @property
    def distance(self) -> float:
        """The larger |B̂| / √v of the two."""
        return max(abs(self.uniques.standardised), abs(self.matches.standardised))


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The models from independence to the chosen one, and all that were tried.

    `complete` is False if the budget ran out before no pair of keys improved the criterion.
    """

    path: tuple[Judged, ...]
    tried: tuple[Judged, ...]
    complete: bool

    @property
    def chosen(self) -> Judged:
        """The model nearest to no error."""
        return self.path[-1]

    def rivals(self, most: int, within: float = 1.0) -> tuple[Judged, ...]:
        """The chosen model and others that the data do not tell from it, the nearest first.

        Those whose |B̂| / √v is at most `within` above that of the chosen model.
        """
        limit = self.chosen.distance + within
        near = sorted((j for j in self.tried if j.distance <= limit), key=lambda j: j.distance)
        return tuple(near[:most])


def forward_search(
    cells: OccupiedCells,
    sampling_fraction: float,
    *,
    width: int = WIDTH,
    largest_clique: int = LARGEST_CLIQUE,
    budget: float = BUDGET,
    progress: Progress = silent,
) -> Search:
    """The decomposable model of minimum error, by joining one pair of keys at a time.

    Trusted: 0 < sampling_fraction ≤ 1 and at least one record. Cost: for each model tried, the
    occupied cells once for every key, and the cells with a population mean above 4 once.
    """
    seeker = _Seeker(cells, sampling_fraction, budget)
    path = [seeker.judged(Graph.empty(len(cells.sizes)), always=True)]
    best = 0
    while path[best].distance > 0 and len(path) - best <= _patience(path[best]):
        progress("searching a log-linear model", None)
        tried = list(seeker.extensions(path[-1].graph, width, largest_clique))
        if not tried:
            break
        nearest = tried[first_largest([-judged.distance for judged in tried], scale=SAME_DISTANCE)]
        path.append(nearest)
        if above(path[best].distance, nearest.distance, scale=SAME_DISTANCE):
            best = len(path) - 1
    chosen = tuple(path[: best + 1])
    return Search(path=chosen, tried=tuple(seeker.tried), complete=seeker.left > 0)


def _patience(best: Judged) -> int:
    """Steps beyond the best model so far that may be taken."""
    return 1 if best.distance <= BY_CHANCE else PATIENCE


class _Seeker:
    """Judges models while the budget lasts."""

    def __init__(self, cells: OccupiedCells, sampling_fraction: float, budget: float) -> None:
        self.cells = cells
        self.sampling_fraction = sampling_fraction
        self.criteria = BothCriteria(sampling_fraction)
        self.functions = self.criteria.functions()
        self.subtrees = Subtrees(cells)
        self.left = budget
        self.tried: list[Judged] = []
        self._weighed: dict[Keys, float] = {}

    def judged(self, graph: Graph, *, always: bool = False) -> Judged:
        """The model with its criterion; raises TooManyCells where the budget does not suffice."""
        steps, limit = graph.steps, CLOSE_MEAN * self.sampling_fraction
        sums = sum_over_cells(
            self.cells,
            steps,
            self.functions,
            limit,
            budget=math.inf if always else self.left,
            subtrees=self.subtrees,
            direct=self.criteria.totals,
        )
        self.left -= sums.n_rows + len(self.cells) * len(steps)
        count, mean = self.cells.sample_count, DecomposableFit(graph, self.cells).sample_mean
        self.tried.append(Judged(graph, *self.criteria.of_sums(count, mean, sums.value)))
        return self.tried[-1]

    def extensions(self, graph: Graph, width: int, largest_clique: int) -> Iterator[Judged]:
        """The best-supported models with one more pair of keys, as far as the budget goes."""
        base = self.support(graph)
        wider = [
            (self.support(g), g)
            for g in extended(graph, self.cells, largest_clique)
            if self.left > 0
        ]
        better = [pair for pair in wider if above(pair[0], base)]  # a nested key adds just nothing
        for place in order_of([support for support, _ in better])[:width]:
            candidate = better[place][1]
            if self.left <= 0:
                return
            try:
                yield self.judged(candidate)
            except TooManyCells:
                self.left = 0.0

    def support(self, graph: Graph) -> float:
        """2·log likelihood − 2·parameters, up to a constant: the larger the better supported."""
        return sum(self._weight(step.clique) - self._weight(step.parents) for step in graph.steps)

    def _weight(self, keys: Keys) -> float:
        """2 Σ n(C)·log n(C) − 2·(combinations seen), the part of one margin."""
        if keys not in self._weighed:
            self.left -= len(self.cells) * len(keys)
            total = self.cells.margin(keys).total
            self._weighed[keys] = 2 * float((total * np.log(total)).sum()) - 2 * len(total)
        return self._weighed[keys]


def extended(graph: Graph, cells: OccupiedCells, largest_clique: int) -> Iterator[Graph]:
    """Decomposable graphs with one more edge whose cliques are small enough.

    Keys of one level are left alone: joining them changes nothing.
    """
    useful = [key for key, size in enumerate(cells.sizes) if size > 1]
    for u, v in itertools.combinations(useful, 2):
        if graph.has(u, v) or not graph.may_add(u, v):
            continue
        wider = graph.flipped(u, v)
        if all(
            len(step.clique) <= largest_clique and cells.has_code(step.clique)
            for step in wider.steps
        ):
            yield wider
