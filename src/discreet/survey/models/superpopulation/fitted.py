"""What all superpopulation models share: their totals, the fitted model, and limits on its figures.

A superpopulation model sees only the size indices of the sample and treats all sample uniques
alike. Its distribution of the population given the sample says how likely a sample unique is to
stay alone and what 1/F is to be expected in a cell of f. Limits are on the realised number of
population uniques, not on its mean: uncertainty of the parameters and that of the draw are both in
them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import ClassVar, Protocol

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.summary import SizeIndices, Summary
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome
from discreet.numerics.arrays import FloatArray
from discreet.numerics.rounding import whole_above, whole_below
from discreet.survey.models.benedetti_franconi import gamma_limits
from discreet.survey.models.contract import MATCH, UNIQUE, CellScores, ModelUnavailable, Tally
from discreet.survey.models.superpopulation.size_index_fit import (
    FITTED,
    Family,
    NotSettled,
    combined_limits,
    covariance,
    profile_limits,
)

CONFIDENCE = 0.95
ESTIMATED_SIZE = "the population size is estimated from the survey weights"
GRADIENT_STEP = 1e-3  # in the coordinates of the parameters, for the error of correct matches


@dataclass(frozen=True, kw_only=True)
class Totals:
    """All that a superpopulation model is fitted on.

    Checked by `usable`: a partition of n ≥ 1 records, N finite and at least n once rounded.
    """

    size_indices: SizeIndices
    population_size: int
    n_table_cells: int
    population_size_known: bool = True

    @cached_property
    def sample_size(self) -> int:
        """n."""
        return self.size_indices.sample_size

    @cached_property
    def sampling_fraction(self) -> float:
        """π = n/N."""
        return self.sample_size / self.population_size

    @property
    def is_population(self) -> bool:
        """Whether the sample is the whole population."""
        return self.population_size == self.sample_size

    def cells_of(self, size: int) -> int:
        """Cells of that many records."""
        indices = self.size_indices
        return int(indices.cells[indices.sizes == size].sum())

    def counted(self, text: str) -> str:
        """The note, with a word on a population size that is itself an estimate."""
        return text if self.population_size_known else f"{text}; {ESTIMATED_SIZE}"


def usable(summary: Summary) -> Totals:
    """The totals in a summary; raises ModelUnavailable where no superpopulation model has them."""
    given, sizes = summary.population_size, summary.size_indices
    if given is None:
        raise ModelUnavailable(
            "the population size is not known; give it, or the survey weights that estimate it"
        )
    if summary.sample_size == 0:
        raise ModelUnavailable("the sample holds no record")
    if not sizes.is_partition:
        raise ModelUnavailable(
            "where missing values match anything, cells overlap and there is no partition of the "
            "records; choose category or drop for missing values"
        )
    if not math.isfinite(given) or round(given) < summary.sample_size:
        rule = f"at least the sample size {summary.sample_size}"
        raise ModelUnavailable(must_be("population_size", rule, f"{given:g}"))
    return Totals(
        size_indices=sizes,
        population_size=round(given),
        n_table_cells=summary.n_table_cells,
        population_size_known=summary.population_size_known,
    )


class Distribution(Protocol):
    """The population given the sample, all parameters known."""

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """Fitted parameters by name."""

    @property
    def unique_probability(self) -> float:
        """P(F = 1 given f = 1)."""

    def uniques_variance(self, sample_uniques: int) -> float:
        """Variance of the number of population uniques among so many sample uniques."""

    def inverse_moments(self, sample_count: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E(1/F given f) and E(1/F² given f) for each sample count."""

    def expected_cells(self, sizes: FloatArray) -> FloatArray:
        """Expected number of sample cells of each size."""


class OpenDistribution(Family, Protocol):
    """A family of distributions in coordinates that a fit can move."""

    def distribution(self, point: FloatArray) -> Distribution:
        """The distribution at a point."""


class Uncertainty(Protocol):
    """What the data leave open about the parameters."""

    def log_unique_limits(self, confidence: float) -> tuple[float, float]:
        """Limits on log P(F = 1 given f = 1)."""

    def matches_error(self, sizes: SizeIndices, matches: float) -> float:
        """Standard error of `matches` = Σ f E(1/F) that comes from the parameters."""


