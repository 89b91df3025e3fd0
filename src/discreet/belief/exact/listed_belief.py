"""A distribution over tables written out in full: every consistent table with its probability."""

import numpy as np

from discreet.belief.belief import ListedBelief
from discreet.belief.exact.exact_distribution import ExactDistribution
from discreet.belief.exact.listed_fiber import ListedFiber
from discreet.belief.exact.listing import listed_within
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.priors import log_ratio
from discreet.numerics.arrays import FloatArray, IntArray

MOST_TABLES = 100_000
MOST_NUMBERS = 2**23  # cells of all tables together


def listed_distribution(
    distribution: ExactDistribution,
    system: System,
    *,
    seconds: float | None,
    rng: np.random.Generator,
) -> ListedBelief | None:
    """The belief under the distribution, or None where there are too many tables to list. Exact.

    `system` is that of the cells alone, without the columns that the distribution ties to them.
    """
    fiber = listed_within(system, most=MOST_TABLES, seconds=seconds, rng=rng)
    if fiber is None or fiber.n_tables > MOST_TABLES:
        return None
    if fiber.n_tables * distribution.n_cells > MOST_NUMBERS:
        return None
    tables = all_tables(fiber)
    return ListedBelief.of_weights(tables, log_weights(distribution, tables))


def all_tables(fiber: ListedFiber) -> IntArray:
    """Every table (tables × cells): each choice of one table from every block."""
    tables = np.tile(fiber.fixed, (1, 1))
    for block in fiber.blocks:
        n = len(block.tables)
        tables = np.repeat(tables, n, axis=0)
        tables[:, block.cells] = np.tile(block.tables, (len(tables) // n, 1))
    return tables


def log_weights(distribution: ExactDistribution, tables: IntArray) -> FloatArray:
    """log of the weight of each table (rows) over that of the first one."""
    points = completed_points(distribution, tables)
    columns = np.broadcast_to(np.arange(points.shape[1]), points.shape)
    first = np.broadcast_to(points[:1], points.shape)
    found: FloatArray = log_ratio(distribution.prior, columns, first, points).sum(axis=1)
    return found


def completed_points(distribution: ExactDistribution, tables: IntArray) -> IntArray:
    """The named columns of each table's point: its cells and the entries tied to them."""
    system = distribution.system
    left = system.right - (system.matrix[:, : distribution.n_cells] @ tables.T).T
    points = np.zeros((len(tables), system.n_named), dtype=np.int64)
    points[:, : distribution.n_cells] = tables
    tied = system.matrix[:, distribution.n_cells : system.n_named].tocoo()
    points[:, distribution.n_cells + tied.col] = left[:, tied.row]
    return points
