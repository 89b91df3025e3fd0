"""Rounding to a base so that the published figures add up exactly.

Every cell of the full table goes to a multiple of the base b next to it and multiples stay (zero
restriction), such that every margin named, added up from the rounded cells, is next to its true
figure too. In two ways such a rounding always exists; from three ways on it may not (Causey, Cox
and Ernst 1985). Then figures are let go further, by as little in all as can be, and the publication
says how far.

Linked tables (bands, subtotals, parts) are rounded as one set: the rounded cells behind them are
printed nowhere, so that only what is printed need be next to its count, and all figures of all
tables are sums of the same rounded cells.

With r = x mod b and a choice z ∈ {0, 1} of the multiple above, a figure is off by r + z (b − 2 r),
so that the nearest rounding is a linear program in whole numbers, solved by CP-SAT.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from discreet.clock import standing_still
from discreet.data.layout import Layout
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement
from discreet.figures import Unavailable
from discreet.masks.contract import (
    Axes,
    Masked,
    chosen_sets,
    named_sets,
    total_statement,
)
from discreet.masks.cycle_rounding import cycle_rounding
from discreet.masks.linked_figures import LinkedFigures, figures_to_protect
from discreet.masks.replay import SameAgain
from discreet.masks.rounding import at_random, checked_base, checked_room, checked_seed
from discreet.masks.solving import WORK, Solved, checked_work, solve
from discreet.masks.suppression_figures import Figures, all_sets, figures_of
from discreet.numerics.arrays import BoolArray, IntArray

NAME = "controlled-rounding"
MOST_EXCESS = 8  # multiples of the base beyond the next one that a figure is let go at most
LARGEST_QUOTIENT = 2**40  # multiples of the base in the total, so that sums stay exact


@dataclass(frozen=True, slots=True)
class _Rounding:
    """The rounded cells, by how many multiples a figure goes beyond the next one at most, and what
    the search has proved."""

    cells: IntArray
    excess: int
    optimal: bool
    off: int
    limit: int


def round_controlled(
    table: Table,
    *,
    base: int,
    sets: Sequence[Sequence[str]] | None = None,
    layouts: Sequence[Layout] | None = None,
    out: Sequence[Layout] = (),
    beside: Sequence[Layout] = (),
    seed: int | None = None,
    total_known: bool = True,
    work: float = WORK,
) -> Masked | Unavailable:
    """The full table and the named margins (all of them) in multiples of the base that add up.

    In place of sets of variables, `layouts` are the shapes of linked tables of this data; then
    these go out, and not the full table; layouts that are `out` are known exactly, and what
    layouts `beside` tell apart is told apart here too.

    Without a seed the rounding is the nearest one: the sum over all published figures of how far
    they are off is least, or within a gap that is stated. With a seed it is drawn at random: in one
    and two ways every figure has its count as mean; from three ways on it is the rounding nearest
    to a random one of the cells, which is nearly unbiased, not exactly. `work` limits the search in
    units that are the same on every machine.

    Checked: the base is from 2 to 10,000, names are variables, all margins only of at most ten
    variables. Unavailable where no rounding was found within the work.
    """
    base, work = checked_base(base), checked_work(work)
    if table.total // base > LARGEST_QUOTIENT:
        raise InputError(must_be("base", "larger for so many persons", base))
    if layouts is None:
        counts = checked_room(table, base)
        figures = figures_of(table, counts, _tables(table, sets))
    else:
        figures = figures_to_protect(table, sets, layouts, out=out, beside=beside)
        counts = checked_room(figures.table, base)
    rounding = _chosen(figures, counts, base, seed, work)
    if rounding is None:
        return Unavailable("no rounding that adds up was found within the work; allow more")
    found = _masked(figures, rounding, base, seed, total_known, work)
    return (
        found if seed is not None else replace(found, replay=_replay(figures, rounding, base, work))
    )


def _replay(figures: Figures, rounding: _Rounding, base: int, work: float) -> SameAgain:
    """The nearest rounding of another table."""
    return SameAgain(partial(_is_rounded_alike, figures, rounding, base, work))


def _is_rounded_alike(
    figures: Figures, rounding: _Rounding, base: int, work: float, cells: IntArray
) -> bool:
    """Whether the nearest rounding of a table with these cells is the same."""
    other = replace(figures, counts=figures.summed(cells))
    found = _rounded(other, cells, base, None, work)
    if found is None or found.excess != rounding.excess:
        return False
    return np.array_equal(found.cells, rounding.cells)


def _chosen(
    figures: Figures, counts: IntArray, base: int, seed: int | None, work: float
) -> _Rounding | None:
    """The nearest rounding, or one at random."""
    if seed is None:
        return _rounded(figures, counts.ravel(), base, None, work)
    rng = np.random.default_rng(checked_seed(seed))
    if counts.ndim > 2 or isinstance(figures, LinkedFigures):
        wanted = at_random(counts, base, rng=rng).ravel()
        return _rounded(figures, counts.ravel(), base, wanted, work)
    two_way = np.atleast_2d(counts)
    cells = cycle_rounding(two_way, base, rng=rng).ravel()
    return _Rounding(cells, excess=0, optimal=False, off=0, limit=0)


def _tables(table: Table, sets: Sequence[Sequence[str]] | None) -> list[tuple[str, ...]]:
    """The full table first, then the margins named, or all of them."""
    every: Axes = tuple(range(len(table.names)))
    margins = all_sets(table) if sets is None else chosen_sets(table, sets)
    return list(named_sets(table, list(dict.fromkeys([every, *margins]))))


def _rounded(
    figures: Figures, counts: IntArray, base: int, wanted: IntArray | None, work: float
) -> _Rounding | None:
    """The rounding with zero restriction, or where none exists the one that leaves it least."""
    program = _Program(figures, counts, base, wanted, 0)
    solved = solve(program.model, work=work)
    if solved.impossible:
        program = _Program(figures, counts, base, wanted, MOST_EXCESS)
        program.leave_least(solve(program.model, work=work))
        solved = solve(program.model, work=work)
    return program.read(solved) if solved.has_solution else None


def _unprinted(figures: Figures) -> BoolArray:
    """Which cells are no figure of any table."""
    free = np.ones(figures.table.n_cells, dtype=np.bool_)
    for figure in np.flatnonzero(figures.n_summed == 1).tolist():
        free[figures.cells(figure)] = False
    return free


class _Program:
    """Multiples for the cells, with every figure near its count."""

    def __init__(
        self,
        figures: Figures,
        counts: IntArray,
        base: int,
        wanted: IntArray | None,
        excess: int,
    ) -> None:
        with standing_still():
            from ortools.sat.python import cp_model

        self.model, self._cp = cp_model.CpModel(), cp_model
        self._figures, self._base, self._excess = figures, base, excess
        self._floor = counts // base
        free = _unprinted(figures)
        self._ups = [
            self.model.new_int_var(*self._span(int(count), is_free), "")
            for count, is_free in zip(counts.tolist(), free.tolist(), strict=True)
        ]
        self._past: list[Any] = []
        costs = [self._cost(i) for i in range(figures.n)] if wanted is None else []
        if wanted is not None:
            costs = [self._distance(j, int(w)) for j, w in enumerate(wanted.tolist())]
            _ = [self._near(i) for i in range(figures.n)]
        self._costs = self._cp.LinearExpr.sum(costs)
        self.model.minimize(self._cp.LinearExpr.sum(self._past) if excess else self._costs)

    def leave_least(self, first: Solved) -> None:
        """Holds what goes beyond the next multiples at the least that was found, then seeks the
        nearest rounding."""
        if first.has_solution:
            self.model.add(self._cp.LinearExpr.sum(self._past) <= first.objective)
            self.model.minimize(self._costs)

    def _span(self, count: int, is_free: bool) -> tuple[int, int]:
        """How many multiples above the one below a count may go; one that is not printed may go as
        far as it helps the others."""
        excess = MOST_EXCESS if is_free else self._excess
        low, high = -min(excess, count // self._base), 1 + excess
        return low, high if excess or count % self._base else 0

    def _near(self, figure: int) -> Any:
        """The figure in multiples above the one below its count, held next to it."""
        cells = self._figures.cells(figure)
        count = int(self._figures.counts[figure])
        offset = int(self._floor[cells].sum()) - count // self._base
        above = self._cp.LinearExpr.sum([self._ups[int(c)] for c in cells]) + offset
        most = 1 if count % self._base else 0
        if self._excess == 0:
            self.model.add_linear_constraint(above, 0, most)
            return above
        past = self.model.new_int_var(0, 2 * self._excess * len(cells), "")
        self.model.add(past >= above - most)
        self.model.add(past >= -above)
        self._past.append(past)
        return above

    def _cost(self, figure: int) -> Any:
        """How far the published figure is off, in persons."""
        above, rest = self._near(figure), int(self._figures.counts[figure]) % self._base
        if self._excess == 0:
            return above * (self._base - 2 * rest) + rest
        return self._absolute(above * self._base - rest)

    def _distance(self, cell: int, wanted: int) -> Any:
        """How far a cell is from where chance would put it, in multiples."""
        return self._absolute(self._ups[cell] + int(self._floor[cell]) - wanted // self._base)

    def _absolute(self, expression: Any) -> Any:
        size = self.model.new_int_var(0, 2**50, "")
        self.model.add(size >= expression)
        self.model.add(size >= -expression)
        return size

    def read(self, solved: Solved) -> _Rounding:
        """The rounded cells of the solution."""
        ups = np.array([solved.value(one) for one in self._ups], dtype=np.int64)
        cells = (self._floor + ups) * self._base
        past = [solved.value(one) for one in self._past]
        return _Rounding(
            cells=cells,
            excess=max(past, default=0),
            optimal=solved.optimal,
            off=int(np.abs(self._figures.summed(cells) - self._figures.counts).sum()),
            limit=max(0, solved.limit),
        )


def _masked(
    figures: Figures,
    rounding: _Rounding,
    base: int,
    seed: int | None,
    total_known: bool,
    work: float,
) -> Masked:
    table = figures.table
    cells = rounding.cells.reshape(table.sizes)
    reach = base * (1 + rounding.excess) - 1
    own = figures.summed(rounding.cells)
    known = _ranges(figures, own, reach)
    kind = "controlled at random" if seed is not None else "controlled"
    return Masked(
        mask=NAME,
        title=f"rounded to {base}, {kind}",
        source=table,
        published=tuple(
            replace(one, counts=counts)
            for one, counts in zip(figures.published(), figures.split(own), strict=True)
        ),
        known=tuple([*known, total_statement(table)] if total_known else known),
        estimate=cells.astype(np.float64),
        effect=_effect(figures, rounding, base, seed),
        parameters=MappingProxyType(
            {
                "base": base,
                "random": seed is not None,
                **figures.record(),
                "total_known": total_known,
                "work": work,
            }
        ),
        seed=seed,
        beyond=_beyond(reach, seed),
    )


def _ranges(figures: Figures, rounded: IntArray, reach: int) -> list[Statement]:
    """Every figure is less than the base away from what is published, or as far as is said."""
    found = []
    named = zip(figures.names(), rounded.tolist(), figures.is_out.tolist(), strict=True)
    for figure, (name, value, is_out) in enumerate(named):
        count = int(figures.counts[figure])
        low, high = (count, count) if is_out else (max(0, value - reach), value + reach)
        told = name if is_out else f"rounded {name}"
        found.append(Statement(cells=figures.cells(figure), low=low, high=high, name=told))
    return found


def _effect(figures: Figures, rounding: _Rounding, base: int, seed: int | None) -> str:
    tables = figures.text()
    n_ways = 3 if isinstance(figures, LinkedFigures) else len(figures.table.names)
    near = f"Every figure of {tables} is a multiple of {base} next to its count, and all add up"
    if rounding.excess:
        near = (
            f"No rounding of {tables} to {base} adds up with every figure next to its count; this "
            f"one lets figures go up to {rounding.excess * base:,} further, by as little in all as "
            "was found to do"
        )
    return f"{near}; {_nearness(rounding, seed, n_ways)}."


def _nearness(rounding: _Rounding, seed: int | None, n_ways: int) -> str:
    if seed is not None and n_ways > 2:
        return "it is the one nearest to a random rounding of the cells, nearly without bias"
    if seed is not None:
        return "it is drawn at random, each figure being right on average"
    if rounding.optimal:
        return f"it is the nearest one, {rounding.off:,} persons off in all figures together"
    gap = max(0, rounding.off - rounding.limit)
    return f"it is {rounding.off:,} persons off in all figures, at most {gap:,} more than necessary"


def _beyond(reach: int, seed: int | None) -> str:
    taken = f"The intruder is taken to know that figures are at most {reach} off, and nothing more"
    if seed is None:
        return (
            f"{taken}. Someone who works out the nearest rounding of every possible table can rule "
            "out those that have another one, and so learn more."
        )
    return (
        f"{taken}. How probable the publication was under each table is not used: counts near the "
        "published ones are more probable than it says."
    )
