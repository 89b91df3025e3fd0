"""Bounds of the cells of a hidden table, by the cheapest method that makes them exact.

Margins are split into components at released separators. A component that is itself released is
looked up; any other goes through the shuttle and, where a gap is left, through programming. The
cell's bounds are put together in closed form:

    upper = min U_p,    lower = max(0, Σ L_p − Σ separator entries)

over components p. They are attained since, given the separators, components vary freely of each
other (Dobra and Fienberg 2000, decomposable and reducible sets).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from discreet.errors import InputError, must_be
from discreet.fiber.bounds.attained_by_moves import attained_by_moves
from discreet.fiber.bounds.by_frechet import bounds_by_frechet, looked_up
from discreet.fiber.bounds.by_programming import Work, bounds_by_programming
from discreet.fiber.bounds.by_shuttle import MAX_SUMS, n_sums, shuttle
from discreet.fiber.bounds.contract import Bounds, Proof, proofs
from discreet.fiber.system.consistency import check_margins, sub_margin
from discreet.fiber.system.decomposable import (
    Axes,
    ClosedForm,
    checked_levels,
    free_axes,
    separator_table,
)
from discreet.fiber.system.linear_system import System, system_of
from discreet.fiber.system.margins import Margins, maximal
from discreet.fiber.system.programs import Deadline
from discreet.numerics.arrays import IntArray
from discreet.numerics.graphs import JunctionTree, components_tree
from discreet.progress import Progress, interruption_ends_all, silent

__all__ = ["Bounds", "Proof", "bounds"]

MAX_LISTED = 2**22  # cells of a table whose bounds are given without being asked for by name
FIRST_TABLE_SECONDS = 5.0  # for a table to start from, where none is known
MAX_PROGRAM_CELLS = 2**17  # cells of a component that programming is tried on

Solve = Callable[[Margins, Axes, IntArray], Bounds]


def bounds(
    known: System | Margins,
    *,
    cells: IntArray | None = None,
    tables: Sequence[IntArray] = (),
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Bounds:
    """The least and the greatest count of each cell over all consistent tables.

    `cells` are numbers in C order, or for margins rows of levels (the only way to name cells of a
    table of 2⁶³ cells and more); all cells if left out. `tables` are consistent tables already
    known, such as the true one: they spare search and change no answer. After `time_limit` seconds,
    or when interrupted, bounds are valid though not all tight, and `note` says so.

    Raises InputError where no table is consistent, naming a smallest set that disagrees, as far as
    that was found out on the way.
    """
    if isinstance(known, System):
        cells = None if cells is None else _checked_numbers(known.n_named, cells)
        return bounds_by_programming(
            known, cells=cells, tables=tables, time_limit=time_limit, progress=progress
        )
    check_margins(known)
    levels = _named_levels(known, cells)
    tree = components_tree(known.tables)
    if tree.is_decomposable:
        return ClosedForm(known).bounds(levels)
    for table in tables:
        if np.shape(table) != known.sizes:
            raise InputError(must_be("tables", f"of shape {known.sizes}", np.shape(table)))
    deadline = Deadline(time_limit)
    return _by_components(known, tree, levels, _Solver(tables, deadline, progress))


def _checked_numbers(n_cells: int, cells: IntArray) -> IntArray:
    cells = np.asarray(cells, dtype=np.int64)
    if cells.ndim != 1 or cells.min(initial=0) < 0 or cells.max(initial=0) >= max(n_cells, 1):
        raise InputError(must_be("cells", f"numbers 0 to {n_cells - 1}", "others"))
    return cells


def _named_levels(margins: Margins, cells: IntArray | None) -> IntArray:
    """The levels of the cells asked for, a row a cell."""
    n = margins.n_cells
    if cells is None and n > MAX_LISTED:
        remedy = "name the cells by their levels"
        rule = f"given for a table of more than {MAX_LISTED} cells"
        raise InputError(must_be("cells", rule, "none", remedy=remedy))
    if cells is not None and np.ndim(cells) == 2:
        return checked_levels(margins, cells)
    if cells is not None and n >= 2**63:
        raise InputError(must_be("cells", "rows of levels for a table so large", "numbers"))
    numbers = np.arange(n) if cells is None else _checked_numbers(n, cells)
    return np.stack(np.unravel_index(numbers, margins.sizes), axis=1).astype(np.int64)


class _Solver:
    """Bounds of the cells of one component, within what is left of the time."""

    def __init__(self, tables: Sequence[IntArray], deadline: Deadline, progress: Progress) -> None:
        self._tables, self._deadline, self._progress = tables, deadline, progress

    def __call__(self, margins: Margins, axes: Axes, levels: IntArray) -> Bounds:
        """Bounds by the shuttle, then by programming, or by look-ups where the table is large."""
        if n_sums(margins) > MAX_SUMS or margins.n_cells > MAX_PROGRAM_CELLS:
            note = "table too large to search: bounds are valid, but not all are tight"
            return replace(bounds_by_frechet(margins, levels), note=note)
        lower, upper = shuttle(margins, self._deadline)
        system = system_of(margins.n_cells, margins.statements())
        limits = (lower.ravel(), upper.ravel())
        tables = [summed(table, axes) for table in self._tables]
        work = Work(system, tables, self._deadline, self._progress, limits)
        cells = np.ravel_multi_index(tuple(levels.T), margins.sizes)
        try:
            self._walk(work, margins, cells)
        except KeyboardInterrupt:
            if interruption_ends_all():
                raise
            self._deadline.interrupt()
        return work.bounds(cells)

    def _walk(self, work: Work, margins: Margins, cells: IntArray) -> None:
        """Sees what counts the cells can have, starting from a first table."""
        point = work.first_point(FIRST_TABLE_SECONDS)
        if point is not None:
            valid = (work.structure.lower, work.structure.upper)
            work.seen.append(attained_by_moves(margins, point, valid, cells, self._deadline))


def summed(table: IntArray, axes: Axes) -> IntArray:
    """A table summed over all its variables but those given."""
    return np.asarray(table.sum(axis=tuple(a for a in range(table.ndim) if a not in axes)))


def _by_components(margins: Margins, tree: JunctionTree, levels: IntArray, solve: Solve) -> Bounds:
    parts = [
        _component_bounds(margins, axes, released, levels, solve)
        for axes, released in zip(tree.components, tree.released, strict=True)
    ]
    lower = np.sum([part.lower for part in parts], axis=0)
    for axes in tree.separators[1:]:
        lower = lower - looked_up(separator_table(margins, axes), axes, levels)
    lower_proof = np.max([part.lower_proof for part in parts], axis=0)
    if free_axes(margins):
        lower, lower_proof = np.zeros_like(lower), proofs(len(levels), Proof.CLOSED_FORM)
    return Bounds(
        lower=np.maximum(lower, 0),
        upper=np.min([part.upper for part in parts], axis=0),
        lower_proof=lower_proof,
        upper_proof=np.max([part.upper_proof for part in parts], axis=0),
        note="; ".join(sorted({part.note for part in parts if part.note})),
    )


def _component_bounds(
    margins: Margins, axes: Axes, released: bool, levels: IntArray, solve: Solve
) -> Bounds:
    """Bounds of the component cells that hold the cells asked for, each found once."""
    here = levels[:, list(axes)]
    if released:
        entry = looked_up(margins.tables[axes], axes, levels)
        proof = proofs(len(levels), Proof.CLOSED_FORM)
        return Bounds(lower=entry, upper=entry.copy(), lower_proof=proof, upper_proof=proof.copy())
    distinct, back = np.unique(here, axis=0, return_inverse=True)
    found = solve(component_margins(margins, axes), axes, distinct)
    return Bounds(
        lower=found.lower[back],
        upper=found.upper[back],
        lower_proof=found.lower_proof[back],
        upper_proof=found.upper_proof[back],
        note=found.note,
    )


def component_margins(margins: Margins, component: Axes) -> Margins:
    """What the margins say of the table summed to one component, as margins of that table."""
    inside = {axes: tuple(a for a in axes if a in component) for axes in margins.tables}
    tables: dict[Axes, IntArray] = {}
    for kept in maximal(inside.values()):
        home = next(axes for axes, part in inside.items() if part == kept)
        tables[tuple(component.index(a) for a in kept)] = sub_margin(margins, home, kept)
    return Margins(
        sizes=tuple(margins.sizes[axis] for axis in component),
        names=tuple(margins.names[axis] for axis in component),
        tables=tables,
    )
