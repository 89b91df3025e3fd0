"""The Benedetti–Franconi individual risk: how likely a record is matched, from survey weights.

Of the F people of a cell each is in the sample with probability p. With the improper prior 1/π on
the share π of the cell, F given f is negative binomial (polettini eq. 2), and the individual risk
is r = E(1/F | f) (polettini eq. 1 and 6). The inclusion probability of a cell is estimated by
p̂ = f / Σw (polettini eq. 4), or is n/N for all cells of a file without weights.

The prior supposes as many small cells as large ones on a logarithmic scale. Where most cells are
small the risk comes out far too low; `models.underestimation` sees that from the sample itself.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, pdtr

from discreet.data.cells import CellBatch
from discreet.data.summary import Summary
from discreet.errors import InputError, WeightError, must_be
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import BoolArray, CountArray, FloatArray, IntArray
from discreet.numerics.rounding import whole_above, whole_below
from discreet.survey.models.contract import MATCH, UNIQUE, CellScores, ModelUnavailable, Need, Tally
from discreet.survey.models.inverse_mean import inverse_mean, inverse_square_mean

LARGEST_COUNT = 1e15  # counts up to here are exact as floats, with room for sums
CONFIDENCE = 0.95
EXACT_VARIANCE_CELLS = 5_000_000
VARIANCE_ERROR = 1e-11  # of r²: a variance below this is what rounding leaves of none


def individual_risk(sample_count: CountArray, inclusion_probability: FloatArray) -> FloatArray:
    """r = E(1/F | f) for each cell, in (0, 1] (polettini eq. 6); 1/f where p = 1.

    Checked: one shape, 1 ≤ f ≤ 1e15 (fractions allowed), 0 < p ≤ 1.
    """
    return inverse_mean(*_checked(sample_count, inclusion_probability))


def match_variance(sample_count: CountArray, inclusion_probability: FloatArray) -> FloatArray:
    """Var(1/F | f) for each cell: E(1/F²) − r².

    Checked: as in `individual_risk`, and every f is a whole number. Rounding leaves an error of
    about 1e-12 r².
    """
    f, p = _checked_whole(sample_count, inclusion_probability)
    return np.maximum(inverse_square_mean(f, p) - inverse_mean(f, p) ** 2, 0)


def unique_probability(sample_count: CountArray, inclusion_probability: FloatArray) -> FloatArray:
    """P(F = 1 | f) for each cell: p for a sample unique, 0 for a larger cell.

    Checked: as in `individual_risk`.
    """
    f, p = _checked(sample_count, inclusion_probability)
    return np.where(f == 1, p, 0.0)


def _checked(
    sample_count: CountArray, inclusion_probability: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Both as float arrays; raises at the first cell that breaks a rule."""
    f = np.asarray(sample_count, dtype=np.float64)
    p = np.asarray(inclusion_probability, dtype=np.float64)
    if f.shape != p.shape:
        rule = f"of the shape of sample_count {f.shape}"
        raise InputError(must_be("inclusion_probability", rule, f"shape {p.shape}"))
    _must_all("sample_count", f"from 1 to {LARGEST_COUNT:g}", f, (f >= 1) & (f <= LARGEST_COUNT))
    _must_all("inclusion_probability", "above 0 and at most 1", p, (p > 0) & (p <= 1))
    return f, p


