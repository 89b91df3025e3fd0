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

MOST_SHOWN = 4096  # cells of a table that is looked at cell by cell
MOST_NAMED = 1000  # small cells of a larger one


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Margins of a table that are out (sets of axes, none in another) and what is known beside."""

    table: Table
    sets: tuple[tuple[int, ...], ...]
    margins: Margins
    known: tuple[Known, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Whether the table is small enough to look at every cell."""
        return self.table.n_cells <= MOST_SHOWN

    @property
    def informative(self) -> tuple[Known, ...]:
        """What is known beside the margins and does not follow from them at once."""
        return tuple(known for known in self.known if not self._follows(known))

    def beside(self) -> list[Statement]:
        """What is known beside the margins, as statements about the cells."""
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


def released(table: Table, sets: Iterable[Sequence[str]], knows: Sequence[str] = ()) -> Release:
    """The margins of the table over the named variables, with what is known in words.

    Checked: there is a margin, variables exist, and what is known is true of the table, since an
    audit of a table by something that is false of it means nothing.
    """
    chosen = maximal(table.axes(names) for names in sets)
    if not chosen:
        raise InputError(must_be("release", "at least one margin", "none"))
    known = tuple(parse_knowledge(text, table) for text in knows)
    for item in known:
        _check_truth(item, table)
    margins = Margins(
        sizes=table.sizes,
        names=table.names,
        tables={axes: table.margin(axes) for axes in chosen},
    )
    found = Release(table=table, sets=chosen, margins=margins, known=known)
    if known and not found.is_shown:
        rule = f"given for a table of at most {MOST_SHOWN:,} cells"
        raise InputError(must_be("knows", rule, f"{table.n_cells:,}"))
    return found


def _check_truth(known: Known, table: Table) -> None:
    here = np.ones(len(table.cells), dtype=np.bool_)
    for axis, level in known.levels.items():
        here &= table.cells[:, axis] == level
    count = int(table.counts[here].sum())
    if count < known.low or (known.high is not None and count > known.high):
        rule = "true of the table"
        raise InputError(must_be("knows", rule, f"{known.text!r}, which is not"))
