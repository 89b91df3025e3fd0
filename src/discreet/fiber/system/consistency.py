"""Whether any table is consistent with what is stated, and if none, which statements disagree.

The set named is irreducible: without any one of its statements a table exists. It is found by
halving (QuickXplain): statements are taken away in large parts as long as the rest disagrees.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array, eye_array, hstack

from discreet.clock import standing_still
from discreet.errors import InputError, must_be
from discreet.fiber.bounds.duals import refutation
from discreet.fiber.bounds.kernels import CONTRADICTION, tightened
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.programs import Deadline, Ending, Found, Search
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.numerics.bit_sets import axes_of, set_of

NAMED = 12  # statements named in a message; all of them stand in the Disagreement
FOREVER = 1e9
SHRINKING_SECONDS = 60.0  # to find a smallest set, once it is known that there is one

Kind = Literal["no table at all", "no whole-number table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Statements that cannot all be true, though all but any one of them can.

    `kind` says whether not even a table of fractions exists, or only no whole-number table.
    `irreducible` is False where time ran out before every statement was shown to be needed.
    """

    statements: tuple[str, ...]
    kind: Kind
    irreducible: bool = True

    def error(self) -> InputError:
        """The complaint, which names the statements and none of their values."""
        more = len(self.statements) - NAMED
        listed = ", ".join(self.statements[:NAMED]) + (f" and {more} more" if more > 0 else "")
        size = "smallest set that disagrees" if self.irreducible else "these disagree"
        rule = "true of at least one table"
        return InputError(must_be("statements", rule, self.kind, remedy=f"{size}: {listed}"))


def check(system: System, *, time_limit: float | None = None) -> IntArray | None:
    """A consistent point as witness, or None where time or size did not allow to find one.

    Raises InputError where there is none, naming a smallest set of statements that disagree.
    """
    deadline = Deadline(time_limit)
    found = _witness(system, deadline)
    if found.ending is not Ending.INFEASIBLE:
        return found.point
    raise contradiction(system)


def disagreement(system: System, *, time_limit: float | None = None) -> Disagreement | None:
    """Why no table is consistent; None where one is, or where time did not allow to tell."""
    deadline = Deadline(time_limit)
    if _witness(system, deadline).ending is not Ending.INFEASIBLE:
        return None
    return _disagreement(system, deadline)


def contradiction(system: System, *, time_limit: float = SHRINKING_SECONDS) -> InputError:
    """The complaint about a system already known to have no points."""
    return _disagreement(system, Deadline(time_limit)).error()


def check_margins(margins: Margins) -> None:
    """Raises InputError for margins whose shapes are wrong or that disagree where they overlap.

    Two margins must give the same sub-margin over the variables they share; the message names both
    and the first entry at which they differ. For a decomposable set of margins this is enough for
    a table to exist; for others `check` searches.
    """
    if not margins.tables:
        raise InputError(must_be("margins", "at least one, if only the total", "none"))
    for axes, table in margins.tables.items():
        shape = tuple(margins.sizes[axis] for axis in axes)
        if table.shape != shape:
            raise InputError(must_be(_title(margins, axes), f"of shape {shape}", table.shape))
        if not np.issubdtype(table.dtype, np.integer):
            raise InputError(must_be(_title(margins, axes), "of whole numbers", table.dtype))
        if table.min(initial=0) < 0:
            entry = margins.entry_name(axes, int(np.argmin(table)))
            raise InputError(must_be(entry, "zero or more", "a negative number"))
    # Of a set of variables that some two margins share, all margins that hold it are to agree with
    # the first: one look at each margin and shared set, however many pairs there are.
    bits = [set_of(axes) for axes in margins.tables]
    known: dict[int, tuple[tuple[int, ...], IntArray]] = {}
    for axes, own in zip(margins.tables, bits, strict=True):
        for shared in sorted({own & other for other in bits if other != own}):
            kept = axes_of(shared)
            table = sub_margin(margins, axes, kept)
            first, expected = known.setdefault(shared, (axes, table))
            differ = table != expected
            if differ.any():
                where = margins.entry_name(kept, int(np.argmax(differ)))
                names = f"{_title(margins, first)} and {_title(margins, axes)}"
                rule = "equal in the variables they share"
                raise InputError(must_be(names, rule, "different counts", where=where))


def sub_margin(margins: Margins, axes: tuple[int, ...], kept: tuple[int, ...]) -> IntArray:
    """A margin summed over all its variables but those kept."""
    away = tuple(i for i, axis in enumerate(axes) if axis not in kept)
    return np.asarray(margins.tables[axes].sum(axis=away))


def _title(margins: Margins, axes: tuple[int, ...]) -> str:
    return f"margin [{', '.join(margins.names[axis] for axis in axes)}]"


def _witness(system: System, deadline: Deadline) -> Found:
    """A point, the proof that there is none, or neither."""
    if np.any(system.lower > system.upper):
        return Found(Ending.INFEASIBLE)
    if system.n_rows == 0:
        return Found(Ending.OPTIMAL, system.lower.copy())
    if tightened(system.matrix, system.right, system.lower, system.upper)[2] == CONTRADICTION:
        return Found(Ending.INFEASIBLE)
    found = Search(system).maximise([], 1, deadline.left(FOREVER))
    if found.ending is Ending.REFUSED and _has_no_fractions(system):
        return Found(Ending.INFEASIBLE)
    return found


