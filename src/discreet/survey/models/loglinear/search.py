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

Each model is first judged roughly: with a high limit on the means that are summed by power sums
few cells are looked at one by one, and the error of the interpolation gives certain limits of
|B̂| / √v. Only models that these limits leave in the running are judged finely, so the answer is
the one of judging all of them finely.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.numerics.arrays import FloatArray
from discreet.numerics.graphs import Edge, Graph, Keys
from discreet.numerics.rounding import above, first_largest, order_of
from discreet.progress import Progress, silent
from discreet.survey.models.loglinear.cell_sums import (
    CellSums,
    Subtrees,
    TooManyCells,
    sum_over_cells,
)
from discreet.survey.models.loglinear.decomposable import DecomposableFit
from discreet.survey.models.loglinear.minimum_error import BothCriteria, MinimumError
from discreet.survey.models.loglinear.occupied_cells import OccupiedCells

WIDTH = 12  # best-supported pairs that are tried at each step
LARGEST_CLIQUE = 5  # keys; tables of more are mostly empty and say nothing
DEGREE = 20  # of the interpolation, in rough and in fine judgements
ROUGH, FINE = 24.0, 6.0  # population means up to which cells are summed by power sums in each
FEW_NODES = 1 << 13  # up to so many a fine judgement is as quick as a rough one
MARGINS = 4  # that give the means of a wider model: what an occupied cell costs, in nodes
BUDGET = 6e8  # cells and nodes that may be looked at in all: some twenty seconds
BY_CHANCE, PATIENCE = 1.0, 3  # |B̂| / √v above which so many steps may pass without a gain
SAME_DISTANCE = 1e3  # so that |B̂| / √v that differ by 1e-6 are alike: those of like keys differ by
# what the order of their sums leaves, up to 1e-11, and nobody tells a millionth of a standard error
CLOSE_MEAN = 4.0  # population mean up to which cells of the chosen model are so summed


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A model and what the criterion says of it for τ₁ and for τ₂.

    `distance` certainly lies within `limits`; those of a fine judgement are it itself, since its
    error is below what anybody would call a difference. `held` is what occupied cells add to B̂.
    """

    graph: Graph
    uniques: MinimumError
    matches: MinimumError
    limits: tuple[float, float]
    held: tuple[float, float]

    @property
    def distance(self) -> float:
        """The larger |B̂| / √v of the two."""
        return max(abs(self.uniques.standardised), abs(self.matches.standardised))

    @property
    def is_fine(self) -> bool:
        """Whether the distance is known."""
        return self.limits[0] == self.limits[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The models from independence to the chosen one, and all that were tried.

    `complete` is False if the budget ran out before no pair of keys improved the criterion. Some
    models were judged roughly; `finely` judges them again.
    """

    path: tuple[Judged, ...]
    tried: tuple[Judged, ...]
    complete: bool
    finely: Callable[[Judged], Judged] = field(compare=False, repr=False)

    @property
    def chosen(self) -> Judged:
        """The model nearest to no error."""
        return self.path[-1]

    def rivals(self, most: int, within: float = 1.0) -> tuple[Judged, ...]:
        """The chosen model and others that the data do not tell from it, the nearest first.

        Those whose |B̂| / √v is at most `within` above that of the chosen model.
        """
        near = _nearest(self.tried, most, self.chosen.distance + within, self.finely)
        order = order_of([-judged.distance for judged in near], scale=SAME_DISTANCE)
        return tuple(near[place] for place in order[:most])


def _nearest(
    tried: Sequence[Judged], most: int, limit: float, finely: Callable[[Judged], Judged]
) -> list[Judged]:
    """Models up to `limit`, judged finely, in their order: at least the nearest `most` of them.

    Taken from the least that a distance can be on, until the nearest are known.
    """
    known: dict[int, Judged] = {}
    reach = limit
    for place in sorted(range(len(tried)), key=lambda place: tried[place].limits[0]):
        if above(tried[place].limits[0], reach, scale=SAME_DISTANCE):
            break
        judged = finely(tried[place])
        if judged.distance <= limit:
            known[place] = judged
        if len(known) >= most:
            reach = min(limit, sorted(judged.distance for judged in known.values())[most - 1])
    return [known[place] for place in sorted(known)]


