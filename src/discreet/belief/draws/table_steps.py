"""Tables given cell probabilities, in the three ways that data augmentation takes its step.

Each tells, for each chain, a table drawn given θ and the probability of every watched pair (cell,
value) given θ: exactly where the fiber is listed, as 0 or 1 of the drawn table where it is walked,
averaged over candidates where tables are filled and resampled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from discreet.belief.exact.listed_fiber import ListedFiber
from discreet.clock import Clock, work
from discreet.errors import InputError, must_be
from discreet.fiber.draws.moves import MoveSet
from discreet.fiber.draws.sequential import WeightedDraws, weighted_draws
from discreet.fiber.draws.walk import LineChain, line_chains
from discreet.fiber.draws.walk_weights import weight_table
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.priors import Multinomial, ProductForm
from discreet.fiber.system.structure import presolve
from discreet.figures import Unavailable
from discreet.numerics.arrays import FloatArray, IntArray

MOST_PAIRS = 20_000
TAKE_SECONDS = 1e-3  # a step, beside what grows with the table
MOVE_SECONDS, COUNT_SECONDS = 3e-8, 2e-8  # a move of a walk, a count of a listed table
MOST_DEAD = 0.005  # share of filled tables that must be consistent for resampling to go on
LEAST_THETA = 1e-250  # cell probabilities below it are no different to a walk


class Taken(NamedTuple):
    """One step: a table for each chain, log Pr(R | θ) up to a constant where it is known, and the
    probability of each watched pair (chains × pairs)."""

    tables: IntArray
    log_released: FloatArray | None
    seen: FloatArray


class TableStep(Protocol):
    """Draws tables given the logarithms of the cell probabilities (chains × cells)."""

    @property
    def pair_cell(self) -> IntArray:
        """The cell of each watched pair."""

    @property
    def pair_value(self) -> IntArray:
        """The value of each watched pair."""

    def take(self, log_theta: FloatArray, *, rng: np.random.Generator) -> Taken:
        """One step of every chain."""


@dataclass(frozen=True, slots=True)
class ListedStep:
    """Exact draws from a fiber whose blocks are listed."""

    fiber: ListedFiber
    picks: Sequence[IntArray]
    pair_cell: IntArray
    pair_value: IntArray

    @classmethod
    def of(cls, fiber: ListedFiber, cells: IntArray) -> "ListedStep":
        """Watches these cells; those that are the same in every table have no pairs."""
        wanted = set(cells.tolist())
        picks = [
            np.flatnonzero([int(c) in wanted for c in block.pair_cell]) for block in fiber.blocks
        ]
        parts = list(zip(fiber.blocks, picks, strict=True))
        none = [np.empty(0, np.int64)]
        cell = np.concatenate([b.pair_cell[p] for b, p in parts] or none)
        value = np.concatenate([b.pair_value[p] for b, p in parts] or none)
        return cls(fiber, picks, cell, value)

    def take(self, log_theta: FloatArray, *, rng: np.random.Generator) -> Taken:
        """The distribution of each block given θ, and a draw from it."""
        log_z, distributions = self.fiber.weigh(log_theta)
        work(
            TAKE_SECONDS
            + len(log_theta) * COUNT_SECONDS * sum(one.tables.size for one in self.fiber.blocks)
        )
        if not distributions:
            tables = np.tile(self.fiber.fixed, (len(log_theta), 1))
            return Taken(tables, log_z, np.zeros((len(log_theta), 0)))
        parts = zip(self.fiber.marginals(distributions), self.picks, strict=True)
        seen = np.concatenate([marginal[:, pick] for marginal, pick in parts], axis=1)
        return Taken(self.fiber.draw(distributions, rng=rng), log_z, seen)


def _watched_pairs(system: System, cells: IntArray) -> tuple[IntArray, IntArray]:
    """Cell and value of every pair that the limits allow, for cells that may vary."""
    found = presolve(system, drop_redundant=False)
    spans = [(int(c), int(found.lower[c]), int(found.upper[c])) for c in cells]
    spans = [(c, low, high) for c, low, high in spans if low < high]
    if sum(high - low + 1 for _, low, high in spans) > MOST_PAIRS:
        rule = f"with at most {MOST_PAIRS:,} possible values together"
        raise InputError(must_be("cells", rule, "more", remedy="ask for fewer cells"))
    none = [np.empty(0, np.int64)]
    return (
        np.concatenate([np.full(high - low + 1, c) for c, low, high in spans] or none),
        np.concatenate([np.arange(low, high + 1) for _, low, high in spans] or none),
    )


@dataclass(frozen=True, slots=True)
class WalkStep:
    """Some moves of a walk, a chain of data augmentation being one walk.

    `proved` says whether the moves are known to connect all consistent tables.
    """

    system: System
    chains: Sequence[LineChain]
    thin: int
    pair_cell: IntArray
    pair_value: IntArray
    proved: bool = True

    @classmethod
    def of(
        cls,
        system: System,
        moves: MoveSet,
        starts: Sequence[IntArray],
        cells: IntArray,
        *,
        thin: int,
        proved: bool = True,
        rng: np.random.Generator,
    ) -> "WalkStep":
        """A walk from each start; `thin` moves make a step."""
        pair_cell, pair_value = _watched_pairs(system, cells)
        even = ProductForm(np.full(system.n_named, 1.0 / system.n_named))
        chains = line_chains(system, moves, even, starts, rng=rng)
        walks = [chain for chain in chains if isinstance(chain, LineChain)]
        return cls(system, walks, thin, pair_cell, pair_value, proved)

    def take(self, log_theta: FloatArray, *, rng: np.random.Generator) -> Taken:
        """Moves each chain under its own θ."""
        every = np.arange(self.system.n_named, dtype=np.int64)
        tables = np.empty((len(self.chains), self.system.n_named), dtype=np.int64)
        for i, chain in enumerate(self.chains):
            theta = np.maximum(np.exp(log_theta[i]), LEAST_THETA)
            weights = weight_table(ProductForm(theta), self.system)
            moved = LineChain(
                point=chain.point,
                system=chain.system,
                moves=chain.moves,
                weights=weights,
                state=chain.state,
            )
            moved.run(self.thin, every, tables[i : i + 1])
            work(TAKE_SECONDS / 4 + MOVE_SECONDS * self.thin + COUNT_SECONDS * len(weights.values))
        seen = (tables[:, self.pair_cell] == self.pair_value).astype(np.float64)
        return Taken(tables, None, seen)


class ResamplingStep:
    """A table chosen anew among some filled ones and the last, by their weights given θ.

    For a fiber that can be neither listed nor walked. With the last table among the candidates the
    choice leaves Pr(F | R, θ) as it is however few candidates there are (iterated sampling
    importance resampling; Andrieu, Lee and Vihola 2018), so that nothing is approximate but the
    mixing, which the chains' diagnostics judge. Candidates come from sequential filling under
    1/∏x!, whose choices do not depend on θ, and each is used once.
    """

    def __init__(
        self,
        system: System,
        cells: IntArray,
        *,
        n_chains: int,
        n_candidates: int = 12,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or Clock(None)
        self._system, self._shape = system, (n_chains, n_candidates)
        self.pair_cell, self.pair_value = _watched_pairs(system, cells)
        self._tables: IntArray = np.empty((0, system.n_named), dtype=np.int64)
        self._ratios: FloatArray = np.empty(0)
        self._last: list[tuple[IntArray, float] | None] = [None] * n_chains

    def take(self, log_theta: FloatArray, *, rng: np.random.Generator) -> Taken:
        """One choice of each chain; what is seen is averaged over its candidates."""
        n_chains, n_candidates = self._shape
        self._refill(n_chains * n_candidates, rng)
        tables = np.empty((n_chains, self._system.n_named), dtype=np.int64)
        seen = np.empty((n_chains, len(self.pair_cell)))
        for i in range(n_chains):
            points, ratios = self._candidates(i)
            logs = ratios + points @ log_theta[i]
            shares = np.exp(logs - logs.max())
            shares /= shares.sum()
            chosen = int(rng.choice(len(shares), p=shares))
            self._last[i] = (points[chosen], float(ratios[chosen]))
            tables[i] = points[chosen]
            seen[i] = shares @ (points[:, self.pair_cell] == self.pair_value)
        return Taken(tables, None, seen)

    def _candidates(self, chain: int) -> tuple[IntArray, FloatArray]:
        n = self._shape[1]
        points, ratios = self._tables[:n], self._ratios[:n]
        self._tables, self._ratios = self._tables[n:], self._ratios[n:]
        last = self._last[chain]
        if last is None:
            return points, ratios
        return np.vstack([points, last[0]]), np.append(ratios, last[1])

    def _refill(self, wanted: int, rng: np.random.Generator) -> None:
        """Fills more tables where too few are left; raises where none can be filled."""
        while len(self._tables) < wanted:
            drawn = self._filled(4 * wanted, rng)
            if len(drawn.tables) < MOST_DEAD * drawn.n_tried and not drawn.stopped:
                rule = "of a kind that can be filled cell by cell"
                raise InputError(must_be("tables", rule, "too many dead ends"))
            self._tables = np.concatenate([self._tables, drawn.tables])
            self._ratios = np.concatenate([self._ratios, drawn.log_weights])

    def _filled(self, wanted: int, rng: np.random.Generator) -> WeightedDraws:
        """New tables, or fewer where time is short; raises where it is over."""
        if self._clock.is_over:
            raise InputError(must_be("tables", "filled within the time", "too few of them"))
        limit = self._clock.share(0.25)
        drawn = weighted_draws(self._system, Multinomial(), wanted, rng=rng, time_limit=limit)
        if isinstance(drawn, Unavailable):
            rule = "of a kind that can be filled cell by cell"
            raise InputError(must_be("tables", rule, drawn.reason))
        return drawn
