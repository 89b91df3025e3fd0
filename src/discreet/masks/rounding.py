"""Figures rounded to multiples of a base: to the nearest one, or at random without bias.

A count x lies between two multiples of the base b. Conventional rounding takes the nearer one, the
upper one where both are as near. Random rounding takes the upper one with probability (x mod b)/b,
so that the published figure is x on average; it keeps multiples as they are.

An intruder who reads p knows a range of x. After random rounding he knows more, since

    Pr(p | x) = 1 − |x − p| / b    where |x − p| < b,

and p is the more probable the nearer it is. Figures are rounded independently of each other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import numpy as np

from discreet.belief.factors import Factor, product_of
from discreet.belief.models.proportional_fitting import fit_margins
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import LARGEST, Statement
from discreet.fiber.system.margins import maximal
from discreet.masks.contract import (
    Axes,
    Masked,
    PublishedTable,
    checked_counts,
    chosen_sets,
    entry_groups,
    entry_names,
    margin_sum,
    named_sets,
    sets_text,
    total_statement,
)
from discreet.numerics.arrays import FloatArray, IntArray

NAME = "rounding"
LARGEST_BASE = 10_000
MOST_MULTIPLES = 10  # of the base that a range may reach beyond its count
FIT_ROUNDS = 200


class Subtables(StrEnum):
    """Where the figures of a table come from that lies in a larger one which goes out too."""

    OWN = "own"  # each is rounded for itself, and need not add up
    SUMMED = "summed"  # added up from the rounded figures of the larger one, and tells nothing new


@dataclass(frozen=True, slots=True)
class Rounded:
    """The rounded figures of one table."""

    axes: Axes
    counts: IntArray


def round_conventionally(
    table: Table,
    *,
    base: int,
    sets: Sequence[Sequence[str]] | None = None,
    sums: str = Subtables.OWN,
    total_known: bool = True,
) -> Masked:
    """Each figure at the nearest multiple of the base, halves upward.

    `sets` name the tables that go out (the full table where left out). `total_known` says whether
    an intruder knows the number of persons, as dobra 4 takes it. The publication is a function of
    the table whose every value is told by the ranges, so that there is no likelihood.

    Checked: the base is a whole number from 2 to 10,000, names are variables of the table.
    """
    asked = _asked(table, base, sets, sums)
    counts = checked_room(table, base)
    rounded = [Rounded(axes, nearest(margin_sum(counts, axes), base)) for axes in asked.rounded]
    below, above = base // 2, (base - 1) // 2
    known = _ranges(table, rounded, below, above)
    return Masked(
        mask=NAME,
        title=f"rounded to {base}{_of(table, asked.sets)}",
        source=table,
        published=_published(rounded, asked.sets),
        known=tuple(_with_total(table, known, total_known)),
        estimate=estimate_from(table, rounded, total_known=total_known),
        effect=_effect(table, asked, f"the nearest multiple of {base}, halves upward"),
        parameters=_parameters(table, asked, random=False, total_known=total_known),
    )


def round_at_random(
    table: Table,
    *,
    base: int,
    seed: int,
    sets: Sequence[Sequence[str]] | None = None,
    sums: str = Subtables.OWN,
    total_known: bool = True,
) -> Masked:
    """Each figure at one of the two multiples around it, drawn so that its mean is the count.

    As `round_conventionally`, with a likelihood: the intruder is taken to know how it was done, but
    neither the seed nor the draws.
    """
    asked = _asked(table, base, sets, sums)
    counts, rng = checked_room(table, base), np.random.default_rng(checked_seed(seed))
    rounded = [
        Rounded(axes, at_random(margin_sum(counts, axes), base, rng=rng)) for axes in asked.rounded
    ]
    factors = _factors(table, rounded, base)
    known = _ranges(table, rounded, base - 1, base - 1)
    return Masked(
        mask=NAME,
        title=f"rounded at random to {base}{_of(table, asked.sets)}",
        source=table,
        published=_published(rounded, asked.sets),
        known=tuple(_with_total(table, known, total_known)),
        estimate=estimate_from(table, rounded, total_known=total_known),
        effect=_effect(table, asked, f"a multiple of {base} around it, unbiased at random"),
        parameters=_parameters(table, asked, random=True, total_known=total_known),
        seed=seed,
        likelihood=product_of(factors),
        factors=factors,
    )


def nearest(counts: IntArray, base: int) -> IntArray:
    """Each count at the nearest multiple of the base, halves upward."""
    return np.asarray((counts + base // 2) // base * base, dtype=np.int64)


def at_random(counts: IntArray, base: int, *, rng: np.random.Generator) -> IntArray:
    """Each count at the multiple below or above, above with probability (count mod base)/base."""
    counts = np.asarray(counts)
    up = rng.integers(0, base, counts.shape) < counts % base
    return np.asarray((counts // base + up) * base, dtype=np.int64)


def log_random_rounding(distance: IntArray, base: int) -> FloatArray:
    """log Pr(published | count) by their distance: log(1 − |distance|/base), −inf from base on."""
    share = np.maximum(base - np.abs(distance), 0) / base
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(share))


def checked_base(base: int) -> int:
    """The base, if figures can be rounded to it."""
    whole = isinstance(base, int | np.integer) and not isinstance(base, bool)
    if not whole or not 2 <= base <= LARGEST_BASE:
        raise InputError(must_be("base", f"a whole number from 2 to {LARGEST_BASE:,}", base))
    return int(base)


def checked_room(table: Table, base: int) -> IntArray:
    """The full table as an array, if ranges around its rounded figures can be held exactly too."""
    counts = checked_counts(table)
    if table.total + MOST_MULTIPLES * base >= LARGEST:
        rule = f"of fewer than 2**53 persons less {MOST_MULTIPLES} times the base"
        raise InputError(must_be("table", rule, "more"))
    return counts


def checked_seed(seed: int) -> int:
    """The seed, if a generator can start from it."""
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or seed < 0:
        raise InputError(must_be("seed", "a whole number, at least 0", seed))
    return int(seed)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be rounded: the tables that go out, and those whose figures are rounded."""

    base: int
    sets: tuple[Axes, ...]
    sums: Subtables

    @property
    def rounded(self) -> tuple[Axes, ...]:
        return self.sets if self.sums is Subtables.OWN else maximal(self.sets)


