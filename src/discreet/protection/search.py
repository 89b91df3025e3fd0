"""The recoding with the least loss, counting what has to be suppressed on top of it.

Nodes of the lattice are looked at in the order of what they lose at least, so the search ends as
soon as the next could not be better than the best that was found: then that is *proved*. Bounds grow
as nodes are counted, because whoever stands out in a coarser file stands out in every finer one. A
climb from several starts finds a good node early, which rules most of the others out. Where the work
is over before that, what no node can do without is known all the same: the gap.

Work is counted in cells: a node that is counted takes one step for each cell, one at which values
are suppressed about forty. So the same question gets the same answer on every machine.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from discreet.masks.records.suppression import Suppression
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.protection.lattice import MOST_NODES, CellsAt, Lattice, Node
from discreet.progress import Progress, silent

WORK = 60_000_000  # cells looked at, some twenty seconds
COUNTING, SUPPRESSING = 1, 40  # what it takes for each cell at a node
EACH_SET = 500  # cells that could be counted while a set of keys is looked at, however few cells
CLIMBING = 0.5  # of the work, for the climbs
SLACK = 1e-12  # two losses this near are alike


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A node with what was suppressed there: how many values of each level of each key, and the
    pieces; `left` records could not be helped, `records` lost a value."""

    suppressed: tuple[IntArray, ...]
    records: int
    left: int
    suppression: Suppression | None


class Mending(Protocol):
    """What is done at a node with the records that still stand out."""

    @property
    def whole(self) -> bool:
        """Whether whole records are suppressed, so that a record that loses a value loses all."""

    def allows(self, standing_out: int) -> bool:
        """Whether so many records may stand out before anything is suppressed."""

    def mended(self, cells: CellsAt) -> Mended:
        """The node with its values suppressed."""


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
    """The node with the least loss at which the records can be mended."""
    search = _Search(lattice, k, mending, work, progress)
    for start in _starts(lattice, starts):
        search.climb(start)
    return search.swept()


