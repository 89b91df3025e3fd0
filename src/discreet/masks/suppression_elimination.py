"""Which figures follow from the others by adding and subtracting: Gaussian elimination.

Figures are rows of zeros and ones over the cells. Who sees some of them can work out a further one
exactly if its row is a linear combination of theirs. So figures are published in turn, dearest to
hide first, and one is hidden only if with it a sensitive figure would follow from all that is out.
This is the method of the R package GaussSuppression. Rows are kept reduced by those published so
far, sensitive ones with them: a new row would give a sensitive one away if what is left of both is
the same up to a factor.

Numbers are reduced modulo a prime p, which keeps them small but proves nothing by itself. If a
sensitive row s follows in rational numbers, a·s = Σ bᵢ·rᵢ with whole a and bᵢ without a common
factor; modulo p this shows the same unless p divides a. So "follows" found modulo p may be wrong:
a figure too many is hidden, which is safe. "Does not follow" may be wrong too, where p divides a.
That is why it is never taken from the elimination: it is proved by a move in whole numbers that
changes the sensitive figure and nothing that is shown. Such moves are read off the reduced rows
(the kernel), their fractions restored, and checked in exact arithmetic.
"""

from dataclasses import dataclass

import numpy as np

from discreet.masks.suppression_pattern import Problem
from discreet.numerics.arrays import BoolArray, IntArray

PRIME = 2**31 - 1  # products of two residues fit into 64 bits
MOST_ENTRIES = 2**24  # of the reduced rows
LARGEST_PART = 2**15  # of a numerator or denominator that is restored
ENTRY_SECONDS = 1e-8  # nominal, one entry reduced
ROW_SECONDS = 1e-4  # nominal, one row considered


@dataclass(frozen=True, slots=True)
class Change:
    """Some cells, and by how much they change."""

    cells: IntArray
    by: IntArray


@dataclass(frozen=True, slots=True)
class Eliminated:
    """Hidden figures, and changes of cells that are checked to leave all shown figures alone."""

    hidden: BoolArray
    changes: tuple[Change, ...]


def pattern_by_elimination(problem: Problem) -> Eliminated | None:
    """The pattern in which no sensitive figure follows from what is shown, by elimination.

    None where the rows are too many to be held. Figures of equal cost are taken by number.
    """
    may, sensitive = problem.may_hide, problem.is_sensitive
    order = np.lexsort((np.arange(problem.figures.n), -problem.costs))
    rows = _Rows.of(problem)
    if rows is None:
        return None
    hidden = sensitive.copy()
    for figure in [*order[~may[order]].tolist(), *order[(may & ~sensitive)[order]].tolist()]:
        problem.budget.spend(ROW_SECONDS)
        left = rows.reduced(figure)
        if not np.any(left):
            continue
        if may[figure] and rows.gives_away(left):
            hidden[figure] = True
        else:
            rows.publish(left)
    return Eliminated(hidden, tuple(_checked(problem, hidden, rows)))


def _checked(problem: Problem, hidden: BoolArray, rows: "_Rows") -> list[Change]:
    """The changes of the kernel that leave all shown figures alone, checked in whole numbers."""
    found = []
    for change in rows.kernel():
        changed, _ = problem.figures.changes(change.cells, change.by)
        if int(change.by.sum()) == 0 and np.all(hidden[changed]):
            found.append(change)
    return found


