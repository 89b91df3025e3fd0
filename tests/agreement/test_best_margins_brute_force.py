"""The best margins against all sets of margins, with bounds from all tables written out."""

from itertools import combinations

import numpy as np
import pytest

from discreet.choice.best_set.best_margins import best_margins
from discreet.choice.best_set.margin_safety import Judge, Verdict
from discreet.choice.best_set.small_cells import SmallCells
from discreet.data.table import Table
from discreet.fiber.system.margins import maximal
from discreet.fiber.system.programs import Deadline
from discreet.numerics.bit_sets import set_of
from discreet.numerics.graphs import junction_tree


def all_tables(n_cells, total):
    """Every table of whole numbers with this total, a row a table."""
    rows = np.array(list(combinations(range(total + n_cells - 1), n_cells - 1)))
    ends = np.hstack(
        [np.full((len(rows), 1), -1), rows, np.full((len(rows), 1), total + n_cells - 1)]
    )
    return np.diff(ends, axis=1) - 1


def antichains(n):
    """Every set of margins none of which is part of another, the total alone included."""
    singles = [(axis,) for axis in range(n)]
    margins = [a for size in range(1, n + 1) for a in combinations(range(n), size)]
    found = {((),)}
    edge = [()]
    while edge:
        grown = {maximal([*own, one]) for own in edge for one in margins}
        edge = [own for own in grown if own not in found]
        found |= set(edge)
    assert maximal(singles) in found
    return sorted(found)


class Oracle:
    """Bounds of the small cells under any set of margins, from the list of all tables."""

    def __init__(self, counts, small):
        tables = all_tables(counts.size, int(counts.sum())).reshape(-1, *counts.shape)
        n = counts.ndim
        self.same = {}
        for size in range(n + 1):
            for axes in combinations(range(n), size):
                rest = tuple(a for a in range(n) if a not in axes)
                hits = tables.sum(axis=tuple(a + 1 for a in rest)) == counts.sum(axis=rest)
                self.same[axes] = hits.reshape(len(tables), -1).all(axis=1)
        flat = counts.ravel()
        self.small = np.flatnonzero((flat >= 1) & (flat <= small))
        self.values = tables.reshape(len(tables), -1)[:, self.small]

    def width(self, sets):
        """The least width of a small cell's bounds."""
        inside = np.logical_and.reduce([self.same[axes] for axes in sets])
        found = self.values[inside]
        return int((found.max(axis=0) - found.min(axis=0)).min())


def utility(sets, requests):
    return sum(w for one, w in requests.items() if any(set(one) <= set(own) for own in sets))


def sparse_counts(rng, sizes, total, small):
    """A random table with at least one small cell."""
    while True:
        shares = rng.dirichlet(np.full(int(np.prod(sizes)), 0.5))
        counts = rng.multinomial(total, shares).reshape(sizes)
        if ((counts > 0) & (counts <= small)).any():
            return counts


CASES = [
    *(((2, 2, 2), 8, seed) for seed in range(8)),
    *(((2, 3, 2), 6, seed) for seed in range(8)),
    *(((2, 2, 2, 2), 5, seed) for seed in range(5)),
]


@pytest.mark.parametrize(("sizes", "total", "seed"), CASES)
@pytest.mark.parametrize("width", [1, 2])
def test_the_chosen_set_is_the_best_of_all(sizes, total, seed, width):
    rng = np.random.default_rng(seed)
    small = 1 + seed % 2
    counts = sparse_counts(rng, sizes, total, small)
    oracle = Oracle(counts, small)
    table = Table.of_dense(counts)
    margins = [
        a for size in range(1, len(sizes) + 1) for a in combinations(range(len(sizes)), size)
    ]
    requests = {one: float(rng.integers(1, 6)) / (1 + seed % 3) for one in margins}
    asked = {tuple(table.names[a] for a in one): w for one, w in requests.items()}
    found = best_margins(table, min_width=width, small=small, requests=asked, seconds=None)
    safe = [own for own in antichains(len(sizes)) if oracle.width(own) >= width]
    best = max((utility(own, requests) for own in safe), default=0.0)
    assert found.optimal
    assert found.utility == pytest.approx(best)
    assert found.upper_bound == pytest.approx(best, rel=1e-4)
    chosen = [table.axes(names) for names in found.chosen] or [()]
    if safe:
        assert tuple(sorted(chosen)) in safe
        assert found.risk.value == -oracle.width(chosen)
    split = [own for own in safe if junction_tree(own) is not None]
    if found.decomposable is not None:
        best_split = max(utility(own, requests) for own in split)
        assert found.decomposable.optimal
        assert found.decomposable.utility == pytest.approx(best_split)


@pytest.mark.parametrize(("sizes", "total", "seed"), CASES)
def test_every_verdict_is_that_of_the_list(sizes, total, seed):
    counts = sparse_counts(np.random.default_rng(100 + seed), sizes, total, 2)
    oracle = Oracle(counts, 2)
    table = Table.of_dense(counts)
    for width in (1, 2, 3):
        judge = Judge(SmallCells(table, 2), width, (), Deadline(None))
        for own in antichains(len(sizes)):
            expected = Verdict.SAFE if oracle.width(own) >= width else Verdict.UNSAFE
            assert judge([set_of(axes) for axes in own]) is expected


@pytest.mark.parametrize("seed", range(6))
def test_what_is_already_out_stays_out(seed):
    rng = np.random.default_rng(200 + seed)
    counts = sparse_counts(rng, (2, 2, 2), 8, 2)
    oracle = Oracle(counts, 2)
    table = Table.of_dense(counts)
    margins = [a for size in (1, 2) for a in combinations(range(3), size)]
    out = margins[int(rng.integers(len(margins)))]
    found = best_margins(table, min_width=1, already=[[table.names[a] for a in out]], seconds=None)
    requests = dict.fromkeys(margins, 1.0)
    safe = [
        own
        for own in antichains(3)
        if oracle.width(own) >= 1 and any(set(out) <= set(one) for one in own)
    ]
    if not safe:
        assert found.to_publish == ()
        assert "release nothing" in found.notes[0]
        return
    assert found.utility == max(utility(own, requests) for own in safe)
    assert any({table.names[a] for a in out} <= set(one) for one in found.chosen)
