"""How risk is measured, and by which intruder: presets of the general risk (1) of dobra."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.belief.intruder_priors import prior_named
from discreet.choice.actors import Intruder
from discreet.errors import InputError, must_be
from discreet.fiber.system.priors import DirichletMultinomial, Prior
from discreet.figures import Outcome
from discreet.numerics.arrays import IntArray
from discreet.tables.attacks import bounds_scenario, cells_scenario, table_scenario
from discreet.tables.disclosure import Scenario
from discreet.tables.refused_margin import RiskMeasure

INTRUDERS: Mapping[str, str] = {
    "dirichlet": "holds every mix of the cells possible (Dirichlet, {alpha:g} in every cell)",
    "multinomial": "believes that every person is equally likely to be in any cell",
    "uniform": "holds every table as probable as any other",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How risk is measured: which measure, what is small, when a count is taken as found."""

    kind: RiskMeasure = RiskMeasure.CELLS
    small: int = 2
    confidence: float = 0.5
    alpha: float = 0.5

    def __post_init__(self) -> None:
        if self.small < 1:
            raise InputError(must_be("small", "at least 1", self.small))
        if not 0 <= self.confidence < 1:
            raise InputError(must_be("confidence", "from 0 to below 1", self.confidence))
        if not 0 < self.alpha < 1e6:
            raise InputError(must_be("alpha", "above 0 and below 1,000,000", self.alpha))

    def scenario(self, n_cells: int) -> Scenario:
        """The preset of the general risk (1) that gives the measure."""
        if self.kind is RiskMeasure.BOUNDS:
            return bounds_scenario(self.small)
        if self.kind is RiskMeasure.TABLE:
            return table_scenario()
        if self.kind is RiskMeasure.COUNT:  # the greatest of several attacks, each on one cell
            return cells_scenario(n_cells, small=self.small, confidence=0.0)
        return cells_scenario(n_cells, small=self.small, confidence=self.confidence)

    def intruder(self, name: str, n_cells: int) -> Intruder:
        """The intruder of that name, by the prior he holds."""
        prior: Prior = prior_named(name, n_cells)
        if name == "dirichlet":
            prior = DirichletMultinomial(np.full(n_cells, self.alpha))
        return Intruder(name=name, prior=prior, scenario=self.scenario(n_cells))


@dataclass(frozen=True, slots=True)
class Exposure:
    """The risk of a release and how it was got.

    `counted` says of a release whose choice tells something whether that is in the risk, and
    `uncounted` why it is not.
    """

    risk: Outcome
    method: str
    counted: bool | None = None
    uncounted: str = ""


def small_cells(truth: IntArray, small: int) -> IntArray:
    """Cells with a count from 1 to `small`, in C order."""
    flat = np.ravel(truth)
    return np.flatnonzero((flat > 0) & (flat <= small))
