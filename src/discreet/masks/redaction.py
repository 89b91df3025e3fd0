"""Small figures are removed, or all shown as one, and the others rounded: the rule of many offices.

Each figure is treated for itself, by a function f of its count alone: counts from 1 to `most` are
removed or `shown` as one figure, zeros kept or treated like them, and all others go to the nearest
multiple of `base`, halves upward. Whoever knows the rule reads off each figure the counts that lead
to it, and off a removed one that its count is small. These ranges are all that the publication
tells, since it is a function of the table and each range holds exactly the counts with that figure:
so parameters under which counts apart lead to one figure are refused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import numpy as np

from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement
from discreet.masks.contract import (
    Axes,
    Masked,
    Parameter,
    PublishedTable,
    chosen_sets,
    entry_groups,
    entry_names,
    margin_sum,
    named_sets,
    sets_text,
    total_statement,
)
from discreet.masks.rounding import (
    LARGEST_BASE,
    Rounded,
    checked_base,
    checked_room,
    estimate_from,
    nearest,
)
from discreet.numerics.arrays import BoolArray, IntArray

NAME = "redaction"
REMOVED = -1  # stands for a figure that is not there


class Zeros(StrEnum):
    """What becomes of empty cells."""

    KEPT = "kept"
    REDACTED = "redacted"  # treated like small counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How a count becomes a figure: see the module."""

    most: int
    base: int | None = None
    shown: int | None = None
    zeros: str = Zeros.KEPT

    def __post_init__(self) -> None:
        _check_whole("most", self.most, 1)
        if self.base is not None:
            checked_base(self.base)
        if self.shown is not None:
            _check_whole("shown", self.shown, 0)
        if self.zeros not in list(Zeros):
            raise InputError(must_be("zeros", f"one of {', '.join(Zeros)}", repr(self.zeros)))
        self._check_ranges()

    def _check_ranges(self) -> None:
        """Every figure stands for counts without a gap."""
        figures = self.figures(np.arange(self.reach + 1))
        known, first, number = np.unique(figures, return_index=True, return_counts=True)
        last = self.reach - np.unique(figures[::-1], return_index=True)[1]
        apart = np.flatnonzero(last - first + 1 != number)
        if len(apart):
            figure = int(known[apart[0]])
            what = "a removed figure" if figure == REMOVED else f"the figure {figure}"
            rule = "such that each figure stands for counts without a gap"
            got = f"{what} for counts apart"
            raise InputError(must_be("most, base and shown", rule, got))

    @property
    def reach(self) -> int:
        """A count from which on figures are rounded alone, and stand for nothing below."""
        return self.most + (self.shown or 0) + 2 * (self.base or 1)

    @property
    def least(self) -> int:
        """The least count that is treated as small."""
        return 0 if self.zeros == Zeros.REDACTED else 1

    def figures(self, counts: IntArray) -> IntArray:
        """What each count is published as; −1 where it is removed."""
        plain = counts if self.base is None else nearest(counts, self.base)
        plain = np.where((counts == 0) & (self.least > 0), 0, plain)
        small = (counts >= self.least) & (counts <= self.most)
        instead = REMOVED if self.shown is None else self.shown
        return np.asarray(np.where(small, instead, plain), dtype=np.int64)

    def range_of(self, figure: int) -> tuple[int, int]:
        """The counts that are published as this figure, the least and the greatest."""
        room = 2 * (self.base or 1)
        first = 0 if figure <= self.reach else figure - room
        counts = np.arange(first, max(figure, self.reach) + room + 1)
        same = counts[self.figures(counts) == figure]
        return int(same[0]), int(same[-1])

    def is_exact(self, figures: IntArray) -> BoolArray:
        """Which figures tell their count; −1 stands for one that is removed."""
        known = [figure for figure in np.unique(figures).tolist() if figure != REMOVED]
        alone = [one for one in known if len(set(self.range_of(one))) == 1]
        return np.asarray(np.isin(figures, alone))


