"""What every superpopulation model does to be fitted; each model adds only its own part.

The confidence is checked, a sample that is the population needs no model, and for all but Zayatz'
method the rest is maximum likelihood: a *family* says where the search starts, in which box it
moves, and at which of the edges there is no estimate.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from discreet.data.summary import SizeIndices, Summary
from discreet.errors import must_be
from discreet.numerics.arrays import FloatArray
from discreet.survey.models.contract import ModelUnavailable, Need
from discreet.survey.models.superpopulation.fitted import (
    CONFIDENCE,
    ByProfile,
    FittedSuperpopulation,
    OpenDistribution,
    Totals,
    WholePopulation,
    check_confidence,
    usable,
)
from discreet.survey.models.superpopulation.size_index_fit import NotSettled, maximise

ALL_UNIQUE = (
    "every record of the sample is unique, so the likelihood rises without end as the number of "
    "cells grows; the sample gives no limit on it"
)
ONE_CELL = "all records lie in one cell, so the likelihood rises as the parameters go to their edge"


class LikelihoodFamily(OpenDistribution, Protocol):
    """A family of distributions that is fitted by maximum likelihood."""

    @property
    def totals(self) -> Totals:
        """The sample."""

    @property
    def n_parameters(self) -> int:
        """How many are fitted."""

    @property
    def no_maximum(self) -> str:
        """Why there is no estimate where no start leads to a maximum."""

    def starts(self) -> Sequence[FloatArray]:
        """Where the search starts; the highest maximum that they lead to counts."""

    def no_estimate_at(self, point: FloatArray) -> str | None:
        """Why a maximum at this point, on an edge of the box, is no estimate; None where it is."""

    def log_constant(self, point: FloatArray) -> float:
        """What makes the log-likelihood at a point that of the size indices given n."""

    def remark(self, point: FloatArray) -> str | None:
        """A caution that a maximum at this point gives rise to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuperpopulationModel:
    """A model of the population's cells that is fitted on totals."""

    name: str
    assumption: str
    needs: frozenset[Need] = frozenset()
    confidence: float = CONFIDENCE

    def fit(self, summary: Summary) -> FittedSuperpopulation:
        """The fitted model; raises ModelUnavailable with the reason where there is none."""
        return self.fit_totals(usable(summary))

    def fit_totals(self, totals: Totals) -> FittedSuperpopulation:
        """The same from totals already known to be usable."""
        self.check()
        if totals.is_population:
            whole = WholePopulation(totals.size_indices)
            return FittedSuperpopulation(
                name=self.name, totals=totals, distribution=whole, confidence=self.confidence
            )
        return self.fit_part(totals)

    def check(self) -> None:
        """Raises InputError for settings that no model can have."""
        check_confidence(self.confidence)

    def fit_part(self, totals: Totals) -> FittedSuperpopulation:
        """The model fitted to a sample that is only a part of the population."""
        raise NotImplementedError  # every model has its own


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelihoodModel(SuperpopulationModel):
    """A superpopulation model that is fitted by maximum likelihood."""

    def family(self, totals: Totals) -> LikelihoodFamily:
        """The family; raises ModelUnavailable where the sample says that there is no maximum."""
        raise NotImplementedError  # every model has its own

    def fit_part(self, totals: Totals) -> FittedSuperpopulation:
        """The member of the family with the highest likelihood, its limits by profile."""
        family = self.family(totals)
        point, best = fitted_point(family)
        if (reason := family.no_estimate_at(point)) is not None:
            raise ModelUnavailable(reason)
        return FittedSuperpopulation(
            name=self.name,
            totals=totals,
            distribution=family.distribution(point),
            uncertainty=ByProfile(family, point),
            log_likelihood=best + family.log_constant(point),
            n_parameters=family.n_parameters,
            confidence=self.confidence,
            remark=family.remark(point),
        )


def fitted_point(family: LikelihoodFamily) -> tuple[FloatArray, float]:
    """The highest maximum of the log-likelihood that the starts lead to, and its value there.

    Raises ModelUnavailable with the family's reason where none is reached.
    """
    reached = []
    for start in family.starts():
        with suppress(NotSettled):
            reached.append(maximise(family.log_likelihood, start, family.lower, family.upper))
    if not reached:
        raise ModelUnavailable(family.no_maximum)
    point, best = max(reached, key=lambda found: found[1].value)
    return point, best.value


def check_two_kinds(sizes: SizeIndices) -> None:
    """Raises ModelUnavailable where all records are unique or all lie in one cell."""
    if sizes.n_cells == sizes.sample_size:
        raise ModelUnavailable(ALL_UNIQUE)
    if sizes.n_cells == 1:
        raise ModelUnavailable(ONE_CELL)


def check_room(totals: Totals) -> None:
    """Raises ModelUnavailable where the table has fewer cells than the sample occupies."""
    if totals.n_table_cells < totals.size_indices.n_cells:
        rule = f"at least the {totals.size_indices.n_cells} occupied cells"
        raise ModelUnavailable(must_be("n_table_cells", rule, totals.n_table_cells))
