"""The blocks of a system, moved so that every lower limit is zero."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from discreet.errors import InputError, must_be
from discreet.fiber.system import structure
from discreet.fiber.system.linear_system import System
from discreet.numerics.arrays import IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Columns that depend on each other: A y = b, 0 ≤ y ≤ u, with x = y + `lower`.

    Column j of the block is column `columns[j]` of the system.
    """

    matrix: csr_array
    right: IntArray
    upper: IntArray
    lower: IntArray
    columns: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The blocks of a system, and `values`: forced cells, lower limits elsewhere.

    `is_empty` is proof that no table fits; without it a block may still turn out to have no point.
    """

    values: IntArray
    blocks: Sequence[Block]
    is_empty: bool


def split(system: System) -> Split:
    """The blocks of the system after limits were narrowed row by row.

    Points of the system are one point of each block, put together freely, with forced cells. Rows
    that others imply are kept, since each of them cuts off hopeless states early.
    """
    _check_size(system)
    try:
        found = structure.presolve(system, drop_redundant=False)
    except InputError:  # a row contradicts the limits
        return Split(values=system.lower, blocks=(), is_empty=True)
    rest = system.right - system.matrix @ found.lower
    open_rows = np.zeros(system.n_rows, dtype=np.bool_)
    for block in found.blocks:
        open_rows[block.rows] = True
    blocks = [_moved(block) for block in found.blocks]
    return Split(values=found.lower, blocks=blocks, is_empty=bool(np.any(rest[~open_rows] != 0)))


def _moved(block: structure.SystemBlock) -> Block:
    system = block.system
    return Block(
        matrix=system.matrix,
        right=system.right - system.matrix @ system.lower,
        upper=system.upper - system.lower,
        lower=system.lower,
        columns=block.columns,
    )


def _check_size(system: System) -> None:
    largest = np.maximum(abs(system.lower.astype(np.float64)), abs(system.upper))
    sums = abs(system.matrix).astype(np.float64) @ largest + abs(system.right)
    if sums.max(initial=0.0) >= 2.0**60:
        remedy = "divide rows by common factors or narrow the limits of cells"
        raise InputError(must_be("sums of rows", "below 2**60", "larger ones", remedy=remedy))