def _asked(table: Table, base: int, sets: Sequence[Sequence[str]] | None, sums: str) -> _Asked:
    if sums not in list(Subtables):
        raise InputError(must_be("sums", f"one of {', '.join(Subtables)}", repr(sums)))
    return _Asked(checked_base(base), chosen_sets(table, sets), Subtables(sums))


def _published(rounded: Sequence[Rounded], sets: Sequence[Axes]) -> tuple[PublishedTable, ...]:
    """The tables that go out; those that were not rounded themselves are added up."""
    own = {part.axes: part.counts for part in rounded}
    found = []
    for axes in sets:
        home = axes if axes in own else next(o for o in own if set(axes) <= set(o))
        counts = margin_sum(own[home], tuple(home.index(axis) for axis in axes))
        found.append(PublishedTable(axes=axes, counts=counts))
    return tuple(found)


def _entries(table: Table, rounded: Sequence[Rounded]) -> Iterator[tuple[IntArray, int, str]]:
    """For each rounded figure the cells that it sums, the figure, and its name."""
    for part in rounded:
        groups, names = entry_groups(table, part.axes), entry_names(table, part.axes)
        yield from zip(groups, part.counts.ravel().tolist(), names, strict=True)


def _ranges(table: Table, rounded: Sequence[Rounded], below: int, above: int) -> list[Statement]:
    """For each rounded figure the range of counts that it stands for."""
    return [
        Statement(
            cells=cells, low=max(0, figure - below), high=figure + above, name=f"rounded {name}"
        )
        for cells, figure, name in _entries(table, rounded)
    ]


def _factors(table: Table, rounded: Sequence[Rounded], base: int) -> tuple[Factor, ...]:
    """For each figure rounded at random its probability under every count."""
    triangle = log_random_rounding(np.arange(1 - base, base), base)
    return tuple(
        Factor(
            cells=cells,
            low=max(0, figure - base + 1),
            log_probability=triangle[max(0, base - 1 - figure) :],
            name=f"rounded {name}",
        )
        for cells, figure, name in _entries(table, rounded)
    )


def _with_total(table: Table, known: list[Statement], total_known: bool) -> list[Statement]:
    return [*known, total_statement(table)] if total_known else known


def estimate_from(
    table: Table, rounded: Sequence[Rounded], *, total_known: bool = True
) -> FloatArray:
    """The published full table, or a table fitted to margins that need not agree.

    Such margins are first scaled to one total, the true one where it is known, else the mean of
    theirs; then proportional fitting goes round them some 200 times at most, since it settles only
    where they agree.
    """
    every = tuple(range(len(table.names)))
    full = next((part.counts for part in rounded if part.axes == every), None)
    if full is not None:
        return np.array(full, dtype=np.float64).reshape(table.sizes)
    totals = [float(table.total)] if total_known else [float(p.counts.sum()) for p in rounded]
    total = sum(totals) / len(totals)
    if total == 0:
        return np.zeros(table.sizes)
    wanted = {part.axes: _scaled(part.counts, total) for part in rounded}
    return np.array(fit_margins(wanted, table.sizes, most_rounds=FIT_ROUNDS).fitted)


def _scaled(counts: IntArray, total: float) -> FloatArray:
    """A rounded margin scaled to a total; an even one where every figure was rounded to zero."""
    whole = int(counts.sum())
    if whole == 0:
        return np.full(counts.shape, total / counts.size)
    return np.asarray(counts * (total / whole), dtype=np.float64)


def _of(table: Table, sets: Sequence[Axes]) -> str:
    full = len(sets) == 1 and len(sets[0]) == len(table.names)
    return "" if full else f" {sets_text(table, sets)}"


def _effect(table: Table, asked: _Asked, how: str) -> str:
    adding = "; figures need not add up across tables"
    if set(asked.rounded) != set(asked.sets):
        adding = "; smaller tables are added up from the rounded figures of larger ones"
    if len(asked.sets) == 1:
        adding = ""
    tables = sets_text(table, asked.sets)
    return f"Every figure of {tables} is replaced by {how}{adding}."


def _parameters(
    table: Table, asked: _Asked, *, random: bool, total_known: bool
) -> MappingProxyType[str, int | str | bool | tuple[tuple[str, ...], ...]]:
    return MappingProxyType(
        {
            "base": asked.base,
            "random": random,
            "sets": named_sets(table, asked.sets),
            "sums": asked.sums.value,
            "total_known": total_known,
        }
    )
