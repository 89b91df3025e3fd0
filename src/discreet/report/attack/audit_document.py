"""What published tables reveal of the data behind them, as a document."""

from collections.abc import Iterator

from discreet.figures import Unavailable
from discreet.policy.verdict import Ruling
from discreet.report import words
from discreet.report.attack.document import (
    also_known,
    cells_section,
    follows_section,
    noted,
    scope,
    tables_section,
    unproved,
)
from discreet.report.document import Block, Document, Section, Table, Text
from discreet.report.verdict import next_section, remedies, verdict_section
from discreet.tables.cross_risks import CrossRisk
from discreet.tables.linked.audit import PublishedAudit, TrueCell
from discreet.tables.linked.naming import said
from discreet.tables.refused_margin import RiskMeasure
from discreet.tables.table_findings import measured_words

MOST_ROWS, SHOWN = 200, 10
UNIONS = ("cells together", "at least", "at most")
CELLS = ("small cell", "true\ncount", "bounds", "best\nguess", "prob. of\nguess", "prob. of\ntruth")


def published_audit_document(
    audit: PublishedAudit, source: str = "the table", command: str = ""
) -> Document:
    """The verdict, what follows, the small cells, and what it rests on.

    `command` is the choice among treatments of the same tables, where they were told in words.
    """
    return Document(
        title=f"What the published tables of {source} reveal together",
        scope=tuple(_scope(audit)),
        mark="confidential",
        blocks=tuple(_blocks(audit, command)),
    )


def _scope(audit: PublishedAudit) -> Iterator[str]:
    yield from scope(audit.linked, audit.options.knows)
    small = audit.options.most_small
    count = f"a count from 1 to {small}" if small > 1 else "a count of 1"
    yield (
        f"{words.plural(audit.table.total, 'person')}, "
        f"{words.plural(audit.n_small, 'small cell')} ({count})"
    )


def _blocks(audit: PublishedAudit, command: str) -> Iterator[Block]:
    if audit.verdict is not None:
        yield verdict_section(audit.verdict)
    yield follows_section(audit.derived, audit.n_derived, audit.linked)
    yield Section("What is found of the small cells", tuple(map(Text, _found(audit))))
    yield Section("What this rests on", tuple(map(Text, _circumstances(audit))))
    yield next_section(_next(audit, command))
    yield _small_cells(audit)
    yield cells_section(audit.cells)
    yield tables_section(audit.linked)


def _found(audit: PublishedAudit) -> Iterator[str]:
    """The measures, a sentence each."""
    if not audit.n_small and not audit.unions:
        yield "No cell is small, so there is none to protect."
        return
    share, tight = audit.measures.small_cells_identified, audit.tightness
    if isinstance(share, Unavailable):
        yield f"What share of the small cells can be found is not available: {share.reason}."
    else:
        n = audit.n_small
        whole = CrossRisk(axes=(), risk=share, n_small=n, n_looked_at=n)
        yield words.full(measured_words(RiskMeasure.CELLS, whole))
    if isinstance(tight, Unavailable) or tight.value is None:
        yield f"Narrowest bounds of a small cell: {words.outcome(tight)}."
    elif tight.value == 0:
        yield "The count of a small cell is known for certain."
    else:
        width = words.plural(-tight.value, "person")
        yield f"The bounds of the best known small cell are {width} apart."


def _small_cells(audit: PublishedAudit) -> Section:
    rows = tuple(map(_row, audit.small_cells[:MOST_ROWS]))
    table = Table(header=CELLS, rows=rows, sides="lrrrrr", most=SHOWN)
    joint = tuple(
        (said(one.cell), words.count(one.lower), words.count(one.upper)) for one in audit.unions
    )
    unions = Table(header=UNIONS, rows=joint, sides="lrr", most=SHOWN)
    tables = [table for table in (table, unions) if table.rows]
    return Section("Small cells (confidential)", tuple(tables), only="detail")


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
    but = ", but for those not used" if any("not used" in one for one in audit.notes) else ""
    yield f"Every figure{but} was held against the data: all are true by the rules given for them."
    yield f"Tables consistent with all figures: {words.tables(audit.n_tables)}."
    yield from unproved(audit.unproved)
    yield from also_known(audit.options.knows)
    yield from noted(audit.linked, audit.notes)


def _next(audit: PublishedAudit, command: str) -> Iterator[str]:
    verdict = audit.verdict
    if verdict is None or verdict.ruling is Ruling.KEPT:
        yield "Publish these tables, and name them all again when the next one is asked for"
    elif verdict.ruling is Ruling.UNDECIDED:
        yield from remedies(verdict)
    else:
        typed = command or "discreet choose DATA --tables … --max-risk 0"
        yield f"`{typed}` looks for a treatment of all tables as one set"
