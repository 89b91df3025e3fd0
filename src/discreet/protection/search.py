"""The recoding with the least loss, counting what has to be suppressed on top of it.

Three looks at a node of the lattice, each dearer than the one before: how many records *stand out*
there; what the *least* suppression would be under which every record fits k others, which is quick
and exact; and the suppression that is *wanted*. The first two bound the third from below, there and
at every finer node: whoever stands out in a coarser file stands out in every finer one.

A climb from a few starts, guided by the cheaper looks, finds a good node. Then nodes whose bounds
are below it are looked at, the coarsest first, as they tell of the finer ones. Where none is left
whose bound is below the best, that is *proved*; where the work is over before that, the least
bound of all nodes says how much better one could be: the gap.

Work is counted in cells that are looked at, so that the same question gets the same answer on every
machine.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from discreet.masks.records.suppression import Suppression
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.progress import Progress, silent
from discreet.protection.lattice import MOST_NODES, CellsAt, Lattice, Node

WORK = 20_000_000  # steps, some seven seconds; a step is a cell that is counted
COUNTING, BOUNDING, WANTED = 1, 10, 40  # steps that each look takes for a cell
EACH_SET = 500  # steps of looking at a set of keys, however few cells there are
LEAST_LOOKS = 300  # steps for each cell that there are in any case, of files of many cells
CLIMBING = 0.5  # of the work
NEAREST = 3  # neighbours of a climb that are looked at twice
REFINED = 5  # nodes whose wanted suppression is found after the climbs
AT_ONCE, ROUNDS = 16, 4000  # nodes of the sweep between which all bounds are worked out anew
FIRST_RATIO = 1.3  # values that a record which stands out loses, before anything is known
SLACK = 1e-12  # two losses this near are alike


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A node with what was suppressed there: how many values of each level of each key, and the
    pieces; `values` in all, where their number is the least there can be (else 0). `left` records
    could not be helped, `records` lost a value."""

    suppressed: tuple[IntArray, ...]
    records: int
    left: int
    suppression: Suppression
    values: int = 0


