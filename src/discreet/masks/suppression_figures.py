"""The figures of a set of tables that go out together, and which of them may not be shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement
from discreet.masks.contract import (
    Axes,
    PublishedTable,
    chosen_sets,
    entry_groups,
    entry_name,
    entry_names,
    named_sets,
    tables_text,
    total_statement,
)
from discreet.numerics.arrays import BoolArray, IntArray, read_only

MOST_FIGURES = 2**17
MOST_VARIABLES = 10  # of a table that goes out with all its margins unless they are named


Kind = TypeVar("Kind", np.bool_, np.int64, np.float64)
Number = TypeVar("Number", np.int64, np.float64)


class Zeros(StrEnum):
    """What becomes of empty cells."""

    SHOWN = "shown"  # always: whoever knows the rule knows that a hidden figure is at least 1
    SPARE = "spare"  # they may be hidden to protect others
    SENSITIVE = "sensitive"  # they are hidden like small counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Which figures are sensitive, and how wide their intervals must be left.

    Counts from 1 to `small` are sensitive (zeros as `zeros` says). Over all tables consistent with
    the publication each must be able to differ by at least `protect` between its least and its
    greatest value (`small` where None), to lie `lower` below its count, as far as the rule lets any
    figure go down, and `upper` above; with `above_small`, it must also be able to exceed `small`.
    `rule_known` says that intruders know all this. With `unions`, sums of hidden figures beside
    each other (two ages of a village) count as figures, protected where they are sensitive.
    """

    small: int = 2
    protect: int | None = None
    lower: int = 0
    upper: int = 0
    above_small: bool = False
    zeros: str = Zeros.SHOWN
    rule_known: bool = True
    unions: bool = False

    def __post_init__(self) -> None:
        _check_whole("small", self.small, 1)
        _check_whole("protect", self.width, 1)
        _check_whole("lower", self.lower, 0)
        _check_whole("upper", self.upper, 0)
        if self.zeros not in list(Zeros):
            raise InputError(must_be("zeros", f"one of {', '.join(Zeros)}", repr(self.zeros)))

    @property
    def width(self) -> int:
        """The least width of a sensitive figure's interval."""
        return self.small if self.protect is None else self.protect

    @property
    def least(self) -> int:
        """The least count that a hidden figure can have for an intruder."""
        return 1 if self.rule_known and self.zeros == Zeros.SHOWN else 0

    def is_sensitive(self, counts: IntArray) -> BoolArray:
        """Which counts may not be shown."""
        least = 0 if self.zeros == Zeros.SENSITIVE else 1
        return np.asarray((counts >= least) & (counts <= self.small))

    def may_hide(self, counts: IntArray) -> BoolArray:
        """Which counts may be hidden at all."""
        return np.asarray((counts > 0) | (self.zeros != Zeros.SHOWN))

    def needs(self, count: int) -> "Needs":
        """What an interval around a sensitive count must reach."""
        above = self.small + 1 if self.above_small else 0
        return Needs(
            low=max(count - self.lower, min(count, self.least)),
            high=max(count + self.upper, above),
            width=self.width,
        )


class Needs(NamedTuple):
    """An interval must begin at `low` or below, end at `high` or above, and be so wide."""

    low: int
    high: int
    width: int

    def met(self, least: int | Fraction, most: int | Fraction) -> bool:
        """Whether an interval from `least` to `most` does."""
        return least <= self.low and most >= self.high and most - least >= self.width


