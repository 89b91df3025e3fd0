"""What the models of a partition share: Ewens, Pitman, and Poisson–gamma given its total."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

from discreet.numerics.arrays import FloatArray
from discreet.survey.models.superpopulation.fitted import Totals
from discreet.survey.models.superpopulation.partition_likelihood import (
    LogUniqueProbability,
    PartitionLikelihood,
    Surface,
    log_arrangements,
)
from discreet.survey.models.superpopulation.size_index_fit import Evaluation


@dataclass(frozen=True, slots=True)
class PartitionFamily:
    """Partitions of some α and θ; `along` is the line or surface of these that a family moves on.

    The likelihood is that of the cells of named records, of which `log_constant` counts the ways.
    """

    totals: Totals
    likelihood: PartitionLikelihood
    uniqueness: LogUniqueProbability

    along: ClassVar[Callable[[Surface, FloatArray], Evaluation]]

    @classmethod
    def of(cls, totals: Totals) -> Self:
        """That for the size indices of a sample."""
        return cls(
            totals,
            PartitionLikelihood.of(totals.size_indices),
            LogUniqueProbability.of(totals.sample_size, totals.population_size),
        )

    def log_likelihood(self, point: FloatArray) -> Evaluation:
        """Of the cell sizes, up to a constant."""
        return type(self).along(self.likelihood, point)

    def log_unique_probability(self, point: FloatArray) -> Evaluation:
        """Of a sample unique."""
        return type(self).along(self.uniqueness, point)

    def log_constant(self, point: FloatArray) -> float:
        """The ways to put the records into cells of these sizes."""
        return log_arrangements(self.totals.size_indices)

    def no_estimate_at(self, point: FloatArray) -> str | None:
        """None: every maximum is an estimate."""
        return None

    def remark(self, point: FloatArray) -> str | None:
        """None."""
        return None
