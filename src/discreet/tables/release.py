"""What has gone out of a table, and what an intruder knows beside it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.request import Limits, Question
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.fiber.system.margins import Margins, maximal
from discreet.numerics.arrays import IntArray
from discreet.tables.knowledge import Known, parse_knowledge
from discreet.tables.printed import Printed, printed_small_counts
from discreet.tables.ruled_out import RuledOut, check_nested, ruled_out

MOST_SHOWN = 4096  # cells of a table that is looked at cell by cell
MOST_NAMED = 1000  # small cells of a larger one
NOTHING_NESTED = RuledOut()


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Margins of a table that are out and what else is known.

    `asked` are the sets of axes as they were named, none in another; `sets` those with the
    variables that they determine, over which the `margins` are. `nested` is what everybody knows of
    the variables, `zeros` what follows from it and from no margin. The table has the variables that
    something released or known tells of; `left_out` are the others.
    """

    table: Table
    asked: tuple[tuple[int, ...], ...]
    sets: tuple[tuple[int, ...], ...]
    margins: Margins
    known: tuple[Known, ...] = ()
    nested: RuledOut = NOTHING_NESTED
    zeros: tuple[Known, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Whether the table is small enough to look at every cell."""
        return self.table.n_cells <= MOST_SHOWN

    @property
    def hides(self) -> bool:
        """Whether some table of its variables is not printed whole."""
        return len(self.sets) > 1 or len(self.sets[0]) < len(self.table.names)

    @property
    def n_possible(self) -> int:
        """The cells of a table that is shown that no variable rules out."""
        return int(np.count_nonzero(self.nested.possible_cells(self.table.sizes)))

    def printed(self, small: int) -> tuple[Printed, ...]:
        """The small counts that stand in the margins as they go out."""
        return printed_small_counts(self.tables_out(), small)

    def tables_out(self) -> dict[tuple[int, ...], IntArray]:
        """The margins as they go out."""
        return {axes: self.table.margin(axes) for axes in self.asked}

    def with_nesting(self, nested: RuledOut) -> "Release":
        """The same release where other things are known of the variables."""
        return assembled(self.table, self.asked, nested, known=self.known, left_out=self.left_out)

    @property
    def told(self) -> set[int]:
        """The variables that a margin or something known tells of."""
        own = {axis for axes in self.sets for axis in axes}
        return own | {axis for known in self.known for axis in known.levels}

    def targets(self, names: Sequence[str] | None) -> tuple[int, ...] | None:
        """The variables of that name that something tells of; None where none was named."""
        if names is None:
            return None
        return self.table.axes([name for name in names if name in self.table.names])

    @property
    def informative(self) -> tuple[Known, ...]:
        """What is known besides the margins and does not follow from them at once."""
        return tuple(one for one in (*self.known, *self.zeros) if not self._follows(one))

    def beside(self) -> list[Statement]:
        """What is known besides the margins, as statements about the cells."""
        return [known.statement(self.table.sizes) for known in self.informative]

    def _follows(self, known: Known) -> bool:
        """Whether a margin holds the figure, or no margin allows more than the range does.

        Trusted: what is known is true of the table.
        """
        if any(known.levels.keys() <= set(axes) for axes in self.sets):
            return True
        most = min(self._entry(known, axes) for axes in self.sets)
        return known.low <= 0 and (known.high is None or known.high >= most)

    def _entry(self, known: Known, axes: tuple[int, ...]) -> int:
        """The persons in a margin who have those of the levels that it tells."""
        place = tuple(known.levels.get(axis, slice(None)) for axis in axes)
        return int(np.sum(self.margins.tables[axes][place]))

    def statements(self) -> list[Statement]:
        """Everything that is known of the cells."""
        return [*self.margins.statements(), *self.beside()]

    def system(self) -> System:
        """The constraints on the cells of a table that is shown."""
        return system_of(self.margins.n_cells, self.statements())

    def question(self, prior: LogLinearPrior, limits: Limits | None = None) -> Question:
        """What someone is asked who holds such a prior, of a table that is shown."""
        return Question(
            prior=prior,
            margins=self.margins,
            known=self.beside(),
            truth=self.table.dense(),
            limits=limits or Limits(),
        )

    def levels(self, small: int) -> IntArray:
        """The cells to look at (rows of levels): all, or the small ones of a larger table."""
        if self.is_shown:
            return np.argwhere(np.ones(self.table.sizes, dtype=np.bool_))
        return self.table.small_cells(small)[:MOST_NAMED]


def released(
    table: Table,
    sets: Iterable[Sequence[str]],
    knows: Sequence[str] = (),
    *,
    involved: Iterable[str] = (),
    targets: Sequence[str] = (),
    nesting: bool = True,
    nested: Sequence[str] = (),
) -> Release:
    """The margins of the table over the named variables, with what is known in words.

    The table is looked at by the variables that are released, known or `involved` otherwise: of
    what else it holds nothing is told, so that it can make no release look safer. One too large to
    be shown by these is looked at by what is released alone. What one variable determines of
    another an intruder may know, except of `targets`, unless `nesting` is false; `nested` are pairs
    of which the user confirms that everybody knows them.

    Checked: there is a margin, variables exist, and what is known is true of the table, since an
    audit of a table by something that is false of it means nothing.
    """
    named = [table.names_of(table.axes(names)) for names in sets]
    if not named:
        raise InputError(must_be("release", "at least one margin", "none"))
    own, left_out = _of_interest(table, named, knows, [*involved, *targets])
    known = tuple(parse_knowledge(text, own) for text in knows)
    for item in known:
        _check_truth(item, own)
    secret = [axis for axis, name in enumerate(own.names) if name in targets]
    check_nested(nested, table, targets)
    found = ruled_out(own, nesting=nesting, secret=secret, nested=nested)
    asked = maximal(own.axes(names) for names in named)
    return assembled(own, asked, found, known=known, left_out=left_out)


def assembled(
    table: Table,
    asked: tuple[tuple[int, ...], ...],
    nested: RuledOut,
    *,
    known: tuple[Known, ...],
    left_out: tuple[str, ...] = (),
) -> Release:
    """The margins with the variables that they determine, and what no margin says of nesting."""
    chosen = maximal(nested.closed(axes) for axes in asked)
    return Release(
        table=table,
        asked=asked,
        sets=chosen,
        margins=Margins(
            sizes=table.sizes,
            names=table.names,
            tables={axes: table.margin(axes) for axes in chosen},
        ),
        known=known,
        nested=nested,
        zeros=tuple(nested.zeros(table.names, chosen)),
        left_out=left_out,
    )


def _of_interest(
    table: Table, sets: Sequence[Sequence[str]], knows: Sequence[str], involved: Iterable[str]
) -> tuple[Table, tuple[str, ...]]:
    """The table by the variables that something tells of, and the names of the others."""
    out = {name for names in sets for name in names}
    told = {table.names[axis] for text in knows for axis in parse_knowledge(text, table).levels}
    more = {table.names[axis] for axis in table.axes(sorted(set(involved)))}
    wanted = out | told | more
    for kept in (wanted, out):
        axes = table.axes([name for name in table.names if name in kept])
        own = table if len(axes) == len(table.names) else table.over(axes)
        if own.n_cells <= MOST_SHOWN:
            break
        if told:
            rule = f"given for a table of at most {MOST_SHOWN:,} cells"
            raise InputError(must_be("knows", rule, f"{own.n_cells:,}"))
    return own, tuple(name for name in table.names if name not in own.names)


def _check_truth(known: Known, table: Table) -> None:
    here = np.ones(len(table.cells), dtype=np.bool_)
    for axis, level in known.levels.items():
        here &= table.cells[:, axis] == level
    count = int(table.counts[here].sum())
    if count < known.low or (known.high is not None and count > known.high):
        rule = "true of the table"
        raise InputError(must_be("knows", rule, f"{known.text!r}, which is not"))