def _checked_whole(
    sample_count: CountArray, inclusion_probability: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """As `_checked`, and every f is a whole number."""
    f, p = _checked(sample_count, inclusion_probability)
    _must_all("sample_count", "whole numbers", f, f == np.floor(f))
    return f, p


def _must_all(name: str, rule: str, values: FloatArray, holds: BoolArray) -> None:
    """Raises at the first position where the rule does not hold."""
    if not holds.all():
        first = int(np.argmin(holds.ravel()))
        raise InputError(must_be(name, rule, values.ravel()[first], where=f"position {first}"))


def _tail(confidence: float) -> float:
    """The probability left out on each side. Checked: 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise InputError(must_be("confidence", "between 0 and 1", confidence))
    return (1 - confidence) / 2


def _smallest(holds: Callable[[FloatArray], BoolArray], shape: tuple[int, ...]) -> IntArray:
    """The smallest whole number ≥ 0 of each cell at which a rule holds, by bisection.

    Trusted: once it holds it holds for all larger numbers, and it holds at some float.
    """
    above = np.zeros(shape)
    while not (enough := holds(above)).all():
        above = np.where(enough, above, 2 * above + 1)
    below = np.floor((above - 1) / 2)  # the number tried before, −1 if the first did
    while (above - below > 1).any():
        middle = np.floor((above + below) / 2)
        good = holds(np.maximum(middle, 0)) & (middle >= 0)
        above, below = np.where(good, middle, above), np.where(good, below, middle)
    return above.astype(np.int64)


def household_risk(risk: FloatArray, household: NDArray[Any]) -> FloatArray:
    """For each record, the probability that someone of its household is matched: 1 − ∏(1 − r).

    `household` names the household of each record. Checked: one shape, 0 ≤ r ≤ 1. Trusted: members
    are matched independently of one another.
    """
    if np.shape(risk) != np.shape(household):
        rule = f"of the shape of risk {np.shape(risk)}"
        raise InputError(must_be("household", rule, f"shape {np.shape(household)}"))
    risk = np.asarray(risk, dtype=np.float64)
    _must_all("risk", "from 0 to 1", risk, (risk >= 0) & (risk <= 1))
    names, member = np.unique(household, return_inverse=True)
    with np.errstate(divide="ignore"):  # a member surely matched: −∞, and the household's risk is 1
        missed = np.log1p(-risk)
    together: FloatArray = -np.expm1(np.bincount(member.ravel(), missed.ravel(), len(names)))
    return together[member].reshape(risk.shape)


@dataclass(frozen=True, slots=True)
class BenedettiFranconi:
    """The individual risk of polettini, from weights or from the population size."""

    name: str = "benedetti_franconi"
    assumption: str = (
        "Cells of the population are of all sizes, as many small as large on a logarithmic scale, "
        "and the weights tell how likely the people of a cell were to be in the sample."
    )
    needs: frozenset[Need] = frozenset()

    def fit(self, summary: Summary) -> "FittedBenedettiFranconi":
        """Keeps the inclusion probability; nothing is estimated from the cells."""
        return FittedBenedettiFranconi(
            inclusion_probability=mean_inclusion_probability(summary),
            weighted=summary.weight_total is not None,
            summary=summary,
        )


def mean_inclusion_probability(summary: Summary) -> float:
    """n / Σw, or n/N for a file without weights; at most 1.

    Raises ModelUnavailable where neither is known, or where the population is smaller than the
    sample.
    """
    weighted = summary.weight_total is not None
    size = summary.weight_total if weighted else summary.population_size
    if size is None:
        raise ModelUnavailable(
            "the individual risk needs the share of people in the sample; "
            "name the column of survey weights or give the population size"
        )
    if not weighted and size < summary.sample_size:
        rule = f"at least the sample size {summary.sample_size}"
        raise ModelUnavailable(must_be("population_size", rule, f"{size:g}"))
    return min(1.0, summary.sample_size / size) if summary.sample_size else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedBenedettiFranconi:
    """Scores cells by their own weights, or all by n/N where the file has none."""

    inclusion_probability: float  # of a person on average: n / Σw or n/N
    weighted: bool
    summary: Summary

    @property
    def n_cells(self) -> int:
        """Occupied cells."""
        return self.summary.size_indices.n_cells

    gives: ClassVar[tuple[str, ...]] = (UNIQUE, MATCH)

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """The mean inclusion probability and where those of the cells come from."""
        source = "sample_count / weight_total" if self.weighted else "sample_size / population_size"
        return {"inclusion_probability": self.inclusion_probability, "source": source}

    def score(self, batch: CellBatch) -> CellScores:
        """P(F = 1) and E(1/F) of each cell given its count and weights."""
        f, p = batch.sample_count, self.inclusion_probabilities(batch)
        return CellScores(
            unique_probability=unique_probability(f, p),
            match_probability=individual_risk(f, p),
            match_variance=match_variance(f, p) if self._variance_is_exact(f) else None,
        )

    def _variance_is_exact(self, sample_count: CountArray) -> bool:
        """Var(1/F) costs more than the risk itself and needs whole counts."""
        return self.n_cells <= EXACT_VARIANCE_CELLS and sample_count.dtype.kind == "i"

    def inclusion_probabilities(self, batch: CellBatch) -> FloatArray:
        """p̂ of each cell: f / Σw but at most 1 (polettini eq. 4), or n/N.

        Checked: a file fitted with weights has them in every cell, positive and finite.
        """
        if not self.weighted:
            return np.full(len(batch), self.inclusion_probability)
        weight_total = batch.weight_total
        if weight_total is None:
            raise WeightError(must_be("weight_total", "given for each cell", "none"))
        sound = (weight_total > 0) & np.isfinite(weight_total)
        if not sound.all():
            where = f"cell {int(np.argmin(sound))} of the batch"
            rule, got = "positive and finite", "another value"
            raise WeightError(must_be("weight_total", rule, got, where=where))
        return np.minimum(batch.sample_count / weight_total, 1.0)

    def expected_population_uniques(self, tally: Tally) -> Outcome:
        """Σ p̂ over sample uniques, with limits on the number of them that are population uniques.

        The number is a sum of independent yes-or-no variables; its limits are those of a shifted
        Poisson variable of the same mean and, but for less than 1, the same variance (Röllin 2005).
        """
        if not self.summary.size_indices.is_partition:
            return Unavailable(
                "a match that needs a missing value does not prove that there is another person; "
                "choose category or drop for missing values"
            )
        mean, variance = tally.uniques, min(tally.uniques_variance, tally.uniques)
        shift = whole_below(mean - variance, scale=mean)
        low, high = (shift + k for k in poisson_limits(max(mean - shift, 0.0), CONFIDENCE))
        most = self.summary.size_indices.sample_uniques
        return Figure(
            value=mean,
            how=How.ESTIMATE,
            low=min(low, whole_below(mean)),
            high=min(max(high, whole_above(mean)), max(most, mean)),
            standard_error=math.sqrt(variance),
            confidence=CONFIDENCE,
            note="limits on the number itself if the model and the weights hold",
        )

    def expected_correct_matches(self, tally: Tally) -> Outcome:
        """Σ f r over all cells, with gamma limits on Σ f/F.

        The variance is that of the posterior, Σ f² Var(1/F). In files of very many cells, or with
        matches that count in part, a bound stands in for it: each f/F is in (0, 1], so its variance
        is at most m(1 − m) for its mean m; over C cells of mean M that is at most M(1 − M/C).
        """
        if not self.summary.size_indices.is_partition:
            note = "no limits are given where missing values match anything"
            return Figure(value=tally.matches, how=How.ESTIMATE, note=note)
        mean = tally.matches
        exact = tally.matches_variance * self.n_cells > VARIANCE_ERROR * mean**2
        bound = mean * max(0.0, 1 - mean / self.n_cells) if self.n_cells else 0.0
        variance = min(tally.matches_variance, bound) if exact else bound
        low, high = gamma_limits(mean, variance, CONFIDENCE)
        wider = "" if exact else "; they are wider than the posterior's"
        return Figure(
            value=mean,
            how=How.ESTIMATE,
            low=low,
            high=max(mean, min(high, self.n_cells)),
            standard_error=math.sqrt(variance),
            confidence=CONFIDENCE,
            note=f"limits on Σ f/F if the model and the weights hold{wider}",
        )

    def caution(self, tally: Tally) -> str | None:
        """Where the size indices show that the risk comes out too low."""
        from discreet.survey.models.underestimation import SmallCellSums, underestimation_check

        if not self.summary.size_indices.is_partition:
            return None
        sums = SmallCellSums(tally.unique_matches, tally.uniques, tally.pair_weight_total)
        warning = underestimation_check(self.summary, sums)
        return None if warning is None else warning.sentence


def poisson_limits(mean: float, confidence: float) -> tuple[int, int]:
    """Equal-tailed limits on a Poisson variable, each tail at most (1 − confidence)/2."""
    tail = _tail(confidence)
    low = _smallest(lambda k: pdtr(k, mean) >= tail, ())
    high = _smallest(lambda k: pdtr(k, mean) >= 1 - tail, ())
    return int(low), int(high)


def gamma_limits(mean: float, variance: float, confidence: float) -> tuple[float, float]:
    """Equal-tailed limits on a gamma variable of this mean and variance (none: the mean itself)."""
    tail = _tail(confidence)
    if variance <= mean * mean * 1e-30:
        return mean, mean
    shape, scale = mean * mean / variance, variance / mean
    low, high = gammaincinv(shape, [tail, 1 - tail]) * scale
    return float(low), float(high)
