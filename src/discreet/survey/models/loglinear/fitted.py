"""A fitted log-linear model: scores of cells, τ₁ and τ₂ with their errors, and its cautions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.data.cells import CellBatch
from discreet.figures import Figure, How
from discreet.numerics.arrays import CountArray, FloatArray
from discreet.numerics.graphs import bracketed
from discreet.survey.models.contract import MATCH, UNIQUE, CellScores, Tally
from discreet.survey.models.loglinear.decomposable import DecomposableFit
from discreet.survey.models.loglinear.fitting import IterativeFit
from discreet.survey.models.loglinear.judgement import Judgement
from discreet.survey.models.loglinear.minimum_error import MinimumError
from discreet.survey.models.loglinear.poisson_reciprocal import (
    chance_alone,
    reciprocal_mean_and_variance,
)

ALARM = 2.0  # |B̂| / √v beyond which the model misleads
CONFIDENCE, NORMAL_QUANTILE = 0.95, 1.959963984540054

Fit = DecomposableFit | IterativeFit


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorParts:
    """Variances of a figure: the error of the fitted means, and the choice among like models."""

    estimation: float
    choice: float

    def plus(self, criterion: MinimumError) -> float:
        """Their sum, with B̂² + v: the bias that the criterion sees, and what it may have missed."""
        return self.estimation + self.choice + criterion.bias**2 + criterion.standard_error**2


def unseen_in_cells(
    mean: FloatArray,
    count: CountArray,
    weight_total: FloatArray | None,
    fraction: float,
    weight_scale: float | None,
) -> FloatArray:
    """m: unseen people of each cell on average, (1 − π_k)·μ/π_k."""
    if weight_scale is None or weight_total is None:
        return mean * ((1 - fraction) / fraction)
    unseen: FloatArray = mean * np.maximum(weight_scale * weight_total / count - 1, 0.0)
    return unseen


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedLogLinear:
    """A log-linear model with its means known."""

    fit: Fit
    rule: str
    models_tried: int
    search_complete: bool
    sampling_fraction: float
    weight_scale: float | None
    judgement: Judgement
    uniques_error: ErrorParts
    matches_error: ErrorParts
    zeros_ignored: bool
    population_size_known: bool

    gives: ClassVar[tuple[str, ...]] = (UNIQUE, MATCH)

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """The structure (keys by position, from 1), how it was chosen, the criterion, the fit."""
        judged = self.judgement
        sizes = enumerate(zip(judged.predicted, judged.observed, strict=True), start=1)
        indices = {
            f"{kind}_cells_of_{j}": float(number)
            for j, pair in sizes
            for kind, number in zip(("predicted", "observed"), pair, strict=True)
        }
        return {
            "structure": self.structure([str(k + 1) for k in range(len(self.fit.cells.sizes))]),
            "structure_rule": self.rule,
            "models_tried": self.models_tried,
            "search_complete": "yes" if self.search_complete else "no, stopped at its budget",
            "n_parameters": self.fit.n_parameters,
            "fitted_by": self._method(),
            "sampling_fraction": self.sampling_fraction,
            "inclusion_probability": "one for all" if self.weight_scale is None else "by cell",
            "criterion_bias": judged.uniques.bias,
            "criterion_standard_error": judged.uniques.standard_error,
            "criterion_standardised": judged.uniques.standardised,
            "matches_criterion_standardised": judged.matches.standardised,
            **indices,
        }

    def structure(self, names: Sequence[str]) -> str:
        """The generators by names of the keys, such as [age sex][sex region]."""
        return bracketed(self.fit.generators, names)

    def _method(self) -> str:
        if isinstance(self.fit, DecomposableFit):
            return "closed form"
        return (
            f"{self.fit.sweeps} rounds of iterative proportional fitting, margins within "
            f"{self.fit.deviation:.2g} records"
        )

    def score(self, batch: CellBatch) -> CellScores:
        """e^(−m) for sample uniques, E(1/F) and Var(1/F) for all cells."""
        mean = self.fit.mean_at(batch.levels().T)
        count = batch.n_records
        unseen = unseen_in_cells(
            mean, count, batch.weight_total, self.sampling_fraction, self.weight_scale
        )
        match, variance = reciprocal_mean_and_variance(count, unseen)
        return CellScores(
            unique_probability=np.where(count == 1, chance_alone(unseen), 0.0),
            match_probability=match,
            match_variance=variance,
        )

    def expected_population_uniques(self, tally: Tally) -> Figure:
        """Σ e^(−m) over sample uniques, with an interval for their realised number."""
        most = self.fit.cells.sample_uniques
        if most == 0:
            return Figure(value=0.0, low=0.0, high=0.0, how=How.EXACT)
        variance = tally.uniques_variance + self.uniques_error.plus(self.judgement.uniques)
        return self._figure(tally.uniques, variance, most)

    def expected_correct_matches(self, tally: Tally) -> Figure:
        """Σ f·E(1/F) over cells, with an interval for Σ f/F."""
        variance = tally.matches_variance + self.matches_error.plus(self.judgement.matches)
        return self._figure(tally.matches, variance, len(self.fit.cells))

    def caution(self, tally: Tally) -> str | None:
        """Where the criterion sees too simple or too rich a model, or zeros were left aside."""
        judged = self.judgement
        off = max(judged.uniques.standardised, judged.matches.standardised, key=abs)
        if abs(off) > ALARM:
            kind, way = ("simple", "high") if off > 0 else ("rich", "low")
            return (
                f"the log-linear model is too {kind} for these data, by {abs(off):.1f} standard "
                f"errors of the minimum-error criterion: its figures are likely too {way}"
            )
        if self.zeros_ignored:
            return (
                "the log-linear model has too many cells to leave the impossible ones out, so its "
                "means are spread over them too and its risks are somewhat too high"
            )
        if not self.search_complete:
            return "the search for a log-linear model stopped at its budget; a better one may exist"
        return None

    def _figure(self, value: float, variance: float, most: int) -> Figure:
        if self.sampling_fraction == 1 and self.population_size_known:
            return Figure(value=value, low=value, high=value, how=How.EXACT)
        error = math.sqrt(max(variance, 0.0))
        reach = NORMAL_QUANTILE * error
        return Figure(
            value=value,
            how=How.ESTIMATE,
            low=max(0.0, value - reach),
            high=max(value, min(value + reach, float(most))),
            standard_error=error,
            confidence=CONFIDENCE,
            note=self._note(),
        )

    def _note(self) -> str:
        notes = [
            "the error is from who is outside the sample, from the fitted means, and from the "
            "choice of model as far as the minimum-error criterion sees it"
        ]
        if self.weight_scale is not None:
            notes.append("chances to be in the sample from the weights of each cell")
        if not self.population_size_known:
            notes.append("the population size is estimated from the survey weights")
        return "; ".join(notes)
