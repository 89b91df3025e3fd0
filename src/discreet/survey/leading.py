"""The estimate that leads: of the whole file, of each record, and of each scenario."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.contract import Cells, ClassLimits
from discreet.engines.key_space import View
from discreet.figures import Figure, How, Unavailable
from discreet.numerics.arrays import BoolArray, FloatArray
from discreet.numerics.rounding import ALIKE
from discreet.progress import Progress, silent
from discreet.survey.bayes_test import CalledUnique
from discreet.survey.contributions import KeysLeftOut
from discreet.survey.design import Design
from discreet.survey.headline.by_pattern import recommend_by_pattern
from discreet.survey.headline.recommendation import Estimated, Recommended, recommend_cells
from discreet.survey.headline.record_risk import POPULATION_UNIQUE, RISK
from discreet.survey.headline.within_margins import within_margins
from discreet.survey.known_margins import KnownMargins
from discreet.survey.nested_keys import Nesting, nesting_of
from discreet.survey.projection import AllCells
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
    """What is known of the population: its size, and the number of possible cells, which is `given`
    where the user said so; keys that determine others, if they were sought; how the records were
    drawn; and published tables."""

    size: float | None
    n_table_cells: int | None = None
    given: bool = False
    nested: Nesting | None = None
    design: Design = field(default_factory=Design)
    margins: KnownMargins = field(default_factory=KnownMargins)

    @property
    def is_plain(self) -> bool:
        """Whether nothing is known but the size: no tables, and records that were drawn singly."""
        return self.design.finer is None and not self.margins.tables

    def of_other_cells(self) -> "Known":
        """What is known of cells that are no view of these: the size."""
        return Known(size=self.size, design=replace(self.design, words=()))

    def seen_through(self, view: View) -> "Known":
        """What is known of coarser cells."""
        design, margins = self.design.seen_through(view), self.margins.seen_through(view)
        return Known(size=self.size, design=design, margins=margins)


def estimated(
    cells: Cells,
    known: Known,
    progress: Progress = silent,
    *,
    left_out: KeysLeftOut | None = None,
    nesting: bool = True,
) -> Estimated:
    """The recommended estimate of all cells; by patterns where missing values match anything, and
    within and between what was drawn together.

    `left_out` counts the cells without each key, where others want to know that too; `nesting` says
    that keys which determine others leave fewer cells possible."""
    found = _estimated(cells, known, progress, left_out=left_out, nesting=nesting)
    return known.design.told(within_margins(found, cells, known.margins))


def _estimated(
    cells: Cells, known: Known, progress: Progress, *, left_out: KeysLeftOut | None, nesting: bool
) -> Estimated:
    if cells.space.overlap:
        return recommend_by_pattern(
            AllCells.of(cells, cells.n_cells),
            population_size=known.size,
            doubt=known.design.doubt,
            progress=progress,
        )
    nested, possible = known.nested, known.n_table_cells
    if nested is None:
        nested = nesting_of(cells) if nesting else Nesting()
    if possible is None:
        possible = nested.n_possible(cells.space.known_sizes)
    if known.design.finer is not None:
        return known.design.estimated(
            population_size=known.size, n_table_cells=possible, n_table_cells_known=known.given
        )
    return recommend_cells(
        cells,
        population_size=known.size,
        n_table_cells=possible,
        n_table_cells_known=known.given,
        left_out=left_out,
        repeated=nested.repeated,
        margins=known.margins,
        doubt=known.design.doubt,
    )


def overview(
    cells: Cells,
    limits: ClassLimits,
    loss_ratios: tuple[float, ...] = (),
    counted: Iterable[float] = (),
) -> RiskOverview | None:
    """How the risks beside the cells are spread over their records; None where there is no risk.

    Records above the risks that are to be `counted` are counted too."""
    found = cells.fold(SpreadOfRisk(limits, loss_ratios, tuple(counted)))
    return found if found.high + found.some + found.low else None


@dataclass(frozen=True, slots=True)
class SpreadOfRisk:
    """How the risks are spread over the records."""

    limits: ClassLimits
    loss_ratios: tuple[float, ...]
    counted: tuple[float, ...]
    reads: tuple[str, ...] = (RISK, POPULATION_UNIQUE)

    def of(self, batch: CellBatch) -> RiskOverview:
        """Of some cells."""
        all_risks, records = batch.extra[RISK], batch.n_records
        told = ~np.isnan(all_risks)
        risk, held = all_risks[told], records[told]
        high, some = _above(risk, self.limits.high), _above(risk, self.limits.some)
        unique = batch.extra[POPULATION_UNIQUE][told]
        called = None
        if not np.isnan(unique).any():
            called = CalledUnique.none_yet(self.loss_ratios).add(unique, held)
        return RiskOverview(
            limits=self.limits,
            distribution=RiskDistribution.empty().add(risk, held),
            largest=float(risk.max(initial=0.0)),
            high=int(held[high].sum()),
            some=int(held[some & ~high].sum()),
            low=int(held[~some].sum()),
            unknown=int(records[~told].sum()),
            called_unique=called,
            above={limit: int(held[_above(risk, limit)].sum()) for limit in self.counted},
        )

    def joined(self, one: RiskOverview, other: RiskOverview) -> RiskOverview:
        """Of the cells of both."""
        called = None
        if one.called_unique is not None and other.called_unique is not None:
            called = one.called_unique.joined(other.called_unique)
        return RiskOverview(
            limits=self.limits,
            distribution=one.distribution.joined(other.distribution),
            largest=max(one.largest, other.largest),
            high=one.high + other.high,
            some=one.some + other.some,
            low=one.low + other.low,
            unknown=one.unknown + other.unknown,
            called_unique=called,
            above={limit: one.above[limit] + other.above[limit] for limit in self.counted},
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
