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
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.graphs import Step
from discreet.survey.models.loglinear.occupied_cells import OccupiedCells

Function = Callable[[FloatArray], FloatArray]
Groups = NDArray[np.integer[Any]]
DEGREE = 14  # of the interpolation
BLOCK_ROWS = 1 << 16  # nodes opened at once


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
    children: tuple[int, ...]
    top: FloatArray  # by parent combination

    @property
    def ratio(self) -> FloatArray:
        """Parent combination × power."""
        every: FloatArray = self.tail[self.start[:-1]]
        return every


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Open nodes at one depth: the mean so far, the largest mean below as a multiple of the limit,
    and for each pending subtree its parent combination.
    """

    depth: int
    mean: FloatArray
    reach: FloatArray
    pending: dict[int, Groups]

    def rows(self, chosen: slice) -> "_Nodes":
        held = {place: group[chosen] for place, group in self.pending.items()}
        return _Nodes(self.depth, self.mean[chosen], self.reach[chosen], held)


def sum_over_cells(
    cells: OccupiedCells,
    steps: Sequence[Step],
    functions: Sequence[Function],
    limit: float,
    *,
    budget: float = math.inf,
    degree: int = DEGREE,
) -> CellSums:
    """Σ μ·ψ(μ) over all cells; raises TooManyCells beyond `budget` nodes.

    Trusted: each ψ is smooth on [0, limit], as e^(−aμ) is while a·limit is below 8 or so.
    """
    trees = _subtrees(cells, steps, degree + 1)
    root = _root(trees, steps, cells.sample_size, limit)
    if root.reach[0] <= 1:
        powers, direct, rows = _everything(trees, root, degree + 1), np.zeros(len(functions)), 1
    else:
        powers, direct, rows = _walk(trees, root, functions, budget, degree + 1)
    value, error = np.empty(len(functions)), np.empty(len(functions))
    for i, function in enumerate(functions):
        coefficients, worst = interpolation(function, limit, degree)
        value[i] = direct[i] + limit * float(coefficients @ powers)
        error[i] = worst * limit * powers[0]
    return CellSums(value, error, rows)


def _root(
    trees: Sequence[_Subtree], steps: Sequence[Step], sample_size: int, limit: float
) -> _Nodes:
    """The node above all cells."""
    roots = [place for place, step in enumerate(steps) if not step.parents]
    reach = sample_size / limit * math.prod(float(trees[place].top[0]) for place in roots)
    group = np.zeros(1, dtype=np.int64)
    mean = np.full(1, float(sample_size))
    return _Nodes(0, mean, np.full(1, reach), dict.fromkeys(roots, group))


def _everything(trees: Sequence[_Subtree], root: _Nodes, powers: int) -> FloatArray:
    """Σ (μ/limit)^m over all cells."""
    ratios = [trees[place].ratio[0] for place in root.pending]
    sums: FloatArray = root.reach[0] ** np.arange(1, powers + 1) * np.prod(ratios, axis=0)
    return sums


@lru_cache(maxsize=64)
def interpolation(function: Function, limit: float, degree: int) -> tuple[FloatArray, float]:
    """Coefficients of 1, x, x², … of the interpolation of ψ(limit·x) on [0, 1], and its error.

    The error is the largest on a grid some ten times finer than the nodes, with a half on top for
    what lies between.
    """
    nodes = (np.polynomial.chebyshev.chebpts1(degree + 1) + 1) / 2
    fitted = np.polynomial.Chebyshev.fit(nodes, function(limit * nodes), degree, domain=[0, 1])
    plain = fitted.convert(kind=np.polynomial.Polynomial).coef
    coefficients = np.zeros(degree + 1)
    coefficients[: len(plain)] = plain
    x = np.linspace(0, 1, 20 * degree + 1)
    miss = np.polynomial.polynomial.polyval(x, coefficients) - function(limit * x)
    return np.asarray(read_only(coefficients)), 1.5 * float(np.abs(miss).max())


def _subtrees(cells: OccupiedCells, steps: Sequence[Step], powers: int) -> list[_Subtree]:
    """The keys in order, with messages from the last to the first."""
    children = _children(steps)
    trees: dict[int, _Subtree] = {}
    for place in range(len(steps) - 1, -1, -1):
        below = [trees[child] for child in children[place]]
        trees[place] = _subtree(cells, steps, place, children[place], below, powers)
    return [trees[place] for place in range(len(steps))]


def _children(steps: Sequence[Step]) -> list[tuple[int, ...]]:
    """For each place in the order the places whose parents end there: a forest of cliques."""
    place = {step.key: i for i, step in enumerate(steps)}
    last = [max((place[k] for k in step.parents), default=-1) for step in steps]
    return [tuple(j for j, parent in enumerate(last) if parent == i) for i in range(len(steps))]


def _subtree(
    cells: OccupiedCells,
    steps: Sequence[Step],
    place: int,
    children: tuple[int, ...],
    below: Sequence[_Subtree],
    powers: int,
) -> _Subtree:
    clique, parents = cells.margin(steps[place].clique), cells.margin(steps[place].parents)
    some_cell = _first_of_group(clique.group, len(clique.code))
    parent = parents.group[some_cell]
    probability = clique.total / parents.total[parent]
    groups = [cells.margin(steps[child].parents).group[some_cell] for child in children]
    reach = probability.copy()
    for tree, group in zip(below, groups, strict=True):
        reach *= tree.top[group]
    order = np.lexsort((-reach, parent))
    parent, reach = parent[order], reach[order]
    groups = [group[order] for group in groups]
    start = np.searchsorted(parent, np.arange(len(parents.code) + 1))
    top = reach[start[:-1]]
    relative = reach / top[parent]
    tail = relative[:, None] ** np.arange(1, powers + 1)
    for tree, group in zip(below, groups, strict=True):
        tail *= tree.ratio[group]
    _add_from_behind(tail, start)
    return _Subtree(start, probability[order], relative, tail, tuple(groups), children, top)


def _add_from_behind(rows: FloatArray, start: IntArray) -> None:
    """Adds to each row all later rows of its group, in place."""
    length = np.diff(start)
    for back in range(2, int(length.max(initial=0)) + 1):
        row = start[1:][length >= back] - back
        rows[row] += rows[row + 1]


def _first_of_group(group: Groups, n_groups: int) -> IntArray:
    """A cell of each group."""
    first = np.empty(n_groups, dtype=np.int64)
    first[group] = np.arange(len(group))
    return first


def _walk(
    trees: Sequence[_Subtree],
    root: _Nodes,
    functions: Sequence[Function],
    budget: float,
    powers: int,
) -> tuple[FloatArray, FloatArray, int]:
    """Power sums of μ/limit over closed nodes, Σ μ·ψ(μ) over the cells reached, nodes opened."""
    closed, direct, seen = np.zeros(powers), np.zeros(len(functions)), 0
    stack = [root]
    while stack:
        nodes = stack.pop()
        seen += len(nodes.mean)
        if seen > budget:
            raise TooManyCells(f"more than {budget:.0f} nodes")
        if nodes.depth == len(trees):
            mean = nodes.mean
            direct += [float((mean * function(mean)).sum()) for function in functions]
            continue
        first = _first_closed(trees[nodes.depth], nodes)
        closed += _closed_sums(trees, nodes, first, powers)
        opened = _opened(trees, nodes, first)
        for begin in range(0, len(opened.mean), BLOCK_ROWS):
            stack.append(opened.rows(slice(begin, begin + BLOCK_ROWS)))
    return closed, direct, seen


def _first_closed(tree: _Subtree, nodes: _Nodes) -> IntArray:
    """The first entry of each node's group whose largest mean is within the limit, by bisection."""
    group = nodes.pending[nodes.depth]
    low, high = tree.start[group], tree.start[group + 1]
    while (low < high).any():
        middle = (low + high) // 2
        inside = np.minimum(middle, len(tree.relative) - 1)
        above = (nodes.reach * tree.relative[inside] > 1) & (low < high)
        low, high = np.where(above, middle + 1, low), np.where(above, high, middle)
    return low


