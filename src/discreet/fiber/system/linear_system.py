"""The constraints that released figures put on a hidden table: A x = b, lower ≤ x ≤ upper.

A *fiber* is the set of all tables consistent with what was released: the whole-number points x of
such a system. Margins of a table, statistics of a count table, and what an intruder also knows
all become rows of A or limits on cells.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array, vstack

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import IntArray, read_only

UNLIMITED = np.iinfo(np.int64).max
LARGEST = 2**53  # sums beyond this are not exact in the floating point of solvers


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that is known: low ≤ Σ coefficient · x[cell] ≤ high, and what to call it.

    `high` None means no upper limit. A margin's entry, a known cell, a subtotal, a rounded figure
    and a structural zero are all statements.
    """

    cells: IntArray
    low: int
    high: int | None
    name: str
    coefficients: IntArray | None = None  # ones where left out

    @property
    def is_equation(self) -> bool:
        """Whether it fixes the sum."""
        return self.low == self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """Whole-number points x with `matrix` x = `right` and `lower` ≤ x ≤ `upper`, all finite.

    The first `n_named` columns are the cells of the table. Those behind them are slacks: one for
    each statement that gives a range, fixed by the named cells, so that points of the system and
    tables are one to one. `row_names` say where each row came from, `limit_names` which statements
    are about a single cell.
    """

    matrix: csr_array
    right: IntArray
    lower: IntArray
    upper: IntArray
    n_named: int
    row_names: tuple[str, ...]
    limit_names: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in (self.right, self.lower, self.upper, self.matrix.data):
            read_only(array)

    @property
    def n_rows(self) -> int:
        """Equations."""
        return int(self.matrix.shape[0])

    @property
    def n_columns(self) -> int:
        """Cells and slacks."""
        return int(self.matrix.shape[1])

    def holds(self, point: IntArray) -> bool:
        """Whether the point (named cells and slacks) satisfies every row and limit."""
        inside = np.all(point >= self.lower) and np.all(point <= self.upper)
        return bool(inside and np.array_equal(self.matrix @ point, self.right))

    def completed(self, table: IntArray) -> IntArray:
        """The point of a table: its cells, with the slacks that its sums imply."""
        point = np.zeros(self.n_columns, dtype=np.int64)
        point[: self.n_named] = table
        slacks = self.matrix[:, self.n_named :].tocoo()
        missing = self.right - self.matrix @ point
        point[self.n_named + slacks.col] = missing[slacks.row] // slacks.data  # of 1 or -1
        return point


def system_of(n_cells: int, statements: Sequence[Statement]) -> System:
    """The system of statements about a table of `n_cells` whole numbers, none below zero.

    A statement about one cell becomes a limit on it, one that gives a range gets a slack, and every
    cell gets a finite upper limit from the statements it stands in. Contradictions between limits
    of a cell are left to `consistency.check`, which names them: `lower` may exceed `upper` here.

    Checked: cells exist, numbers are whole, limits in order and below 2**53. Raises InputError for
    a cell that no statement limits from above, since infinitely many tables would then be
    consistent, and for a sum without an upper limit that could reach 2**53.
    """
    for statement in statements:
        _check(statement, n_cells)
    lower = np.zeros(n_cells, dtype=np.int64)
    upper = np.full(n_cells, UNLIMITED, dtype=np.int64)
    rows = [s for s in statements if not _is_limit(s)]
    _limit_cells(lower, upper, [s for s in statements if _is_limit(s)])
    _imply_upper(upper, rows)
    if np.any(upper == UNLIMITED):
        cell = int(np.argmax(upper))
        remedy = "release a total that holds it, or give a range for it"
        raise InputError(must_be("cells", "limited from above", f"cell {cell}", remedy=remedy))
    names: dict[int, tuple[str, ...]] = {}
    for statement in statements:
        if _is_limit(statement):
            cell = int(statement.cells[0])
            names[cell] = (*names.get(cell, ()), statement.name)
    return replace(_assembled(n_cells, rows, lower, upper), limit_names=names)


def with_sum(system: System, cells: IntArray) -> System:
    """The system with one more slack, behind all others, which is the sum of some cells."""
    n_rows, n_columns = system.matrix.shape
    row = np.zeros((1, n_columns + 1), dtype=np.int64)
    row[0, cells], row[0, -1] = 1, -1
    wider = csr_array(
        (system.matrix.data, system.matrix.indices, system.matrix.indptr),
        shape=(n_rows, n_columns + 1),
    )
    return replace(
        system,
        matrix=csr_array(vstack([wider, csr_array(row)], format="csr", dtype=np.int64)),
        right=np.append(system.right, 0),
        lower=np.append(system.lower, system.lower[cells].sum()),
        upper=np.append(system.upper, system.upper[cells].sum()),
        row_names=(*system.row_names, "a sum of cells"),
    )


