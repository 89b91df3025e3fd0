"""Chordal graphs against NetworkX and against trying every edge."""

from itertools import combinations

import networkx as nx
import pytest

from discreet.numerics.graphs import Graph, JunctionTree, components_tree

SQUARE = [(0, 1), (1, 2), (2, 3), (0, 3)]


def every_graph(n_keys):
    pairs = list(combinations(range(n_keys), 2))
    for bits in range(2 ** len(pairs)):
        yield [pair for i, pair in enumerate(pairs) if bits >> i & 1]


def test_a_square_needs_one_chord():
    assert not Graph.of_generators(4, SQUARE).is_decomposable
    assert Graph.of_generators(4, [*SQUARE, (0, 2)]).cliques == ((0, 1, 2), (0, 2, 3))
    filled = Graph.of_generators(4, SQUARE).triangulated()
    assert filled.is_decomposable
    assert len(filled.edges) == 5
    assert Graph.empty(3).cliques == ((0,), (1,), (2,))


@pytest.mark.parametrize("n_keys", [3, 4, 5])
def test_every_graph_agrees_with_networkx(n_keys):
    for edges in every_graph(n_keys):
        graph, other = Graph.of_generators(n_keys, edges), nx.empty_graph(n_keys)
        other.add_edges_from(edges)
        assert graph.edges == frozenset(edges)
        assert graph.is_decomposable == nx.is_chordal(other)
        if graph.is_decomposable:
            cliques = sorted(tuple(sorted(c)) for c in nx.chordal_graph_cliques(other))
            assert list(graph.cliques) == cliques
            assert graph.triangulated() == graph


def test_edges_come_and_go_where_the_graph_stays_chordal():
    for edges in every_graph(5):
        graph = Graph.of_generators(5, edges)
        if graph.is_decomposable:
            flips = (graph.flipped(*pair) for pair in combinations(range(5), 2))
            assert list(graph.neighbours()) == [g for g in flips if g.is_decomposable]


@pytest.mark.parametrize(("sets", "whole"), [([(2, 0), (0,)], (0, 2)), ([()], ())])
def test_one_set_is_its_own_tree(sets, whole):
    assert components_tree(sets) == JunctionTree(
        components=(whole,), parents=(-1,), separators=((),), released=(True,)
    )


def test_no_set_releases_nothing():
    assert components_tree([]).released == (False,)
