"""Published figures held against the data: every one is what the data give under its rule."""

from collections.abc import Sequence

import numpy as np

from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import IntArray
from discreet.tables.linked.domains import Domain
from discreet.tables.linked.reduced import all_ranges
from discreet.tables.linked.universe import Universe

MOST_NAMED = 5  # figures in a message


def true_table(table: Table, domains: Sequence[Domain]) -> IntArray:
    """The counts of the data by the parts of all variables of the tables."""
    axes = [table.names.index(domain.name) for domain in domains]
    shape = tuple(domain.size for domain in domains)
    counts = np.zeros(shape, dtype=np.int64)
    if not axes:
        return np.array(table.total, dtype=np.int64)
    places = []
    for axis, domain in zip(axes, domains, strict=True):
        assert domain.part_of is not None
        places.append(domain.part_of[table.cells[:, axis]])
    np.add.at(counts, tuple(places), table.counts)
    return counts


def atom_counts(universe: Universe, truth: IntArray) -> IntArray:
    """The true count of every atom."""
    held = universe.atom_of >= 0
    counts = np.zeros(universe.n_atoms, dtype=np.int64)
    np.add.at(counts, universe.atom_of[held], truth.ravel()[held])
    return counts


def check_true(universe: Universe, truth: IntArray) -> None:
    """Every figure is what the data give under its rule; no count of theirs is told."""
    every = all_ranges(universe)
    sums = every.matrix @ atom_counts(universe, truth)
    wrong = np.flatnonzero((sums < every.low) | (sums > every.high))
    if not len(wrong):
        return
    figures = list(dict.fromkeys(universe.figure_of(row) for row in wrong.tolist()))
    named = [universe.name_of(figure) for figure in figures[:MOST_NAMED]]
    more = f" and {len(figures) - MOST_NAMED:,} more" if len(figures) > MOST_NAMED else ""
    table = universe.tables[int(universe.table[figures[0]])]
    where = table.where[int(universe.place[figures[0]])] if table.where else None
    remedy = (
        "is the table of other data, of a part of them ('t.csv | sex=F'), or rounded "
        "('t.csv | rounded(5)')?"
    )
    got = f"{len(figures):,} that are not: {'; '.join(named)}{more}"
    raise InputError(
        must_be("published figures", "true of the data", got, where=where, remedy=remedy)
    )
