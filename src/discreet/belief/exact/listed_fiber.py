"""All consistent tables of each block, listed: sums under changing weights become products.

The blocks of a fiber are independent of each other given the cell probabilities, so a few short
lists stand for very many tables (59,400 = 44 · 45 · 30 in the census example).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln

from discreet.belief.models.bayesian_fitting import log_sum
from discreet.fiber.sums import enumeration
from discreet.fiber.system import structure
from discreet.fiber.system.linear_system import System
from discreet.numerics.arrays import FloatArray, IntArray, read_only


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedBlock:
    """The tables of one block over its `cells`, one row each, with log 1/∏x! of each.

    `values` maps a table to the pairs (cell, value) it has: tables × pairs, with `pair_cell` and
    `pair_value` telling what a pair is.
    """

    cells: IntArray
    tables: IntArray
    log_base: FloatArray
    values: csr_array
    pair_cell: IntArray
    pair_value: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFiber:
    """A fiber by the tables of its blocks; `fixed` holds the values of all other cells."""

    fixed: IntArray
    blocks: Sequence[ListedBlock]

    @property
    def n_tables(self) -> int:
        """Tables in all."""
        total = 1
        for block in self.blocks:
            total *= len(block.tables)
        return total

    def weigh(self, log_theta: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """For each chain (a row of log θ by cell): log Σ ∏ θ^x/x! over the fiber, and the
        distribution of each block (chains × tables)."""
        log_z = log_theta @ self.fixed - gammaln(self.fixed + 1.0).sum()
        distributions = []
        for block in self.blocks:
            logs = log_theta[:, block.cells] @ block.tables.T + block.log_base
            total = log_sum(logs, (1,))
            log_z = log_z + total[:, 0]
            distributions.append(np.exp(logs - total))
        return log_z, distributions

    def draw(self, distributions: Sequence[FloatArray], *, rng: np.random.Generator) -> IntArray:
        """One table for each chain, chains × cells, from the distributions of the blocks."""
        n_chains = len(distributions[0]) if distributions else 1
        points = np.tile(self.fixed, (n_chains, 1))
        for block, distribution in zip(self.blocks, distributions, strict=True):
            below = np.cumsum(distribution, axis=1)
            spot = rng.random((n_chains, 1)) * below[:, -1:]
            chosen = np.minimum((below < spot).sum(axis=1), distribution.shape[1] - 1)
            points[:, block.cells] = block.tables[chosen]
        return points

    def marginals(self, distributions: Sequence[FloatArray]) -> list[FloatArray]:
        """For each block the probability of every pair (cell, value): chains × pairs."""
        pairs = zip(self.blocks, distributions, strict=True)
        return [np.asarray((block.values.T @ distribution.T).T) for block, distribution in pairs]


def listed_fiber(system: System, *, most: int) -> ListedFiber | None:
    """The fiber of the system with every block listed, or None where the lists would hold more
    than `most` tables together.

    Trusted: the system is consistent.
    """
    found = structure.presolve(system, drop_redundant=False)
    blocks, left = [], most
    for block in found.blocks:
        tables = list(islice(enumeration.tables(block.system), left + 1))
        left -= len(tables)
        if left < 0:
            return None
        blocks.append(_listed(block.columns, np.array(tables), system.n_named))
    fixed = found.lower[: system.n_named].copy()
    for listed in blocks:
        fixed[listed.cells] = 0
    return ListedFiber(fixed=read_only(fixed), blocks=blocks)


def all_tables(fiber: ListedFiber) -> IntArray:
    """Every table (tables × cells): each choice of one table from every block."""
    tables = np.tile(fiber.fixed, (1, 1))
    for block in fiber.blocks:
        n = len(block.tables)
        tables = np.repeat(tables, n, axis=0)
        tables[:, block.cells] = np.tile(block.tables, (len(tables) // n, 1))
    return tables


def _listed(columns: IntArray, tables: IntArray, n_named: int) -> ListedBlock:
    cells = columns[columns < n_named]  # slacks come last and are left out of the tables
    base = np.array([tables[:, j].min() for j in range(len(cells))], dtype=np.int64)
    width = tables.max(axis=0) - base + 1
    start = np.concatenate([[0], np.cumsum(width)])
    place = start[:-1] + tables - base
    rows = np.arange(0, place.size + 1, place.shape[1])
    ones = np.ones(place.size)
    return ListedBlock(
        cells=cells,
        tables=tables,
        log_base=-gammaln(tables + 1.0).sum(axis=1),
        values=csr_array((ones, place.ravel(), rows), shape=(len(tables), int(start[-1]))),
        pair_cell=np.repeat(cells, width),
        pair_value=np.concatenate(
            [b + np.arange(w) for b, w in zip(base, width, strict=True)] or [np.empty(0, np.int64)]
        ),
    )
