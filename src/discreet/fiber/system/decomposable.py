"""Sets of margins that hang together in a tree, and bounds read off them without any search.

Variables are joined by an edge where a margin holds both. Components are sets of variables that
every margin lies in one of, joined in a tree so that what two of them share (their *separator*)
lies in all components between them (running intersection) and is itself released, being part of a
margin. Given the counts of the separators, the components vary freely of each other. The set of
margins is *decomposable* when every component is itself a released margin.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np

from discreet.errors import InputError, must_be
from discreet.fiber.bounds.contract import Bounds, Proof, proofs
from discreet.fiber.bounds.kernels import look_up
from discreet.fiber.system.consistency import check_margins, sub_margin
from discreet.fiber.system.margins import Margins, maximal
from discreet.numerics.arrays import IntArray

Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JunctionTree:
    """Components in an order in which each meets those before it in its separator.

    `parents[i]` is the component that holds `separators[i]`; the first has parent −1 and no
    separator. An empty separator stands for the total.
    """

    components: tuple[Axes, ...]
    parents: tuple[int, ...]
    separators: tuple[Axes, ...]
    released: tuple[bool, ...]  # whether the component is itself one of the sets

    @property
    def is_decomposable(self) -> bool:
        """Whether every component is released."""
        return all(self.released)


def components_tree(sets: Iterable[Axes]) -> JunctionTree:
    """The tree of components of the sets, split at every released separator that was found.

    The graph is filled up to a chordal one, whose cliques form a tree (greatest separators first);
    cliques whose separator is not part of any set are joined again.
    """
    wanted = maximal(tuple(sorted(set(axes))) for axes in sets)
    graph = nx.Graph()
    graph.add_nodes_from(axis for axes in wanted for axis in axes)
    graph.add_edges_from(pair for axes in wanted for pair in combinations(axes, 2))
    chordal, _ = nx.complete_to_chordal_graph(graph) if len(graph) else (graph, {})
    cliques = [frozenset(c) for c in nx.find_cliques(chordal)] or [frozenset[int]()]
    return _ordered(_joined(cliques, wanted), wanted)


def junction_tree(sets: Iterable[Axes]) -> JunctionTree | None:
    """The junction tree of a decomposable collection of sets; None for any other."""
    tree = components_tree(sets)
    return tree if tree.is_decomposable else None


def _clique_tree(cliques: list[frozenset[int]]) -> nx.Graph:
    tree = nx.Graph()
    tree.add_nodes_from(cliques)
    pairs = ((a, b, len(a & b)) for a, b in combinations(cliques, 2))
    tree.add_weighted_edges_from(pairs)
    return nx.maximum_spanning_tree(tree)


def _joined(cliques: list[frozenset[int]], sets: tuple[Axes, ...]) -> nx.Graph:
    """The clique tree, with cliques joined wherever their separator is not released."""
    tree = _clique_tree(cliques)
    while True:
        hidden = next((e for e in tree.edges if not _is_part(e[0] & e[1], sets)), None)
        if hidden is None:
            return tree
        whole = hidden[0] | hidden[1]
        around = {n for node in hidden for n in tree.neighbors(node)} - set(hidden)
        tree.remove_nodes_from(hidden)
        tree.add_node(whole)
        tree.add_edges_from((whole, n) for n in around)


def _is_part(separator: frozenset[int], sets: tuple[Axes, ...]) -> bool:
    return any(separator <= set(axes) for axes in sets)


def _ordered(tree: nx.Graph, sets: tuple[Axes, ...]) -> JunctionTree:
    first = min(tree.nodes, key=lambda node: tuple(sorted(node)))
    order, before = [first], {first: -1}
    for parent, child in nx.bfs_edges(tree, first):
        before[child] = order.index(parent)
        order.append(child)
    shared = [order[before[n]] & n if before[n] >= 0 else frozenset() for n in order]
    components = tuple(tuple(sorted(node)) for node in order)
    return JunctionTree(
        components=components,
        parents=tuple(before[node] for node in order),
        separators=tuple(tuple(sorted(node)) for node in shared),
        released=tuple(component in sets for component in components),
    )


class ClosedForm:
    """The bounds of a decomposable set of margins, ready to be read off for any cell.

    upper = the least clique entry, lower = max(0, Σ clique entries − Σ separator entries), where
    an empty separator is the total (Dobra and Fienberg 2000, theorem 4). Both are attained by a
    whole-number table. Costs one look-up for each clique and separator; the full table is never
    built. Checked: margins agree where they overlap, levels exist.
    """

    def __init__(self, margins: Margins) -> None:
        tree = junction_tree(margins.tables)
        if tree is None:
            remedy = "use bounds, which treats any set of margins"
            rule = "decomposable"
            raise InputError(must_be("margins", rule, "a set that is not", remedy=remedy))
        check_margins(margins)
        self.margins, self.tree = margins, tree
        tables = [(c, margins.tables[c], 1) for c in tree.components]
        tables += [(s, t, -1) for s, t in _separators(margins, tree)]
        self._signs = np.array([sign for *_, sign in tables], dtype=np.int64)
        self._axes = np.array([a for axes, *_ in tables for a in axes], dtype=np.int64)
        self._values = np.concatenate([table.ravel() for _, table, _ in tables]).astype(np.int64)
        self._starts = _starts([table.size for _, table, _ in tables])[:-1]
        self._first_axis = _starts([len(axes) for axes, *_ in tables])
        strides = [s // 8 for _, t, _ in tables for s in np.empty(t.shape, np.int64).strides]
        self._strides = np.array(strides, dtype=np.int64)

    def bounds(self, levels: IntArray) -> Bounds:
        """Exact bounds of the cells whose levels are the rows given."""
        levels = checked_levels(self.margins, levels)
        lower, upper = np.empty((2, len(levels)), dtype=np.int64)
        tables = (self._values, self._signs, self._starts, self._first_axis)
        look_up(levels, *tables, self._axes, self._strides, lower, upper)
        if free_axes(self.margins):
            lower[:] = 0
        return Bounds(
            lower=lower,
            upper=upper,
            lower_proof=proofs(len(levels), Proof.CLOSED_FORM),
            upper_proof=proofs(len(levels), Proof.CLOSED_FORM),
        )


def bounds_by_decomposable(margins: Margins, levels: IntArray) -> Bounds:
    """Exact bounds of named cells under a decomposable set of margins, by the closed form."""
    return ClosedForm(margins).bounds(levels)


def free_axes(margins: Margins) -> Axes:
    """Variables of two levels or more that stand in no margin."""
    covered = {axis for axes in margins.tables for axis in axes}
    return tuple(a for a, size in enumerate(margins.sizes) if a not in covered and size > 1)


def separator_table(margins: Margins, separator: Axes) -> IntArray:
    """The counts of a separator, summed from a margin that holds it."""
    home = next(axes for axes in margins.tables if set(separator) <= set(axes))
    return sub_margin(margins, home, separator)


def checked_levels(margins: Margins, levels: IntArray) -> IntArray:
    """The levels of some cells, a row a cell; raises InputError for levels that do not exist."""
    levels = np.ascontiguousarray(np.atleast_2d(levels), dtype=np.int64)
    if levels.ndim != 2 or levels.shape[1] != len(margins.sizes):
        rule = f"rows of {len(margins.sizes)} levels"
        raise InputError(must_be("cells", rule, f"an array of shape {levels.shape}"))
    outside = (levels < 0) | (levels >= np.array(margins.sizes))
    if outside.any():
        row, axis = np.argwhere(outside)[0].tolist()
        rule = f"levels 0 to {margins.sizes[axis] - 1} of {margins.names[axis]}"
        raise InputError(must_be("cells", rule, int(levels[row, axis]), where=f"cell {row}"))
    return levels


def _separators(margins: Margins, tree: JunctionTree) -> list[tuple[Axes, IntArray]]:
    return [(axes, separator_table(margins, axes)) for axes in tree.separators[1:]]


def _starts(lengths: list[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.array(lengths, dtype=np.int64))]).astype(np.int64)
