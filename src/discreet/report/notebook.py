"""Results as a notebook shows them: their document, in a style that stays inside it."""

import html
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from discreet.data.writing import written_whole
from discreet.figures import Figure, Unavailable
from discreet.report.document import plots_in
from discreet.report.results import document_of

LONGEST = 300  # characters of a field without a page of its own


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot of a report, as SVG text."""

    title: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write it as an SVG file, whole or not at all."""
        with written_whole(Path(path)) as temporary:
            temporary.write_text(self.svg, encoding="utf-8")


def html_of(result: Any) -> str:
    """What a notebook shows of a result: its report, or its fields where it has none."""
    if isinstance(result, Figure):
        return f"<span>{html.escape(str(result))}</span>"
    if isinstance(result, Unavailable):
        return f"<span>none: {html.escape(result.reason)}</span>"
    document = document_of(result)
    if document is None:
        return _fields_table(result)
    from discreet.report.render_html import part_of

    return part_of(document)


def plots_of(result: Any) -> Mapping[str, Plot]:
    """The plots of the report of a result, by name."""
    document = document_of(result)
    if document is None:
        return {}
    return {plot.name: Plot(plot.label, plot.draw()) for plot in plots_in(document)}


def _fields_table(result: Any) -> str:
    """A result without a page: its public fields, one a row."""
    named = fields(result) if is_dataclass(result) else ()
    rows = "".join(
        f"<tr><th>{html.escape(field.name)}</th><td>{_value(getattr(result, field.name))}</td></tr>"
        for field in named
        if not field.name.startswith("_")
    )
    return f"<table><caption>{html.escape(type(result).__name__)}</caption>{rows}</table>"


def _value(value: Any) -> str:
    if isinstance(value, (Figure, Unavailable)):
        return html_of(value)
    text = repr(value)
    cut = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return html.escape(cut)
