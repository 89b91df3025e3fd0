"""A table that is described, not yet published: its figures made of the data by its rule."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.data.layout import Classified, Layout
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.tables.linked.attack import domains_of
from discreet.tables.linked.domains import Domain
from discreet.tables.linked.options import AttackOptions
from discreet.tables.linked.rules import Rule, Way
from discreet.tables.linked.sources import Source, Sources


def source_of_layout(layout: Layout, rule: Rule, part: Sequence[tuple[str, str]]) -> Source:
    """The table as it would be published: counts by its categories, rounded or withheld by a rule.

    `part` are the names of the levels that it is a part by. Rounding goes to the nearest multiple,
    halves upward, unless the rule says down or up; what lies in a stated range of withheld counts
    is withheld.
    """
    if rule.most:
        remedy = "publish it by `choose` with the mask cell-key, and give the files"
        raise InputError(
            must_be("release", "exact, rounded or withheld", "perturbed", remedy=remedy)
        )
    counts = layout.counts().ravel()
    variables = layout.names()
    shape = layout.shape
    places = np.argwhere(np.ones(shape, dtype=np.bool_)) if shape else np.zeros((1, 0), np.int64)
    parts = [Classified(axis=axis, categories=(label,), holds=layout.part[axis][None, :])
             for (_, label), axis in zip(part, layout.part, strict=True)]  # fmt: skip
    taken = dict(zip(variables, layout.variables, strict=True))
    more = [one for one in parts if layout.table.names[one.axis] not in taken]
    holds = _holds(layout, [*layout.variables, *more])
    table = PublishedTable(
        name=layout.title,
        variables=(*variables, *(layout.table.names[one.axis] for one in more)),
        labels=tuple(one.categories for one in (*layout.variables, *more)),
        places=np.concatenate([places, np.zeros((len(counts), len(more)), np.int64)], axis=1),
        printed=tuple(_printed(counts, rule)),
    )
    return Source(table=table, rule=_known(rule), holds=holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutOut:
    """A published table as a layout of the data: `low` and `high` of each of its entries that it
    has (`entries`, in C order), None where nothing limits one from above."""

    layout: Layout
    entries: IntArray
    low: tuple[int, ...]
    high: tuple[int | None, ...]

    def statements(self, layout: Layout) -> Iterator[Statement]:
        """What it says of the cells of a table that the same layout was made coarser for."""
        for entry, low, high in zip(self.entries.tolist(), self.low, self.high, strict=True):
            if low > 0 or high is not None:
                cells = layout.cells_of(entry)
                yield Statement(cells=cells, low=low, high=high, name=layout.title)


def layouts_out(table: Table, sources: Sources, options: AttackOptions) -> tuple[LayoutOut, ...]:
    """Published tables as layouts of the data, each figure checked against it.

    Raises InputError for labels that the data do not have and for figures that are not true of it.
    """
    levels = dict(zip(table.names, table.levels, strict=True))
    domains = {one.name: one for one in domains_of(sources, options, levels)}
    pairs = zip(sources.tables, sources.rules, strict=True)
    return tuple(_layout_out(table, own, rule, domains) for own, rule in pairs)


def _layout_out(
    table: Table, own: PublishedTable, rule: Rule, domains: Mapping[str, Domain]
) -> LayoutOut:
    if own.statistic is not Statistic.COUNT:
        rule_text = "tables of counts"
        raise InputError(must_be("published", rule_text, f"{own.statistic.value}s", where=own.name))
    variables = []
    for name, labels in zip(own.variables, own.labels, strict=True):
        domain = domains[name]
        assert domain.part_of is not None
        holds = np.array([domain.sets[label][domain.part_of] for label in labels])
        axis = table.names.index(name)
        variables.append(Classified(axis=axis, categories=labels, holds=holds))
    layout = Layout(table=table, variables=tuple(variables), title=own.name)
    entries = np.zeros(own.n_figures, dtype=np.int64)
    if own.variables:
        entries = np.ravel_multi_index(tuple(own.places.T), layout.shape)
    marks = [own.marks.get(i, "") for i in range(own.n_figures)]
    ranges = [rule.range_of(x, mark) for x, mark in zip(own.printed, marks, strict=True)]
    counts = layout.counts().ravel()[entries].tolist()
    for place, (count, (low, high)) in enumerate(zip(counts, ranges, strict=True)):
        if count < low or (high is not None and count > high):
            where = own.where[place] if own.where else None
            got = f"one of {own.name} that is not"
            raise InputError(must_be("published figures", "true of the data", got, where=where))
    return LayoutOut(
        layout=layout,
        entries=entries,
        low=tuple(low for low, _ in ranges),
        high=tuple(high for _, high in ranges),
    )


def _holds(layout: Layout, variables: Sequence[Classified]) -> dict[tuple[str, str], BoolArray]:
    return {
        (layout.table.names[one.axis], label): held
        for one in variables
        for label, held in zip(one.categories, one.holds, strict=True)
    }


def _known(rule: Rule) -> Rule:
    """What everybody knows who reads it: rounding is to the nearest unless it says otherwise."""
    way = Way.NEAREST if rule.base > 1 and rule.way is Way.UNKNOWN else rule.way
    return replace(rule, way=way, stated=True)


def _printed(counts: IntArray, rule: Rule) -> list[str]:
    down = counts - counts % rule.base
    up = np.where(counts % rule.base, down + rule.base, down)
    nearest = np.where(2 * (counts % rule.base) >= rule.base, up, down)
    shown = {Way.DOWN: down, Way.UP: up}.get(rule.way, nearest)
    low, high = rule.withheld
    hides = rule.withheld != (0, None)
    most = np.iinfo(np.int64).max if high is None else high
    hidden = (counts >= low) & (counts <= most) & hides
    pairs = zip(shown.tolist(), hidden.tolist(), strict=True)
    return ["" if gone else str(figure) for figure, gone in pairs]
