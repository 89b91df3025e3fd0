"""A publication as it is judged: by the variables that something tells of, and no others.

Other variables of the table can make no release look safer, so that they are summed out before
anything is measured. What one variable determines of another everybody knows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.belief.factors import Factor, LogLikelihood
from discreet.choice.candidates import NOTHING
from discreet.data.table import Table
from discreet.fiber.system.linear_system import Statement
from discreet.fiber.system.margins import Margins, maximal
from discreet.figures import Unavailable
from discreet.masks.contract import Axes, Masked, PublishedTable, margin_sum
from discreet.masks.margins import NAME as MARGINS
from discreet.masks.redaction import NAME as REDACTION
from discreet.masks.redaction import REMOVED, rule_of
from discreet.masks.suppression import NAME as SUPPRESSION
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.tables.printed import Printed, n_small, printed_small_counts
from discreet.tables.ruled_out import RuledOut, ruled_out

SUMMED_OUT = Unavailable("the mask was made of a table with further variables")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What an intruder is told, about the table of the variables that it tells of.

    `masked` has that table as its source; `also` is what he knows besides, `nested` what follows of
    each variable, `exact` the margins whose true counts he has, with the variables that these
    determine.
    """

    masked: Masked
    also: tuple[Statement, ...]
    nested: RuledOut
    exact: Margins | None

    @property
    def is_certain(self) -> bool:
        """Whether anything is known for certain."""
        return self.masked.margins is not None or bool(self.masked.known or self.also)

    @property
    def is_plain(self) -> bool:
        """Whether exact margins are all that is known."""
        return self.masked.margins is not None and self.masked.likelihood is None


def judged_by(
    masked: Masked,
    out: Sequence[Axes],
    *,
    nesting: bool,
    secret: Sequence[str] = (),
    nested: Sequence[str] = (),
    confirmed: bool = False,
) -> Judged | None:
    """The publication with the margins that are `out`, by their variables; None without any.

    `nested` are pairs that the user confirms; where only what is `confirmed` is to count, nesting
    that the data alone show is none.
    """
    told = tuple(sorted({*_variables(masked), *(axis for axes in out for axis in axes)}))
    if not told:
        return None
    own = masked.source if len(told) == len(masked.source.names) else masked.source.over(told)
    axes = [axis for axis, name in enumerate(own.names) if name in secret]
    known = ruled_out(own, nesting=nesting, secret=axes, nested=nested)
    known = known.confirmed() if confirmed else known
    place = {axis: i for i, axis in enumerate(told)}
    known_out = [tuple(place[axis] for axis in axes) for axes in out]
    kept = () if masked.margins is None else masked.margins.tables
    sets = [*(tuple(place[axis] for axis in axes) for axes in kept), *known_out]
    exact = _margins(own, maximal(map(known.closed, sets))) if sets else None
    if exact is not None and masked.margins is not None and masked.likelihood is None:
        plain = replace(masked, source=own, margins=exact, known=tuple(exact.statements()))
        return Judged(masked=plain, also=(), nested=known, exact=exact)
    also = [*(_margins(own, maximal(known_out)).statements() if known_out else ())]
    also += [zero.statement(own.sizes) for zero in known.zeros(own.names, ())]
    whole = masked if own is masked.source else _summed_out(masked, own, told)
    return Judged(masked=whole, also=tuple(also), nested=known, exact=exact)


def _variables(masked: Masked) -> set[int]:
    """The variables of what is published, of the figures beside it, and of margins told."""
    sets: list[Axes] = [one.axes for one in masked.published]
    if masked.margins is not None and masked.mask != NOTHING:
        sets += list(masked.margins.tables)
    return {axis for axes in sets for axis in axes}


def _margins(table: Table, sets: Sequence[Axes]) -> Margins:
    tables = {axes: table.margin(axes) for axes in sets}
    return Margins(sizes=table.sizes, names=table.names, tables=tables)


def _summed_out(masked: Masked, own: Table, told: Axes) -> Masked:
    """The publication as one about the smaller table: each statement sums whole cells of it."""
    sizes = masked.source.sizes
    levels = np.unravel_index(np.arange(masked.source.n_cells), sizes)
    place = np.ravel_multi_index([levels[axis] for axis in told], own.sizes)
    first = np.full(own.n_cells, -1, dtype=np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    return replace(
        masked,
        source=own,
        published=tuple(_renamed(one, told) for one in masked.published),
        known=tuple(replace(s, cells=np.unique(place[s.cells])) for s in masked.known),
        margins=None
        if masked.margins is None
        else _margins(own, [tuple(map(told.index, axes)) for axes in masked.margins.tables]),
        factors=None
        if masked.factors is None
        else tuple(_over(factor, place) for factor in masked.factors),
        guide=tuple(_over(factor, place) for factor in masked.guide),
        likelihood=None
        if masked.likelihood is None
        else _likelihood(masked.likelihood, first, masked.source.n_cells),
        replay=None if masked.replay is None else SUMMED_OUT,
    )


def _renamed(one: PublishedTable, told: Axes) -> PublishedTable:
    return replace(one, axes=tuple(told.index(axis) for axis in one.axes))


def _over(factor: Factor, place: IntArray) -> Factor:
    return replace(factor, cells=np.unique(place[factor.cells]))


def _likelihood(full: LogLikelihood, first: IntArray, n_cells: int) -> LogLikelihood:
    """The likelihood of smaller tables: it only asks for sums over whole cells of theirs."""

    def log_likelihood(tables: IntArray) -> FloatArray:
        wide = np.zeros((len(tables), n_cells), dtype=np.int64)
        wide[:, first] = tables
        return full(wide)

    return log_likelihood


def printed_by(masked: Masked, out: Sequence[Axes], small: int) -> tuple[Printed, ...]:
    """The small counts that stand in what is published and in what is out, at every level.

    Rounded and perturbed figures are none: nobody knows them for certain. Margins that a
    perturbation keeps, figures that a suppression shows, and those that a redaction leaves as they
    are, are.
    """
    found = {one.axes: one for one in printed_small_counts(exact_tables(masked, out), small)}
    for axes, (counts, is_exact) in exactly_shown(masked).items():
        number = n_small(np.where(is_exact, counts, 0), small)
        if number:
            found[axes] = Printed(axes, number)
    return tuple(found.values())


def exact_tables(masked: Masked, out: Sequence[Axes]) -> dict[Axes, IntArray]:
    """The tables whose figures are counts, all of them."""
    counts = masked.source.dense()
    exact = {axes: margin_sum(counts, axes) for axes in out}
    if masked.margins is not None and masked.mask != NOTHING:
        exact |= {axes: margin_sum(counts, axes) for axes in masked.margins.tables if axes}
    if masked.mask == MARGINS:
        exact |= {one.axes: one.counts for one in masked.published}
    return exact


def exactly_shown(masked: Masked) -> dict[Axes, tuple[IntArray, BoolArray]]:
    """The tables of which some figures are counts, and which of them."""
    if masked.mask not in (SUPPRESSION, REDACTION):
        return {}
    found = {}
    for one in masked.published:
        shown = np.ones(one.counts.shape, dtype=np.bool_) if one.shown is None else one.shown
        if masked.mask == REDACTION:
            shown = rule_of(masked).is_exact(np.where(shown, one.counts, REMOVED))
        found[one.axes] = (one.counts, shown)
    return found
