"""How many cells a table can have where the sample need not have shown every level of every key.

The product of the levels seen is too low where keys have levels that the sample missed, such as
dates of birth. How many are missing is told by the levels seen once and twice; the more are
missing, the less is the product held against a model that needs more cells.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from discreet.numerics.arrays import IntArray

TOLERANCE = 0.1  # log units by which the possible cells may be exceeded where they are known
DOUBT = 2.0  # further log units for each squared log unit of levels supposed unseen


@dataclass(frozen=True, slots=True)
class PossibleCells:
    """Logarithm of the possible cells, and by how many log units a model may exceed them.

    `tolerance` is the scale of the penalty exp(−½(excess / tolerance)²) on a model; `known` that
    they are not guessed from the sample.
    """

    log_number: float
    tolerance: float = TOLERANCE
    known: bool = field(default=False, compare=False)


UNLIMITED = PossibleCells(math.inf)


def known_cells(n_table_cells: int) -> PossibleCells:
    """Possible cells that are known, not guessed from the levels seen."""
    return PossibleCells(math.log(max(n_table_cells, 1)), known=True)


def cells_of_all_levels(margins: Iterable[IntArray], n_table_cells: int) -> PossibleCells:
    """Possible cells from the `n_table_cells` of the levels seen, allowing for levels unseen.

    `margins` has the records of each level of each key. With u = Σ log(1 + unseen/seen) over the
    keys there are e^u times as many, within `TOLERANCE` + `DOUBT`·u² log units. Where every level
    is seen often, u = 0 and nothing changes; where most are unseen, hardly any model is held back.
    """
    u = math.fsum(map(_log_growth, margins))  # in whatever order the keys are
    return PossibleCells(math.log(max(n_table_cells, 1)) + u, TOLERANCE + DOUBT * u**2)


def unseen_levels(records_of_level: IntArray) -> float:
    """Levels that the sample missed, at least: s₁(s₁ − 1) / (2(s₂ + 1)).

    s₁ and s₂ levels hold one and two records; levels that hold none do not count. This is the
    bias-corrected estimate of a lower limit (Chao 1984): exact on average where all levels are
    equally likely, too low otherwise.
    """
    once, twice = (int((records_of_level == size).sum()) for size in (1, 2))
    return once * (once - 1) / (2 * (twice + 1))


def _log_growth(margin: IntArray) -> float:
    """log of all levels over those seen, for one key."""
    return math.log1p(unseen_levels(margin) / max(int((margin > 0).sum()), 1))
