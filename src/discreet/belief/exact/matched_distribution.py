"""The distribution of a table under decomposable margins that hold all of the model's, in closed
form.

All ways of matching records along the junction tree are then equally probable, so that

    Pr(F | R) = ∏_C ∏ n_C! / (∏_S ∏ n_S! · ∏ F!)

over the released cliques C and the separators S, and each cell that of a chain
of hypergeometric steps along the tree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

import numpy as np
from scipy.special import gammaln

from discreet.belief.models.generators import Axes, HierarchicalModel
from discreet.fiber.system.decomposable import separator_table
from discreet.fiber.system.margins import Margins
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.graphs import junction_tree

MOST_VALUES = 20_000  # that a cell of the smallest margin may have
MOST_RECORDS = 2**24  # whose factorials are kept
NEGLIGIBLE = 1e-30  # of the largest probability: far below rounding


@dataclass(frozen=True, slots=True)
class MatchedDistribution:
    """Pr(F | R) for decomposable margins; `log_normaliser` is log Σ 1/∏F! over the fiber.

    Parts of the junction tree and its separators, each with its table, are looked up once for all
    cells; separator k ties part k + 1 to the part `parents[k]`, one of those before it.
    `log_factorial` is log n! for every n up to the total.
    """

    sizes: tuple[int, ...]
    parts: Sequence[tuple[Axes, IntArray]]
    separators: Sequence[tuple[Axes, IntArray]]
    parents: tuple[int, ...]
    log_factorial: FloatArray
    log_normaliser: float

    def cell(self, levels: Sequence[int]) -> dict[int, float]:
        """Pr(F(cell) = q), the cell being given by its levels. Exact but for rounding.

        Any part can be the first one; the part with the fewest records leaves the fewest values.
        """
        entries = [int(t[tuple(levels[a] for a in axes)]) for axes, t in self.parts]
        shared = [int(t[tuple(levels[a] for a in axes)]) for axes, t in self.separators]
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
        over.
        """
        within_time = takewhile(lambda _: not is_over(), rows.tolist())
        return [self.cell(levels) for levels in within_time]

    def _step(
        self, low: int, distribution: FloatArray, entry: int, total: int
    ) -> tuple[int, FloatArray]:
        """The distribution after matching with `entry` of the `total` records of a separator."""
        held = low + np.arange(len(distribution))
        first, last = max(0, low + entry - total), min(int(held[-1]), entry)
        values = np.arange(first, last + 1)
        lf, h, x = self.log_factorial, held[:, None], values[None]
        possible = (x <= h) & (total - h - entry + x >= 0)
        rest = np.where(possible, total - h - entry + x, 0)
        gone = np.where(possible, h - x, 0)
        logs = lf[h] - lf[x] - lf[gone] + lf[total - h] - lf[entry - x] - lf[rest]
        logs -= lf[total] - lf[entry] - lf[total - entry]
        after: FloatArray = distribution @ np.exp(np.where(possible, logs, -np.inf))
        kept = np.flatnonzero(after > NEGLIGIBLE * after.max())
        after = after[kept[0] : kept[-1] + 1]
        return first + int(kept[0]), after / after.sum()

    def log_probability(self, table: IntArray) -> float:
        """log Pr(F = table), of which cells of count zero may be left out.

        Trusted: the table has the margins.
        """
        return -float(gammaln(np.ravel(table) + 1.0).sum()) - self.log_normaliser

    def entropy(self) -> float:
        """Entropy of the table [bits]: log Z + Σ E log F(i)!, by the distributions of all cells."""
        total = self.log_normaliser
        for levels in np.ndindex(*self.sizes):
            distribution = self.cell(levels)
            total += sum(p * float(self.log_factorial[q]) for q, p in distribution.items())
        return max(total / float(np.log(2.0)), 0.0)


def matched_distribution(margins: Margins, model: HierarchicalModel) -> MatchedDistribution | None:
    """The distribution, or None: margins not decomposable or not of every variable, a model with
    others besides, or counts too large for it."""
    tree = junction_tree(margins.tables)
    covered = {axis for axes in margins.tables for axis in axes}
    least = min(int(table.max(initial=0)) for table in margins.tables.values())
    whole = covered == set(range(len(margins.sizes))) and _released(margins, model)
    if tree is None or not whole or least > MOST_VALUES or margins.total > MOST_RECORDS:
        return None
    log_factorial: FloatArray = gammaln(np.arange(margins.total + 1) + 1.0)
    separators = [
        (axes, np.asarray(separator_table(margins, axes))) for axes in tree.separators[1:]
    ]
    log_z = -sum(float(log_factorial[t].sum()) for t in margins.tables.values())
    log_z += sum(float(log_factorial[t].sum()) for _, t in separators)
    parts = [(axes, margins.tables[axes]) for axes in tree.components]
    return MatchedDistribution(
        margins.sizes, parts, separators, tree.parents[1:], log_factorial, log_z
    )


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
