"""How likely the records of each cell were to be in the sample, and classes of cells by that.

Without weights everybody had the chance n/N. With them a cell's is f/Σw, the weights scaled to add
up to N. Where it differs, cells are put into a few classes of about equally many: their logarithms
are counted in steps of 1/1024, and a class ends at a step, so that the classes do not depend on the
order in which cells are looked at.
"""

from dataclasses import dataclass

import numpy as np

from discreet.data.cells import CellBatch
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.exact_sums import fixed_sums, of_fixed
from discreet.survey.headline.limits import SMALLEST_MEAN

CLASSES = 6
STEPS = 1024.0  # of a class limit, for each unit of the logarithm
NO_DIFFERENCE = 0.01  # of the logarithm, within which all cells are one class


@dataclass(frozen=True, slots=True)
class Inclusion:
    """The sampling fraction n/N, and with weights the records and the sum of the weights."""

    fraction: float
    n_records: int
    weight_sum: float | None = None

    def of(self, batch: CellBatch) -> FloatArray:
        """The inclusion probability of each cell, at most 1."""
        if self.weight_sum is None:
            return np.full(len(batch), self.fraction)
        assert batch.weight_total is not None
        share = batch.weight_total / self.weight_sum
        own: FloatArray = batch.n_records / self.n_records / np.maximum(share, SMALLEST_MEAN)
        return np.minimum(np.maximum(self.fraction * own, self.fraction * 1e-6), 1.0)


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes of cells by inclusion probability: the last step of each but the last class, and the
    geometric mean of each."""

    ends: IntArray
    fraction: FloatArray

    @classmethod
    def one(cls, fraction: float) -> "Classes":
        """All cells in one."""
        return cls(np.empty(0, dtype=np.int64), np.array([fraction]))

    def label(self, probability: FloatArray) -> IntArray:
        """The class of each cell."""
        if not len(self.ends):
            return np.zeros(len(probability), dtype=np.int64)
        return np.searchsorted(self.ends, _step(probability))


@dataclass(frozen=True, slots=True)
class Spread:
    """Cells by their step of inclusion probability: how many, and the sums of the logarithms."""

    step: IntArray
    cells: IntArray
    logs: IntArray
    least: float
    greatest: float

    @classmethod
    def of(cls, probability: FloatArray) -> "Spread":
        """Of some cells."""
        step, place, cells = np.unique(_step(probability), return_inverse=True, return_counts=True)
        logs = fixed_sums(place, np.log(probability), len(step))
        least = float(probability.min(initial=np.inf))
        return cls(step, cells.astype(np.int64), logs, least, float(probability.max(initial=0.0)))

    def joined(self, other: "Spread") -> "Spread":
        """Of the cells of both."""
        both = np.concatenate([self.step, other.step])
        step, place = np.unique(both, return_inverse=True)
        cells = np.bincount(place, np.concatenate([self.cells, other.cells]), len(step))
        logs = np.zeros((len(step), 2), dtype=np.int64)
        np.add.at(logs, place, np.concatenate([self.logs, other.logs]))
        least, greatest = min(self.least, other.least), max(self.greatest, other.greatest)
        return Spread(step, cells.astype(np.int64), logs, least, greatest)

    def classes(self) -> Classes:
        """About equally many cells in each; one class where there is hardly a difference."""
        if not len(self.step):
            return Classes.one(1.0)
        if self.least == self.greatest:
            return Classes.one(self.least)
        if np.log(self.greatest) - np.log(self.least) < NO_DIFFERENCE:
            total = of_fixed(self.logs.sum(axis=0)[None, :])
            return Classes.one(float(np.exp(total[0] / self.cells.sum())))
        reached = np.cumsum(self.cells)
        cuts = np.arange(1, CLASSES) * reached[-1] / CLASSES
        ends = np.unique(self.step[np.searchsorted(reached, cuts)])
        ends = ends[ends < self.step[-1]]
        label = np.searchsorted(ends, self.step)
        cells = np.bincount(label, self.cells, len(ends) + 1)
        logs = np.zeros((len(ends) + 1, 2), dtype=np.int64)
        np.add.at(logs, label, self.logs)
        return Classes(ends, np.exp(of_fixed(logs) / cells))


def _step(probability: FloatArray) -> IntArray:
    return np.floor(np.log(probability) * STEPS).astype(np.int64)


@dataclass(frozen=True, slots=True)
class SpreadOfCells:
    """The spread of sample uniques, and of cells of several records up to `largest`."""

    inclusion: Inclusion
    largest: int
    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> tuple[Spread, Spread]:
        """Of some cells."""
        probability, records = self.inclusion.of(batch), batch.n_records
        several = (records > 1) & (records <= self.largest)
        return Spread.of(probability[records == 1]), Spread.of(probability[several])

    def joined(
        self, one: tuple[Spread, Spread], other: tuple[Spread, Spread]
    ) -> tuple[Spread, Spread]:
        """Of the cells of both."""
        return one[0].joined(other[0]), one[1].joined(other[1])
