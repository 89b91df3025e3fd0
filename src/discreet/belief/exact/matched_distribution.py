"""The distribution of a table under decomposable margins that hold all of the model's, in closed
form.

All ways of matching records along the junction tree are then equally probable, so that

    Pr(F | R) = ∏_C ∏ n_C! / (∏_S ∏ n_S! · ∏ F!)

over the released cliques C and the separators S, and each cell that of a chain
of hypergeometric steps along the tree."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from discreet.belief.models.generators import Axes, HierarchicalModel
from discreet.clock import work
from discreet.fiber.system.decomposable import separator_table
from discreet.fiber.system.margins import Margins
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.numerics.gamma_ratio import log_factorial_difference, log_gamma_ratio
from discreet.numerics.graphs import junction_tree
from discreet.numerics.hypergeometric import hypergeometric_chance, hypergeometric_rows

MOST_VALUES = 20_000  # that a cell of the smallest margin may have
MATCH_SECONDS, PAIR_SECONDS = 1e-4, 5e-8  # a match, and each pair of values before and after
MOST_RECORDS = 2**24  # of a table that is matched
ROOM = 1e-3  # that a quick probability may be off, relative to the confidence
NEGLIGIBLE = 1e-30  # of the largest probability: far below rounding


@dataclass(frozen=True, slots=True)
class MatchedDistribution:
    """Pr(F | R) for decomposable margins.

    Parts of the junction tree and its separators, each with its table, are looked up once for all
    cells; separator k ties part k + 1 to the part `parents[k]`, one of those before it.
    `released` are the counts of the margins, `shared` those of the separators.
    """

    sizes: tuple[int, ...]
    parts: Sequence[tuple[Axes, IntArray]]
    separators: Sequence[tuple[Axes, IntArray]]
    parents: tuple[int, ...]
    released: IntArray
    shared: IntArray

    @property
    def log_normaliser(self) -> float:
        """log Σ 1/∏F! over the fiber."""
        return log_factorial_difference(self.shared, self.released)

    def cell(self, levels: Sequence[int]) -> dict[int, float]:
        """Pr(F(cell) = q), the cell being given by its levels. Exact but for rounding.

        Any part can be the first one; the part with the fewest records leaves the fewest values.
        """
        entries = [int(t[tuple(levels[a] for a in axes)]) for axes, t in self.parts]
        shared = [int(t[tuple(levels[a] for a in axes)]) for axes, t in self.separators]
        return self._of(entries, shared)

    def _of(self, entries: Sequence[int], shared: Sequence[int]) -> dict[int, float]:
        """The distribution of a cell by the counts of its parts and separators."""
        low = min(entries)
        distribution: FloatArray = np.ones(1)
        for part, separator in walk_from(entries.index(low), self.parents):
            if entries[part] < shared[separator]:
                low, distribution = self._step(low, distribution, entries[part], shared[separator])
        return {low + q: float(p) for q, p in enumerate(distribution) if p > 0}

    def cells(
        self, rows: IntArray, is_over: Callable[[], bool] = lambda: False
    ) -> list[dict[int, float]]:
        """The distributions of cells given by rows of levels, of the first ones only where time is
        over. Cells with the same counts of parts and separators share one.
        """
        entries, shared = self._looked_up(rows)
        known: dict[tuple[int, ...], dict[int, float]] = {}
        found = []
        for own, ties in zip(entries.tolist(), shared.tolist(), strict=True):
            key = (*own, *ties)
            if key not in known:
                if is_over():
                    break
                known[key] = self._of(own, ties)
            found.append(known[key])
        return found

    def may_hold(self, rows: IntArray, values: IntArray, confidence: float) -> BoolArray:
        """Cells (rows of levels) that may hold these values, from 1 on, with a probability above
        the confidence; all others do not.

        Since Pr(F = q) ≤ Pr(F ≥ q) ≤ E F / q; of two parts the probability itself is told, but for
        rounding.
        """
        entries, shared = self._looked_up(rows)
        logs = np.log(entries).sum(axis=1) - np.log(shared).sum(axis=1)
        found: BoolArray = np.exp(logs) > (1 - ROOM) * confidence * values
        if len(self.parts) == 2:
            one, other, total = entries[:, 0], entries[:, 1], shared[:, 0]
            chance = hypergeometric_chance(values, total, one, other)
            found &= chance > (1 - ROOM) * confidence
        return found

    def _looked_up(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """The counts of the parts and of the separators at each row of levels."""
        columns = [
            [table[tuple(rows[:, axis] for axis in axes)] for axes, table in tables]
            for tables in (self.parts, self.separators)
        ]
        n = len(rows)
        entries, shared = (
            np.stack([np.broadcast_to(own, n) for own in part], axis=1)
            if part
            else np.empty((n, 0), dtype=np.int64)
            for part in columns
        )
        return entries, shared

    def _step(
        self, low: int, distribution: FloatArray, entry: int, total: int
    ) -> tuple[int, FloatArray]:
        """The distribution after matching with `entry` of the `total` records of a separator."""
        held = low + np.arange(len(distribution))
        first = max(0, low + entry - total)
        values = np.arange(first, min(int(held[-1]), entry) + 1)
        work(MATCH_SECONDS + PAIR_SECONDS * len(values) * len(held))
        after: FloatArray = distribution @ hypergeometric_rows(values, total, held, entry)
        kept = np.flatnonzero(after > NEGLIGIBLE * after.max())
        after = after[kept[0] : kept[-1] + 1]
        return first + int(kept[0]), after / after.sum()

    def log_probability(self, table: IntArray) -> float:
        """log Pr(F = table), of which cells of count zero may be left out.

        Trusted: the table has the margins.
        """
        hidden = np.concatenate([np.ravel(table), self.shared])
        return log_factorial_difference(self.released, hidden)

    def entropy(self) -> float:
        """Entropy of the table [bits]: log Z + Σ E log F(i)!, by the distributions of all cells."""
        modes, spread = [], 0.0
        for levels in np.ndindex(*self.sizes):
            distribution = self.cell(levels)
            values, p = np.array([*distribution]), np.array([*distribution.values()])
            modes.append(values[np.argmax(p)])
            spread += float(p @ log_gamma_ratio(modes[-1] + 1.0, values - modes[-1]))
        # log Z and the factorials of the modes are large and all but cancel.
        known = log_factorial_difference(np.append(self.shared, modes), self.released)
        return max((known + spread) / float(np.log(2.0)), 0.0)


def matched_distribution(margins: Margins, model: HierarchicalModel) -> MatchedDistribution | None:
    """The distribution, or None: margins not decomposable or not of every variable, a model with
    others besides, or counts too large for it."""
    tree = junction_tree(margins.tables)
    covered = {axis for axes in margins.tables for axis in axes}
    least = min(int(table.max(initial=0)) for table in margins.tables.values())
    whole = covered == set(range(len(margins.sizes))) and _released(margins, model)
    if tree is None or not whole or least > MOST_VALUES or margins.total > MOST_RECORDS:
        return None
    separators = [
        (axes, np.asarray(separator_table(margins, axes))) for axes in tree.separators[1:]
    ]
    return MatchedDistribution(
        sizes=margins.sizes,
        parts=[(axes, margins.tables[axes]) for axes in tree.components],
        separators=separators,
        parents=tree.parents[1:],
        released=_joined(margins.tables.values()),
        shared=_joined(table for _, table in separators),
    )


def _joined(tables: Iterable[IntArray]) -> IntArray:
    """All counts of some tables in one row."""
    return np.concatenate([np.zeros(0, np.int64), *map(np.ravel, tables)])


@cache
def walk_from(first: int, parents: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """All other parts of a tree in an order from `first` on, each with the separator before it.

    `parents[k]` is the part that separator k ties to part k + 1.
    """
    ties: dict[int, list[tuple[int, int]]] = {part: [] for part in range(len(parents) + 1)}
    for separator, parent in enumerate(parents):
        ties[parent].append((separator + 1, separator))
        ties[separator + 1].append((parent, separator))
    found, reached, waiting = [], {first}, [first]
    while waiting:
        for part, separator in ties[waiting.pop()]:
            if part not in reached:
                reached.add(part)
                waiting.append(part)
                found.append((part, separator))
    return tuple(found)


def _released(margins: Margins, model: HierarchicalModel) -> bool:
    held = [set(axes) for axes in margins.tables]
    return all(any(set(group) <= own for own in held) for group in model.generators)
