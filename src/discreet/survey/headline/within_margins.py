"""What published tables of the population make certain of the risk of each record.

Of the persons with a level of a key, those of the file who have other keys cannot share those of a
record. So F is at most f and as many as are left, for each table; where nobody is left, F = f.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.contract import Cells, Scoring
from discreet.engines.steps import NothingKept
from discreet.figures import Figure, How, Outcome
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.exact_sums import as_float, exact_sum
from discreet.survey.headline.limits import exactly
from discreet.survey.headline.recommendation import FROM_KEYS, Estimated, Recommended
from discreet.survey.headline.record_risk import POPULATION_UNIQUE, RISK
from discreet.survey.known_margins import Keys, KnownMargins


@dataclass(frozen=True)
class WithinMargins(NothingKept):
    """Other risks, within what the tables leave possible. `sample` are the records by the same
    levels as the `margins`."""

    risks: Scoring[None]
    margins: KnownMargins
    sample: Mapping[Keys, IntArray]
    gives = (RISK, POPULATION_UNIQUE)

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the risks look at."""
        return tuple(self.risks.reads)

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], None]:
        """Of some cells."""
        found, _ = self.risks.of(batch)
        most = batch.sample_count + self.margins.most_beside(batch.levels(), self.sample)
        certain = most <= 1
        return {
            RISK: np.maximum(found[RISK], 1 / np.maximum(most, 1)),
            POPULATION_UNIQUE: np.where(certain, 1.0, found[POPULATION_UNIQUE]),
        }, None


@dataclass(frozen=True)
class Gained:
    """What the tables add: exact sums of the uniques and of the matches, and how many records are
    certain to be unique."""

    within: WithinMargins

    @property
    def reads(self) -> tuple[str, ...]:
        """What the risks look at."""
        return self.within.reads

    def of(self, batch: CellBatch) -> tuple[int, int, int]:
        """Of some cells."""
        before, _ = self.within.risks.of(batch)
        after, _ = self.within.of(batch)
        told = ~np.isnan(before[RISK])
        more = {name: (after[name] - before[name])[told] for name in after}
        records = batch.n_records[told]
        certain = (after[POPULATION_UNIQUE][told] == 1) & (records == 1)
        uniques = more[POPULATION_UNIQUE] * records
        return exact_sum(uniques), exact_sum(more[RISK] * records), int(np.count_nonzero(certain))

    def joined(
        self, one: tuple[int, int, int], other: tuple[int, int, int]
    ) -> tuple[int, int, int]:
        """Of the cells of both."""
        return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def within_margins(found: Estimated, cells: Cells, margins: KnownMargins) -> Estimated:
    """The estimate, and that of each cell, within what the tables leave possible."""
    every = tuple(range(len(cells.space.keys)))
    if every in margins.certain and not cells.space.overlap:
        return _counted(cells, margins.certain[every])
    if found.risks is None or not margins.certain:
        return found
    within = WithinMargins(found.risks, margins, cells.margins(list(margins.certain)))
    uniques, matches, certain = cells.fold(Gained(within))
    led = found.recommended
    most_uniques = most_matches = math.inf
    if not cells.space.overlap:
        most_uniques, most_matches = cells.size_indices().sample_uniques, cells.n_cells
    led = replace(
        led,
        expected_population_uniques=_raised(
            led.expected_population_uniques,
            as_float(uniques),
            certain,
            most_uniques,
            f"by the published tables {f'{certain:,}' if certain else 'none'} of them are alone in "
            "the population for certain",
        ),
        expected_correct_matches=_raised(
            led.expected_correct_matches, as_float(matches), certain, most_matches
        ),
    )
    return replace(found, recommended=led, risks=within)


@dataclass(frozen=True)
class PublishedRisks:
    """1/F and F = 1 by a table of all keys, and exact sums of the uniques and the matches."""

    table: IntArray
    reads: tuple[str, ...] = ()
    gives = (RISK, POPULATION_UNIQUE)

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], tuple[int, int]]:
        """Of some cells."""
        persons = self.table[tuple(batch.levels().T)]
        risk = 1.0 / persons
        unique = (persons == 1).astype(np.float64)
        sums = int(unique.sum()), exact_sum(batch.n_records * risk)
        return {RISK: risk, POPULATION_UNIQUE: unique}, sums

    def joined(self, one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
        """Of the cells of both."""
        return one[0] + other[0], one[1] + other[1]


def _counted(cells: Cells, table: IntArray) -> Estimated:
    """The truth, where a table of all keys says it."""
    uniques, matches = cells.add(PublishedRisks(table))
    led = Recommended(
        model=FROM_KEYS,
        why="is exact: a published table has all keys, so nothing has to be estimated",
        expected_population_uniques=exactly(float(uniques)),
        expected_correct_matches=exactly(as_float(matches)),
    )
    return Estimated(recommended=led, risks=AsBeside())


@dataclass(frozen=True)
class AsBeside(NothingKept):
    """Risks that lie beside the cells already."""

    reads = (RISK, POPULATION_UNIQUE)
    gives = (RISK, POPULATION_UNIQUE)

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], None]:
        """Of some cells."""
        return {name: batch.extra[name] for name in self.gives}, None


def _raised(outcome: Outcome, by: float, least: int, most: float, told: str = "") -> Outcome:
    """An estimate that is so much higher, at least what is certain and at most what is possible;
    limits that were whole stay so."""
    if not isinstance(outcome, Figure) or outcome.how is not How.ESTIMATE or outcome.value is None:
        return outcome
    value = min(max(outcome.value + by, float(least)), most)
    low = min(max(outcome.low or 0.0, float(least)), value)
    high = None
    if outcome.high is not None:
        raised = outcome.high + by
        raised = math.ceil(raised) if outcome.high == math.floor(outcome.high) else raised
        high = max(min(raised, most), value)
    note = "; ".join(filter(None, (outcome.note, told)))
    return replace(outcome, value=value, low=low, high=high, note=note)
