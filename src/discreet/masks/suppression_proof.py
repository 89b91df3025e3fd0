"""Whether a pattern of suppression keeps its secrets: bounds of every sensitive figure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.layout import Layout
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.bounds.cell_bounds import Bounds, bounds
from discreet.fiber.bounds.contract import Proof
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.figures import Unavailable
from discreet.masks.contract import Protection
from discreet.masks.linked_figures import LinkedFigures, figures_to_protect
from discreet.masks.suppression_figures import Figures, Needs, Rule, statements
from discreet.masks.suppression_unions import Union, small_unions
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.progress import Progress, silent

MOST_NAMED = 5  # figures in a sentence
AUDIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternAudit:
    """What a pattern leaves open of each sensitive figure, and which of them it gives away.

    `exposed` are those whose interval is proved to be tighter than asked.
    """

    protection: Protection
    exposed: tuple[str, ...]

    @property
    def is_safe(self) -> bool:
        """Whether every sensitive figure is as uncertain as asked."""
        return not self.exposed

    @property
    def words(self) -> str:
        """The verdict in a sentence."""
        n = len(self.protection.names)
        if self.is_safe:
            return f"safe: all {n} sensitive figures keep intervals as wide as asked"
        few, named = len(self.exposed), listed(self.exposed)
        return f"not safe: {few} of {n} are known more closely than asked: {named}"


def audit_pattern(
    table: Table,
    shown: Sequence[BoolArray],
    sets: Sequence[Sequence[str]] | None = None,
    *,
    layouts: Sequence[Layout] | None = None,
    out: Sequence[Layout] = (),
    rule: Rule | None = None,
    time_limit: float | None = AUDIT_SECONDS,
    progress: Progress = silent,
) -> PatternAudit | Unavailable:
    """The verdict on any pattern: `shown` has one array of flags for each of the named tables.

    A sensitive figure that is shown is exposed. Others are judged by the least and the greatest
    value over all tables consistent with what is shown, and with the rule where it is known.
    Unavailable where that was not settled in time for some figure.

    Checked: the flags have the shapes of the tables, and nothing is hidden that the rule says is
    always shown. Tables are ordered as `sets`; left out, they are the full one and all its margins,
    larger sets of variables first.

    In place of sets, `layouts` are the shapes of linked tables, judged together with those that are
    `out`. Of them, and where the rule is about unions, small sums of hidden figures beside each
    other are judged too: such a sum is exposed where it is known exactly, or, by a rule about
    unions, more closely than asked.
    """
    rule = rule or Rule()
    figures = figures_to_protect(table, sets, layouts, out=out, unions=rule.unions)
    counts = figures.table.dense()
    hidden = _checked_pattern(figures, shown, rule)
    at = np.flatnonzero(rule.is_sensitive(figures.counts) & ~figures.is_out)
    protection = proved(figures, hidden, rule, at, [counts.ravel()], time_limit, progress)
    needs = [rule.needs(int(count)) for count in protection.counts]
    exposed: list[str] = []
    unsettled: list[str] = []
    for i, name in enumerate(protection.names):
        if needs[i].met(int(protection.attained_low[i]), int(protection.attained_high[i])):
            continue
        possible = (int(protection.bounds.lower[i]), int(protection.bounds.upper[i]))
        (unsettled if needs[i].met(*possible) else exposed).append(name)
    if isinstance(figures, LinkedFigures):
        known, open_ones = _unions_known(figures, hidden, rule, counts.ravel(), time_limit)
        exposed += known
        unsettled += open_ones
    if unsettled and not exposed:
        return Unavailable(f"not settled in time for {listed(unsettled)}; allow more seconds")
    return PatternAudit(protection=protection, exposed=tuple(exposed))


def _checked_pattern(figures: Figures, shown: Sequence[BoolArray], rule: Rule) -> BoolArray:
    shapes = [own.shape for own in figures.split(figures.counts)]
    given = [np.asarray(flags, dtype=np.bool_) for flags in shown]
    if [flags.shape for flags in given] != shapes:
        rule_text = f"one array of flags for each table, of shapes {shapes}"
        raise InputError(must_be("shown", rule_text, [flags.shape for flags in given]))
    hidden = ~figures.shown_by(given)
    hidden &= ~figures.is_total
    if rule.rule_known and np.any(hidden & ~rule.may_hide(figures.counts)):
        remedy = "set zeros to 'spare' or 'sensitive', or rule_known to False"
        raise InputError(must_be("shown", "true for every zero", "a hidden one", remedy=remedy))
    return np.asarray(hidden)


def _unions_known(
    figures: LinkedFigures,
    hidden: BoolArray,
    rule: Rule,
    counts: IntArray,
    time_limit: float | None,
) -> tuple[list[str], list[str]]:
    """The small unions that are known too closely, and those of which that was not settled."""
    unions = small_unions(figures, hidden, rule)
    if not unions:
        return [], []
    found = union_bounds(figures, hidden, rule, unions, counts, time_limit)
    exposed, unsettled = [], []
    for i, one in enumerate(unions):
        needs = rule.needs(one.count) if rule.unions else Needs(one.count, one.count, 1)
        if needs.met(int(found.lower[i]), int(found.upper[i])):
            is_proved = Proof.OUTER not in (found.lower_proof[i], found.upper_proof[i])
            unsettled += [] if is_proved else [one.label]
        else:
            exposed.append(one.label)
    return exposed, unsettled


def union_bounds(
    figures: LinkedFigures,
    hidden: BoolArray,
    rule: Rule,
    unions: Sequence[Union],
    counts: IntArray,
    time_limit: float | None,
) -> Bounds:
    """Bounds of some sums of figures over all tables consistent with the pattern."""
    wider = figures.with_unions(unions)
    whole = np.concatenate([hidden, np.ones(len(unions), dtype=np.bool_)])
    at = np.arange(figures.n, wider.n)
    return figure_bounds(wider, whole, rule, at, [counts], time_limit)


def proved(
    figures: Figures,
    hidden: BoolArray,
    rule: Rule,
    at: IntArray,
    tables: Sequence[IntArray],
    time_limit: float | None,
    progress: Progress = silent,
) -> Protection:
    """The bounds of the figures `at`, and what the tables and bounds show to be attained.

    `tables` are consistent with the pattern, the true one among them; each is checked to be.
    """
    found = figure_bounds(figures, hidden, rule, at, tables, time_limit, progress)
    values = np.stack([figures.summed(one)[at] for one in tables])
    low = np.where(found.lower_proof == Proof.OUTER, values.min(axis=0), found.lower)
    high = np.where(found.upper_proof == Proof.OUTER, values.max(axis=0), found.upper)
    return Protection(
        names=tuple(figures.name(figure) for figure in at.tolist()),
        counts=figures.counts[at],
        bounds=found,
        attained_low=low.astype(np.int64),
        attained_high=high.astype(np.int64),
    )


def figure_bounds(
    figures: Figures,
    hidden: BoolArray,
    rule: Rule,
    at: IntArray,
    tables: Sequence[IntArray],
    time_limit: float | None,
    progress: Progress = silent,
) -> Bounds:
    """Bounds of some figures over all tables consistent with the pattern."""
    groups = [figures.cells(figure) for figure in at.tolist()]
    names = [figures.name(figure) for figure in at.tolist()]
    known = statements(figures, hidden, rule)
    return bounds_of_sums(figures.table, known, groups, names, tables, time_limit, progress)


def bounds_of_sums(
    table: Table,
    told: Sequence[Statement],
    groups: Sequence[IntArray],
    names: Sequence[str],
    tables: Sequence[IntArray],
    time_limit: float | None,
    progress: Progress = silent,
) -> Bounds:
    """Bounds of sums of some cells over all tables consistent with what is told.

    A sum of several cells is bounded by what it lacks to the number of persons, a column tied to
    its cells by an equation. `tables` are consistent ones, the true one among them.
    """
    n, total = table.n_cells, table.total
    known = list(told)
    points = [one.tolist() for one in tables]
    columns: list[int] = []
    n_tied = 0
    for cells, name in zip(groups, names, strict=True):
        if len(cells) == 1:
            columns.append(int(cells[0]))
            continue
        columns.append(n + n_tied)
        n_tied += 1
        known.append(_lack(cells, columns[-1], total, name))
        for one, point in zip(tables, points, strict=True):
            point.append(total - int(one[cells].sum()))
    system = system_of(n + n_tied, known)
    found = bounds(
        system,
        cells=np.array(columns, dtype=np.int64),
        tables=[np.array(point, dtype=np.int64) for point in points],
        time_limit=time_limit,
        progress=progress,
    )
    return _turned(found, np.array(columns, dtype=np.int64) >= n, total)


def _lack(cells: IntArray, column: int, total: int, name: str) -> Statement:
    return Statement(cells=np.append(cells, column), low=total, high=total, name=f"lack of {name}")


def _turned(found: Bounds, lacks: BoolArray, total: int) -> Bounds:
    """Bounds with columns that are the lack of a figure turned into the figure."""
    return Bounds(
        lower=np.where(lacks, total - found.upper, found.lower),
        upper=np.where(lacks, total - found.lower, found.upper),
        lower_proof=np.where(lacks, found.upper_proof, found.lower_proof),
        upper_proof=np.where(lacks, found.lower_proof, found.upper_proof),
        note=found.note,
    )


def listed(names: Iterable[str]) -> str:
    """The first of some names, and how many more there are."""
    found = list(names)
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return ", ".join(f"[{name}]" for name in found[:MOST_NAMED]) + more
