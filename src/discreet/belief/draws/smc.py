"""A decomposable model's distribution given released margins, by populations that are led up to it.

Points (the model's own margins, see `clique_distribution`) begin as matchings of records, whose
distribution 1/∏F! is known in full, and pass through distributions with more and more of the
model's weights, ∏ w^β with β from 0 to 1: weighed, resampled and moved at each step (sequential
Monte Carlo samplers; Del Moral, Doucet and Jasra 2006). The mean weight of a population is without
bias for Σ w, the marginal likelihood, whatever the moves do; several populations that know nothing
of each other tell its standard error. Walks from their last points give the cells."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtri, stdtrit

from discreet.belief.draws.chain_frequencies import (
    CountedDistribution,
    counted_distribution,
    independent_distribution,
)
from discreet.belief.draws.resample_move import cube_moves
from discreet.belief.draws.smc_kernels import Lines, Weights, move_points
from discreet.belief.draws.weights import effective_draws
from discreet.belief.exact.clique_distribution import CliqueDistribution, log_matchings
from discreet.belief.exact.matched_tables import matched_tables
from discreet.belief.models.model_averaging import Evidence
from discreet.clock import PROCESSORS, Clock, threads, watch_left, work, working_seconds
from discreet.fiber.draws.sequential import weighted_draws
from discreet.fiber.system.priors import Multinomial
from discreet.figures import Unavailable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import EPSILON
from discreet.progress import Progress, silent

Words = NDArray[np.uint64]
POPULATION = 64  # points of a population
LEAST_POPULATIONS, MOST_POPULATIONS = 4, 64
LEAST_STARTS = 8  # different points that a population begins with
STEP_SPREAD = 0.5  # standard deviation of the log weights of one step
MOST_OF_REST = 1 / 3  # of the way left, so that far tails have weights of finite variance
MOST_STEPS = 2000
MOVE_SECONDS, POINT_SECONDS = 1e-7, 2e-8  # a move tried, and a count of a point looked up
MOST_ENTRIES = 2**25  # moves × entries of the model's margins
LEAST_MOVES, MOST_MOVES = 24, 250  # of each point at each step
N_CHAINS = 16
LEAST_KEPT, MOST_KEPT = 40, 1000  # tables of each chain
MOST_MATCHED = 10**9  # records
MOST_NUMBERS = 2**25  # columns of all tables kept
WORST_SPREAD = 1.0  # standard error of log Pr(R | A) above which it is no figure


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnealedDistribution:
    """log Pr(R | A) with its standard error, and the counts of the cells asked for, chains × draws
    × cells. `n_points` have been led up in `n_populations` by `n_steps`, none where the sum is$
    exact and the draws independent."""

    evidence: Evidence | Unavailable
    counts: IntArray
    n_populations: int
    n_points: int
    n_steps: int
    complete: bool

    @property
    def method(self) -> str:
        """How it was got, in words."""
        n_chains, n_draws = self.counts.shape[:2]
        if not self.n_steps:
            return f"{n_chains * n_draws:,} independent tables given the model's margins"
        led = f"{self.n_points:,} tables led up to the model"
        if self.n_populations > 1:
            led += f" in {self.n_populations} populations"
        return f"{led}, then {n_chains} walks of {n_draws:,} tables from them"

    def distributions(self) -> list[CountedDistribution]:
        """The distribution of each cell asked for."""
        distribution = counted_distribution if self.n_steps else independent_distribution
        return [distribution(self.counts[:, :, i]) for i in range(self.counts.shape[2])]


def annealed_distribution(
    distribution: CliqueDistribution,
    levels: IntArray,
    *,
    evidence: Evidence | None = None,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> AnnealedDistribution | Unavailable:
    """The distribution of the cells (rows of levels) and the marginal likelihood, or why there is
    none.

    Where the marginal likelihood is known, one population is led up, to walk from.
    """
    progress("leading tables up to the model", None)
    moves = cube_moves(distribution.margins)
    if moves is None or moves.n_moves * len(distribution.upper) > MOST_ENTRIES:
        return Unavailable("the table has too many cells for moves to be listed")
    lines = distribution.lines(moves)
    starts = _starts(distribution, rng, clock)
    if isinstance(starts, Unavailable):
        return starts
    if len(lines.begin) == 1:
        return _without_moves(distribution, starts, levels, rng)
    walker = _Walker(distribution, lines)
    pilot = _pilot(walker, starts, Clock(clock.share(0.4)), rng)
    if pilot is None:
        return Unavailable(
            "time ran out before tables were led up to the model; allow more seconds"
        )
    found = [_Population(pilot.points, 0.0, 0.0)]
    if evidence is None:
        number = _number(pilot.seconds, len(starts.points), clock)
        if number < LEAST_POPULATIONS:
            return Unavailable(
                f"leading {POPULATION} tables up to the model takes {pilot.seconds:.2g} s, too "
                "long for the time left; allow more seconds"
            )
        found = _populations(walker, starts, pilot, number, rng, progress)
    counts, complete = _walked(walker, found, levels, clock, rng, progress)
    return AnnealedDistribution(
        evidence=evidence or _evidence(distribution, starts, found),
        counts=counts,
        n_populations=len(found),
        n_points=len(found) * POPULATION,
        n_steps=len(pilot.schedule),
        complete=complete and (evidence is not None or len(found) == MOST_POPULATIONS),
    )


def _number(seconds: float, n_starts: int, clock: Clock) -> int:
    """How many populations there is time for, each taking so many seconds."""
    left = clock.share(0.6)
    number = MOST_POPULATIONS
    if left is not None:
        number = int(left * PROCESSORS / (1.3 * seconds))
    return min(number, MOST_POPULATIONS, n_starts // LEAST_STARTS)


@dataclass(frozen=True, slots=True)
class _Starts:
    """Points with log weights for the distribution `plain`, and log of what share of tries they
    are.
    """

    points: IntArray
    log_weights: FloatArray
    log_share: float


def _starts(
    distribution: CliqueDistribution, rng: np.random.Generator, clock: Clock
) -> _Starts | Unavailable:
    """Matchings of records where margins are decomposable, else tables filled cell by cell."""
    wanted, own = MOST_POPULATIONS * POPULATION, distribution.margins
    log_z = log_matchings(own)
    if log_z is not None and own.total > MOST_MATCHED:
        return Unavailable(f"records are matched up to {MOST_MATCHED:,} in number")
    if log_z is not None:
        points = distribution.columns_of(matched_tables(own, wanted, rng=rng))
        return _Starts(points, np.full(len(points), log_z), 0.0)
    drawn = weighted_draws(own, Multinomial(), wanted, rng=rng, time_limit=clock.share(0.25))
    if isinstance(drawn, Unavailable):
        return drawn
    if len(drawn.tables) < LEAST_POPULATIONS * LEAST_STARTS:
        return Unavailable(f"only {len(drawn.tables)} of {drawn.n_tried:,} tables could be filled")
    share = float(np.log(len(drawn.tables) / drawn.n_tried))
    return _Starts(distribution.columns_of(drawn.tables), np.array(drawn.log_weights), share)


class _Walker:
    """Moves points under ∏ w^β."""

    def __init__(self, distribution: CliqueDistribution, lines: Lines) -> None:
        self.distribution, self._lines = distribution, lines
        self.n_moves = int(np.clip(len(lines.begin) - 1, LEAST_MOVES, MOST_MOVES))

    def weights(self, beta: float) -> Weights:
        """The distribution at β, to be looked up."""
        return Weights(
            self.distribution.plain + beta * self.distribution.more,
            self.distribution.start,
            self.distribution.upper,
        )

    def move(self, points: IntArray, weights: Weights, state: Words, times: int = 1) -> None:
        """Moves every point, in place."""
        move_points(points, self._lines, weights, times * self.n_moves, state)
        work(len(points) * (MOVE_SECONDS * times * self.n_moves + POINT_SECONDS * points.shape[1]))


def _state(rng: np.random.Generator) -> Words:
    return rng.integers(1, 2**63, size=1, dtype=np.uint64)


def _chosen(log_weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """Systematic resampling: which points go on, as often as their weights deserve."""
    shares = np.exp(log_weights - logsumexp(log_weights))
    n = len(shares)
    spots = (rng.random() + np.arange(n)) / n
    return np.minimum(np.searchsorted(np.cumsum(shares), spots), n - 1)


@dataclass(frozen=True, slots=True)
class _Pilot:
    """The values of β that a first population went through, its points, the seconds it took."""

    schedule: Sequence[float]
    points: IntArray
    seconds: float


def _pilot(
    walker: _Walker, starts: _Starts, clock: Clock, rng: np.random.Generator
) -> _Pilot | None:
    """A first population, whose own spread sets the steps; None where the time was over."""
    state, began = _state(rng), working_seconds()
    shares = np.exp(starts.log_weights - logsumexp(starts.log_weights))
    points = starts.points[rng.choice(len(shares), size=POPULATION, p=shares)]
    walker.move(points, walker.weights(0.0), state)
    began, beta, found = working_seconds(), 0.0, list[float]()
    total = walker.distribution.margins.total
    while beta < 1 and len(found) < MOST_STEPS and not clock.is_over:
        more = walker.distribution.log_more(points)
        step = STEP_SPREAD / max(float(np.std(more)), 1e-12)
        after = min(beta + step, beta + (1 - beta) * MOST_OF_REST)
        if 1 - beta < 1 / (1 + total) and step > 1 - beta:
            after = 1.0
        points = points[_chosen((after - beta) * more, rng)]
        walker.move(points, walker.weights(after), state)
        found.append(after)
        beta = after
    return _Pilot(found, points, working_seconds() - began) if beta >= 1 else None


@dataclass(frozen=True, slots=True)
class _Population:
    """Its last points, equally weighted, the log of its mean weight, and the relative variance that
    its uneven weights give that mean."""

    points: IntArray
    log_mean: float
    variance: float


def _populations(
    walker: _Walker,
    starts: _Starts,
    pilot: _Pilot,
    number: int,
    rng: np.random.Generator,
    progress: Progress,
) -> list[_Population]:
    """As many as wanted, each of which takes as long as the pilot did."""
    schedule, seconds = pilot.schedule, pilot.seconds
    weights = [walker.weights(beta) for beta in schedule]
    seeds, each = rng.spawn(number), len(starts.points) // number
    done: list[int] = []

    def run(i: int) -> _Population | None:
        if i >= LEAST_POPULATIONS and watch_left() <= 0:
            return None
        own = i * each + np.arange(POPULATION) % each  # several points may begin alike
        first = (starts.points[own], starts.log_weights[own])
        found = _led_up(walker, *first, schedule, weights, seeds[i])
        done.append(i)
        progress("leading tables up to the model", len(done) / number)
        return found

    with threads(number) as pool:
        found = [one for one in pool.map(run, range(number)) if one is not None]
    work(len(found) * seconds / PROCESSORS)
    return found


def _led_up(
    walker: _Walker,
    points: IntArray,
    logs: FloatArray,
    schedule: Sequence[float],
    weights: Sequence[Weights],
    rng: np.random.Generator,
) -> _Population:
    state, log_mean, before, variance = _state(rng), 0.0, 0.0, 0.0
    walker.move(points, walker.weights(0.0), state)
    for beta, own in zip(schedule, weights, strict=True):
        logs = logs + (beta - before) * walker.distribution.log_more(points)
        if beta >= 1 or effective_draws(logs) < len(logs) / 2:
            log_mean += float(logsumexp(logs) - np.log(len(logs)))
            variance += 1 / effective_draws(logs) - 1 / len(logs)
            points, logs = points[_chosen(logs, rng)], np.zeros(len(logs))
        walker.move(points, own, state)
        before = beta
    return _Population(points, log_mean, variance)


def _evidence(
    distribution: CliqueDistribution, starts: _Starts, found: Sequence[_Population]
) -> Evidence | Unavailable:
    """log Pr(R | A); its error is that between populations, or that of their weights if larger.

    Never 0, which would say that it is exact, even where all weights are alike.
    """
    logs = np.array([one.log_mean for one in found])
    top = float(logsumexp(logs) - np.log(len(logs)))
    spread = np.exp(logs - top)
    few = float(stdtrit(len(spread) - 1, 0.975) / ndtri(0.975))
    inside = float(np.mean([one.variance for one in found]) / len(found))
    between = few * float(spread.std(ddof=1) / np.sqrt(len(spread)))
    error = max(between, float(np.sqrt(max(inside, 0.0))), EPSILON)
    if error > WORST_SPREAD / 2:
        return Unavailable(
            f"{len(found)} populations of tables disagree too much about the marginal likelihood; "
            "allow more seconds"
        )
    return Evidence(distribution.log_constant + top + starts.log_share, error)


def _walked(
    walker: _Walker,
    found: Sequence[_Population],
    levels: IntArray,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[IntArray, bool]:
    """Counts of the cells along walks from points resampled by the weights of their populations."""
    chosen = _chosen(np.array([one.log_mean for one in found]), rng)
    picks = [found[i].points[int(rng.integers(POPULATION))] for i in _spread(chosen, N_CHAINS)]
    points, weights, state = np.array(picks), walker.weights(1.0), _state(rng)
    began = working_seconds()
    walker.move(points, weights, state, 2)
    each = working_seconds() - began + 1e-4
    left = clock.share(0.8)
    number = MOST_KEPT if left is None else int(np.clip(left / each, LEAST_KEPT, MOST_KEPT))
    number = min(number, max(LEAST_KEPT, MOST_NUMBERS // points.size))
    kept = np.empty((N_CHAINS, number, points.shape[1]), dtype=np.int64)
    for draw in range(number):
        walker.move(points, weights, state, 2)
        kept[:, draw] = points
        progress("walking", (draw + 1) / number)
        if clock.is_over and draw + 1 >= LEAST_KEPT:
            kept = kept[:, : draw + 1]
            break
    flat = kept.reshape(-1, points.shape[1])
    counts = walker.distribution.cells(flat, levels, rng=rng).reshape(*kept.shape[:2], -1)
    return counts, kept.shape[1] == MOST_KEPT


def _spread(chosen: IntArray, wanted: int) -> IntArray:
    """As many of the chosen as wanted, evenly."""
    return chosen[np.arange(wanted) * len(chosen) // wanted]


def _without_moves(
    distribution: CliqueDistribution, starts: _Starts, levels: IntArray, rng: np.random.Generator
) -> AnnealedDistribution:
    """Where the release tells all of the model's margins: an exact sum, and independent draws."""
    one = starts.points[:1]
    value = float(starts.log_weights[0] + distribution.log_more(one)[0])
    points = np.repeat(one, N_CHAINS * MOST_KEPT, axis=0)
    counts = distribution.cells(points, levels, rng=rng).reshape(N_CHAINS, MOST_KEPT, -1)
    return AnnealedDistribution(
        evidence=Evidence(distribution.log_constant + value, 0.0),
        counts=counts,
        n_populations=1,
        n_points=1,
        n_steps=0,
        complete=True,
    )
