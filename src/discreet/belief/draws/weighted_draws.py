"""A distribution over tables that is known but too large to sum: weighted draws, with their errors.

Tables are filled piece by piece by choices with known probabilities q (see `fiber.sequential`); a
table of the distribution's weight w counts w / q. Averages over them are right for the
distribution, and the mean weight is its normaliser, so that marginal likelihoods come along."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from discreet.belief.exact.exact_distribution import ExactDistribution
from discreet.clock import Clock
from discreet.fiber.draws.sequential import WeightedDraws, weighted_draws
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.structure import presolve
from discreet.figures import Figure, How, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.rounding import EPSILON, above
from discreet.progress import Progress, silent

ENOUGH = 2000  # effective draws, after which no more are made
MOST_DRAWS = 50_000
MOST_NUMBERS = 2**25  # cells of all draws together
FIRST_ROUND = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedDistribution:
    """Draws of a distribution (draws × cells), with log w / q of each and its log w.

    `room` says which cells have more than one possible value.
    """

    tables: IntArray
    log_ratios: FloatArray
    log_weights: FloatArray
    room: IntArray
    n_tried: int
    warning: str
    complete: bool

    def __post_init__(self) -> None:
        for array in (self.tables, self.log_ratios, self.log_weights, self.room):
            read_only(array)

    @property
    def shares(self) -> FloatArray:
        """The weights, scaled to a sum of one."""
        found: FloatArray = np.exp(self.log_ratios - logsumexp(self.log_ratios))
        return found

    @property
    def effective_draws(self) -> float:
        """(Σ weight)² / Σ weight²."""
        return float(1.0 / np.sum(self.shares**2))

    def normaliser(self) -> tuple[float, float]:
        """log Σ w over all tables, and the standard error of that logarithm."""
        value = float(logsumexp(self.log_ratios) - np.log(self.n_tried))
        return value, relative_error(self.log_ratios - value, self.n_tried)

    def cell(
        self, cell: int, shares: FloatArray | None = None
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Pr(F(cell) = q) and its standard errors; √Σ share² (1{x = q} − p)², the delta method.

        A value that all draws have, in a cell with room for others, is given the error that the
        rule of succession allows, 1 / (effective draws + 2); without room it is certain.
        """
        own = self.shares if shares is None else shares
        values, place = np.unique(self.tables[:, cell], return_inverse=True)
        p = np.bincount(place, weights=own, minlength=len(values))
        here = np.bincount(place, weights=own**2, minlength=len(values))
        every = float((own**2).sum())
        error = np.sqrt(np.maximum(here * (1 - 2 * p) + p**2 * every, 0.0))
        if len(values) == 1:  # else rounding of p would say whether it is certain
            error = np.array([1.0 / (1.0 / every + 2.0) if self.room[cell] else 0.0])
        listed = [int(q) for q in values]
        return dict(zip(listed, p.tolist(), strict=True)), dict(
            zip(listed, error.tolist(), strict=True)
        )

    def entropy(self) -> Figure:
        """log₂ Z − E log₂ w, with its standard error."""
        log_z, _ = self.normaliser()
        shares = self.shares
        mean = float(shares @ self.log_weights)
        terms = shares * (1 - (self.log_weights - mean)) - 1 / self.n_tried
        variance = float((terms**2).sum()) + (self.n_tried - len(terms)) / self.n_tried**2
        bits = float(np.log(2.0))
        return Figure(
            value=max(log_z - mean, 0.0) / bits,
            how=How.ESTIMATE,
            standard_error=float(np.sqrt(variance)) / bits,
        )


def relative_error(logs: FloatArray, n_tried: int) -> float:
    """The standard error of the mean weight of `n_tried` draws, over that mean.

    `logs` are those of each weight over the mean; draws left out have none. Weights that are all
    alike but for rounding leave less than 10⁻¹², not the root of what rounding makes of a
    difference of squares; yet never 0, since draws do not make a sum exact.
    """
    squares = float(np.square(np.expm1(logs)).sum()) + n_tried - len(logs)
    return max(float(np.sqrt(squares)) / n_tried, EPSILON)


def weighted_distribution(
    distribution: ExactDistribution,
    *,
    margins: Margins | None,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> WeightedDistribution | Unavailable:
    """Draws until they are worth 2,000 unweighted ones, or the time or 50,000 of them are over.

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
        if drawn.stopped or clock.is_over or not above(ENOUGH, _worth(rounds)):
            break
    return _joined(distribution, rounds, tried)


def _worth(rounds: Sequence[WeightedDraws]) -> float:
    logs = np.concatenate([drawn.log_weights for drawn in rounds])
    if len(logs) == 0:
        return 0.0
    return float(np.exp(2 * logsumexp(logs) - logsumexp(2 * logs)))


def _joined(
    distribution: ExactDistribution, rounds: Sequence[WeightedDraws], tried: int
) -> WeightedDistribution | Unavailable:
    tables = np.concatenate([drawn.tables for drawn in rounds])
    if len(tables) == 0:
        return Unavailable(f"none of {tried:,} draws found a consistent table")
    ratios = np.concatenate([drawn.log_weights for drawn in rounds])
    cells = np.broadcast_to(np.arange(distribution.system.n_named), tables.shape)
    whole = WeightedDraws(tables=tables, log_weights=ratios, n_tried=tried, how="")
    limits = presolve(distribution.system, drop_redundant=False)
    room = (limits.upper > limits.lower)[: distribution.n_cells].astype(np.int64)
    return WeightedDistribution(
        tables=np.ascontiguousarray(tables[:, : distribution.n_cells]),
        log_ratios=ratios,
        log_weights=distribution.prior.log_weight(cells, tables).sum(axis=1),
        room=room,
        n_tried=tried,
        warning=whole.warning,
        complete=not any(drawn.stopped for drawn in rounds),
    )
