"""What a system says at once: forced cells, equations that add nothing, blocks that stand apart.

Points of a system are one point of each block, put together freely, with the forced columns. So
counts of blocks multiply, and bounds, marginals and draws are found block by block.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from discreet.fiber.bounds.kernels import CONTRADICTION, leading_rows, tightened
from discreet.fiber.system.consistency import contradiction
from discreet.fiber.system.linear_system import System
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only
from discreet.numerics.components import linked

MAX_ROWS = 4000  # beyond this the rows that add nothing are kept: finding them costs rows² memory


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemBlock:
    """A part of a system that shares no row with the rest, as a system of its own.

    Column i of `system` is column `columns[i]` of the whole, its row i is row `rows[i]`.
    """

    system: System
    columns: IntArray
    rows: IntArray

    def __post_init__(self) -> None:
        read_only(self.columns)
        read_only(self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Presolved:
    """A system with its limits narrowed, its forced columns set and the rest split into blocks."""

    lower: IntArray
    upper: IntArray
    blocks: tuple[SystemBlock, ...]
    redundant: IntArray  # rows that the others imply

    def __post_init__(self) -> None:
        for array in (self.lower, self.upper, self.redundant):
            read_only(array)

    @property
    def forced(self) -> BoolArray:
        """Which columns can have one value only, `lower`, as far as rows taken singly show."""
        return np.asarray(self.lower == self.upper)

    def assembled(self, points: Sequence[IntArray]) -> IntArray:
        """The point of the whole system that has the given points in its blocks."""
        whole = self.lower.copy()
        for block, point in zip(self.blocks, points, strict=True):
            whole[block.columns] = point
        return whole


def presolve(
    system: System,
    *,
    drop_redundant: bool = True,
    limits: tuple[IntArray, IntArray] | None = None,
) -> Presolved:
    """The structure of a system, found without search: narrowed limits, forced columns, blocks.

    Limits pass along rows until nothing changes (the shuttle of Buzzigoli and Giusti on the given
    rows), starting from `limits` where other methods have proved closer ones. Rows that the others
    of their block imply are left out, each with an exact proof.

    Raises InputError where limits so passed show a contradiction, naming a smallest set of
    statements that disagree; others show only when a table is sought.
    """
    lower, upper = narrowed(system, limits)
    blocks = _blocks(system, lower, upper)
    if drop_redundant:
        blocks = [_without_redundant(block) for block in blocks]
    used = np.zeros(system.n_rows, dtype=np.bool_)
    for block in blocks:
        used[block.rows] = True
    return Presolved(
        lower=lower, upper=upper, blocks=tuple(blocks), redundant=np.flatnonzero(~used)
    )


def narrowed(
    system: System, limits: tuple[IntArray, IntArray] | None = None
) -> tuple[IntArray, IntArray]:
    """Limits that hold in every point; raises InputError where they leave none."""
    lower, upper = system.lower, system.upper
    if limits is not None:
        lower, upper = np.maximum(lower, limits[0]), np.minimum(upper, limits[1])
    if np.any(lower > upper):
        raise contradiction(system)
    lower, upper, ended, _ = tightened(system.matrix, system.right, lower, upper)
    if ended == CONTRADICTION:
        raise contradiction(system)
    return lower, upper


def _blocks(system: System, lower: IntArray, upper: IntArray) -> list[SystemBlock]:
    """The systems of the columns that are not forced, connected where they share a row."""
    free = np.flatnonzero(lower < upper)
    if not len(free):
        return []
    matrix = csr_array(system.matrix[:, free])
    right = system.right - system.matrix @ np.where(lower < upper, 0, lower)
    entries, n_rows = matrix.tocoo(), system.n_rows
    label = linked(entries.row, entries.col + n_rows, n_rows + len(free))
    row_label, column_label, n = label[:n_rows], label[n_rows:], int(label.max()) + 1
    row_groups, column_groups = _groups(row_label, n), _groups(column_label, n)
    return [
        _block(system, part, right, (lower, upper), row_groups[i], free[column_groups[i]])
        for i, part in _parts(matrix, row_groups, column_groups)
    ]


def _groups(label: IntArray, n: int) -> list[IntArray]:
    """For each label the positions that carry it, ascending."""
    order = np.argsort(label, kind="stable")
    return np.split(order, np.cumsum(np.bincount(label, minlength=n))[:-1])


def _parts(
    matrix: csr_array, rows: Sequence[IntArray], columns: Sequence[IntArray]
) -> Iterator[tuple[int, csr_array]]:
    """The part of the matrix of each group that has columns, by its first column.

    Rows and columns are brought together once, so that each part is a slice of what is stored: a
    system of thousands of blocks is parted in one pass.
    """
    ordered = csr_array(matrix[np.concatenate(rows)][:, np.concatenate(columns)])
    ordered.sort_indices()
    row_ends = np.cumsum([0, *map(len, rows)])
    column_ends = np.cumsum([0, *map(len, columns)])
    occupied = [i for i, own in enumerate(columns) if len(own)]
    for i in sorted(occupied, key=lambda i: int(columns[i][0])):
        pointers = ordered.indptr[row_ends[i] : row_ends[i + 1] + 1]
        held = slice(pointers[0], pointers[-1])
        indices = ordered.indices[held] - column_ends[i]
        shape = (len(rows[i]), len(columns[i]))
        yield i, csr_array((ordered.data[held], indices, pointers - pointers[0]), shape=shape)


def _block(
    system: System,
    matrix: csr_array,
    right: IntArray,
    limits: tuple[IntArray, IntArray],
    rows: IntArray,
    columns: IntArray,
) -> SystemBlock:
    part = System(
        matrix=matrix,
        right=right[rows],
        lower=limits[0][columns],
        upper=limits[1][columns],
        n_named=int(np.count_nonzero(columns < system.n_named)),
        row_names=tuple(system.row_names[i] for i in rows),
    )
    return SystemBlock(system=part, columns=columns, rows=rows)


def _without_redundant(block: SystemBlock) -> SystemBlock:
    """The block with only rows that no combination of the others gives."""
    keep = independent_rows(block.system)
    part = with_rows(block.system, keep)
    return SystemBlock(system=part, columns=block.columns, rows=block.rows[keep])


def with_rows(system: System, rows: IntArray) -> System:
    """The system of the given rows alone, with all columns and their limits."""
    if len(rows) == system.n_rows:
        return system
    return replace(
        system,
        matrix=csr_array(system.matrix[rows]),
        right=system.right[rows],
        row_names=tuple(system.row_names[i] for i in rows),
    )


def independent_rows(system: System) -> IntArray:
    """Rows, ascending, that imply all others with their right-hand sides.

    A Cholesky factor of A Aᵀ that passes over dependent rows proposes them in floating point; a
    row is left out only if a rational combination of those kept gives it exactly, checked in whole
    numbers. Rows are taken in their order, in which margins imply one another by ±1.
    """
    n = system.n_rows
    if n < 2 or n > MAX_ROWS:
        return np.arange(n)
    matrix = system.matrix.astype(np.float64)
    gram = (matrix @ matrix.T).toarray()
    keep, weights = leading_rows.suited(n**3 / 2)(gram, 1e-9 * gram.max())
    others = np.setdiff1d(np.arange(n), keep)
    implied = _implied(system, keep, others, weights[others])
    return np.sort(np.concatenate([keep, others[~implied]]))


def _implied(system: System, keep: IntArray, others: IntArray, weights: FloatArray) -> BoolArray:
    """Which of the other rows are exactly the combinations proposed, for a small denominator."""
    proved = np.zeros(len(others), dtype=np.bool_)
    base = csr_array(system.matrix[keep])
    for denominator in (1, 2, 6, 60):
        left = np.flatnonzero(~proved)
        if not len(left):
            break
        whole = np.rint(weights[left] * denominator).astype(np.int64)
        wanted = csr_array(system.matrix[others[left]]) * denominator
        same = abs(csr_array(whole) @ base - wanted).sum(axis=1) == 0
        right = whole.astype(object) @ system.right[keep].astype(object)
        asked = system.right[others[left]].astype(object) * denominator
        proved[left] = same & (right == asked).astype(np.bool_)
    return proved
