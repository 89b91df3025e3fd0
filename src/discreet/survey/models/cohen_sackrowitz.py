"""Cohen and Sackrowitz: Bayes probability that a sample unique is a population unique.

Two models, one for each prior over population tables (see `exchangeable_prior`): all tables equally
likely, or all records equally likely to fall in any cell. Both treat all cells, hence all sample
uniques, alike: their figures depend on N, n, the number of possible cells and the number of sample
uniques only. The Bayes test that goes with them weighs a missed unique against a false alarm.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.summary import SizeIndices, Summary
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome
from discreet.numerics.rounding import above, alike
from discreet.survey.models.contract import MATCH, UNIQUE, CellScores, ModelUnavailable, Need, Tally
from discreet.survey.models.exchangeable_prior import ExchangeablePosterior, PopulationPrior
from discreet.survey.models.sample_size import sample_uniques_moments

UNLIKELY = 0.01
ESTIMATED_SIZE = "the population size is estimated from the survey weights"


@dataclass(frozen=True, slots=True, kw_only=True)
class CohenSackrowitzUniform:
    """Every population table equally likely: Q = (n+K−1)(n+K−2) / ((N+K−1)(N+K−2)), eq. 2.4."""

    name: str = "cohen_sackrowitz_uniform"
    assumption: str = (
        "Every way to spread the population over the possible cells is equally likely beforehand, "
        "the sample is drawn without replacement, and all sample uniques are treated alike."
    )
    needs: frozenset[Need] = frozenset()
    confidence: float = 0.95

    def fit(self, summary: Summary) -> "FittedCohenSackrowitz":
        """The posterior given the totals; unavailable where they cannot be those of a sample."""
        return fitted(PopulationPrior.UNIFORM, summary, self.confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class CohenSackrowitzMultinomial:
    """Every record equally likely in any cell: Q = ((K−1)/K)^(N−n), eq. 2.6.

    A strong prior: it holds that cells are about equally full, so that a population with many
    records a cell has next to no uniques, whatever the sample shows.
    """

    name: str = "cohen_sackrowitz_multinomial"
    assumption: str = (
        "Every record of the population falls in any possible cell with the same probability, the "
        "sample is drawn without replacement, and all sample uniques are treated alike."
    )
    needs: frozenset[Need] = frozenset()
    confidence: float = 0.95

    def fit(self, summary: Summary) -> "FittedCohenSackrowitz":
        """The posterior given the totals; unavailable where they cannot be those of a sample."""
        return fitted(PopulationPrior.MULTINOMIAL, summary, self.confidence)


def fitted(
    prior: PopulationPrior, summary: Summary, confidence: float = 0.95
) -> "FittedCohenSackrowitz":
    """The fitted model under either prior; ModelUnavailable says what is missing or cannot be."""
    if not 0 < confidence < 1:
        raise InputError(must_be("confidence", "between 0 and 1", confidence))
    given = _usable_population_size(summary)
    _check_table(summary)
    return FittedCohenSackrowitz(
        posterior=ExchangeablePosterior(
            prior=prior,
            sample_size=summary.sample_size,
            population_size=round(given),
            n_table_cells=summary.n_table_cells,
        ),
        size_indices=summary.size_indices,
        population_size_given=given,
        population_size_known=summary.population_size_known,
        confidence=confidence,
    )


def _usable_population_size(summary: Summary) -> float:
    """N as given, at least n once rounded."""
    given = summary.population_size
    if given is None:
        raise ModelUnavailable(
            "the population size is not known; give it, or survey weights that estimate it"
        )
    if not math.isfinite(given) or round(given) < summary.sample_size:
        rule = f"at least the sample size {summary.sample_size}"
        raise ModelUnavailable(must_be("population_size", rule, f"{given:g}"))
    return given


def _check_table(summary: Summary) -> None:
    """Raise unless the cells are those of a table that can hold the sample."""
    sizes = summary.size_indices
    if summary.sample_size == 0:
        raise ModelUnavailable("the sample holds no record")
    if not sizes.is_partition:
        raise ModelUnavailable(
            "where missing values match anything, cells overlap and there is no table of them; "
            "let missing values be a category of their own"
        )
    if summary.n_table_cells < sizes.n_cells:
        rule = f"at least the {sizes.n_cells} occupied cells"
        raise ModelUnavailable(must_be("n_table_cells", rule, summary.n_table_cells))


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedCohenSackrowitz:
    """Scores every sample unique with the same probability; counts come with their distribution."""

    posterior: ExchangeablePosterior
    size_indices: SizeIndices
    population_size_given: float
    population_size_known: bool
    confidence: float = 0.95

    gives: ClassVar[tuple[str, ...]] = (UNIQUE, MATCH)

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """The totals the posterior rests on; `population_size_given` only if it was not whole."""
        posterior = self.posterior
        totals: dict[str, float | int | str] = {
            "prior": posterior.prior.value,
            "sample_size": posterior.sample_size,
            "population_size": posterior.population_size,
            "n_table_cells": posterior.n_table_cells,
            "sample_uniques": self.size_indices.sample_uniques,
            "unique_probability": posterior.unique_probability,
        }
        if not alike(self.population_size_given, posterior.population_size):
            totals["population_size_given"] = self.population_size_given
        return totals

    def score(self, batch: CellBatch) -> CellScores:
        """Q for each sample unique, E(1/F given f) for each cell."""
        lone = batch.sample_count == 1
        return CellScores(
            unique_probability=np.where(lone, self.posterior.unique_probability, 0.0),
            match_probability=self.posterior.match_probability(batch.sample_count),
        )

    def expected_population_uniques(self, tally: Tally) -> Outcome:
        """s·Q with limits from the exact distribution of the number of population uniques.

        Certain where there are no sample uniques, or where the sample is the whole population.
        """
        s = self._tallied_uniques(tally)
        if s == 0 or self._is_population:
            return Figure(value=float(s), low=float(s), high=float(s), how=How.EXACT)
        uniques = self.posterior.uniques(s)
        low, high = uniques.interval(self.confidence)
        return Figure(
            value=uniques.mean,
            low=float(low),
            high=float(high),
            standard_error=math.sqrt(uniques.variance),
            confidence=self.confidence,
            how=How.ESTIMATE,
            note=self._note("limits of the exact posterior distribution"),
        )

    def expected_correct_matches(self, tally: Tally) -> Outcome:
        """Σ f·E(1/F), with a standard error that is an upper limit (negative association)."""
        cells = self.size_indices.n_cells
        if self._is_population:
            return Figure(value=float(cells), low=float(cells), high=float(cells), how=How.EXACT)
        sizes = self.size_indices
        error = math.sqrt(self.posterior.matches_variance(sizes.sizes, sizes.cells))
        reach = NormalDist().inv_cdf((1 + self.confidence) / 2) * error
        return Figure(
            value=tally.matches,
            low=max(0.0, tally.matches - reach),
            high=min(float(cells), tally.matches + reach),
            standard_error=error,
            confidence=self.confidence,
            how=How.ESTIMATE,
            note=self._note("normal limits; the standard error is at most this"),
        )

    def caution(self, tally: Tally) -> str | None:
        """Where the prior gives this number of sample uniques a chance below UNLIKELY (Chebyshev).

        The number is known before any inference, and each prior says what to expect of it.
        """
        s, posterior = self.size_indices.sample_uniques, self.posterior
        mean, variance = sample_uniques_moments(
            posterior.prior, posterior.sample_size, posterior.cells
        )
        if self._is_population or (s - mean) ** 2 * UNLIKELY <= variance:
            return None
        return (
            f"the prior expects {mean:,.3g} sample uniques in such a sample and gives the {s:,} "
            f"there are a chance below {UNLIKELY:.0%}: the data contradict it, and its figures "
            "may be far off either way"
        )

    @property
    def _is_population(self) -> bool:
        return self.posterior.unseen == 0 and self.population_size_known

    def _tallied_uniques(self, tally: Tally) -> int:
        """Sample uniques in the tally, which may be that of a part of the cells."""
        q = self.posterior.unique_probability
        return round(tally.uniques / q) if q > 0 else self.size_indices.sample_uniques

    def _note(self, text: str) -> str:
        return text if self.population_size_known else f"{text}; {ESTIMATED_SIZE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UniquenessTest:
    """The Bayes test of H: F = 1 for a sample unique (cohen-sackrowitz section 2).

    Calling a record unique costs `false_alarm_loss` (c) if it is not; calling it shared costs
    `missed_loss` (b) if it is unique. It is called shared when Q < c / (b + c), unique otherwise.
    `shared_probability` is 1 − Q, kept beside Q so that neither loses its digits.
    """

    unique_probability: float
    shared_probability: float

    def __post_init__(self) -> None:
        q, rest = self.unique_probability, self.shared_probability
        if not (0 <= q <= 1 and 0 <= rest <= 1 and math.isclose(q + rest, 1, abs_tol=1e-9)):
            rule = "two probabilities that add to 1"
            raise InputError(must_be("unique_probability, shared_probability", rule, (q, rest)))

    @classmethod
    def of(cls, posterior: ExchangeablePosterior) -> "UniquenessTest":
        """The test of any sample unique, all being alike under an exchangeable prior."""
        return cls(
            unique_probability=posterior.unique_probability,
            shared_probability=posterior.shared_probability,
        )

    @property
    def flip_ratio(self) -> float | None:
        """The ratio b/c = (1 − Q)/Q from which on a record is called unique; None if never."""
        q, rest = self.unique_probability, self.shared_probability
        ratio = rest / q if q > 0 else math.inf
        return ratio if math.isfinite(ratio) else None

    def calls_unique(self, *, missed_loss: float, false_alarm_loss: float) -> bool:
        """Whether the test calls a sample unique a population unique; at a tie it does."""
        for name, loss in (("missed_loss", missed_loss), ("false_alarm_loss", false_alarm_loss)):
            if not 0 < loss < math.inf:
                raise InputError(must_be(name, "a positive number", loss))
        missed = missed_loss * self.unique_probability
        return not above(false_alarm_loss * self.shared_probability, missed)

    def over(self, ratios: Iterable[float]) -> list[tuple[float, bool]]:
        """The call for each ratio b/c of the losses."""
        return [(r, self.calls_unique(missed_loss=r, false_alarm_loss=1.0)) for r in ratios]
