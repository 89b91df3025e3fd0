"""What published tables reveal together of the data behind them."""

from collections.abc import Sequence
from typing import Any

from discreet.clock import Clock, guarded
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.flows.keywords import documented_by, options_of
from discreet.flows.stopping import stoppable, with_the_clock_noted
from discreet.flows.table_input import Reading, reading_apart, table_from
from discreet.masks.layout_notation import is_section_of_layout, layout_of, part_labels, parted
from discreet.numerics.linear_algebra import in_one_thread
from discreet.progress import Progress, silent
from discreet.tables.linked.audit import (
    PublishedAudit,
    PublishedAuditOptions,
    audited_published,
)
from discreet.tables.linked.layouts import source_of_layout
from discreet.tables.linked.rules import rule_of
from discreet.tables.linked.sources import Source, source_of, source_of_knowledge, together


@in_one_thread
@stoppable
@documented_by(Reading, PublishedAuditOptions)
def audit_published(
    table: Any,
    published: Any = (),
    release: Any = (),
    options: PublishedAuditOptions | None = None,
    *,
    progress: Progress = silent,
    **keywords: Any,
) -> PublishedAudit:
    """What published tables, and tables that may be released, reveal together of the table.

    `table` is what `audit` takes. `published` are files as in `attack`, each perhaps with a bar:
    't2.csv | sex=F | rounded(5)'. `release` are tables that are described: 'age:bands(10),sex',
    'region:tree(province),age+total | sex=F', or plain lists of names.

    Every figure is checked against the table under the rule that it claims. Then: figures that
    follow although no table shows them, with derivations; bounds of all cells of up to 4,096; how
    many tables fit; what an intruder believes of small cells; the verdict of the policies, or
    without a limit whether a small count follows.

    The options are given as keywords, or as PublishedAuditOptions, whose values keywords replace.
    """
    reading, rest = reading_apart(keywords)
    asked = options_of(PublishedAuditOptions, options, rest)
    read = table_from(table, reading, progress)
    with guarded(asked.seconds):
        clock = Clock(asked.seconds)
        sources = [one for given in _listed(published) for one in source_of(given)]
        sources += [_described(given, read, asked) for given in _listed(release)]
        if not sources:
            raise InputError(must_be("published or release", "given", "none"))
        sources += [source_of_knowledge(text) for text in asked.knows]
        found = together(sources, labels=asked.labels, absent=asked.absent, names=read.names)
        return with_the_clock_noted(audited_published(read, found, asked, clock, progress))


def _listed(given: Any) -> Sequence[Any]:
    several = isinstance(given, Sequence) and not isinstance(given, str)
    return given if several else [given]


def _described(given: Any, table: Table, asked: PublishedAuditOptions) -> Source:
    """A table that is described in words, or as a list of names."""
    text = given if isinstance(given, str) else ",".join(f'"{name}"' for name in given)
    listed, sections = parted(text)
    own = [one for one in sections if is_section_of_layout(one, table)]
    rule, strange = rule_of([one for one in sections if one not in own])
    layout = layout_of(" | ".join([listed, *own, *strange]), table, asked.read_trees())
    return source_of_layout(layout, rule, part_labels(layout))
