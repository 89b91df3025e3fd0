"""Figures that are sums of other figures: they add nothing, tie blocks together, and must agree.

A figure of one layer is implied where the categories of a finer layer make up each of its own and
all figures there are exact. What is left splits into independent blocks: of a hierarchy that is
printed at every level only the finest figures stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.tables.linked.universe import SubTable, Universe


@dataclass(frozen=True, slots=True)
class Cover:
    """For categories of a coarse layer (rows) the categories of a fine one (columns) in each, and
    which are made up of them."""

    inside: csr_array
    whole: BoolArray


def implied_figures(universe: Universe) -> BoolArray:
    """Which exact figures follow from exact figures of parts, by adding.

    Raises InputError where a figure is not the sum of its parts, naming it and them.
    """
    relations = Relations(universe)
    implied = np.zeros(universe.n_figures, dtype=np.bool_)
    exact = universe.is_exact
    order = sorted(range(len(universe.sub_tables)), key=lambda i: -universe.sub_tables[i].rows.size)
    for rank, i in enumerate(order):
        coarse = universe.sub_tables[i]
        for j in order[:rank]:
            covers = relations.of(coarse, universe.sub_tables[j])
            if covers is not None:
                _mark(universe, coarse, universe.sub_tables[j], covers, exact, implied)
    return implied


class Relations:
    """How the layers of the sub-tables lie in each other, each pair of layers looked at once."""

    def __init__(self, universe: Universe) -> None:
        self._sizes = universe.shape
        self._known: dict[tuple[int, bytes, bytes], Cover | None] = {}

    def of(self, coarse: SubTable, fine: SubTable) -> list[Cover] | None:
        """A cover for each variable, None where in one of them no category lies in another."""
        found: list[Cover] = []
        for domain, size in enumerate(self._sizes):
            cover = self._cover(domain, _holds(coarse, domain, size), _holds(fine, domain, size))
            if cover is None:
                return None
            found.append(cover)
        return found

    def _cover(self, domain: int, coarse: BoolArray, fine: BoolArray) -> Cover | None:
        key = (domain, np.packbits(coarse).tobytes(), np.packbits(fine).tobytes())
        if key not in self._known:
            self._known[key] = _cover(coarse, fine)
        return self._known[key]


def _holds(sub: SubTable, domain: int, size: int) -> BoolArray:
    """The categories of a variable; one that a table does not have is whole."""
    own = next((layer for layer in sub.layers if layer.domain == domain), None)
    return np.ones((1, size), dtype=np.bool_) if own is None else own.holds


def _cover(coarse: BoolArray, fine: BoolArray) -> Cover | None:
    shared = csr_array(coarse.astype(np.int64)) @ csr_array(fine.astype(np.int64)).T
    entries = shared.tocoo()
    within = entries.data == fine.sum(axis=1)[entries.col]
    shape = (len(coarse), len(fine))
    ones = np.ones(int(within.sum()), dtype=np.int64)
    inside = csr_array((ones, (entries.row[within], entries.col[within])), shape=shape)
    whole = np.asarray(inside @ fine.sum(axis=1).astype(np.int64) == coarse.sum(axis=1))
    return Cover(inside, whole) if inside.nnz else None


def _mark(
    universe: Universe,
    coarse: SubTable,
    fine: SubTable,
    covers: Sequence[Cover],
    exact: BoolArray,
    implied: BoolArray,
) -> None:
    """Marks figures of the coarse layer that are sums of figures of the fine one, and checks them.

    Of two figures of the same persons that of the finer layer is kept, else the first.
    """
    rows = spread(coarse, len(covers))
    parts = spread(fine, len(covers))
    known = (parts >= 0) & exact[np.maximum(parts, 0)]
    values = np.where(known, universe.low[np.maximum(parts, 0)], 0)
    number, total = known.astype(np.int64), values
    needed = np.ones((1,) * len(covers), dtype=np.int64)
    whole = np.ones((1,) * len(covers), dtype=np.bool_)
    for axis, cover in enumerate(covers):
        number, total = summed(number, cover, axis), summed(total, cover, axis)
        along = [1] * len(covers)
        along[axis] = -1
        needed = needed * np.diff(cover.inside.indptr).reshape(along)
        whole = whole & cover.whole.reshape(along)
    found = whole & (number == needed) & (rows >= 0)
    found &= exact[np.maximum(rows, 0)]
    wrong = found & (total != universe.low[np.maximum(rows, 0)])
    if wrong.any():
        is_same = bool(np.broadcast_to(needed, wrong.shape)[wrong][0] == 1)
        raise InputError(_disagree(universe, int(rows[wrong][0]), fine, is_same))
    implied[rows[found]] = True


def spread(sub: SubTable, n_domains: int) -> IntArray:
    """The figures with an axis for every variable, in the order of the domains."""
    own = [layer.domain for layer in sub.layers]
    ordered = sub.rows.transpose(np.argsort(own)) if own else sub.rows
    shape = [1] * n_domains
    for layer in sub.layers:
        shape[layer.domain] = len(layer.labels)
    return np.asarray(ordered.reshape(shape))


def summed(array: IntArray, cover: Cover, axis: int) -> IntArray:
    moved = np.moveaxis(array, axis, 0)
    flat = cover.inside @ moved.reshape(moved.shape[0], -1)
    return np.moveaxis(np.asarray(flat).reshape(-1, *moved.shape[1:]), 0, axis)


def _disagree(universe: Universe, row: int, fine: SubTable, is_same: bool) -> str:
    other = universe.tables[fine.table].name
    own = universe.tables[int(universe.table[row])]
    name = own.name
    what = "the sum of its parts" if other == name else f"the sum of its parts in {other}"
    what = f"the same as in {other}" if is_same else what
    where = own.where[int(universe.place[row])] if own.where else None
    remedy = (
        "is one of them of other data, of a part of the population, rounded "
        f"('{name} | rounded(5)'), or has a variable levels that no table lists (others)?"
    )
    return must_be(universe.name_of(row), what, "another number", where=where, remedy=remedy)
