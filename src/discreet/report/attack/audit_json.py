"""An audit of published tables as JSON, with the names that audits have."""

from collections.abc import Iterator
from typing import Any

from discreet.report.attack.json import bounded_json, derived_json, published_json
from discreet.report.audit.words import UNITS
from discreet.report.render_json import count_json, known, of_kind, probabilities_json
from discreet.tables.linked.audit import PublishedAudit


@of_kind("audit")
def published_audit_json(audit: PublishedAudit) -> dict[str, Any]:
    """The names of an audit; what follows also says whether it is small in truth."""
    small, own = audit.options.most_small, audit.linked
    return known(
        variables={d.name: list(d.parts) for d in own.universe.domains},
        total=audit.table.total,
        n_table_cells=own.universe.n_atoms,
        small=small,
        n_tables=count_json(audit.n_tables),
        n_small_cells=audit.n_small,
        verdict=None if audit.verdict is None else audit.verdict.to_json(),
        findings=audit.findings.to_json(),
        published=published_json(own),
        derived=[derived_json(one) | {"small": 1 <= one.lower <= small} for one in audit.derived],
        n_derived=audit.n_derived,
        n_unproved=audit.unproved or None,
        cells=list(_cells(audit)),
        unions=[bounded_json(one) for one in audit.unions],
        risk=_risk(audit),
        believed=audit.believed,
        notes=list(audit.notes),
        seed=audit.options.seed,
    )


def _cells(audit: PublishedAudit) -> Iterator[dict[str, Any]]:
    """All cells with their bounds; of small ones the true count and what is believed."""
    small = {one.bounds.atom: one for one in audit.small_cells}
    for cell in audit.cells:
        found = bounded_json(cell)
        own = small.get(cell.atom)
        if own is not None:
            found["count"] = own.count
            if own.chances:
                found["probabilities"] = probabilities_json(own.chances)
        yield found


def _risk(audit: PublishedAudit) -> dict[str, Any]:
    measures = {
        "bounds": audit.tightness,
        "one_over_tables": audit.one_over_tables,
        "true_table": audit.measures.true_table,
        "small_cells_identified": audit.measures.small_cells_identified,
        "expected_identified": audit.measures.expected_identified,
    }
    return {name: one.to_json() | {"unit": UNITS[name]} for name, one in measures.items()}
