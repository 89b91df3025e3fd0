"""Sets of margins whose components form a tree, and bounds read off them without any search.

Variables are joined by an edge where a margin holds both. Components are sets of variables that
every margin lies in one of, joined in a tree so that what two of them share (their *separator*)
lies in all components between them (running intersection) and is itself released, being part of a
margin. Given the counts of the separators, the components vary freely of each other. The set of
margins is *decomposable* when every component is itself a released margin.
"""

import numpy as np

from discreet.errors import InputError, must_be
from discreet.fiber.bounds.contract import Bounds, Proof, proofs
from discreet.fiber.system.consistency import check_margins, sub_margin
from discreet.fiber.system.margins import Margins
from discreet.numerics.arrays import IntArray
from discreet.numerics.graphs import JunctionTree, junction_tree

Axes = tuple[int, ...]


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
        self._tables = tables

    def bounds(self, levels: IntArray) -> Bounds:
        """Exact bounds of the cells whose levels are the rows given."""
        levels = checked_levels(self.margins, levels)
        total = np.zeros(len(levels), dtype=np.int64)
        upper = np.full(len(levels), np.iinfo(np.int64).max)
        for axes, table, sign in self._tables:
            entries = table[tuple(levels[:, axis] for axis in axes)]
            total += sign * entries
            if sign > 0:
                np.minimum(upper, entries, out=upper)
        lower = np.maximum(total, 0)
        if free_axes(self.margins):
            lower[:] = 0
        return Bounds(
            lower=lower,
            upper=upper,
            lower_proof=proofs(len(levels), Proof.CLOSED_FORM),
            upper_proof=proofs(len(levels), Proof.CLOSED_FORM),
        )


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
