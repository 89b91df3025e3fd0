"""The report of any result as a page."""

from pathlib import Path
from typing import Any

from discreet.errors import InputError, must_be
from discreet.report.render_html import write_page
from discreet.report.results import TOLD, document_of


def write_report(result: Any, path: str | Path, *, external: bool = False) -> None:
    """Write the report of a result as one HTML file, whole or not at all.

    `external` writes what may leave the agency, of an assessment of records.
    """
    if external:
        if type(result).__name__ != "Assessment":
            rule = "the result of assess where the report is external"
            raise InputError(must_be("result", rule, type(result).__name__))
        from discreet.report.assess.external import external_document

        write_page(external_document(result), path)
        return
    document = document_of(result)
    if document is None:
        rule = f"one of {', '.join(sorted(TOLD))}"
        raise InputError(must_be("result", rule, type(result).__name__))
    write_page(document, path)
