"""The share of small cells that an intruder gets right, under a decomposable release.

The distribution of each small cell's count given the margins, under the model they generate, is a
chain of hypergeometric steps along the junction tree: the records with the cell's levels so far are
matched at random, within the separator, with those of the next clique.
A cell is identified when its most probable count is the true one and has a probability above the
confidence (dobra (5))."""

import numpy as np

from discreet.choice.best_set.small_cells import SmallCells
from discreet.clock import work
from discreet.fiber.system.programs import Deadline
from discreet.figures import Figure, How, Outcome
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.bit_sets import axes_of, set_of
from discreet.numerics.graphs import components_tree
from discreet.numerics.hypergeometric import hypergeometric_rows
from discreet.numerics.rounding import first_largest
from discreet.tables.measures import surely_above

BLOCK = 2_000_000  # probabilities computed at a time
MATCH_SECONDS, PAIR_SECONDS = 1e-4, 5e-8  # a step of a chain, and each of its probabilities


class IdentifiedCells:
    """Shares of small cells identified, each set of margins looked at once."""

    def __init__(self, cells: SmallCells, confidence: float) -> None:
        self._cells, self._confidence = cells, confidence
        self._known: dict[tuple[int, ...], float] = {}

    def share(self, sets: tuple[int, ...], deadline: Deadline | None = None) -> float | None:
        """The share of the small cells identified; 0 where none is small, None where the time was
        over before all were looked at.

        Trusted: the sets are decomposable and cover every variable.
        """
        if len(self._cells) == 0:
            return 0.0
        if sets not in self._known:
            found = self._share(sets, deadline)
            if found is None:
                return None
            self._known[sets] = found
        return self._known[sets]

    def risk(self, sets: tuple[int, ...]) -> Outcome:
        """The share as a figure."""
        note = "" if len(self._cells) else "no cell is small, so there is none to protect"
        return Figure(value=self.share(sets), how=How.EXACT, note=note)

    def _share(self, sets: tuple[int, ...], deadline: Deadline | None) -> float | None:
        tree = components_tree(map(axes_of, sets))
        entries = np.stack([self._cells.entries(set_of(c)) for c in tree.components], axis=1)
        totals = np.stack([self._cells.entries(set_of(s)) for s in tree.separators], axis=1)
        chains, which = np.unique(np.hstack([entries, totals]), axis=0, return_inverse=True)
        distributions = []
        for chain in chains:
            if deadline is not None and deadline.passed:
                return None
            entries, totals = np.split(chain, 2)
            found = distribution_of_chain(entries, totals, deadline)
            if found is None:
                return None
            distributions.append(found)
        hits = 0
        for i, truth in zip(which.ravel().tolist(), self._cells.truths.tolist(), strict=True):
            hits += self._is_found(*distributions[i], truth)
        return hits / len(self._cells)

    def _is_found(self, low: int, distribution: FloatArray, truth: int) -> bool:
        best = first_largest(distribution)
        return low + best == truth and bool(distribution[best] > surely_above(self._confidence))


def distribution_of_chain(
    entries: IntArray, totals: IntArray, deadline: Deadline | None = None
) -> tuple[int, FloatArray] | None:
    """The least count of a cell and the probabilities of it and those above; None where the time
    was over.

    `entries` are the cell's clique entries along the tree, `totals` those of the separators, of
    which the first is not used.
    """
    low, distribution = int(entries[0]), np.ones(1)
    for entry, total in zip(entries[1:].tolist(), totals[1:].tolist(), strict=True):
        first = max(0, low + entry - total)
        values = np.arange(first, min(low + len(distribution) - 1, entry) + 1)
        after: FloatArray = np.zeros(len(values))
        rows = max(1, BLOCK // len(values))
        for start in range(0, len(distribution), rows):
            if deadline is not None and deadline.passed:
                return None
            held = low + np.arange(start, min(start + rows, len(distribution)))
            work(MATCH_SECONDS + PAIR_SECONDS * len(held) * len(values))
            after += distribution[start : start + rows] @ hypergeometric_rows(
                values, total, held, entry
            )
        low, distribution = first, after / after.sum()
    return low, distribution
