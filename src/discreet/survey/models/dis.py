"""Data intrusion simulation: how probable it is that a unique match is a correct one.

An intruder takes a person of the population at random and finds exactly one record of the sample
with the same keys. The match is correct with probability θ = Σ I(f = 1) / Σ F I(f = 1) over cells
(Skinner and Elliot 2002). For any population, whatever its cells, and Bernoulli sampling with
fraction π, x = (1 − π)/π, Σ (F − 1) I(f = 1) and 2x n_2 have one mean, n_j being the sample cells
of j records. Hence, without any model,

    θ̂ = n_1 / (n_1 + 2x n_2) = π n_1 / (π n_1 + 2(1 − π) n_2),

and the variance of 2x n_2 − Σ (F − 1) I(f = 1) is estimated without bias by
2x n_2 + 4x² n_2 + 6x² n_3, because Σ (F − 1)(F − 2) I(f = 1) and 6x² n_3 have one mean too.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

from discreet.data.cells import CellBatch
from discreet.data.summary import Summary
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.survey.models.contract import CellScores, ModelUnavailable, Need, Tally
from discreet.survey.models.superpopulation.fitted import (
    CONFIDENCE,
    Totals,
    check_confidence,
    usable,
)

LONGEST_REACH = 700.0  # of a logarithm of people: beyond it exp overflows, and says nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectMatch:
    """θ̂ with its standard error and limits.

    The limits are those on the people Σ F in the cells of sample uniques, turned round; they
    stay above 0 and at most 1.
    """

    probability: float
    standard_error: float
    low: float
    high: float
    confidence: float

    def figure(self, scale: float = 1.0, note: str = "") -> Figure:
        """The probability, or so many times it, as a figure."""
        return Figure(
            value=scale * self.probability,
            low=scale * self.low,
            high=scale * self.high,
            standard_error=scale * self.standard_error,
            confidence=self.confidence,
            how=How.ESTIMATE,
            note=note,
        )


def correct_match_probability(
    uniques: int,
    pairs: int,
    triples: int,
    sampling_fraction: float,
    *,
    confidence: float = CONFIDENCE,
) -> CorrectMatch:
    """θ̂ from the numbers of sample cells of one, two and three records.

    The error is that of θ̂ as an estimate of θ in this very sample. Checked: counts not negative,
    at least one unique, 0 < π ≤ 1.
    """
    check_confidence(confidence)
    _check(uniques, pairs, triples, sampling_fraction)
    x = (1 - sampling_fraction) / sampling_fraction
    others = 2 * x * pairs
    error = math.sqrt(x * (2 * pairs + 4 * x * pairs + 6 * x * triples))
    probability = uniques / (uniques + others)
    low, high = _log_limits(others, error, confidence)
    return CorrectMatch(
        probability=probability,
        standard_error=probability * (error / (uniques + others)),
        low=uniques / (uniques + high),
        high=uniques / (uniques + low),
        confidence=confidence,
    )


def _log_limits(others: float, error: float, confidence: float) -> tuple[float, float]:
    """Limits on a positive number from its standard error, on the scale of its logarithm."""
    if others == 0:
        return 0.0, 0.0
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * error / others
    factor = math.exp(min(reach, LONGEST_REACH))
    return others / factor, others * factor


def _check(uniques: int, pairs: int, triples: int, sampling_fraction: float) -> None:
    """Raises InputError at the first argument that breaks its rule."""
    for name, number, least in (
        ("uniques", uniques, 1),
        ("pairs", pairs, 0),
        ("triples", triples, 0),
    ):
        if number < least:
            raise InputError(must_be(name, f"at least {least}", number))
    if not 0 < sampling_fraction <= 1:
        rule = "above 0 and at most 1"
        raise InputError(must_be("sampling_fraction", rule, sampling_fraction))


@dataclass(frozen=True, slots=True, kw_only=True)
class DataIntrusionSimulation:
    """The simple estimator of Skinner and Elliot, free of any model of the population."""

    name: str = "dis"
    assumption: str = (
        "The sample is drawn at random with one sampling fraction, and the intruder, who does not "
        "know who is in it, claims a match only where exactly one record fits."
    )
    needs: frozenset[Need] = frozenset()
    confidence: float = CONFIDENCE

    def fit(self, summary: Summary) -> "FittedDis":
        """The estimate; unavailable without sample uniques, or without pairs to tell it from 1."""
        totals = usable(summary)
        uniques, pairs, triples = (totals.cells_of(j) for j in (1, 2, 3))
        if uniques == 0:
            raise ModelUnavailable("there is no sample unique, so no match can be unique")
        if pairs == 0 and not totals.is_population:
            raise ModelUnavailable(
                "no cell holds two records, so nothing tells how large the cells of sample "
                "uniques are"
            )
        match = correct_match_probability(
            uniques, pairs, triples, totals.sampling_fraction, confidence=self.confidence
        )
        return FittedDis(match=match, totals=totals)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedDis:
    """The probability that a unique match is correct, one for the whole file."""

    match: CorrectMatch
    totals: Totals

    gives: ClassVar[tuple[str, ...]] = ()

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """The probability, its error, and what it comes from."""
        return {
            "correct_match_probability": self.match.probability,
            "standard_error": self.match.standard_error,
            "low": self.match.low,
            "high": self.match.high,
            "sampling_fraction": self.totals.sampling_fraction,
            "sample_uniques": self.totals.cells_of(1),
            "sample_pairs": self.totals.cells_of(2),
        }

    def score(self, batch: CellBatch) -> CellScores:
        """None: the estimate is one of the file and tells no cell from another."""
        return CellScores(unique_probability=None, match_probability=None)

    def expected_population_uniques(self, tally: Tally) -> Outcome:
        """DIS counts correct matches, not population uniques."""
        return Unavailable(
            "data intrusion simulation estimates how many unique matches are correct, not how many "
            "records are population uniques"
        )

    def expected_correct_matches(self, tally: Tally) -> Outcome:
        """Unavailable, with what it does say: θ̂ is about unique matches alone, where other models
        count every record, so that the two would not compare."""
        match = self.match
        return Unavailable(
            f"this intruder claims a match only where one record fits; of such matches "
            f"{match.probability:.3f} are correct ({match.low:.3f} to {match.high:.3f})"
        )

    def caution(self, tally: Tally) -> str | None:
        """It supposes nothing of the population that the sizes of cells could contradict."""
        return None