def _clearly_nearest(tried: Sequence[Judged], best: Judged) -> Judged | None:
    """The model that all limits put before the others, before the best so far, and beyond what
    chance allows: its distance decides nothing then. None where they do not."""
    nearest = min(tried, key=lambda judged: judged.limits[1])
    others = [judged.limits[0] for judged in (*tried, best) if judged is not nearest]
    is_clear = above(min(others), nearest.limits[1], scale=SAME_DISTANCE)
    return nearest if is_clear and nearest.limits[0] > BY_CHANCE else None


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
    occupied cells once and the cells with a population mean above 24 once; for those in the
    running, the cells with a population mean above 6.
    """
    seeker = _Seeker(cells, sampling_fraction, budget)
    path = [seeker.independence()]
    best = 0
    while path[best].distance > 0 and len(path) - best <= _patience(path[best]):
        progress("searching a log-linear model", None)
        tried = list(seeker.extensions(path[-1].graph, width, largest_clique))
        if not tried:
            break
        nearest = _clearly_nearest(tried, path[best])
        if nearest is None:
            near = _nearest(tried, 1, math.inf, seeker.finely)
            distances = [judged.distance for judged in near]
            nearest = near[first_largest([-d for d in distances], scale=SAME_DISTANCE)]
            path[best] = seeker.finely(path[best])
        path.append(nearest)
        if above(path[best].distance, nearest.distance, scale=SAME_DISTANCE):
            best = len(path) - 1
    path[best] = seeker.finely(path[best])
    return Search(
        path=tuple(path[: best + 1]),
        tried=tuple(seeker.tried.values()),
        complete=seeker.left > 0,
        finely=seeker.finely,
    )


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
        self.subtrees = Subtrees(cells, DEGREE + 1)
        self.left = budget
        self.tried: dict[Graph, Judged] = {}
        self._fine_nodes = 0  # opened by the latest fine judgement
        self._order = _peaked_first(cells)
        self._weighed: dict[Keys, float] = {}

    def independence(self) -> Judged:
        """The model that joins no keys, judged whatever the budget."""
        graph = Graph.empty(len(self.cells.sizes))
        mean = DecomposableFit(graph, self.cells).sample_mean
        return self._judged(graph, self._held(mean), FINE, budget=math.inf)

    def finely(self, judged: Judged) -> Judged:
        """The model judged finely, or as it is where the budget does not suffice."""
        found = self.tried[judged.graph]
        if found.is_fine or self.left <= 0:
            return found
        try:
            return self._judged(judged.graph, judged.held, FINE, budget=self.left)
        except TooManyCells:
            self.left = 0.0
            return found

    def _held(self, mean: FloatArray) -> tuple[float, float]:
        return self.criteria.of_occupied(self.cells.sample_count, mean)

    def _judged(
        self, graph: Graph, held: tuple[float, float], close: float, *, budget: float
    ) -> Judged:
        """The model with its criterion; raises TooManyCells where the budget does not suffice."""
        sums = sum_over_cells(
            self.cells,
            graph.steps_by(self._order),
            self.functions,
            close * self.sampling_fraction,
            budget=budget,
            subtrees=self.subtrees,
            direct=self.criteria.totals,
        )
        self.left -= sums.n_rows
        uniques, matches = self.criteria.of_sums(held, sums.value)
        limits = _limits((uniques, matches), sums)
        judged = Judged(graph=graph, uniques=uniques, matches=matches, limits=limits, held=held)
        if close == FINE:
            self._fine_nodes = sums.n_rows
            judged = replace(judged, limits=(judged.distance, judged.distance))
        self.tried[graph] = judged
        return judged

    def extensions(self, graph: Graph, width: int, largest_clique: int) -> Iterator[Judged]:
        """The best-supported models with one more pair of keys, as far as the budget goes."""
        base, fit = self.support(graph), DecomposableFit(graph, self.cells)
        wider = [
            (self.support(wider), wider, edge)
            for edge, wider in extended(graph, self.cells, largest_clique)
            if self.left > 0
        ]
        better = [one for one in wider if above(one[0], base)]  # a nested key adds just nothing
        close = FINE if self._fine_nodes <= FEW_NODES else ROUGH
        for place in order_of([support for support, _, _ in better])[:width]:
            _, candidate, edge = better[place]
            if self.left <= 0:
                return
            self.left -= len(self.cells) * MARGINS
            try:
                held = self._held(fit.mean_with(*edge))
                yield self._judged(candidate, held, close, budget=self.left)
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


def _peaked_first(cells: OccupiedCells) -> list[int]:
    """The keys by the share of their commonest level: so ordered, fewest nodes are opened, since
    means fall late on the way from the root to the cells."""
    largest = [float(cells.margin((key,)).total.max()) for key in range(len(cells.sizes))]
    return [int(key) for key in order_of(largest)]


def _limits(criteria: tuple[MinimumError, MinimumError], sums: CellSums) -> tuple[float, float]:
    """Between what the larger |B̂| / √v certainly lies, by the errors of B̂ and v."""
    low = high = 0.0
    errors = sums.error.tolist()
    for one, off, spread in zip(criteria, errors[::2], errors[1::2], strict=True):
        bias, variance = abs(one.bias), one.standard_error**2
        if variance + spread > 0:
            low = max(low, (bias - off) / math.sqrt(variance + spread))
        least = variance - spread
        high = max(high, (bias + off) / math.sqrt(least) if least > 0 else math.inf)
    return low, high


def extended(
    graph: Graph, cells: OccupiedCells, largest_clique: int
) -> Iterator[tuple[Edge, Graph]]:
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
            yield (u, v), wider
