"""Sums over all cells of a decomposable model, occupied or not, without listing most of them.

Wanted is Σ_k μ_k·ψ(μ_k) for smooth functions ψ, such as the expected number of sample uniques with
ψ(μ) = e^(−μ). The cells form a tree: keys are given their levels one by one in the order of the
graph, and the fitted mean grows as μ = n · ∏ p(v | parents(v)). Below a node of that tree lie the
pending subtrees of the graph, which are independent of each other given what is fixed. For each
subtree and each combination of its parents that occurs, messages from the leaves give

    top = max ∏ p        and        ratio_m = Σ ∏ (p / top-of-branch)^m,    m = 1, …, M

so that the largest mean below the node, and all power sums Σ μ^m, are known at once. A node whose
largest mean is below a `limit` is closed: there ψ is replaced by its Chebyshev interpolation on
[0, limit], whose sum needs the power sums only, with an error of at most (mean below the node) ×
(largest error of the interpolation). The other nodes are opened. Entries of a key are kept in the
order of their largest product, with power sums of all that follow, so that the closed ones below a
node cost one step together. Only cells with a mean above the limit are ever looked at one by one,
of which there are at most n / limit.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.graphs import Keys, Step
from discreet.numerics.rounding import sum_error
from discreet.survey.models.loglinear.occupied_cells import OccupiedCells

Function = Callable[[FloatArray], FloatArray]
Direct = Callable[[FloatArray], Sequence[float] | FloatArray]
Groups = NDArray[np.integer[Any]]
DEGREE = 14  # of the interpolation
BLOCK_ROWS = 1 << 13  # nodes opened at once: what is worked out for them stays in the cache
LONG_GROUP = 16  # entries from which on a group is added up by itself
KEPT_ENTRIES = 3 << 19  # of subtrees that are kept, some 300 MB
ROUNDINGS = 64  # in units of the last place, of a power sum: a product of some tens of factors
NO_PARENTS: Groups = np.zeros(1, dtype=np.int64)  # the one parent combination of all nodes


class TooManyCells(Exception):  # noqa: N818 - an answer
    """More nodes would have to be opened than the budget allows."""


@dataclass(frozen=True, slots=True)
class CellSums:
    """Σ μ·ψ(μ) over all cells for each ψ, with a limit on the error of each.

    The limit rests on the error of the interpolation as seen on a fine grid (`interpolation`).
    """

    value: FloatArray
    error: FloatArray
    n_rows: int  # nodes opened


@dataclass(frozen=True, slots=True)
class _Subtree:
    """One key of the order: p(v | parents) by combination of parents, and messages below it.

    Entries of parent combination g stand at start[g] … start[g+1]−1, the largest reach first.
    """

    start: IntArray
    probability: FloatArray  # by entry
    relative: FloatArray  # by entry, its largest product below as a share of that of the group
    tail: FloatArray  # entry × power, power sums of this entry and all later ones of the group
    child_group: tuple[Groups, ...]  # by child, the parent combination of each entry
    top: FloatArray  # by parent combination
    ratio: FloatArray  # parent combination × power


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Open nodes at one depth: the mean so far, the largest mean below as a multiple of the limit,
    and for each pending subtree its parent combination.
    """

    depth: int
    mean: FloatArray
    reach: FloatArray
    pending: dict[int, Groups]  # but for subtrees without parents, which all nodes share

    def rows(self, chosen: slice) -> "_Nodes":
        held = {place: group[chosen] for place, group in self.pending.items()}
        return _Nodes(self.depth, self.mean[chosen], self.reach[chosen], held)


