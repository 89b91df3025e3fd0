"""What a mask makes of a table, and what that tells an intruder.

The fiber and the posterior apply to every mask in the same way: `known` are statements about the
cells of the hidden table, true of it and of every table that could have led to the same
publication; `likelihood` is how probable the publication is under each of them. A mask that is a
function of the statements alone (margins, rounding to the nearest multiple) has no likelihood: then
the intruder's distribution is his prior restricted to the fiber. What the publication may tell
beyond both is said in `beyond`, never passed over; where it can be found by running the mask on
other tables, `replay` does that (see `choice_belief`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from discreet.belief.factors import Factor, LogLikelihood
from discreet.data.layout import Layout
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.bounds.contract import Bounds
from discreet.fiber.system.linear_system import LARGEST, Statement, System, system_of
from discreet.fiber.system.margins import Margins
from discreet.figures import Unavailable
from discreet.masks.replay import Replay
from discreet.notebooks import ShownInNotebooks
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only

Axes = tuple[int, ...]
Parameter = int | float | str | bool | tuple[tuple[str, ...], ...] | None
MOST_CELLS = 2**20  # of a table whose cells are all written out
MOST_NAMED = 8  # sets of variables in a title


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """One table that goes out: its variables and its figures.

    `shown` is False where a figure is suppressed; `counts` is 0 there and must not be read.
    `layout` names the categories where they are not the levels of the data.
    """

    axes: Axes
    counts: IntArray
    shown: BoolArray | None = None  # None: all are
    layout: Layout | None = None

    def __post_init__(self) -> None:
        read_only(self.counts)
        if self.shown is not None:
            read_only(self.shown)


class Guarantee(StrEnum):
    """What is proved of every figure that a suppression protects, each more than the one before."""

    NOT_DERIVABLE = "not-derivable"  # no adding and subtracting of shown figures gives its value
    BOUNDS = "bounds"  # tables with fractions are found in which it lies as far apart as asked
    WHOLE = "whole"  # tables in whole numbers are

    @property
    def words(self) -> str:
        """It in a sentence."""
        return _GUARANTEES[self]


_GUARANTEES = {
    Guarantee.NOT_DERIVABLE: (
        "No sensitive figure follows from what is shown by adding and subtracting; what can be "
        "said of it by bounds may be closer than asked."
    ),
    Guarantee.BOUNDS: (
        "Bounds of each sensitive figure over tables with fractions are as wide as asked; those "
        "in whole numbers may be closer."
    ),
    Guarantee.WHOLE: (
        "Each sensitive figure has tables in whole numbers, consistent with all that is shown, "
        "that lie as far apart as asked (proved)."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """What a suppression leaves open of every figure that it protects, and how that is known.

    `names` are the figures; `bounds` are theirs, over all tables consistent with what is shown.
    `attained_low` and `attained_high` are figures of tables that were found and checked: an
    interval is at least so wide, whatever the proofs of the bounds. `guarantee` is what is proved
    of all of them, None where it was not judged.
    """

    names: tuple[str, ...]
    counts: IntArray
    bounds: Bounds
    attained_low: IntArray
    attained_high: IntArray
    guarantee: Guarantee | None = None

    def __post_init__(self) -> None:
        for array in (self.counts, self.attained_low, self.attained_high):
            read_only(array)


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked(ShownInNotebooks):
    """What a mask made of a table.

    `mask` is the name of the method, `title` what to call this one in a list, `parameters` and
    `seed` all that is needed to make it again. `estimate` is what a user who takes the publication
    at its word would put into each cell of the full table (an array of its shape), which is what
    utility is measured on; `effect` says in words what was done to the data. All but `published`
    and `figures` is for the agency: whoever knows the seed can undo what chance did, and `effect`
    may count what is hidden.

    `margins` are set where `known` says what these margins say and nothing else, so that closed
    forms apply. `factors` are the likelihood figure by figure, where it is such a product; where it
    is none, `guide` may hold factors that come near it, from which tables are drawn to be weighed.
    `figures` are what goes out beside tables, a line each. `variance` is that between several
    imputations of each cell, where cells are shown. `protection` is the proof of a suppression.
    `replay` is set where the choice of the publication tells something that neither `known` nor
    `likelihood` holds; Unavailable where that cannot be found.
    """

    mask: str
    title: str
    source: Table
    published: tuple[PublishedTable, ...]
    known: tuple[Statement, ...]
    estimate: FloatArray
    effect: str
    parameters: Mapping[str, Parameter] = field(default_factory=lambda: MappingProxyType({}))
    seed: int | None = None
    likelihood: LogLikelihood | None = None
    factors: tuple[Factor, ...] | None = None
    guide: tuple[Factor, ...] = ()
    margins: Margins | None = None
    figures: tuple[str, ...] = ()
    variance: FloatArray | None = None
    protection: Protection | None = None
    replay: Replay | Unavailable | None = field(default=None, compare=False, repr=False)
    beyond: str = ""

    def __post_init__(self) -> None:
        read_only(self.estimate)
        if self.variance is not None:
            read_only(self.variance)

    def system(self) -> System:
        """Everything an intruder knows for certain of the cells of the table."""
        return system_of(self.source.n_cells, self.known)

    def record(self) -> dict[str, Any]:
        """All that is needed to make it again from the same table, ready to be written as JSON."""
        plain = {name: _plain(value) for name, value in self.parameters.items()}
        seed = None if self.seed is None else int(self.seed)
        return {"mask": self.mask, "parameters": plain, "seed": seed}


def _plain(value: Parameter) -> Any:
    if isinstance(value, tuple):
        return [list(group) for group in value]
    return value.item() if isinstance(value, np.generic) else value


def checked_counts(table: Table) -> IntArray:
    """The full table as an array, if a mask can be put on it.

    Raises InputError for one without persons, with more than 2**20 cells, or with a total that
    solvers cannot hold exactly.
    """
    if table.n_cells > MOST_CELLS:
        rule = f"of at most {MOST_CELLS:,} cells"
        remedy = "take fewer variables, or broader levels"
        raise InputError(must_be("table", rule, f"{table.n_cells:,}", remedy=remedy))
    if table.n_cells == 0 or not len(table.counts):
        raise InputError(must_be("table", "of at least one person", "an empty one"))
    if sum(table.counts.tolist()) >= LARGEST:
        raise InputError(must_be("table", "of fewer than 2**53 persons", "more"))
    return table.dense()


def entry_groups(table: Table, axes: Axes) -> IntArray:
    """The cells (C order) that each entry of a margin sums, one row an entry."""
    cells = np.arange(table.n_cells, dtype=np.int64).reshape(table.sizes)
    others = [axis for axis in range(len(table.sizes)) if axis not in axes]
    entries = int(np.prod([table.sizes[axis] for axis in axes], dtype=np.int64))
    return cells.transpose([*axes, *others]).reshape(entries, -1)


def entry_name(table: Table, axes: Axes, entry: int) -> str:
    """What to call an entry of a margin: its variables with their levels."""
    if not axes:
        return "total"
    levels = np.unravel_index(entry, tuple(table.sizes[axis] for axis in axes))
    pairs = zip(axes, levels, strict=True)
    return ", ".join(f"{table.names[a]}={table.levels[a][int(v)]}" for a, v in pairs)


def entry_names(table: Table, axes: Axes) -> list[str]:
    """What to call every entry of a margin, in C order."""
    if not axes:
        return ["total"]
    labels = [[f"{table.names[a]}={level}" for level in table.levels[a]] for a in axes]
    return [", ".join(parts) for parts in product(*labels)]


def total_statement(table: Table) -> Statement:
    """The number of persons, which users are taken to know (dobra 4)."""
    cells = np.arange(table.n_cells, dtype=np.int64)
    return Statement(cells=cells, low=table.total, high=table.total, name="total")


def chosen_sets(table: Table, sets: Sequence[Sequence[str]] | None) -> tuple[Axes, ...]:
    """The named sets of variables by position, each once, the full table where none is named.

    Raises InputError for a name that the table does not have, naming the nearest one.
    """
    if sets is None:
        return (tuple(range(len(table.names))),)
    if isinstance(sets, str) or any(isinstance(group, str) for group in sets):
        raise InputError(must_be("sets", "lists of names of variables", "a text"))
    if not all(isinstance(name, str) for group in sets for name in group):
        raise InputError(must_be("sets", "lists of names of variables", "another"))
    found = dict.fromkeys(table.axes(list(group)) for group in sets)
    if not found:
        raise InputError(must_be("sets", "at least one set of variables", "none"))
    return tuple(found)


def named_sets(table: Table, sets: Sequence[Axes]) -> tuple[tuple[str, ...], ...]:
    """Sets of variables by their names."""
    return tuple(tuple(table.names[axis] for axis in axes) for axes in sets)


def sets_text(table: Table, sets: Sequence[Axes]) -> str:
    """Sets of variables as people write them: `[race income][income gender]`."""
    return "".join(
        f"[{' '.join(group)}]" if group else "[total]" for group in named_sets(table, sets)
    )


def tables_text(table: Table, sets: Sequence[Axes]) -> str:
    """Sets of variables in few words, however many there are."""
    if len(sets) == 2 ** len(table.names) > 2:
        return "the full table with all its margins"
    more = f" and {len(sets) - MOST_NAMED} more tables" if len(sets) > MOST_NAMED else ""
    return sets_text(table, sets[:MOST_NAMED]) + more


def margin_sum(counts: IntArray, axes: Axes) -> IntArray:
    """An array summed over all but some of its axes."""
    return np.asarray(counts.sum(axis=tuple(i for i in range(counts.ndim) if i not in set(axes))))
