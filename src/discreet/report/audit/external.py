"""What may leave the agency of an audit of tables."""

from collections.abc import Iterator

from discreet.figures import Figure
from discreet.report.audit.words import figures
from discreet.report.document import Document
from discreet.report.outside import (
    FEWEST,
    bracketed,
    in_percent,
    outside_document,
    smaller_sets,
)
from discreet.tables.audit import Audit, main_view


def external_document(audit: Audit, name: str = "") -> Document:
    """Which tables were to go out together, and whether they may."""
    table = audit.release.table
    sets = [tuple(table.names[axis] for axis in axes) for axes in audit.release.asked]
    return outside_document(
        "Tables to be published: summary for readers outside",
        name=name,
        asked=[f"to publish these tables together: {bracketed(sets)}"],
        ruling=None if audit.verdict is None else audit.verdict.ruling,
        estimate=_estimate(audit),
        instead=_instead(sets),
        policies=audit.options.policies if audit.verdict is not None else (),
    )


def _instead(sets: list[tuple[str, ...]]) -> Iterator[str]:
    fewer = smaller_sets(sets)
    if fewer:
        yield f"tables with a variable less: {bracketed(fewer)}"
    yield "the same tables with broader categories, or fewer of them at once"
    yield "each of these would be judged anew"


def _estimate(audit: Audit) -> Iterator[str]:
    """The share of small cells that an intruder would find, where they are many."""
    found = figures(audit, main_view(audit))["small_cells_identified"]
    value = found.value if isinstance(found, Figure) else None
    if value is None:
        yield "the risk could not be estimated"
    elif audit.n_measured < FEWEST:
        yield "the risk was estimated; it is not shown, since it rests on too few cells"
    else:
        share = in_percent(round(value * audit.n_measured), audit.n_measured)
        yield f"an intruder would find {share} of the counts that are to be protected"