def _is_limit(statement: Statement) -> bool:
    ones = statement.coefficients is None or bool(np.all(statement.coefficients == 1))
    return len(statement.cells) == 1 and ones


def _check(statement: Statement, n_cells: int) -> None:
    name, cells = statement.name, np.asarray(statement.cells)
    if cells.size == 0:
        raise InputError(must_be(name, "about at least one cell", "none"))
    if cells.ndim != 1 or cells.dtype.kind not in "iu":
        raise InputError(must_be(name, "about a list of whole cell numbers", "another"))
    if cells.min() < 0 or cells.max() >= n_cells:
        raise InputError(must_be(name, f"about cells 0 to {n_cells - 1}", int(cells.max())))
    if len(np.unique(cells)) < len(cells):
        raise InputError(must_be(name, "about different cells", "one twice"))
    if statement.coefficients is not None:
        _check_coefficients(name, np.asarray(statement.coefficients), len(cells))
    _check_limits(name, statement.low, statement.high)


def _check_coefficients(name: str, coefficients: IntArray, n_cells: int) -> None:
    if coefficients.shape != (n_cells,):
        rule = f"a sum with {n_cells} coefficients, one for each cell"
        raise InputError(must_be(name, rule, f"an array of shape {coefficients.shape}"))
    if not all(_is_whole(one) for one in coefficients.tolist()):
        raise InputError(must_be(name, "a sum with whole coefficients", "another"))
    if coefficients.min() <= 0:
        raise InputError(must_be(name, "a sum with positive coefficients", "another"))
    if coefficients.max() >= LARGEST:
        raise InputError(must_be(name, "a sum with coefficients below 2**53", "a larger one"))


def _check_limits(name: str, low: int, high: int | None) -> None:
    if not _is_whole(low) or not (high is None or _is_whole(high)):
        remedy = "round the lower limit up and the upper one down"
        raise InputError(must_be(name, "limited by whole numbers", "another limit", remedy=remedy))
    if max(abs(low), abs(high or 0)) >= LARGEST:
        raise InputError(must_be(name, "below 2**53", "a larger number"))
    if high is not None and high < low:
        raise InputError(
            must_be(name, "a range from low to high", "one that ends before it begins")
        )


def _is_whole(number: object) -> bool:
    """Whether it is a whole number, be it stored as a float."""
    whole = isinstance(number, int | np.integer)
    return whole or (isinstance(number, float | np.floating) and float(number).is_integer())


def _limit_cells(lower: IntArray, upper: IntArray, limits: Sequence[Statement]) -> None:
    for statement in limits:
        cell = int(statement.cells[0])
        lower[cell] = max(lower[cell], statement.low)
        if statement.high is not None:
            upper[cell] = min(upper[cell], statement.high)


def _imply_upper(upper: IntArray, rows: Sequence[Statement]) -> None:
    for row in rows:
        if row.high is None:
            continue
        most = np.maximum(row.high, 0) // (1 if row.coefficients is None else row.coefficients)
        upper[row.cells] = np.minimum(upper[row.cells], most)


def _largest_sum(row: Statement, coefficients: IntArray, upper: IntArray) -> int:
    """What a sum without an upper limit can come to within the limits of its cells."""
    pairs = zip(coefficients.tolist(), upper[row.cells].tolist(), strict=True)
    largest = int(sum(c * u for c, u in pairs))
    if largest >= LARGEST:
        rule = "a sum that stays below 2**53"
        raise InputError(must_be(row.name, rule, "no upper limit", remedy="give an upper limit"))
    return largest


def _assembled(n_cells: int, rows: Sequence[Statement], lower: IntArray, upper: IntArray) -> System:
    right: list[int] = []
    slack_upper: list[int] = []
    entries: list[tuple[IntArray, IntArray, IntArray]] = []
    for number, row in enumerate(rows):
        coefficients = np.ones(len(row.cells), np.int64)
        if row.coefficients is not None:
            coefficients = row.coefficients.astype(np.int64)
        high = _largest_sum(row, coefficients, upper) if row.high is None else row.high
        right.append(high)
        entries.append((np.full(len(row.cells), number), row.cells, coefficients))
        if high != row.low:
            column = n_cells + len(slack_upper)
            entries.append((np.array([number]), np.array([column]), np.array([1])))
            slack_upper.append(high - row.low)
    i, j, values = (
        (np.concatenate(part).astype(np.int64) for part in zip(*entries, strict=True))
        if entries
        else (np.empty(0, np.int64),) * 3
    )
    shape = (len(rows), n_cells + len(slack_upper))
    slacks = np.array(slack_upper, dtype=np.int64)
    return System(
        matrix=csr_array((values, (i, j)), shape=shape),
        right=np.array(right, dtype=np.int64),
        lower=np.concatenate([lower, np.zeros_like(slacks)]),
        upper=np.concatenate([upper, slacks]),
        n_named=n_cells,
        row_names=tuple(row.name for row in rows),
    )
