"""The report of any result as a page."""

from pathlib import Path
from typing import Any

from discreet.errors import InputError, must_be
from discreet.report.external import external_document_of
from discreet.report.provenance import provenance, sources_of, with_provenance
from discreet.report.render_html import write_page
from discreet.report.results import TOLD, document_of

ENDINGS = (".html", ".htm", ".pdf")


def write_report(
    result: Any, path: str | Path, *, external: bool = False, source: Any = None
) -> None:
    """Write the report of a result as one HTML file (or PDF, by its ending), whole or not at all.

    `external` writes what may leave the agency. `source` is what the result was computed from, a
    path or a frame: then the report says so, of a file with its SHA-256.
    """
    if not isinstance(path, str | Path) or Path(path).suffix.lower() not in ENDINGS:
        rule = f"a file that ends in {', '.join(ENDINGS)}"
        raise InputError(must_be("path", rule, repr(str(path))))
    found = provenance(sources=sources_of(source))
    if external:
        write_page(with_provenance(external_document_of(result), found), path)
        return
    document = document_of(result)
    if document is None:
        rule = f"one of {', '.join(sorted(TOLD))}"
        raise InputError(must_be("result", rule, type(result).__name__))
    write_page(with_provenance(document, found), path)
