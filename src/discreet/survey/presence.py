"""Risks when the population is known cell by cell: who is in the file, and who can be found.

With f records of the sample and F of the population in a cell:

- δ-presence (Nergiz, Atzori and Clifton 2007): f / F, how likely a person of that cell is in the
  sample at all. It is for files where being in them is the secret (patients of a clinic). Cells of
  the population without a sample record have presence 0.
- prosecutor risk 1 / f: the intruder knows that the person is in the sample.
- journalist risk 1 / F: the intruder does not know that, and wants to find anyone.
- marketer risk Σ f / F over n: share of the sample that is matched right when all of it is matched
  with a list of the population.

El Emam (2013) has these measures and ARX names them so. In ARX's `RiskModelSampleSummary`, with the
population as superset of the sample, ARX's names on the left:

    getProsecutorRisk()   getHighestRisk()     prosecutor_risk(…).highest        1 / smallest f
                          getRecordsAtRisk()   prosecutor_risk(…).record_share
                          getSuccessRate()     prosecutor_risk(…).success_rate   cells / n
    getJournalistRisk()   getHighestRisk()     journalist_risk(…).highest        1 / smallest F
                          getRecordsAtRisk()   journalist_risk(…).record_share
                          getSuccessRate()     journalist_risk(…).success_rate   see there
    getMarketerRisk()     getSuccessRate()     marketer_risk(…)                  Σ (f / F) / n

Without a superset ARX takes F = f, so all of them fall together with the prosecutor's; so do
`RiskModelSampleRisks.getAverageRisk()` and `getEstimatedMarketerRisk()` (cells / n) and
`getEstimatedJournalistRisk()` (1 / smallest f, unless a privacy model sets a lower limit). A record
is at risk in ARX, as here, when its risk is above the threshold, not when it is equal to it. ARX
returns 0 where there is no record; here that is an error.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.survey.attributes.diversity import (
    Masked,
    counts_in_all,
    figures_of_records,
    whole_numbers,
)

CONTAINS = "the population file must contain the sample"
PROSECUTOR = (
    "probability of finding the right record of a person who is known to be in the file, by "
    "choosing among those that share the key combination"
)
JOURNALIST = (
    "probability that a record of the file belongs to the person it was matched with, by choosing "
    "among all people who share the key combination"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Cells of the population whose presence is outside the limits, and who is in them. Exact."""

    cell: BoolArray
    cells: int
    population_records: int
    sample_records: int
    cell_share: float
    population_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """f / F for every cell of the population: how likely a person of that cell is in the sample."""

    sample_count: IntArray
    population_count: IntArray
    presence: FloatArray

    @property
    def delta_min(self) -> float:
        """Smallest presence of a cell; near 0, some people are known not to be in the sample."""
        return float(self.presence.min())

    @property
    def delta_max(self) -> float:
        """Largest presence of a cell; at 1, some people are known to be in the sample."""
        return float(self.presence.max())

    @property
    def meaning(self) -> str:
        """The limits in one sentence."""
        return (
            f"from {self.delta_min:.3g} to {self.delta_max:.3g} of the people with the same key "
            "combination are in the file; near 1 it is known that a person is in it, near 0 that "
            "they are not"
        )

    def outside(self, delta_min: float, delta_max: float) -> Outside:
        """Cells with presence below `delta_min` or above `delta_max`.

        Checked: 0 ≤ delta_min ≤ delta_max ≤ 1.
        """
        if not 0 <= delta_min <= delta_max <= 1:
            rule = "from 0 to 1, the lower first"
            raise InputError(must_be("delta_min, delta_max", rule, f"{delta_min}, {delta_max}"))
        beyond = (self.presence < delta_min) | (self.presence > delta_max)
        people = int(self.population_count[beyond].sum())
        return Outside(
            cell=read_only(beyond),
            cells=int(beyond.sum()),
            population_records=people,
            sample_records=int(self.sample_count[beyond].sum()),
            cell_share=float(beyond.mean()),
            population_share=people / int(self.population_count.sum()),
        )


