"""The risk of a release by weighted draws, where an intruder's distribution is too large to list or
sum.

Draws have weights w / q, with w the prior times the probability of the publication under the table;
averages over them are right for the distribution. Every figure has its error or its limits.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import logsumexp

from discreet.belief.draws.weighted_draws import (
    WeightedDistribution,
    relative_error,
    weighted_distribution,
)
from discreet.belief.exact.exact_distribution import ExactDistribution
from discreet.choice.measures import Exposure, Measure, small_cells
from discreet.clock import Clock
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.priors import Prior
from discreet.figures import Figure, How, Unavailable
from discreet.masks.contract import Masked
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import above
from discreet.tables.measures import best_value, surely_above
from discreet.tables.refused_margin import Policy

Distribution = Mapping[int, float]
LEAST_EFFECTIVE = 100.0  # draws' worth below which there is no figure
ERRORS = 2.0  # standard errors that a distribution may be off


def drawn_exposure(
    masked: Masked,
    prior: Prior,
    measure: Measure,
    *,
    also: Sequence[Statement] = (),
    clock: Clock,
    rng: np.random.Generator,
) -> Exposure:
    """The probability of the true table, or (5), as an estimate; or why there is none."""
    system = system_of(masked.source.n_cells, [*masked.known, *also])
    distribution = ExactDistribution(
        system=system, prior=prior, n_cells=masked.source.n_cells, log_constant=None
    )
    margins = None if also else masked.margins
    drawn = weighted_distribution(
        distribution, margins=margins, clock=Clock(clock.share(0.9)), rng=rng
    )
    if isinstance(drawn, Unavailable):
        return _none(drawn.reason)
    if len(np.unique(drawn.tables.sum(axis=1))) > 1:
        return _none("the number of persons is not known, so that tables cannot be weighed")
    logs = drawn.log_ratios + log_likelihood(masked, drawn.tables)
    worth = _worth(logs)
    if above(LEAST_EFFECTIVE, worth):  # equal weights are worth a whole number but for rounding
        return _none(
            f"tables can be neither listed nor summed in the time, and {drawn.n_tried:,} weighted "
            f"draws were worth only {worth:.0f} plain ones"
        )
    method = f"{drawn.n_tried:,} weighted draws, worth {worth:,.0f} plain ones"
    truth = np.ravel(masked.source.dense())
    if measure.policy is Policy.TABLE:
        return Exposure(_true_table(masked, prior, logs, drawn.n_tried, truth), method)
    cells = small_cells(truth, measure.small)
    return Exposure(_found(drawn, logs, cells, truth[cells], measure.confidence), method)


def share_found(
    distributions: Sequence[Distribution],
    errors: Sequence[Distribution],
    truths: Sequence[int],
    confidence: float,
) -> Figure:
    """(5): the share of small cells whose likeliest count is right, and likelier than that.

    Its limits count the cells in which two standard errors could turn the answer.
    """
    triples = list(zip(distributions, errors, truths, strict=True))
    hits = [_is_found(distribution, truth, confidence) for distribution, _, truth in triples]
    doubts = [
        _is_open(distribution, own, truth, confidence) for distribution, own, truth in triples
    ]
    pairs = list(zip(hits, doubts, strict=True))
    note = f"{sum(doubts)} of the cells are too near the confidence to tell" if any(doubts) else ""
    return Figure(
        value=sum(hits) / len(hits),
        low=sum(hit and not doubt for hit, doubt in pairs) / len(hits),
        high=sum(hit or doubt for hit, doubt in pairs) / len(hits),
        how=How.ESTIMATE,
        note=note,
    )


def log_likelihood(masked: Masked, tables: IntArray) -> FloatArray:
    """log Pr(publication | table) of each table, zero where the statements tell all."""
    if masked.likelihood is None:
        return np.zeros(len(tables))
    return masked.likelihood(tables)


def _none(reason: str) -> Exposure:
    return Exposure(Unavailable(reason), reason)


def _worth(logs: FloatArray) -> float:
    """(Σ weight)² / Σ weight²; 0 where no draw is possible."""
    if not np.any(logs > -np.inf):
        return 0.0
    return float(np.exp(2 * logsumexp(logs) - logsumexp(2 * logs)))


def _true_table(
    masked: Masked, prior: Prior, logs: FloatArray, n_tried: int, truth: IntArray
) -> Figure:
    """w(truth) / Z, with Z the mean weight of a draw and its error by the delta method."""
    log_z = float(logsumexp(logs)) - float(np.log(n_tried))
    error = relative_error(logs - log_z, n_tried)
    own = float(prior.log_weight(np.arange(len(truth)), truth).sum())
    own += float(log_likelihood(masked, truth[None])[0])
    value = float(np.exp(min(own - log_z, 0.0)))
    return Figure(value=value, how=How.ESTIMATE, standard_error=value * error)


def _found(
    drawn: WeightedDistribution,
    logs: FloatArray,
    cells: IntArray,
    truths: IntArray,
    confidence: float,
) -> Figure:
    shares = np.exp(logs - logsumexp(logs))
    pairs = [drawn.cell(int(cell), shares) for cell in cells]
    distributions, errors = (
        [distribution for distribution, _ in pairs],
        [error for _, error in pairs],
    )
    return share_found(distributions, errors, truths.tolist(), confidence)


def _is_found(distribution: Distribution, truth: int, confidence: float) -> bool:
    best = best_value(distribution)
    return best == truth and distribution[best] > surely_above(confidence)


def _is_open(
    distribution: Distribution, errors: Distribution, truth: int, confidence: float
) -> bool:
    """Whether the true count may be found or not, two standard errors either way."""
    own, room = distribution.get(truth, 0.0), ERRORS * errors.get(truth, 0.0)
    others = [(p, ERRORS * errors.get(q, 0.0)) for q, p in distribution.items() if q != truth]
    surely = own - room > max([confidence, *(p + r for p, r in others)])
    never = own + room <= confidence or own + room < max((p - r for p, r in others), default=0.0)
    return not surely and not never