class _Rows:
    """Reduced rows over the cells that may change: the sensitive ones first, then a basis of what
    is published, each with a column of its own that is 0 in all other rows."""

    def __init__(self, problem: Problem, cells: IntArray, rows: IntArray) -> None:
        self._problem, self._cells, self._rows = problem, cells, rows
        self._n_sensitive = self._n = len(rows)
        self._owner = np.full(len(cells), -1, dtype=np.int64)  # of a column
        self._column = np.full(problem.figures.table.n_cells, -1, dtype=np.int64)
        self._column[cells] = np.arange(len(cells))

    @classmethod
    def of(cls, problem: Problem) -> "_Rows | None":
        """The sensitive rows, nothing being published yet but what is always shown."""
        figures, shown = problem.figures, ~problem.may_hide
        fixed = np.zeros(figures.table.n_cells, dtype=np.bool_)
        for figure in np.flatnonzero((figures.n_summed == 1) & shown).tolist():
            fixed[figures.cells(figure)] = True
        cells = np.flatnonzero(~fixed)
        if (len(problem.sensitive) + len(cells)) * len(cells) > MOST_ENTRIES:
            return None
        rows = np.zeros((len(problem.sensitive) + len(cells), len(cells)), dtype=np.int64)
        found = cls(problem, cells, rows)
        for row, figure in zip(rows, problem.sensitive.tolist(), strict=False):
            row[found._columns(figure)] = 1
        found._n_sensitive = found._n = len(problem.sensitive)
        return found

    def _columns(self, figure: int) -> IntArray:
        columns = self._column[self._problem.figures.cells(figure)]
        return np.asarray(columns[columns >= 0])

    def reduced(self, figure: int) -> IntArray:
        """What is left of a figure's row."""
        row = np.zeros(len(self._cells), dtype=np.int64)
        columns = self._columns(figure)
        row[columns] = 1
        owners = self._owner[columns]
        owners = owners[owners >= 0]
        # The row has ones only, so that the sum of fewer than 2^32 rows stays within 64 bits.
        if len(owners):
            self._problem.budget.spend(ENTRY_SECONDS * len(owners) * len(row))
            row = (row - self._rows[owners].sum(axis=0)) % PRIME
        return row

    def gives_away(self, row: IntArray) -> bool:
        """Whether a sensitive figure would follow if this row were published."""
        pivot = int(np.flatnonzero(row)[0])
        near = np.flatnonzero(self._rows[: self._n_sensitive, pivot])
        if not len(near):
            return False
        others = self._rows[near]
        self._problem.budget.spend(ENTRY_SECONDS * others.size)
        apart = (others * row[pivot] - others[:, pivot, None] * row) % PRIME
        return bool(np.any(~np.any(apart, axis=1)))

    def publish(self, row: IntArray) -> None:
        """One more row of the basis; its first column goes out of all other rows."""
        at = np.flatnonzero(row)
        pivot = int(at[0])
        row = row[at] * pow(int(row[pivot]), -1, PRIME) % PRIME
        hit = np.flatnonzero(self._rows[: self._n, pivot])
        if len(hit):
            self._problem.budget.spend(ENTRY_SECONDS * len(hit) * len(at))
            block = np.ix_(hit, at)
            self._rows[block] = (self._rows[block] - self._rows[hit, pivot, None] * row) % PRIME
        self._rows[self._n, at] = row
        self._owner[pivot] = self._n
        self._n += 1

    def kernel(self) -> list[Change]:
        """For each column that no row of the basis owns, the change that it frees, restored from
        its residues."""
        owned = np.flatnonzero(self._owner >= 0)
        basis = self._rows[self._owner[owned]]
        self._problem.budget.spend(ENTRY_SECONDS * basis.size)
        found = []
        for free in np.flatnonzero(self._owner < 0).tolist():
            residues = -basis[:, free] % PRIME
            at = np.flatnonzero(residues)
            whole = _restored(np.append(residues[at], 1))
            if whole is not None:
                cells = self._cells[np.append(owned[at], free)]
                order = np.argsort(cells)
                found.append(Change(cells[order], whole[order]))
        return found


def _restored(residues: IntArray) -> IntArray | None:
    """Small whole numbers with the same ratios as some residues, or None."""
    whole = residues.copy()
    for _ in range(len(residues)):
        signed = np.where(whole > PRIME // 2, whole - PRIME, whole)
        large = np.flatnonzero(np.abs(signed) > LARGEST_PART)
        if not len(large):
            return np.asarray(signed)
        scale = _denominator(int(whole[large[0]]))
        if scale == 1:
            return None
        whole = whole * scale % PRIME
    return None


def _denominator(residue: int) -> int:
    """The denominator of the fraction with small parts that a residue stands for (by Euclid)."""
    above, below = (PRIME, 0), (residue, 1)
    while below[0] > LARGEST_PART:
        times = above[0] // below[0]
        above, below = below, (above[0] - times * below[0], above[1] - times * below[1])
    return abs(below[1])
