"""With a file of the whole population: the true counts, and the risks that need no model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.contract import Cells, PopulationTotals
from discreet.engines.steps import NothingKept
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray
from discreet.numerics.exact_sums import as_float, exact_sum
from discreet.survey.presence import JOURNALIST, PROSECUTOR

COUNT, MATCH = "population_count", "true_match_probability"
ABOVE = 0.2  # the risk above which a record is at risk


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFigures:
    """Probability that an intruder finds the right record: the highest, the average over the
    records, the figure that ARX calls success rate, and how many records are above `threshold`.
    See `discreet.survey.presence`."""

    highest: float
    average: float
    success_rate: float
    threshold: float
    records_at_risk: int
    record_share: float
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPopulation:
    """What is true of the sample, since the population is known. Exact.

    `population_uniques` are sample uniques that are alone in the population, `correct_matches` the
    sum of f/F: what models estimate. `delta_min` and `delta_max` are the least and the greatest
    share of the people of a cell who are in the sample, cells of the population without a record
    among them. `n_left_out` records of the file lack a key and are not among the `population_size`,
    as the missing policy says.
    """

    population_size: int
    population_uniques: int
    correct_matches: float
    prosecutor: AttackFigures
    journalist: AttackFigures
    marketer: float
    delta_min: float
    delta_max: float
    n_left_out: int = 0
    columns: ClassVar[tuple[str, ...]] = (COUNT, MATCH)  # beside the cells


def known_population(
    cells: Cells, population: PopulationTotals, *, threshold: float = ABOVE
) -> KnownPopulation:
    """The true figures, from the column `population_count` beside the cells; `threshold` is the
    risk above which a record is at risk.

    Checked: every cell of the sample has at least as many records in the population.
    """
    held = cells.fold(TruthOfCells(threshold))
    if held.short:
        rule = "a file that holds the whole population, the sample in it"
        got = f"{held.short:,} cells with fewer records than the sample"
        remedy = "check that keys and codes are the same in both files"
        raise InputError(must_be("population file", rule, got, remedy=remedy))
    cells.add(TrueMatches())
    n, matches = held.records, as_float(held.matches)
    outside = population.total > held.persons
    return KnownPopulation(
        population_size=population.total,
        population_uniques=held.uniques,
        correct_matches=matches,
        prosecutor=AttackFigures(
            highest=1 / held.least[0],
            average=held.cells / n,
            success_rate=held.cells / n,
            threshold=threshold,
            records_at_risk=held.at_risk[0],
            record_share=held.at_risk[0] / n,
            meaning=PROSECUTOR,
        ),
        journalist=AttackFigures(
            highest=1 / held.least[1],
            average=matches / n,
            success_rate=max(matches / n, held.cells / held.persons),
            threshold=threshold,
            records_at_risk=held.at_risk[1],
            record_share=held.at_risk[1] / n,
            meaning=JOURNALIST,
        ),
        marketer=matches / n,
        delta_min=0.0 if outside else held.presence[0],
        delta_max=held.presence[1],
        n_left_out=population.n_left_out,
    )


@dataclass(frozen=True, slots=True)
class Truth:
    """Sums over cells of f records of the sample and F of the population. `least` has the smallest
    f and F, `at_risk` the records with 1/f and with 1/F above the threshold, `short` the cells with
    F < f, and `presence` the least and the greatest f/F."""

    cells: int
    records: int
    persons: int
    uniques: int
    short: int
    matches: int
    least: tuple[int, int]
    at_risk: tuple[int, int]
    presence: tuple[float, float]


@dataclass(frozen=True, slots=True)
class TruthOfCells:
    """What is true of the cells."""

    threshold: float
    reads: tuple[str, ...] = (COUNT,)

    def of(self, batch: CellBatch) -> Truth:
        """Of some cells."""
        f, F = batch.n_records, batch.extra[COUNT]
        some = np.maximum(F, 1)
        share = f / some
        return Truth(
            cells=len(f),
            records=int(f.sum()),
            persons=int(F.sum()),
            uniques=int(np.count_nonzero(F == 1)),
            short=int(np.count_nonzero(f > F)),
            matches=exact_sum(share),
            least=(int(f.min()), int(F.min())),
            at_risk=(
                int(f[1 / f > self.threshold].sum()),
                int(f[1 / some > self.threshold].sum()),
            ),
            presence=(float(share.min()), float(share.max())),
        )

    def joined(self, one: Truth, other: Truth) -> Truth:
        """Of the cells of both."""
        return Truth(
            cells=one.cells + other.cells,
            records=one.records + other.records,
            persons=one.persons + other.persons,
            uniques=one.uniques + other.uniques,
            short=one.short + other.short,
            matches=one.matches + other.matches,
            least=(min(one.least[0], other.least[0]), min(one.least[1], other.least[1])),
            at_risk=(one.at_risk[0] + other.at_risk[0], one.at_risk[1] + other.at_risk[1]),
            presence=(
                min(one.presence[0], other.presence[0]),
                max(one.presence[1], other.presence[1]),
            ),
        )


@dataclass(frozen=True)
class TrueMatches(NothingKept):
    """1/F of each cell."""

    reads = (COUNT,)
    gives = (MATCH,)

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], None]:
        """Of some cells."""
        return {MATCH: 1.0 / batch.extra[COUNT]}, None
