"""How bad published tables are for the crosses of fewer variables: men of a village, of any age.

A small count that is found there is found, whatever is known of the finest cells. The cells of the
table of all parts are weighed as for these.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from discreet.belief.request import Limits, Question
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.fiber.system.linear_system import Statement
from discreet.fiber.system.priors import Multinomial
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray
from discreet.tables.cross_risks import CrossRisk, risks_by_all
from discreet.tables.crosses import crosses
from discreet.tables.linked.reduced import Reduced
from discreet.tables.refused_margin import RiskFigure, RiskMeasure

MOST_CELLS = 4096  # of a table whose crosses are weighed
LIMITS = Limits(least_effective=100.0)
NOT_WEIGHED = Unavailable("the tables that fit could not be weighed in time")


@dataclass(frozen=True, slots=True)
class SmallerCrosses:
    """The risk of each cross that has small counts; `all_looked_at` says whether there are more."""

    table: Table
    risks: tuple[CrossRisk, ...]
    all_looked_at: bool


def smaller_crosses(
    known: Reduced, truth: IntArray, figure: RiskFigure, seed: int, clock: Clock
) -> SmallerCrosses:
    """The crosses of fewer variables than the tables have together, by a measure."""
    universe = known.universe
    names = [domain.name for domain in universe.domains]
    levels = [domain.parts for domain in universe.domains]
    table = Table.of_dense(truth, names, levels)
    if len(names) < 2:
        return SmallerCrosses(table, (), all_looked_at=True)
    every = range(len(names))
    own = [tuple(sorted(map(names.index, one.variables))) for one in universe.tables]
    wanted = [
        axes
        for axes in crosses(own, len(names), len(table.cells), also=every, exact=False)
        if figure.measure is RiskMeasure.TABLE or _has_small(table.margin(axes), figure.small)
    ]
    if not wanted:
        return SmallerCrosses(table, (), all_looked_at=True)
    if table.n_cells > MOST_CELLS or known.n_unlimited or np.any(universe.atom_of < 0):
        return SmallerCrosses(table, (), all_looked_at=False)
    told = list(_of_cells(known))
    question = Question(
        prior=Multinomial(), shape=table.sizes, known=told, truth=table.dense(), limits=LIMITS
    )
    found = risks_by_all(table, question, told, figure, wanted, seed=seed, clock=clock)
    risks = tuple(found) or (CrossRisk(axes=wanted[0], risk=NOT_WEIGHED, n_small=1, n_looked_at=0),)
    return SmallerCrosses(table, risks, all_looked_at=True)


def _has_small(counts: IntArray, small: int) -> bool:
    return bool(np.any((counts > 0) & (counts <= small)))


def _of_cells(known: Reduced) -> Iterator[Statement]:
    """What the figures say of the cells, and not of the atoms."""
    universe = known.universe
    sizes = universe.size_of_atom
    for one in known.statements():
        weights = one.coefficients
        spread = None if weights is None else np.repeat(weights, sizes[one.cells])
        yield replace(one, cells=universe.cells_of(one.cells), coefficients=spread)
