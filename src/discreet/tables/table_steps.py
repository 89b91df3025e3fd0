"""Tables given cell probabilities, in the two ways that data augmentation takes its step.

Both tell, for each chain, a table drawn given θ and the probability of every watched pair (cell,
value) given θ: exactly where the fiber is listed, as 0 or 1 of the drawn table where it is walked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from discreet.data.arrays import FloatArray, IntArray
from discreet.errors import InputError, must_be
from discreet.fiber.moves import MoveSet
from discreet.fiber.priors import ProductForm
from discreet.fiber.structure import presolve
from discreet.fiber.system import System
from discreet.fiber.walk import LineChain, line_chains
from discreet.fiber.walk_weights import weight_table
from discreet.tables.listed_fiber import ListedFiber

MOST_PAIRS = 20_000
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
        """The law of each block given θ, and a draw from it."""
        log_z, laws = self.fiber.weigh(log_theta)
        if not laws:
            tables = np.tile(self.fiber.fixed, (len(log_theta), 1))
            return Taken(tables, log_z, np.zeros((len(log_theta), 0)))
        parts = zip(self.fiber.marginals(laws), self.picks, strict=True)
        seen = np.concatenate([marginal[:, pick] for marginal, pick in parts], axis=1)
        return Taken(self.fiber.draw(laws, rng=rng), log_z, seen)


@dataclass(frozen=True, slots=True)
class WalkStep:
    """Some moves of a walk that connects the fiber, a chain of data augmentation being one walk."""

    system: System
    chains: Sequence[LineChain]
    thin: int
    pair_cell: IntArray
    pair_value: IntArray

    @classmethod
    def of(
        cls,
        system: System,
        moves: MoveSet,
        starts: Sequence[IntArray],
        cells: IntArray,
        *,
        thin: int,
        rng: np.random.Generator,
    ) -> "WalkStep":
        """A walk from each start; `thin` moves make a step."""
        found = presolve(system, drop_redundant=False)
        spans = [(int(c), int(found.lower[c]), int(found.upper[c])) for c in cells]
        spans = [(c, low, high) for c, low, high in spans if low < high]
        if sum(high - low + 1 for _, low, high in spans) > MOST_PAIRS:
            remedy = "ask for fewer cells"
            rule = f"with at most {MOST_PAIRS:,} possible values together"
            raise InputError(must_be("cells", rule, "more", remedy=remedy))
        even = ProductForm(np.full(system.n_named, 1.0 / system.n_named))
        chains = line_chains(system, moves, even, starts, rng=rng)
        none = [np.empty(0, np.int64)]
        return cls(
            system,
            [chain for chain in chains if isinstance(chain, LineChain)],
            thin,
            np.concatenate([np.full(high - low + 1, c) for c, low, high in spans] or none),
            np.concatenate([np.arange(low, high + 1) for _, low, high in spans] or none),
        )

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
        seen = (tables[:, self.pair_cell] == self.pair_value).astype(np.float64)
        return Taken(tables, None, seen)