def _starts(lattice: Lattice, given: Sequence[Node]) -> list[Node]:
    """Where climbs begin: the file as it is, half-way up, and where others ended."""
    half = tuple((n - 1) // 2 for n in lattice.shape)
    return list(dict.fromkeys([*given, lattice.bottom, half]))


@dataclass
class _Search:
    """What is known of the nodes so far. `stand_out[node]` bounds how many complete records stand
    out there from below, of the nodes that are held at once."""

    lattice: Lattice
    k: int
    mending: Mending
    work: float
    progress: Progress
    done: float = 0.0
    best: Point | None = None
    looked_at: int = 0
    points: dict[Node, Point | None] = field(default_factory=dict)
    counted: dict[Node, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lattice = self.lattice
        self.held = lattice.n_nodes <= MOST_NODES
        shape = lattice.shape if self.held else (1,) * len(lattice.shape)
        self.stand_out = np.zeros(shape, dtype=np.int64)
        self.ruled_out = np.zeros(shape, dtype=np.bool_)  # too many stand out here or at a coarser

    def climb(self, start: Node) -> None:
        """From a node to its best neighbour, as long as one is better."""
        limit = self.work * CLIMBING
        here, point = start, self.looked(start)
        while self.done < limit:
            near = [self.looked(node) for node in _neighbours(here, self.lattice.shape)]
            better = [one for one in near if one is not None]
            best = min(better, key=lambda one: one.loss, default=None)
            if best is None or (point is not None and best.loss >= point.loss - SLACK):
                if point is None and best is None and any(here[j] + 1 < n for j, n in self._tops()):
                    here = self._coarser(here)
                    point = self.looked(here)
                    continue
                return
            here, point = best.node, best

    def _tops(self) -> list[tuple[int, int]]:
        return list(enumerate(self.lattice.shape))

    def _coarser(self, node: Node) -> Node:
        """One rung up on every ladder, where nothing near can be mended."""
        return tuple(min(r + 1, n - 1) for r, n in zip(node, self.lattice.shape, strict=True))

    def looked(self, node: Node) -> Point | None:
        """What a node loses; None where it cannot be mended, or cannot be better than the best."""
        if node not in self.points:
            self.points[node] = self._looked(node)
        return self.points[node]

    def _looked(self, node: Node) -> Point | None:
        if self.held and self.ruled_out[node]:
            return None
        if self._bound(node, self._known(node)) >= self._to_beat():
            return None
        found = self.lattice.standing_out(node, self.k)
        self._spend(COUNTING)
        self.looked_at += 1
        allowed = self.mending.allows(found.records)
        self._learn(node, found.complete, ruled_out=not allowed)
        if not allowed or self._bound(node, found.complete) >= self._to_beat():
            return None
        cells = self.lattice.at(node)
        mended = self.mending.mended(cells)
        self._spend(SUPPRESSING if found.records and not self.mending.whole else COUNTING, mended)
        if mended.left:
            return None
        loss = self.lattice.loss_of(node, mended.suppressed)
        point = Point(node=node, loss=loss, mended=mended)
        if self.best is None or loss < self.best.loss - SLACK:
            self.best = point
        return point

    def _spend(self, steps: int, mended: Mended | None = None) -> None:
        done = steps * max(len(self.lattice.records), 1000)
        if mended is not None and mended.suppression is not None:
            done = max(done, EACH_SET * mended.suppression.steps)
        self.done += done
        self.progress("looking for the recoding with the least loss", min(self.done / self.work, 1))

    def _known(self, node: Node) -> int:
        return int(self.stand_out[node]) if self.held else self.counted.get(node, 0)

    def _learn(self, node: Node, complete: int, *, ruled_out: bool) -> None:
        """Whoever stands out here stands out in every finer file."""
        self.counted[node] = complete
        if self.held:
            finer = tuple(slice(0, rung + 1) for rung in node)
            np.maximum(self.stand_out[finer], complete, out=self.stand_out[finer])
            if ruled_out:
                self.ruled_out[finer] = True

    def _to_beat(self) -> float:
        return np.inf if self.best is None else self.best.loss - SLACK

    def _bound(self, node: Node, stand_out: int) -> float:
        nodes, records = np.array([node]), np.array([stand_out])
        return float(self.lattice.least_losses(nodes, records, whole=self.mending.whole)[0])

    def swept(self) -> Found:
        """All nodes in the order of their bounds, until none can be better or the work is over."""
        least = np.inf
        for bound, node in self._by_bound():
            if bound >= self._to_beat():
                break
            if self.done >= self.work:
                least = bound
                break
            known = self._bound(node, self._known(node))
            if node not in self.points and known < self._to_beat():
                self.looked(node)
        best = np.inf if self.best is None else self.best.loss
        return Found(
            best=self.best,
            least=min(least, best),
            n_nodes=self.lattice.n_nodes,
            n_looked_at=self.looked_at,
        )

    def _by_bound(self) -> Iterator[tuple[float, Node]]:
        """Nodes by what they lose by recoding alone, in ascending order."""
        losses = self.lattice.recoding_losses()
        if self.held:
            yield from self._listed(losses)
        else:
            yield from _best_first(self.lattice.shape, self._together(losses))

    def _listed(self, losses: FloatArray) -> Iterator[tuple[float, Node]]:
        shape = self.lattice.shape
        nodes = np.stack(np.unravel_index(np.arange(self.lattice.n_nodes), shape), axis=1)
        none = np.zeros(len(nodes), dtype=np.int64)
        bounds = self.lattice.least_losses(nodes, none, whole=self.mending.whole)
        for place in np.argsort(bounds, kind="stable"):
            yield float(bounds[place]), tuple(int(rung) for rung in nodes[place])

    def _together(self, losses: FloatArray) -> Callable[[Node], float]:
        loss, importance = self.lattice.loss, self.lattice.importance
        keys = np.arange(len(losses))
        return lambda node: float(loss.together(losses[keys, np.array(node)], importance))


def _neighbours(node: Node, shape: Sequence[int]) -> Iterator[Node]:
    """One rung up or down on one ladder."""
    for key, rung in enumerate(node):
        for other in (rung + 1, rung - 1):
            if 0 <= other < shape[key]:
                yield (*node[:key], other, *node[key + 1 :])


def _best_first(shape: Sequence[int], loss: Callable[[Node], float]) -> Iterator[tuple[float, Node]]:
    """The nodes of a lattice that is too large to be listed, the least loss first: each comes from
    the node that is one rung down on the last ladder that it is up on."""
    start = (0,) * len(shape)
    heap = [(loss(start), start, 0)]
    while heap:
        lost, node, first = heapq.heappop(heap)
        yield lost, node
        for key in range(first, len(shape)):
            if node[key] + 1 < shape[key]:
                above = (*node[:key], node[key] + 1, *node[key + 1 :])
                heapq.heappush(heap, (loss(above), above, key))
