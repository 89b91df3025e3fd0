"""How likely the records of each cell were to be in the sample, and classes of cells by that.

Without weights everybody had the chance n/N. With them what counts is the chance of the *others*
who share the keys and were not drawn. If all who share the keys have one weight, it is f/Σw, the
weights scaled to add up to N; if weights have nothing to do with the keys, it is n/N whatever the
record at hand weighs. How alike the weights are in a cell is seen where cells hold two records or
more; with ρ, the correlation of two of them, the mean weight of the others is expected at

    w̄ + fρ/(1 + (f − 1)ρ) · (Σw/f − w̄),

which lies between both. Where the chance differs, cells are put into a few classes of about equally
many: their logarithms are counted in steps of 1/1024, and a class ends at a step, so that the
classes do not depend on the order in which cells are looked at.
"""

from dataclasses import dataclass

import numpy as np

from discreet.data.cells import CellBatch
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.exact_sums import as_float, exact_sum, fixed_sums, of_fixed
from discreet.survey.headline.limits import SMALLEST_MEAN

CLASSES = 6
STEPS = 1024.0  # of a class limit, for each unit of the logarithm
USUAL_ALIKE, USUAL_RECORDS = 0.5, 10.0  # of weights in a cell, where hardly any tell
LEAST_SPREAD = 1e-9  # of weights, below which they are equal but for rounding
NO_DIFFERENCE = 0.01  # of the logarithm, within which all cells are one class


@dataclass(frozen=True, slots=True)
class Inclusion:
    """The sampling fraction n/N, and with weights the records, the sum of the weights, and how
    alike those of a cell are, 0 to 1."""

    fraction: float
    n_records: int
    weight_sum: float | None = None
    alike: float = 1.0

    def of(self, batch: CellBatch) -> FloatArray:
        """The inclusion probability of others in each cell, at most 1."""
        if self.weight_sum is None:
            return np.full(len(batch), self.fraction)
        assert batch.weight_total is not None
        relative = batch.weight_total / batch.n_records / (self.weight_sum / self.n_records)
        if self.alike < 1:
            told = batch.n_records * self.alike / (1 + (batch.n_records - 1) * self.alike)
            relative = 1 + told * (relative - 1)
        own: FloatArray = 1 / np.maximum(relative, SMALLEST_MEAN)
        return np.minimum(np.maximum(self.fraction * own, self.fraction * 1e-6), 1.0)


@dataclass(frozen=True, slots=True)
class Alike:
    """How alike the weights of a cell are, from cells of 2 to `largest` records.

    Keeps exact sums over these cells, in units of the mean weight w̄: records, weights A, squares of
    weights B, and (A² − B)/(f − 1), which is a sum over pairs.
    """

    mean: float
    largest: int
    reads: tuple[str, ...] = ("squares",)

    def of(self, batch: CellBatch) -> tuple[int, int, int, int]:
        """Of some cells."""
        assert batch.weight_total is not None
        few = np.flatnonzero((batch.n_records > 1) & (batch.n_records <= self.largest))
        f, own = batch.n_records[few], batch.weight_total[few] / self.mean
        squares = batch.extra["squares"][few] / self.mean / self.mean
        squares = np.clip(squares, own**2 / f, own**2)  # which it is, but for rounding
        pairs = (own**2 - squares) / (f - 1)
        return int(f.sum()), exact_sum(own), exact_sum(squares), exact_sum(pairs)

    def joined(
        self, one: tuple[int, int, int, int], other: tuple[int, int, int, int]
    ) -> tuple[int, int, int, int]:
        """Of the cells of both."""
        return (one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3])


def alike_in_cells(sums: tuple[int, int, int, int]) -> float:
    """The correlation of two weights of one cell, from 0 to 1, drawn to a half as `USUAL_RECORDS`
    records would."""
    n = sums[0]
    own, squares, pairs = (as_float(one) for one in sums[1:])
    centre = own / max(n, 1)
    spread = squares - centre * own
    if n == 0 or not spread > LEAST_SPREAD * squares:
        return USUAL_ALIKE
    together = (pairs - centre * own) / spread
    drawn = (together * n + USUAL_ALIKE * USUAL_RECORDS) / (n + USUAL_RECORDS)
    return min(max(drawn, 0.0), 1.0)


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