def _closed_sums(
    trees: Sequence[_Subtree], nodes: _Nodes, first: IntArray, powers: int
) -> FloatArray:
    """Σ (μ/limit)^m over all cells below the entries that stay closed."""
    tree = trees[nodes.depth]
    some = np.flatnonzero(first < tree.start[nodes.pending[nodes.depth] + 1])
    terms = nodes.reach[some, None] ** np.arange(1, powers + 1) * tree.tail[first[some]]
    for place, group in nodes.pending.items():
        if place != nodes.depth:
            terms *= trees[place].ratio[group[some]]
    total: FloatArray = terms.sum(axis=0)
    return total


def _opened(trees: Sequence[_Subtree], nodes: _Nodes, end: IntArray) -> _Nodes:
    """The nodes one level further down, one for each entry of the next key before `end`."""
    tree = trees[nodes.depth]
    start = tree.start[nodes.pending[nodes.depth]]
    width = end - start
    row = np.repeat(np.arange(len(start)), width)
    entry = np.arange(len(row)) - np.repeat(np.cumsum(width) - width, width) + start[row]
    pending = {place: held[row] for place, held in nodes.pending.items() if place != nodes.depth}
    pending |= {c: held[entry] for c, held in zip(tree.children, tree.child_group, strict=True)}
    return _Nodes(
        nodes.depth + 1,
        nodes.mean[row] * tree.probability[entry],
        nodes.reach[row] * tree.relative[entry],
        pending,
    )
