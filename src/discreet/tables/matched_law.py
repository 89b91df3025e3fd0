"""The law of a table under decomposable margins that hold all of the model's, in closed form.

All ways of matching records along the junction tree are then equally probable, so that

    Pr(F | R) = ∏_C ∏ n_C! / (∏_S ∏ n_S! · ∏ F!)

over the released cliques C and the separators S, and each cell has the law of `named_cells`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from discreet.data.arrays import IntArray
from discreet.fiber.decomposable import junction_tree, separator_table
from discreet.fiber.margins import Margins
from discreet.tables.generators import HierarchicalModel
from discreet.tables.named_cells import MOST_VALUES, cell_law


@dataclass(frozen=True, slots=True)
class MatchedLaw:
    """Pr(F | R) for decomposable margins; `log_normaliser` is log Σ 1/∏F! over the fiber."""

    margins: Margins
    log_normaliser: float

    def cell(self, cell: int) -> dict[int, float]:
        """Pr(F(cell) = q), the cell being numbered in C order. Exact."""
        return cell_law(self.margins, self._levels(cell))

    def log_probability(self, table: IntArray) -> float:
        """log Pr(F = table). Trusted: the table has the margins."""
        return -float(gammaln(np.ravel(table) + 1.0).sum()) - self.log_normaliser

    def entropy(self) -> float:
        """Entropy of the table [bits]: log Z + Σ E log F(i)!."""
        total = self.log_normaliser
        for cell in range(self.margins.n_cells):
            law = self.cell(cell)
            total += sum(p * float(gammaln(q + 1.0)) for q, p in law.items())
        return max(total / float(np.log(2.0)), 0.0)

    def _levels(self, cell: int) -> IntArray:
        return np.array(np.unravel_index(cell, self.margins.sizes), dtype=np.int64)


def matched_law(margins: Margins, model: HierarchicalModel) -> MatchedLaw | None:
    """The law, or None: margins not decomposable or not of every variable, a model with others
    besides, or cells too large for it."""
    tree = junction_tree(margins.tables)
    covered = {axis for axes in margins.tables for axis in axes}
    sizes = [int(table.max(initial=0)) for table in margins.tables.values()]
    fits = tree is not None and covered == set(range(len(margins.sizes)))
    if not fits or min(sizes) > MOST_VALUES or not _released(margins, model):
        return None
    assert tree is not None
    log_z = -sum(float(gammaln(t + 1.0).sum()) for t in margins.tables.values())
    for axes in tree.separators[1:]:
        log_z += float(gammaln(separator_table(margins, axes) + 1.0).sum())
    return MatchedLaw(margins, log_z)


def _released(margins: Margins, model: HierarchicalModel) -> bool:
    held = [set(axes) for axes in margins.tables]
    return all(any(set(group) <= own for own in held) for group in model.generators)
