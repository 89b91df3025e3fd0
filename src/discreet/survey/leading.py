"""The estimate that leads: of the whole file, of each record, and of each scenario."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.engines.contract import ClassLimits
from discreet.figures import Figure, How, Unavailable
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.numerics.rounding import ALIKE
from discreet.progress import Progress, silent
from discreet.survey.bayes_test import CalledUnique
from discreet.survey.headline.by_pattern import recommend_by_pattern
from discreet.survey.headline.recommendation import Estimated, Recommended, recommend_cells
from discreet.survey.headline.record_risk import CellRisks
from discreet.survey.projection import AllCells
from discreet.survey.regrouping import KeysLeftOut
from discreet.survey.risk_histogram import RiskDistribution
from discreet.survey.scoring import ModelResult


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskOverview:
    """How the recommended risk is spread over the records.

    `high`, `some` and `low` count the records of each class by `limits`; `unknown` have no risk.
    `largest` is the greatest risk of a record; `above` counts the records above some other risks.
    """

    limits: ClassLimits
    distribution: RiskDistribution
    largest: float
    high: int
    some: int
    low: int
    unknown: int
    called_unique: CalledUnique | None = None
    above: Mapping[float, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of the population: its size, the weights of each cell's own records, and the
    number of possible cells, which is `given` where the user said so."""

    size: float | None
    weights: FloatArray | None
    n_table_cells: int | None = None
    given: bool = False

    def seen_through(self, place: IntArray, n_cells: int) -> "Known":
        """The same of coarser cells, `place` telling in which of them each cell lies."""
        weights = self.weights
        if weights is not None:
            weights = np.bincount(place, weights, n_cells).astype(np.float64)
        return Known(size=self.size, weights=weights)


def estimated(
    cells: AllCells,
    known: Known,
    progress: Progress = silent,
    *,
    left_out: KeysLeftOut | None = None,
) -> Estimated:
    """The recommended estimate of all cells; by patterns where missing values match anything.

    `left_out` counts the cells without each key, where others want to know that too."""
    if cells.overlap:
        return recommend_by_pattern(
            cells, population_size=known.size, weight_total=known.weights, progress=progress
        )
    possible = known.n_table_cells
    return recommend_cells(
        cells.words,
        cells.records,
        cells.coding,
        population_size=known.size,
        n_table_cells=cells.n_possible() if possible is None else possible,
        weight_total=known.weights,
        n_table_cells_known=known.given,
        left_out=left_out,
    )


def overview(
    risks: CellRisks,
    records: IntArray,
    limits: ClassLimits,
    loss_ratios: tuple[float, ...],
    counted: Iterable[float] = (),
) -> RiskOverview | None:
    """How the risks of the cells are spread over their records; None where there is no risk.

    Records above the risks that are to be `counted` are counted too."""
    told = ~np.isnan(risks.risk)
    if not told.any():
        return None
    risk, held = risks.risk[told], records[told]
    high, some = _above(risk, limits.high), _above(risk, limits.some)
    unique = risks.population_unique[told]
    called = None
    if not np.isnan(unique).any():
        called = CalledUnique.none_yet(loss_ratios).add(unique, held)
    return RiskOverview(
        limits=limits,
        distribution=RiskDistribution.empty().add(risk, held),
        largest=float(risk.max()),
        high=int(held[high].sum()),
        some=int(held[some & ~high].sum()),
        low=int(held[~some].sum()),
        unknown=int(records[~told].sum()),
        called_unique=called,
        above={limit: int(held[_above(risk, limit)].sum()) for limit in counted},
    )


def _above(risk: FloatArray, limit: float) -> BoolArray:
    """Which risks are above a limit by more than rounding can make."""
    found: BoolArray = risk > limit * (1 + ALIKE)
    return found


def beside(led: Recommended, results: Mapping[str, ModelResult | Unavailable]) -> Recommended:
    """The estimate with what other models say of the uniques, and which of them the data
    contradict."""
    told = {name: r for name, r in results.items() if isinstance(r, ModelResult)}
    values = {
        name: r.expected_population_uniques.value
        for name, r in told.items()
        if name != led.model
        and isinstance(r.expected_population_uniques, Figure)
        and r.expected_population_uniques.how is How.ESTIMATE
    }
    return replace(
        led,
        others={name: value for name, value in values.items() if value is not None},
        contradicted=tuple(name for name in values if told[name].caution),
    )