class Subtrees:
    """Subtrees by what they are made from, the latest of them kept: models that differ by one pair
    of keys share most of theirs."""

    def __init__(self, cells: OccupiedCells, powers: int = DEGREE + 1) -> None:
        self.cells, self.powers = cells, powers
        self._held: dict[Any, _Subtree] = {}
        self._entries = 0

    def of(self, steps: Sequence[Step]) -> tuple[list[_Subtree], list[tuple[int, ...]]]:
        """The keys in order, with messages from the last to the first, and the children of each."""
        children = _children(steps)
        trees: dict[int, _Subtree] = {}
        names: dict[int, Any] = {}
        for place in range(len(steps) - 1, -1, -1):
            here = children[place]
            name = (steps[place].key, steps[place].parents, tuple(names[c] for c in here))
            if name not in self._held:
                below = [(steps[child].parents, trees[child]) for child in here]
                self._keep(name, _subtree(self.cells, steps[place], below, self.powers))
            names[place], trees[place] = name, self._held[name]
        return [trees[place] for place in range(len(steps))], children

    def _keep(self, name: Any, tree: _Subtree) -> None:
        self._entries += len(tree.probability)
        self._held[name] = tree
        for old in list(self._held):
            if self._entries <= KEPT_ENTRIES or old == name:
                break
            self._entries -= len(self._held.pop(old).probability)


def sum_over_cells(
    cells: OccupiedCells,
    steps: Sequence[Step],
    functions: Sequence[Function],
    limit: float,
    *,
    budget: float = math.inf,
    subtrees: Subtrees | None = None,
    direct: Direct | None = None,
) -> CellSums:
    """Σ μ·ψ(μ) over all cells; raises TooManyCells beyond `budget` nodes.

    `direct` gives the sums of all functions over cells that are looked at one by one, where these
    have something in common. `subtrees` are those of the same cells, kept from other models.
    Trusted: each ψ is smooth on [0, limit], as e^(−aμ) is while a·limit is below 8 or so.
    """
    subtrees = subtrees or Subtrees(cells)
    degree = subtrees.powers - 1
    trees, children = subtrees.of(steps)
    root = _root(trees, steps, cells.sample_size, limit)
    shared = _shared(trees, steps)
    if root.reach[0] <= 1:
        every: FloatArray = root.reach[0] ** np.arange(1, degree + 2)
        powers, singly, rows = every * shared[0], np.zeros(len(functions)), 1
    else:
        walk = _Walk(trees, children, shared, direct or partial(_one_by_one, functions))
        powers, singly, rows = walk.summed(root, budget)
    value, error = np.empty(len(functions)), np.empty(len(functions))
    for i, function in enumerate(functions):
        coefficients, worst = interpolation(function, limit, degree)
        value[i] = singly[i] + limit * float(coefficients @ powers)
        rounding = sum_error(ROUNDINGS, float(np.abs(coefficients) @ powers))
        error[i] = limit * (worst * float(powers[0]) + rounding)
    return CellSums(value, error, rows)


def _root(
    trees: Sequence[_Subtree], steps: Sequence[Step], sample_size: int, limit: float
) -> _Nodes:
    """The node above all cells."""
    roots = [place for place, step in enumerate(steps) if not step.parents]
    reach = sample_size / limit * math.prod(float(trees[place].top[0]) for place in roots)
    mean = np.full(1, float(sample_size))
    return _Nodes(0, mean, np.full(1, reach), {})


def _shared(trees: Sequence[_Subtree], steps: Sequence[Step]) -> list[FloatArray]:
    """For each depth, the product of the ratios of all subtrees without parents from there on."""
    found = [np.ones(trees[0].ratio.shape[1])]
    for tree, step in zip(reversed(trees), reversed(steps), strict=True):
        found.append(found[-1] if step.parents else found[-1] * tree.ratio[0])
    return found[::-1]


def _one_by_one(functions: Sequence[Function], mean: FloatArray) -> list[float]:
    return [float((mean * function(mean)).sum()) for function in functions]