def delta_presence(sample_count: ArrayLike, population_count: ArrayLike) -> Presence:
    """f / F for every cell of the population, 0 where the sample has no record of it.

    Checked: whole counts, F ≥ 1, F ≥ f. Trusted: no cell of the population is left out.
    """
    f, F = _counts(sample_count, population_count)
    return Presence(sample_count=f, population_count=F, presence=read_only(f / F))


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackRisk:
    """Probability that an intruder finds the right record, cell by cell and in all.

    `risk` is masked in cells without a sample record. `average` is over the records of the sample.
    `success_rate` is the figure that ARX calls so. At risk are the records (and cells) whose risk
    is above `threshold`.
    """

    risk: Masked
    sample_count: IntArray
    threshold: float
    average: float
    success_rate: float
    meaning: str

    @property
    def highest(self) -> float:
        """The risk of the record that is easiest to find."""
        return float(self.risk.max())

    @property
    def highest_cell(self) -> int:
        """The cell of that record, the first of several."""
        return int(np.ma.argmax(self.risk))

    @property
    def at_risk(self) -> BoolArray:
        """Whether the records of each cell are at risk; never so where there are none."""
        flags: BoolArray = (self.risk > self.threshold).filled(False)
        return flags

    @property
    def cells_at_risk(self) -> int:
        """Cells whose records are at risk."""
        return int(self.at_risk.sum())

    @property
    def records_at_risk(self) -> int:
        """Records with a risk above the threshold."""
        return int(self.sample_count[self.at_risk].sum())

    @property
    def record_share(self) -> float:
        """Share of the records of the sample that are at risk."""
        return self.records_at_risk / int(self.sample_count.sum())

    def per_record(self, cell: ArrayLike) -> Masked:
        """The risk of each record, given the cell of each."""
        return figures_of_records(self.risk, cell)


def prosecutor_risk(sample_count: ArrayLike, *, threshold: float) -> AttackRisk:
    """1 / f for each cell: the intruder knows that the person is in the sample. Exact.

    The average over records is cells / n. Checked: whole counts, some record, threshold in [0, 1].
    """
    f = whole_numbers("sample_count", sample_count, 0)
    rate = int(np.count_nonzero(f)) / _sample_size(f)
    return AttackRisk(
        risk=_one_over(f, f),
        sample_count=f,
        threshold=_threshold(threshold),
        average=rate,
        success_rate=rate,
        meaning=PROSECUTOR,
    )


def journalist_risk(
    sample_count: ArrayLike, population_count: ArrayLike, *, threshold: float
) -> AttackRisk:
    """1 / F for each cell: the intruder does not know who is in the sample. Exact.

    The average over records is Σ (f / F) / n, the success rate the larger of that and cells / ΣF,
    both over the cells of the sample, as El Emam has it. Checked: as in `delta_presence`, some
    record, threshold in [0, 1].
    """
    f, F = _counts(sample_count, population_count)
    average = marketer_risk(f, F)
    cells = int(np.count_nonzero(f))
    return AttackRisk(
        risk=_one_over(F, f),
        sample_count=f,
        threshold=_threshold(threshold),
        average=average,
        success_rate=max(average, cells / int(F[f > 0].sum())),
        meaning=JOURNALIST,
    )


def marketer_risk(sample_count: ArrayLike, population_count: ArrayLike) -> float:
    """Σ (f / F) / n: share of the sample that is matched right when all of it is matched."""
    f, F = _counts(sample_count, population_count)
    return float((f / F).sum() / _sample_size(f))


def _counts(sample_count: ArrayLike, population_count: ArrayLike) -> tuple[IntArray, IntArray]:
    f = whole_numbers("sample_count", sample_count, 0)
    F = whole_numbers("population_count", population_count, 0)
    if len(f) != len(F) or not len(f):
        rule = "of one cell or more, as many as sample_count"
        raise InputError(must_be("population_count", rule, f"{len(F):,} for {len(f):,}"))
    counts_in_all("population_count", F)
    if (f > F).any():
        where = f"cell {int(np.argmax(f > F))}"
        rule = "at least the sample_count of the cell"
        raise InputError(must_be("population_count", rule, "fewer", where=where, remedy=CONTAINS))
    if not F.all():
        where = f"cell {int(np.argmin(F))}"
        raise InputError(must_be("population_count", "at least 1", 0, where=where))
    return f, F


def _sample_size(f: IntArray) -> int:
    n = counts_in_all("sample_count", f)
    if n == 0:
        raise InputError(must_be("sample_count", "above 0 in some cell", "none"))
    return n


def _threshold(threshold: float) -> float:
    if not 0 <= threshold <= 1:
        raise InputError(must_be("threshold", "from 0 to 1", threshold))
    return float(threshold)


def _one_over(count: IntArray, f: IntArray) -> Masked:
    """1 / count, read-only, masked in cells without a sample record."""
    risk = read_only(1 / np.maximum(count, 1))
    return np.ma.MaskedArray(risk, mask=read_only(f == 0), hard_mask=True)
