"""What may leave the agency of an audit of published tables."""

from collections.abc import Iterator

from discreet.figures import Figure
from discreet.report.document import Document
from discreet.report.outside import FEWEST, bracketed, in_percent, outside_document
from discreet.tables.linked.audit import PublishedAudit


def external_document(audit: PublishedAudit, name: str = "") -> Document:
    """Which tables were looked at together, by their variables, and whether they may be out."""
    sets = [tuple(table.variables) for table in audit.linked.universe.tables]
    return outside_document(
        "Published tables: summary for readers outside",
        name=name,
        asked=[f"whether these tables may be out together: {bracketed(sets)}"],
        ruling=None if audit.verdict is None else audit.verdict.ruling,
        estimate=_estimate(audit),
        instead=_instead(),
        policies=audit.options.policies if audit.verdict is not None else (),
    )


def _instead() -> Iterator[str]:
    yield "the same tables with the same categories in all of them, broader ones, or fewer tables"
    yield "each of these would be judged anew"


def _estimate(audit: PublishedAudit) -> Iterator[str]:
    """The share of small cells that an intruder would find, where they are many."""
    found = audit.measures.small_cells_identified
    value = found.value if isinstance(found, Figure) else None
    number = len(audit.small_cells)
    if value is None:
        yield "the risk could not be estimated"
    elif number < FEWEST:
        yield "the risk was estimated; it is not shown, since it rests on too few cells"
    else:
        share = in_percent(round(value * number), number)
        yield f"an intruder would find {share} of the counts that are to be protected"