@lru_cache(maxsize=64)
def interpolation(function: Function, limit: float, degree: int) -> tuple[FloatArray, float]:
    """Coefficients of 1, x, x², … of the interpolation of ψ(limit·x) on [0, 1], and its error.

    The error is the largest on a grid some ten times finer than the nodes, with a half on top for
    what lies between.
    """
    nodes, to_chebyshev, to_powers = _bases(degree)
    coefficients: FloatArray = (to_chebyshev @ function(limit * nodes)) @ to_powers
    x = np.linspace(0, 1, 20 * degree + 1)
    miss = np.polynomial.polynomial.polyval(x, coefficients) - function(limit * x)
    return np.asarray(read_only(coefficients)), 1.5 * float(np.abs(miss).max())


@lru_cache(maxsize=4)
def _bases(degree: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The nodes in [0, 1], the map from values there to coefficients of Chebyshev polynomials, and
    these as rows of coefficients of 1, x, x², …: whole numbers, exact up to degree 20.

    Applied one after the other: the product of both maps would lose all digits.
    """
    angle = (np.arange(degree + 1) + 0.5) * (np.pi / (degree + 1))
    to_chebyshev = np.cos(np.outer(np.arange(degree + 1), angle)) * (2 / (degree + 1))
    to_chebyshev[0] /= 2
    to_powers = np.zeros((degree + 1, degree + 1))
    to_powers[0, 0], to_powers[1, :2] = 1, (-1, 2)
    for k in range(2, degree + 1):  # T_k = 2·(2x − 1)·T_{k−1} − T_{k−2}
        to_powers[k] = -2 * to_powers[k - 1] - to_powers[k - 2]
        to_powers[k, 1:] += 4 * to_powers[k - 1, :-1]
    return (np.cos(angle) + 1) / 2, to_chebyshev, to_powers


def _children(steps: Sequence[Step]) -> list[tuple[int, ...]]:
    """For each place in the order the places whose parents end there: a forest of cliques."""
    place = {step.key: i for i, step in enumerate(steps)}
    last = [max((place[k] for k in step.parents), default=-1) for step in steps]
    return [tuple(j for j, parent in enumerate(last) if parent == i) for i in range(len(steps))]


def _subtree(
    cells: OccupiedCells, step: Step, below: Sequence[tuple[Keys, _Subtree]], powers: int
) -> _Subtree:
    """One key of the order; `below` are the subtrees of its children and what their parents are."""
    clique, parents = cells.margin(step.clique), cells.margin(step.parents)
    parent = parents.group[clique.member]
    probability = clique.total / parents.total[parent]
    groups = [cells.margin(keys).group[clique.member] for keys, _ in below]
    reach = probability.copy()
    for (_, tree), group in zip(below, groups, strict=True):
        reach *= tree.top[group]
    order = np.lexsort((-reach, parent))
    parent, reach = parent[order], reach[order]
    groups = [group[order] for group in groups]
    start = np.searchsorted(parent, np.arange(len(parents.code) + 1))
    top = reach[start[:-1]]
    relative = reach / top[parent]
    tail = _powers(relative, powers)
    for (_, tree), group in zip(below, groups, strict=True):
        tail *= tree.ratio.take(group, axis=0)
    _add_from_behind(tail, start)
    ratio = tail[start[:-1]]
    return _Subtree(start, probability[order], relative, tail, tuple(groups), top, ratio)


def _powers(base: FloatArray, powers: int) -> FloatArray:
    """x, x², x³, … of each entry, by products: quicker by far than powers one by one."""
    found = np.empty((len(base), powers))
    found[:, 0] = base
    for m in range(1, powers):
        np.multiply(found[:, m - 1], base, out=found[:, m])
    return found


def _add_from_behind(rows: FloatArray, start: IntArray) -> None:
    """Adds to each row all later rows of its group, in place.

    Long groups are added up one by one, the others together by their places from behind.
    """
    length = np.diff(start)
    for group in np.flatnonzero(length > LONG_GROUP):
        own = rows[start[group] : start[group + 1]][::-1]
        np.cumsum(own, axis=0, out=own)
    ends = start[1:][length <= LONG_GROUP]
    left = length[length <= LONG_GROUP]
    for back in range(2, int(left.max(initial=0)) + 1):
        ends, left = ends[left >= back], left[left >= back]
        rows[ends - back] += rows[ends - back + 1]


@dataclass(frozen=True, slots=True)
class _Walk:
    """From the root to the cells whose mean is above the limit, closing what lies below it."""

    trees: Sequence[_Subtree]
    children: Sequence[tuple[int, ...]]
    shared: Sequence[FloatArray]
    direct: Direct

    def summed(self, root: _Nodes, budget: float) -> tuple[FloatArray, FloatArray, int]:
        """Power sums of μ/limit over closed nodes, Σ μ·ψ(μ) over the cells reached, nodes
        opened."""
        closed = np.zeros(self.trees[0].ratio.shape[1])
        singly = np.zeros(len(self.direct(np.ones(1))))
        seen, stack = 0, [root]
        while stack:
            nodes = stack.pop()
            seen += len(nodes.mean)
            if seen > budget:
                raise TooManyCells(f"more than {budget:.0f} nodes")
            if nodes.depth == len(self.trees):
                singly += self.direct(nodes.mean)
                continue
            group = nodes.pending.get(nodes.depth, NO_PARENTS)
            first = _first_closed(self.trees[nodes.depth], group, nodes.reach)
            closed += self._closed_sums(nodes, group, first)
            opened = self._opened(nodes, group, first)
            for begin in range(0, len(opened.mean), BLOCK_ROWS):
                stack.append(opened.rows(slice(begin, begin + BLOCK_ROWS)))
        return closed, singly, seen

    def _closed_sums(self, nodes: _Nodes, group: Groups, first: IntArray) -> FloatArray:
        """Σ (μ/limit)^m over all cells below the entries that stay closed."""
        tree = self.trees[nodes.depth]
        some = np.flatnonzero(first < tree.start[group + 1])
        terms = tree.tail.take(first[some], axis=0)
        for place, held in nodes.pending.items():
            if place != nodes.depth:
                terms *= self.trees[place].ratio.take(held[some], axis=0)
        reach, power = nodes.reach[some], np.ones(len(some))
        total = np.empty(terms.shape[1])
        for m in range(len(total)):
            power *= reach
            total[m] = power @ terms[:, m]
        return total * self.shared[nodes.depth + 1]

    def _opened(self, nodes: _Nodes, group: Groups, end: IntArray) -> _Nodes:
        """The nodes one level further down, one for each entry of the next key before `end`."""
        tree, depth = self.trees[nodes.depth], nodes.depth
        start = np.broadcast_to(tree.start[group], len(end))
        width = end - start
        row = np.repeat(np.arange(len(start)), width)
        entry = np.arange(len(row)) + np.repeat(start - np.cumsum(width) + width, width)
        pending = {place: held[row] for place, held in nodes.pending.items() if place != depth}
        below = zip(self.children[depth], tree.child_group, strict=True)
        pending |= {child: held[entry] for child, held in below}
        return _Nodes(
            depth + 1,
            nodes.mean[row] * tree.probability[entry],
            nodes.reach[row] * tree.relative[entry],
            pending,
        )


def _first_closed(tree: _Subtree, group: Groups, reach: FloatArray) -> IntArray:
    """The first entry of each node's group whose largest mean is within the limit."""
    if group is NO_PARENTS:  # all nodes have the same entries, the largest first
        return np.searchsorted(-tree.relative, -1 / reach, side="left")
    low, high = tree.start[group], tree.start[group + 1]
    while (low < high).any():
        middle = (low + high) // 2
        inside = np.minimum(middle, len(tree.relative) - 1)
        above = (reach * tree.relative[inside] > 1) & (low < high)
        low, high = np.where(above, middle + 1, low), np.where(above, high, middle)
    return low
