"""What all log-linear fits have in common, and how well one of them fits the sample.

Whoever compares models calls `judgement` for the criterion and the predicted size indices,
`unseen_mean` for the mean number of unseen people in each cell, and `candidates` for a list of
models from the simplest to the richest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.numerics.arrays import FloatArray, read_only
from discreet.numerics.graphs import Graph, bracketed
from discreet.progress import Progress, silent
from discreet.survey.models.loglinear.cell_sums import CellSums, Function
from discreet.survey.models.loglinear.decomposable import DecomposableFit
from discreet.survey.models.loglinear.fitting import TableTooLarge, all_of_order, fit_by_iteration
from discreet.survey.models.loglinear.minimum_error import (
    MinimumError,
    criterion_for_matches,
    criterion_for_uniques,
    size_index_functions,
)
from discreet.survey.models.loglinear.mixtures import ArithmeticMixture, geometric_mixture
from discreet.survey.models.loglinear.occupied_cells import LevelArray, OccupiedCells
from discreet.survey.models.loglinear.poisson_reciprocal import chance_alone
from discreet.survey.models.loglinear.search import CLOSE_MEAN, forward_search

PREDICTED_SIZES = 3
CANDIDATE_CELLS = 1 << 21  # cells up to which fits by iteration are among the candidates
MIXTURES = (0.25, 0.5, 0.75)


class LogLinearFit(Protocol):
    """Fitted sample means μ, which add up to n over all cells."""

    @property
    def cells(self) -> OccupiedCells:
        """The sample that was fitted."""

    @property
    def sample_mean(self) -> FloatArray:
        """μ of each occupied cell."""

    def mean_at(self, levels: LevelArray) -> FloatArray:
        """μ of any cells, `levels` being keys × cells."""

    def sums(self, functions: Sequence[Function], limit: float) -> CellSums:
        """Σ μ·ψ(μ) over all cells, occupied or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The minimum-error criterion for τ₁ and τ₂, and how many cells should have f = 1, 2, 3.

    `predicted` are the means Σ μ^j·e^(−μ)/j! over all cells under the model, `observed` the numbers
    of cells. A model too simple predicts too many cells of one record and too few of two; a model
    too rich the other way round.
    """

    uniques: MinimumError
    matches: MinimumError
    predicted: FloatArray
    observed: FloatArray

    def __post_init__(self) -> None:
        read_only(self.predicted)
        read_only(self.observed)

    @property
    def distance(self) -> float:
        """The larger |B̂| / √v of the two."""
        return max(abs(self.uniques.standardised), abs(self.matches.standardised))


def judgement(fit: LogLinearFit, sampling_fraction: float) -> Judgement:
    """How well a model fits the sample; one pass over all cells, most of them never listed."""
    first = criterion_for_uniques(sampling_fraction)
    second = criterion_for_matches(sampling_fraction)
    functions = [*first.per_mean(), *second.per_mean(), *size_index_functions(PREDICTED_SIZES)]
    value = fit.sums(functions, CLOSE_MEAN * sampling_fraction).value
    count, mean = fit.cells.sample_count, fit.sample_mean
    sizes = range(1, PREDICTED_SIZES + 1)
    return Judgement(
        uniques=first.of_sums(count, mean, float(value[0]), float(value[1])),
        matches=second.of_sums(count, mean, float(value[2]), float(value[3])),
        predicted=value[4:],
        observed=np.array([float(np.count_nonzero(count == j)) for j in sizes]),
    )


def unseen_mean(sample_mean: FloatArray, inclusion_probability: FloatArray | float) -> FloatArray:
    """(1 − π)·μ/π: people of the cell outside the sample, on average.

    μ is the mean of the *sample* count; the population mean is μ/π.
    """
    odds = (1 - np.asarray(inclusion_probability)) / inclusion_probability
    mean: FloatArray = np.asarray(sample_mean * odds)
    return mean


def expected_uniques(fit: LogLinearFit, sampling_fraction: float) -> float:
    """τ₁ under the model: Σ e^(−(1 − π)·μ/π) over sample uniques."""
    alone = fit.cells.sample_count == 1
    return float(chance_alone(unseen_mean(fit.sample_mean[alone], sampling_fraction)).sum())


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model under its name."""

    name: str
    fit: LogLinearFit


def candidates(
    cells: OccupiedCells,
    sampling_fraction: float,
    *,
    most_cells: int = CANDIDATE_CELLS,
    mixtures: Sequence[float] = MIXTURES,
    progress: Progress = silent,
) -> tuple[Candidate, ...]:
    """The path of the decomposable search from independence on, all two-way terms and all
    three-way terms where at most `most_cells` cells may be occupied, and mixtures of independence
    and all two-way terms (weight of the latter as given).
    """
    search = forward_search(cells, sampling_fraction, progress=progress)
    fits = [DecomposableFit(judged.graph, cells) for judged in search.path]
    found = [Candidate(bracketed(fit.generators), fit) for fit in fits]
    for order, name in ((2, "two-way"), (3, "three-way")):
        try:
            rich = fit_by_iteration(
                cells, all_of_order(len(cells.sizes), order), most_cells=most_cells
            )
        except TableTooLarge:
            continue
        found.append(Candidate(name, rich))
        if order == 2:
            plain = DecomposableFit(Graph.empty(len(cells.sizes)), cells)
            for w in mixtures:
                found.append(Candidate(f"sum {w:g}", ArithmeticMixture(plain, rich, w)))
                found.append(Candidate(f"product {w:g}", geometric_mixture(rich, w)))
    return tuple(found)
