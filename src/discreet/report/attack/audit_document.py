"""What published tables reveal of the data behind them, as a document."""

from collections.abc import Iterator

from discreet.figures import Outcome, Unavailable
from discreet.report import words
from discreet.report.attack.document import (
    cells_section,
    follows_section,
    scope,
    tables_section,
)
from discreet.report.document import Block, Document, Section, Table, Text
from discreet.report.verdict import next_section, verdict_section
from discreet.tables.linked.audit import PublishedAudit, TrueCell
from discreet.tables.linked.naming import said

MOST_ROWS, SHOWN = 200, 10
CELLS = ("small cell", "true\ncount", "bounds", "best\nguess", "prob. of\nguess", "prob. of\ntruth")


def published_audit_document(audit: PublishedAudit, source: str = "the table") -> Document:
    """The verdict, what follows, the small cells, and what it rests on."""
    return Document(
        title=f"What the published tables of {source} reveal together",
        scope=tuple(_scope(audit)),
        mark="confidential",
        blocks=tuple(_blocks(audit)),
    )


def _scope(audit: PublishedAudit) -> Iterator[str]:
    yield from scope(audit.linked)
    small = audit.options.most_small
    count = f"a count from 1 to {small}" if small > 1 else "a count of 1"
    yield (
        f"{words.plural(audit.table.total, 'person')}, "
        f"{words.plural(audit.n_small, 'small cell')} ({count})"
    )


def _blocks(audit: PublishedAudit) -> Iterator[Block]:
    if audit.verdict is not None:
        yield verdict_section(audit.verdict)
    yield follows_section(audit.derived, audit.n_derived)
    yield Section("What an intruder would find", tuple(map(Text, _found(audit))))
    yield _small_cells(audit)
    yield Section("What this rests on", tuple(map(Text, _circumstances(audit))))
    yield cells_section(audit.cells)
    yield tables_section(audit.linked)
    yield next_section(_next(audit))


def _found(audit: PublishedAudit) -> Iterator[str]:
    """The measures, a sentence each."""
    if not audit.n_small:
        yield "No cell is small, so there is none to protect."
        return
    share, tight = audit.measures.small_cells_identified, audit.tightness
    yield f"Share of the small cells found: {_outcome(share)}."
    if isinstance(tight, Unavailable) or tight.value is None:
        yield f"Narrowest bounds of a small cell: {_outcome(tight)}."
    else:
        wide = "0 wide, so it is known" if tight.value == 0 else f"{-tight.value:g} wide"
        yield f"Narrowest bounds of a small cell: {wide}."


def _outcome(outcome: Outcome) -> str:
    return str(outcome.reason) if isinstance(outcome, Unavailable) else words.outcome(outcome)


def _small_cells(audit: PublishedAudit) -> Section:
    rows = tuple(map(_row, audit.small_cells[:MOST_ROWS]))
    table = Table(header=CELLS, rows=rows, sides="lrrrrr", most=SHOWN)
    return Section("Small cells (confidential)", (table,) if rows else (), only="detail")


def _row(one: TrueCell) -> tuple[str, ...]:
    bounds = f"{one.bounds.lower} to {one.bounds.upper}"
    if not one.chances:
        return (said(one.bounds.cell), words.count(one.count), bounds, "–", "–", "–")
    guess = max(one.chances, key=lambda count: (one.chances[count], -count))
    return (
        said(one.bounds.cell),
        words.count(one.count),
        bounds,
        words.count(guess),
        f"{one.chances[guess]:.3g}",
        f"{one.chances.get(one.count, 0.0):.3g}",
    )


def _circumstances(audit: PublishedAudit) -> Iterator[str]:
    yield "Every printed figure is true of the data under the rule that it claims."
    yield f"Tables that fit all figures: {words.tables(audit.n_tables)}."
    if audit.unproved:
        n = words.plural(audit.unproved, "more cell is", "more cells are")
        yield f"{n} the same in every table that was looked at; that was not proved."
    yield from (words.full(note) for note in audit.notes)


def _next(audit: PublishedAudit) -> Iterator[str]:
    if audit.verdict is not None and not audit.verdict.allows:
        yield (
            "`discreet choose DATA --tables …` finds suppressions and roundings that are safe for "
            "all tables together."
        )