class Mending(Protocol):
    """What is done at a node with the records that still stand out."""

    @property
    def whole(self) -> bool:
        """Whether whole records are suppressed, so that a record that loses a value loses all."""

    @property
    def least_is_wanted(self) -> bool:
        """Whether the least suppression is the one that is wanted."""

    def allows(self, standing_out: int) -> bool:
        """Whether so many records may stand out before anything is suppressed."""

    def least(self, cells: CellsAt) -> Mended:
        """The node after the least suppression, which may do less than is wanted."""

    def wanted(self, cells: CellsAt) -> Mended:
        """The node with its values suppressed as is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A node, what it loses, and what was suppressed there."""

    node: Node
    loss: float
    mended: Mended


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The best node; `least` is what no node of the lattice can do without. `best` is None where no
    node that was looked at can be mended."""

    best: Point | None
    least: float
    n_nodes: int
    n_looked_at: int

    @property
    def proved(self) -> bool:
        """Whether nothing in the lattice is better."""
        return self.best is not None and self.least >= self.best.loss - SLACK

    @property
    def gap(self) -> float | None:
        """How much better another node could be at most; None where none was found."""
        return None if self.best is None else max(self.best.loss - self.least, 0.0)


def searched(
    lattice: Lattice,
    k: int,
    mending: Mending,
    *,
    work: float = WORK,
    starts: Sequence[Node] = (),
    progress: Progress = silent,
) -> Found:
    """The node with the least loss at which the records can be mended. With `starts` climbs begin
    there too, and there is no sweep of the other nodes."""
    least_work = LEAST_LOOKS * len(lattice.records) * (work / WORK)
    search = _Search(lattice, k, mending, max(work, least_work), progress)
    if lattice.n_nodes == 1:  # nothing to look for
        search.only_one()
        return search.found()
    for start in dict.fromkeys((*starts, *_usual_starts(lattice))):
        search.climb(start)
    search.refine()
    if not starts:
        search.sweep()
    return search.found()


def _usual_starts(lattice: Lattice) -> Iterator[Node]:
    """The file as it is, and two nodes half-way up: where ladders have two rungs, one of them is
    below and the other at the top, from which keys come back one by one."""
    yield lattice.bottom
    yield tuple((n - 1) // 2 for n in lattice.shape)
    yield tuple(n // 2 for n in lattice.shape)


@dataclass
class _Search:
    """What is known of the nodes so far.

    `gone[node]` bounds from below how many values must be suppressed there, or with whole records
    how many records; of lattices that are too large to be held, nothing of a node that was not
    looked at. `seen` are the nodes by the loss after the least suppression (None where they cannot
    be mended), `sure` those by their true loss.
    """

    lattice: Lattice
    k: int
    mending: Mending
    work: float
    progress: Progress
    done: float = 0.0
    best: Point | None = None
    looked_at: int = 0
    ratio: float = FIRST_RATIO
    seen: dict[Node, float | None] = field(default_factory=dict)
    sure: dict[Node, Point] = field(default_factory=dict)
    counted: dict[Node, int] = field(default_factory=dict)
    least_at: dict[Node, float] = field(default_factory=dict)
    unswept: float = 0.0  # a bound of the nodes that were not come to

    def __post_init__(self) -> None:
        lattice = self.lattice
        self.held = lattice.n_nodes <= MOST_NODES
        shape = lattice.shape if self.held else (1,) * len(lattice.shape)
        self.gone = np.zeros(shape, dtype=np.int64)
        self.ruled_out = np.zeros(shape, dtype=np.bool_)  # too many stand out here or at a coarser

    def only_one(self) -> None:
        """The one node there is."""
        if self._count(self.lattice.bottom) is not None:
            self.refined(self.lattice.bottom)
        if self.best is None:
            self.seen[self.lattice.bottom] = None

    def climb(self, start: Node) -> None:
        """From a node to its best neighbour, as long as one is better."""
        limit, here = self.work * CLIMBING, start
        loss = self.look(here)
        while self.done < limit:
            better = self._best_neighbour(here)
            if better is None and loss is None and here != self._top():
                here = tuple(
                    min(r + 1, n - 1) for r, n in zip(here, self.lattice.shape, strict=True)
                )
                loss = self.look(here)
            elif better is None or (loss is not None and better[0] >= loss - SLACK):
                return
            else:
                loss, here = better

    def _top(self) -> Node:
        return tuple(n - 1 for n in self.lattice.shape)

    def _best_neighbour(self, here: Node) -> tuple[float, Node] | None:
        """The neighbour that loses least after the least suppression, among those that promise most
        by how many records stand out there."""
        promising = []
        for node in _neighbours(here, self.lattice.shape):
            count = self._count(node)
            if count is not None:
                values = count * (1.0 if self.mending.whole else self.ratio)
                promising.append((self.lattice.guessed_loss(node, values), node))
        found = []
        for _, node in heapq.nsmallest(NEAREST, promising):
            loss = self.look(node)
            if loss is not None:
                found.append((loss, node))
        return min(found, default=None)

    def look(self, node: Node) -> float | None:
        """The loss of a node after the least suppression; None where it cannot be mended."""
        if node not in self.seen:
            self.seen[node] = self._look(node)
        return self.seen[node]

    def _look(self, node: Node) -> float | None:
        count = self._count(node)
        if count is None:
            return None
        mended = self.mending.least(self.lattice.at(node))
        self._spend(COUNTING if self.mending.whole else BOUNDING, mended)
        if mended.left:
            return None
        if mended.values:
            self._learn(node, mended.values)
            self.ratio = mended.values / max(count, 1)
        loss = self.lattice.loss_of(node, mended.suppressed)
        if self.mending.least_is_wanted:
            self._take(Point(node=node, loss=loss, mended=mended))
        return loss

    def _count(self, node: Node) -> int | None:
        """How many records stand out at a node; None where they are too many."""
        if self.held and self.ruled_out[node]:
            return None
        if node not in self.counted:
            found = self.lattice.standing_out(node, self.k)
            self._spend(COUNTING)
            self.looked_at += 1
            self.counted[node] = found.records
            allowed = self.mending.allows(found.records)
            self._learn(node, found.complete, ruled_out=not allowed)
        return self.counted[node] if self.mending.allows(self.counted[node]) else None

    def refine(self) -> None:
        """The true loss of the best nodes that were looked at."""
        told = [(loss, node) for node, loss in self.seen.items() if loss is not None]
        for _, node in heapq.nsmallest(REFINED, told):
            self.refined(node)

    def refined(self, node: Node) -> None:
        """The true loss of a node."""
        if node in self.sure:
            return
        mended = self.mending.wanted(self.lattice.at(node))
        self._spend(WANTED, mended)
        if not mended.left:
            loss = self.lattice.loss_of(node, mended.suppressed)
            self._take(Point(node=node, loss=loss, mended=mended))

    def _take(self, point: Point) -> None:
        self.sure[point.node] = point
        if self.best is None or point.loss < self.best.loss - SLACK:
            self.best = point

    def _spend(self, steps: int, mended: Mended | None = None) -> None:
        sets = 0 if mended is None else mended.suppression.steps
        self.done += max(steps * max(len(self.lattice.records), 1000), EACH_SET * sets)
        self.progress("looking for the recoding with the least loss", min(self.done / self.work, 1))

    def _learn(self, node: Node, gone: int, *, ruled_out: bool = False) -> None:
        """What must go at a node must go at every finer one."""
        self.least_at[node] = max(self.least_at.get(node, 0), gone)
        if self.held:
            finer = tuple(slice(0, rung + 1) for rung in node)
            np.maximum(self.gone[finer], gone, out=self.gone[finer])
            if ruled_out:
                self.ruled_out[finer] = True

    def _to_beat(self) -> float:
        return np.inf if self.best is None else self.best.loss - SLACK

    def sweep(self) -> None:
        """The nodes whose bounds are below the best, until none is left or the work is over."""
        self.unswept = np.inf
        for node in self._open_nodes():
            if self.done >= self.work:
                self.unswept = self._alone()(node)
                break
            if node in self.sure or self._bound(node) >= self._to_beat():
                continue
            if self._count(node) is None or self._bound(node) >= self._to_beat():
                continue
            loss = self.look(node)
            if loss is not None and loss * self._dearer() < self._to_beat():
                self.refined(node)
        self._refine_what_is_open()

    def _dearer(self) -> float:
        """How much dearer what is wanted was than the least, at the best of what was found out."""
        if self.best is None:
            return 1.0
        least = self.seen.get(self.best.node)
        return self.best.loss / least if least else 1.0

    def _refine_what_is_open(self) -> None:
        """The true loss of nodes whose bound is below the best, those that promise most first."""
        told = [(loss, node) for node, loss in self.seen.items() if loss is not None]
        for _, node in sorted(told):
            if self.done >= self.work:
                return
            if node not in self.sure and self._bound(node) < self._to_beat():
                self.refined(node)

    def _bound(self, node: Node) -> float:
        gone = int(self.gone[node]) if self.held else int(self.least_at.get(node, 0))
        return float(self._bounds(np.array([node]), np.array([gone]))[0])

    def _bounds(self, nodes: IntArray, gone: IntArray) -> FloatArray:
        return self.lattice.least_losses(nodes, gone, whole=self.mending.whole)

    def _open_nodes(self) -> Iterator[Node]:
        """Nodes that may be better than the best, as far as is known when they come."""
        if not self.held:
            yield from _best_first(self.lattice.shape, self._alone(), self._to_beat)
            return
        given: BoolArray = np.zeros(self.lattice.n_nodes, dtype=np.bool_)
        height = np.sum(np.indices(self.lattice.shape, dtype=np.int16), axis=0).ravel()
        at_once = max(AT_ONCE, self.lattice.n_nodes // ROUNDS)
        while True:
            bounds = self._all_bounds()
            open_ = np.flatnonzero((bounds < self._to_beat()) & ~given)
            if not len(open_):
                return
            # The coarsest first: what must go there must go at all that are finer.
            order = np.lexsort((bounds[open_], -height[open_]))
            for place in open_[order[:at_once]]:
                given[place] = True
                yield tuple(int(r) for r in np.unravel_index(place, self.lattice.shape))

    def _all_bounds(self) -> FloatArray:
        """The bounds of all nodes, as what is known of them now; infinite where too many stand
        out."""
        shape = self.lattice.shape
        nodes = np.stack(np.unravel_index(np.arange(self.lattice.n_nodes), shape), axis=1)
        bounds = self._bounds(nodes, self.gone.ravel())
        bounds[self.ruled_out.ravel()] = np.inf
        return bounds

    def _alone(self) -> Callable[[Node], float]:
        """What a node loses by recoding alone."""
        loss, importance = self.lattice.loss, self.lattice.importance
        losses, keys = self.lattice.recoding_losses(), np.arange(len(self.lattice.shape))
        return lambda node: float(loss.together(losses[keys, np.array(node)], importance))

    def found(self) -> Found:
        """The best, and the least bound of all that was not found out."""
        return Found(
            best=self.best,
            least=min(self._least_open(), np.inf if self.best is None else self.best.loss),
            n_nodes=self.lattice.n_nodes,
            n_looked_at=self.looked_at,
        )

    def _least_open(self) -> float:
        if not self.held:
            known = [node for node in self.counted if node not in self.sure]
            open_ = [n for n in known if self._count(n) is not None
                     and self.seen.get(n, 0.0) is not None]  # fmt: skip
            return min([self.unswept, *(self._bound(node) for node in open_)])
        bounds = self._all_bounds()
        hopeless = [node for node, loss in self.seen.items() if loss is None]
        for node in (*self.sure, *hopeless):
            bounds[np.ravel_multi_index(node, self.lattice.shape)] = np.inf
        return float(bounds.min(initial=np.inf))


def _neighbours(node: Node, shape: Sequence[int]) -> Iterator[Node]:
    """One rung up or down on one ladder."""
    for key, rung in enumerate(node):
        for other in (rung + 1, rung - 1):
            if 0 <= other < shape[key]:
                yield (*node[:key], other, *node[key + 1 :])


def _best_first(
    shape: Sequence[int], loss: Callable[[Node], float], to_beat: Callable[[], float]
) -> Iterator[Node]:
    """The nodes of a lattice that is too large to be listed, the least loss first: each comes from
    the node that is one rung down on the last ladder that it is up on."""
    start = (0,) * len(shape)
    heap = [(loss(start), start, 0)]
    while heap and heap[0][0] < to_beat():
        _, node, first = heapq.heappop(heap)
        yield node
        for key in range(first, len(shape)):
            if node[key] + 1 < shape[key]:
                above = (*node[:key], node[key] + 1, *node[key + 1 :])
                heapq.heappush(heap, (loss(above), above, key))
