"""A distribution over tables that is known but too large to sum: weighted draws, with their errors.

Tables are filled piece by piece by choices with known probabilities q (see `fiber.sequential`); a
table of the distribution's weight w counts w / q. Averages over them are right for the
distribution, and the mean weight is its normaliser, so that marginal likelihoods come along."""

from collections.abc import Sequence

import numpy as np

from discreet.belief.drawn_belief import DrawnBelief
from discreet.belief.draws.weights import effective_draws
from discreet.belief.exact.exact_distribution import ExactDistribution
from discreet.clock import Clock
from discreet.fiber.draws.sequential import WeightedDraws, weighted_draws
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.structure import presolve
from discreet.figures import Unavailable
from discreet.numerics.rounding import above
from discreet.progress import Progress, silent

ENOUGH = 2000  # effective draws, after which no more are made
MOST_DRAWS = 50_000
MOST_NUMBERS = 2**25  # cells of all draws together
FIRST_ROUND = 500


def weighted_belief(
    distribution: ExactDistribution,
    *,
    margins: Margins | None,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> DrawnBelief | Unavailable:
    """The belief by draws: until 2,000 are effective, 50,000 are made or the time is over.

    `margins` are those whose equations the distribution's system has, None where it has others
    besides."""
    most = min(MOST_DRAWS, MOST_NUMBERS // max(distribution.system.n_columns, 1))
    rounds: list[WeightedDraws] = []
    tried, wanted = 0, FIRST_ROUND
    while tried < most:
        drawn = weighted_draws(
            distribution.system,
            distribution.prior,
            min(wanted, most - tried),
            rng=rng,
            margins=margins,
            time_limit=clock.share(0.8),
            progress=progress,
        )
        if isinstance(drawn, Unavailable):
            return drawn
        rounds.append(drawn)
        tried, wanted = tried + drawn.n_tried, 2 * wanted
        logs = np.concatenate([one.log_weights for one in rounds])
        if drawn.stopped or clock.is_over or not above(ENOUGH, effective_draws(logs)):
            break
    return _joined(distribution, rounds, tried)


def _joined(
    distribution: ExactDistribution, rounds: Sequence[WeightedDraws], tried: int
) -> DrawnBelief | Unavailable:
    tables = np.concatenate([drawn.tables for drawn in rounds])
    if len(tables) == 0:
        return Unavailable(f"none of {tried:,} draws found a consistent table")
    ratios = np.concatenate([drawn.log_weights for drawn in rounds])
    cells = np.broadcast_to(np.arange(distribution.system.n_named), tables.shape)
    whole = WeightedDraws(tables=tables, log_weights=ratios, n_tried=tried, how="")
    limits = presolve(distribution.system, drop_redundant=False)
    n = distribution.n_cells
    return DrawnBelief(
        tables=np.ascontiguousarray(tables[:, :n]),
        log_ratios=ratios,
        log_weights=distribution.prior.log_weight(cells, tables).sum(axis=1),
        n_tried=tried,
        lower=limits.lower[:n].copy(),
        upper=limits.upper[:n].copy(),
        log_weight=distribution.log_weights_where_consistent,
        warning=whole.warning,
        complete=not any(drawn.stopped for drawn in rounds),
    )
