"""What cannot be, and everybody knows it: combinations that one variable rules out of another.

Where a district lies in one region, its figures by district are figures by district and region
with zeros for all other regions. So a set of variables that holds the determining one tells as much
as the set with the determined one added: that *closure* makes the zeros part of the margins, and
every exact method for margins holds as it stands. Only where no margin holds the determining
variable are the zeros statements of their own.

A nesting that nothing but the data shows may be a secret (each ward has one level of an illness).
Its combinations are ruled out, since an intruder may know it; but what a group shares by it is
excused as common knowledge only where the names of the levels show it, or the user confirms it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from discreet.data.label_nesting import shown_by_labels
from discreet.data.nesting import Nested, nested_pairs, possible_pairs
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray
from discreet.tables.groups import Learned
from discreet.tables.knowledge import Known

Axes = tuple[int, ...]


class Ground(StrEnum):
    """How it is known that one variable determines another."""

    LABELS = "labels"
    CONFIRMED = "confirmed"
    DATA = "data"  # alone: it may be news


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """Nested pairs of a table's variables; `possible` says which levels of each go together, and
    `grounds` how that is known."""

    pairs: tuple[Nested, ...] = ()
    possible: Mapping[Nested, BoolArray] = field(default_factory=dict)
    grounds: Mapping[Nested, Ground] = field(default_factory=dict)

    @property
    def unconfirmed(self) -> tuple[Nested, ...]:
        """The pairs that the data alone show."""
        return tuple(pair for pair in self.pairs if self.grounds[pair] is Ground.DATA)

    def confirmed(self) -> "RuledOut":
        """Without the pairs that the data alone show."""
        kept = tuple(pair for pair in self.pairs if self.grounds[pair] is not Ground.DATA)
        return RuledOut(
            pairs=kept, possible={pair: self.possible[pair] for pair in kept}, grounds=self.grounds
        )

    def closed(self, axes: Iterable[int]) -> Axes:
        """The variables with all that they determine."""
        found = set(axes)
        while more := {p.determined for p in self.pairs if p.determining in found} - found:
            found |= more
        return tuple(sorted(found))

    def within(self, axes: Axes) -> "RuledOut":
        """What some of the variables determine of each other, by position among them."""
        place = {axis: i for i, axis in enumerate(axes)}
        kept = {
            pair: Nested(place[pair.determining], place[pair.determined])
            for pair in self.pairs
            if {pair.determining, pair.determined} <= place.keys()
        }
        return RuledOut(
            pairs=tuple(kept.values()),
            possible={own: self.possible[pair] for pair, own in kept.items()},
            grounds={own: self.grounds[pair] for pair, own in kept.items()},
        )

    def excludes(self, levels: Sequence[int]) -> bool:
        """Whether a cell cannot be, by its level of each variable."""
        return any(
            not possible[levels[pair.determining], levels[pair.determined]]
            for pair, possible in self.possible.items()
        )

    def possible_cells(self, sizes: Sequence[int], axes: Axes | None = None) -> BoolArray:
        """Which entries of the table of some variables, all of them unless named, can be."""
        own = tuple(range(len(sizes))) if axes is None else axes
        found = np.ones([sizes[axis] for axis in own], dtype=np.bool_)
        for pair, together in self.possible.items():
            both = (pair.determining, pair.determined)
            if not set(both) <= set(own):
                continue
            places = [own.index(axis) for axis in both]
            wide = together if places[0] < places[1] else together.T
            found &= np.expand_dims(wide, tuple(i for i in range(len(own)) if i not in places))
        return found

    def n_combinations(self, pair: Nested) -> int:
        """How many combinations of the two variables' levels cannot be."""
        return int(np.count_nonzero(~self.possible[pair]))

    def zeros(self, names: Sequence[str], sets: Iterable[Axes]) -> Iterator[Known]:
        """What cannot be and no closed set says: nobody has these levels of two variables."""
        told = list(map(set, sets))
        for pair in self.pairs:
            both = (pair.determining, pair.determined)
            if any(set(both) <= own for own in told):
                continue
            text = f"each {names[both[0]]} lies in one {names[both[1]]}"
            for place in np.argwhere(~self.possible[pair]).tolist():
                yield Known(levels=dict(zip(both, place, strict=True)), low=0, high=0, text=text)