def _check_whole(name: str, value: int, least: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not least <= value <= 2**31:
        raise InputError(must_be(name, f"a whole number from {least} to 2**31", value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """All figures of the tables that go out: which cells each sums, and its count.

    `groups[i]` has a row for each figure of the i-th table, the cells that it sums; `first[i]` is
    the number of its first figure. `homes` says it the other way round: in each of the tables (a
    row each) the figure that a cell (a column each) belongs to.
    """

    table: Table
    sets: tuple[Axes, ...]
    groups: tuple[IntArray, ...]
    homes: IntArray
    counts: IntArray
    first: IntArray

    def __post_init__(self) -> None:
        read_only(self.counts)
        read_only(self.first)

    @property
    def n(self) -> int:
        """Figures in all."""
        return len(self.counts)

    def cells(self, figure: int) -> IntArray:
        """The cells that a figure sums."""
        place = self.place(figure)
        return np.asarray(self.groups[place][figure - int(self.first[place])])

    def place(self, figure: int) -> int:
        """Which of the tables a figure stands in."""
        return int(np.searchsorted(self.first, figure, side="right")) - 1

    def summed(self, cells: NDArray[Number]) -> NDArray[Number]:
        """Every figure of a table with these cells."""
        return np.concatenate([cells[group].sum(axis=1) for group in self.groups])

    def changes(self, cells: IntArray, by: IntArray) -> tuple[IntArray, IntArray]:
        """The figures that change if some cells do, in order, and by how much."""
        touched, place = np.unique(self.homes[:, cells], return_inverse=True)
        change = np.zeros(len(touched), dtype=np.int64)
        np.add.at(change, place.ravel(), np.tile(by, len(self.sets)))
        return touched[change != 0], change[change != 0]

    @property
    def n_summed(self) -> IntArray:
        """How many cells each figure sums."""
        return np.concatenate([np.full(len(g), g.shape[1], dtype=np.int64) for g in self.groups])

    def name(self, figure: int) -> str:
        """What to call a figure: its variables with their levels."""
        place = self.place(figure)
        return entry_name(self.table, self.sets[place], figure - int(self.first[place]))

    def names(self) -> list[str]:
        """What to call every figure."""
        return [name for axes in self.sets for name in entry_names(self.table, axes)]

    @property
    def n_printed(self) -> int:
        """Figures of the tables that are to go out; they come first."""
        return self.n

    @property
    def n_told(self) -> int:
        """Figures of these tables and of those that are out; what follows them is only to be
        protected."""
        return self.n

    @property
    def is_out(self) -> BoolArray:
        """Which figures everybody knows already."""
        return np.zeros(self.n, dtype=np.bool_)

    def published(self, shown: BoolArray | None = None) -> tuple[PublishedTable, ...]:
        """The tables that go out, with the figures that are not shown left out."""
        flags = np.ones(self.n, dtype=np.bool_) if shown is None else shown
        own = self.split(np.where(flags, self.counts, 0)), self.split(flags)
        return tuple(
            PublishedTable(axes=axes, counts=counts, shown=None if shown is None else is_shown)
            for axes, counts, is_shown in zip(self.sets, *own, strict=True)
        )

    def shown_by(self, flags: Sequence[BoolArray]) -> BoolArray:
        """Which figures are shown, given that for the entries of each table."""
        return np.concatenate([np.ravel(own) for own in flags])

    def text(self) -> str:
        """The tables in a few words."""
        return tables_text(self.table, self.sets)

    def record(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """The tables as the record of a mask names them."""
        return {"sets": named_sets(self.table, self.sets)}

    def split(self, values: NDArray[Kind]) -> list[NDArray[Kind]]:
        """One value a figure, as arrays in the shape of each table."""
        ends = [*self.first[1:].tolist(), self.n]
        shapes = [tuple(self.table.sizes[axis] for axis in axes) for axes in self.sets]
        parts = zip(self.first.tolist(), ends, shapes, strict=True)
        return [values[begin:end].reshape(shape).copy() for begin, end, shape in parts]

    @property
    def is_total(self) -> BoolArray:
        """Which figures are the number of persons, which is never hidden."""
        return np.asarray(self.n_summed == self.table.n_cells)


def figures_of(table: Table, counts: IntArray, sets: Sequence[Sequence[str]] | None) -> Figures:
    """The figures of the named tables, or of the full table with all its margins."""
    chosen = chosen_sets(table, sets) if sets is not None else all_sets(table)
    sizes = [int(np.prod([table.sizes[a] for a in axes], dtype=np.int64)) for axes in chosen]
    if sum(sizes) > MOST_FIGURES:
        raise InputError(
            must_be("figures", f"at most {MOST_FIGURES:,} in all tables", f"{sum(sizes):,}")
        )
    groups = tuple(entry_groups(table, axes) for axes in chosen)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    return Figures(
        table=table,
        sets=chosen,
        groups=groups,
        homes=_homes(groups, first, table.n_cells),
        counts=np.concatenate([counts.ravel()[group].sum(axis=1) for group in groups]),
        first=first,
    )


def _homes(groups: Sequence[IntArray], first: IntArray, n_cells: int) -> IntArray:
    found = np.empty((len(groups), n_cells), dtype=np.int64)
    for row, group, start in zip(found, groups, first.tolist(), strict=True):
        row[group] = start + np.arange(len(group))[:, None]
    return found


def all_sets(table: Table) -> tuple[Axes, ...]:
    """The full table and all its margins, larger sets of variables first."""
    n = len(table.names)
    if n > MOST_VARIABLES:
        rule = f"named for a table of more than {MOST_VARIABLES} variables"
        raise InputError(must_be("sets", rule, "none"))
    return tuple(axes for size in range(n, -1, -1) for axes in combinations(range(n), size))


def statements(figures: Figures, hidden: BoolArray, rule: Rule) -> tuple[Statement, ...]:
    """What an intruder knows: shown figures exactly, hidden ones as far as the rule tells."""
    found, table = [total_statement(figures.table)], figures.table
    printed = zip(figures.names(), figures.counts.tolist(), range(figures.n_told), strict=False)
    for name, count, figure in printed:
        low, high = (rule.least, table.total) if hidden[figure] else (count, count)
        if not hidden[figure] or low > 0:
            told = f"{name} (hidden)" if hidden[figure] else name
            found.append(Statement(cells=figures.cells(figure), low=low, high=high, name=told))
    return tuple(found)