@dataclass(frozen=True, slots=True)
class ByProfile:
    """Uncertainty by profile likelihood at the maximum of a family."""

    family: OpenDistribution
    point: FloatArray

    def log_unique_limits(self, confidence: float) -> tuple[float, float]:
        """Profile likelihood limits; normal ones where the profile cannot be followed."""
        try:
            return profile_limits(self.family, self.point, confidence)
        except NotSettled:
            figure = self.family.log_unique_probability(self.point)
            spread = covariance(self.family, self.point)
            error = math.sqrt(max(0.0, float(figure.gradient @ spread @ figure.gradient)))
            return ByDelta(figure.value, error).log_unique_limits(confidence)

    def matches_error(self, sizes: SizeIndices, matches: float) -> float:
        """By the observed information and a numerical gradient."""
        spread = covariance(self.family, self.point)
        steps = GRADIENT_STEP * np.eye(len(self.point))
        up, down = (
            [self._matches(sizes, self.point + sign * h) for h in steps] for sign in (1, -1)
        )
        slope = (np.array(up) - np.array(down)) / (2 * GRADIENT_STEP)
        return math.sqrt(max(0.0, float(slope @ spread @ slope)))

    def _matches(self, sizes: SizeIndices, point: FloatArray) -> float:
        """Σ f E(1/F) over all records at a point, moved into the box if it is outside."""
        inside = np.clip(point, self.family.lower, self.family.upper)
        mean, _ = self.family.distribution(inside).inverse_moments(sizes.sizes.astype(np.float64))
        return float(sizes.records @ mean)


@dataclass(frozen=True, slots=True)
class ByDelta:
    """Uncertainty by a standard error of log P(F = 1 given f = 1) alone (delta method)."""

    log_unique: float
    log_error: float

    def log_unique_limits(self, confidence: float) -> tuple[float, float]:
        """Normal limits on the scale of logarithms, no greater than that of certainty."""
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * self.log_error
        return self.log_unique - reach, min(0.0, self.log_unique + reach)

    def matches_error(self, sizes: SizeIndices, matches: float) -> float:
        """As large, in proportion, as that of the number of population uniques."""
        return self.log_error * matches


