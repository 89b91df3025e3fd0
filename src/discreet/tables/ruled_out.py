"""What cannot be, and everybody knows it: combinations that one variable rules out of another.

Where a district lies in one region, its figures by district are figures by district and region
with zeros for all other regions. So a set of variables that holds the determining one tells as much
as the set with the determined one added: that *closure* makes the zeros part of the margins, and
every exact method for margins holds as it stands. Only where no margin holds the determining
variable are the zeros statements of their own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.data.nesting import Nested, nested_pairs, possible_pairs
from discreet.data.table import Table
from discreet.numerics.arrays import BoolArray
from discreet.tables.groups import Learned
from discreet.tables.knowledge import Known

Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """Nested pairs of a table's variables; `possible` says which levels of each go together."""

    pairs: tuple[Nested, ...] = ()
    possible: Mapping[Nested, BoolArray] = field(default_factory=dict)

    def closed(self, axes: Iterable[int]) -> Axes:
        """The variables with all that they determine."""
        found = set(axes)
        while more := {p.determined for p in self.pairs if p.determining in found} - found:
            found |= more
        return tuple(sorted(found))

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


def ruled_out(table: Table, *, nesting: bool = True, secret: Sequence[int] = ()) -> RuledOut:
    """What the table's variables determine of each other; nothing without `nesting`.

    A `secret` variable is taken as determined by none: what others tell of it is news.
    """
    found = nested_pairs(table.cells, table.counts, table.sizes) if nesting else ()
    pairs = tuple(pair for pair in found if pair.determined not in secret)
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
    return RuledOut(pairs=pairs, possible=possible)


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