def redact(
    table: Table,
    *,
    rule: Rule,
    sets: Sequence[Sequence[str]] | None = None,
    total_known: bool = True,
) -> Masked:
    """The named tables (the full one where none is named), each figure by the rule.

    `total_known` says whether an intruder knows the number of persons, as dobra 4 takes it. He is
    taken to know the rule. A user who takes the publication at its word puts the middle of the
    small counts where a figure is removed.

    Checked: names are variables of the table, and the parameters make sense together.
    """
    counts, chosen = checked_room(table, rule.base or 1), chosen_sets(table, sets)
    made = {axes: rule.figures(margin_sum(counts, axes)) for axes in chosen}
    known = list(_ranges(table, made, rule))
    middle = (rule.least + rule.most + 1) // 2
    read = [Rounded(axes, np.where(own == REMOVED, middle, own)) for axes, own in made.items()]
    return Masked(
        mask=NAME,
        title=_title(table, chosen, rule),
        source=table,
        published=tuple(_published(axes, own) for axes, own in made.items()),
        known=tuple([*known, total_statement(table)] if total_known else known),
        estimate=estimate_from(table, read, total_known=total_known),
        effect=_effect(table, chosen, made, rule),
        parameters=MappingProxyType(_parameters(table, chosen, rule, total_known)),
    )


def rule_of(masked: Masked) -> Rule:
    """The rule that a publication was made by."""
    names = ("most", "base", "shown", "zeros")
    return Rule(**{name: masked.parameters[name] for name in names})  # type: ignore[arg-type]


def _published(axes: Axes, figures: IntArray) -> PublishedTable:
    there = np.asarray(figures != REMOVED)
    shown = None if there.all() else there
    return PublishedTable(axes=axes, counts=np.where(there, figures, 0), shown=shown)


def _ranges(table: Table, made: dict[Axes, IntArray], rule: Rule) -> Iterator[Statement]:
    """For each figure the range of counts that it stands for."""
    ranges: dict[int, tuple[int, int]] = {}
    for axes, figures in made.items():
        groups, names = entry_groups(table, axes), entry_names(table, axes)
        for cells, figure, name in zip(groups, figures.ravel().tolist(), names, strict=True):
            if figure not in ranges:
                ranges[figure] = rule.range_of(figure)
            low, high = ranges[figure]
            how = "removed" if figure == REMOVED else "redacted"
            yield Statement(cells=cells, low=low, high=high, name=f"{name} ({how})")


def _check_whole(name: str, value: object, least: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not least <= value <= LARGEST_BASE:  # type: ignore[operator]
        rule = f"a whole number from {least} to {LARGEST_BASE:,}"
        raise InputError(must_be(name, rule, value))


def _small_text(rule: Rule) -> str:
    return f"counts {rule.least} to {rule.most}" if rule.most > rule.least else "counts of 1"


def _title(table: Table, sets: Sequence[Axes], rule: Rule) -> str:
    how = "removed" if rule.shown is None else f"shown as {rule.shown}"
    others = "" if rule.base is None else f", others rounded to {rule.base}"
    full = len(sets) == 1 and len(sets[0]) == len(table.names)
    return f"{_small_text(rule)} {how}{others}{'' if full else ' ' + sets_text(table, sets)}"


def _effect(table: Table, sets: Sequence[Axes], made: dict[Axes, IntArray], rule: Rule) -> str:
    n = sum(own.size for own in made.values())
    gone = sum(int(np.count_nonzero(own == REMOVED)) for own in made.values())
    how = f"removed ({gone:,} of {n:,})" if rule.shown is None else f"shown as {rule.shown}"
    others = "shown as they are"
    if rule.base is not None:
        others = f"replaced by the nearest multiple of {rule.base}, halves upward"
    adding = "; figures need not add up" if rule.base is not None or rule.shown is not None else ""
    return f"In {sets_text(table, sets)} {_small_text(rule)} are {how}, others {others}{adding}."


def _parameters(
    table: Table, sets: Sequence[Axes], rule: Rule, total_known: bool
) -> dict[str, Parameter]:
    return {
        "most": rule.most,
        "base": rule.base,
        "shown": rule.shown,
        "zeros": str(rule.zeros),
        "sets": named_sets(table, sets),
        "total_known": total_known,
    }