@dataclass(frozen=True, slots=True)
class WholePopulation:
    """The distribution of a sample that is the population: every cell is what it is."""

    size_indices: SizeIndices
    parameters: Mapping[str, float | int | str] = field(default_factory=dict)
    unique_probability: float = 1.0

    def uniques_variance(self, sample_uniques: int) -> float:
        """None."""
        return 0.0

    def inverse_moments(self, sample_count: FloatArray) -> tuple[FloatArray, FloatArray]:
        """1/f and its square."""
        f = np.asarray(sample_count, dtype=np.float64)
        return 1 / f, 1 / f**2

    def expected_cells(self, sizes: FloatArray) -> FloatArray:
        """The cells there are."""
        cells = dict(zip(self.size_indices.sizes, self.size_indices.cells, strict=True))
        return np.array([float(cells.get(size, 0)) for size in sizes])


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedSuperpopulation:
    """A superpopulation model with its parameters known.

    `log_likelihood` is the log-probability of the size indices given n, None where the model has no
    likelihood; `n_parameters` were fitted. `remark` is a caution that the fit itself gives rise to,
    `details` go on record beside the parameters.
    """

    name: str
    totals: Totals
    distribution: Distribution
    uncertainty: Uncertainty | None = None
    log_likelihood: float | None = None
    n_parameters: int = 0
    confidence: float = CONFIDENCE
    note: str = ""
    remark: str | None = None
    details: Mapping[str, float | int | str] = field(default_factory=dict)

    gives: ClassVar[tuple[str, ...]] = (UNIQUE, MATCH)

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """The fitted parameters, what was used to get them, and the probability they lead to."""
        likelihood = {} if self.log_likelihood is None else {"log_likelihood": self.log_likelihood}
        return {
            **self.distribution.parameters,
            **self.details,
            "sample_size": self.totals.sample_size,
            "population_size": self.totals.population_size,
            "unique_probability": self.distribution.unique_probability,
            **likelihood,
        }

    @property
    def population_uniques(self) -> float:
        """Expected population uniques among the sample uniques (τ₁), without any tally."""
        return self.totals.size_indices.sample_uniques * self.distribution.unique_probability

    def score(self, batch: CellBatch) -> CellScores:
        """One probability for all sample uniques; E(1/F) and Var(1/F) by the count of a cell."""
        counts, where = np.unique(batch.sample_count, return_inverse=True)
        mean, square = self.distribution.inverse_moments(counts.astype(np.float64))
        lone = batch.sample_count == 1
        return CellScores(
            unique_probability=np.where(lone, self.distribution.unique_probability, 0.0),
            match_probability=mean[where],
            match_variance=np.maximum(square - mean**2, 0.0)[where],
        )

    def expected_population_uniques(self, tally: Tally) -> Outcome:
        """s·Q with limits on the realised number; certain for no sample uniques or a census."""
        return self.uniques_figure(self._tallied_uniques(tally))

    def uniques_figure(self, sample_uniques: int | None = None) -> Figure:
        """The same for so many sample uniques; for all of them where no number is given."""
        s = self.totals.size_indices.sample_uniques if sample_uniques is None else sample_uniques
        if s == 0 or (self.totals.is_population and self.totals.population_size_known):
            return Figure(value=float(s), low=float(s), high=float(s), how=How.EXACT)
        estimate = s * self.distribution.unique_probability
        of_mean = self._mean_limits(s, estimate)
        limits = combined_limits(
            estimate, of_mean, self.distribution.uniques_variance(s), self.confidence
        )
        return Figure(
            value=estimate,
            low=max(0.0, min(whole_below(limits.low, scale=FITTED * estimate), estimate)),
            high=min(float(s), whole_above(limits.high, scale=FITTED * estimate)),
            standard_error=limits.standard_error,
            confidence=self.confidence,
            how=How.ESTIMATE,
            note=self.totals.counted(f"limits on the number itself if the model holds{self.note}"),
        )

    def _mean_limits(self, s: int, estimate: float) -> tuple[float, float]:
        """Limits on the expected number, at least as wide as the estimate itself."""
        if self.uncertainty is None:
            return estimate, estimate
        low, high = self.uncertainty.log_unique_limits(self.confidence)
        return min(estimate, s * math.exp(low)), max(estimate, s * math.exp(min(high, 0.0)))

    def expected_correct_matches(self, tally: Tally) -> Outcome:
        """Σ f E(1/F) over all records, with gamma limits.

        Its variance is at most Σ f² Var(1/F), as cells compete for the records to come; that of the
        parameters is added.
        """
        cells, mean = float(self.totals.size_indices.n_cells), tally.matches
        if self.totals.is_population and self.totals.population_size_known:
            return Figure(value=cells, low=cells, high=cells, how=How.EXACT)
        of_fit = 0.0
        if self.uncertainty is not None:
            of_fit = self.uncertainty.matches_error(self.totals.size_indices, mean)
        variance = tally.matches_variance + of_fit**2
        low, high = gamma_limits(mean, variance, self.confidence)
        return Figure(
            value=mean,
            low=low,
            high=max(mean, min(high, cells)),
            standard_error=math.sqrt(variance),
            confidence=self.confidence,
            how=How.ESTIMATE,
            note=self.totals.counted(f"limits on Σ f/F if the model holds{self.note}"),
        )

    def caution(self, tally: Tally) -> str | None:
        """What the fit itself gives rise to, and whether the size indices contradict the model."""
        from discreet.survey.models.superpopulation.goodness_of_fit import misfit

        return self.remark or misfit(self)

    def _tallied_uniques(self, tally: Tally) -> int:
        """Sample uniques in the tally, which may be that of a part of the cells."""
        q = self.distribution.unique_probability
        return round(tally.uniques / q) if q > 0 else self.totals.size_indices.sample_uniques


def check_confidence(confidence: float) -> None:
    """Raises InputError unless it lies between 0 and 1."""
    if not 0 < confidence < 1:
        raise InputError(must_be("confidence", "between 0 and 1", confidence))