def ruled_out(
    table: Table,
    *,
    nesting: bool = True,
    secret: Sequence[int] = (),
    nested: Sequence[str] = (),
) -> RuledOut:
    """What the table's variables determine of each other; nothing without `nesting`.

    `nested` are pairs that the user confirms, as 'district:region'. A `secret` variable is taken as
    determined by none: what others tell of it is news. Of what it determines itself, only what is
    known beyond the data is taken.

    Trusted: what is confirmed is true of the table (`check_nested`). A pair with a variable that
    the table does not have is passed over: nothing tells of it.
    """
    if not nesting:
        return RuledOut()
    confirmed = [pair for text in nested if (pair := _named(text, table)) is not None]
    found = (*nested_pairs(table.cells, table.counts, table.sizes), *confirmed)
    grounds = _grounds(table, sorted(set(found)), confirmed)
    pairs = tuple(
        pair
        for pair, ground in grounds.items()
        if pair.determined not in secret
        and (ground is not Ground.DATA or pair.determining not in secret)
    )
    empty = table.cells[:0] if table.empty is None else table.empty
    possible = {
        pair: possible_pairs(
            table.cells[:, pair.determining],
            table.cells[:, pair.determined],
            (table.sizes[pair.determining], table.sizes[pair.determined]),
            (empty[:, pair.determining], empty[:, pair.determined]),
        )
        for pair in pairs
    }
    return RuledOut(pairs=pairs, possible=possible, grounds=grounds)


def check_nesting(nesting: bool, nested: Sequence[str]) -> None:
    """Raises InputError where pairs are confirmed although nothing is to be nested."""
    if nested and not nesting:
        raise InputError(must_be("nested", "left out where nesting is off", repr(nested[0])))


def check_nested(nested: Sequence[str], table: Table, targets: Sequence[str]) -> None:
    """Raises InputError for a confirmed pair that is none of the table, or is not true of it, or
    whose determined variable is to be kept secret."""
    for text in nested:
        pair = _named(text, table)
        if pair is None:
            rule = "two variables of the table, as in 'district:region'"
            raise InputError(must_be("nested", rule, repr(text)))
        _check_true(pair, table)
        if table.names[pair.determined] in targets:
            rule = "about no variable that is secret (targets)"
            raise InputError(must_be("nested", rule, repr(text)))


def told_of(nested: Sequence[str], table: Table) -> tuple[str, ...]:
    """The confirmed pairs whose variables the table has."""
    return tuple(text for text in nested if _named(text, table) is not None)


def _named(text: str, table: Table) -> Nested | None:
    """The pair that a text names; names may hold colons themselves."""
    parts = text.split(":")
    for i in range(1, len(parts)):
        first, second = ":".join(parts[:i]).strip(), ":".join(parts[i:]).strip()
        if first != second and {first, second} <= set(table.names):
            return Nested(table.names.index(first), table.names.index(second))
    return None


def _check_true(pair: Nested, table: Table) -> None:
    together = np.unique(table.cells[:, [pair.determining, pair.determined]], axis=0)
    levels, times = np.unique(together[:, 0], return_counts=True)
    if (times > 1).any():
        first, second = table.names_of((pair.determining, pair.determined))
        label = table.levels[pair.determining][int(levels[np.argmax(times > 1)])]
        rule = f"true of the table (each {first} in one {second})"
        got = f"'{first}:{second}', but {first} = {label} is in several"
        raise InputError(must_be("nested", rule, got))


def _grounds(
    table: Table, pairs: Sequence[Nested], confirmed: Sequence[Nested]
) -> dict[Nested, Ground]:
    """How each pair is known; what follows from two that are known beyond the data is known too."""
    found = dict.fromkeys(pairs, Ground.DATA)
    for pair in pairs:
        axes = [pair.determining, pair.determined]
        names = [table.levels[axis] for axis in axes]
        together = np.unique(table.cells[:, axes], axis=0).tolist()
        if shown_by_labels((names[0][a], names[1][b]) for a, b in together):
            found[pair] = Ground.LABELS
    found |= dict.fromkeys(confirmed, Ground.CONFIRMED)
    known = {pair for pair, ground in found.items() if ground is not Ground.DATA}
    while more := _composed(known) - known:
        known |= more
        found |= dict.fromkeys(more, Ground.CONFIRMED if confirmed else Ground.LABELS)
    return dict(sorted(found.items()))


def _composed(pairs: Iterable[Nested]) -> set[Nested]:
    """What follows from two of the pairs: a ward lies in the region of its district."""
    every = list(pairs)
    return {
        Nested(one.determining, two.determined)
        for one in every
        for two in every
        if one.determined == two.determining and one.determining != two.determined
    }


def is_common(learned: Learned, table: Table, out: RuledOut, known: Sequence[Known]) -> bool:
    """Whether what would be learned of a group follows from what everybody knows anyway.

    That is a variable with one level, what one variable determines of another, and combinations
    that nobody has, as far as each by itself rules out the target's other levels.
    """
    group = dict(zip(learned.group, learned.group_levels, strict=True))
    left = np.ones(table.sizes[learned.target], dtype=np.bool_)
    for pair, possible in out.possible.items():
        if pair.determined == learned.target and pair.determining in group:
            left &= possible[group[pair.determining]]
        if pair.determining == learned.target and pair.determined in group:
            left &= possible[:, group[pair.determined]]
    for zero in known:
        level = zero.levels.get(learned.target)
        others = {axis: own for axis, own in zero.levels.items() if axis != learned.target}
        if zero.high == 0 and level is not None and others.items() <= group.items():
            left[level] = False
    return int(np.count_nonzero(left)) <= 1