def _disagreement(system: System, deadline: Deadline) -> Disagreement:
    crossed = np.flatnonzero(system.lower > system.upper)
    if len(crossed):
        names = _crossed_limits(system, int(crossed[0]))
        return Disagreement(statements=names, kind="no table at all")
    parts = _Parts(system)
    everything = list(range(len(parts.names)))
    fractional = _has_no_fractions(parts.system(everything))
    oracle: Callable[[System], bool] = _has_no_fractions if fractional else _Searches(deadline)
    smallest = _irreducible(everything, lambda chosen: oracle(parts.system(chosen)))
    if fractional:  # whole numbers may rule out a part of what rules out fractions
        search = _Searches(deadline)
        part = _irreducible(smallest, lambda chosen: search(parts.system(chosen)))
        if len(part) < len(smallest) and not deadline.passed:
            fractional, oracle, smallest = False, search, part
    shown = oracle(parts.system(smallest)) and not deadline.passed
    return Disagreement(
        statements=tuple(parts.names[i] for i in smallest),
        kind="no table at all" if fractional else "no whole-number table",
        irreducible=fractional or shown,
    )


def _column_name(system: System, column: int) -> str:
    """What to call the limits of a column: those of a cell, or of the range behind a slack."""
    if column < system.n_named:
        return _limits_name(system, column)
    return system.row_names[int(system.matrix[:, [column]].tocoo().row[0])]


def _limits_name(system: System, cell: int) -> str:
    """The statements about a single cell, or what else limits it."""
    return " and ".join(system.limit_names.get(cell, (f"limits of cell {cell}",)))


def _crossed_limits(system: System, column: int) -> tuple[str, ...]:
    """The limits of a column that leave it no value, and the row that gave the upper one if any."""
    name = _column_name(system, column)
    if column >= system.n_named:
        return (name, "limits of its cells")
    if len(system.limit_names.get(column, ())) > 1:
        return system.limit_names[column]
    entries = csr_array(system.matrix[:, [column]]).tocoo()
    most = np.maximum(system.right[entries.row], 0) // np.maximum(entries.data, 1)
    giving = entries.row[(most <= system.upper[column]) & (entries.data > 0)]
    return (name, system.row_names[giving[0]]) if len(giving) else (name,)


class _Searches:
    """Whether a system has no whole-number points, by exhaustive search while time lasts."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def __call__(self, system: System) -> bool:
        return _witness(system, self._deadline).ending is Ending.INFEASIBLE


class _Parts:
    """The statements of a system, to be taken singly: rows, and limits that no row implies."""

    def __init__(self, system: System) -> None:
        self._whole = system
        self._most = self._largest()
        self._always = self._kept_limits()
        self._closer = system.upper < self._implied()
        own = (system.lower > 0) | self._closer
        self._limits = np.flatnonzero(own & ~self._always)
        limits = [_limits_name(system, int(column)) for column in self._limits]
        self.names = (*system.row_names, *limits)

    def _largest(self) -> int:
        s = self._whole
        parts = (np.abs(s.right), np.abs(s.lower), np.abs(s.upper))
        return max(int(part.max(initial=1)) for part in parts)

    def _kept_limits(self) -> BoolArray:
        """Slacks, and columns of rows with negative coefficients: their limits go with the rows."""
        s = self._whole
        mixed = s.matrix.min(axis=1).toarray().ravel() < 0
        kept = abs(s.matrix[mixed]).sum(axis=0) > 0
        kept[s.n_named :] = True
        return np.asarray(kept)

    def _implied(self) -> IntArray:
        """The upper limit of each column that its rows give, each by itself, in whole numbers."""
        s = self._whole
        entries = s.matrix.tocoo()
        positive = entries.data > 0
        implied = np.full(s.n_columns, np.iinfo(np.int64).max)
        most = np.maximum(s.right[entries.row[positive]], 0) // entries.data[positive]
        np.minimum.at(implied, entries.col[positive], most)
        return implied

    def system(self, chosen: Sequence[int]) -> System:
        """The system of the chosen statements alone, without what rows imply in whole numbers."""
        s = self._whole
        rows = np.array([i for i in chosen if i < s.n_rows], dtype=np.int64)
        held = self._always.copy()
        held[[self._limits[i - s.n_rows] for i in chosen if i >= s.n_rows]] = True
        return System(
            matrix=csr_array(s.matrix[rows]),
            right=s.right[rows],
            lower=np.where(held, s.lower, 0),
            upper=np.where(held & (self._closer | self._always), s.upper, self._most),
            n_named=s.n_named,
            row_names=tuple(s.row_names[i] for i in rows),
        )


def _has_no_fractions(system: System) -> bool:
    """Whether not even fractional points exist, proved by a Farkas dual in whole numbers."""
    if np.any(system.lower > system.upper):
        return True
    n, rows = system.n_columns, system.n_rows
    if rows == 0:
        return False
    with standing_still():
        from scipy.optimize import (
            linprog,  # slow to load, and needed only where something disagrees
        )

    off = eye_array(rows, format="csr")
    solved = linprog(
        np.concatenate([np.zeros(n), np.ones(2 * rows)]),
        A_eq=hstack([system.matrix.astype(np.float64), off, -off], format="csr"),
        b_eq=system.right.astype(np.float64),
        bounds=[*zip(system.lower, system.upper, strict=True), *[(0, None)] * (2 * rows)],
        method="highs",
    )
    return solved.status == 0 and refutation(system, solved.eqlin.marginals) is not None


def _irreducible(items: list[int], disagree: Callable[[list[int]], bool]) -> list[int]:
    """A part of the items that disagrees and no smaller part of which does (QuickXplain)."""

    def needed(background: list[int], grew: bool, rest: list[int]) -> list[int]:
        if grew and disagree(background):
            return []
        if len(rest) == 1:
            return rest
        first, second = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        from_second = needed(background + first, bool(first), second)
        from_first = needed(background + from_second, bool(from_second), first)
        return from_first + from_second

    return sorted(needed([], True, items)) if items else []
